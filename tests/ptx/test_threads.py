"""Threads that work together: barriers, shuffles, shared and local memory, calls, and races.

The kernels are CUDA, compiled by NVRTC for both of its compilers, where C++ can say it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ptx.kernel_text import aligned, kernel, run
from tests.support.ptx import compile as compiler
from tests.support.ptx.execution import launch
from tests.support.ptx.faults import ExecutionFault, RefusedError
from tests.support.ptx.memory import Memory
from tests.support.ptx.program import Module
from tests.support.ptx.races import race
from tests.support.ptx.traffic import bank_conflicts, traffic

THREADS = 64


def cuda(
    arch: str, body: str, *arrays: Any, grid: int = 1, block: tuple[int, int] = (THREADS, 1),
    before: str = "", **keywords: Any,
) -> Memory:  # fmt: skip
    """Runs ``k(unsigned* a, unsigned* b, ...)``."""
    names = "abcd"[: len(arrays)]
    listed = ", ".join(f"unsigned* {name}" for name in names)
    text = f'{before}\nextern "C" __global__ void k({listed}) {{ {body} }}'
    module = Module(compiler.ptx(text, arch))
    parameters = np.array([x.ctypes.data for x in arrays], np.uint64).tobytes()
    ranges = [np.lib.array_utils.byte_bounds(x) for x in arrays]
    memory, _ = launch(module, "k", grid, block, parameters, ranges, **keywords)
    return memory


def numbers(count: int) -> Any:
    held = aligned(count)
    held[:] = np.random.default_rng(count).integers(0, 1000, count)
    return held


# --- barriers and shared memory -------------------------------------------------------------------

TREE = """
  __shared__ unsigned s[64];
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int n = 32; n > 0; n /= 2) {
    if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];
    __syncthreads();
  }
  if (threadIdx.x == 0) b[blockIdx.x] = s[0];
"""


@pytest.mark.parametrize("chunk", [1, 1 << 16])
def test_a_sum_through_shared_memory(arch: str, chunk: int) -> None:
    """However many blocks run together."""
    a, b = numbers(5 * THREADS), aligned(5)
    memory = cuda(arch, TREE, a, b, grid=5, chunk=chunk)
    assert b.tolist() == a.reshape(5, THREADS).sum(axis=1).tolist()
    assert race(memory.accesses, THREADS) is None and not memory.violations


def test_a_missed_barrier_is_a_race(arch: str) -> None:
    a, b = numbers(THREADS), aligned(1)
    missed = TREE.replace("n];\n    __syncthreads();", "n];", 1)
    assert missed != TREE
    found = race(cuda(arch, missed, a, b).accesses, THREADS)
    assert found is not None and "race in shared memory" in found and "ld.shared" in found


def test_a_missed_first_barrier_is_a_race(arch: str) -> None:
    a, b = numbers(THREADS), aligned(1)
    missed = TREE.replace("__syncthreads();", "", 1)
    assert race(cuda(arch, missed, a, b).accesses, THREADS) is not None


@pytest.mark.parametrize("ordered", [True, False])
def test_a_barrier_of_a_warp_orders_a_warp_alone(arch: str, ordered: bool) -> None:
    """Each thread reads its neighbour's value: in a warp, or (``ordered`` false) in the next."""
    step = 1 if ordered else 33
    body = f"""
      __shared__ unsigned s[64];
      s[threadIdx.x] = a[threadIdx.x];
      __syncwarp();
      b[threadIdx.x] = s[(threadIdx.x & 32) | ((threadIdx.x + {step}) & {31 if ordered else 63})];
    """
    a, b = numbers(THREADS), aligned(THREADS)
    memory = cuda(arch, body, a, b)
    assert (race(memory.accesses, THREADS) is None) == ordered


def test_a_barrier_orders_global_memory_too(arch: str) -> None:
    body = "a[threadIdx.x] = threadIdx.x; __syncthreads(); b[threadIdx.x] = a[63 - threadIdx.x];"
    a, b = aligned(THREADS), aligned(THREADS)
    memory = cuda(arch, body, a, b)
    assert b.tolist() == list(range(63, -1, -1))
    assert race(memory.accesses, THREADS) is None
    memory = cuda(arch, body.replace("__syncthreads();", ""), a, b)
    assert "race in global memory" in (race(memory.accesses, THREADS) or "")


def test_a_barrier_does_not_order_two_blocks(arch: str) -> None:
    body = "if (blockIdx.x == 0) a[threadIdx.x] = 7; __syncthreads(); b[threadIdx.x] = a[0];"
    memory = cuda(arch, body, aligned(THREADS), aligned(THREADS), grid=2)
    assert "race in global memory" in (race(memory.accesses, THREADS) or "")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("a[threadIdx.x / 2] = threadIdx.x;", True),  # two threads store
        ("a[0] = b[0];", True),  # the same value, but by many
        ("a[threadIdx.x] = a[threadIdx.x] + 1;", False),  # in place
        ("a[threadIdx.x] = a[(threadIdx.x + 1) % 64];", True),
        ("b[threadIdx.x] = a[0];", False),  # all read
        ("((unsigned char*)a)[threadIdx.x] = 1;", False),  # neighbours in one word
        ("((unsigned char*)a)[threadIdx.x] = ((unsigned short*)a)[threadIdx.x / 2];", True),
    ],
)
def test_races_without_barriers(arch: str, body: str, found: bool) -> None:
    memory = cuda(arch, body, aligned(THREADS), aligned(THREADS))
    assert (race(memory.accesses, THREADS) is not None) == found


def test_threads_at_two_barriers_wait_for_ever() -> None:
    text = kernel(
        """
      setp.gt.u32 %p1, %r1, 7;
      @%p1 bra $L1;
      bar.sync 0;
      bra $L2;
    $L1:
      bar.sync 0;
      st.global.u32 [%rd2], %r1;
    $L2:
      ret;"""
    )
    with pytest.raises(ExecutionFault, match="32 threads wait for ever, first at bar"):
        run(text, aligned(32))


def test_threads_that_ended_are_not_waited_for(arch: str) -> None:
    body = "if (threadIdx.x >= 40) return; __syncthreads(); b[threadIdx.x] = a[threadIdx.x];"
    a, b = numbers(THREADS), aligned(THREADS)
    cuda(arch, body, a, b)
    assert b.tolist() == [*a[:40].tolist(), *[0] * 24]


def test_dynamic_shared_memory_and_its_end(arch: str) -> None:
    before = "extern __shared__ unsigned s[];"
    body = "s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); b[threadIdx.x] = s[63 - threadIdx.x];"
    a, b = numbers(THREADS), aligned(THREADS)
    memory = cuda(arch, body, a, b, before=before, shared_bytes=4 * THREADS)
    assert b.tolist() == a[::-1].tolist() and not memory.violations
    memory = cuda(arch, body, a, b, before=before, shared_bytes=4 * THREADS - 4)
    assert [v.what for v in memory.violations] == ["outside", "outside"]
    assert [v.addresses.tolist() for v in memory.violations] == [[252], [252]]


# --- warps ----------------------------------------------------------------------------------------

SHUFFLES = {
    "__shfl_down_sync(m, x, 3)": lambda i: i + 3 if i + 3 < 32 else i,
    "__shfl_up_sync(m, x, 5)": lambda i: i - 5 if i >= 5 else i,
    "__shfl_xor_sync(m, x, 17)": lambda i: i ^ 17,
    "__shfl_sync(m, x, 9)": lambda i: 9,
    "__shfl_sync(m, x, i * 7)": lambda i: i * 7 % 32,
    "__shfl_down_sync(m, x, 1, 8)": lambda i: i + 1 if i % 8 < 7 else i,
    "__shfl_up_sync(m, x, 2, 8)": lambda i: i - 2 if i % 8 > 1 else i,
    "__shfl_xor_sync(m, x, 12, 16)": lambda i: i ^ 12,
    "__shfl_sync(m, x, 2, 4)": lambda i: i // 4 * 4 + 2,
}


@pytest.mark.parametrize("call", SHUFFLES)
def test_shuffles(arch: str, call: str) -> None:
    body = f"unsigned m = ~0u, i = threadIdx.x % 32, x = a[threadIdx.x]; b[threadIdx.x] = {call};"
    a, b = numbers(2 * THREADS), aligned(2 * THREADS)
    cuda(arch, body, a, b, block=(2 * THREADS, 1))
    wanted = [int(a[i // 32 * 32 + SHUFFLES[call](i % 32)]) for i in range(2 * THREADS)]
    assert b.tolist() == wanted


def test_a_sum_through_shuffles_in_blocks_of_two_dimensions(arch: str) -> None:
    body = """
      unsigned t = threadIdx.y * blockDim.x + threadIdx.x, x = a[t];
      for (int n = 16; n; n /= 2) x += __shfl_xor_sync(~0u, x, n);
      if (t % 32 == 0) b[t / 32] = x;
    """
    a, b = numbers(THREADS), aligned(2)
    cuda(arch, body, a, b, block=(8, 8))
    assert b.tolist() == a.reshape(2, 32).sum(axis=1).tolist()


def test_threads_meet_before_a_shuffle(arch: str) -> None:
    """Lanes that took another way, or more rounds, are waited for."""
    body = """
      unsigned x = a[threadIdx.x];
      for (unsigned i = 0; i < threadIdx.x % 5; ++i) x = x * 3 + a[i];
      b[threadIdx.x] = x;
      c[threadIdx.x] = __shfl_xor_sync(~0u, x, 1);
    """
    a, b, c = numbers(THREADS), aligned(THREADS), aligned(THREADS)
    cuda(arch, body, a, b, c)
    assert c.tolist() == b.reshape(-1, 2)[:, ::-1].reshape(-1).tolist()


def test_a_lane_that_takes_no_part_gives_poison(arch: str) -> None:
    body = """
      unsigned x = a[threadIdx.x];
      if (threadIdx.x % 32 < 16) b[threadIdx.x] = __shfl_xor_sync(0xffff, x, 16);
    """
    a, b = numbers(THREADS), aligned(THREADS)
    cuda(arch, body, a, b)
    assert (b.reshape(2, 2, 16)[:, 0] == 0xA5A5A5A5).all()


def test_a_lane_that_never_comes() -> None:
    body = """
      setp.gt.u32 %p1, %r1, 7;
      @%p1 bra $L1;
      shfl.sync.bfly.b32 %r10|%p2, %r1, 1, 31, -1;
    $L1:
      bar.sync 0;
      st.global.u32 [%rd2], %r10;
      ret;"""
    with pytest.raises(ExecutionFault, match="32 threads wait for ever, first at shfl"):
        run(kernel(body), aligned(32))


def test_a_mask_without_the_thread_itself(arch: str) -> None:
    with pytest.raises(ExecutionFault, match="a thread that its mask does not name"):
        cuda(
            arch,
            "b[threadIdx.x] = __shfl_xor_sync(1, a[threadIdx.x], 1);",
            numbers(64),
            aligned(64),
        )


def test_votes(arch: str) -> None:
    body = """
      unsigned i = threadIdx.x;
      bool p = a[i] % 2;
      b[i] = __ballot_sync(~0u, p);
      c[i] = __all_sync(~0u, p || i < 32) + 2 * __any_sync(~0u, a[i] == a[40]);
    """
    a, b, c = numbers(THREADS), aligned(THREADS), aligned(THREADS)
    cuda(arch, body, a, b, c)
    ballots = [sum(int(x % 2) << i for i, x in enumerate(part)) for part in a.reshape(2, 32)]
    assert b.tolist() == [ballots[0]] * 32 + [ballots[1]] * 32
    every = int(ballots[1] == 2**32 - 1)
    first = 1 + 2 * int(a[40] in a[:32])
    assert c.tolist() == [first] * 32 + [every + 2] * 32


# --- local memory, calls, addresses ---------------------------------------------------------------


def test_local_memory(arch: str) -> None:
    """An array that registers cannot hold; a copy of it for each thread and each call."""
    before = """
      __device__ __noinline__ unsigned pick(const unsigned* from, unsigned i) {
        unsigned own[8];
        for (int k = 0; k < 8; ++k) own[(k * 3 + i) % 8] = from[k] + k;
        return own[i % 8] * 2;
      }
    """
    body = """
      unsigned s[8];
      for (int k = 0; k < 8; ++k) s[(k + a[threadIdx.x]) % 8] = a[threadIdx.x] + k * k;
      if (threadIdx.x % 3) b[threadIdx.x] = pick(s, a[threadIdx.x]);
    """
    a, b = numbers(THREADS), aligned(THREADS)
    memory = cuda(arch, body, a, b, before=before)
    assert not memory.violations
    for i, x in enumerate(a.tolist()):
        s, own = [0] * 8, [0] * 8
        for k in range(8):
            s[(k + x) % 8] = x + k * k
        for k in range(8):
            own[(k * 3 + x) % 8] = s[k] + k
        assert b[i] == (own[x % 8] * 2 if i % 3 else 0)


def test_calls_of_functions(arch: str) -> None:
    before = """
      struct Two { double x; unsigned y; };
      __device__ __noinline__ Two twice(double x, unsigned y) {
        if (y % 2) return {x * 2, y + 1};
        return {x, y};
      }
    """
    body = """
      unsigned x = a[threadIdx.x];
      Two t = {0, x};
      if (x > 300) t = twice(x * 0.5, x);
      b[threadIdx.x] = t.y + (unsigned)t.x;
    """
    a, b = numbers(THREADS), aligned(THREADS)
    cuda(arch, body, a, b, before=before)
    wanted = []
    for x in a.tolist():
        if x <= 300:
            wanted.append(x)
        else:
            wanted.append(x + 1 + x if x % 2 else x + int(x * 0.5))
    assert b.tolist() == wanted


def test_a_switch_becomes_a_table_of_branches() -> None:
    text = kernel(
        """
      rem.u32 %r10, %r1, 3;
      mov.u32 %r11, 0;
    $L_table: .branchtargets $L1, $L2, $L3;
      brx.idx %r10, $L_table;
    $L1: add.s32 %r11, %r11, 100;
    $L2: add.s32 %r11, %r11, 10;
    $L3: add.s32 %r11, %r11, 1;
      st.global.u32 [%rd2], %r11;
      ret;"""
    )
    out = aligned(32)
    run(text, out)
    assert out.tolist() == [(111, 11, 1)[i % 3] for i in range(32)]


def test_generic_addresses(arch: str) -> None:
    """A pointer into shared or global memory, which the compiler cannot tell apart."""
    before = """
      __device__ __noinline__ unsigned first(const unsigned* p) { return *p; }
    """
    body = """
      __shared__ unsigned s[64];
      s[threadIdx.x] = a[threadIdx.x] + 1;
      __syncthreads();
      b[threadIdx.x] = first(s + (threadIdx.x ^ 1)) * 1000 + first(a + threadIdx.x);
    """
    a, b = numbers(THREADS), aligned(THREADS)
    cuda(arch, body, a, b, before=before)
    assert b.tolist() == [(int(a[i ^ 1]) + 1) * 1000 + int(a[i]) for i in range(THREADS)]


def test_module_variables(arch: str) -> None:
    before = "__device__ const unsigned table[5] = {3, 1, 4, 1, 59};"
    a, b = numbers(THREADS), aligned(THREADS)
    cuda(arch, "b[threadIdx.x] = table[a[threadIdx.x] % 5];", a, b, before=before)
    assert b.tolist() == [(3, 1, 4, 1, 59)[x % 5] for x in a.tolist()]


def test_accesses_that_are_not_allowed() -> None:
    body = "ld.global.v2.u32 {%r10, %r11}, [%rd2]; st.global.u32 [%rd2+64], %r11; ret;"
    memory = run(kernel(body), aligned(32))
    found = [(v.what, v.addresses.size) for v in memory.violations]
    assert found == [("misaligned", 16), ("outside", 1), ("outside", 16)]


def test_parameters_and_constants_are_not_written() -> None:
    text = kernel("mov.u64 %rd10, constant; st.global.u32 [%rd10], %r1; ret;",
                  before=".global .align 4 .u32 constant = 5;")  # fmt: skip
    memory = run(text, aligned(32))
    assert [v.what for v in memory.violations] == ["outside"]


def test_a_kernel_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.ptx.execution.MOST_BLOCKS", 1000)
    with pytest.raises(ExecutionFault, match="k does not end"):
        run(kernel("$L1: bra $L1;"), aligned(32))


def test_recursion_is_refused(arch: str) -> None:
    before = """
      __device__ __noinline__ unsigned f(unsigned n, volatile unsigned* p) {
        unsigned s[4];
        for (int k = 0; k < 4; ++k) s[(k + n) % 4] = p[k];
        return n ? f(n - 1, p) + s[n % 3] : s[0];
      }
    """
    with pytest.raises(RefusedError, match="recursion"):
        cuda(arch, "b[0] = f(3, a);", numbers(64), aligned(1), block=(1, 1), before=before)


# --- traffic --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "conflicts"),
    [("i", 0), ("i * 2", 2), ("i * 32", 62), ("i * 33", 0), ("i / 32", 0), ("i * 4", 6)],
)
def test_bank_conflicts_of_words(arch: str, index: str, conflicts: int) -> None:
    """Two warps, and one load each."""
    body = f"""
      __shared__ unsigned s[64 * 33];
      unsigned i = threadIdx.x;
      s[i] = a[i];
      __syncthreads();
      b[i] = s[{index}];
    """
    memory = cuda(arch, body, numbers(THREADS), aligned(THREADS))
    assert bank_conflicts(memory.accesses, THREADS) == conflicts


@pytest.mark.parametrize(("type", "count"), [("uint2", 2), ("uint4", 4), ("unsigned char", 0.25)])
def test_vectors_side_by_side_have_no_conflicts(arch: str, type: str, count: float) -> None:
    size = int(4 * count)
    ptx_type = {2: "v2.u32 {%r10, %r11}", 4: "v4.u32 {%r10, %r11, %r12, %r13}"}.get(
        int(count), "u8 %rs1"
    )
    body = f"mul.lo.s32 %r9, %r1, {size}; ld.shared.{ptx_type}, [%r9]; ret;"
    memory = run(kernel(body), aligned(32), shared_bytes=512)
    assert bank_conflicts(memory.accesses, 32) == 0
    strided = body.replace(f"%r1, {size};", f"%r1, {max(2 * size, 128)};")
    memory = run(kernel(strided), aligned(32), shared_bytes=4096)
    assert bank_conflicts(memory.accesses, 32) > 0


def test_sectors_and_requests(arch: str) -> None:
    body = "b[threadIdx.x] = a[threadIdx.x * 8];"
    memory = cuda(arch, body, numbers(8 * THREADS), aligned(THREADS))
    loads = traffic([x for x in memory.accesses if not x.stores], THREADS)
    stores = traffic([x for x in memory.accesses if x.stores], THREADS)
    assert (loads.requests, loads.sectors, loads.useful_bytes) == (2, 64, 256)
    assert (stores.requests, stores.sectors, stores.useful_bytes) == (2, 8, 256)
