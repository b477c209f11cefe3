"""Graphs being captured, and what CuPy, NVRTC and the driver raise, on several GPUs.

CuPy's own arrays and the real backend, over a driver that copies in this process.
"""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import arrays
from gpubcast.runtime import state
from tests.support import dlpack_exporters as exporters
from tests.support import fake_gpu

cupy = pytest.importorskip("cupy")
THERE = ("cuda", 1)


WORDS = np.zeros((3, 4), np.float32)
VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
F32_CODE, HERE = exporters.F32[0], (exporters.CUDA, 0)


# --- graphs being captured ----------------------------------------------------------------------


def test_the_stream_of_the_arrays_device_is_asked(gpu: Any) -> None:
    """Not that of the current device."""
    here, there = gpu.put(np.zeros(13, "f4"), device=0), gpu.put(np.zeros(13, "f4"))
    shifted = [lambda x=x: gb.add(x[:-1], 1.0, out=x[1:]) for x in (here, there)]
    for call in shifted:
        call()
    for device, other in ((0, 1), (1, 0)):
        gpu.driver.streams[device].captures = True
        with pytest.raises(gb.DeviceError, match="must not allocate"):
            shifted[device]()
        shifted[other]()
        gpu.driver.streams[device].captures = False


def test_a_first_call_says_what_to_do(gpu: Any) -> None:
    """To load a kernel would end the capture."""
    x, out = gpu.put(VALUES), gpu.put(VALUES)
    plan = gb.plan("mul", "f32[3,4]", "f32[3,4]")
    gpu.driver.streams[1].captures = True
    for call in (lambda: gb.add(x, x, out=out), lambda: plan.bind(x, x, out=out)):
        with pytest.raises(gb.DeviceError, match="make the same call once before the capture"):
            call()
    assert not gpu.loaded
    gpu.driver.streams[1].captures = False
    gb.add(x, x, out=out)
    bound = plan.bind(x, x, out=out)
    gpu.driver.streams[1].captures = True
    for _ in range(5):
        assert gb.add(x, x, out=out) is out
        assert bound() is out
    gpu.driver.streams[1].captures = False


def test_nothing_is_copied_in_a_capture(gpu: Any) -> None:
    """Neither way, nor is an unaligned array."""
    array = arrays.from_strided(gpu.put(VALUES), THERE)
    raw = gpu.put(np.zeros(49, np.uint8))
    unaligned = cupy.ndarray((3, 4), np.float32, raw.data + 1)
    gb.neg(unaligned)
    gb.add(array.view(), 1.0, out=unaligned)
    gpu.kernel.noted.clear()
    copies = list(gpu.driver.copies)
    gpu.driver.streams[1].captures = True
    for call in (
        array.numpy, lambda: repr(array), lambda: array[0, 0].item(), lambda: pickle.dumps(array),
        lambda: gb.array(VALUES, device="cuda:1"), lambda: gb.neg(unaligned),
        lambda: gb.add(array.view(), 1.0, out=unaligned),
    ):  # fmt: skip
        with pytest.raises(gb.DeviceError, match="captur"):
            call()
    gpu.driver.streams[1].captures = False
    assert gpu.driver.copies == copies and not gpu.kernel.noted


@pytest.mark.parametrize("variable", ["GPUBCAST_SYNC", "GPUBCAST_DEBUG"])
def test_nothing_is_waited_for_in_a_capture(
    gpu: Any, variable: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Though a variable says so elsewhere: the capture would be lost."""
    x, out = gpu.put(VALUES), gpu.put(VALUES)
    gb.add(x, x, out=out)
    monkeypatch.setenv(variable, "2" if variable.endswith("DEBUG") else "1")
    waited: list[int] = []
    stream = gpu.driver.streams[1]
    stream.synchronize = lambda: waited.append(1)
    gb.add(x, x, out=out)
    assert waited == [1]
    stream.captures = True
    gb.add(x, x, out=out)
    assert waited == [1] and len(gpu.kernel.noted) == 3
    stream.captures = False


def test_the_default_stream_waits_for_a_capture_elsewhere(gpu: Any) -> None:
    """CUDA refuses the very question, since the default stream waits for all others."""
    x = gpu.put(VALUES, device=0)
    elsewhere = gpu.driver.CUDARuntimeError(906)
    stream = gpu.driver.streams[0]
    stream.is_capturing = lambda: (_ for _ in ()).throw(elsewhere)
    with pytest.raises(gb.DeviceError, match="make the same call once before the capture"):
        gb.add(x, x)
    with pytest.raises(gb.DeviceError, match="nothing can be copied to the host"):
        arrays.from_strided(x, ("cuda", 0)).numpy()
    del stream.is_capturing
    gb.add(x, x)


# --- errors -------------------------------------------------------------------------------------


def failure_of(name: str) -> Exception:
    """What CuPy, NVRTC or the driver raise."""
    from cupy.cuda import compiler, driver, memory, runtime
    from cupy_backends.cuda.libs import nvrtc

    if name == "CUDADriverError":  # it asks the driver for the words
        made: Exception = driver.CUDADriverError.__new__(driver.CUDADriverError, "CUDA_ERROR")
        made.status = 700  # type: ignore[attr-defined]
        return made
    if name == "NVRTCError":
        return nvrtc.NVRTCError.__new__(nvrtc.NVRTCError, "NVRTC_ERROR")  # type: ignore[no-any-return]
    found: dict[str, Exception] = {
        "CUDARuntimeError": runtime.CUDARuntimeError(700),
        "OutOfMemoryError": memory.OutOfMemoryError(1, 2, 3),
        "CompileException": compiler.CompileException("no such header", "source", "name", ()),
        "RuntimeError": RuntimeError("the current stream is capturing, so ... are disallowed"),
    }
    return found[name]


FAILURES = (
    "CUDARuntimeError", "CUDADriverError", "OutOfMemoryError", "CompileException", "NVRTCError",
    "RuntimeError",
)  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("replayed", ["machine code", "python"])
def test_every_failure_is_ours(
    gpu: Any, name: str, replayed: str, request: pytest.FixtureRequest
) -> None:
    """A call that is new, one that is recorded, one that is bound, and copies either way."""
    if replayed == "machine code":
        request.getfixturevalue("at_once")
    failure = failure_of(name)
    x, out = gpu.put(VALUES), gpu.put(VALUES)
    array = arrays.from_strided(x, THERE)
    bound = gb.plan("add", "f32[3,4]", "f32[3,4]").bind(x, x, out=out)
    for _ in range(20):
        gb.add(x, x, out=out)
    expected = gb.OutOfMemoryError if isinstance(failure, MemoryError) else gb.DeviceError
    for call in (lambda: gb.add(x, x, out=out), lambda: gb.mul(x, x), bound):
        gpu.kernel.fails = failure
        with pytest.raises(expected, match="CUDA: "):
            call()
        gpu.kernel.fails = None
    for call in (array.numpy, lambda: gb.array(VALUES, device="cuda:1"), lambda: repr(array)):
        gpu.driver.fails = failure
        with pytest.raises(expected, match="CUDA: "):
            call()
    stream = gpu.driver.streams[1]
    for question, call in (
        ("synchronize", array.numpy),
        ("is_capturing", lambda: gb.add(x[0, :-1], 1.0, out=x[0, 1:])),
        ("is_capturing", lambda: gb.sub(x, x)),
    ):
        setattr(stream, question, lambda: (_ for _ in ()).throw(failure))
        with pytest.raises(expected, match="CUDA: "):
            call()
        delattr(stream, question)


def test_a_failure_while_an_array_is_imported(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = exporters.Versioned(WORDS, 0, code=F32_CODE, device=HERE)

    def fail(_: Any) -> None:
        raise gpu.driver.CUDARuntimeError(700)

    monkeypatch.setattr(cupy, "from_dlpack", fail)
    with pytest.raises(gb.DeviceError, match="CUDA: "):
        gb.neg(given)


def test_a_child_of_a_process_that_used_cupy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver does not start in it; what it says then would send the user to look for one."""
    text = "CUDA cannot be used in a forked child"
    with fake_gpu.driver(2) as driver:
        not_initialized = driver.CUDARuntimeError(3)
        driver.fails = not_initialized
        with pytest.raises(gb.DeviceError, match=f"If this process was forked .*{text}"):
            state._new_backend("cuda")
        child = os.fork()
        if child == 0:
            said = ""
            try:
                driver.fails = not_initialized
                gb.empty("f32[2]", device="cuda")
            except gb.DeviceError as error:
                said = str(error)
                driver.fails = None
                backend = state._new_backend("cuda")
                driver.fails = not_initialized
                try:
                    backend.on(0)
                except gb.DeviceError as later:
                    os._exit(0 if said.startswith(text) and str(later).startswith(text) else 1)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        driver.fails = driver.CUDARuntimeError(35)
        with pytest.raises(gb.DeviceError, match="the driver is missing or too old"):
            state._new_backend("cuda")
