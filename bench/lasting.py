"""What outlives the process that measures: a report after every step, and what was running.

A fault inside a kernel may end the process, or never let a call return. So a report is written
anew after each of its units, and a file beside it names the unit that is being measured. Whoever
finds that file knows that the process did not end by itself, and in what; ``bench/gpu_report.sh``
then starts another, which leaves that unit out.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEVICE_LOST = 3
"""Exit status of a process whose device can no longer be used."""
# No unit takes so long: its process is ended.
HANGS = 75.0


class Lasting:
    """A report on disk: ``<name>.json`` and ``<name>.txt``, and ``<name>.running`` meanwhile.

    Args:
        folder: where they are.
        name: of the report.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._json, self.text_path = folder / f"{name}.json", folder / f"{name}.txt"
        self._running = folder / f"{name}.running"

    def load(self) -> dict[str, Any] | None:
        """The report that is there, if any."""
        if not self._json.exists():
            return None
        found: dict[str, Any] = json.loads(self._json.read_text())
        return found

    def save(self, report: dict[str, Any], text: str) -> None:
        """Write both; a reader never sees half of one."""
        for path, content in (
            (self._json, json.dumps(report, indent=1) + "\n"),
            (self.text_path, text),
        ):
            partial = path.with_suffix(path.suffix + ".partial")
            partial.write_text(content)
            partial.replace(path)

    def died_in(self) -> str | None:
        """The unit in which the last process ended, if it did not end by itself."""
        return self._running.read_text() if self._running.exists() else None

    def begin(self, unit: str) -> None:
        """Say what is measured from now on; a process that takes too long over it is ended."""
        self._running.write_text(unit)
        faulthandler.dump_traceback_later(HANGS, exit=True)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Around all units: whatever Python can tell is no sudden end."""
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._running.unlink(missing_ok=True)


def told(lost: str | None, before: list[str]) -> str:
    """What the device was lost in, for the end of a text."""
    every = [*before, *filter(None, [lost])]
    return "".join(f"\nthe device was lost in: {what}\n" for what in every)
