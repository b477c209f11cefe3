"""RUNNING: long rows that begin anywhere in the vectors of a dense output.

The output is one run of vectors; where a vector lies in its row is computed for each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan, leaves_inner_loop
from gpubcast.schedules.cuda.phase import is_linear
from gpubcast.schedules.cuda.vectors import (
    BLOCK_THREADS,
    MAX_GRID,
    REGISTER,
    run_blocks,
    run_vectors,
    vector_accesses,
)
from gpubcast.schedules.schedule import AccessPattern, CudaTarget, VectorScheduleBase

# Divided by in 32 bits, together with the elements of a block.
LONGEST_ROW = 2**30
# The most elements of a word: where some are read by words, a row has as many behind a vector.
WORD_ELEMENTS = 4
# What is no vector in memory. Small elements of these share words.
APART = (AccessPattern.ROW, AccessPattern.TILE, AccessPattern.GATHERED, AccessPattern.COLUMN)
SHARE_WORDS = (AccessPattern.ROW, AccessPattern.TILE, AccessPattern.COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running(VectorScheduleBase):
    """One run of vectors, in which rows begin anywhere.

    Attributes:
        vectors_per_thread: how many vectors a thread has, a block's width apart.
        row_axes: how many axes there are around the rows.
        head: elements before the first vector.
    """

    name: ClassVar[str] = "RUNNING"

    vectors_per_thread: int
    row_axes: int
    head: int

    @property
    def key_part(self) -> str:
        return f"V{self.vector_width} U{self.vectors_per_thread} | rank {self.row_axes}"


def running(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Running | None:
    """RUNNING; None where the writes are no run, or where something is to be computed once per
    row."""
    if plan.fills or plan.rank < 2 or not all(_is_run(plan, access) for access in plan.writes):
        return None
    inner, outer = plan.axes[-1].extent, math.prod(axis.extent for axis in plan.axes[:-1])
    if max(inner, outer) >= LONGEST_ROW or leaves_inner_loop(plan):
        return None
    reads = tuple(_pattern(plan, access) for access in plan.reads)
    writes = (AccessPattern.LINEAR,) * len(plan.writes)
    accesses = vector_accesses(plan, addresses, reads + writes, (AccessPattern.LINEAR,))
    singles = sum(map(_registers, plan.reads, reads))
    found, count = run_vectors(plan, accesses, target, singles)
    grid = run_blocks(plan.num_visited, found, count)
    words = found.width > 1 and any(r.element_type.itemsize < REGISTER for r in plan.reads)
    if inner < found.width + WORD_ELEMENTS * words or grid > MAX_GRID:
        return None
    return Running(
        reads=reads,
        writes=writes,
        reason=f"RUNNING: the output is one run of vectors, in which rows of {inner} begin anywhere"
        f"{found.reason}",
        grid=grid,
        block=(BLOCK_THREADS, 1),
        vector_width=found.width,
        loads=found.loads(len(reads)),
        vectors_per_thread=count,
        row_axes=plan.rank - 1,
        head=found.head,
    )


def _registers(access: Access, own: AccessPattern) -> float:
    """How many a thread has for each element of a read that is no vector in memory."""
    if own not in APART:
        return 0
    size = access.element_type.itemsize
    return size / REGISTER if own in SHARE_WORDS and size < REGISTER else 1


def _is_run(plan: BroadcastPlan, access: Access) -> bool:
    return is_linear(plan, access, plan.rank)


def _pattern(plan: BroadcastPlan, access: Access) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    if not any(access.strides):
        return AccessPattern.SCALAR
    if _is_run(plan, access):
        return AccessPattern.LINEAR
    if access.inner == 1:
        return AccessPattern.TILE if any(access.strides[:-1]) else AccessPattern.ROW
    return AccessPattern.GATHERED if access.inner else AccessPattern.COLUMN
