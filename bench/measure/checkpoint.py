"""What outlives the process that measures: the unit that was running when it ended.

A fault inside a kernel may end the process, or never let a call return. So a report is saved after
each of its units, and ``<report>.running`` beside it names the unit that is measured. Whoever finds
that file knows in what the process ended; a run with ``--resume`` leaves that unit out.
"""

from __future__ import annotations

import contextlib
import faulthandler
from collections.abc import Iterator
from pathlib import Path

DEVICE_LOST = 3  # Exit status of a process whose device can no longer be used


class Checkpoint:
    """The file that names the running unit."""

    def __init__(self, report: Path | None, hang: float | None) -> None:
        self._path = None if report is None else report.with_name(f"{report.name}.running")
        self._hang = hang

    def died_in(self) -> str | None:
        """The unit in which the last process ended, if it did not end by itself."""
        if self._path is None or not self._path.exists():
            return None
        return self._path.read_text(encoding="utf-8")

    def begin(self, unit: str) -> None:
        """Say what is measured from now on."""
        if self._path is not None:
            self._path.write_text(unit, encoding="utf-8")
        if self._hang is not None:
            faulthandler.dump_traceback_later(self._hang, exit=True)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Around all units: whatever Python can tell is no sudden end."""
        try:
            yield
        finally:
            if self._hang is not None:
                faulthandler.cancel_dump_traceback_later()
            if self._path is not None:
                self._path.unlink(missing_ok=True)
