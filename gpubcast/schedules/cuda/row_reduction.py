"""ROW_REDUCTION: a sequence along one axis, shared by threads of a warp or by several warps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo.sequences import CHUNK, LANES, num_chunks
from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.column_reduction import (
    NEIGHBOURS,
    counted_axes,
    neighbouring_bytes,
    num_columns,
)
from gpubcast.schedules.cuda.passes import REGISTER, Passes, cached_values, reading
from gpubcast.schedules.cuda.vectors import load_width, vector_accesses
from gpubcast.schedules.schedule import (
    BLOCK_THREADS,
    AccessPattern,
    CudaScheduleBase,
    CudaTarget,
)

WARP = 32
# Lanes of a chunk that a thread has beside each other: a warp has them all.
LANES_OF_THREAD = LANES // WARP
STEPS_OF_CHUNK = CHUNK // LANES
# Threads of a block that share a row, at most, and registers of each in which elements are held
# between passes: half of those that it may have. With fewer threads, which have more elements each,
# twice as many registers are left for what is computed: that is needed where rows have an end to
# look out for, where numbers take two registers, and where what is cached is made of several reads.
WIDE_THREADS, WIDE_REGISTERS, FEW_REGISTERS = 512, 64, 32
NARROW_REGISTERS = 128
# More steps than these leave no registers for a second block.
MANY_STEPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRowReduction(CudaScheduleBase):
    """A sequence for a part of a warp, a warp or a block.

    Attributes:
        group: threads of a warp that share a row.
        wide: whether all warps of a block share one.
        threads: of a block at most.
        steps: vectors that a thread has at once.
        held: whether those are all that it has of a row, so that they are read once.
        even: whether rows end where the vectors of their threads end.
        cached: values of an element that one pass computes for later ones.
        loads: per read, the elements of one access.
        store_width: elements of a store.
        index_bits: width of rows' numbers.
        axes: the parallel axes, that of chunks first.
        chunked: as the plan's.
    """

    name: ClassVar[str] = "ROW_REDUCTION"
    values: ClassVar[str] = "cached"

    group: int
    wide: bool
    threads: int
    steps: int
    held: bool
    even: bool
    cached: tuple[int, ...]
    loads: tuple[int, ...]
    store_width: int
    index_bits: int
    axes: tuple[int, ...]
    chunked: bool

    @property
    def key_part(self) -> str:
        threads = f"block of {self.threads}" if self.wide else f"{self.group} threads"
        chunks = " | by chunks" if self.chunked else ""
        again = (" | even" if self.even else "") + ("" if self.held else " | read again")
        return (
            f"{threads} S{self.steps} W{self.store_width}{again} | rank {len(self.axes)}{chunks} | "
            f"{self.index_bits}-bit"
        )

    @property
    def launch_bounds(self) -> str:
        # Else some registers are spilled to fit more blocks; where the elements take most of them,
        # there is one anyway, and what is said of it makes the compiler take them all.
        return f"{self.threads}, 1" if self.steps <= MANY_STEPS else str(self.threads)

    @property
    def most_threads(self) -> int:
        return self.threads

    def narrow_load(self, read: int) -> int:
        return self.loads[read] if self.loads[read] < LANES_OF_THREAD else 0

    def access_key(self, slot: int, element_type: str) -> str:
        narrow = self.narrow_load(slot) if slot < len(self.reads) else 0
        return f"{self.patterns[slot].value}{f'/{narrow}' if narrow else ''}:{element_type}"


def row_reduction(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget
) -> CudaRowReduction | None:
    """ROW_REDUCTION; None where a sequence has several axes or another one within its elements,
    and where neighbours in memory are neighbours along a parallel axis."""
    if plan.sequences != (1,):
        return None
    along = plan.num_parallel
    axes = counted_axes(plan)
    rows = num_columns(plan)
    if axes and _crossed(plan, axes[-1], along):
        return None
    length = min(plan.axes[along].size, CHUNK) if plan.chunked else plan.axes[along].size
    wide = length > CHUNK
    passes = Passes(plan)
    cached, registers = cached_values(plan, passes)
    group, steps, warps = WARP, STEPS_OF_CHUNK, 1
    threads = BLOCK_THREADS
    if wide:
        of_reads = [r for r in passes.values(1, cached) if r < len(plan.reads)]
        several = bool(cached) and len(of_reads) > 1
        threads, of_warp, held = _of_block(plan, num_chunks(length), registers, several=several)
        warps = min(-(-num_chunks(length) // of_warp), threads // WARP)
        even = length % CHUNK == 0 and (not held or length == warps * of_warp * CHUNK)
        steps = of_warp * STEPS_OF_CHUNK
        grid, block = rows, (warps * WARP, 1)
    else:
        vectors = -(-length // LANES_OF_THREAD)
        group = min(WARP, 1 << max(vectors - 1, 0).bit_length())
        steps = next(n for n in (1, 2, 4) if n * group >= vectors)
        held = steps * LANES_OF_THREAD * registers <= WIDE_REGISTERS
        even = length == steps * group * LANES_OF_THREAD
        if plan.chunked:
            even = plan.axes[along].size % CHUNK == 0
        grid, block = -(-rows * group // BLOCK_THREADS), (group, BLOCK_THREADS // group)
    patterns = (
        *(_pattern(access, along) for access in plan.reads),
        *(_written(access, along) for access in plan.writes),
    )
    widths = [LANES_OF_THREAD] * len(plan.accesses)
    moving = (AccessPattern.LINEAR, AccessPattern.ROW)
    for one in vector_accesses(plan, addresses, patterns, moving, range(along)):
        if not one.access.generated:
            most = max(target.vector_bytes // one.access.element_type.itemsize, 1)
            width = min(LANES_OF_THREAD, most)
            widths[one.slot] = load_width(one, 0, width, target.vector_bytes)
    reads = len(plan.reads)
    return CudaRowReduction(
        reads=patterns[:reads],
        writes=patterns[reads:],
        reason=f"ROW_REDUCTION: {_who(wide, group, warps)} on a row of {length} elements, "
        + reading(passes.count + bool(passes.full), held=held),
        grid=max(grid, 1),
        block=block,
        group=group,
        wide=wide,
        threads=threads,
        steps=steps,
        held=held,
        even=even,
        cached=cached if held else (),
        loads=tuple(widths[:reads]),
        store_width=min(widths[reads:]),
        index_bits=64 if rows + BLOCK_THREADS >= 2**31 else 32,
        axes=axes,
        chunked=plan.chunked,
    )


def _of_block(
    plan: BroadcastPlan, chunks: int, registers: int, *, several: bool
) -> tuple[int, int, bool]:
    """The most threads of a block that shares a row, chunks of each warp, and whether it holds
    them.

    Args:
        chunks: of the row.
        registers: that an element takes.
        several: whether what is cached is made of several reads.
    """
    pairs = any(t.itemsize > REGISTER for t in map(plan.program.type_of, _values(plan)))
    for threads in (WIDE_THREADS, BLOCK_THREADS)[several:]:
        warps = threads // WARP
        of_warp = 1 << max(-(-chunks // warps) - 1, 0).bit_length()
        uneven = plan.axes[plan.num_parallel].size % (CHUNK * of_warp) != 0
        room = NARROW_REGISTERS
        if threads == WIDE_THREADS:
            room = FEW_REGISTERS if pairs or uneven else WIDE_REGISTERS
        if of_warp * STEPS_OF_CHUNK * LANES_OF_THREAD * registers <= room:
            return threads, of_warp, True
    return BLOCK_THREADS, 1, False


def _values(plan: BroadcastPlan) -> range:
    return range(len(plan.reads) + len(plan.program.code))


def _crossed(plan: BroadcastPlan, neighbours: int, along: int) -> bool:
    """Whether more bytes have neighbours along a parallel axis than along the sequence."""
    if plan.chunked and neighbours == plan.num_parallel - 1:
        return False
    most = neighbouring_bytes(plan, neighbours)
    return most > neighbouring_bytes(plan, along) and plan.axes[neighbours].size >= NEIGHBOURS


def _who(wide: bool, group: int, warps: int) -> str:
    if wide:
        return f"a block of {warps} warps"
    return "a warp" if group == WARP else f"{group} thread{'s' * (group > 1)}"


def _pattern(access: Access, along: int) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    if access.strides[along] == 0:
        return AccessPattern.SCALAR
    if access.strides[along] != 1:
        return AccessPattern.GATHERED
    return AccessPattern.LINEAR if any(access.strides[:along]) else AccessPattern.ROW


def _written(access: Access, along: int) -> AccessPattern:
    if access.strides[along] == 0:
        return AccessPattern.PARTIAL
    return AccessPattern.LINEAR if access.strides[along] == 1 else AccessPattern.GATHERED
