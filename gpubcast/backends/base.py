"""The protocol of a backend: allocate memory, load a kernel, launch it.

The runtime speaks to every device through it: NumPy memory and numba on the CPU, CuPy on a GPU,
and in the tests an emulator that runs the unchanged CUDA source with g++.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gpubcast.codegen.source import KernelSource
from gpubcast.schedules.schedule import Target


@dataclass(frozen=True, slots=True, eq=False)
class Driven:
    """A kernel that a Python function launches: ``function(grid, block, arguments)``.

    Attributes:
        function, grid, block: what is called, and with what.
        lanes: parameter tables, each with the arguments that hold it.
        process, device: where it may be called: a process, and the number of its current device.
        current_device: says the latter.
        scratch: makes so many bytes of memory for temporaries on that device, and raises while a
            graph is captured.
        specimens: arrays of such a device, which show how they are built.
    """

    function: Callable[..., Any]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    lanes: Sequence[tuple[bytearray, tuple[Any, ...]]]
    process: int
    device: int
    current_device: Callable[[], int]
    scratch: Callable[[int], Any]
    specimens: tuple[Any, ...]


class Backend(Protocol):
    """One device type.

    Buffers are opaque to the runtime: flat memory that the backend allocated, or the memory behind
    an array the user passed.
    """

    device_type: str
    """``"cpu"`` or ``"cuda"``."""

    def on(self, index: int) -> AbstractContextManager[Any]:
        """Makes device number ``index`` the current one for a while."""

    def target(self) -> Target:
        """The current device as the scheduler sees it."""

    def allocate(self, num_bytes: int) -> Any:
        """A flat uint8 array on the device, at least 64-byte aligned, contents unspecified."""

    def from_host(self, data: np.ndarray[Any, Any]) -> Any:
        """A new flat uint8 array on the device with the bytes of a C-contiguous host array."""

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """A new NumPy array with the values of a device array of this backend, whichever device is
        current: on a GPU a copy of all bytes from its first element to its last.

        Raises:
            DeviceError: the copy failed, or a graph is being captured.
        """

    def view(
        self, buffer: Any, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Any:  # fmt: skip
        """The strided array over a flat buffer; ``offset`` and ``strides`` in bytes."""

    def empty(
        self, num_bytes: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Any:  # fmt: skip
        """A new strided array over a buffer of its own, as cheaply as can be."""

    def adopt(self, array: Any, *, written: bool = False) -> tuple[Any, int]:
        """A foreign array of this device type (DLPack or ``__cuda_array_interface__``) as an
        array of the backend over the same memory, and the index of its device. Where it may be
        ``written``, its ``flags.writeable`` is False for memory that may not be."""

    def address(self, array: Any) -> int:
        """Address of an array's first element."""

    def load(self, source: KernelSource) -> Any:
        """Compile (or fetch from a cache) and load a kernel; the handle goes to ``launch``.

        Raises:
            CompileError: the compiler refused the source.
        """

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        """Start a kernel: ``grid`` blocks along x, and the packed parameter struct by value."""

    def bound(
        self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray, index: int
    ) -> Callable[[], object] | None:
        """A function that launches just that on device number ``index``, as cheaply as can be; the
        parameters stay where they are as long as it is used. None where ``launch`` is it."""

    def driven(
        self, kernel: Any, grid: int, block: tuple[int, int], template: bytes, index: int,
        lanes: int,
    ) -> Driven | None:  # fmt: skip
        """The same for machine code that fills ``lanes`` copies of the parameters in; None where
        it needs no Python for it, or cannot."""

    def capturing(self, index: int) -> bool:
        """Whether the current stream of device number ``index`` records a graph, so that no memory
        may be allocated and no module loaded."""

    def synchronize(self) -> None:
        """Wait for all launches on the current stream."""
