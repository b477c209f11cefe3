"""What only a CUDA device has: streams, graphs, its memory, its processes and its cubin cache."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.gpu.conftest import Place
from tests.support import doors

pytestmark = pytest.mark.gpu

NdArray = np.ndarray[Any, Any]

REPOSITORY = Path(__file__).resolve().parents[2]


def test_stream_order(gpu: Place) -> None:
    """A call runs on the current stream: after the work before it, and before the work after."""
    cupy = gpu.xp
    size = 1 << 24
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x = cupy.zeros(size, cupy.float32)
        for step in range(20):
            x += 1  # CuPy's kernel
            x = gb.mul(x, 2.0)
            assert x.shape == (size,), step
    stream.synchronize()
    wanted = np.float32(2**21 - 2)
    assert float(x.min()) == float(x.max()) == wanted


def test_dlpack_waits_for_the_other_library(gpu: Place) -> None:
    torch = doors.library("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = torch.zeros(1 << 26, device="cuda")
        for _ in range(50):
            x += 1
        found = gb.add(x, 0.0)
    assert float(found.min()) == float(found.max()) == 50.0


def test_threads(gpu: Place) -> None:
    """Threads share plans and kernels; each has its own stream and parameters."""
    cupy = gpu.xp
    rows = np.arange(300, dtype=np.float32)

    def work(number: int) -> NdArray:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            x = cupy.full((200, 300), number, cupy.float32)
            row = cupy.asarray(rows)
            for _ in range(100):
                found = gb.add(x, row, broadcast_dimensions=(1,))
            stream.synchronize()
            host: NdArray = cupy.asnumpy(found)
            return host

    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(work, range(16))):
            np.testing.assert_array_equal(found, np.tile(rows + np.float32(number), (200, 1)))


def test_threads_share_a_plan(gpu: Place) -> None:
    """Every thread its own stream, operands, result and bound call; one plan, all at once."""
    cupy = gpu.xp
    plan = gb.plan("add", "f32[40,300]", "f32[300]", broadcast_dimensions=(1,))
    threads, ready = 8, threading.Barrier(8)

    def work(number: int) -> None:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            x = cupy.full((40, 300), number, cupy.float32)
            row = cupy.arange(300, dtype=cupy.float32)
            out, other = cupy.empty((2, 40, 300), cupy.float32)
            bound = plan.bind(x, row, out=other)
            ready.wait()
            for step in range(200):
                x += 1
                plan(x, row, out=out)
                bound()
                if step % 50 == 0:
                    stream.synchronize()
                    wanted = np.tile(number + step + 1 + np.arange(300, dtype="f4"), (40, 1))
                    np.testing.assert_array_equal(out.get(), wanted)
                    np.testing.assert_array_equal(other.get(), wanted)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def test_several_gpus(gpu: Place) -> None:
    """Arrays decide the device, whichever is current; each has kernels and memory of its own."""
    cupy = gpu.xp
    count = cupy.cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip("there is one GPU only")
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    plan = gb.plan("add", "f32[3,4]", "f32[4]", broadcast_dimensions=(1,))
    made = []
    for index in range(count):
        with cupy.cuda.Device(index):
            made.append((cupy.asarray(host), cupy.asarray(host[1]), *cupy.zeros((2, 3, 4), "f4")))
            cupy.cuda.runtime.deviceSynchronize()
    for current in (0, count - 1):
        with cupy.cuda.Device(current):
            for index, (x, row, out, other) in enumerate(made):
                found = gb.add(x, row, broadcast_dimensions=(1,))
                plan(x, row, out=out)
                plan.bind(x, row, out=other)()
                assert (found.device.id, cupy.cuda.runtime.getDevice()) == (index, current)
                assert gb.array(x).device == f"cuda:{index}"
                for result in (found, out, other):
                    np.testing.assert_array_equal(result.get(), host + host[1])
                    result[...] = 0
    with pytest.raises(gb.DeviceError, match="live on different devices"):
        gb.add(made[0][0], made[1][0])
    moved = gb.array(made[0][0]).to_device("cuda:1")
    assert moved.device == "cuda:1"
    np.testing.assert_array_equal(moved.numpy(), host)


def test_mixed_devices_are_refused(gpu: Place) -> None:
    host = np.ones(3, np.float32)
    x = gpu.put(host)
    for operands, out in (((x, host), None), ((host, gb.array(x)), None), ((host, host), x)):
        with pytest.raises(gb.DeviceError, match="live on different devices"):
            gb.add(*operands, out=out)
    with pytest.raises(gb.DeviceError, match="implicit transfer"):
        np.asarray(gb.array(x))


def test_no_such_device(gpu: Place) -> None:
    with pytest.raises(gb.DeviceError):
        gb.full("f32[2]", 1, device=f"cuda:{gpu.xp.cuda.runtime.getDeviceCount()}")


def test_too_little_memory(gpu: Place) -> None:
    with pytest.raises(gb.DeviceError):
        gb.empty("u8[1000000000000]", device="cuda")
    assert gb.full("f32[2]", 1, device="cuda").numpy().tolist() == [1.0, 1.0]


def test_graph_of_a_bound_call(gpu: Place) -> None:
    """A bound call is captured without being launched first, and replays read new values."""
    cupy = gpu.xp
    x, row = cupy.ones((123, 77), cupy.float32), cupy.arange(77, dtype=cupy.float32)
    out = cupy.zeros((123, 77), cupy.float32)
    plan = gb.plan("sub", "f32[123,77]", "f32[77]", broadcast_dimensions=(1,))
    bound = plan.bind(x, row, out=out)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        for _ in range(3):
            bound()
        graph = stream.end_capture()
        stream.synchronize()
        assert not out.any(), "capture must not run anything"
        graph.launch(stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(out.get(), np.tile(1 - np.arange(77, dtype="f4"), (123, 1)))
        x *= 5
        graph.launch(stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(out.get(), np.tile(5 - np.arange(77, dtype="f4"), (123, 1)))


def test_graph_of_a_planned_call(gpu: Place) -> None:
    """``p(x, y, out=z)`` is captured too, and a replay computes from what the memory holds then."""
    cupy = gpu.xp
    x, row = cupy.ones((123, 77), cupy.float32), cupy.arange(77, dtype=cupy.float32)
    out, twice = cupy.zeros((2, 123, 77), cupy.float32)
    add = gb.plan("add", "f32[123,77]", "f32[77]", broadcast_dimensions=(1,))
    double = gb.plan("add", "f32[123,77]", "f32[123,77]")
    add(x, row, out=out)  # kernels are compiled and loaded
    double(out, out, out=twice)
    out[...] = twice[...] = 0
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        for _ in range(5):  # the fifth call goes the short way of repeated calls
            assert add(x, row, out=out) is out
            assert double(out, out, out=twice) is twice
        graph = stream.end_capture()
        stream.synchronize()
        assert not out.any() and not twice.any(), "capture must not run anything"
        for factor in (1, 3):
            x[...] = factor
            out[...] = twice[...] = 0
            graph.launch(stream=stream)
            stream.synchronize()
            wanted = np.tile(factor + np.arange(77, dtype="f4"), (123, 1))
            np.testing.assert_array_equal(out.get(), wanted)
            np.testing.assert_array_equal(twice.get(), 2 * wanted)


def test_capture_refuses_a_temporary(gpu: Place) -> None:
    cupy = gpu.xp
    x = cupy.arange(100, dtype=cupy.float32)
    gb.add(x[:-1], 1.0, out=x[1:])  # kernels are compiled
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        try:
            with pytest.raises(gb.Error, match="captur"):
                gb.add(x[:-1], 1.0, out=x[1:])
        finally:
            stream.end_capture()


def test_a_capture_survives_what_is_refused(gpu: Place) -> None:
    """A first call, a copy and an unaligned operand: each is refused before CUDA is asked."""
    cupy = gpu.xp
    x, out = cupy.arange(1, 51, dtype=cupy.float32), cupy.zeros(50, cupy.float32)
    array = gb.array(x)
    odd = cupy.ndarray((50,), cupy.float32, cupy.zeros(201, cupy.uint8).data + 1)
    bound = gb.plan("add", "f32[50]", "f32[50]").bind(x, x, out=out)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        try:
            for call in (
                lambda: gb.atan2(x, x, out=out), array.numpy, lambda: gb.neg(odd),
                lambda: gb.array(np.ones(3), device="cuda"),
            ):  # fmt: skip
                with pytest.raises(gb.DeviceError, match="captur"):
                    call()
            bound()
        finally:
            graph = stream.end_capture()
        graph.launch(stream=stream)
        stream.synchronize()
    np.testing.assert_array_equal(out.get(), 2 * np.arange(1, 51, dtype=np.float32))


def test_copies_wait_for_their_own_devices_stream(gpu: Place) -> None:
    """On another GPU than the current one, after kernels of that one's current stream."""
    cupy = gpu.xp
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU only")
    with cupy.cuda.Device(1):
        x = cupy.zeros(1 << 26, cupy.float32)
        cupy.cuda.runtime.deviceSynchronize()
        with cupy.cuda.Stream(non_blocking=True):
            for _ in range(50):
                gb.add(x, 1.0, out=x)
            with cupy.cuda.Device(0):
                array = gb.from_dlpack(x)
                assert array[-1].item() == 50.0
                assert array[::1_000_000].numpy().max() == 50.0
                assert pickle.loads(pickle.dumps(array[:5])).device == "cuda:1"


def test_managed_memory(gpu: Place) -> None:
    cupy = gpu.xp
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        x = cupy.arange(12, dtype=cupy.float32)
        assert x.__dlpack_device__()[0] == 13
        found = gb.add(gb.from_dlpack(x), 1.0)
        assert gb.from_dlpack(found).numpy().tolist() == list(range(1, 13))


def _run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CALL = """
    import cupy, gpubcast as gb
    x = cupy.arange(12, dtype="f4").reshape(3, 4)
    print(gb.add(x, x[0], broadcast_dimensions=(1,)).sum(), flush=True)
"""
WITHOUT_NVRTC = """
    from gpubcast.backends.cuda import nvrtc
    def refuse(*arguments):
        raise AssertionError("compiled again")
    nvrtc.compile_cubin = refuse
"""


def test_a_second_process_finds_the_cubin(gpu: Place, tmp_path: Path) -> None:
    folder = {"GPUBCAST_CACHE_DIR": str(tmp_path)}
    assert _run(CALL, **folder) == "84.0\n"
    cubins = list(tmp_path.rglob("*.cubin"))
    assert len(cubins) == 1
    assert _run(WITHOUT_NVRTC + CALL, **folder) == "84.0\n"
    cubins[0].write_bytes(b"damaged")
    assert _run(CALL, **folder) == "84.0\n"


def test_the_driver_compiles_ptx(gpu: Place, tmp_path: Path) -> None:
    """As for a GPU that NVRTC does not know."""
    unknown = """
    from gpubcast.backends.cuda import nvrtc
    nvrtc.architectures = lambda: ("sm_75",)
"""
    assert _run(unknown + CALL, GPUBCAST_CACHE_DIR=str(tmp_path)) == "84.0\n"
    (image,) = tmp_path.rglob("*.cubin")
    if gpu.xp.cuda.Device().compute_capability[:-1] != "7":
        assert b".target sm_75" in image.read_bytes()


def test_a_forked_child_is_told(gpu: Place) -> None:
    """Every way in raises DeviceError: CUDA does not survive a fork."""
    code = """
        import os, sys, traceback
        import cupy, numpy as np, gpubcast as gb
        x = cupy.arange(12, dtype="f4")
        a = gb.array(x)
        out = gb.add(x, x)
        bound = gb.plan("add", "f32[12]", "f32[12]").bind(x, x, out=out)
        calls = {
            "eager": lambda: gb.add(x, x), "out": lambda: gb.add(x, x, out=out), "bound": bound,
            "new kernel": lambda: gb.mul(x, x), "numpy": a.numpy,
            "to the device": lambda: gb.array(np.ones(3), device="cuda"),
        }
        child = os.fork()
        if not child:
            status = 0
            for name, call in calls.items():
                try:
                    call()
                    print("no error:", name, flush=True)
                    status = 1
                except gb.DeviceError as error:
                    if "forked" not in str(error):
                        print(name, error, flush=True)
                        status = 1
                except BaseException:
                    print(name, traceback.format_exc(), flush=True)
                    status = 1
            os._exit(status)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        print(float(gb.add(x, x).sum()))
    """
    assert _run(code) == "132.0\n"


def test_a_child_of_a_process_that_used_cupy_alone(gpu: Place) -> None:
    code = """
        import os
        import cupy, gpubcast as gb
        assert int(cupy.arange(3).sum()) == 3
        child = os.fork()
        if not child:
            try:
                gb.empty("f32[2]", device="cuda")
            except gb.DeviceError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """
    assert "forked child" in _run(code)


def test_debug_and_sync(
    gpu: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    x = gpu.put(np.ones((3, 50), np.float32))
    monkeypatch.setenv("GPUBCAST_DEBUG", "2")
    monkeypatch.setenv("GPUBCAST_SYNC", "1")
    gb.add(x, x)
    assert "GB/s" in capfd.readouterr().err
