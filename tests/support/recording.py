"""Backends that compile and launch nothing, and write down what they were asked to."""

from __future__ import annotations

from collections.abc import Callable

from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.codegen.source import KernelSource
from gpubcast.schedules.schedule import CudaTarget, Target


class Recorder(CpuBackend):
    """This processor.

    Attributes:
        loaded: the kernels that were asked for.
        launched: those that were started, with grid and block.
    """

    def __init__(self, streaming_bytes: int | None = None) -> None:
        super().__init__(streaming_bytes)
        self.loaded: list[KernelSource] = []
        self.launched: list[tuple[KernelSource, int, tuple[int, int]]] = []

    def load(self, source: KernelSource) -> KernelSource:
        self.loaded.append(source)
        return source

    def launch(
        self, kernel: KernelSource, grid: int, block: tuple[int, int], parameters: bytearray
    ) -> None:
        self.launched.append((kernel, grid, block))

    def bound(
        self,
        kernel: KernelSource,
        grid: int,
        block: tuple[int, int],
        parameters: bytearray,
        index: int,
    ) -> Callable[[], object]:
        return lambda: self.launch(kernel, grid, block, parameters)


class CudaRecorder(Recorder):
    """A GPU that keeps its arrays in host memory."""

    device_type = "cuda"

    def __init__(self, arch: str, multiprocessors: int) -> None:
        super().__init__()
        self.gpu = CudaTarget(arch, multiprocessors)

    def target(self) -> Target:  # type: ignore[override]
        return self.gpu
