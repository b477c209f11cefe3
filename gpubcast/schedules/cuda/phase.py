"""PHASE: rows that are no whole number of vectors, and short enough that some fill a tile."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo import ops
from gpubcast.planning.plan import Access, BroadcastPlan, Instruction
from gpubcast.schedules.cuda.vectors import (
    BLOCK_THREADS,
    FEWEST_BLOCKS,
    MANY_ELEMENTS,
    MANY_VECTOR_ACCESSES,
    MAX_GRID,
    expensive,
    vector_accesses,
    vectors,
)
from gpubcast.schedules.schedule import AccessPattern, CudaTarget, Patterns, VectorScheduleBase

# More elements of a vector, each with a place of its own, spill.
WIDEST = 8
# Where fewer threads of a block have something to do, another grouping of the axes is looked for.
FEWEST_THREADS = BLOCK_THREADS // 4

# Fewer neighbours in a vector that are one element are not worth a kernel of their own.
FEWEST_SHARED = 4

GATHERED = AccessPattern.GATHERED
# Registers for an element of a read: its value, and where it lies in a row.
_REGISTERS = {AccessPattern.PERIODIC: 1, GATHERED: 2}

Within = Callable[[BroadcastPlan, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase(VectorScheduleBase):
    """Tiles of whole rows, in which a thread's elements have the same places in every tile.

    Attributes:
        tiles_in_flight: of how many tiles a thread has loaded its elements before the first store.
        inner_axes: how many axes are one row.
        batch_axes: how many axes there are around these and the row axis.
        row_axis: the plan's axis along which rows follow each other; -1 for none.
        rows_per_tile: how many rows a tile has.
        index_bits: width of the offsets in a tile.
        counts: whether a read is generated, so that the number of an element is converted, or a
            function of floats is computed.
        shared: per read, how many neighbours in a vector always are one element.
    """

    name: ClassVar[str] = "PHASE"

    tiles_in_flight: int
    inner_axes: int
    batch_axes: int
    row_axis: int
    rows_per_tile: int
    index_bits: int
    counts: bool
    shared: tuple[int, ...]

    @property
    def launch_bounds(self) -> str:
        # Else a few registers are spilled to fit more blocks.
        few = f", {FEWEST_BLOCKS}" if self.counts else ""
        return f"{self.most_threads}{few}"

    def shared_by(self, read: int) -> int:
        return self.shared[read]

    @property
    def key_part(self) -> str:
        return (
            f"V{self.vector_width} U{self.tiles_in_flight} | rank {self.batch_axes} | "
            f"{self.index_bits}-bit | inner {self.inner_axes}"
        )

    @property
    def offset_bits(self) -> int:
        return self.index_bits


def phase(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Phase | None:
    """PHASE; None where no row fits a tile."""
    # An operand without elements may lie at address 0: what is loaded beforehand is loaded always.
    if not plan.axes or any(axis.size == 0 for axis in plan.axes):
        return None
    packed, spread = (_phase(plan, addresses, target, within) for within in (_in_rows, _any))
    if packed is None or spread is None:
        return packed or spread
    return spread if _busy(plan, packed) < FEWEST_THREADS <= _busy(plan, spread) else packed


def _phase(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget, within: Within
) -> Phase | None:
    inner = _inner_axes(plan, within)
    if inner is None:
        return None
    row_axis = plan.rank - inner - 1
    reads = tuple(_pattern(plan, access, inner) for access in plan.reads)
    writes = tuple(_written(plan, access, inner) for access in plan.writes)
    batch = range(max(row_axis, 0))
    accesses = vector_accesses(plan, addresses, reads + writes, (AccessPattern.LINEAR,), batch)
    period = _period(plan, inner)
    # Neighbouring threads write neighbours where the rows have gaps.
    gaps = AccessPattern.GATHERED in writes
    widest = 1 if gaps else WIDEST // 2 if expensive(plan) else WIDEST
    while True:
        found = vectors(accesses, target.vector_bytes, widest=widest)
        width = found.width
        shared = tuple(_shared(plan, access, inner, width) for access in plan.reads)
        own = [width // same for same in shared]  # elements of its own that a vector has of a read
        single = writes.count(AccessPattern.PARTIAL) * width
        single += sum(map(operator.mul, own, (_REGISTERS.get(read, 0) for read in reads)))
        registers = single + found.elements(accesses) * width
        if width == 1 or (registers <= MANY_ELEMENTS and _fits(period, width)):
            break
        widest = width // 2
    # Each tile in flight has a register more for an element that is read by itself.
    gathered = 0
    if not gaps:
        gathered = sum(n for n, read in zip(own, reads, strict=True) if read is GATHERED)
    size = max(access.element_type.itemsize for access in plan.writes)
    short = gathered and single + gathered > MANY_ELEMENTS
    many = expensive(plan) or short or len(accesses) > MANY_VECTOR_ACCESSES or found.long
    # Of elements of a byte a thread has 8 bytes of a tile at most, and one where there are gaps.
    small = size == 1 and single + 3 * gathered <= MANY_ELEMENTS
    tiles = 1 if many else 8 if gaps and small else 4 if gaps or small else 2
    height = tile_height(period, width)
    rows = plan.axes[row_axis].extent if row_axis >= 0 else 1
    grid = -(-rows // (height * tiles)) * math.prod(plan.axes[k].extent for k in batch)
    if grid > MAX_GRID:
        return None
    return Phase(
        reads=reads,
        writes=writes,
        reason=f"PHASE: rows of {period} "
        + ("are written one element at a time" if gaps else "are contiguous in the output")
        + f"; {height} of them are a tile{found.reason}",
        grid=grid,
        block=(BLOCK_THREADS, 1),
        vector_width=width,
        loads=found.loads(len(reads)),
        tiles_in_flight=tiles,
        inner_axes=inner,
        batch_axes=len(batch),
        row_axis=row_axis,
        rows_per_tile=height,
        index_bits=_offset_bits(plan, reads + writes, inner, height),
        counts=any(read.generated for read in plan.reads) or _calls(plan),
        shared=shared,
    )


def tile_height(period: int, width: int) -> int:
    """Rows of a tile: as many as threads have vectors for, and a whole number of vectors; of four
    or two of them, a sector or more, where that leaves few threads idle."""
    most = BLOCK_THREADS * width
    spans = [most // whole * whole for n in (4, 2, 1) for whole in (math.lcm(period, n * width),)]
    return next(span for span in spans if span >= spans[-1] - most // 16) // period


def _fits(period: int, width: int) -> bool:
    return math.lcm(period, width) <= BLOCK_THREADS * width


def _period(plan: BroadcastPlan, inner: int) -> int:
    return math.prod(axis.extent for axis in plan.axes[plan.rank - inner :])


def _calls(plan: BroadcastPlan) -> bool:
    """Whether a function of floats or a quotient is computed."""
    program = plan.program

    def text(one: Instruction) -> str:
        operand = program.type_of(one.args[-1]) if one.args else None
        return ops.OPS[one.op].cuda_for(operand) if operand and operand.is_floating else ""

    return any(mark in text(one) for one in program.code for mark in "(/")


def _shared(plan: BroadcastPlan, access: Access, inner: int, width: int) -> int:
    """How many neighbours in a vector are one element, in every vector: the inner axes along which
    an operand stands still have that many elements, or a multiple."""
    still = 1
    for k in range(plan.rank - 1, plan.rank - inner - 1, -1):
        if access.strides[k] or plan.fills:
            break
        still *= plan.axes[k].extent
    same = math.gcd(still, width)
    return same if same >= FEWEST_SHARED else 1


def _busy(plan: BroadcastPlan, chosen: Phase) -> int:
    """How many threads of a block have something to do."""
    period, row = _period(plan, chosen.inner_axes), chosen.row_axis
    rows = min(
        plan.axes[row].extent if row >= 0 else 1, tile_height(period, chosen.vector_width)
    )  # fmt: skip
    return rows * period // chosen.vector_width


def _inner_axes(plan: BroadcastPlan, within: Within) -> int | None:
    """How many inner axes are one row: more than one while the rows are too few to fill a tile."""
    if not within(plan, 1):
        return None
    inner = 1
    while inner < plan.rank:
        period, above = _period(plan, inner), plan.axes[plan.rank - inner - 1].extent
        enough = above * period >= BLOCK_THREADS
        if enough or not _fits(period * above, 1) or not within(plan, inner + 1):
            break
        inner += 1
    return inner if _fits(_period(plan, inner), 1) else None


def _in_rows(plan: BroadcastPlan, inner: int) -> bool:
    """Whether every write that has all axes has the inner ones and the row axis before them without
    a gap."""
    return all(plan.lacks(access) or is_linear(plan, access, inner) for access in plan.writes)


def _any(plan: BroadcastPlan, inner: int) -> bool:
    """Any writes: they may have gaps."""
    return inner <= plan.rank


def is_linear(plan: BroadcastPlan, access: Access, inner: int) -> bool:
    step = 1
    for k in range(plan.rank - 1, max(plan.rank - inner - 2, -1), -1):
        if access.strides[k] != step:
            return False
        step *= plan.axes[k].extent
    return True


def _pattern(plan: BroadcastPlan, access: Access, inner: int) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    tile = access.strides[max(plan.rank - inner - 1, 0) :]
    if not any(tile):
        return AccessPattern.SCALAR
    # What has padding beside it is read one by one: nothing says that there is memory.
    if is_linear(plan, access, inner) and not plan.fills:
        return AccessPattern.LINEAR
    return AccessPattern.GATHERED if plan.rank > inner and tile[0] else AccessPattern.PERIODIC


def _written(plan: BroadcastPlan, access: Access, inner: int) -> AccessPattern:
    if plan.lacks(access):
        return AccessPattern.PARTIAL
    return AccessPattern.LINEAR if is_linear(plan, access, inner) else AccessPattern.GATHERED


def _offset_bits(plan: BroadcastPlan, patterns: Patterns, inner: int, height: int) -> int:
    """32 where every offset in a tile fits."""
    farthest = 0
    for access, own in zip(plan.accesses, patterns, strict=True):
        if own in (AccessPattern.GATHERED, AccessPattern.PARTIAL, AccessPattern.PERIODIC):
            row = plan.rank - inner - 1
            # A PERIODIC operand has no stride along the rows.
            reach = abs(access.strides[row]) * height if row >= 0 else 0
            for k in range(plan.rank - inner, plan.rank):
                reach += abs(access.strides[k]) * (plan.axes[k].extent - 1)
            farthest = max(farthest, reach)
    return 32 if farthest < 2**31 else 64
