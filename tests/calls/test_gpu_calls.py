"""The host's part of a call on a GPU, where there is none: keys, parameters, devices, threads."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import arrays, plans
from gpubcast.fusion import fused_function
from gpubcast.runtime import call_cache, eager_call, execute, native_handover, state
from tests.support import fake_gpu

cupy = pytest.importorskip("cupy")
ENTRIES = (eager_call.APPLY, plans._CALLED, fused_function._CALLED)


class Kernel:
    """Stands for every kernel: notes the parameters that it is launched with."""

    def __init__(self) -> None:
        self.noted: list[bytes] = []
        self.fails: Exception | None = None

    def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
        if self.fails is not None:
            raise self.fails
        self.noted.append(ctypes.string_at(arguments[0].at, 40))

    def addresses(self) -> tuple[int, ...]:
        """The first words of the last launch."""
        return tuple(np.frombuffer(self.noted[-1], np.uint64)[:3].tolist())


@pytest.fixture(params=["machine code", "python"])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two GPUs that only the host sees, and ``kernel``, which stands for every kernel."""
    from gpubcast.backends.cuda import backend

    if request.param == "python":
        monkeypatch.setattr(native_handover, "process_table", lambda: None)
        for entry in ENTRIES:
            monkeypatch.setattr(entry, "call", entry.python)
    else:
        assert native_handover.process_table() is not None
        monkeypatch.setattr(call_cache, "REPEATS", 0)
        monkeypatch.setattr(state, "repeated", lambda launch: True)
    monkeypatch.setattr(backend, "CPointer", fake_gpu.Pointer)
    kernel = Kernel()
    with fake_gpu.gpu(kernel, devices=2) as found:
        found.kernel = kernel
        found.quick = request.param == "machine code"
        yield found


class LongWay(Exception):
    """The call was not known."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, gpu: SimpleNamespace) -> Any:
    """From when it is called on, calls that are not known raise."""

    def refuse(*_: Any, **__: Any) -> None:
        raise LongWay

    return lambda: monkeypatch.setattr(call_cache if gpu.quick else execute, _hidden(gpu), refuse)


def _hidden(gpu: SimpleNamespace) -> str:
    return "again" if gpu.quick else "run"


def test_known_calls_launch_with_the_same_parameters(gpu: Any, short: Any) -> None:
    x, y, z = (gpu.array((6, 8)) for _ in range(3))
    plan = gb.plan("add", "f32[6,8]", "f32[6,8]")
    bound_call = plan.bind(x, y, out=z)
    for call in (gb.add, plan):
        call(x, y, out=z)
        first = gpu.kernel.noted[-1]
        for _ in range(3):
            assert call(x, y, out=z) is z
            assert gpu.kernel.noted[-1] == first
        assert set(gpu.kernel.addresses()) == {v.data.ptr for v in (x, y, z)}
        call(x, y)
        found = [call(x, y) for _ in range(3)][-1]
        assert gpu.kernel.addresses()[2] == found.data.ptr
        assert (type(found), found.shape, found.strides) == (cupy.ndarray, (6, 8), (32, 4))
        assert bound_call() is z and gpu.kernel.noted[-1] == first
    short()
    gb.add(x, y)
    plan(y, x, out=z)
    assert gpu.kernel.addresses() == (y.data.ptr, x.data.ptr, z.data.ptr)


def test_scalars_strides_and_several_results(gpu: Any, short: Any) -> None:
    x = gpu.array((6, 8))
    both = gb.fuse(lambda x, y: (gb.add(x, y), gb.mul(x, y)))
    for _ in range(3):
        gb.add(x, 2.0)
        gb.add(x.T, x.T)
        both(x, x)
        gb.add(x, x[:1].reshape(8), broadcast_dimensions=(1,))
    short()
    gb.add(x, 0.5)
    assert np.float32(0.5).view(np.uint32) in gpu.kernel.addresses()
    assert gb.add(x.T, x.T).strides == (4, 32)
    results = both(x, x)
    assert [type(r) for r in results] == [cupy.ndarray] * 2
    gb.add(x, x[1:2].reshape(8), broadcast_dimensions=(1,))


def test_arrays_of_ours_launch_with_the_same_parameters(gpu: Any, short: Any) -> None:
    x, y, z = (arrays.from_strided(gpu.array((6, 8)), ("cuda", 0)) for _ in range(3))
    for _ in range(3):
        gb.add(x, y, out=z)
        made = gb.add(x, x)
        gb.add(made, x)
    short()
    assert gb.add(y, x, out=z) is z
    assert gpu.kernel.addresses() == tuple(v.memory.data.ptr for v in (y, x, z))
    found = gb.add(made, x)
    assert (type(found), found.shape, found.device) == (gb.Array, (6, 8), "cuda:0")
    assert gpu.kernel.addresses() == tuple(v.memory.data.ptr for v in (made, x, found))
    with pytest.raises(LongWay):
        gb.add(made, arrays.from_strided(gpu.array((8, 8))[1:7], ("cuda", 0)), out=found[::-1])


def test_several_kernels_have_temporaries(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each replay has temporaries of its own, of the array's device, and a capture none."""
    with cupy.cuda.Device(1):
        x, out = gpu.array((70_000,)), gpu.array(())
    for _ in range(3):
        gb.reduce_sum(x, axes=(0,), out=out)
    gpu.kernel.noted.clear()
    with monkeypatch.context() as patch:
        patch.setattr(execute, "run", None)
        assert gb.reduce_sum(x, axes=(0,), out=out) is out
    first, second = (np.frombuffer(table, np.uint64)[:2].tolist() for table in gpu.kernel.noted)
    assert (first[0], second[1]) == (x.data.ptr, out.data.ptr)
    assert first[1] == second[0] not in (x.data.ptr, out.data.ptr)
    gpu.driver.streams[1].captures = True
    with pytest.raises(gb.DeviceError, match="captured must not allocate"):
        gb.reduce_sum(x, axes=(0,), out=out)
    gpu.driver.streams[1].captures = False


def test_known_sequences_of_kernels(gpu: Any, short: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels in their order, with temporaries in one memory, which a capture and a device
    without memory refuse in words."""
    x, out = gpu.array((3, 70_000)), gpu.array(())
    plan = gb.plan("reduce_sum", "f32[3,70000]", axes=(0, 1))
    bound_call = plan.bind(x, out=out)
    for _ in range(3):
        gb.reduce_sum(x, axes=(0, 1), out=out)
        gb.reduce_sum(x, axes=(0, 1))
    gpu.kernel.noted.clear()
    with monkeypatch.context() as patch:
        patch.setattr(call_cache if gpu.quick else execute, _hidden(gpu), None)
        assert gb.reduce_sum(x, axes=(0, 1), out=out) is out
        found = gb.reduce_sum(x, axes=(0, 1))
    assert bound_call() is out
    tables = [np.frombuffer(table, np.uint64)[:2].tolist() for table in gpu.kernel.noted]
    assert len(tables) == 9
    for result, steps in zip((out, found, out), (tables[:3], tables[3:6], tables[6:]), strict=True):
        (begin, one), (then, two), (last, end) = steps
        assert (begin, one, two, end) == (x.data.ptr, then, last, result.data.ptr)
        assert len({begin, one, two, end}) == 4 and one % 64 == two % 64 == 0
    gpu.driver.streams[0].captures = True
    with pytest.raises(gb.DeviceError, match="captured must not allocate"):
        gb.reduce_sum(x, axes=(0, 1), out=out)
    assert bound_call() is out, "what is bound has its temporaries"
    gpu.driver.streams[0].captures = False
    allocate = cupy.cuda.get_allocator()

    def full(size: int) -> Any:
        raise cupy.cuda.memory.OutOfMemoryError(size, 0, 0)

    cupy.cuda.set_allocator(full)
    with pytest.raises(gb.OutOfMemoryError, match="CUDA"):
        gb.reduce_sum(x, axes=(0, 1), out=out)
    cupy.cuda.set_allocator(allocate)
    gpu.kernel.noted.clear()
    assert gb.reduce_sum(x, axes=(0, 1), out=out) is out and len(gpu.kernel.noted) == 3


def test_another_alignment_is_another_call(gpu: Any, short: Any) -> None:
    x = gpu.array((64,))
    for _ in range(3):
        gb.add(x[:32], x[:32])
    short()
    gb.add(x[8:40], x[8:40])
    with pytest.raises(LongWay):
        gb.add(x[1:33], x[1:33])


def test_out_is_looked_at_every_time(gpu: Any, short: Any) -> None:
    x, out = gpu.array((64,)), gpu.array((64,))
    for _ in range(3):
        gb.add(x[:32], x[:32], out=out[:32])
        gb.add(x[:32], x[:32], out=x[:32])
    short()
    assert gb.add(x[:32], x[:32], out=x[:32]).data.ptr == x.data.ptr
    with pytest.raises((LongWay, gb.Error)):
        gb.add(x[:32], x[:32], out=x[8:40])


def test_devices_are_kept_apart(gpu: Any, short: Any) -> None:
    here = gpu.array((6, 8))
    gpu.driver.device = 1
    there = gpu.array((6, 8))
    assert (here.data.device_id, there.data.device_id) == (0, 1)
    for device, x in ((0, here), (1, there)):
        gpu.driver.device = device
        for _ in range(3):
            gb.add(x, x)
    with pytest.raises(gb.DeviceError, match="different devices"):
        gb.add(here, there)
    short()
    made = gb.add(there, there)
    assert made.data.device_id == 1 and gpu.kernel.addresses()[0] == there.data.ptr
    if gpu.quick:
        gpu.driver.device = 0
        with pytest.raises(LongWay):
            gb.add(there, there)


def test_threads_have_a_table_each(gpu: Any) -> None:
    """Launches let other threads run; a table must not change meanwhile."""
    wrong: list[Any] = []
    own = threading.local()

    def slow(grid: Any, block: Any, arguments: Any) -> None:
        before = ctypes.string_at(arguments[0].at, 24)
        time.sleep(0.0002)
        packed = np.frombuffer(ctypes.string_at(arguments[0].at, 24), np.uint64).tolist()
        if before != ctypes.string_at(arguments[0].at, 24) or packed != own.wanted:
            wrong.append((packed, own.wanted))

    gpu.kernel.__class__ = type("Slow", (Kernel,), {"__call__": lambda self, *given: slow(*given)})
    arrays = [[gpu.array((6, 8)) for _ in range(3)] for _ in range(8)]

    def work(index: int) -> None:
        x, y, z = arrays[index]
        own.wanted = [v.data.ptr for v in (x, y, z)]
        for _ in range(100):
            gb.add(x, y, out=z)

    own.wanted = [v.data.ptr for v in arrays[0]]
    work(0)
    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def test_a_failure_is_a_device_error_and_leaves_no_table_busy(gpu: Any) -> None:
    x, z = gpu.array((6, 8)), gpu.array((6, 8))
    for _ in range(3):
        gb.add(x, x, out=z)
        gb.add(x, x)
    gpu.kernel.fails = cupy.cuda.memory.OutOfMemoryError(1, 2, 3)
    for _ in range(10):
        with pytest.raises(gb.OutOfMemoryError, match="CUDA"):
            gb.add(x, x, out=z)
        with pytest.raises(gb.OutOfMemoryError, match="CUDA"):
            gb.add(x, x)
    gpu.kernel.fails = None
    assert gb.add(x, x, out=z) is z


def test_a_forked_child_is_refused(gpu: Any) -> None:
    x, z = gpu.array((6, 8)), gpu.array((6, 8))
    for _ in range(3):
        gb.add(x, x, out=z)
    bound_call = gb.plan("add", "f32[6,8]", "f32[6,8]").bind(x, x, out=z)
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: gb.add(x, x, out=z), lambda: gb.add(x, x), bound_call):
            try:
                call()
            except gb.DeviceError:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def test_arrays_built_otherwise_are_pythons(gpu: Any) -> None:
    from gpubcast.backends.native_calls import call_table, object_layout

    x = gpu.array((6, 8))
    assert call_table._as_expected(x)
    for name in ("GPU_DESCRIPTOR", "GPU_POINTER", "GPU_ADDRESS", "GPU_DEVICE", "GPU_END"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(object_layout, name, getattr(object_layout, name) - 8)
            assert not call_table._as_expected(x)


def test_another_librarys_stream_is_current_for_a_while() -> None:
    with fake_gpu.gpu(devices=2) as gpu:
        host = state.backend("cuda")
        with host.on_stream(77, 1):
            assert (gpu.driver.device, gpu.driver.get_current_stream().ptr) == (1, 77)
        assert (gpu.driver.device, gpu.driver.streams[1].ptr) == (0, 17)
