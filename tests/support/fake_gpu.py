"""CuPy without a driver: arrays over host memory, a driver that copies, kernels that do nothing.

What a call costs the host is the same then, but for what is missing: the driver, and CuPy's own
function that hands a launch to it. No element is ever read or written. Run as a program
(``python -m tests.support.fake_gpu``) it prints what calls cost then.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bench.measure import latency
from gpubcast.backends.dlpack_capsule import described
from gpubcast.runtime import state
from gpubcast.schedules.schedule import CudaTarget

BYTES = 1 << 20


def _nothing(*given: Any) -> None:
    """A kernel that does nothing."""


class Pointer:
    """What hands a parameter table to a kernel: here it can be read again."""

    def __init__(self, at: int) -> None:
        self.at = at


class NotingKernel:
    """Stands for every kernel: notes on which device it is launched, and the first two words of its
    parameters; raises what it is told to."""

    def __init__(self) -> None:
        self.driver: Any = None
        self.noted: list[tuple[int, tuple[int, ...]]] = []
        self.fails: Exception | None = None

    def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
        if self.fails is not None:
            raise self.fails
        words = np.frombuffer(ctypes.string_at(arguments[0].at, 16), np.uint64)
        self.noted.append((self.driver.device, tuple(words.tolist())))


def aligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy at an address where an array of a GPU begins."""
    raw = np.empty(values.nbytes + 512, np.uint8)
    start = -raw.ctypes.data % 512
    found = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


class Stream:
    """A stream of one device: what is waited for has been done.

    Attributes:
        ptr: its handle.
        captures: whether it records a graph.
    """

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr
        self.captures = False

    def is_capturing(self) -> bool:
        return self.captures

    def synchronize(self) -> None:
        """Everything is synchronous."""


class Copy(NamedTuple):
    """A copy that the driver was asked for: which way, how many bytes, and in which stream while
    which device was current."""

    way: str
    num_bytes: int
    stream: int
    device: int


class Driver:
    """What the driver does for CuPy, done in this process: memory is the host's.

    Attributes:
        device: the current one.
        devices: how many there are.
        streams: of each device, the current stream.
        copies: those between host and devices, in order.
        fails: raised by the next question to the driver.
    """

    memcpyHostToDevice, memcpyDeviceToHost = 1, 2

    def __init__(self, devices: int, failure: type[Exception]) -> None:
        self.device = 0
        self.devices = devices
        self.streams = [Stream(16 + number) for number in range(devices)]
        self.copies: list[Copy] = []
        self.fails: Exception | None = None
        self.CUDARuntimeError = failure
        # One GPU is asked for its number as cheaply as can be, for the counts of instructions.
        self.getDevice = int if devices == 1 else self._current

    def _current(self) -> int:
        self._may_fail()
        return self.device

    def _may_fail(self) -> None:
        failure, self.fails = self.fails, None
        if failure is not None:
            raise failure

    def getDeviceCount(self) -> int:
        self._may_fail()
        return self.devices

    def get_current_stream(self) -> Stream:
        return self.streams[self.device]

    def memcpyAsync(self, to: int, of: int, size: int, way: int, stream: int) -> None:
        self._may_fail()
        assert not self.streams[self.device].captures, "the capture would be lost"
        name = {1: "to device", 2: "to host"}[way]
        self.copies.append(Copy(name, size, stream, self.device))
        ctypes.memmove(to, of, size)


@contextlib.contextmanager
def driver(devices: int = 1) -> Iterator[Driver]:
    """CuPy and the backend speak to this driver for a while."""
    import cupy

    from gpubcast.backends.cuda import backend

    made = Driver(devices, backend._runtime.CUDARuntimeError)

    class Device:
        """Makes a device the current one for a while."""

        def __init__(self, index: int) -> None:
            self.index, self.before = index, 0

        def __enter__(self) -> None:
            self.before, made.device = made.device, self.index

        def __exit__(self, *_: object) -> None:
            made.device = self.before

    class ExternalStream(Stream):
        """Makes another library's stream of a device the current one for a while."""

        def __init__(self, ptr: int, device: int) -> None:
            super().__init__(ptr)
            self.device = device

        def __enter__(self) -> None:
            self.before = made.streams[self.device]
            made.streams[self.device] = self

        def __exit__(self, *_: object) -> None:
            made.streams[self.device] = self.before

    def asarray(x: Any) -> Any:
        """From the host, or from ``__cuda_array_interface__``."""
        if not isinstance(x, np.ndarray):
            interface = x.__cuda_array_interface__
            dtype = np.dtype(interface["typestr"])
            return _over(interface["data"][0], x, interface["shape"], dtype, made.device)
        if made.get_current_stream().captures:
            raise RuntimeError("the current stream is capturing, so H2D transfers are disallowed")
        target = cupy.empty(x.shape, x.dtype)
        made.memcpyAsync(target.data.ptr, x.ctypes.data, x.nbytes, 1, made.get_current_stream().ptr)
        return target

    def from_dlpack(x: Any) -> Any:
        device = x.__dlpack_device__()[1]
        capsule = x.__dlpack__(stream=made.streams[device].ptr, max_version=(1, 0), copy=None)
        found = described(capsule)
        assert found is not None
        tensor = found.tensor
        dtype = np.dtype(f"{'iufV'[tensor.code]}{tensor.bits // 8}")
        return _over(tensor.data or 0, capsule, tuple(tensor.shape[: tensor.ndim]), dtype, device)

    def _over(at: int, owner: Any, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
        size = max(int(np.prod(shape)) * dtype.itemsize, 1)
        memory = cupy.cuda.UnownedMemory(at, size, owner, device)
        return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))

    changed = (
        (backend, "_runtime", made), (cupy.cuda, "Device", Device), (cupy, "asarray", asarray),
        (cupy.cuda, "get_current_stream", made.get_current_stream),
        (cupy, "from_dlpack", from_dlpack), (cupy.cuda, "ExternalStream", ExternalStream),
    )  # fmt: skip
    before = [getattr(owner, name) for owner, name, _ in changed]
    try:
        for owner, name, value in changed:
            setattr(owner, name, value)
        yield made
    finally:
        for (owner, name, _), value in zip(changed, before, strict=True):
            setattr(owner, name, value)


@contextlib.contextmanager
def gpu(kernel: Callable[..., object] = _nothing, *, devices: int = 1) -> Iterator[SimpleNamespace]:
    """A GPU that only the host part of a call sees.

    Args:
        kernel: stands for every kernel; called with grid, block and arguments.
        devices: how many GPUs there seem to be.

    Yields:
        ``array(shape, dtype)``, which makes an array on the current device;
        ``put(values, device)``, which copies one to a device; ``driver``; ``loaded``, the sources
        of the kernels.
    """
    import cupy

    from gpubcast.backends.cuda import backend

    memory = cupy.cuda.memory
    raw = np.zeros(BYTES + 512, np.uint8)
    base = raw.ctypes.data + -raw.ctypes.data % 512

    class FakeBackend(backend.CupyBackend):
        """Kernels are not loaded."""

        def load(self, source: Any) -> Any:
            found.loaded.append(source)
            return kernel

    with driver(devices) as fake:
        found = SimpleNamespace(driver=fake, used=0, loaded=[])

        def allocate(size: int) -> Any:
            """Memory in a ring: old arrays are overwritten by new ones, which nobody reads."""
            size = max(-(-size // 512) * 512, 512)
            if found.used + size > BYTES:
                found.used = 0
            block = memory.UnownedMemory(base + found.used, size, raw, fake.device)
            found.used += size
            return memory.MemoryPointer(block, 0)

        def array(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            return cupy.ndarray(shape, dtype, allocate(size))

        def put(values: np.ndarray[Any, Any], device: int = 1) -> Any:
            """A row-major copy of some values on a device."""
            before, fake.device = fake.device, device
            made = array(values.shape, values.dtype)
            fake.device = before
            packed = np.ascontiguousarray(values)
            ctypes.memmove(made.data.ptr, packed.ctypes.data, packed.nbytes)
            return made

        found.array, found.put = array, put
        before = backend._target, cupy.cuda.get_allocator()
        backend._target = lambda device: CudaTarget("sm_90", 132)
        cupy.cuda.set_allocator(allocate)
        try:
            with state.use_backend(FakeBackend()):
                yield found
        finally:
            state.clear()
            backend._target = before[0]
            cupy.cuda.set_allocator(before[1])


def main() -> None:
    """Print what calls cost without a driver and without CuPy's own launch function."""
    with gpu() as stand_in:
        arrays = [stand_in.array(latency.SHAPE) for _ in range(3)]
        for found in latency.call_costs(latency.our_calls(*arrays)):
            print(f"{found.measured:7.3f} us  {found.name}")


if __name__ == "__main__":
    main()
