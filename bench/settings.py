"""What a run measures: the units that its options choose, and how closely."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gpubcast as gb

from . import arguments as options
from . import peers
from .cases import CASES, MEMORY_BYTES, Case
from .library import Library
from .timing import FEWEST, QUICK_SAMPLES, SAMPLE_SECONDS, SAMPLES

UNBOUNDED = ("small", "huge")
"""Sizes at which no ceiling says how good a time is."""
# Elements of a result that exceeds the caches with its operands.
_LARGE = 16 << 20


@dataclass(frozen=True, slots=True)
class Unit:
    """What is measured together: one case in one type at one size.

    Attributes:
        case, dtype, size: which; a size with a name of its own says what it is in ``elements``.
        first: whether first calls are timed; they are at the first size of a case in a type.
        elements: of the result; 0 where the size's name says enough.
        peers: names of the libraries that are compared; None for all of the run.
        entries: the ways of calling that are timed; None for all that a library has.
    """

    case: Case
    dtype: str
    size: str
    first: bool
    elements: int = 0
    peers: tuple[str, ...] | None = None
    entries: tuple[str, ...] | None = None

    @property
    def large(self) -> bool:
        """Whether its buffers exceed the caches."""
        return self.size == "memory" or self.elements >= _LARGE

    @property
    def bounded(self) -> bool:
        """Whether memory is what limits it, so that a ceiling says how good it is."""
        return self.size not in UNBOUNDED

    def __str__(self) -> str:
        return f"{self.case.name} {self.dtype} {self.size}"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run measures, and how closely.

    Attributes:
        units: in order.
        libraries: gpubcast and its peers.
        seconds: no unit begins later than this after the start.
        samples, fewest: per time, at most and at least.
        at_once: so many of the samples are taken at one time, the others later in the run.
        sample_seconds: a sample of short calls takes this long.
        seed: of the operands, the order, and sampled indices.
        memory_bytes: of operands and result at the size ``memory``.
    """

    units: tuple[Unit, ...]
    libraries: tuple[Library, ...]
    seconds: float
    samples: int
    fewest: int
    at_once: int
    sample_seconds: float
    seed: int
    memory_bytes: int


def settings(given: argparse.Namespace, kind: str) -> Settings:
    """The settings that the options ask for on a kind of device.

    Raises:
        Error: an option names what there is not.
    """
    sizes = given.sizes or ("small", "cache", "memory", "huge")
    if given.sizes is None and not given.full:
        sizes = ("cache",) if given.quick else ("cache", "memory")
    # Size by size, so that what the time does not allow is the largest size of the last cases.
    units = tuple(
        sorted(
            _units(given.cases, given.dtype, sizes, given.full),
            key=lambda unit: options.SIZES.index(unit.size),
        )
    )
    if not units:
        raise gb.Error(
            "nothing to measure: no case has such a name, type and size; the cases are "
            + ", ".join(case.name for case in CASES)
        )
    if given.peers is None:
        effort = 2 if given.full else 0 if given.quick else 1
        chosen = tuple(peer for peer in peers.PEERS if peer.effort <= effort)
    else:
        try:
            chosen = peers.named(given.peers)
        except ValueError as error:
            raise gb.Error(str(error)) from None
    fallback = options.FULL_SECONDS if given.full else options.DEFAULT_SECONDS
    seconds = given.seconds or (options.QUICK_SECONDS if given.quick else fallback)
    samples = given.samples or (QUICK_SAMPLES if given.quick else SAMPLES)
    return Settings(
        units,
        (peers.GPUBCAST, *(peer for peer in chosen if kind in peer.devices)),
        seconds,
        samples,
        min(samples, FEWEST),
        samples if samples < 2 * FEWEST or samples % 2 else samples // 2,
        SAMPLE_SECONDS / 2 if given.quick else SAMPLE_SECONDS,
        given.seed,
        MEMORY_BYTES[kind] * (4 if given.full and kind == "cpu" else 1),
    )


def _units(
    globs: Sequence[str] | None,
    dtypes: Sequence[str] | None,
    sizes: Sequence[str],
    full: bool,
) -> Iterator[Unit]:
    for case in CASES:
        if globs is not None and not any(fnmatch.fnmatch(case.name, glob) for glob in globs):
            continue
        of_case = [
            size for size in options.SIZES if size in sizes and (size == "huge") == case.huge
        ]
        if dtypes is not None and not case.huge:
            wanted: Sequence[str] = [dtype for dtype in case.dtypes if dtype in dtypes]
        else:
            wanted = case.dtypes if full else case.dtypes[:1]
        for dtype in wanted:
            for size in of_case:
                yield Unit(case, dtype, size, size == of_case[0])
