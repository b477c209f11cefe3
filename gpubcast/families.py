"""The vocabulary of schedules: kernel families, kinds of operands, targets, and all decisions about
one launch."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Family(enum.Enum):
    """The kernel families; CUDA's are headers in ``cuda_kernels/``, NEST, RUNS and TILES
    are the CPU's."""

    FLAT = "flat"
    ROWS = "rows"
    PHASE = "phase"
    XPOSE = "xpose"
    GATHER = "gather"
    NEST = "nest"
    RUNS = "runs"
    TILES = "tiles"


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
    CROSSED = "CROSSED"  # XPOSE, TILES: unit stride along the row axis
    REVERSED = "REVERSED"  # NEST, RUNS: neighbours along the inner axis in opposite order
    SECOND = "SECOND"  # NEST, RUNS: every second element along the inner axis
    PARTIAL = "PARTIAL"  # GATHER, NEST: a write that lacks axes; done at their first index only


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """A GPU as the scheduler sees it: its architecture (``"sm_90"``) and number of SMs."""

    arch: str
    multiprocessors: int

    @property
    def vector_bytes(self) -> int:
        """Bytes of the widest access to memory."""
        return 32 if int(self.arch[3:].rstrip("af")) >= 100 else 16


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A processor as the scheduler sees it.

    Attributes:
        threads: how many threads a kernel may use.
        streaming_bytes: the least footprint of a kernel that writes past the caches.
    """

    threads: int = 1
    streaming_bytes: int = 16 << 20


Target = CudaTarget | CpuTarget


@dataclass(frozen=True, slots=True)
class Schedule:
    """All decisions about one launch.

    Attributes:
        family: the kernel family.
        reads, writes: the kind of each access.
        vector: elements per vector access.
        unroll: FLAT: vectors per thread; ROWS, XPOSE: rows per thread; PHASE: tiles in flight;
            GATHER: elements per thread.
        index_bits: GATHER: width of the linear index, which it divides, and of offsets; PHASE: of
            the offsets in a tile. Other offsets have 64 bits.
        rank: number of axes the kernel decodes at run time: all of them (GATHER and the CPU's) or
            those outside the tile (ROWS, XPOSE, PHASE); 0 for FLAT.
        fills: whether padding slots are written.
        axes: NEST: per access, the axes along which it moves, where that is not said by its kind;
            else None.
        order: NEST: the axes in the order of the loops. TILES: the axes around tiles, that of their
            rows, the innermost one.
        kept: NEST: values that vary along the inner axis but not along the loops around it; they
            are computed before those, for a stretch of the inner axis at a time. RUNS: values that
            do not vary along a whole run; each is written out for a stretch of it. TILES: those
            that are the same in all rows of a tile.
        split: NEST, RUNS, TILES: the axis whose indices are divided among threads.
        streams: RUNS, TILES: whether the results are written past the caches.
        steps, bands: ROWS: how many of its widths a block covers along the inner axis, and how many
            of its heights; 0 where each covers its own only, which is another kernel. PHASE: steps
            is how often a block goes on to the tiles below.
        group: PHASE: how many inner axes one row of a tile has; 0 where rows follow each other in
            one run of vectors, which is another kernel. RUNS: how many inner axes lie whole within
            a stretch, which has some indices of the axis around them.
        head: FLAT, PHASE: elements before the first vector.
        loads: per read, how many elements of a vector are read at a time; empty where each vector
            is one load.
        row_axis: ROWS, XPOSE, PHASE, TILES: the plan's axis that runs along the rows of a tile; -1
            for none.
        grid: number of blocks (on a CPU: indices of the axis that is split).
        block: threads of a block along the inner axis and along the rows (on a CPU: into how many
            parts the split axis is cut, and of how many indices parts should be multiples).
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
    split: int = 0
    streams: bool = False
    steps: int = 0
    bands: int = 0
    group: int = 0
    head: int = 0
    loads: tuple[int, ...] = ()

    def part(self, read: int) -> int:
        """Elements of a load of a read that takes several for a vector; 0 where one is enough."""
        if not self.loads:
            return 0
        whole = self.unroll if self.reads[read] is Kind.CROSSED else self.vector
        return self.loads[read] if self.loads[read] < whole else 0
