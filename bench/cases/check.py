"""Whether a result is right, found out before it is timed.

A result is compared with NumPy's (on a GPU with CuPy's, for what is large) over all its elements.
Where that would take too much memory, 1,000 sampled elements are compared with an oracle: index
loops that read the operands one element at a time.

Where floats are reduced, NumPy computes in f64. A sum has to lie within the error that the law of
sums states (``docs/rules.md``); one of another library, which adds in an order of its own, within
what is usual for any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .case import Sized
from .formula import REDUCTIONS
from .operands import bits

SAMPLED = 1000
_BLOCK = 1 << 15
_CHUNK, _ADDITIONS = 512, 10


def namespace(xp: Any, sized: Sized) -> dict[str, Any]:
    """The functions that formulas and steps name, of NumPy or CuPy."""
    names = ("add", "subtract", "multiply", "divide", "tanh", "exp", "log", "sqrt", "where")
    found = {name: getattr(xp, name) for name in (*names, "copyto", "invert")}
    for name in REDUCTIONS:
        given = sum_type(sized) if name == "sum" else {}
        found[name] = sized.by_label(getattr(xp, name), keepdims=True, **given)
    return found


def constant(sized: Sized) -> Callable[[float], Any] | None:
    """What makes a constant of a number: bf16 beside a Python number would become f32."""
    dtype: Any = sized.output.element_type.dtype
    return dtype.type if sized.dtype == "bf16" else None


def sum_type(sized: Sized) -> dict[str, Any]:
    """The keyword of a sum without which NumPy, and what is like it, adds narrow integers in a wide
    type."""
    given = sized.output.element_type
    return {"dtype": given.dtype} if given.is_integral else {}


def expected(sized: Sized, xp: Any, views: tuple[Any, ...]) -> Any:
    """The result by the functions of NumPy or CuPy."""
    function = sized.case.computes.function(namespace(xp, sized), constant(sized))
    wide = _wide(sized, views) if sized.case.computes.reduced else views
    result = sized.closed(function(*sized.aligned(wide)))
    if not sized.case.computes.reduced:
        # Where a library lacks a type, it computes in a wider one: CuPy selects bf16 as f32.
        result = result.astype(sized.output.element_type.dtype, copy=False)
    return xp.ascontiguousarray(xp.broadcast_to(result, sized.output.dimensions))


def _wide(sized: Sized, views: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands in the type in which NumPy computes what is right."""
    types = (shape.element_type for shape in sized.shapes)
    return tuple(
        view.astype(np.float64) if one.is_floating else view
        for view, one in zip(views, types, strict=True)
    )


def additions(sized: Sized) -> int:
    """At most so many additions lie between an element and the result, by the law of sums: a chunk
    of 512 elements has 10."""
    reduced = [
        sized.sizes[axis] for axis, kept in zip(sized.axes, sized.kept, strict=True) if not kept
    ]
    chunks = 0
    for size in reduced:
        chunks += 1
        while size > _CHUNK:
            size, chunks = -(-size // _CHUNK), chunks + 1
    return _ADDITIONS * chunks


def _units(sized: Sized, *, ours: bool) -> float:
    """By how many units in the last place a result may be off."""
    if not (sized.case.computes.sums and sized.output.element_type.is_floating):
        return sized.case.ulps
    if ours:
        return additions(sized) / 2
    # Errors of so many additions in any order, were they random; eight of their deviations.
    return 4 * math.sqrt(sized.elements / sized.output.num_elements)


def oracle(sized: Sized, views: tuple[Any, ...], indices: list[tuple[int, ...]]) -> list[Any]:
    """The elements of the result at some indices, by the formula on single elements."""
    if sized.case.computes.reduced:
        return [_of_sequences(sized, views, index) for index in indices]
    function = sized.case.computes.function(namespace(np, sized), constant(sized))

    def element(view: Any, place: tuple[int | None, ...], index: tuple[int, ...]) -> Any:
        found = view[tuple(0 if axis is None else index[axis] for axis in place)]
        return found.get()[()] if hasattr(found, "get") else found

    placed = list(zip(views, sized.placements(), strict=True))
    with np.errstate(over="ignore"):  # integers wrap
        return [function(*(element(*one, index) for one in placed)) for index in indices]


def _of_sequences(sized: Sized, views: tuple[Any, ...], index: tuple[int, ...]) -> Any:
    """One element of a result, computed of all that is reduced for it."""
    reduced = sized.case.computes.reduced
    where = dict(zip(sized.result_axes, index, strict=True))
    parts = []
    for view, group in zip(views, sized.groups, strict=True):
        cut = (
            slice(None) if axis in reduced or axis == "1" else slice(where[axis], where[axis] + 1)
            for axis in group
        )
        part = view[tuple(cut)]
        parts.append(part.get() if hasattr(part, "get") else part)
    function = sized.case.computes.function(namespace(np, sized), constant(sized))
    found = sized.closed(function(*sized.aligned(_wide(sized, tuple(parts)))))
    return found[tuple(where[axis] if axis in reduced else 0 for axis in sized.result_axes)]


class Reference:
    """What a case's result has to be."""

    def __init__(
        self, sized: Sized, xp: Any, views: tuple[Any, ...], seed: int = 0, *, sample: bool = False
    ) -> None:
        self._sized = sized
        self._xp = xp
        self._dimensions = sized.output.dimensions
        self._indices: list[tuple[int, ...]] = []
        if not (sample or sized.expands):
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
        wide = sized.case.computes.reduced and sized.output.element_type.is_floating
        self._wanted = np.array(oracle(sized, views, self._indices), np.float64 if wide else dtype)

    def problem(self, found: Any, *, ours: bool = True) -> str | None:
        """What is wrong with a result, an array of ``xp``; None where nothing is.

        Args:
            found: the result.
            ours: whether it is gpubcast's, whose sums have an order of their own.
        """
        units = _units(self._sized, ours=ours)
        wanted_type = self._sized.output.element_type.dtype
        if tuple(found.shape) != self._dimensions or found.dtype != wanted_type:
            return (
                f"{found.dtype}{list(found.shape)} instead of {wanted_type}{list(self._dimensions)}"
            )
        if self._indices:
            picked = found[tuple(zip(*self._indices, strict=True))]
            found = picked.get() if hasattr(picked, "get") else picked
        if self._close(found, units):
            return None
        wrong = self._differing(found, self._wanted, units)
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

    def _close(self, found: Any, units: float) -> bool:
        """Whether all is right within the units allowed, block by block in the cache."""
        both = (found, self._wanted)
        compact = all(isinstance(x, np.ndarray) and x.flags.c_contiguous for x in both)
        if not units or not compact:
            return False
        flat = [x.reshape(-1) for x in both]
        blocks = (slice(k, k + _BLOCK) for k in range(0, found.size, _BLOCK))
        pairs = ((flat[0][block], flat[1][block]) for block in blocks)
        return not any(self._differing(*pair, units).any() for pair in pairs)

    def _differing(self, found: Any, wanted: Any, units: float) -> Any:
        if not units:
            return bits(found) != bits(wanted)
        xp = np if isinstance(found, np.ndarray | np.generic) else self._xp
        allowed = units * float(ml_dtypes.finfo(found.dtype).eps)
        wide = xp.float64 if wanted.dtype == xp.float64 else xp.float32
        # Where NumPy rounds as much as the others, its errors count too.
        allowed *= 2 if self._sized.case.computes.reduced and found.dtype == xp.float64 else 1
        expected = wanted.astype(wide, copy=False)
        off = xp.abs(found.astype(wide, copy=False) - expected)
        # A NaN is never close enough.
        least = wide(self._sized.case.least)
        return ~(off <= allowed * xp.maximum(xp.abs(expected), least))
