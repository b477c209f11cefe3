"""The layout of a result: that of an operand, carried through the map of its dimensions (R1, R4).

The decisions are listed in ``docs/rules.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape


def result_layout(
    output_dimensions: Sequence[int],
    operands: tuple[Shape, ...],
    maps: tuple[tuple[int | None, ...], ...],
) -> Layout:
    """The layout of a result (rule R1).

    That of the first operand whose dimensions map one to one onto all of the output's without
    expansion, carried through that map with its padding; row-major where there is none. An operand
    that is reduced gives the order of the dimensions that are left, and no padding.

    Args:
        output_dimensions: sizes of the result.
        operands: the operands to choose from, first choice first.
        maps: where their dimensions go; None for one that is reduced.
    """
    rank = len(output_dimensions)
    for operand, given in zip(operands, maps, strict=True):
        place = tuple(d for d in given if d is not None)
        if len(place) < len(given):
            order = (given[d] for d in operand.layout.minor_to_major)
            return Layout(tuple(d for d in order if d is not None))
        onto = sorted(place) == list(range(rank)) and operand.rank == rank
        if onto and all(operand.dimensions[i] == output_dimensions[d] for i, d in enumerate(place)):
            inverse = [0] * rank
            for i, d in enumerate(place):
                inverse[d] = i
            return operand.layout.permute(inverse)
    return Layout.default(rank)


def padding_of(layout: Layout, element_type: ElementType) -> Layout:
    """A layout that an element type can have: a complex type has no lowest or highest value to
    write (R4)."""
    unordered = layout.padding_value in (PaddingValue.LOWEST, PaddingValue.HIGHEST)
    if element_type.is_complex and unordered:
        return Layout(layout.minor_to_major, layout.padded_dimensions, attributes=layout.attributes)
    return layout
