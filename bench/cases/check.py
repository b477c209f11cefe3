"""Whether a result is right, found out before it is timed.

A result is compared with NumPy's (on a GPU with CuPy's, for what is large) over all its elements.
Where that would take too much memory, 1,000 sampled elements are compared with an oracle: index
loops that read the operands one element at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .case import Sized
from .operands import bits

SAMPLED = 1000
_BLOCK = 1 << 15


def namespace(xp: Any) -> dict[str, Any]:
    """The functions that formulas and steps name, of NumPy or CuPy."""
    names = ("add", "subtract", "multiply", "tanh", "exp", "where", "copyto", "invert")
    return {name: getattr(xp, name) for name in names}


def constant(sized: Sized) -> Callable[[float], Any] | None:
    """What makes a constant of a number: bf16 beside a Python number would become f32."""
    dtype: Any = sized.output.element_type.dtype
    return dtype.type if sized.dtype == "bf16" else None


def expected(sized: Sized, xp: Any, views: tuple[Any, ...]) -> Any:
    """The result by the functions of NumPy or CuPy."""
    function = sized.case.computes.function(namespace(xp), constant(sized))
    result = function(*sized.aligned(views))
    return xp.ascontiguousarray(xp.broadcast_to(result, sized.output.dimensions))


def oracle(sized: Sized, views: tuple[Any, ...], indices: list[tuple[int, ...]]) -> list[Any]:
    """The elements of the result at some indices, by the formula on single elements."""
    function = sized.case.computes.function(namespace(np), constant(sized))

    def element(view: Any, place: tuple[int | None, ...], index: tuple[int, ...]) -> Any:
        found = view[tuple(0 if axis is None else index[axis] for axis in place)]
        return found.get()[()] if hasattr(found, "get") else found

    placed = list(zip(views, sized.placements(), strict=True))
    with np.errstate(over="ignore"):  # integers wrap
        return [function(*(element(*one, index) for one in placed)) for index in indices]


class Reference:
    """What a case's result has to be."""

    def __init__(
        self, sized: Sized, xp: Any, views: tuple[Any, ...], seed: int = 0, *, sample: bool = False
    ) -> None:
        self._sized = sized
        self._xp = xp
        self._dimensions = sized.output.dimensions
        self._indices: list[tuple[int, ...]] = []
        if not sample:
            self.against = "NumPy, all elements" if xp is np else "CuPy, all elements"
            self._wanted = expected(sized, xp, views)
            return
        generator = np.random.default_rng(seed)
        drawn = [generator.integers(0, n, SAMPLED - 2) for n in self._dimensions]
        last = tuple(n - 1 for n in self._dimensions)
        # The corners too, where indices that are too narrow go wrong first.
        self._indices = [(0,) * len(last), last, *zip(*(d.tolist() for d in drawn), strict=True)]
        self.against = f"oracle, {len(self._indices)} indices"
        dtype = sized.output.element_type.dtype
        self._wanted = np.array(oracle(sized, views, self._indices), dtype)

    def problem(self, found: Any) -> str | None:
        """What is wrong with a result, an array of ``xp``; None where nothing is."""
        wanted_type = self._sized.output.element_type.dtype
        if tuple(found.shape) != self._dimensions or found.dtype != wanted_type:
            return (
                f"{found.dtype}{list(found.shape)} instead of {wanted_type}{list(self._dimensions)}"
            )
        if self._indices:
            picked = found[tuple(zip(*self._indices, strict=True))]
            found = picked.get() if hasattr(picked, "get") else picked
        if self._close(found):
            return None
        wrong = self._differing(found, self._wanted)
        count = int(wrong.sum())
        if not count:
            return None
        first = int(wrong.reshape(-1).argmax())
        where: Any = tuple(map(int, np.unravel_index(first, wrong.shape)))
        at = self._indices[first] if self._indices else where
        return (
            f"{count} of {wrong.size} elements differ from {self.against.partition(',')[0]}; "
            f"at {at}: {found[where]} instead of {self._wanted[where]}"
        )

    def _close(self, found: Any) -> bool:
        """Whether all is right within the units allowed, block by block in the cache."""
        both = (found, self._wanted)
        compact = all(isinstance(x, np.ndarray) and x.flags.c_contiguous for x in both)
        if not self._sized.case.ulps or not compact:
            return False
        flat = [x.reshape(-1) for x in both]
        blocks = (slice(k, k + _BLOCK) for k in range(0, found.size, _BLOCK))
        return not any(self._differing(*(x[block] for x in flat)).any() for block in blocks)

    def _differing(self, found: Any, wanted: Any) -> Any:
        if not self._sized.case.ulps:
            return bits(found) != bits(wanted)
        xp = np if isinstance(found, np.ndarray) else self._xp
        allowed = self._sized.case.ulps * float(ml_dtypes.finfo(found.dtype).eps)
        wide = xp.float64 if found.dtype == xp.float64 else xp.float32
        expected = wanted.astype(wide, copy=False)
        off = xp.abs(found.astype(wide, copy=False) - expected)
        # A NaN is never close enough.
        return ~(off <= allowed * xp.maximum(xp.abs(expected), wide(1)))
