"""Which target is meant: the one that a launch would be scheduled for at this moment.

The launch itself, pictures and sources of a plan, and kernels that are compiled beforehand all ask
here. Nothing is launched or measured, and no GPU is touched that this process does not use already.
"""

from __future__ import annotations

import platform
import re
from typing import cast

from gpubcast.errors import DeviceError, Error, brief, plain_text
from gpubcast.runtime.state import STATE, backend
from gpubcast.schedules.schedule import CpuTarget, CudaTarget, Target

# Multiprocessors of a GPU that is only named: an H100's or H200's. They decide how many blocks a
# launch has, and enter no kernel.
NOMINAL_MULTIPROCESSORS = 132


def checked_arch(arch: object) -> str:
    """The name of a GPU architecture.

    Raises:
        Error: it is none.
    """
    plain = plain_text(arch)
    if plain is not None and re.fullmatch(r"sm_[0-9]{2,3}[af]?", plain):
        return plain
    raise Error(
        f"no GPU architecture {brief(arch)}; expected a name such as 'sm_90'",
        rule="T0",
        kind="gpubcast:architecture",
    )


def cpu_target() -> CpuTarget:
    """This processor, with as many threads as are allowed now, and the least footprint that is
    streamed: what ``GPUBCAST_STREAMING`` says, else what was measured, else the default."""
    return cast(CpuTarget, backend("cpu").target())


def cuda_target(arch: str) -> CudaTarget:
    """A GPU of an architecture: the current one, where this process uses such a GPU, else one with
    ``NOMINAL_MULTIPROCESSORS``.

    Raises:
        Error: ``arch`` is not the name of an architecture.
    """
    wanted = CudaTarget(checked_arch(arch), NOMINAL_MULTIPROCESSORS)
    used = STATE.backends.get("cuda")
    if used is None:
        return wanted
    try:
        found = cast(CudaTarget, used.target())
    except DeviceError:  # a forked child cannot ask
        return wanted
    return found if found.arch == arch else wanted


def target(arch: str | None) -> Target:
    """A GPU of an architecture, or (None) this processor.

    Raises:
        Error: ``arch`` is not the name of an architecture.
    """
    return cpu_target() if arch is None else cuda_target(arch)


def target_architecture(target: Target) -> str:
    """What machine code is for: ``"sm_90"``, or the machine's name."""
    return target.arch if isinstance(target, CudaTarget) else platform.machine()
