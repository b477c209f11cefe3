"""Means and variances as graphs: the one reduction after the other, in the type that is told.

f8, f16 and bf16 are computed in f32 and rounded once, as ``gpubcast.nn`` has it; a test compares
the two bit for bit.
"""

from __future__ import annotations

import functools
from typing import Any

from gpubcast.errors import ElementTypeError
from gpubcast.hlo import ops
from gpubcast.hlo.expression import Expression, Node, Parameter, applied, canonical
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType


class _Nodes:
    """A graph that grows."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [Parameter(0)]

    def apply(self, name: str, *args: int, **attributes: Any) -> int:
        """A new node; its number."""
        expansion = ops.OPS[name].expansion(dict(canonical(name, attributes)))
        assert expansion.each is None
        self.nodes.append(applied(expansion, args))
        return len(self.nodes) - 1

    def mean(self, x: int, axes: tuple[int, ...], element_type: str) -> int:
        """The sum over the number of elements."""
        total = self.apply("reduce_sum", x, axes=axes)
        if not axes:
            return total
        count = self.apply("convert_element_type", self.count(x, axes), to=element_type)
        return self.apply("div", total, count)

    def count(self, x: int, axes: tuple[int, ...]) -> int:
        """The number of elements along one axis or several, which s32 may not hold."""
        sizes = [self.apply("get_dimension_size", x, axis=axis) for axis in axes]
        if len(sizes) == 1:
            return sizes[0]
        wide = [self.apply("convert_element_type", size, to="s64") for size in sizes]
        return functools.reduce(lambda a, b: self.apply("mul", a, b), wide)


@functools.lru_cache(1024)
def graph(name: str, element_type: ElementType, rank: int, axes: tuple[int, ...]) -> Expression:
    """The graph of ``mean``, ``var`` or ``std`` of an operand.

    Args:
        name: which.
        element_type: the operand's.
        rank: the operand's.
        axes: which of its dimensions are taken away.

    Raises:
        ElementTypeError: T7, the mean of integers or truth values.
    """
    if not (element_type.is_floating or element_type.is_complex):
        raise ElementTypeError(
            f"{name}: not defined on {element_type}; convert with a.astype first",
            rule="T7",
            kind=f"gpubcast:integer {name}",
        )
    made, x, own = _Nodes(), 0, element_type
    if element_type.is_floating and element_type.rounds:
        x, own = made.apply("convert_element_type", x, to="f32"), ELEMENT_TYPES["f32"]
    found = made.mean(x, axes, str(own))
    if name != "mean":
        places = tuple(d for d in range(rank) if d not in axes) or None
        distance = made.apply("sub", x, found, broadcast_dimensions=places)
        if own.is_complex:
            distance, own = made.apply("abs", distance), own.component
        found = made.mean(made.apply("square", distance), axes, str(own))
        if name == "std":
            found = made.apply("sqrt", found)
    if own is not element_type and element_type.is_floating:
        found = made.apply("convert_element_type", found, to=str(element_type))
    return Expression(1, tuple(made.nodes), (len(made.nodes) - 1,))
