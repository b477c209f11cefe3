"""What the blocks, threads, parts and stretches of a schedule touch, as plain numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from itertools import islice

from gpubcast.hlo.sequences import CHUNK, LANES
from gpubcast.pictures.schedule import Box, Share, Touched
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.choose import Schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.nest import Nest
from gpubcast.schedules.cpu.row_reduction import RowReduction
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.cpu.tiles import Tiles
from gpubcast.schedules.cuda.column_reduction import (
    CudaColumnReduction,
    num_columns,
    sequence_length,
)
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.row_reduction import LANES_OF_THREAD, WARP, CudaRowReduction
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import BLOCK_THREADS, CpuScheduleBase

# So many pieces of a share are listed.
MOST_BOXES = 64
_RUN = "of a block's threads", "a run of elements"


def touched(plan: BroadcastPlan, schedule: Schedule) -> Touched:
    """What a kernel touches, by the schedule that it is launched with."""
    match schedule:
        case Flat() | Running():
            width = BLOCK_THREADS * schedule.vector_width
            return _run(
                plan.num_visited - schedule.head, schedule.name, width,
                schedule.vectors_per_thread, schedule.vector_width,
            )  # fmt: skip
        case Gather():
            threads, _ = schedule.block
            count = schedule.elements_per_thread
            return _run(max(plan.num_visited, 1), schedule.name, threads, count, 1)
        case Rows():
            across, down = schedule.block
            width, count = schedule.vector_width, schedule.rows_per_thread
            places = [(row * down, 0, 1, width) for row in range(count)]
            return _plane(plan, schedule, (count * down, across * width), places, (0, width))
        case Xpose():
            across, down = schedule.patches
            width, count = schedule.vector_width, schedule.rows_per_thread
            return _plane(
                plan, schedule, (count * down, across * width), [(0, 0, count, width)], (0, width)
            )
        case Phase():
            return _phase(plan, schedule)
        case CudaRowReduction():
            return _row_reduction(plan, schedule)
        case CudaColumnReduction():
            return _column_reduction(plan, schedule)
        case RowReduction() | ColumnReduction():
            return _cpu_reduction(plan, schedule)
        case Nest() | Runs() | Tiles():
            return _cpu(plan, schedule)


def _moved(boxes: Iterable[Box], by: Iterable[tuple[int, int]]) -> list[Box]:
    return [
        (row + r, column + c, height, width)
        for (r, c), (row, column, height, width) in itertools.product(by, boxes)
    ]


def _shares(first: list[Box], then: tuple[int, int] | None) -> tuple[Share, ...]:
    """Those of thread 0, and of thread 1, which lies so far beside it."""
    count = sum(box[2] * box[3] for box in first)
    own = Share("thread 0", tuple(first[:MOST_BOXES]), count)
    if then is None:
        return (own,)
    return own, Share("thread 1", tuple(_moved(first[:MOST_BOXES], [then])), count)


# --- on a GPU ----------------------------------------------------------------------------------


def _run(elements: int, name: str, width: int, count: int, vector: int) -> Touched:
    """One run of elements, folded where the threads of a block end."""
    boxes = [(row, 0, 1, vector) for row in range(count)]
    rows = max(-(-elements // width), 1)
    return Touched(
        name, rows, width, "one run of elements", "folded by a block's threads", 1, (count, width),
        "block", _shares(boxes, (0, vector)),
    )  # fmt: skip


def _plane(
    plan: BroadcastPlan, schedule: Rows | Xpose, tile: tuple[int, int], boxes: list[Box],
    then: tuple[int, int],
) -> Touched:  # fmt: skip
    """The row axis and the innermost one."""
    axis = schedule.row_axis
    rows = plan.axes[axis].extent if axis >= 0 else 1
    batch = [a.extent for k, a in enumerate(plan.axes[:-1]) if k != axis]
    down = f"axis {axis}" if axis >= 0 else "one row"
    return Touched(
        schedule.name, rows, plan.axes[-1].extent, down, f"axis {plan.rank - 1}",
        math.prod(batch), tile, "block", _shares(boxes, then),
    )  # fmt: skip


def _phase(plan: BroadcastPlan, schedule: Phase) -> Touched:
    period = math.prod(axis.extent for axis in plan.axes[plan.rank - schedule.inner_axes :])
    axis = schedule.row_axis
    rows = plan.axes[axis].extent if axis >= 0 else 1
    batch = math.prod(one.extent for one in plan.axes[: max(axis, 0)])
    width, height = schedule.vector_width, schedule.rows_per_tile
    tiles = schedule.tiles_in_flight
    inner = range(plan.rank - schedule.inner_axes, plan.rank)

    def of_thread(number: int) -> tuple[Share, ...]:
        elements = range(number * width, min((number + 1) * width, period * height))
        boxes = [
            (tile * height + e // period, e % period, 1, 1)
            for tile in range(tiles) for e in elements
        ]  # fmt: skip
        return (Share(f"thread {number}", tuple(boxes[:MOST_BOXES]), len(boxes)),)

    return Touched(
        schedule.name, rows, period, f"axis {axis}" if axis >= 0 else "one row",
        f"{'axis' if len(inner) == 1 else 'axes'} {', '.join(map(str, inner))}", batch,
        (height * tiles, period), "block",
        of_thread(0) + (of_thread(1) if period * height > width else ()),
    )  # fmt: skip


def _row_reduction(plan: BroadcastPlan, schedule: CudaRowReduction) -> Touched:
    """Every row is a sequence."""
    axis = plan.num_parallel
    length = plan.axes[axis].size
    if plan.chunked:
        length = min(length, CHUNK)
    if schedule.wide:
        # A warp has every so many-th chunk, a thread four neighbours of every 128 of it.
        apart = schedule.block[0] // WARP * CHUNK
        firsts = (
            chunk + step for chunk in range(0, length, apart)
            for step in range(0, min(CHUNK, length - chunk), LANES)
        )  # fmt: skip
        down = 1
    else:
        firsts = (step for step in range(0, length, schedule.group * LANES_OF_THREAD))
        down = schedule.block[1]

    def boxes(thread: int) -> list[Box]:
        return [
            (0, first + thread * LANES_OF_THREAD, 1,
             min(LANES_OF_THREAD, length - first - thread * LANES_OF_THREAD))
            for first in starts if first + thread * LANES_OF_THREAD < length
        ]  # fmt: skip

    starts = list(firsts)
    beside = boxes(1) if schedule.wide or schedule.group > 1 else []
    shares = _shares(boxes(0), None)
    if beside:
        count = sum(box[3] for box in beside)
        shares = (*shares, Share("thread 1", tuple(beside[:MOST_BOXES]), count))
    return Touched(
        schedule.name, max(num_columns(plan), 1), max(length, 1), "rows", f"axis {axis}, reduced",
        1, (down, max(length, 1)), "block", shares,
    )  # fmt: skip


def _column_reduction(plan: BroadcastPlan, schedule: CudaColumnReduction) -> Touched:
    """Every column is a sequence; threads share it by classes of chunks and of lanes."""
    length = max(sequence_length(plan), 1)
    if plan.chunked:
        length = min(length, CHUNK)
    wide, _ = schedule.block

    def of_thread() -> Iterator[int]:
        for first in range(0, length, CHUNK * schedule.chunk_classes):
            for e in range(first, min(first + CHUNK, length)):
                if e % LANES % schedule.lane_classes == 0:
                    yield e

    classes, vector = schedule.chunk_classes * schedule.lane_classes, schedule.vector_width
    count = length if classes == 1 else sum(1 for _ in of_thread())
    boxes = [(0, 0, length, vector)] if classes == 1 else [(e, 0, 1, vector) for e in islice(
        of_thread(), 0, None, max(count // MOST_BOXES, 1))]  # fmt: skip
    shares = [Share("thread 0", tuple(boxes), count * vector)]
    if wide > 1:
        shares.append(Share("thread 1", tuple(_moved(boxes, [(0, vector)])), count * vector))
    return Touched(
        schedule.name, length, max(num_columns(plan), 1), "the reduced elements", "columns", 1,
        (length, wide * vector), "block", tuple(shares),
    )  # fmt: skip


# --- on a CPU ----------------------------------------------------------------------------------


def _part(schedule: CpuScheduleBase, rows: int) -> int:
    """Rows of a part of the axis that threads share."""
    unit = schedule.granularity
    each = -(-rows // max(schedule.parts, 1))
    return min(-(-each // unit) * unit, rows) if rows else 1


def _owner(schedule: CpuScheduleBase) -> str:
    return "thread" if schedule.parts == 1 else "part"


def _cpu(plan: BroadcastPlan, schedule: Nest | Runs | Tiles) -> Touched:
    """The axis that threads share, and what is inside of it; or the plane of tiles."""
    extents = [axis.extent for axis in plan.axes] or [1]
    last = len(extents) - 1
    split = schedule.split_axis
    rows_axis = schedule.row_axis if isinstance(schedule, Tiles) else min(split, last)
    if isinstance(schedule, Tiles):
        rows, columns = extents[rows_axis], extents[last]
        names = f"axis {rows_axis}", f"axis {last}"
    elif rows_axis == last:
        rows, columns, names = 1, extents[last], ("one row", f"axis {last}")
    else:
        rows, columns = extents[rows_axis], math.prod(extents[rows_axis + 1 :])
        inner = range(rows_axis + 1, last + 1)
        names = (
            f"axis {rows_axis}",
            f"{'axis' if len(inner) == 1 else 'axes'} {', '.join(map(str, inner))}",
        )
    planes = math.prod(extents) // max(rows * columns, 1)
    tile = [max(rows, 1), max(columns, 1)]
    if split == last and rows_axis == last:
        tile[1] = max(_part(schedule, columns), 1)
    elif split == rows_axis:
        tile[0] = max(_part(schedule, rows), 1)
    elif isinstance(schedule, Tiles) and split == last:
        tile[1] = max(_part(schedule, columns), 1)
    match schedule:
        case Tiles():
            name = "a tile, transposed"
            box = 0, 0, min(schedule.tile_rows, tile[0]), min(schedule.tile_columns, tile[1])
        case Runs():
            name = "a stretch of a run"
            inner_run = math.prod(extents[last + 1 - schedule.inner_axes :])
            stretch = schedule.stretch_rows * (inner_run if schedule.inner_axes else 1)
            box = (
                (0, 0, min(stretch // tile[1], tile[0]), tile[1])
                if stretch > tile[1]
                else (0, 0, 1, max(stretch, 1))
            )
        case Nest():
            name = "the innermost loop"
            box = 0, 0, 1, min(extents[schedule.loop_order[-1]] if plan.rank else 1, tile[1])
    share = Share(name, (box,), box[2] * box[3])
    return Touched(
        schedule.name, max(rows, 1), max(columns, 1), *names, planes, (tile[0], tile[1]),
        _owner(schedule), (share,),
    )  # fmt: skip


def _cpu_reduction(plan: BroadcastPlan, schedule: RowReduction | ColumnReduction) -> Touched:
    """Sequences across and what is counted along them."""
    sequences, length = max(num_columns(plan), 1), max(sequence_length(plan), 1)
    if plan.chunked:
        length = min(length, CHUNK)
    if isinstance(schedule, RowReduction):
        rows = max(schedule.iterations, 1)
        share = Share("a chunk", ((0, 0, 1, min(CHUNK, length)),), min(CHUNK, length))
        return Touched(
            schedule.name, rows, length, f"axis {schedule.split_axis}", "the reduced elements",
            max(sequences // rows, 1), (max(_part(schedule, rows), 1), length), _owner(schedule),
            (share,),
        )  # fmt: skip
    columns = max(plan.axes[schedule.vector_axis].size, 1)
    split = schedule.split_axis == schedule.vector_axis
    part = max(_part(schedule, columns), 1) if split else columns
    wide = min(schedule.tile, part)
    share = Share("columns at a time", ((0, 0, length, wide),), length * wide)
    return Touched(
        schedule.name, length, columns, "the reduced elements", f"axis {schedule.vector_axis}",
        max(sequences // columns, 1), (length, part), _owner(schedule), (share,),
    )  # fmt: skip
