"""``gpubcast cache``: the compiled kernels on disk, listed, made beforehand, and removed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpubcast import config
from gpubcast.backends.kernel_store import LOCK, PARTIAL
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import Error
from gpubcast.plans import Plan, generated_kernels
from gpubcast.runtime import state
from gpubcast.runtime.prepare import calibrate
from gpubcast.runtime.target import cpu_target, cuda_target, target_architecture

# Folder and suffix of each device's files.
FOLDERS = {"cuda": ("cubin", "cubin"), "cpu": ("cpu", "o")}


@dataclass(frozen=True, slots=True)
class CachedKernels:
    """The compiled kernels of one device and architecture on disk.

    Attributes:
        device: ``"cuda"`` or ``"cpu"``.
        arch: ``"sm_90"``, or the machine's name.
        files: the kernels.
    """

    device: str
    arch: str
    files: tuple[Path, ...]

    @property
    def num_bytes(self) -> int:
        """Bytes on disk."""
        return sum(map(_size, self.files))


def cached(device: str | None = None) -> tuple[CachedKernels, ...]:
    """What is on disk, of one device or of all."""
    found = []
    for name, place in _places(device):
        files = tuple(sorted(place.rglob(f"*.{FOLDERS[name][1]}")))
        if files:
            found.append(CachedKernels(name, place.name, files))
    return tuple(found)


def clear(device: str | None = None) -> tuple[int, int]:
    """Remove the kernels of a device or of all, and locks and unfinished files beside them.

    Returns:
        How many kernels, and their bytes.

    Raises:
        Error: a file could not be removed.
    """
    everything = cached(device)
    count = sum(len(one.files) for one in everything)
    size = sum(one.num_bytes for one in everything)
    for name, place in _places(device):
        for path in place.rglob("*"):
            if path.name.endswith((f".{FOLDERS[name][1]}", LOCK, PARTIAL)):
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise Error(f"{path} cannot be removed: {error.strerror}") from error
    return count, size


def _places(device: str | None) -> Iterator[tuple[str, Path]]:
    """Each device and folder of an architecture that there is."""
    for name, (folder, _) in FOLDERS.items():
        if device in (None, name):
            for place in sorted(Path(config.cache_dir(), folder).glob("*")):
                if place.is_dir():
                    yield name, place


def _size(path: Path) -> int:
    """Bytes of a file; none where another process removes it meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def warm(plans: Sequence[Plan], archs: Sequence[str], cpu: bool) -> Iterator[tuple[str, float]]:
    """Compile the kernels of plans into the cache: those that launches load; no GPU is needed.

    Where kernels of this processor stream, it is measured from how many bytes on that pays, as
    their first launch would do.

    Args:
        plans: what is to be ready, for aligned operands in the planned layouts.
        archs: GPU architectures.
        cpu: whether this processor's kernels are made, too.

    Yields:
        For each kernel where it was made for, and the seconds that took.

    Raises:
        CompileError: the compiler refused a kernel, or is missing.
    """
    for plan in plans:
        for arch in archs:
            for _, source in generated_kernels(plan, cuda_target(arch)):
                yield arch, _timed(_compile_cuda, source, arch)
        if cpu:
            host = state.backend("cpu")
            for chosen, _ in generated_kernels(plan, cpu_target()):
                calibrate(host, chosen)
            found = cpu_target()
            for _, source in generated_kernels(plan, found):
                yield target_architecture(found), _timed(host.load, source)


def _compile_cuda(source: KernelSource, arch: str) -> None:
    from gpubcast.backends.cuda import cubins, nvrtc

    cubins.cubin_path(source.text, arch, nvrtc.options_of(source))


def _timed(function: Any, *arguments: Any) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began
