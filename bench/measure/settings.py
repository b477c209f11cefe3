"""What a run measures: the units that its options choose, and how closely."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

import gpubcast as gb

from .. import libraries
from ..arguments import DEFAULT_SECONDS, FULL_SECONDS, QUICK_SECONDS, SIZES, TARGET_SECONDS
from ..cases import CASES, MEMORY_BYTES, Case
from ..libraries.base import Library
from ..schema import Where
from ..timing import FEWEST, QUICK_SAMPLES, SAMPLE_SECONDS, SAMPLES

UNBOUNDED = ("small", "huge")  # Sizes at which no ceiling says how good a time is
_LARGE = 16 << 20  # elements of a result that exceeds the caches with its operands


@dataclass(frozen=True, slots=True)
class Unit:
    """What is measured together: one case in one type at one size."""

    case: Case
    dtype: str
    size: str
    first: bool = False  # whether first calls are timed: at the first size of a case in a type
    elements: int = 0  # of the result; 0 where the size's name says enough
    peers: tuple[str, ...] | None = None  # libraries that are compared; None for all of the run
    entries: tuple[str, ...] | None = None  # ways of calling that are timed; None for all

    @property
    def where(self) -> Where:
        """Which row of a report it is."""
        return self.case.name, self.dtype, self.size

    @property
    def large(self) -> bool:
        """Whether its buffers exceed the caches."""
        return self.size == "memory" or self.elements >= _LARGE

    @property
    def bounded(self) -> bool:
        """Whether memory is what limits it, so that a ceiling says how good it is."""
        return self.size not in UNBOUNDED

    def __str__(self) -> str:
        return " ".join(self.where)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run measures, and how closely."""

    units: tuple[Unit, ...]  # in order
    libraries: tuple[Library, ...]  # gpubcast and its peers
    seconds: float  # no unit begins later than this after the start,
    every_unit: bool  # or every unit does, and one that is late takes as few samples as it can
    samples: int  # per time at most
    fewest: int  # per time at least
    at_once: int  # so many are taken at one time, the others later in the run
    sample_seconds: float  # a sample of short calls takes this long
    seed: int  # of the operands, the order, and sampled indices
    memory_bytes: int  # of operands and result at the size ``memory``


def settings(
    given: argparse.Namespace, kind: str, targets: Sequence[Unit] | None = None
) -> Settings:
    """The settings that the options ask for on a kind of device.

    Args:
        given: the options.
        kind: cpu or cuda.
        targets: the units of a file of targets, of which the options choose; may be none of them.

    Raises:
        Error: an option names what there is not.
    """
    units = _of_table(given) if targets is None else _of_targets(given, targets)
    if not units and targets is None:
        cases = ", ".join(case.name for case in CASES)
        raise gb.Error(
            f"nothing to measure: no case has such a name, type and size; the cases are {cases}"
        )
    effort, seconds = 1, DEFAULT_SECONDS if targets is None else TARGET_SECONDS
    if given.full or given.quick:
        effort, seconds = (2, FULL_SECONDS) if given.full else (0, QUICK_SECONDS)
    of_targets = tuple(name for unit in targets or () for name in unit.peers or ())
    peers = tuple(peer for peer in libraries.PEERS if peer.effort <= effort)
    if given.peers is not None or targets is not None:
        peers = libraries.named(given.peers or of_targets or ("none",))
    samples = given.samples or (QUICK_SAMPLES if given.quick else SAMPLES)
    return Settings(
        units,
        (libraries.GPUBCAST, *(peer for peer in peers if kind in peer.devices)),
        given.seconds or seconds,
        given.quick and given.seconds is None,
        samples,
        min(samples, FEWEST),
        samples if samples < 2 * FEWEST or samples % 2 else samples // 2,
        SAMPLE_SECONDS / 2 if given.quick else SAMPLE_SECONDS,
        given.seed,
        MEMORY_BYTES[kind] * (4 if given.full and kind == "cpu" else 1),
    )


def named(name: str, globs: Sequence[str] | None) -> bool:
    """Whether ``--cases`` chooses a name."""
    return globs is None or any(fnmatch.fnmatch(name, glob) for glob in globs)


def _of_targets(given: argparse.Namespace, targets: Sequence[Unit]) -> tuple[Unit, ...]:
    sizes = _known("size", given.sizes, [unit.size for unit in targets])
    dtypes = _known("type", given.dtype, [unit.dtype for unit in targets])
    return tuple(
        unit
        for unit in targets
        if named(unit.case.name, given.cases) and unit.size in sizes and unit.dtype in dtypes
    )


def _of_table(given: argparse.Namespace) -> tuple[Unit, ...]:
    """What the time may not allow comes last: types but a case's first, then the largest sizes."""
    usual: Sequence[str] = SIZES if given.full else ("cache",) if given.quick else SIZES[1:3]
    sizes = _known("size", given.sizes, SIZES) if given.sizes else usual
    dtypes = _known("type", given.dtype, [dtype for case in CASES for dtype in case.dtypes])
    found = []
    for case in CASES:
        of_case = [size for size in SIZES if size in sizes and (size == "huge") == case.huge]
        of_type: Sequence[str] = case.dtypes if given.full else case.dtypes[:1]
        if given.dtype is not None and not case.huge:
            of_type = [dtype for dtype in case.dtypes if dtype in dtypes]
        usual_case = case.effort <= (2 if given.full else 1)
        if named(case.name, given.cases) and (usual_case or given.cases is not None):
            found += [Unit(case, dtype, size, size == of_case[0])
                      for dtype in of_type for size in of_case]  # fmt: skip
    return tuple(sorted(found, key=lambda u: (u.dtype != u.case.dtypes[0], SIZES.index(u.size))))


def _known(what: str, names: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    """The names that are given, all where none is."""
    for name in names or ():
        if name not in known:
            raise gb.Error(f"no {what} {name!r}; there are {', '.join(dict.fromkeys(known))}")
    return known if names is None else names
