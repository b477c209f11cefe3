"""How a plan is executed: every decision about a kernel is taken here, once, and said in words.

A schedule is a pure function of the plan, the target and the alignment of the operands. The part
of it that enters the kernel key (family, patterns, vector width, what a thread has, index width,
rank) never depends on a size, so a new size does not compile; the rest is passed at launch.

A schedule is one of the families listed here, and code that needs to know which matches them all,
so that mypy names every place that a new one is missing from.
"""

from __future__ import annotations

from typing import overload

from gpubcast.errors import ShapeError
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cpu.column_reduction import ColumnReduction, column_reduction
from gpubcast.schedules.cpu.nest import Nest, nest
from gpubcast.schedules.cpu.row_reduction import RowReduction, row_reduction
from gpubcast.schedules.cpu.runs import Runs, runs
from gpubcast.schedules.cpu.tiles import Tiles, tiles
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.column_reduction import column_reduction as cuda_column_reduction
from gpubcast.schedules.cuda.flat import Flat, flat
from gpubcast.schedules.cuda.gather import Gather, gather
from gpubcast.schedules.cuda.phase import Phase, phase
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction
from gpubcast.schedules.cuda.row_reduction import row_reduction as cuda_row_reduction
from gpubcast.schedules.cuda.rows import Rows, rows
from gpubcast.schedules.cuda.running import Running, running
from gpubcast.schedules.cuda.vectors import MAX_GRID
from gpubcast.schedules.cuda.xpose import Xpose, xpose
from gpubcast.schedules.schedule import (
    AccessPattern,
    CpuTarget,
    CudaTarget,
    Target,
    VectorScheduleBase,
)

CudaReduction = CudaRowReduction | CudaColumnReduction
CudaSchedule = Flat | Rows | Xpose | Phase | Running | Gather | CudaReduction
CpuSchedule = Nest | Runs | Tiles | RowReduction | ColumnReduction
Schedule = CudaSchedule | CpuSchedule

# Smaller accesses than these leave a GPU's memory idle: of tiles, and of PHASE, whose blocks have
# no more of them than fill whole rows.
NARROW_BYTES, NARROW_BYTES_OF_ROWS = 8, 16


@overload
def schedule(
    plan: BroadcastPlan, target: CudaTarget, addresses: tuple[int, ...]
) -> CudaSchedule: ...


@overload
def schedule(plan: BroadcastPlan, target: CpuTarget, addresses: tuple[int, ...]) -> CpuSchedule: ...


@overload
def schedule(plan: BroadcastPlan, target: Target, addresses: tuple[int, ...]) -> Schedule: ...


def schedule(plan: BroadcastPlan, target: Target, addresses: tuple[int, ...]) -> Schedule:
    """The schedule of a plan.

    Args:
        plan: a normalised plan that visits at least one slot.
        target: where it will run.
        addresses: per access, the address of the first element visited, or its remainder modulo
            ``ALIGNED``. Ignored for launch parameters and on the CPU.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    if isinstance(target, CpuTarget):
        if plan.sequences:
            return column_reduction(plan, target) or row_reduction(plan, target)
        return tiles(plan, target) or runs(plan, target) or nest(plan, target)
    chosen = _cuda_schedule(plan, target, addresses)
    if chosen.grid > MAX_GRID:
        raise ShapeError(
            f"{plan.num_visited:,} slots need {chosen.grid:,} blocks; a launch has at most "
            f"{MAX_GRID:,}",
            rule="P5",
            kind="gpubcast:grid",
        )
    return chosen


def _cuda_schedule(
    plan: BroadcastPlan, target: CudaTarget, addresses: tuple[int, ...]
) -> CudaSchedule:
    if plan.sequences:
        rows_found = cuda_row_reduction(plan, addresses, target)
        return rows_found or cuda_column_reduction(plan, addresses, target)
    return flat(plan, addresses, target) or _tiled(plan, addresses, target) or gather(plan)


def _tiled(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget
) -> Rows | Xpose | Phase | Running | None:
    """ROWS or XPOSE, but PHASE or RUNNING for short rows and where these have the wider vectors."""
    tiles = rows(plan, addresses, target) or xpose(plan, addresses)
    packed: Phase | Running | None = phase(plan, addresses, target)
    if tiles is None or (isinstance(tiles, Rows) and _narrow(plan, tiles)):
        found = running(plan, addresses, target)
        others = [one for one in (tiles, packed) if one is not None]
        if found is not None and all(_narrow(plan, one) for one in others):
            packed = found
    if tiles is None or packed is None:
        return tiles or packed
    if not isinstance(tiles, Rows):
        return tiles
    gaps = AccessPattern.GATHERED in tiles.writes  # no vectors; short rows fill PHASE's blocks
    return packed if gaps or packed.vector_width > tiles.vector_width else tiles


def _narrow(plan: BroadcastPlan, tiles: VectorScheduleBase) -> bool:
    """Whether a thread moves too little at a time."""
    size = max(access.element_type.itemsize for access in plan.accesses if not access.generated)
    least = NARROW_BYTES_OF_ROWS if isinstance(tiles, Phase) else NARROW_BYTES
    return tiles.vector_width * size < least
