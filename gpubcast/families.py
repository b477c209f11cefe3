"""The vocabulary of schedules: kernel families, kinds of operands, targets, and all decisions about
one launch."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Family(enum.Enum):
    """The kernel families; CUDA's are headers in ``cuda_kernels/``, NEST is the CPU's."""

    FLAT = "flat"
    ROWS = "rows"
    PHASE = "phase"
    XPOSE = "xpose"
    GATHER = "gather"
    NEST = "nest"


class Kind(enum.Enum):
    """How a kernel walks one operand. The names are those of the CUDA headers."""

    VALUE = "VALUE"  # a launch parameter
    SCALAR = "SCALAR"  # one element for the whole tile
    LINEAR = "LINEAR"  # neighbours in the iteration space are neighbours in memory
    TILE = "TILE"  # ROWS, XPOSE: unit stride along the inner axis, any along the row axis
    ROW = "ROW"  # ROWS, XPOSE: unit stride along the inner axis, repeated along the row axis
    COLUMN = "COLUMN"  # ROWS, XPOSE: repeated along the inner axis
    GATHERED = "GATHERED"  # any strides
    PERIODIC = "PERIODIC"  # PHASE: any strides in the inner axes, the same in every row
    CROSSED = "CROSSED"  # XPOSE: unit stride along the row axis
    PARTIAL = "PARTIAL"  # GATHER, NEST: a write that lacks axes; done at their first index only


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """A GPU as the scheduler sees it: its architecture (``"sm_90"``) and number of SMs."""

    arch: str
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A processor as the scheduler sees it."""

    threads: int = 1


Target = CudaTarget | CpuTarget


@dataclass(frozen=True, slots=True)
class Schedule:
    """All decisions about one launch.

    Attributes:
        family: the kernel family.
        reads, writes: the kind of each access.
        vector: elements per vector access.
        unroll: FLAT: vectors per thread; ROWS, XPOSE: rows per thread; PHASE: tiles in flight.
        index_bits: GATHER: width of the linear index, which it divides, and of offsets; PHASE: of
            the offsets in a tile. Other offsets have 64 bits.
        rank: number of axes the kernel decodes at run time: all of them (GATHER, NEST) or those
            outside the tile (ROWS, XPOSE, PHASE); 0 for FLAT.
        fills: whether padding slots are written.
        axes: NEST: per access, the axes along which it moves, where that is not said by its kind;
            else None.
        order: NEST: the axes in the order of the loops.
        kept: NEST: values that vary along the inner axis but not along the loops around it; they
            are computed before those, for a stretch of the inner axis at a time.
        steps, bands: ROWS: how many of its widths a block covers along the inner axis, and how many
            of its heights; 0 where each covers its own only, which is another kernel. PHASE: steps
            is how often a block goes on to the tiles below.
        group: PHASE: how many inner axes one row of a tile has.
        row_axis: ROWS, XPOSE, PHASE: the plan's axis that runs along the rows of a tile; -1 for
            none.
        grid: number of blocks (NEST: iterations of the outermost loop).
        block: threads of a block along the inner axis and along the rows (NEST: into how many
            parts the outermost loop is split, for as many CPU threads).
        reason: the choice in words.
    """

    family: Family
    reads: tuple[Kind, ...]
    writes: tuple[Kind, ...]
    vector: int
    unroll: int
    index_bits: int
    rank: int
    fills: bool
    row_axis: int
    grid: int
    block: tuple[int, int]
    reason: str
    axes: tuple[tuple[int, ...] | None, ...] = ()
    order: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    steps: int = 0
    bands: int = 0
    group: int = 0
