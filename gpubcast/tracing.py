"""Tracing: a function runs once on values that stand for its operands, and leaves a graph.

Scalars without a type wait until an operand beside them has one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpubcast import config, expression, operators, ops, runtime
from gpubcast.arrays import Array
from gpubcast.element_types import ELEMENT_TYPES, ElementType, element_type
from gpubcast.errors import Error, ShapeError
from gpubcast.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    located,
    reachable,
)
from gpubcast.inference import result_type
from gpubcast.labels import ONE, Pattern
from gpubcast.launch import View
from gpubcast.operands import is_scalar, scalar_operand, scalar_view
from gpubcast.ops import Result, Rule
from gpubcast.traced import Traced, refused, unsupported, untyped, where

_BROADCASTS = (Rule.BROADCAST, Rule.BROADCAST_IN_DIM)


class Value(Traced):
    """A traced value that is a node of the graph."""

    def __init__(
        self, trace: Trace, node: int, kind: ElementType, ndim: int, varies: frozenset[str]
    ) -> None:
        super().__init__(trace, varies)
        self.scope = trace.frame.scope
        self.node = node
        self.element_type = kind
        self.ndim = ndim


class Scalar(Traced):
    """A scalar without a type: an argument, or an operation on scalars alone.

    ``typed`` makes the node once a type is known; one scalar may be used with several.
    """

    def __init__(self, trace: Trace, typed: Callable[[ElementType], Value]) -> None:
        super().__init__(trace, frozenset())
        self._typed = typed
        self._known: dict[tuple[ElementType, int], Value] = {}

    def as_type(self, kind: ElementType) -> Value:
        """The scalar as a node of an element type."""
        # Labels may have spread it over axes that hold in this scope only.
        key = (kind, self.trace.frame.scope)
        if key not in self._known:
            self._known[key] = self._typed(kind)
        return self._known[key]


class Trace:
    """The graph being made.

    Attributes:
        home: the function, as messages name it.
        nodes, lines: each node, and the line that made it.
        sources: for each parameter of the graph, the argument of the call.
        types, names: the parameters' types, and what they are called.
    """

    def __init__(self, home: str) -> None:
        self.home = home
        self.nodes: list[Node] = []
        self.lines: list[str] = []
        self.sources: list[int] = []
        self.types: list[ElementType] = []
        self.names: list[str] = []
        self.patterns: list[tuple[Pattern, tuple[int, ...]]] = []
        self.frames: list[Frame] = [Frame(None, {})]
        self._known: dict[Node, Value] = {}
        self._finished = False

    @property
    def frame(self) -> Frame:
        """What labels mean here."""
        return self.frames[-1]

    def emit(
        self, node: Node, kind: ElementType, ndim: int, varies: frozenset[str] = frozenset()
    ) -> Value:
        """The value of a node; an equal node is the same value."""
        if node not in self._known:
            self.nodes.append(node)
            self.lines.append(where() or self.home)
            self._known[node] = Value(self, len(self.nodes) - 1, kind, ndim, varies)
        return self._known[node]

    def parameter(self, argument: int, name: str, kind: ElementType, ndim: int) -> Value:
        """A new operand of the graph."""
        self.sources.append(argument)
        self.types.append(kind)
        self.names.append(name)
        return self.emit(Parameter(len(self.sources) - 1), kind, ndim)

    def scalar(self, argument: int, name: str) -> Scalar:
        """An argument that is a Python scalar: an operand of the graph for each type it takes."""
        made: dict[ElementType, Value] = {}

        def typed(kind: ElementType) -> Value:
            if kind not in made:
                made[kind] = self.parameter(argument, name, kind, 0)
            return made[kind]

        return Scalar(self, typed)

    def constant(self, value: Any, kind: ElementType) -> Value:
        """A scalar that is part of the code.

        Raises:
            ElementTypeError: the value does not fit the type.
        """
        try:
            bits = scalar_view(value, kind).slot
        except Error as error:
            raise located(error, where()) from None
        return self.emit(Constant(kind.name, bits), kind, 0)

    def is_constant(self, value: Value) -> bool:
        """Whether a value is part of the code."""
        return isinstance(self.nodes[value.node], Constant)

    def called(self, value: Traced, number: int) -> str:
        """What an operand of a labelled function is called."""
        node = self.nodes[value.node] if isinstance(value, Value) else None
        return self.names[node.index] if isinstance(node, Parameter) else f"operand {number}"

    def admit(self, x: Any, line: str | None = None) -> Any:
        """An operand of an operation: a traced value, a constant, or a bare Python scalar."""
        if isinstance(x, Traced):
            foreign = x.trace is not self or self._finished
            if foreign or (isinstance(x, Value) and x.ndim and x.scope != self.frame.scope):
                raise unsupported(
                    "this traced value belongs to another function or another call; pass it as an "
                    "argument",
                    line=line,
                )
            return x
        if is_scalar(x):
            return x
        if isinstance(x, Array) and not x.shape and x.device == "cpu":
            x = x.numpy()[()]
        if isinstance(x, np.ndarray) and not x.shape:
            x = x[()]
        if isinstance(x, np.generic):
            return self.constant(x, element_type(x.dtype))
        raise unsupported(
            f"a fused function takes arrays as arguments; this {type(x).__name__} is neither an "
            "argument nor a scalar constant",
        )

    def aligned(self, value: Value) -> Value:
        """A scalar spread over the axes of the labels, so that every operand has them."""
        if self.frame.pattern is None or value.ndim == self.frame.rank:
            return value
        shape = tuple(self.frame.sizes[label] for label in self.frame.pattern.axes)
        place = Place(value.node, (), shape, self.frame.number)
        assert value.element_type is not None
        return self.emit(place, value.element_type, len(shape))

    def graph(
        self, outputs: Sequence[Value], *, packed: bool, fast_math: bool, pattern: Pattern | None
    ) -> Expression:
        """The finished graph: parameters, and what the outputs need. No more values join it."""
        self._finished = True
        roots = tuple(value.node for value in outputs)
        parameters = {i for i, node in enumerate(self.nodes) if isinstance(node, Parameter)}
        kept = sorted({*reachable(self.nodes, roots), *parameters, *self._labelled()})
        new = {old: i for i, old in enumerate(kept)}
        axes: tuple[tuple[str | None, ...], ...] = ()
        if pattern is not None:
            axes = tuple(
                tuple(None if label == ONE else label for label in group)
                for group in pattern.outputs
            )
        return Expression(
            len(self.sources),
            tuple(_renumbered(self.nodes[i], new) for i in kept),
            tuple(new[i] for i in roots),
            tuple((pattern, tuple(new[i] for i in nodes)) for pattern, nodes in self.patterns),
            axes,
            packed,
            fast_math,
            Names(tuple(self.names), tuple(self.lines[i] for i in kept)),
        )

    def _labelled(self) -> set[int]:
        """What labels speak of, which is checked even where nothing needs it."""
        return reachable(self.nodes, (i for _, nodes in self.patterns for i in nodes))


class Frame:
    """A stretch of a function in which values are aligned to the axes of labels, or not.

    Attributes:
        pattern: the labels; None where there are none.
        sizes: for each label, where its size is found.
        number: the pattern's number in the trace.
        scope: values with dimensions are used in the scope that made them only.
    """

    def __init__(
        self, pattern: Pattern | None, sizes: dict[str, expression.Size], number: int = 0
    ) -> None:
        self.pattern = pattern
        self.sizes = sizes
        self.number = number
        self.scope = 0 if pattern is None else number + 1
        self.rank = 0 if pattern is None else len(pattern.axes)


def _renumbered(node: Node, new: Mapping[int, int]) -> Node:
    if isinstance(node, Apply):
        return Apply(node.op, tuple(new[a] for a in node.args), node.attributes)
    if isinstance(node, Place):
        shape = tuple(s if isinstance(s, int) else (new[s[0]], s[1]) for s in node.shape)
        return Place(new[node.arg], node.place, shape, node.labelled, node.output)
    return node


# --- operations ----------------------------------------------------------------------------------


def operate(operator: str, *operands: Any) -> Traced:
    """An operator on traced values."""
    trace = _trace_of(operands)
    values = [trace.admit(x) for x in operands]
    kind = next((x.element_type for x in values if isinstance(x, Value)), None)
    if kind is None and operators.depends(operator):
        return Scalar(trace, lambda kind: _operated(trace, operator, values, kind, where()))
    name = operator if kind is None else _operation(operator, kind, where())
    return apply(name, tuple(values), {}, False)


def _operated(
    trace: Trace, operator: str, values: list[Any], kind: ElementType, line: str
) -> Value:
    return _apply(trace, _operation(operator, kind, line), values, kind, {})


def _operation(operator: str, kind: ElementType, line: str) -> str:
    try:
        return operators.operation(operator, kind)
    except Error as error:
        raise located(error, line) from None


def _trace_of(operands: tuple[Any, ...]) -> Trace:
    trace = next((x.trace for x in operands if isinstance(x, Traced)), None)
    return trace or runtime.current_trace()


def apply(
    name: str, operands: tuple[Any, ...], attributes: Mapping[str, Any], placed: bool
) -> Traced:
    """An operation on traced values.

    Args:
        name: the operation.
        operands: traced values, scalars and constants.
        attributes: the operation's keywords.
        placed: whether ``out``, ``out_layout`` or ``device`` was given.

    Raises:
        Error: a rule refuses the operation; the text names the line of the function.
    """
    trace = _trace_of(operands)
    values = [trace.admit(x) for x in operands]
    row = ops.op(name)
    if placed:
        told = "out and out_layout" if row.arity else "out, out_layout and device"
        raise unsupported(
            f"{name}: {told} belong to the call of the fused function, not inside it",
        )
    labelled = trace.frame.pattern is not None
    if labelled and row.rule is Rule.IOTA:
        raise refused(
            f"{name}: labels say which axes there are, and its dimensions have none; pass it as an "
            "operand with a group of its own",
            rule="X8",
            kind="gpubcast:broadcast inside labels",
            error=ShapeError,
        )
    if labelled and (row.rule in _BROADCASTS or attributes.get("broadcast_dimensions") is not None):
        raise refused(
            f"{name}: labels have aligned every operand, so nothing is broadcast inside",
            rule="X8",
            kind="gpubcast:broadcast inside labels",
            error=ShapeError,
        )
    kind = _common_type(row, values, attributes)
    if kind is not None:
        return _apply(trace, name, values, kind, attributes)
    if row.result not in (Result.SAME, Result.REAL):
        raise untyped()
    return Scalar(trace, lambda kind: _apply(trace, name, values, kind, attributes))


def _common_type(
    row: ops.Op, values: list[Any], attributes: Mapping[str, Any]
) -> ElementType | None:
    """The type that scalars without one take in an operation."""
    beside = values[1:] if row.rule is Rule.SELECT else values
    kind = next((x.element_type for x in beside if isinstance(x, Value)), None)
    if kind is None and row.rule is Rule.CONVERT:
        return element_type(attributes["to"])
    if row.rule is Rule.IOTA:
        return element_type(attributes["dtype"])
    return kind


def _apply(
    trace: Trace, name: str, values: list[Any], kind: ElementType, attributes: Mapping[str, Any]
) -> Value:
    row = ops.op(name)
    line = where()
    types = [kind] * len(values)
    if row.rule is Rule.SELECT:
        types[0] = ELEMENT_TYPES["pred"]
    args = [_typed(trace, x, wanted) for x, wanted in zip(values, types, strict=True)]
    if row.rule in (Rule.SELECT, Rule.CLAMP):
        args = [trace.aligned(x) for x in args]
    varies = frozenset[str]().union(*(x.varies for x in args))
    try:
        frozen = dict(expression.canonical(name, attributes))
        found = result_type(name, [type_of(x) for x in args], frozen)
    except Error as error:
        raise located(_about_types(error), line) from None
    ndim = _rank(row, args, frozen)
    if row.rule is Rule.BITCAST and ndim != args[0].ndim and trace.frame.pattern is not None:
        raise refused(
            f"{name} to {found}: a type of another width adds or takes a dimension, and labels "
            "have fixed them",
            rule="X8",
            kind="gpubcast:broadcast inside labels",
            error=ShapeError,
        )
    exact = not any(row.ulp) and config.backend() != "cuda"
    if exact and ndim == 0 and all(map(trace.is_constant, args)):
        return _folded(trace, expression.single(name, frozen), args, found)
    if name == "compare":
        name, total = ops.comparison(frozen.pop("direction"), frozen.pop("total_order", False))
        if total:
            args = [_key(trace, x) for x in args]
    nodes = tuple(x.node for x in args)
    name, given = expression.spelled(name, frozen)
    return trace.emit(Apply(name, nodes, given), found, ndim, varies)


def _folded(trace: Trace, graph: Expression, args: list[Value], kind: ElementType) -> Value:
    """An operation on constants, done now. Only where every device gives the same bits."""
    views = []
    for x in args:
        node = trace.nodes[x.node]
        assert isinstance(node, Constant)
        views.append(View(scalar_operand(type_of(x)), node.bits, None))
    _, buffers = runtime.run(graph, tuple(views))
    bits = int.from_bytes(bytes(buffers[0][: kind.itemsize]), "little")
    return trace.emit(Constant(kind.name, bits), kind, 0)


def _about_types(error: Error) -> Error:
    """An error without the operands' shapes: while tracing these are types without dimensions."""
    again = copy.copy(error)
    again.args = (str(error).partition("\n")[0],)
    again.operands = ()
    return again


def _typed(trace: Trace, x: Any, kind: ElementType) -> Value:
    if isinstance(x, Value):
        return x
    return x.as_type(kind) if isinstance(x, Scalar) else trace.constant(x, kind)


def type_of(value: Value) -> ElementType:
    """The element type of a node."""
    assert value.element_type is not None
    return value.element_type


def _key(trace: Trace, value: Value) -> Value:
    kind = result_type("total_order_key", [type_of(value)], {})
    return trace.emit(Apply("total_order_key", (value.node,)), kind, value.ndim, value.varies)


def _rank(row: ops.Op, args: list[Value], attributes: Mapping[str, Any]) -> int:
    if row.rule is Rule.BROADCAST_IN_DIM:
        return len(attributes["shape"])
    if row.rule is Rule.IOTA:
        return len(attributes["shape"]) if "shape" in attributes else 1
    rank = max(x.ndim for x in args)
    if row.rule is Rule.BITCAST:
        source, kind = type_of(args[0]).bits, element_type(attributes["to"]).bits
        # A wider type takes a last dimension; the rules refuse a scalar that has none.
        return max(rank + (source > kind) - (source < kind), 0)
    return rank + (len(attributes["sizes"]) if row.rule is Rule.BROADCAST else 0)


operators.install(Traced, operate, lambda other: True)
