"""How users of KeOps write the cases: sums over pairs of points, of which none is stored."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..cases import Sized
from ..timing import Call
from .base import Library, Ready, Views


class KeOps(Library):
    """KeOps: a formula of symbolic pairs is compiled, and reduced on all threads."""

    name = "KeOps"
    module = "pykeops"
    entries = ("call",)
    compiles = True
    effort = 2

    def set_up(self, kind: str, threads: int) -> None:
        """It has as many threads as OpenMP, which is told before it is loaded."""
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))
        pykeops = self.library
        pykeops.set_verbose(False)

    def unsupported(self, sized: Sized) -> str | None:
        return None if sized.case.name in _FORMULAS else "it reduces pairs of points alone"

    def ready(self, sized: Sized) -> Ready:
        lazy: Any = importlib.import_module("pykeops.numpy").LazyTensor
        formula = _FORMULAS[sized.case.name]

        def calls(views: Views, out: Any) -> dict[str, Call]:
            compact = [np.ascontiguousarray(x) for x in views]
            return {"call": lambda: formula(lazy, *compact).reshape(out.shape)}

        return calls


def _kernel_sum(lazy: Callable[[Any], Any], x: Any, y: Any, b: Any) -> Any:
    squared = ((lazy(x[:, None, :]) - lazy(y[None, :, :])) ** 2).sum(-1)
    return ((-0.5 * squared).exp() * lazy(b[None, :, None])).sum(1)


_FORMULAS: Mapping[str, Callable[..., Any]] = {"RBF sum": _kernel_sum}
