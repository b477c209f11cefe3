"""COLUMN_REDUCTION: vectors across sequences that lie beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo.sequences import LANES
from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cpu.cost import (
    FAR_RUN,
    FAR_TILE_BYTES,
    MOST_CHUNKS,
    MOST_FAR,
    MOST_SCRATCH,
    SHORTEST_FAR_RUN,
    STRETCH,
    TILE_BYTES,
    TILES,
    along,
    divided,
    said_of,
    streamed,
    unevenness,
)
from gpubcast.schedules.cpu.row_reduction import stored_values
from gpubcast.schedules.cpu.tiles import MOST_CROSSED
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget
from gpubcast.shapes.element_types import ElementType

# The fewest sequences beside each other that make vectors worth while.
FEWEST = 4
# The most elements of sequences whose own elements are neighbours: along longer ones vectors are
# full. They are transposed, a tile at a time, in memory for so many or for few, which then has room
# for more of them; those of several axes, and what is too short for that, are gathered.
LONGEST_ACROSS, FEW = 64, 16
# The bytes of the shortest sequence that is transposed in registers.
_TRANSPOSED_BYTES = 16
# Rows of which reads have at most so many bytes are not divided among threads: on one, with all of
# a row at hand, they take less time.
_NARROW = 256
# How much longer parts of rows take than whole ones: those of two threads, of 1,000 columns.
_UNEVEN = 1.25
# Sequences of at least so many elements are worth while in rows of fewer columns than FEWEST.
_LONG = 64
# Where vectors go, in words: whether rows are contiguous.
_ACROSS = {
    False: "across the sequences that are reduced",
    True: "along whole rows that follow each other in memory",
}
# Parts are multiples of so many columns, whole lines of memory, and at least this share of the
# threads has one.
_UNIT, _BUSY = 64, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReduction(CpuScheduleBase):
    """Reductions of many sequences at a time.

    Attributes:
        sequences, chunked: as the plan's.
        tile: how many sequences are walked at a time.
        run: how many rows of a tile are taken in the order of memory, where elements come from
            there; 0 where they do not.
        tiles: how many tiles of values have room, those of chunks and one for the elements of a
            lane included.
        vector_axis: the parallel axis along which sequences lie beside each other.
        stored: values along the sequence that are stored for a later pass over it.
        streamed: the results along the sequence that are written past the caches, as slots.
        uncut: whether a tile has all of a long row from memory, and the next row follows it there.
        contiguous: whether it has all of a short one, and the next row follows it in memory.
    """

    name: ClassVar[str] = "COLUMN_REDUCTION"
    values: ClassVar[str] = "stored"

    sequences: tuple[int, ...]
    chunked: bool
    tile: int
    run: int
    tiles: int
    vector_axis: int
    stored: tuple[int, ...]
    streamed: tuple[int, ...]
    uncut: bool
    contiguous: bool

    @property
    def far(self) -> bool:
        """Whether elements come from memory."""
        return self.run > 0

    @property
    def streams(self) -> bool:
        """Whether results are written past the caches."""
        return bool(self.streamed)

    @property
    def asks_for_size(self) -> bool:
        return self.far and self.split_axis == self.vector_axis

    @property
    def pattern_axes(self) -> range:
        return range(self.vector_axis, self.vector_axis + 1)

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank}", f"sequences {' '.join(map(str, self.sequences))}"]
        if self.chunked:
            parts.append("by chunks")
        far = f" far in runs of {self.run}" if self.far else ""
        parts.append(f"tiles of {self.tile} along {self.vector_axis}{far}")
        if self.stored:
            parts.append(f"store {', '.join(f'%{value}' for value in self.stored)}")
        if self.streamed:
            parts.append(f"streamed {' '.join(map(str, self.streamed))}")
        if self.uncut:
            parts.append("uncut rows")
        if self.contiguous:
            parts.append("contiguous")
        return " | ".join([*parts, *self.split_key])


def column_reduction(plan: BroadcastPlan, target: CpuTarget) -> ColumnReduction | None:
    """The schedule of a plan whose sequences lie beside each other; None for others."""
    large = plan.num_bytes >= target.streaming_bytes
    axis = _vector_axis(plan, large=large)
    if axis is None:
        return None
    reductions = sum(one.sequence > 0 for one in plan.program.code)
    costly = plan.num_expensive() > 0
    crossed = _crossed(plan, axis, large=large)
    far = not crossed and large and reductions <= MOST_FAR
    # Of costly values as many tiles wait as there are lanes to combine, and all of them are to stay
    # in the nearest cache.
    tile = _tile(plan, FAR_TILE_BYTES // reductions if far else TILE_BYTES // (1 + costly))
    if crossed:
        few = plan.axes[plan.axes_of(1)[0]].size <= FEW
        tile = min(tile, STRETCH // (FEW if few else LONGEST_ACROSS))
    contiguous = _has_contiguous_rows(plan, axis, tile)
    split, iterations, parts = _shared(plan, target, axis, contiguous=contiguous)
    undivided = split != axis or parts == 1
    contiguous &= undivided
    run, uncut = FAR_RUN if far else 0, False
    if far and undivided and not contiguous and _only_combines(plan) and _reads_rows(plan, axis):
        rows = _rows_of_a_run(tile, plan.axes[axis].size)
        if rows:
            tile, run, uncut = tile * FAR_RUN // rows, rows, True
    unit = _UNIT if split == axis else 1
    if split == axis and (far or not costly):
        # Parts of less than a tile would read memory in shorter runs; each thread has as many.
        each = max(iterations // tile // target.threads, 1)
        if each == 1 and parts > target.threads:
            parts, unit = _one_each(iterations, target.threads)
        else:
            parts = min(parts, each * target.threads)

    def pattern(slot: int, access: Access) -> AccessPattern:
        if access.by_value:
            return AccessPattern.VALUE
        if slot in crossed:
            return AccessPattern.CROSSED
        return AccessPattern.LINEAR if access.strides[axis] == 1 else AccessPattern.GATHERED

    patterns = tuple(map(pattern, range(len(plan.accesses)), plan.accesses))
    return ColumnReduction(
        reads=patterns[: len(plan.reads)],
        writes=patterns[len(plan.reads) :],
        reason=f"COLUMN_REDUCTION: vectors {_ACROSS[contiguous]}{said_of(split, parts)}",
        rank=plan.rank,
        moved_axes=tuple(() if a.by_value else along(a) for a in plan.accesses),
        split_axis=split,
        iterations=iterations,
        parts=parts,
        granularity=unit,
        sequences=plan.sequences,
        chunked=plan.chunked,
        tile=tile,
        run=run,
        tiles=_tiles(run),
        vector_axis=axis,
        stored=stored_values(plan)[: MOST_SCRATCH - len(crossed)] if crossed else (),
        streamed=_streamed(plan, target, axis, crossed, tile) if large else (),
        uncut=uncut,
        contiguous=contiguous,
    )


def _shared(
    plan: BroadcastPlan, target: CpuTarget, axis: int, *, contiguous: bool
) -> tuple[int, int, int]:
    """The axis that threads share, its extent, and in how many parts it is cut: not the one along
    which vectors go where rows are narrow, nor where there are chunks to share, or others of whole
    rows, unless that is less even than parts of rows are slow."""
    others = [k for k in range(plan.num_parallel) if k != axis and plan.axes[k].extent > 1]
    reads = [read.element_type.itemsize for read in plan.reads if read.strides[axis]]
    narrow = plan.axes[axis].size * max(reads, default=1) <= _NARROW
    even = any(unevenness(plan.axes[k].extent, target) <= _UNEVEN for k in others)
    if others and (narrow or (even and (plan.chunked or contiguous))):
        return divided(plan, target, others)
    if contiguous and narrow:
        return axis, plan.axes[axis].extent, 1
    return divided(plan, target, range(plan.num_parallel))


def _has_contiguous_rows(plan: BroadcastPlan, axis: int, tile: int) -> bool:
    """Whether rows of everything that is reduced, in one pass, follow each other in memory with
    nothing between them, and all lanes' fit the tiles."""
    sequence, size = plan.axes_of(1), plan.axes[axis].size
    if 2 * size > tile or not _only_combines(plan):
        return False
    moved = [plan.reads[v] for v in _reduced(plan) if v < len(plan.reads)]
    moved = [read for read in moved if read.strides[axis] or read.strides[sequence[0]]]
    return all(_is_run(plan, read, axis) for read in moved)


def _reads_rows(plan: BroadcastPlan, axis: int) -> bool:
    """Whether rows of what is reduced follow each other so, but for what is the same for a row or
    for a column."""
    (sequence,) = plan.axes_of(1)
    moved = [plan.reads[v] for v in _reduced(plan) if v < len(plan.reads)]
    moved = [read for read in moved if read.strides[axis] and read.strides[sequence]]
    return all(_is_run(plan, read, axis) for read in moved)


def _is_run(plan: BroadcastPlan, read: Access, axis: int) -> bool:
    """Whether rows of an array follow each other in memory with nothing between them."""
    (sequence,) = plan.axes_of(1)
    strides = read.strides[axis], read.strides[sequence]
    return not read.generated and strides == (1, plan.axes[axis].size)


def _only_combines(plan: BroadcastPlan) -> bool:
    """Whether one pass over one axis is all that is done along it, of what is computed in no
    time."""
    if len(plan.axes_of(1)) != 1 or max(plan.passes()) > 1 or plan.along_sequence():
        return False
    return not plan.program.any_expensive(_reduced(plan))


def _reduced(plan: BroadcastPlan) -> Sequence[int]:
    """The values that reductions need."""
    program = plan.program
    return program.needed(tuple(one.args[0] for one in program.code if one.sequence))


def _rows_of_a_run(tile: int, row: int) -> int:
    """How many rows from memory a run has if a tile has all of each: at most as many bytes as a
    run of shorter tiles; 0 for short rows, and for those that are too long."""
    run = FAR_RUN
    while tile * FAR_RUN // run < row:
        run //= 2
        if run < SHORTEST_FAR_RUN or tile * FAR_RUN // run > STRETCH:
            return 0
    return run if 2 * row > tile else 0


def _tiles(run: int) -> int:
    """How many tiles have room: those of runs of long rows, of which one waits for each level of
    the tree and one is made, those of chunks, and one for the elements of a lane."""
    if run in (0, FAR_RUN):
        return TILES
    runs = LANES // 2 // run
    return run * runs.bit_length() + MOST_CHUNKS + 1


def _one_each(iterations: int, threads: int) -> tuple[int, int]:
    """In how many parts columns are cut for one to each thread, and of how many columns parts are
    multiples; others are empty, since more parts than threads wake those that sleep."""
    unit = _UNIT * math.ceil(iterations / (_UNIT * threads))
    if unit > _UNIT and math.ceil(iterations / unit) < _BUSY * threads:
        unit -= _UNIT
    # A part begins at the last multiple where its like, of so many, does; what lies behind it is
    # left to the part before where it is little.
    rest = iterations - (iterations - 1) // unit * unit
    return max(threads + 1, min(math.ceil(iterations / rest), 4 * threads)), unit


def _crossed(plan: BroadcastPlan, vector: int, *, large: bool) -> tuple[int, ...]:
    """The slots of accesses whose neighbours are those of a short sequence. What is only read from
    memory is read at its speed without transposing it."""
    sequence = plan.axes_of(1)
    if large and not plan.along_sequence():
        return ()
    if len(sequence) != 1 or not FEWEST <= plan.axes[sequence[0]].size <= LONGEST_ACROSS:
        return ()
    (axis,), length = sequence, plan.axes[sequence[0]].size

    def crosses(slot: int, access: Access) -> bool:
        if access.by_value or access.generated or abs(access.strides[vector]) < 2:
            return False
        step = access.strides[axis]
        if length * access.element_type.itemsize < _TRANSPOSED_BYTES:
            return False
        return step == 1 or (step == -1 and slot < len(plan.reads))

    found = [slot for slot, access in enumerate(plan.accesses) if crosses(slot, access)]
    return tuple(found[:MOST_CROSSED])


def _streamed(
    plan: BroadcastPlan, target: CpuTarget, vector: int, crossed: tuple[int, ...], tile: int
) -> tuple[int, ...]:
    """The slots of results that are written past the caches: of those that have an axis of the
    sequence, whose tiles are transposed, or have rows that are worth it."""
    run = min(tile, plan.axes[vector].size)
    found = []
    for output in plan.along_sequence():
        write, slot = plan.writes[output], len(plan.reads) + output
        if slot in crossed or (write.strides[vector] == 1 and streamed(plan, target, run)):
            found.append(slot)
    return tuple(found[:MOST_CROSSED])


def _tile(plan: BroadcastPlan, size: int) -> int:
    """How many values of the largest type make a tile of so many bytes, and no more than what waits
    between passes has room for."""
    return min(size // _largest(plan), STRETCH)


def _largest(plan: BroadcastPlan) -> int:
    """The size of the largest value as it is computed."""
    return max(_bytes(one.element_type) for one in plan.program.code)


def _bytes(element_type: ElementType) -> int:
    """The size of a value as it is computed."""
    return max(element_type.itemsize, 4) if element_type.is_floating else element_type.itemsize


def _vector_axis(plan: BroadcastPlan, *, large: bool) -> int | None:
    """The parallel axis along which the largest read that is reduced has neighbours, or, where
    sequences are short, the longest one."""
    if len(plan.sequences) != 1 or any(one.lacks_identity for one in plan.program.code):
        # A chunk that is not there could not be counted as one.
        return None
    sequence = plan.axes_of(1)
    reduced = [read for read in plan.reads if any(read.strides[k] for k in sequence)]
    if not reduced:
        return None
    largest = max(
        reduced,
        key=lambda read: (
            math.prod(plan.axes[k].size for k in along(read)) * read.element_type.itemsize
        ),
    )
    every = range(plan.num_parallel - plan.chunked)
    length = math.prod(plan.axes[k].size for k in sequence)
    if not sequence or abs(largest.strides[sequence[-1]]) == 1:
        parallel = [k for k in every if plan.axes[k].size >= FEWEST]
        found = max(parallel, key=lambda k: plan.axes[k].size, default=None)
        if length <= FEW or found is None:
            return found
        return found if length <= LONGEST_ACROSS and _crossed(plan, found, large=large) else None
    beside = [k for k in every if largest.strides[k] == 1 and plan.axes[k].size > 1]
    found = next((k for k in beside if plan.axes[k].size >= FEWEST), None)
    if found is not None or length < _LONG:
        return found
    return next((k for k in beside if _has_contiguous_rows(plan, k, 2 * FEWEST)), None)
