"""What a call with Dask arrays computes: its graph, checked by the rules, and its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo import composed_axes, expression
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.ops import OPS
from gpubcast.plans import Plan
from gpubcast.runtime import eager_call
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class GraphCall:
    """A call as a graph and its operands.

    Attributes:
        name: what the function is called.
        expression: the graph.
        operands: its operands: Dask arrays, other arrays, scalars.
        shapes: their shapes.
    """

    name: str
    expression: Expression
    operands: tuple[Any, ...]
    shapes: tuple[Shape, ...]


def graph_call(
    function: Callable[..., Any],
    what: Any,
    operands: tuple[Any, ...],
    rest: tuple[Any, ...],
    stand_in: Callable[[Any], Any],
) -> GraphCall | None:
    """A call as its graph and its operands; None for what computes no graph of its operands.

    Args:
        function: what would be called.
        what: an operation's name, a fused function or a plan; None where ``function`` says it.
        operands: the arguments; in the order of the parameters where ``what`` is None.
        rest: keywords by position.
        stand_in: gives a NumPy array of an operand's type and dimensions, without memory, where it
            is lazy; else the operand.

    Raises:
        Error: a rule refuses the call.
    """
    fused = what if what is not None else getattr(function, "__self__", None)
    if isinstance(fused, Fused):
        values = operands if what is None else fused._arguments.ordered(operands, {})
        if fused._composition is not None:
            raise composed_axes.refusal(
                f"{fused.__name__}: composed axes and numbers are of arrays in memory, and a "  # type: ignore[attr-defined]
                "Dask array is none: reshape it first, and use labels of one dimension each"
            )
        traced, shapes = fused.graph_for(tuple(map(stand_in, values)))
        found = tuple(values[i] for i in traced.sources)
        return _plain(fused._name, traced.expression, found, shapes)
    seen = tuple(map(stand_in, operands))
    if isinstance(what, Plan):
        views = what._views(what._checked(seen))
        found = tuple(operands[i] for i in what.arguments)
        return _plain(
            what.name, what.expression, found, tuple(view.operand.shape for view in views)
        )
    if type(what) is str and what in OPS:
        attributes = dict(zip(eager_call.keywords(what), rest, strict=False))
        graph = expression.single(what, attributes)
        if OPS[what].rule.predicate:
            graph = eager_call.with_scalar_branch(graph, seen)
        views = eager_call.views_of(graph, seen)
        return _plain(what, graph, operands, tuple(view.operand.shape for view in views))
    return None


def _plain(
    name: str, graph: Expression, operands: tuple[Any, ...], shapes: tuple[Shape, ...]
) -> GraphCall:
    # Blocks have layouts of their own.
    plain = tuple(Shape(shape.element_type, shape.dimensions) for shape in shapes)
    return GraphCall(name, graph, operands, plain)
