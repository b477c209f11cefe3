"""What the schedules of GPUs share: threads, vectors, and how much a program asks for."""

from __future__ import annotations

import math

from gpubcast.planning import Access, BroadcastPlan

THREADS = 256
VECTOR_BYTES = 16
# Blocks along x; along y and z a grid has 65,535 only, so they are not used.
MAX_GRID = 2**31 - 1
# Vectors that a thread holds for each of its rows before registers are short.
MANY_STREAMS = 4
# Blocks for each multiprocessor that keep it busy to the end.
BLOCKS_PER_MULTIPROCESSOR = 4


def vector(streams: list[tuple[Access, int]], steps: list[list[int]]) -> tuple[int, str]:
    """Widest vector that keeps every stream aligned, and what limited it.

    Args:
        streams: accesses along which vectors run, with the alignment of their base address; those
            that read no memory limit nothing.
        steps: per stream, the strides that move the base, in elements.
    """
    moved = [pair for pair in zip(streams, steps, strict=True) if not pair[0][0].generated]
    itemsize = max((access.element_type.itemsize for (access, _), _ in moved), default=1)
    widest = width = VECTOR_BYTES // itemsize
    why = ""
    for (access, base), strides in moved:
        size = access.element_type.itemsize
        aligned = math.gcd(base, *(abs(stride) * size for stride in strides), VECTOR_BYTES)
        while width > 1 and min(width * size, VECTOR_BYTES) > aligned:
            width //= 2
            why = f"operand {access.operand} is aligned to {aligned} bytes only"
    return width, f"; V{width} of {widest}: {why}" if why else ""


def heavy(plan: BroadcastPlan) -> bool:
    """Whether an operation on single elements takes many registers; others are done beforehand."""
    every = frozenset(range(plan.rank))
    varies = plan.varies()[len(plan.reads) :]
    return any(
        plan.program.heavy(instruction) and (axes == every or not every)
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )
