"""Many calls through one emulator compilation.

g++ takes half a second for a unit whatever is in it, so the calls are first run on a backend that
only collects their kernels; these are compiled together, then the calls run for real.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpubcast.codegen.source import KernelSource
from gpubcast.runtime import state
from tests.support.emulator.backend import EmulatorBackend

UNIT = 30


class Collector(EmulatorBackend):
    """An emulator that compiles and runs nothing; its kernels' sources are kept."""

    def __init__(self, folder: Path, multiprocessors: int, arch: str = "sm_90") -> None:
        super().__init__(folder, multiprocessors=multiprocessors, arch=arch)
        self.sources: list[KernelSource] = []

    def load(self, source: KernelSource) -> Any:
        self.sources.append(source)
        return None

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        """Nothing runs; results are poison."""


def run(emulator: EmulatorBackend, calls: Callable[[], None], rehearsal: Callable[[], None]) -> int:
    """Run ``calls`` on the emulator after compiling, in few units, what ``rehearsal`` needs.

    Returns:
        The number of kernels.
    """
    collector = Collector(emulator.folder, emulator.multiprocessors, emulator.arch)
    with state.use_backend(collector):
        rehearsal()
    for first in range(0, len(collector.sources), UNIT):
        emulator.load_many(collector.sources[first : first + UNIT])
    with state.use_backend(emulator):
        calls()
    emulator.check_canaries()
    return len(collector.sources)
