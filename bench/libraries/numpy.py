"""How users of NumPy and of CuPy write the cases, operation by operation and fused."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ..cases import Sized, check
from ..timing import Call
from .base import Library, Ready, Views, direct_call


class NumPy(Library):
    """NumPy, one ufunc after the other; in place where ``out`` is given."""

    name = module = "NumPy"
    xp = "numpy"

    def set_up(self, kind: str, threads: int) -> None:
        importlib.import_module(self.xp)

    def entries_of(self, sized: Sized) -> tuple[str, ...]:
        # ``where`` is the only one without out=.
        return ("call",) if direct_call(sized) == "where" else self.entries

    def ready(self, sized: Sized) -> Ready:
        xp = importlib.import_module(self.xp)
        names, constant = check.namespace(xp), check.constant(sized)
        formula, direct = sized.case.computes, direct_call(sized)
        function = formula.function(names, constant)
        in_place = formula.in_place(sized.case.steps, names, constant)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(views)
            if formula.moves:
                source = xp.broadcast_to(aligned[0], out.shape)
                return {
                    "call": source.copy,
                    "out": functools.partial(_first, xp.copyto, out, source),
                }
            if direct == "where":
                return {"call": functools.partial(xp.where, *aligned)}
            if direct is not None:
                return {
                    "call": functools.partial(names[direct], *aligned),
                    "out": functools.partial(names[direct], *aligned, out=out),
                }
            return {
                "call": functools.partial(function, *aligned),
                "out": functools.partial(in_place, *aligned, out),
            }

        return calls


def _first(function: Callable[..., Any], target: Any, source: Any) -> Any:
    function(target, source)
    return target


class CuPy(NumPy):
    """CuPy, one kernel after the other."""

    name = module = "CuPy"
    devices = ("cuda",)
    xp = "cupy"

    def release(self) -> None:
        importlib.import_module("cupy").get_default_memory_pool().free_all_blocks()


class CupyFuse(Library):
    """``cupy.fuse``: a chain as one kernel."""

    name = "cupy.fuse"
    module = "cupy"
    devices = ("cuda",)
    entries = ("call",)
    compiles = True
    effort = 1

    def unsupported(self, sized: Sized) -> str | None:
        return "there is nothing to fuse in a copy" if sized.case.computes.moves else None

    def ready(self, sized: Sized) -> Ready:
        cupy: Any = importlib.import_module("cupy")
        names = check.namespace(cupy)
        fused = cupy.fuse(sized.case.computes.function(names, check.constant(sized)))
        return lambda views, out: {"call": functools.partial(fused, *sized.aligned(views))}
