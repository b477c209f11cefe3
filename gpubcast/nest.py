"""The CPU's schedule: one loop per axis, and what is computed in front of which loop."""

from __future__ import annotations

from gpubcast.families import CpuTarget, Family, Kind, Schedule
from gpubcast.planning import Access, BroadcastPlan, Program

# Handing a part to another CPU thread costs as much as moving about a megabyte.
PARALLEL_BYTES = 4 << 20
# Elements of the inner axis for which a kernel keeps values at a time: they stay in the cache.
STRETCH = 4096
# Values kept at a time: the stack of a thread may have little more room.
MOST_KEPT = 4


def nest(plan: BroadcastPlan, target: CpuTarget) -> Schedule:
    """The schedule of a plan on a CPU."""

    def kind(access: Access) -> Kind:
        if access.by_value:
            return Kind.VALUE
        inner = access.inner
        return {0: Kind.SCALAR, 1: Kind.LINEAR}.get(inner, Kind.GATHERED)

    def written(access: Access) -> Kind:
        if access.inner == 1 or (access.inner == 0 and not plan.lacks(access)):
            return Kind.LINEAR
        return Kind.PARTIAL if plan.lacks(access) else Kind.GATHERED

    def axes(access: Access) -> tuple[int, ...]:
        return tuple(k for k in range(plan.rank) if access.strides[k])

    # A plan of rank 0 is walked as one axis with one index.
    outer = plan.axes[0].extent if plan.axes else 1
    parts = min(target.threads, outer) if plan.num_bytes >= PARALLEL_BYTES else 1
    reads = tuple(map(kind, plan.reads))
    kept, order = _kept(plan)
    # Where an operation or a store can leave the inner loop, it matters how many it can leave.
    leaves = leaves_inner_loop(plan) or any(map(plan.lacks, plan.writes))
    told = [bool(kept) or (leaves and walked is Kind.SCALAR) for walked in reads]
    moving = [axes(a) if tell else None for a, tell in zip(plan.reads, told, strict=True)]
    moving += [axes(write) if plan.lacks(write) else None for write in plan.writes]
    return Schedule(
        Family.NEST,
        reads,
        tuple(map(written, plan.writes)),
        vector=1,
        unroll=1,
        index_bits=64,
        rank=max(plan.rank, 1),
        fills=plan.fills,
        row_axis=-1,
        grid=outer,
        block=(parts, 1),
        reason="NEST: one loop per axis, the compiler vectorises the inner one"
        + ("; what only the inner one changes is kept beside" if kept else "")
        + (f"; the outer one in {parts} parts" if parts > 1 else ""),
        axes=tuple(moving),
        order=order,
        kept=kept,
    )


def _kept(plan: BroadcastPlan) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Heavy values that vary along the inner axis and not along some other, and the order of loops
    that lets them be computed once for that other."""
    order = tuple(range(max(plan.rank, 1)))
    program, base, inner = plan.program, len(plan.reads), plan.rank - 1
    varies = plan.varies()
    # A heavy operation that the inner axis does not change has left the inner loop anyhow.
    heavy: list[bool] = [False] * base
    for value, instruction in enumerate(program.code, base):
        own = inner in varies[value] and program.heavy(instruction)
        heavy.append(own or any(heavy[a] for a in instruction.args))
    able = [
        v for v in range(base, len(varies))
        if heavy[v] and inner in varies[v] and len(varies[v]) < plan.rank
    ]  # fmt: skip
    if not able or plan.fills:
        return (), order
    axes = varies[able[-1]]
    alike = [v for v in able if varies[v] == axes]
    kept = tuple(v for v in alike if _used_beyond(program, v, alike))[:MOST_KEPT]
    outer = [k for k in order if k != inner]
    return kept, (*(k for k in outer if k in axes), *(k for k in outer if k not in axes), inner)


def _used_beyond(program: Program, value: int, among: list[int]) -> bool:
    """Whether something outside some values takes one of them."""
    base = len(program.reads)
    return value in program.results or any(
        value in instruction.args and base + i not in among
        for i, instruction in enumerate(program.code)
    )


def leaves_inner_loop(plan: BroadcastPlan) -> bool:
    """Whether an operation does not vary along the inner axis."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and plan.rank - 1 not in axes
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )
