"""What a fused function sees of its operands: a type and a rank, never a value or a size.

What would need a value or a size is refused, with the line of the function that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from gpubcast.arrays import Array
from gpubcast.errors import (
    ElementTypeError,
    Error,
    ShapeError,
    UnknownNameError,
    located,
    plain_text,
)
from gpubcast.fusion.source_lines import refusal_at_line, unsupported, untyped, where
from gpubcast.hlo import expression, ops
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
    reachable,
)
from gpubcast.hlo.labels import ONE, LabelPattern
from gpubcast.hlo.operators import Operators
from gpubcast.runtime.operands import is_scalar, scalar_view
from gpubcast.runtime.protocols import Symbolic
from gpubcast.shapes.element_types import ElementType, element_type

_CHOOSE = "choose elementwise with gb.select, or name a parameter that decides in static="
_CALL = "call gpubcast's functions, such as gb.exp, in place of math's and NumPy's"


def _needs_value(what: str, instead: str) -> Error:
    return refusal_at_line(
        f"{what} needs the value of a traced array, which a fused function does not have: it is "
        f"traced once, before any data; {instead}",
        rule="F1",
        kind="gpubcast:value while tracing",
        error=ElementTypeError,
    )


def _needs_size(what: str) -> Error:
    return refusal_at_line(
        f"{what}: sizes cannot be read while tracing, because one traced function serves all; "
        "pass the size as an argument",
        rule="F2",
        kind="gpubcast:size while tracing",
        error=ShapeError,
    )


class Tracer(Symbolic, Operators[Any]):
    """A value inside a function that is being fused.

    Attributes:
        element_type: its type; None for a scalar that has none yet.
        ndim: number of dimensions; with labels, of the axes.
    """

    # NumPy's scalars then leave operators to this class, and its functions ask for an array.
    __array_priority__ = 1000

    element_type: ElementType | None = None
    ndim = 0

    trace: Trace

    def __init__(self, trace: Trace, varies: frozenset[str]) -> None:
        self.trace = trace
        self.varies = varies

    def _binary(self, operator: str, other: Any, *, reflected: bool = False) -> Any:
        operands = (other, self) if reflected else (self, other)
        return self.trace.operate(operator, operands)

    def _unary(self, operator: str) -> Any:
        return self.trace.operate(operator, (self,))

    def __repr__(self) -> str:
        return f"<traced {self.element_type or 'scalar'} of {self.ndim} dimensions>"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of an element."""
        if self.element_type is None:
            raise untyped()
        return self.element_type.dtype

    def __bool__(self) -> bool:
        raise _needs_value("a branch (if, while, and, or, not)", _CHOOSE)

    def __iter__(self) -> NoReturn:
        raise unsupported("a traced array is not iterated or unpacked: pass its parts as operands")

    def __contains__(self, x: Any) -> NoReturn:
        raise _needs_value("in", _CHOOSE)

    def __len__(self) -> int:
        raise _needs_size("len()")

    def __getitem__(self, key: Any) -> NoReturn:
        raise unsupported("a traced array is not indexed: slice the operand before the call")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise unsupported("a traced array is not written to: use gb.select")

    def __delitem__(self, key: Any) -> None:
        raise unsupported("nothing is deleted from a traced array")

    def __array__(self, *args: Any, **keywords: Any) -> NoReturn:
        raise _needs_value("a NumPy function, or a conversion to an array,", _CALL)

    def __array_function__(self, function: Any, *args: Any) -> NoReturn:
        name = getattr(function, "__name__", "function")
        ours = ops.reduction(name)
        raise _needs_value(f"numpy.{name}", f"gpubcast calls it {ours!r}" if ours else _CALL)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "size"):
            raise _needs_size(f".{name}")
        if name.startswith("__") or name.startswith("_repr_"):
            raise AttributeError(name)
        hint = ops.of_method(name) or ops.suggestion(name)
        raise unsupported(f"a traced array has no {name!r}{hint}", error=UnknownNameError)


def _conversion(name: str) -> Callable[[Tracer], NoReturn]:
    def convert(self: Tracer) -> NoReturn:
        raise _needs_value(f"{name}()", _CALL)

    return convert


def _absent(operator: str) -> Callable[..., NoReturn]:
    def refuse(self: Tracer, *others: Any) -> NoReturn:
        raise unsupported(f"a traced array has no {operator}")

    return refuse


for _name in ("int", "float", "complex", "index"):
    setattr(Tracer, f"__{_name}__", _conversion(_name))
for _name, _shown in {
    "floordiv": "//",
    "rfloordiv": "//",
    "divmod": "divmod()",
    "rdivmod": "divmod()",
    "matmul": "@",
    "rmatmul": "@",
    "pos": "unary +",
    "round": "round()",
}.items():
    setattr(Tracer, f"__{_name}__", _absent(_shown))


class ArrayTracer(Tracer):
    """A traced value that is a node of the graph."""

    def __init__(
        self, trace: Trace, node: int, element_type: ElementType, ndim: int, varies: frozenset[str]
    ) -> None:
        super().__init__(trace, varies)
        self.scope = trace.frame.scope
        self.node = node
        self.element_type = element_type
        self.ndim = ndim


class ScalarTracer(Tracer):
    """A scalar without a type: an argument, or an operation on scalars alone.

    ``typed`` makes the node once a type is known; one scalar may be used with several.

    Attributes:
        python: its type in Python, as far as that follows from the arguments'.
        has_dimensions: whether it is chosen by the elements of an array, and has that array's.
    """

    def __init__(
        self,
        trace: Trace,
        typed: Callable[[ElementType], ArrayTracer],
        python: type,
        *,
        has_dimensions: bool = False,
    ) -> None:
        super().__init__(trace, frozenset())
        self._typed = typed
        self.python = python
        self.has_dimensions = has_dimensions
        self._typed_nodes: dict[tuple[ElementType, int], ArrayTracer] = {}

    def as_type(self, element_type: ElementType) -> ArrayTracer:
        """The scalar as a node of an element type."""
        # Labels may have spread it over axes that hold in this scope only.
        key = (element_type, self.trace.frame.scope)
        if key not in self._typed_nodes:
            self._typed_nodes[key] = self._typed(element_type)
        return self._typed_nodes[key]


def check_typed(value: Any, line: str | None = None) -> None:
    """Refuse what an array chooses among scalars without a type.

    Raises:
        ElementTypeError: A4.
    """
    if isinstance(value, ScalarTracer) and value.has_dimensions:
        raise untyped(line)


Operation = Callable[["Trace", str, tuple[Any, ...], Mapping[str, Any], bool], Tracer]
"""``apply`` of a trace, as a function of the trace."""
Operate = Callable[["Trace", str, tuple[Any, ...]], Tracer]
"""``operate`` of a trace, as a function of the trace."""


class Trace:
    """The graph being made.

    Attributes:
        home: the function, as messages name it.
        operation, operator: what makes nodes; see ``apply`` and ``operate``.
        nodes, lines: each node, and the line that made it.
        sources: for each parameter of the graph, the argument of the call.
        types, names: the parameters' types, and what they are called.
        lengths: what ``Expression.lengths`` says.
    """

    def __init__(self, home: str, operation: Operation, operator: Operate) -> None:
        self.home = home
        self._operation = operation
        self._operator = operator
        self.nodes: list[Node] = []
        self.lines: list[str] = []
        self.sources: list[int] = []
        self.types: list[ElementType] = []
        self.names: list[str] = []
        self.lengths: list[tuple[int, int, int]] = []
        self.patterns: list[tuple[LabelPattern, tuple[int, ...]]] = []
        self.frames: list[Frame] = [Frame(None, {})]
        self._node_values: dict[Node, ArrayTracer] = {}
        self._finished = False

    def apply(
        self, name: str, operands: tuple[Any, ...], attributes: Mapping[str, Any], placed: bool
    ) -> Tracer:
        """An operation on values of this trace, recorded by ``operations.apply``."""
        return self._operation(self, name, operands, attributes, placed)

    def operate(self, operator: str, operands: tuple[Any, ...]) -> Tracer:
        """A Python operator on values of this trace, recorded by ``operations.operate``."""
        return self._operator(self, operator, operands)

    @property
    def frame(self) -> Frame:
        """What labels mean here."""
        return self.frames[-1]

    def emit(
        self, node: Node, element_type: ElementType, ndim: int, varies: frozenset[str] = frozenset()
    ) -> ArrayTracer:
        """The value of a node; an equal node is the same value."""
        if node not in self._node_values:
            self.nodes.append(node)
            self.lines.append(where() or self.home)
            self._node_values[node] = ArrayTracer(
                self, len(self.nodes) - 1, element_type, ndim, varies
            )
        return self._node_values[node]

    def parameter(
        self, argument: int, name: str, element_type: ElementType, ndim: int
    ) -> ArrayTracer:
        """A new operand of the graph."""
        self.sources.append(argument)
        self.types.append(element_type)
        self.names.append(name)
        return self.emit(Parameter(len(self.sources) - 1), element_type, ndim)

    def scalar(self, argument: int, name: str, python: type) -> ScalarTracer:
        """An argument that is a Python scalar: an operand of the graph for each type it takes."""
        made: dict[ElementType, ArrayTracer] = {}

        def typed(element_type: ElementType) -> ArrayTracer:
            if element_type not in made:
                made[element_type] = self.parameter(argument, name, element_type, 0)
            return made[element_type]

        return ScalarTracer(self, typed, python)

    def constant(self, value: Any, element_type: ElementType) -> ArrayTracer:
        """A scalar that is part of the code.

        Raises:
            ElementTypeError: the value does not fit the type.
        """
        try:
            bits = scalar_view(value, element_type).slot
        except Error as error:
            raise located(error, where()) from None
        return self.emit(Constant(element_type.name, bits), element_type, 0)

    def is_constant(self, value: ArrayTracer) -> bool:
        """Whether a value is part of the code."""
        return isinstance(self.nodes[value.node], Constant)

    def called(self, value: Tracer, number: int) -> str:
        """What an operand of a function with labels is called."""
        node = self.nodes[value.node] if isinstance(value, ArrayTracer) else None
        return self.names[node.index] if isinstance(node, Parameter) else f"operand {number}"

    def admit(self, x: Any, line: str | None = None) -> Any:
        """An operand of an operation: a traced value, a constant, or a bare Python scalar."""
        if isinstance(x, Tracer):
            foreign = x.trace is not self or self._finished
            if foreign or (isinstance(x, ArrayTracer) and x.ndim and x.scope != self.frame.scope):
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
        label = plain_text(x)
        hint = f"; reductions take a label, as gb.reduce_max(x, {label!r})"
        raise unsupported(
            f"a fused function takes arrays as arguments; this {type(x).__name__} is neither an "
            f"argument nor a scalar constant{hint if label in self.frame.order else ''}",
        )

    def aligned(self, value: ArrayTracer) -> ArrayTracer:
        """A scalar spread over the axes of the labels, so that every operand has them."""
        if self.frame.pattern is None or value.ndim == self.frame.rank:
            return value
        shape = tuple(self.frame.sizes[label] for label in self.frame.pattern.axes)
        place = Place(value.node, (), shape, self.frame.number)
        assert value.element_type is not None
        return self.emit(place, value.element_type, len(shape))

    def graph(
        self,
        outputs: Sequence[ArrayTracer],
        *,
        packed: bool,
        fast_math: bool,
        pattern: LabelPattern | None,
    ) -> Expression:
        """The finished graph: parameters, and what the outputs need. No more values join it."""
        self._finished = True
        roots = tuple(value.node for value in outputs)
        parameters = {i for i, node in enumerate(self.nodes) if isinstance(node, Parameter)}
        kept = sorted({*reachable(self.nodes, roots), *parameters, *self._nodes_of_patterns()})
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
            tuple(dict.fromkeys(self.lengths)),
        )

    def _nodes_of_patterns(self) -> set[int]:
        """What labels speak of, which is checked even where nothing needs it."""
        return reachable(self.nodes, (i for _, nodes in self.patterns for i in nodes))


class Frame:
    """A stretch of a function in which values are aligned to the axes of labels, or not.

    Attributes:
        pattern: the labels; None where there are none.
        sizes: for each label, where its size is found.
        number: the pattern's number in the trace.
        order: the labels in the order of their first appearance in the function's text.
        ellipsis: the labels that stand for ``...``; None where the text has none.
        valid: for some labels, how many elements along them are valid, aligned.
        scope: values with dimensions are used in the scope that made them only.
    """

    def __init__(
        self,
        pattern: LabelPattern | None,
        sizes: dict[str, expression.Size],
        number: int = 0,
        order: tuple[str, ...] = (),
        ellipsis: tuple[str, ...] | None = None,
        valid: dict[str, ArrayTracer] | None = None,
    ) -> None:
        self.pattern = pattern
        self.order = order
        self.ellipsis = ellipsis
        self.sizes = sizes
        self.valid = {} if valid is None else valid
        self.number = number
        self.scope = 0 if pattern is None else number + 1
        self.rank = 0 if pattern is None else len(pattern.axes)


def _renumbered_sizes(
    sizes: tuple[expression.Size, ...], new: Mapping[int, int]
) -> tuple[expression.Size, ...]:
    return tuple(s if isinstance(s, int) else (new[s[0]], s[1]) for s in sizes)


def _renumbered(node: Node, new: Mapping[int, int]) -> Node:
    if isinstance(node, Apply):
        return Apply(node.op, tuple(new[a] for a in node.args), node.attributes)
    if isinstance(node, Place):
        shape = _renumbered_sizes(node.shape, new)
        return Place(new[node.arg], node.place, shape, node.pattern, node.output)
    if isinstance(node, (Positions, Unwritten)):
        return replace(node, shape=_renumbered_sizes(node.shape, new))
    return node
