"""How a plan is executed: every decision about a kernel is taken here, once, and said in words.

A schedule is a pure function of the plan, the target and the alignment of the operands. The part
of it that enters the kernel key (family, kinds, vector width, unrolling, index width, rank) never
depends on a size, so a new size does not compile; the rest (grid, block) is passed at launch.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from gpubcast import ops
from gpubcast.errors import ShapeError
from gpubcast.planning import Access, BroadcastPlan, Program

THREADS = 256
VECTOR_BYTES = 16
# Blocks along x; along y and z a grid has 65,535 only, so they are not used.
MAX_GRID = 2**31 - 1
# Handing a part to another CPU thread costs as much as moving about a megabyte.
PARALLEL_BYTES = 4 << 20
# Vectors that a thread holds for each of its rows before registers are short.
MANY_STREAMS = 4
# Blocks for each multiprocessor that keep it busy to the end.
BLOCKS_PER_MULTIPROCESSOR = 4
# A tile's width is counted in 32 bits.
MAX_STEPS = 2**18
# Elements of the inner axis for which a CPU kernel keeps values at a time: they stay in the cache.
STRETCH = 4096
# Shorter inner axes leave most lanes of a warp idle in ROWS.
SHORTEST_ROW = 32


class Family(enum.Enum):
    """The kernel families; CUDA's are headers in ``cuda_kernels/``, NEST is the CPU's."""

    FLAT = "flat"
    ROWS = "rows"
    GATHER = "gather"
    NEST = "nest"


class Kind(enum.Enum):
    """How a kernel walks one operand. The names are those of the CUDA headers."""

    VALUE = "VALUE"  # a launch parameter
    SCALAR = "SCALAR"  # one element for the whole tile
    LINEAR = "LINEAR"  # neighbours in the iteration space are neighbours in memory
    TILE = "TILE"  # ROWS: unit stride along the inner axis, any along the row axis
    ROW = "ROW"  # ROWS: unit stride along the inner axis, repeated along the row axis
    COLUMN = "COLUMN"  # ROWS: repeated along the inner axis
    GATHERED = "GATHERED"  # any strides
    PARTIAL = "PARTIAL"  # GATHER, NEST: a write that lacks axes; done at their first index only


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """A GPU as the scheduler sees it: its architecture (``"sm_90"``) and number of SMs."""

    arch: str
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A processor as the scheduler sees it."""

    threads: int = 1


Target = CudaTarget | CpuTarget


@dataclass(frozen=True, slots=True)
class Schedule:
    """All decisions about one launch.

    Attributes:
        family: the kernel family.
        reads, writes: the kind of each access.
        vector: elements per vector access.
        unroll: FLAT: vectors per thread; ROWS: rows per thread.
        index_bits: width of the linear index, which GATHER divides; offsets have 64 bits.
        rank: number of axes the kernel decodes at run time: all of them (GATHER, NEST) or those
            outside the tile (ROWS); 0 for FLAT.
        fills: whether padding slots are written.
        axes: NEST: per access, the axes along which it moves, where that is not said by its kind;
            else None.
        order: NEST: the axes in the order of the loops.
        kept: NEST: values that vary along the inner axis but not along the loops around it; they
            are computed before those, for a stretch of the inner axis at a time.
        steps: ROWS: how many times a block goes on along the inner axis; 0 where each covers its
            own width only, which is another kernel.
        row_axis: ROWS: the plan's axis that runs along the rows of a tile; -1 for none.
        grid: number of blocks (NEST: iterations of the outermost loop).
        block: threads of a block along the inner axis and along the rows (NEST: into how many
            parts the outermost loop is split, for as many CPU threads).
        reason: the choice in words.
    """

    family: Family
    reads: tuple[Kind, ...]
    writes: tuple[Kind, ...]
    vector: int
    unroll: int
    index_bits: int
    rank: int
    fills: bool
    row_axis: int
    grid: int
    block: tuple[int, int]
    reason: str
    axes: tuple[tuple[int, ...] | None, ...] = ()
    order: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    steps: int = 0


def schedule(plan: BroadcastPlan, target: Target, alignment: tuple[int, ...]) -> Schedule:
    """The schedule of a plan.

    Args:
        plan: a normalised plan that visits at least one slot.
        target: where it will run.
        alignment: per access, the largest power of two, at most 16, that divides the address of
            the first element visited. Ignored for launch parameters and on the CPU.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    if isinstance(target, CpuTarget):
        return _nest(plan, target)
    chosen = _flat(plan, alignment) or _rows(plan, alignment, target) or _gather(plan)
    if chosen.grid > MAX_GRID:
        raise ShapeError(
            f"{plan.num_visited:,} slots need {chosen.grid:,} blocks; a launch has at most "
            f"{MAX_GRID:,}",
            rule="P5",
            kind="gpubcast:grid",
        )
    return chosen


def _stride(access: Access, axis: int) -> int:
    return access.strides[axis] if access.strides else 0


def _nest(plan: BroadcastPlan, target: CpuTarget) -> Schedule:
    def kind(access: Access) -> Kind:
        if access.by_value:
            return Kind.VALUE
        inner = _stride(access, -1)
        return {0: Kind.SCALAR, 1: Kind.LINEAR}.get(inner, Kind.GATHERED)

    def written(access: Access) -> Kind:
        if _stride(access, -1) == 1 or not plan.lacks(access):
            return Kind.LINEAR if _stride(access, -1) <= 1 else Kind.GATHERED
        return Kind.PARTIAL

    def axes(access: Access) -> tuple[int, ...]:
        return tuple(k for k in range(plan.rank) if access.strides[k])

    # A plan of rank 0 is walked as one axis with one index.
    outer = plan.axes[0].extent if plan.axes else 1
    parts = min(target.threads, outer) if plan.num_bytes >= PARALLEL_BYTES else 1
    reads = tuple(map(kind, plan.reads))
    kept, order = _kept(plan)
    # Where an operation can leave the inner loop, it matters how many loops it can leave.
    hoists = _leaves_inner_loop(plan)
    told = [bool(kept) or (hoists and kind is Kind.SCALAR) for kind in reads]
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
    heavy: list[bool] = [False] * base
    for instruction in program.code:
        own = bool(instruction.args) and ops.OPS[instruction.op].heavy
        heavy.append(own or any(heavy[a] for a in instruction.args))
    able = [
        v for v in range(base, len(varies))
        if heavy[v] and inner in varies[v] and len(varies[v]) < plan.rank
    ]  # fmt: skip
    if not able or plan.fills:
        return (), order
    axes = varies[able[-1]]
    alike = [v for v in able if varies[v] == axes]
    kept = tuple(v for v in alike if _used_beyond(program, v, alike))
    outer = [k for k in order if k != inner]
    return kept, (*(k for k in outer if k in axes), *(k for k in outer if k not in axes), inner)


def _used_beyond(program: Program, value: int, among: list[int]) -> bool:
    """Whether something outside some values takes one of them."""
    base = len(program.reads)
    return value in program.results or any(
        value in instruction.args and base + i not in among
        for i, instruction in enumerate(program.code)
    )


def _leaves_inner_loop(plan: BroadcastPlan) -> bool:
    """Whether an operation does not vary along the inner axis."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and plan.rank - 1 not in axes
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


def _vector(streams: list[tuple[Access, int]], steps: list[list[int]]) -> tuple[int, str]:
    """Widest vector that keeps every stream aligned, and what limited it.

    Args:
        streams: accesses along which vectors run, with the alignment of their base address.
        steps: per stream, the strides that move the base, in elements.
    """
    itemsize = max((access.element_type.itemsize for access, _ in streams), default=1)
    widest = vector = VECTOR_BYTES // itemsize
    why = ""
    for (access, base), strides in zip(streams, steps, strict=True):
        size = access.element_type.itemsize
        aligned = math.gcd(base, *(abs(stride) * size for stride in strides), VECTOR_BYTES)
        while vector > 1 and min(vector * size, VECTOR_BYTES) > aligned:
            vector //= 2
            why = f"operand {access.operand} is aligned to {aligned} bytes only"
    return vector, f"; V{vector} of {widest}: {why}" if why else ""


def _flat(plan: BroadcastPlan, alignment: tuple[int, ...]) -> Schedule | None:
    linear_or_scalar = all(s in (0, 1) for access in plan.accesses for s in access.strides)
    if plan.rank > 1 or plan.fills or not linear_or_scalar:
        return None
    streams = [
        (access, align)
        for access, align in zip(plan.accesses, alignment, strict=True)
        if _flat_kind(access) is Kind.LINEAR
    ]
    vector, narrowed = _vector(streams, [[] for _ in streams])
    reads = tuple(map(_flat_kind, plan.reads))
    unroll = 1 if _heavy(plan) or len(streams) > MANY_STREAMS else 2
    return Schedule(
        Family.FLAT,
        reads,
        tuple(map(_flat_kind, plan.writes)),
        vector,
        unroll,
        index_bits=64,
        rank=0,
        fills=False,
        row_axis=-1,
        grid=-(-plan.num_visited // (THREADS * vector * unroll)),
        block=(THREADS, 1),
        reason=f"FLAT: every operand is linear or a scalar after merging{narrowed}",
    )


def _heavy(plan: BroadcastPlan) -> bool:
    """Whether an operation on single elements takes many registers; others are done beforehand."""
    every = frozenset(range(plan.rank))
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and ops.OPS[instruction.op].heavy and (axes == every or not every)
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


def _flat_kind(access: Access) -> Kind:
    if access.by_value:
        return Kind.VALUE
    return Kind.LINEAR if _stride(access, -1) == 1 or not access.strides else Kind.SCALAR


def _rows(plan: BroadcastPlan, alignment: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    if not plan.axes or plan.axes[-1].extent < SHORTEST_ROW:
        return None
    if any(_stride(access, -1) not in (0, 1) for access in plan.reads):
        return None
    if any(_stride(access, -1) not in (0, 1) for access in plan.writes):
        return None
    row_axis = _row_axis(plan)

    def kind(access: Access) -> Kind:
        if access.by_value:
            return Kind.VALUE
        along_row = row_axis >= 0 and access.strides[row_axis] != 0
        if access.strides[-1] == 1:
            return Kind.TILE if along_row or row_axis < 0 else Kind.ROW
        return Kind.COLUMN if along_row else Kind.SCALAR

    def written(access: Access) -> Kind:
        # An output that lacks only axes outside the tile is a tile, written for some of them.
        own = kind(access)
        return Kind.PARTIAL if own is Kind.TILE and plan.lacks(access) else own

    streams = [
        (access, align)
        for access, align in zip(plan.accesses, alignment, strict=True)
        if access.strides[-1] == 1
    ]
    vector, narrowed = _vector(streams, [list(access.strides[:-1]) for access, _ in streams])
    reads, writes = tuple(map(kind, plan.reads)), tuple(map(written, plan.writes))
    # Four rows reuse a broadcast row four times; more streams or heavy operations would spill.
    moving = reads.count(Kind.TILE) + reads.count(Kind.ROW)
    few = reads.count(Kind.TILE) <= 1 and moving <= MANY_STREAMS
    rows = 1 if _heavy(plan) or moving > 2 * MANY_STREAMS else 4 if few else 2
    lanes = _lanes(plan.axes[-1].extent, vector)
    block = (lanes, THREADS // lanes)
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    across = -(-plan.axes[-1].extent // (block[0] * vector))
    batch = [axis.extent for k, axis in enumerate(plan.axes[:-1]) if k != row_axis]
    bands = -(-height // (block[1] * rows)) * math.prod(batch)
    steps = _steps(plan, reads, across, bands, target)
    grid = -(-across // max(steps, 1)) * bands
    if grid > MAX_GRID:
        return None
    return Schedule(
        Family.ROWS,
        reads,
        writes,
        vector,
        rows,
        index_bits=64,
        rank=len(batch),
        fills=plan.fills,
        row_axis=row_axis,
        grid=grid,
        block=block,
        reason="ROWS: every operand is linear or constant along the inner axis of "
        f"{plan.axes[-1].extent}{narrowed}"
        + (f"; {steps} steps along it share what a row shares" if steps > 1 else ""),
        steps=steps,
    )


def _steps(
    plan: BroadcastPlan, reads: tuple[Kind, ...], across: int, bands: int, target: CudaTarget
) -> int:
    """How far a block goes along the inner axis, so that what is the same for a row is loaded and
    computed once for more of it: as far as leaves every multiprocessor enough blocks. 0 where
    rows share too little to take a loop."""
    columns = {i for i, kind in enumerate(reads) if kind is Kind.COLUMN}
    shares = len(columns) > 1 or (bool(columns) and _leaves_inner_loop(plan))
    if not shares:
        return 0
    wanted = -(-BLOCKS_PER_MULTIPROCESSOR * target.multiprocessors // bands)
    return min(-(-across // min(wanted, across)), MAX_STEPS)


def _row_axis(plan: BroadcastPlan) -> int:
    """The axis beside the inner one: the one along which most rows are reused, else the next."""
    if plan.rank < 2:
        return -1

    def reused(k: int) -> int:
        return sum(
            access.element_type.itemsize
            for access in plan.reads
            if access.strides[-1] == 1 and access.strides[k] == 0
        )

    return max(range(plan.rank - 1), key=lambda k: (reused(k), k))


def _lanes(extent: int, vector: int) -> int:
    """Threads along the inner axis: 32, or fewer where a tenth of them would idle."""
    vectors = -(-extent // vector)
    for lanes in (32, 16, 8):
        if -(-vectors // lanes) * lanes <= 1.1 * vectors:
            return lanes
    return 32 if vectors > 24 else 16 if vectors > 8 else 8


def _gather(plan: BroadcastPlan) -> Schedule:
    visited = max(plan.num_visited, 1)
    # The last block counts past the end before it finds that it has nothing to do.
    overshoot = -(-visited // THREADS) * THREADS
    bits = 32 if overshoot < 2**31 else 64
    return Schedule(
        Family.GATHER,
        tuple(_gather_kind(access, plan, Kind.SCALAR) for access in plan.reads),
        tuple(
            Kind.PARTIAL if plan.lacks(access) else _gather_kind(access, plan, Kind.LINEAR)
            for access in plan.writes
        ),
        vector=1,
        unroll=1,
        index_bits=bits,
        rank=max(plan.rank, 1),
        fills=plan.fills,
        row_axis=-1,
        grid=-(-visited // THREADS),
        block=(THREADS, 1),
        reason=f"GATHER: {_why_no_rows(plan)}; {bits}-bit divisions",
    )


def _why_no_rows(plan: BroadcastPlan) -> str:
    inner = plan.axes[-1].extent if plan.axes else 1
    for access in plan.accesses:
        if _stride(access, -1) not in (0, 1):
            return f"an operand has stride {_stride(access, -1)} along the inner axis"
    if inner < SHORTEST_ROW:
        return f"the inner axis of {inner} is shorter than {SHORTEST_ROW}"
    return "rows would need more blocks than a launch has"


def _gather_kind(access: Access, plan: BroadcastPlan, constant: Kind) -> Kind:
    if access.by_value:
        return Kind.VALUE
    if not any(access.strides):
        return constant
    linear, step = True, 1
    for axis, stride in zip(reversed(plan.axes), reversed(access.strides), strict=True):
        linear &= stride == step
        step *= axis.extent
    return Kind.LINEAR if linear else Kind.GATHERED
