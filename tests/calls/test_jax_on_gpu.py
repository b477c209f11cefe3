"""The handler of XLA's custom calls on a GPU: what it hands to a driver that only notes it.

XLA's call frame is made up here; no XLA with a GPU and no GPU are needed.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime.prepare import prepare
from gpubcast.shapes.layout import Layout
from tests.support import doors

jax = doors.library("jax")
from gpubcast.backends.native_calls import ffi_layout as w  # noqa: E402
from gpubcast.backends.native_calls.ffi import GPU_CALLS  # noqa: E402
from gpubcast.jax import custom_call  # noqa: E402

FUNCTION, STREAM, CONTEXT = 0x4242, 0x57EA, 0xC0DE
_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7,
    ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
)  # fmt: skip
_CURRENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
_OF_API = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Driver:
    """A driver and an XLA that note what they are given.

    Attributes:
        device: the current one.
        launches: of each launch function, grid, block, stream, and the words of the parameters.
        refusals: the messages of the errors that were made.
        status: what a launch returns.
    """

    def __init__(self, words: int) -> None:
        self.device = self.status = 0
        self.launches: list[tuple[Any, ...]] = []
        self.refusals: list[str] = []

        def launch(function: Any, *given: Any) -> int:
            *sizes, shared, stream, parameters, extra = given
            assert (sizes[1:3], sizes[5], shared, extra) == ([1, 1], 1, 0, None)
            table = struct.unpack(f"<{words}q", ctypes.string_at(parameters[0], 8 * words))
            self.launches.append((function, sizes[0], tuple(sizes[3:5]), stream, table))
            return self.status

        def current(number: Any) -> int:
            number[0] = self.device
            return 0

        def stream_of(given: int) -> None:
            size, _, context, _ = struct.unpack("<4q", ctypes.string_at(given, 32))
            assert (size, context) == (32, CONTEXT)
            ctypes.c_int64.from_address(given + 24).value = STREAM

        def refuse(given: int) -> int:
            text = ctypes.c_char_p.from_address(given + 16).value or b""
            self.refusals.append(text.decode().strip())
            return 0xBAD

        self._held = _LAUNCH(launch), _CURRENT(current), _OF_API(stream_of), _OF_API(refuse)
        self.launch, self.current, self.stream_of, self.refuse = (
            ctypes.cast(one, ctypes.c_void_p).value or 0 for one in self._held
        )

    def called(self, handler: int, key: int, operands: list[int], results: list[int]) -> Any:
        """What the handler returns for a call."""
        held = []

        def at(*values: int) -> int:
            held.append(array("q", values))
            return held[-1].buffer_info()[0]

        def buffers(addresses: list[int]) -> int:
            return at(*(at(48, 0, 11, address, 1, 0) for address in addresses))

        api = [0] * 16
        api[w.API_ERROR_CREATE // 8], api[w.API_STREAM_GET // 8] = self.refuse, self.stream_of
        frame = at(
            168, 0, at(*api), CONTEXT, 3,
            40, 0, len(operands), 0, buffers(operands),
            40, 0, len(results), 0, buffers(results),
            48, 0, 1, 0, 0, at(at(0, at(key))),
        )  # fmt: skip
        return _OF_API(handler)(frame)


@gb.fuse("r c, c -> r c")
def scaled(x: Any, gain: Any) -> Any:
    return x * gain + np.float32(0.125)


@pytest.fixture
def call(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The handler, a key, the launch that it stands for, and the driver."""
    gpu.kernel.ptr = FUNCTION
    monkeypatch.setattr(custom_call, "gpu_devices", lambda: range(2))
    monkeypatch.setattr(custom_call, "_register_handlers", lambda: None)
    plan = scaled.plan("f32[64,4096]", "f32[4096]")
    layouts = (Layout.default(2),)
    launch = prepare(plan.expression, tuple(plan._operands()), None, layouts, ("cuda", 1))
    driver = Driver(len(launch.steps[0].parameters.packed) // 8)
    monkeypatch.setattr(custom_call, "driver_functions", lambda: (driver.launch, driver.current))
    custom_call._registered.cache_clear()
    monkeypatch.setattr(custom_call, "GPU_CALLS", type(GPU_CALLS)("handle_on_gpu"))
    key, *_ = custom_call._registered(plan)
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    yield custom_call.GPU_CALLS.handler(header), key, launch, driver
    custom_call._registered.cache_clear()


@pytest.mark.parametrize("device", [0, 1])
def test_the_plans_kernel_is_launched_in_xlas_stream(call: Any, device: int) -> None:
    handler, key, launch, driver = call
    driver.device = device
    addresses = [1 << 20, 2 << 20, 3 << 20]
    assert driver.called(handler, key, addresses[:2], addresses[2:]) is None
    (step,) = launch.steps
    grid, block = step.schedule.launch_configuration
    assert block[0] != block[1]
    table = struct.unpack(f"<{len(step.parameters.packed) // 8}q", launch.parameters(addresses)[0])
    assert driver.launches == [(FUNCTION, grid, tuple(block), STREAM, table)]
    assert set(addresses) <= set(table)


def test_what_cannot_be_launched_is_xlas_error(call: Any) -> None:
    handler, key, _, driver = call
    assert driver.called(handler, key + 1, [8, 16], [24]) == 0xBAD
    assert driver.called(handler, key, [8], [24]) == 0xBAD
    driver.device = 2
    assert driver.called(handler, key, [8, 16], [24]) == 0xBAD
    assert driver.launches == []
    driver.device, driver.status = 0, 1
    assert driver.called(handler, key, [8, 16], [24]) == 0xBAD
    missing = "this process has no gpubcast call of this key: it was compiled by another one"
    refused = "gpubcast: the GPU has no kernel of this call, or its driver refused the launch"
    assert driver.refusals == [missing, missing, refused, refused]


def test_what_xla_asks_first_is_answered(call: Any) -> None:
    handler, *_ = call
    metadata = array("q", [48, 24, 0, 0, -1, 0])
    extension = array("q", [32, w.METADATA, 0, metadata.buffer_info()[0]])
    frame = array("q", [168, extension.buffer_info()[0], *[0] * 19])
    assert _OF_API(handler)(frame.buffer_info()[0]) is None
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    major, minor = struct.unpack("<ii", metadata.tobytes()[24:32])
    assert f"#define XLA_FFI_API_MAJOR {major}\n" in header
    assert f"#define XLA_FFI_API_MINOR {minor}\n" in header
