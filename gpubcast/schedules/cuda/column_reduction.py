"""COLUMN_REDUCTION: neighbouring threads on neighbouring columns, some of them for each; any
strides, several axes in a sequence, a sequence within the elements of another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo.sequences import CHUNK, LANES, num_chunks
from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.gather import reach
from gpubcast.schedules.cuda.passes import Passes, cached_values, reading
from gpubcast.schedules.schedule import (
    BLOCK_THREADS,
    AccessPattern,
    CudaScheduleBase,
    CudaTarget,
)

# Threads of a multiprocessor that keep it busy; twice as many where each computes much of little
# memory, so that the last blocks are short.
BUSY_THREADS = 1024
# Elements of an inner sequence that are loaded together, at most.
MOST_UNROLLED = 8
# Elements of a sequence that a thread has at least, where threads share one.
LEAST_ELEMENTS = 4
# Lanes that a thread takes together, and the elements of these.
LANES_OF_GROUP = 4
ELEMENTS_OF_GROUP = LANES_OF_GROUP * CHUNK // LANES
# Threads of a block that hold their elements, and registers of each in which it does.
HELD_THREADS, HELD_REGISTERS = 512, 32
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
        held: whether a thread has so few elements that it keeps them in registers.
        cached: values of an element that one pass then computes for later ones.
        unrolled: the elements of the inner sequence, where they are few; 0 where they are counted at
            run time.
        standing, beside: the reads that stand still along the sequence, and those whose elements of
            the inner one are neighbours; empty where that is not unrolled.
        chunk_classes, lane_classes: into how many classes the chunks of a sequence, and the lanes
            of a chunk, are divided, one for each thread of a column.
    """

    name: ClassVar[str] = "COLUMN_REDUCTION"
    values: ClassVar[str] = "cached"

    axes: tuple[int, ...]
    sequences: tuple[int, ...]
    chunked: bool
    index_bits: int
    held: bool
    cached: tuple[int, ...]
    unrolled: int
    standing: tuple[int, ...]
    beside: tuple[int, ...]
    chunk_classes: int
    lane_classes: int

    @property
    def key_part(self) -> str:
        ranks = " ".join(map(str, (len(self.axes), *self.sequences)))
        chunks = (" | by chunks" if self.chunked else "") + (" | held" if self.held else "")
        unrolled = ""
        if self.unrolled:
            told = (",".join(map(str, own)) for own in (self.standing, self.beside))
            unrolled = f" | inner {self.unrolled} stand {{}} beside {{}}".format(*told)
        return f"ranks {ranks}{chunks}{unrolled} | {self.index_bits}-bit"

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


def column_reduction(plan: BroadcastPlan, target: CudaTarget) -> CudaColumnReduction:
    """COLUMN_REDUCTION, for any plan with a sequence."""
    axes = counted_axes(plan)
    columns = num_columns(plan)
    length = sequence_length(plan)
    most = min(length, CHUNK) if plan.chunked else length
    chunks = _power_of_two(num_chunks(most))
    lanes = _power_of_two(min(most, LANES))
    passes = Passes(plan)
    cached, registers = cached_values(plan, passes)
    walks = passes.count + bool(passes.full)
    # As many threads as leave each of them the elements that it has at once.
    threads = chunks * max(lanes // LANES_OF_GROUP, 1)
    held = (
        walks > 1
        and len(plan.sequences) == 1
        and threads * NEIGHBOURS <= HELD_THREADS
        and registers * ELEMENTS_OF_GROUP <= HELD_REGISTERS
    )
    if held:
        chunk_classes, lane_classes = chunks, threads // chunks
        block = max(BLOCK_THREADS, min(2 * NEIGHBOURS * threads, HELD_THREADS))
    else:
        busy = BUSY_THREADS * len(plan.sequences)
        wanted = max(busy * target.multiprocessors // columns, 1)
        fitting = max(BLOCK_THREADS // NEIGHBOURS, BLOCK_THREADS // columns)
        threads = min(wanted, max(most // LEAST_ELEMENTS, 1), fitting, LANES)
        threads = 1 << threads.bit_length() - 1
        chunk_classes = min(threads, chunks)
        lane_classes = min(threads // chunk_classes, max(lanes // LANES_OF_GROUP, 1))
        threads = chunk_classes * lane_classes
        block = BLOCK_THREADS
    wide = min(block // threads, _power_of_two(columns))
    far = max(columns + wide, length, reach(plan)) >= 2**31
    shared = f", shared by {threads} threads each" if threads > 1 else ""
    return CudaColumnReduction(
        reads=tuple(_pattern(access, plan) for access in plan.reads),
        writes=tuple(
            AccessPattern.PARTIAL if _lacks_sequence(access, plan) else AccessPattern.GATHERED
            for access in plan.writes
        ),
        reason=f"COLUMN_REDUCTION: {wide} neighbouring columns per block{shared}, "
        f"{reading(walks, held=held)}; {64 if far else 32}-bit indices",
        grid=-(-columns // wide),
        block=(wide, threads),
        axes=axes,
        sequences=plan.sequences,
        chunked=plan.chunked,
        index_bits=64 if far else 32,
        held=held,
        cached=cached if held else (),
        unrolled=unrolled(plan),
        standing=standing(plan),
        beside=beside(plan),
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


def beside(plan: BroadcastPlan) -> tuple[int, ...]:
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
    """Bytes of an element of all accesses along the sequences that have neighbours along an
    axis."""
    return sum(
        access.element_type.itemsize
        for access in plan.accesses
        if access.strides[axis] == 1
        and any(access.strides[plan.num_parallel :])
        and not access.generated
    )


def _pattern(access: Access, plan: BroadcastPlan) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    moves = any(access.strides[plan.num_parallel :])
    return AccessPattern.GATHERED if moves else AccessPattern.SCALAR


def _lacks_sequence(access: Access, plan: BroadcastPlan) -> bool:
    """Whether a write lacks an axis of the sequence."""
    return any(axis in plan.lacks(access) for axis in plan.axes_of(1))


def _power_of_two(number: int) -> int:
    """The least power of two that is no less than a number."""
    return 1 << max(number - 1, 0).bit_length()
