"""How users of numba write the cases: as ufuncs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from ..cases import Sized
from ..timing import LONG_CALL, Call
from .base import Library, Ready, Views, with_out


class Numba(Library):
    """``numba.vectorize`` with one signature.

    Where every operand is a scalar or has the result's shape, for one thread or for all, whichever
    is faster in a trial; otherwise for one: the parallel target starts anew for every row of a
    broadcast operand.
    """

    name = module = "numba"
    compiles = True
    effort = 1

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, tuple[str, ...]], list[Any]] = {}

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.reduced:
            return "ufuncs that it compiles do not reduce"
        if sized.case.computes.moves:
            return "a ufunc's results have the operands' dimensions"
        return "it has no bf16" if sized.dtype == "bf16" else None

    def ready(self, sized: Sized) -> Ready:
        result = (sized.output.dimensions, sized.output.layout)
        rows = any(x.rank and (x.dimensions, x.layout) != result for x in sized.shapes)
        targets = ("cpu",) if rows else ("cpu", "parallel")
        # What is compiled serves every size; a first call has nothing here yet.
        known = (sized.case.name, sized.dtype, targets)
        if known not in self._made:
            self._made[known] = self._compiled(sized, targets)
        ufuncs = list(self._made[known])

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(views)
            if len(ufuncs) > 1:
                ufuncs[:] = [min(ufuncs, key=lambda ufunc: _trial(ufunc, (*aligned, out)))]
            return with_out(sized, ufuncs[0], ufuncs[0], aligned, out)

        return calls

    def _compiled(self, sized: Sized, targets: tuple[str, ...]) -> list[Any]:
        numba = self.library
        where = numba.njit(lambda mask, x, y: x if mask else y)
        names = {"where": where, "tanh": math.tanh, "exp": math.exp}
        dtype: Any = sized.output.element_type.dtype
        formula = sized.case.computes.function(names, dtype.type)
        kinds = [numba.from_dtype(shape.element_type.dtype) for shape in sized.shapes]
        signature = numba.from_dtype(dtype)(*kinds)
        return [numba.vectorize([signature], target=target)(formula) for target in targets]


def _trial(function: Callable[..., Any], given: Views) -> float:
    """Seconds of the best of three calls; one that is long is enough."""
    taken: list[float] = []
    while len(taken) < 3 and sum(taken) < LONG_CALL:
        began = time.perf_counter()
        function(*given)
        taken.append(time.perf_counter() - began)
    return min(taken)
