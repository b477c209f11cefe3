"""Source text and launch parameters from (plan, schedule). Imports neither CuPy nor numba."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from gpubcast.backends.base import KernelSource
from gpubcast.families import CudaTarget, Schedule, Target
from gpubcast.planning import BroadcastPlan


class Generator(Protocol):
    """What the module of a kind of device has."""

    def generate(self, plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
        """The complete source of one kernel."""

    def parameters(self, plan: BroadcastPlan, schedule: Schedule) -> bytes:
        """The packed launch parameters, with empty slots."""


def generator(target: Target) -> Generator:
    """The module that writes kernels for a target, loaded on first use."""
    kind = "cuda" if isinstance(target, CudaTarget) else "cpu"
    module: Generator = import_module(f"gpubcast.codegen.{kind}")
    return module
