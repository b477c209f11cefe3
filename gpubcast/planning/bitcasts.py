"""Bitcasts that are another way to read a parameter's memory.

An element of f32 is four elements of u8 that lie side by side, and the other way round. So a
bitcast to another width is a strided read of the parameter as the other type, where memory allows
it: a narrower type always, a wider one where the elements it is made of are neighbours. Where
memory does not allow it, ``partition`` puts a packed copy in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.errors import ElementTypeError
from gpubcast.hlo import op, ops, rules
from gpubcast.hlo.expression import Apply, Expression, Parameter, Place
from gpubcast.hlo.op import Inferred
from gpubcast.shapes.element_types import ElementType

CONSUMED = -1


@dataclass(frozen=True, slots=True)
class Reading:
    """A parameter read as another element type.

    Attributes:
        parameter, node: the parameter's index, and its node's.
        place: for each of its dimensions, the dimension of the result that indexes it; None where
            it is broadcast; ``CONSUMED`` for the one whose elements become one.
        narrower: elements of the result in one of the parameter's.
        wider: elements of the parameter in one of the result's.
    """

    parameter: int
    node: int
    place: tuple[int | None, ...]
    narrower: int = 1
    wider: int = 1


def changes_width(expression: Expression, nodes: Sequence[Inferred], index: int) -> bool:
    """Whether a node is a bitcast to a type of another width.

    Raises:
        ElementTypeError: P3, one of the types has less than a byte.
    """
    node = expression.nodes[index]
    if not isinstance(node, Apply) or ops.OPS[node.op].rule is not rules.BITCAST:
        return False
    source, result = nodes[node.args[0]].shape.element_type, nodes[index].shape.element_type
    if source.bits != result.bits and 4 in (source.bits, result.bits):
        raise ElementTypeError(
            f"bitcast_convert_type from {source} to {result}: an element of "
            f"{source if source.bits == 4 else result} takes a whole byte, so it is no part of "
            "another; use shifts and convert_element_type",
            rule="P3",
            kind="gpubcast:bitcast width",
        )
    return source.bits != result.bits


def reading(expression: Expression, nodes: Sequence[Inferred], index: int) -> Reading | None:
    """How a bitcast of a parameter reads it; None for another node, and for one whose operand is
    computed.

    A bitcast of equal width is one where the source is rounded: in its compute type a NaN would
    lose its bits.

    Raises:
        ElementTypeError: P3.
    """
    node = expression.nodes[index]
    if not isinstance(node, Apply) or ops.OPS[node.op].rule is not rules.BITCAST:
        return None
    source, result = nodes[node.args[0]].shape.element_type, nodes[index].shape.element_type
    if not changes_width(expression, nodes, index) and not (source.is_floating and source.rounds):
        return None
    inner = node.args[0]
    rank = nodes[inner].shape.rank
    place: tuple[int | None, ...] = tuple(range(rank))
    if source.bits < result.bits:
        place = (*place[:-1], CONSUMED)
    while not isinstance(parameter := expression.nodes[inner], Parameter):
        if not _only_moves(expression, nodes, inner):
            return None
        outer, inner = inner, _argument(parameter)
        place = _through(nodes[outer], nodes[inner].shape.dimensions, place)
    if source.bits < result.bits and CONSUMED not in place:
        return None
    narrower, wider = max(source.bits // result.bits, 1), max(result.bits // source.bits, 1)
    return Reading(parameter.index, inner, place, narrower, wider)


def _argument(node: object) -> int:
    assert isinstance(node, (Apply, Place))
    return node.arg if isinstance(node, Place) else node.args[0]


def _only_moves(expression: Expression, nodes: Sequence[Inferred], index: int) -> bool:
    """Whether a node's elements are its argument's, bit for bit."""
    node = expression.nodes[index]
    if isinstance(node, Place):
        return True
    if not isinstance(node, Apply) or not node.args:
        return False
    row = ops.OPS[node.op]
    source, result = nodes[node.args[0]].shape.element_type, nodes[index].shape.element_type
    if moves_only(row, source, result):
        return True
    # A byte that is neither 0 nor 1 is not the same as pred.
    alike = source.bits == result.bits and op.PRED.isdisjoint((source, result))
    return row.rule is rules.BITCAST and alike


def moves_only(row: op.Op, source: ElementType, result: ElementType) -> bool:
    """Whether an operation leaves every value as it is."""
    if row.result is op.ResultType.KEY:
        return not source.is_floating
    return row.rule.moves or (row.rule in (rules.CONVERT, rules.BITCAST) and source is result)


def _through(
    node: Inferred, sizes: tuple[int, ...], place: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """A map of a node's dimensions as one of its argument's, whose sizes are given."""
    result = node.shape.dimensions
    return tuple(
        None if to is None or (size == 1 and result[to] != 1) else place[to]
        for size, to in zip(sizes, node.maps[0], strict=True)
    )
