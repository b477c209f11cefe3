"""Reductions as methods, with NumPy's keywords and the order of the law of sums."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Self

from gpubcast.array_methods.part import Part, refused_keywords
from gpubcast.errors import ElementTypeError, ShapeError, brief
from gpubcast.hlo import statistics, xla_messages
from gpubcast.planning.plan import Operand
from gpubcast.runtime import call_cache, eager_call
from gpubcast.runtime.operands import view_of
from gpubcast.shapes.layout import Layout, entries_of
from gpubcast.shapes.shape import Shape

Axis = int | Sequence[int] | None
_TAKES = "axis and keepdims"


class Reductions(Part):
    """What is computed along axes.

    ``axis`` is a number, from the end if it is negative, a tuple of them, or None for all. With
    ``keepdims`` the axes stay with size 1. The result is in the array's element type: integers
    wrap, as they do in ``gb.reduce_sum``.
    """

    __slots__ = ()

    def sum(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The sum of the elements (``gb.reduce_sum``)."""
        self._is_number("sum", "count with a.astype('s32').sum(), or ask a.any()")
        return self._reduced("sum", "reduce_sum", axis, keepdims, others)

    def prod(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The product of the elements (``gb.reduce_prod``)."""
        self._is_number("prod", "ask a.all()")
        return self._reduced("prod", "reduce_prod", axis, keepdims, others)

    def max(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The largest element; NaN where one is NaN (``gb.reduce_max``)."""
        return self._reduced("max", "reduce_max", axis, keepdims, others)

    def min(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The smallest element; NaN where one is NaN (``gb.reduce_min``)."""
        return self._reduced("min", "reduce_min", axis, keepdims, others)

    def all(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """Whether all elements of a pred array are true (``gb.reduce_and``)."""
        self._is_pred("all")
        return self._reduced("all", "reduce_and", axis, keepdims, others)

    def any(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """Whether any element of a pred array is true (``gb.reduce_or``)."""
        self._is_pred("any")
        return self._reduced("any", "reduce_or", axis, keepdims, others)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The first index of the largest element, as s64; without ``axis``, in row-major order."""
        return self._chosen("argmax", axis, keepdims, others)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The first index of the smallest element, as s64; without ``axis``, in row-major order."""
        return self._chosen("argmin", axis, keepdims, others)

    def mean(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The mean, of floating and complex elements; f8, f16 and bf16 are computed in f32."""
        return self._statistic("mean", axis, keepdims, others)

    def var(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The mean squared distance from the mean, as ``mean``; of complex numbers it is real."""
        return self._statistic("var", axis, keepdims, others)

    def std(self, axis: Axis = None, *, keepdims: bool = False, **others: Any) -> Self:
        """The square root of ``var``."""
        return self._statistic("std", axis, keepdims, others)

    # --- how ------------------------------------------------------------------------------------

    def _reduced(
        self, method: str, name: str, axis: Axis, keepdims: bool, others: dict[str, Any]
    ) -> Self:
        axes = self._axes(method, axis, others)
        found: Self = eager_call.APPLY.call(name, (self,), None, None, axes)
        return self._with_axes(found, axes) if keepdims else found

    def _statistic(self, name: str, axis: Axis, keepdims: bool, others: dict[str, Any]) -> Self:
        axes, shape = self._axes(name, axis, others), self._operand.shape
        graph = statistics.graph(name, shape.element_type, shape.rank, axes)
        call = (None, (self,), None)
        found: Any = call_cache.again(graph, call)
        if found is None:
            found = eager_call.finish(graph, call, (view_of(self),), None, graph)
        return self._with_axes(found, axes) if keepdims else found

    def _chosen(self, name: str, axis: Any, keepdims: bool, others: dict[str, Any]) -> Self:
        source: Any = self
        axes = self._axes(name, axis, others)
        if axis is not None and len(axes) != 1:
            raise refused_keywords(name, "one axis", {"axis": axis})
        number = 0 if axis is None else axes[0]
        if axis is None:
            source = source.reshape(-1)
        found: Self = eager_call.APPLY.call(name, (source,), None, None, number, "s64")
        return self._with_axes(found, axes) if keepdims else found

    def _with_axes(self, found: Self, axes: tuple[int, ...]) -> Self:
        """A result with the axes that were taken away, of size 1."""
        shape, old = self._operand.shape, found._operand.shape
        dimensions = [1 if d in axes else shape.dimensions[d] for d in range(shape.rank)]
        # What is left has the operand's order of dimensions.
        new = Shape(old.element_type, dimensions, Layout(shape.layout.minor_to_major))
        return type(self)(Operand.of(new), found._buffer, None, found._device)

    def _axes(self, method: str, axis: Any, others: dict[str, Any]) -> tuple[int, ...]:
        """The axes as numbers from 0 on.

        Raises:
            ShapeError: E1, E2, one that the array has not, or twice.
            ElementTypeError: T0, a keyword that is NumPy's alone.
        """
        if others:
            raise refused_keywords(method, _TAKES, others)
        rank = self._operand.shape.rank
        if axis is None:
            return tuple(range(rank))
        numbers = []
        several = entries_of(axis) if isinstance(axis, (tuple, list)) else None
        for one in (axis,) if several is None else several:
            try:
                number = operator.index(one)
            except Exception:
                number = rank
            if isinstance(one, bool) or not -rank <= number < rank:
                raise ShapeError(
                    f"a.{method}: axis={brief(axis)}, but a has {rank} dimensions",
                    rule="E1",
                    kind=xla_messages.AXIS_OUT_OF_BOUNDS,
                    operands=(self._operand.shape,),
                )
            numbers.append(number % rank)
        if len(set(numbers)) < len(numbers):
            raise ShapeError(
                f"a.{method}: axis={brief(axis)} names a dimension twice",
                rule="E2",
                kind=xla_messages.DUPLICATE_AXIS,
                operands=(self._operand.shape,),
            )
        return tuple(numbers)

    def _is_number(self, method: str, instead: str) -> None:
        if self._operand.shape.element_type.name == "pred":
            raise ElementTypeError(
                f"a.{method} of pred: XLA's is a logical operation, NumPy's counts; {instead}",
                rule="T2",
                kind="gpubcast:reduction of pred",
            )

    def _is_pred(self, method: str) -> None:
        element_type = self._operand.shape.element_type
        if element_type.name != "pred":
            bits = "gb.reduce_and" if method == "all" else "gb.reduce_or"
            raise ElementTypeError(
                f"a.{method} of {element_type}: XLA's is bitwise, NumPy's asks what is not 0; "
                f"write (a != 0).{method}() or {bits}(a, axes)",
                rule="T2",
                kind="gpubcast:truth of numbers",
            )
