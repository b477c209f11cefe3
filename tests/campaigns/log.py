"""What a seed's process tells: counts, faults, and the case that it is at, in a file that outlives
it whatever ends it."""

from __future__ import annotations

import json
import mmap
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb

FAULTS = ("crash", "hang", "wrong value", "foreign exception", "memory")
COUNTS = ("cases", "refusals", "values", *FAULTS)
_AT = 4096  # bytes of the file that say which case is at hand
_FLUSH = 100  # cases after which counts are handed over
MOST_TOLD = 40  # faults of one kind that are told in words; all are counted
MOST_SAID = 2000  # characters of an error's message


class Refused:
    """What a call gave that raised an error of gpubcast.

    Attributes:
        error: the error.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"refused: {type(self.error).__name__}: {self.error}"[:300]


@dataclass
class Told:
    """What a file says.

    Attributes:
        counts: by the names of ``COUNTS``.
        faults: kind and description of each.
        at: the case that was at hand last.
        is_ended: whether the process came to its end.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    faults: list[tuple[str, str]] = field(default_factory=list)
    at: str = ""
    is_ended: bool = False


class Log:
    """The writing side. Every line is one ``write``, so that forked processes share the file."""

    def __init__(self, path: Path, until: tuple[str, ...] = ()) -> None:
        """
        Args:
            until: kinds of fault with the first of which the process ends.
        """
        self.path, self._until = path, until
        with open(path, "ab") as file:
            if not file.tell():
                file.write(bytes(_AT))
        # Held from the start: a campaign may leave no descriptors and no disk.
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        self._at = mmap.mmap(self._descriptor, _AT)
        self._told: dict[str, int] = {}
        self.counts = dict.fromkeys(COUNTS, 0)

    def at(self, case: str) -> None:
        """A case begins."""
        if self.counts["cases"] >= _FLUSH:
            self.flush()
        self.counts["cases"] += 1
        self.note(case)

    def note(self, case: str) -> None:
        """The same without counting one."""
        said = case.encode("utf-8", "backslashreplace")[: _AT - 1]
        self._at[: len(said) + 1] = said + b"\0"

    def fault(self, kind: str, what: str) -> None:
        """Something is wrong."""
        self.counts[kind] += 1
        self._told[kind] = self._told.get(kind, 0) + 1
        if self._told[kind] <= MOST_TOLD:
            case = bytes(self._at[:_AT]).split(b"\0", 1)[0].decode(errors="replace")
            self._line({"fault": [kind, f"{what[:3000]} | {case}"]})
        if kind in self._until:
            self.flush()
            os._exit(1)

    def call(self, function: Callable[[], Any], *allowed: type[BaseException]) -> Any:
        """What a call returns, or ``Refused``; any other exception is a fault.

        Args:
            allowed: exceptions that are the caller's own.
        """
        try:
            return function()
        except gb.Error as error:
            self.counts["refusals"] += 1
            if len(str(error)) > MOST_SAID:
                self.fault("foreign exception", f"a message of {len(str(error))} characters")
            return Refused(error)
        except allowed as error:
            return Refused(error)
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__)[-2:])
            self.fault("foreign exception", f"{type(error).__name__}: {error}"[:400] + f"\n{where}")
            return Refused(error)

    def same(self, found: Any, wanted: np.ndarray[Any, Any], what: str = "") -> bool:
        """Compare a result with what is wanted, bit for bit; ``Refused`` is wrong, too."""
        if isinstance(found, Refused):
            self.fault("wrong value", f"{what}: {found}")
            return False
        values = found.numpy() if isinstance(found, gb.Array) else np.asarray(found)
        if values.shape != wanted.shape or values.dtype != wanted.dtype:
            self.fault("wrong value", f"{what}: {values.dtype}{values.shape}, not "
                       f"{wanted.dtype}{wanted.shape}")  # fmt: skip
            return False
        self.counts["values"] += wanted.size
        wrong = bits(values) != bits(wanted)
        if not wrong.any():
            return True
        index = tuple(map(int, np.argwhere(wrong)[0][: wanted.ndim]))
        self.fault("wrong value", f"{what}: {np.count_nonzero(wrong)} wrong, the first at {index}: "
                   f"{values[index]} for {wanted[index]}")  # fmt: skip
        return False

    def flush(self) -> None:
        """Hand over what was counted since."""
        self._line({"counts": self.counts})
        self.counts = dict.fromkeys(COUNTS, 0)

    def end(self) -> None:
        """The process has done what it should."""
        self.flush()
        self._line({"ended": True})

    def _line(self, what: dict[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(what).encode() + b"\n")


def bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Every value as the integers of its bits."""
    packed = np.ascontiguousarray(values)
    return packed.reshape(*packed.shape, 1).view(np.uint8).reshape(*values.shape, -1)


def read(path: Path) -> Told:
    """What a file says, also of a process that was killed."""
    told = Told()
    text = path.read_bytes()
    told.at = text[:_AT].split(b"\0", 1)[0].decode(errors="replace")
    for line in text[_AT:].splitlines():
        what = json.loads(line)
        told.is_ended |= "ended" in what
        for name, count in what.get("counts", {}).items():
            told.counts[name] += count
        if "fault" in what:
            told.faults.append(tuple(what["fault"]))
    return told
