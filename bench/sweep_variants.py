"""Kernels as no scheduler makes them: other parameters, families and texts, to be measured only.

A variant changes the schedule that a plan would get, or the text of its kernel. While one is
``forced``, whatever the runtime makes ready is that variant; the launch goes the usual way through
cubin cache, parameter struct and backend. Nothing here is a setting of the library.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gpubcast import runtime
from gpubcast import schedule as schedules
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cuda import headers
from gpubcast.codegen import cuda as cuda_code
from gpubcast.families import CudaTarget, Family, Schedule
from gpubcast.planning import BroadcastPlan
from gpubcast.streams import THREADS

Addresses = tuple[int, ...]
# A plan, where it runs, its addresses and its usual schedule -> the changed one.
Change = Callable[[BroadcastPlan, CudaTarget, Addresses, Schedule], Schedule]
# The usual text and the schedule -> the changed text.
Edit = Callable[[str, Schedule], str]


class Impossible(Exception):
    """The variant makes no sense for the plan; the text says why."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a case.

    Attributes:
        name: what reports call it.
        change: of the schedule.
        edit: of the text.
    """

    name: str
    change: Change | None = None
    edit: Edit | None = None


PICKED = Variant("picked")


@contextlib.contextmanager
def forced(variant: Variant) -> Iterator[list[Schedule]]:
    """Whatever is made ready meanwhile is the variant; the list receives the schedules."""
    made: list[Schedule] = []
    usual, generate = schedules.schedule, cuda_code.generate

    def changed(plan: BroadcastPlan, target: CudaTarget, addresses: Addresses) -> Schedule:
        chosen = usual(plan, target, addresses)
        if variant.change is not None:
            chosen = variant.change(plan, target, addresses, chosen)
        made.append(chosen)
        return chosen

    def edited(plan: BroadcastPlan, chosen: Schedule) -> KernelSource:
        source = generate(plan, chosen)
        if variant.edit is None:
            return source
        return dataclasses.replace(source, text=variant.edit(source.text, chosen))

    runtime.clear()
    with _replaced(runtime, "schedule", changed), _replaced(cuda_code, "generate", edited):
        try:
            yield made
        finally:
            runtime.clear()


@contextlib.contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def described(chosen: Schedule) -> str:
    """A schedule in a few words."""
    words = [chosen.family.name, f"V{chosen.vector}", f"U{chosen.unroll}"]
    words.append("{}x{}".format(*chosen.block))
    if chosen.steps > 1 or chosen.bands > 1:
        words.append(f"steps {chosen.steps}" + (f" bands {chosen.bands}" if chosen.bands else ""))
    return " ".join((*words, f"grid {chosen.grid}"))


# --- other parameters ------------------------------------------------------------------------


def flat(vector: int | None = None, unroll: int | None = None) -> Change:
    """FLAT with other vectors, or another number of them for each thread."""

    def change(
        plan: BroadcastPlan, target: CudaTarget, addresses: Addresses, usual: Schedule
    ) -> Schedule:
        _expect(usual, Family.FLAT)
        width, count = _narrower(usual, vector), unroll or usual.unroll
        blocks = -(-(plan.num_visited - usual.head) // (THREADS * width * count))
        return _with(usual, width, count, grid=max(blocks, 1))

    return change


def tiles(vector: int | None = None, unroll: int | None = None, lanes: int | None = None) -> Change:
    """ROWS or XPOSE with other vectors, rows of a thread, or threads along the inner axis."""

    def change(
        plan: BroadcastPlan, target: CudaTarget, addresses: Addresses, usual: Schedule
    ) -> Schedule:
        _expect(usual, Family.ROWS, Family.XPOSE)
        width, count = _narrower(usual, vector), unroll or usual.unroll
        across = lanes or usual.block[0]
        block = (across, THREADS // across)
        row = usual.row_axis
        height = plan.axes[row].extent if row >= 0 else 1
        columns = -(-plan.axes[-1].extent // (block[0] * width * max(usual.steps, 1)))
        rows = -(-height // (block[1] * count * max(usual.bands, 1)))
        batch = [axis.extent for k, axis in enumerate(plan.axes[:-1]) if k != row]
        grid = columns * rows * math.prod(batch)
        return _with(usual, width, count, grid=grid, block=block)

    return change


def family(wanted: Family) -> Change:
    """Another family, with what it would choose itself."""

    def change(
        plan: BroadcastPlan, target: CudaTarget, addresses: Addresses, usual: Schedule
    ) -> Schedule:
        makers: dict[Family, Callable[[], Schedule | None]] = {
            Family.ROWS: lambda: schedules.rows(plan, addresses, target),
            Family.PHASE: lambda: schedules.phase(plan, addresses, target),
            Family.GATHER: lambda: schedules._gather(plan),
        }
        found = makers[wanted]()
        if found is None or found.family is not wanted:
            raise Impossible(f"no {wanted.name} for this plan")
        return found

    return change


def blocks_go_on(steps: int) -> Change:
    """PHASE whose blocks go on so often to the tiles below."""

    def change(
        plan: BroadcastPlan, target: CudaTarget, addresses: Addresses, usual: Schedule
    ) -> Schedule:
        _expect(usual, Family.PHASE)
        if not usual.group:
            raise Impossible("a run has no tiles below each other")
        whole = usual.grid * usual.steps
        return dataclasses.replace(usual, steps=steps, grid=-(-whole // steps))

    return change


def _expect(usual: Schedule, *wanted: Family) -> None:
    if usual.family not in wanted:
        raise Impossible(f"the scheduler picks {usual.family.name}")


def _narrower(usual: Schedule, vector: int | None) -> int:
    if vector is not None and vector > usual.vector and usual.family is not Family.XPOSE:
        raise Impossible(f"vectors of {vector} are not aligned, or have more than 16 bytes")
    return vector or usual.vector


def _with(usual: Schedule, vector: int, unroll: int, **changes: Any) -> Schedule:
    loads = tuple(min(n, vector) for n in usual.loads)
    return dataclasses.replace(usual, vector=vector, unroll=unroll, loads=loads, **changes)


# --- other texts -----------------------------------------------------------------------------


def hints(loads: str, stores: str = "") -> Edit:
    """Other cache hints on loads of what is read once, and on stores.

    Args:
        loads: as in ``ld.global<loads>``, e.g. ``".L1::no_allocate"``.
        stores: as in ``st.global<stores>``, e.g. ``".cs"``.
    """

    def edit(text: str, chosen: Schedule) -> str:
        own = _substituted(
            headers.texts()["prelude.cuh"],
            (r'(GB_DEFINE_LOAD\(access_stream), "[^"]*"\)', rf'\1, "{loads}")'),
            (r'"st\.global\.', f'"st.global{stores}.'),
        )
        return f"{own}\n{text}"

    return edit


_STAYING = """
namespace gb {
template <class P> struct Staying : P {
  u32 block;
  GB_FN Staying(const P& p) : P(p), block(blockIdx.x) {}
};
}  // namespace gb
"""


def persistent(text: str, chosen: Schedule) -> str:
    """FLAT whose blocks loop over the tiles; ``stay`` makes the grid fit."""
    own = _substituted(
        headers.texts()["flat.cuh"],
        (r"\bblockIdx\.x\b", "p.block"),
        (
            r"int N>\nGB_FN void flat\(const FlatParams<N>& p\)",
            "class P>\nGB_FN void flat(const P& p)",
        ),
    )
    size = THREADS * chosen.vector * chosen.unroll
    more = f"here.block < (p.n - p.head + {size - 1}) / {size}"
    loop = f"gb::Staying here(p); for (; {more}; here.block += gridDim.x) "
    return f"{own}{_STAYING}" + _substituted(text, (r"(gb::flat<.*)\(p\);", rf"{loop}\1(here);"))


def stay(waves: int) -> Change:
    """The grid of ``persistent``."""

    def change(
        plan: BroadcastPlan, target: CudaTarget, addresses: Addresses, usual: Schedule
    ) -> Schedule:
        _expect(usual, Family.FLAT)
        resident = 2048 // THREADS * target.multiprocessors
        return dataclasses.replace(usual, grid=min(usual.grid, waves * resident))

    return change


def patches(lanes: int) -> Edit:
    """XPOSE with so many patches beside each other in a block, as ``tiles(lanes=...)`` has."""

    def edit(text: str, chosen: Schedule) -> str:
        own = _substituted(
            headers.texts()["xpose.cuh"], (r"PATCHES_X = \d+", f"PATCHES_X = {lanes}")
        )
        return f"{own}\n{text}"

    return edit


_SHARED = """
  GB_FN void load_all() {
    constexpr int HEIGHT = BLOCK / %(lanes)d * R, PITCH = HEIGHT + 16 / sizeof(T);
    __shared__ __align__(16) T tile[%(lanes)d * V * PITCH];
    const T* const corner = at - threadIdx.y * R - threadIdx.x * (V * next);
    const int t = threadIdx.y * %(lanes)d + threadIdx.x;
    Vec<T, R> v[V];
    GB_UNROLL for (int k = 0; k < V; ++k) {
      const int n = (k * BLOCK + t) * R;
      v[k] = %(load)s(corner + n / HEIGHT * next + n %% HEIGHT);
    }
    GB_UNROLL for (int k = 0; k < V; ++k) {
      const int n = (k * BLOCK + t) * R;
      *reinterpret_cast<Vec<T, R>*>(tile + n / HEIGHT * PITCH + n %% HEIGHT) = v[k];
    }
    __syncthreads();
    const T* const own = tile + threadIdx.x * V * PITCH + threadIdx.y * R;
    GB_UNROLL for (int k = 0; k < V; ++k) {
      q[k] = *reinterpret_cast<const Vec<T, R>*>(own + k * PITCH);
    }
  }
"""


def shared_tile(text: str, chosen: Schedule) -> str:
    """XPOSE that reads what is crossed in runs as long as the block is high, through shared memory.

    The emulator has no barriers; there it is the usual kernel.
    """
    crossed = headers.texts()["xpose.cuh"]
    body = re.search(r"  GB_FN void load_all\(\) \{.*?\n  \}\n", crossed, re.DOTALL)
    load = body and re.search(r"q\[k\] = (.*)\(at \+ k \* next\);", body[0])
    if not body or not load:
        raise Impossible("the headers have another CROSSED operand")
    own = _SHARED % {"lanes": chosen.block[0], "load": load[1]}
    both = f"#ifdef GB_EMU\n{body[0]}#else{own}#endif\n"
    return f"{crossed.replace(body[0], both)}\n{text}"


def _substituted(text: str, *rules: tuple[str, str]) -> str:
    """A text after substitutions, each of which must find something."""
    for pattern, replacement in rules:
        text, count = re.subn(pattern, replacement, text)
        if not count:
            raise Impossible(f"the headers have no {pattern!r} any more")
    return text
