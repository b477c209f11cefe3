"""Whether a graph from outside is one: a pickle, or a call of a constructor, may say anything.

Graphs that tracing makes keep to these laws by construction. What depends on the shapes of operands
is checked by inference (``graph_inference``), for every graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from gpubcast.errors import Error, brief
from gpubcast.hlo import labels, ops
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    Positions,
    Unwritten,
    arguments_of,
    canonical,
)
from gpubcast.hlo.labels import LabelPattern
from gpubcast.shapes.element_types import ELEMENT_TYPES


def refused(what: str) -> Error:
    """The refusal of a plan that is none."""
    return Error(f"this is no plan: {what}", rule="A8", kind="gpubcast:not a plan")


def is_complete(value: Any, expected: type[Any]) -> bool:
    """Whether a value is of a dataclass, with all its fields: unpickling may leave some out."""
    return type(value) is expected and all(hasattr(value, one.name) for one in fields(expected))


def counts(value: Any, end: int | None = None) -> bool:
    """Whether a value is an integer from 0 on, and below an end."""
    return type(value) is int and value >= 0 and (end is None or value < end)


def tuple_of(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether a value is a tuple, each of whose items passes a test."""
    return type(value) is tuple and all(map(test, value))


def check_expression(graph: Any) -> None:
    """Refuse what is no graph.

    Raises:
        Error: A8, it is none; or what refuses an operation's name or keywords.
    """
    if not is_complete(graph, Expression) or not is_complete(graph.names, Names):
        raise refused(f"its expression is {brief(type(graph).__name__)}, or lacks a field")
    if not counts(graph.num_parameters) or not tuple_of(graph.nodes, _is_node):
        raise refused("its nodes are none")
    _check_patterns(graph)
    for index, node in enumerate(graph.nodes):
        arguments = arguments_of(node)
        if type(arguments) is not tuple or not all(counts(a, index) for a in arguments):
            raise refused(f"node {index} takes what is no earlier node")
        _check_node(graph, index, node)
    labelled = tuple_of(graph.axes, lambda axes: tuple_of(axes, _is_label_or_none))
    named = tuple_of(graph.names.operands, _is_text) and tuple_of(graph.names.lines, _is_text)
    if (
        not graph.outputs
        or not tuple_of(graph.outputs, lambda output: counts(output, len(graph.nodes)))
        or not labelled
        or len(graph.axes) not in (0, len(graph.outputs))
        or not named
        or {type(graph.packed), type(graph.fast_math)} != {bool}
        or (len(graph.outputs) > 1 and not graph.packed)
        or not tuple_of(graph.lengths, lambda one: _is_length(graph, one))
    ):
        raise refused("its results are none of its nodes, or its names are no text")


_NODES = (Parameter, Constant, Apply, Place, Positions, Unwritten)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_length(graph: Expression, one: Any) -> bool:
    """Whether a triple names two parameters and a number; that the second has such a dimension is
    seen when it is called."""
    return tuple_of(one, counts) and len(one) == 3 and max(one[0], one[1]) < graph.num_parameters


def _is_label_or_none(value: Any) -> bool:
    return value is None or type(value) is str


def _is_node(node: Any) -> bool:
    return any(is_complete(node, one) for one in _NODES)


def _check_node(graph: Expression, index: int, node: Node) -> None:
    if isinstance(node, Parameter):
        fine = counts(node.index, graph.num_parameters)
    elif isinstance(node, Constant):
        row = ELEMENT_TYPES.get(node.element_type) if _is_text(node.element_type) else None
        fine = row is not None and counts(node.bits, 1 << 8 * row.itemsize)
    elif isinstance(node, Apply):
        fine = ops.op(node.op, internal=True).arity == len(node.args) and _is_canonical(node)
    elif isinstance(node, Place):
        fine = _is_place(graph, index, node)
    else:
        fine = tuple_of(node.shape, lambda size: counts(size) or _is_size_of(size, index))
        if isinstance(node, Positions):
            fine = fine and counts(node.dimension, len(node.shape))
            fine = fine and (node.pattern is None or counts(node.pattern, len(graph.patterns)))
        else:
            known = _is_text(node.element_type) and node.element_type in ELEMENT_TYPES
            fine = fine and known and counts(node.output, len(graph.outputs))
    if not fine:
        raise refused(f"node {index} is {brief(node)}")


def _is_canonical(node: Apply) -> bool:
    """Whether keywords are in the form that a call's have, sorted, each once, and those with a
    default are there. Unknown ones, and values that are only shown, are left to the rule that
    refuses them."""
    if not tuple_of(node.attributes, _is_pair):
        return False
    given = dict(node.attributes)
    made = dict(canonical(node.op, given))
    known = {attribute.name for attribute in ops.OPS[node.op].keywords}
    if tuple(sorted(given.items())) != node.attributes or not made.keys() <= given.keys():
        return False
    return all(
        _typed(made.get(key)) == _typed(value) or (_is_text(value) and made[key] == brief(value))
        for key, value in given.items()
        if key in known
    )


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and _is_text(value[0])


def _typed(value: Any) -> Any:
    """A value with its types: True is equal to 1, but no dimension."""
    return (tuple, tuple(map(_typed, value))) if type(value) is tuple else (type(value), value)


def _is_place(graph: Expression, index: int, node: Place) -> bool:
    if node.pattern is not None and not counts(node.pattern, len(graph.patterns)):
        return False
    if node.pattern is None:
        labelled = node.output is None
    else:
        pattern, nodes = graph.patterns[node.pattern]
        labelled = max(nodes, default=-1) < index and (
            node.output is None
            or (
                counts(node.output, len(pattern.outputs))
                and len(pattern.outputs[node.output]) == len(node.shape)
            )
        )
    return (
        labelled
        and tuple_of(node.shape, lambda size: counts(size) or _is_size_of(size, index))
        and tuple_of(node.place, lambda to: to is None or counts(to, len(node.shape)))
        and len(set(node.place) - {None}) == len(node.place) - node.place.count(None)
    )


def _is_size_of(size: Any, index: int) -> bool:
    return tuple_of(size, counts) and len(size) == 2 and counts(size[0], index)


def _check_patterns(graph: Expression) -> None:
    for pair in graph.patterns if type(graph.patterns) is tuple else (None,):
        if type(pair) is not tuple or len(pair) != 2 or not is_complete(pair[0], LabelPattern):
            raise refused("its labels are none")
        pattern, nodes = pair
        sides = pattern.operands, pattern.outputs
        groups = tuple_of(sides, lambda side: tuple_of(side, lambda g: tuple_of(g, _is_text)))
        if (
            not groups
            or labels.parse(str(pattern), frozenset(pattern.labels)) != pattern
            or not tuple_of(nodes, lambda node: counts(node, len(graph.nodes)))
            or len(nodes) != len(pattern.operands)
        ):
            raise refused(f"the labels {brief(str(sides))} are none, or of no nodes")
