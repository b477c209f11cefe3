"""What the NVIDIA driver says about itself, asked through its C library: no CuPy, no toolkit.

Source: the CUDA driver API's documentation (https://docs.nvidia.com/cuda/cuda-driver-api).
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

_NO_DEVICE = 100
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: its name, compute capability (9, 0) and memory in bytes."""

    name: str
    capability: tuple[int, int]
    memory: int

    @property
    def arch(self) -> str:
        """The architecture to compile for, e.g. ``"sm_90"``."""
        return "sm_{}{}".format(*self.capability)


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver of this machine.

    Attributes:
        version: the newest CUDA version it runs, e.g. (13, 0); None where there is no driver.
        gpus: the GPUs this process may use.
        problem: why there are none, in words; "" where there are some.
        broken: whether the problem is a driver that does not work, not a missing one.
    """

    version: tuple[int, int] | None
    gpus: tuple[Gpu, ...]
    problem: str = ""
    broken: bool = False


@functools.cache
def version() -> tuple[int, int] | None:
    """The newest CUDA version that the driver runs, e.g. (13, 0); None where there is no driver.

    The driver is not started by it, so that a child which is forked later may start it.
    """
    try:
        lib = ctypes.CDLL("libcuda.so.1")
        number = ctypes.c_int()
        status = lib.cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None
    return None if status else (number.value // 1000, number.value % 1000 // 10)


def probe() -> Driver:
    """The driver and its GPUs; never raises."""
    try:
        lib = ctypes.CDLL("libcuda.so.1")
        number = ctypes.c_int()
        lib.cuDriverGetVersion(ctypes.byref(number))
        status = lib.cuInit(0)
    except (OSError, AttributeError):
        return Driver(None, (), "there is no NVIDIA driver (libcuda.so.1)")
    version = (number.value // 1000, number.value % 1000 // 10)
    if status == _NO_DEVICE:
        return Driver(version, (), "the NVIDIA driver sees no GPU")
    if status:
        problem = f"the NVIDIA driver does not start (cuInit: error {status})"
        return Driver(version, (), problem, broken=True)
    count = ctypes.c_int()
    lib.cuDeviceGetCount(ctypes.byref(count))
    gpus = tuple(_gpu(lib, index) for index in range(count.value))
    return Driver(version, gpus, "" if gpus else "the NVIDIA driver sees no GPU")


def _gpu(lib: ctypes.CDLL, index: int) -> Gpu:
    device, memory = ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    lib.cuDeviceGet(ctypes.byref(device), index)
    lib.cuDeviceGetName(name, len(name), device)
    lib.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        lib.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        return value.value

    capability = attribute(_CAPABILITY_MAJOR), attribute(_CAPABILITY_MINOR)
    return Gpu(name.value.decode(errors="replace"), capability, memory.value)
