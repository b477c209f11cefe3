"""COLUMN_REDUCTION: neighbouring threads on neighbouring columns, some of them for each; any
strides, several axes in a sequence, a sequence within the elements of another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo.sequences import CHUNK, LANES, num_chunks
from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.gather import reach
from gpubcast.schedules.cuda.passes import REGISTER, Passes, cached_values, reading
from gpubcast.schedules.cuda.vectors import VECTOR_BYTES, load_width, vector_accesses
from gpubcast.schedules.schedule import (
    BLOCK_THREADS,
    AccessPattern,
    CudaScheduleBase,
    CudaTarget,
)
from gpubcast.shapes.element_types import ElementType

# Threads of a multiprocessor that keep it busy; twice as many where each computes much of little
# memory, so that the last blocks are short.
BUSY_THREADS = 1024
# Columns of a thread, of elements of so many bytes at most: one column of wider ones has the
# registers that there are. With fewer vectors of columns some multiprocessors have none.
WIDEST, WIDEST_BYTES, MANY_VECTORS = 4, 4, 1024
# Elements of an inner sequence that are loaded together, at most.
MOST_UNROLLED = 8
# Elements of a sequence that a thread has at least, where threads share one.
LEAST_ELEMENTS = 4
# Lanes that a thread takes together, at most, and the elements of each.
LANES_OF_GROUP, ELEMENTS_OF_LANE = 4, CHUNK // LANES
# Threads of a block that hold their elements, and registers for these between passes.
HELD_THREADS, HELD_REGISTERS = 512, 32
# Registers for the elements of an only pass and for what they come to, where a thread holds all of
# its elements and where it goes on to others; half of them where an operation takes many. And how
# many values of each reduction it has in either case.
PASS_REGISTERS, LOOP_REGISTERS = 80, 120
VALUES_OF_HELD, VALUES_OF_TREES = 4, 13
# The least columns of a block that are neighbours: a sector of 32 bytes has so many f32.
NEIGHBOURS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaColumnReduction(CudaScheduleBase):
    """A sequence for each column of a block, shared by threads.

    Attributes:
        axes: the parallel axes in the order in which they are counted: that of chunks first, that
            of neighbouring threads last.
        sequences, chunked: as the plan's.
        index_bits: width of columns' and elements' numbers and of offsets.
        vector_width: columns of a thread, neighbours in memory; they count as one in the kernel.
        group: lanes of a chunk that a thread takes together.
        single: whether a column has one chunk at most.
        held: whether a thread has so few elements that it keeps them in registers.
        cached: values of an element that one pass then computes for later ones.
        unrolled: the elements of the inner sequence, where they are few; else 0.
        inner_reads: the reads that move along the inner sequence.
        standing, adjacent: the reads that stand still along the sequence, and those of which
            elements of the inner one are neighbours; empty where that is not unrolled.
        chunk_classes, lane_classes: into how many classes the chunks of a sequence, and the lanes
            of a chunk, are divided, one for each thread of a column.
    """

    name: ClassVar[str] = "COLUMN_REDUCTION"
    values: ClassVar[str] = "cached"

    axes: tuple[int, ...]
    sequences: tuple[int, ...]
    chunked: bool
    index_bits: int
    vector_width: int
    group: int
    single: bool
    held: bool
    cached: tuple[int, ...]
    unrolled: int
    inner_reads: tuple[int, ...]
    standing: tuple[int, ...]
    adjacent: tuple[int, ...]
    chunk_classes: int
    lane_classes: int

    @property
    def key_part(self) -> str:
        ranks = " ".join(map(str, (len(self.axes), *self.sequences)))
        chunks = (" | by chunks" if self.chunked else "") + (" | held" if self.held else "")
        chunks += " | one chunk" if self.single and not self.chunked else ""
        inner = ""
        if len(self.sequences) > 1:
            inner = f" | inner of {_listed(self.inner_reads)}"
        if self.unrolled:
            inner += (
                f": {self.unrolled} stand {_listed(self.standing)} adjacent "
                f"{_listed(self.adjacent)}"
            )
        vectors = f" | V{self.vector_width}" if self.vector_width > 1 else ""
        vectors += f" | G{self.group}" if self.group < LANES_OF_GROUP else ""
        return f"ranks {ranks}{chunks}{inner}{vectors} | {self.index_bits}-bit"

    @property
    def launch_bounds(self) -> str:
        # Else some registers are spilled to fit more blocks.
        return f"{self.most_threads}, 1"

    @property
    def most_threads(self) -> int:
        return HELD_THREADS if self.held else BLOCK_THREADS

    @property
    def offset_bits(self) -> int:
        return self.index_bits


def column_reduction(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget
) -> CudaColumnReduction:
    """COLUMN_REDUCTION, for any plan with a sequence."""
    axes = counted_axes(plan)
    length = sequence_length(plan)
    most = min(length, CHUNK) if plan.chunked else length
    chunks = _power_of_two(num_chunks(most))
    lanes = _power_of_two(min(most, LANES))
    passes = Passes(plan)
    cached, registers = cached_values(plan, passes)
    walks = passes.count + bool(passes.full)
    # As many threads as leave each of them the elements that it has at once.
    threads = chunks * max(lanes // LANES_OF_GROUP, 1)
    held = len(plan.sequences) == 1 and threads * NEIGHBOURS <= HELD_THREADS
    vector = 1
    if walks == 1:
        held = held and _fits(plan, passes, 1, LANES_OF_GROUP, held=True)
        vector = _vector_width(plan, addresses)
        while vector > 1 and not _fits(plan, passes, vector, LANES_OF_GROUP, held=held):
            vector //= 2
    else:
        held = held and registers * LANES_OF_GROUP * ELEMENTS_OF_LANE <= HELD_REGISTERS
    group = LANES_OF_GROUP
    while group > 1 and not held and not _fits(plan, passes, vector, group, held=False):
        group //= 2
    columns = num_columns(plan) // vector
    if held:
        chunk_classes, lane_classes = chunks, threads // chunks
        block = max(BLOCK_THREADS, min(2 * NEIGHBOURS * threads, HELD_THREADS))
    else:
        busy = BUSY_THREADS * len(plan.sequences)
        wanted = max(busy * target.multiprocessors // columns, 1)
        # Twice the neighbours are two sectors, where that leaves enough threads.
        many = columns * BLOCK_THREADS // (2 * NEIGHBOURS) >= busy * target.multiprocessors // 4
        neighbours = 2 * NEIGHBOURS if many else NEIGHBOURS
        fitting = max(BLOCK_THREADS // neighbours, BLOCK_THREADS // columns)
        threads = min(wanted, max(most // LEAST_ELEMENTS, 1), fitting, LANES)
        threads = 1 << threads.bit_length() - 1
        chunk_classes = min(threads, chunks)
        lane_classes = min(threads // chunk_classes, max(lanes // LANES_OF_GROUP, 1))
        threads = chunk_classes * lane_classes
        block = BLOCK_THREADS
    wide = min(block // threads, _power_of_two(columns))
    far = max((columns + wide) * vector, length, reach(plan)) >= 2**31
    shared = f", shared by {threads} threads each" if threads > 1 else ""
    of_block = f"{wide * vector} neighbouring columns per block"
    if vector > 1:
        of_block += f" by vectors of {vector}"
    return CudaColumnReduction(
        reads=tuple(_pattern(access, plan, vector) for access in plan.reads),
        writes=tuple(
            AccessPattern.PARTIAL if _lacks_sequence(access, plan) else AccessPattern.GATHERED
            for access in plan.writes
        ),
        reason=f"COLUMN_REDUCTION: {of_block}{shared}, {reading(walks, held=held)}; "
        f"{64 if far else 32}-bit indices",
        grid=-(-columns // wide),
        block=(wide, threads),
        axes=axes,
        sequences=plan.sequences,
        chunked=plan.chunked,
        index_bits=64 if far else 32,
        vector_width=vector,
        group=group,
        single=chunks == 1,
        held=held,
        cached=cached if held else (),
        unrolled=unrolled(plan),
        inner_reads=passes.inner_reads,
        standing=standing(plan),
        adjacent=adjacent(plan),
        chunk_classes=chunk_classes,
        lane_classes=lane_classes,
    )


def unrolled(plan: BroadcastPlan) -> int:
    """The elements of an inner sequence along one axis, where they are few; else 0."""
    if plan.sequences[1:] != (1,):
        return 0
    length = sequence_length(plan, 2)
    return length if length <= MOST_UNROLLED else 0


def standing(plan: BroadcastPlan) -> tuple[int, ...]:
    """The reads that are the same for all elements of a sequence with one that is unrolled."""
    if not unrolled(plan):
        return ()
    outer = plan.axes_of(1)
    return tuple(r for r, own in enumerate(plan.reads) if not any(own.strides[k] for k in outer))


def adjacent(plan: BroadcastPlan) -> tuple[int, ...]:
    """The reads of which the elements of an unrolled sequence are neighbours in memory."""
    if not unrolled(plan):
        return ()
    (inner,) = plan.axes_of(2)
    return tuple(r for r, own in enumerate(plan.reads) if own.strides[inner] == 1)


def num_columns(plan: BroadcastPlan) -> int:
    """Indices of the parallel axes."""
    return math.prod(axis.size for axis in plan.axes[: plan.num_parallel])


def sequence_length(plan: BroadcastPlan, number: int = 1) -> int:
    """Elements of a sequence."""
    return math.prod(plan.axes[axis].size for axis in plan.axes_of(number))


def counted_axes(plan: BroadcastPlan) -> tuple[int, ...]:
    """The parallel axes; the last is that along which most bytes are neighbours."""
    free = range(plan.num_parallel - plan.chunked)
    chunks = (plan.num_parallel - 1,) if plan.chunked else ()
    if not free:
        return chunks
    last = max(free, key=lambda axis: (neighbouring_bytes(plan, axis), axis))
    return (*chunks, *(axis for axis in free if axis != last), last)


def neighbouring_bytes(plan: BroadcastPlan, axis: int) -> int:
    """Bytes of all accesses along the sequences that have neighbours along an axis; those of what
    is repeated count once."""

    def num_bytes(access: Access) -> int:
        moved = zip(plan.axes, access.strides, strict=True)
        elements = math.prod(own.size for own, stride in moved if stride)
        return elements * access.element_type.itemsize

    return sum(
        num_bytes(access)
        for access in plan.accesses
        if access.strides[axis] == 1
        and any(access.strides[plan.num_parallel :])
        and not access.generated
    )


def _pattern(access: Access, plan: BroadcastPlan, vector: int) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    if not _moves(access, plan):
        return AccessPattern.SCALAR
    if vector == 1:
        return AccessPattern.GATHERED
    last = counted_axes(plan)[-1]
    return AccessPattern.TILE if access.strides[last] else AccessPattern.COLUMN


def _moves(access: Access, plan: BroadcastPlan) -> bool:
    """Whether an access moves along the sequences."""
    return any(access.strides[plan.num_parallel :])


def _vector_width(plan: BroadcastPlan, addresses: tuple[int, ...]) -> int:
    """How many neighbouring columns of a sequence without another one a thread has: all that moves
    along the sequence are vectors of them, or the same for all."""
    if len(plan.sequences) > 1 or plan.num_parallel == plan.chunked:
        return 1
    last = counted_axes(plan)[-1]
    moving = [own for own in plan.reads if _moves(own, plan)]
    if any(own.strides[last] not in (0, 1) for own in moving):
        return 1
    patterns = tuple(_pattern(own, plan, WIDEST) for own in plan.reads)
    patterns += (AccessPattern.GATHERED,) * len(plan.writes)
    others = [k for k in range(plan.rank) if k != last]
    tiles = vector_accesses(plan, addresses, patterns, (AccessPattern.TILE,), others)
    vectors = [one for one in tiles if not one.access.generated]
    if not vectors or any(own.element_type.itemsize > WIDEST_BYTES for own in moving):
        return 1
    width = WIDEST
    while width > 1 and (
        plan.axes[last].size % width
        or num_columns(plan) < width * MANY_VECTORS
        or any(load_width(v, 0, width, VECTOR_BYTES) < width for v in vectors)
    ):
        width //= 2
    return width


def _fits(plan: BroadcastPlan, passes: Passes, vector: int, group: int, *, held: bool) -> bool:
    """Whether a thread with vectors of so many columns, and so many lanes at a time, has registers
    for the elements that it loads together, and for what they come to: where it has no others, one
    value and some on their way, else one for each step of the trees of lanes and chunks."""

    def registers(types: Iterable[ElementType]) -> int:
        return sum(-(-own.itemsize // REGISTER) for own in types)

    program = plan.program
    reads = [own for own in plan.reads if _moves(own, plan)]
    loaded = registers(own.element_type for own in reads)
    if vector > 1:
        last = counted_axes(plan)[-1]
        loaded += (vector - 1) * registers(own.element_type for own in reads if own.strides[last])
    values = vector * max(
        registers(program.type_of(v) for v in passes.reductions(number))
        for number in range(1, passes.count + 1)
    )
    taken = loaded * group * ELEMENTS_OF_LANE + values * (
        VALUES_OF_HELD if held else VALUES_OF_TREES
    )
    free = PASS_REGISTERS if held else LOOP_REGISTERS
    return taken <= (free // 2 if plan.num_expensive() else free)


def _lacks_sequence(access: Access, plan: BroadcastPlan) -> bool:
    """Whether a write lacks an axis of the sequence."""
    return any(axis in plan.lacks(access) for axis in plan.axes_of(1))


def _listed(reads: tuple[int, ...]) -> str:
    return ",".join(map(str, reads))


def _power_of_two(number: int) -> int:
    """The least power of two that is no less than a number."""
    return 1 << max(number - 1, 0).bit_length()
