"""The JSON of a report: one class for each of its objects, and how it is read and written.

Whatever measures fills these classes, and whatever shows, compares or resumes reads them. A file is
what ``dataclasses.asdict`` makes of a ``Report``, and ``load`` accepts nothing else but files of
schemas 2 and 3, which it converts.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import gpubcast as gb

SCHEMA = 4
OURS = "gpubcast"
ENTRIES = ("first", "call", "out", "bound")
"""Ways of calling: with plan and compilation; allocating the result; into an array that is there;
a launch with its buffers fixed."""
Status = Literal["", "ok", "WRONG", "failed", "skipped"]
Where = tuple[str, str, str]  # Case, type and size
Key = tuple[str, str, str, str, str]  # these, the library and the entry


@dataclass(slots=True, kw_only=True)
class Times:
    """Seconds per call: raw samples, their median, and their 20th and 80th percentile."""

    samples: list[float] = field(default_factory=list)
    median: float | None = None
    p20: float | None = None
    p80: float | None = None

    def record(self, samples: Sequence[float]) -> Self:
        """Take samples, and what follows from them; none leaves nothing. Itself again."""
        self.samples = list(samples)
        found = [percentile(samples, part) if samples else None for part in (0.5, 0.2, 0.8)]
        self.median, self.p20, self.p80 = found
        return self


@dataclass(slots=True, kw_only=True)
class Ceiling(Times):
    """What the memory can do at best: ``bytes`` read and written in the median time."""

    name: str  # read, fill, copy or triad
    threads: int | None  # of the CPU; None on a GPU
    level: str  # of the memory
    bytes: int

    @property
    def key(self) -> tuple[str, int | None, str, int]:
        """What no other ceiling of the report has."""
        return self.name, self.threads, self.level, self.bytes


@dataclass(slots=True, kw_only=True)
class Result(Times):
    """One way of calling one library on one case, type and size.

    Attributes:
        operands, outputs: shapes as HLO text.
        peak_host, peak_device: bytes of memory taken at the peak of a call.
    """

    case: str
    expression: str  # the call as a user writes it
    dtype: str
    size: str
    level: str  # of the memory that its buffers lie in
    operands: list[str]
    outputs: list[str]
    elements: int  # of the result, with all that is reduced for each of them
    bytes: int  # that must move
    schedule: str | None  # why gpubcast's kernel is as it is; None for other libraries
    library: str
    entry: str
    status: Status = ""
    error: str | None = None  # why there is no time
    checked: str | None = None  # what the result was compared with
    timer: str  # how it was timed
    fraction: float | None = None  # its rate as a share of ``ceiling``, where that bounds it
    ceiling: str | None = None
    peak_host: int | None = None
    peak_device: int | None = None

    @property
    def where(self) -> Where:
        """Which row it belongs to."""
        return self.case, self.dtype, self.size

    @property
    def key(self) -> Key:
        """What no other result of the report has."""
        return *self.where, self.library, self.entry

    @property
    def name(self) -> str:
        """Case, type, size and entry."""
        return " ".join((*self.where, self.entry))

    @property
    def timed(self) -> bool:
        """Whether it is right and has a time that can be divided by."""
        return self.status == "ok" and bool(self.median)

    def succeed(self, samples: Sequence[float], timer: str) -> None:
        """Take the samples of a result that is right."""
        self.status, self.timer = "ok", timer
        self.record(samples)

    def fail(self, status: Status, error: str) -> None:
        """Say why there is no time; one that was there is no longer believed."""
        self.status, self.error, self.fraction, self.ceiling = status, error, None, None
        self.record(())


@dataclass(slots=True, kw_only=True)
class Latency:
    """A figure that is no ratio of two libraries' times (see ``measure/latency.py``).

    Attributes:
        name, unit, measured: the figure.
    """

    of: str  # what measures it: start, calls or pause
    name: str
    unit: str
    measured: float
    samples: dict[str, list[float]]  # by what they are of


@dataclass(slots=True, kw_only=True)
class Absent:
    """A library that could not be compared, and why."""

    library: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Report:
    """A run.

    Attributes:
        ceilings: of the machine.
        in_turns: by unit (case, type, size), the ceiling that was sampled in turns with it.
        not_measured: units that are still to be done.
        lost: units in which the process or the device was lost.
    """

    schema: int = SCHEMA
    finished: bool = False  # false where the run was interrupted, not where its time was over
    command: str  # what was run
    seed: int  # of operands and order
    device: str  # cpu or cuda
    environment: dict[str, Any] = field(default_factory=dict)  # see ``measure/environment.py``
    ceilings: list[Ceiling] = field(default_factory=list)
    in_turns: dict[str, Ceiling] = field(default_factory=dict)
    absent: list[Absent] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    latencies: list[Latency] = field(default_factory=list)
    not_measured: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong and gpubcast itself never failed; a peer may."""
        return not self.lost and not any(
            result.status == "WRONG" or (result.status == "failed" and result.library == OURS)
            for result in self.results
        )

    def text(self) -> str:
        """The JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1) + "\n"


def load(path: Path) -> Report:
    """A report from its file.

    Raises:
        Error: the file cannot be read, or is not a report of a schema that is known.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise gb.Error(f"{path} cannot be read as a report: {reason}") from error
    if not isinstance(found, dict) or not isinstance(found.get("results"), list):
        raise gb.Error(f"{path} is not a report of gpubcast bench")
    if found.get("schema") == 2:
        found = _from_2(found)
    if found.get("schema") == 3:
        found = found | {"schema": SCHEMA, "in_turns": {}}
    if found.get("schema") != SCHEMA:
        raise gb.Error(f"{path} has schema {found.get('schema')}, this version reads 2 to {SCHEMA}")
    try:
        report: Report = _read(Report, found, "the report")
    except ValueError as error:
        raise gb.Error(f"{path} is not a report of gpubcast bench: {error}") from error
    return report


def _from_2(found: Mapping[str, Any]) -> dict[str, Any]:
    """Schema 2 wrote latencies as ``gates`` with their targets, which are a file of their own."""
    latencies = [
        {name: value for name, value in gate.items() if name != "wanted"}
        for gate in found.get("gates", ())
    ]
    kept = {name: value for name, value in found.items() if name != "gates"}
    return kept | {"schema": 3, "latencies": latencies, "lost": []}


def _read(wanted: Any, value: Any, where: str) -> Any:
    """A JSON value as the type that a field is annotated with.

    Raises:
        ValueError: it is another one; the text says where.
    """
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        return _object(wanted, value, where)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return _read(inner[0], value, where)
    if origin is Literal:
        if value not in inner:
            raise ValueError(f"{where} is {value!r}")
        return value
    kind = float if wanted is float else origin or wanted
    accepted: tuple[Any, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{where} is no {kind.__name__}")
    if kind is list:
        return [_read(inner[0], one, f"{where}[{k}]") for k, one in enumerate(value)]
    if kind is dict and inner[1] is not Any:
        return {name: _read(inner[1], one, f"{where}.{name}") for name, one in value.items()}
    return value


def _object(wanted: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no object")
    types_of = _fields(wanted)
    for name, other in (("has no", types_of.keys() - value), ("has", value.keys() - types_of)):
        if other:
            raise ValueError(f"{where} {name} {', '.join(sorted(other))}")
    found = {name: _read(of, value[name], f"{where}.{name}") for name, of in types_of.items()}
    return wanted(**found)


_fields = functools.cache(typing.get_type_hints)


def percentile(samples: Iterable[float], fraction: float) -> float:
    """The sample below which a fraction of all lies (the nearest one)."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def save(path: Path, text: str) -> None:
    """Write a file as a whole: whatever interrupts it, the old one is there or the new one.

    Raises:
        OSError: it cannot be written.
    """
    target = path.resolve()
    partial = target.with_name(f".{target.name}.partial")
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        target.write_text(text, encoding="utf-8", newline="")
        return
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
