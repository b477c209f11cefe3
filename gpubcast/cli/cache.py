"""``gpubcast cache``: the compiled kernels on disk, listed, made beforehand, and removed."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpubcast import config
from gpubcast.backends import kernel_files
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import Error
from gpubcast.plans import Plan, generated_kernels
from gpubcast.runtime import state
from gpubcast.runtime.prepare import calibrate
from gpubcast.runtime.target import cpu_target, cuda_target, target_architecture


@dataclass(frozen=True, slots=True)
class CachedKernels:
    """The compiled kernels of one device and architecture on disk.

    Attributes:
        device: ``"cuda"`` or ``"cpu"``.
        arch: ``"sm_90"``, or the machine's name.
        files: the kernels.
        num_bytes: what they take on disk.
    """

    device: str
    arch: str
    files: tuple[Path, ...]
    num_bytes: int


def cached(device: str | None = None) -> tuple[CachedKernels, ...]:
    """What is on disk, of one device or of all."""
    kernels = (one for one in kernel_files.entries(config.cache_dir(), device) if one.is_kernel)
    found = []
    for (name, arch), group in itertools.groupby(kernels, key=lambda one: (one.device, one.arch)):
        files = tuple(group)
        paths = tuple(Path(one.path) for one in files)
        found.append(CachedKernels(name, arch, paths, sum(one.num_bytes for one in files)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Removed:
    """What ``clear`` did.

    Attributes:
        kernels: how many it removed.
        num_bytes: what they took on disk.
        left: paths in the folders of kernels that are not gpubcast's, and were left alone.
    """

    kernels: int
    num_bytes: int
    left: tuple[str, ...]


def clear(device: str | None = None) -> Removed:
    """Remove the kernels of a device or of all, locks and unfinished files beside them, and folders
    that are empty then.

    Only files with the form of our names are removed, in folders that have it, too, and never
    through a symbolic link.

    Raises:
        Error: a file could not be removed.
    """
    count, size = 0, 0
    for one in kernel_files.entries(config.cache_dir(), device):
        try:
            os.unlink(one.path)
        except FileNotFoundError:
            continue  # another process was first
        except OSError as error:
            raise Error(f"{one.path} cannot be removed: {error.strerror}") from error
        if one.is_kernel:
            count, size = count + 1, size + one.num_bytes
    kernel_files.remove_empty_folders(config.cache_dir(), device)
    return Removed(count, size, tuple(kernel_files.others(config.cache_dir(), device)))


@dataclass(frozen=True, slots=True)
class Warmed:
    """A kernel that is in the cache now.

    Attributes:
        number, total: which it is, of how many.
        name: what it computes, of which operands.
        arch: what it was made for.
        seconds: what that took.
    """

    number: int
    total: int
    name: str
    arch: str
    seconds: float


def warm(plans: Sequence[Plan], archs: Sequence[str], cpu: bool) -> Iterator[Warmed]:
    """Compile the kernels of plans into the cache, each once: those that launches load; no GPU is
    needed.

    Where kernels of this processor stream, it is measured from how many bytes on that pays, as
    their first launch would do.

    Args:
        plans: what is to be ready, for aligned operands in the planned layouts.
        archs: GPU architectures.
        cpu: whether this processor's kernels are made, too.

    Raises:
        CompileError: the compiler refused a kernel, or is missing.
    """
    made: dict[tuple[str, str], tuple[str, Callable[[], object]]] = {}
    for plan in plans:
        shapes = ", ".join(shape.text() for shape in plan.shapes)
        for arch in archs:
            for _, source in generated_kernels(plan, cuda_target(arch)):
                stored = functools.partial(_compile_cuda, source, arch)
                made.setdefault((arch, source.key), (f"{plan.name} {shapes}", stored))
        if cpu:
            host = state.backend("cpu")
            for chosen, _ in generated_kernels(plan, cpu_target()):
                calibrate(host, chosen)
            found = cpu_target()
            for _, source in generated_kernels(plan, found):
                loaded = functools.partial(host.load, source)
                key = target_architecture(found), source.key
                made.setdefault(key, (f"{plan.name} {shapes}", loaded))
    for number, ((arch, _), (name, compiled)) in enumerate(made.items(), 1):
        began = time.perf_counter()
        compiled()
        yield Warmed(number, len(made), name, arch, time.perf_counter() - began)


def _compile_cuda(source: KernelSource, arch: str) -> None:
    from gpubcast.backends.cuda import cubins, nvrtc

    cubins.cubin(source.text, arch, nvrtc.options_of(source))
