"""Which axes a reduction takes away, and what is left.

Sources: ``InferReduceShape`` of XLA's ``xla/service/shape_inference.cc``; for ``argmax`` and
``argmin``, ``jax.lax``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpubcast.errors import ShapeError, brief
from gpubcast.hlo import xla_messages
from gpubcast.hlo.broadcasting import Broadcast, integer_list
from gpubcast.hlo.refusals import label, listing
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.shape import Shape

# jax.lax says what XLA, which has no such instruction, does not.
EMPTY = "argmin and argmax require non-empty reduced dimension. operand.shape=<list> axis=<n>"
INDEX = "index_dtype must be an integer type, but got <type>"


def reduced(name: str, operand: Shape, axes: Sequence[int]) -> Broadcast:
    """The dimensions of a reduction: the operand's but for ``axes``, in their order.

    Raises:
        ShapeError: B1, B2, no list of integers; E1, an axis that the operand lacks; E2, one twice.
    """
    given = integer_list(name, "axes", axes, (operand,))
    for axis in given:
        if not 0 <= axis < operand.rank:
            raise _out_of_range(name, operand, "axes", given, axis)
    for k, axis in enumerate(given):
        if axis in given[:k]:
            raise ShapeError(
                f"{name}: axes={brief(given)} names axis {axis} twice [E2]\n{listing((operand,))}",
                rule="E2",
                kind=xla_messages.DUPLICATE_AXIS,
                operands=(operand,),
            )
    return without(operand, given)


def without(operand: Shape, axes: Sequence[int]) -> Broadcast:
    """An operand's dimensions but for some axes, which go nowhere."""
    kept = [d for d in range(operand.rank) if d not in axes]
    places = tuple(kept.index(d) if d in kept else None for d in range(operand.rank))
    return Broadcast(tuple(operand.dimensions[d] for d in kept), (places,))


def chosen(name: str, operand: Shape, axis: int) -> Broadcast:
    """The dimensions of ``argmax`` and ``argmin``: the operand's but for one axis.

    Raises:
        ShapeError: B2, no integer; E1, an axis that the operand lacks; E3, an axis without index.
    """
    (given,) = integer_list(name, "axis", (axis,), (operand,))
    if not 0 <= given < operand.rank:
        raise _out_of_range(name, operand, "axis", given, given)
    if operand.dimensions[given] == 0:
        raise ShapeError(
            f"{name}: axis {given} has size 0, so there is no index to choose [E3]\n"
            f"{listing((operand,))}",
            rule="E3",
            kind=EMPTY,
            operands=(operand,),
        )
    return without(operand, (given,))


def size_of(name: str, operand: Shape, axis: int) -> Broadcast:
    """The dimensions of the size of an axis: a scalar, to which no dimension goes.

    Raises:
        ShapeError: B2, no integer; E1, an axis that the operand lacks; E7, a size that is no s32.
    """
    (given,) = integer_list(name, "axis", (axis,), (operand,))
    if not 0 <= given < operand.rank:
        raise _out_of_range(name, operand, "axis", given, given)
    if operand.dimensions[given] >= 1 << 31:
        raise ShapeError(
            f"{name}: axis {given} has a size that is no s32 [E7]\n{listing((operand,))}",
            rule="E7",
            kind="gpubcast:size of an axis",
            operands=(operand,),
        )
    return Broadcast((), ((None,) * operand.rank,))


def _out_of_range(name: str, operand: Shape, keyword: str, given: object, axis: int) -> ShapeError:
    from_end = axis + operand.rank
    fix = f"; counted from the end it is {from_end}" if 0 <= from_end < operand.rank else ""
    has = (
        f"the axes of {label(0, operand)} are 0 to {operand.rank - 1}"
        if operand.rank
        else f"{label(0, operand)} has no axes"
    )
    return ShapeError(
        f"{name}: {keyword}={brief(given)}, but {has}{fix} [E1]",
        rule="E1",
        kind=xla_messages.AXIS_OUT_OF_BOUNDS,
        operands=(operand,),
    )


def check_index(element: ElementType, given: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why an element type is none of indices; None where it is."""
    index = element_type(given["index_dtype"])
    if index.is_integral:
        return None
    return INDEX, f"index_dtype is {index}; an index is an integer"
