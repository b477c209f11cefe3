"""One eager call: foreign operands in, expression, run, result of the operands' kind out."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from gpubcast import expression, operators, runtime, tracing
from gpubcast.arrays import OPERATORS, Array, output_view, view_of, wrap
from gpubcast.errors import Error
from gpubcast.expression import Attributes, Expression
from gpubcast.launch import Device, View
from gpubcast.layout import Layout, check_layout
from gpubcast.operands import is_scalar, scalar_view
from gpubcast.shape import Shape
from gpubcast.traced import Traced


@functools.lru_cache(4096)
def _graph(name: str, attributes: Attributes) -> Expression:
    return expression.single(name, dict(attributes))


def apply(
    name: str,
    operands: tuple[Any, ...],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
    **attributes: Any,
) -> Any:
    """Run one operation on arrays.

    Args:
        name: the operation.
        operands: gpubcast, NumPy, CuPy or DLPack arrays, lists, scalars; traced values in a
            function that is being fused.
        out: an array that receives the result and is returned.
        out_layout: layout of the new array.
        attributes: the operation's keywords.

    Returns:
        ``out``, or a new array: a gpubcast Array if any operand is one, else CuPy or NumPy.

    Raises:
        Error: a rule refuses the call.
    """
    if any([isinstance(x, Traced) for x in operands]):
        return tracing.apply(name, operands, attributes, out is not None or out_layout is not None)
    graph = _graph(name, expression.canonical(name, attributes))
    return finish(graph, operands, views_of(graph, operands), out, out_layout)


def finish(
    graph: Expression,
    operands: tuple[Any, ...],
    views: tuple[View, ...],
    out: Any,
    out_layout: Layout | None,
) -> Any:
    """Run a graph on views of the operands; see ``apply``."""
    if out is None:
        layouts = layouts_of(graph, out_layout)
        made = [wrap(*one) for one in _each(runtime.run(graph, views, None, layouts))]
        if not any(isinstance(x, Array) for x in operands):
            made = [array.view() for array in made]
        return tuple(made) if graph.packed else made[0]
    outs = outs_of(graph, out)
    targets = [output_view(x) for x in outs]
    runtime.run(graph, views, tuple([t for t, _ in targets]), layouts_of(graph, out_layout))
    for _, copy_back in targets:
        if copy_back is not None:
            copy_back()
    return out


def _each(
    made: tuple[tuple[Shape, ...], tuple[Any, ...], Device],
) -> Iterator[tuple[Shape, Any, Device]]:
    shapes, buffers, device = made
    return ((shape, buffer, device) for shape, buffer in zip(shapes, buffers, strict=True))


def layouts_of(graph: Expression, out_layout: Any) -> tuple[Layout | None, ...] | None:
    """``out_layout`` as one entry per result.

    Raises:
        LayoutError: it is neither a Layout nor, for several results, a tuple of them.
    """
    if out_layout is None:
        return None
    given = tuple(out_layout) if graph.packed and isinstance(out_layout, (tuple, list)) else None
    for layout in given or (out_layout,):
        check_layout(layout, "out_layout")
    return given if given is not None else (out_layout,)


def outs_of(graph: Expression, out: Any) -> tuple[Any, ...]:
    """``out`` as one array per result.

    Raises:
        Error: several results and no tuple.
    """
    if not graph.packed:
        return (out,)
    if not isinstance(out, (tuple, list)):
        raise Error(
            f"out is a tuple of {len(graph.outputs)} arrays, one per result, not "
            f"{type(out).__name__}",
            rule="A2",
            kind="gpubcast:number of outs",
        )
    return tuple(out)


def views_of(graph: Expression, operands: tuple[Any, ...]) -> tuple[View, ...]:
    """The operands as the runtime sees them; Python scalars take the type beside them."""
    if not any(map(is_scalar, operands)):
        return tuple(map(view_of, operands))
    views = [None if is_scalar(x) else view_of(x) for x in operands]
    known = tuple(None if v is None else v.operand.shape.element_type for v in views)
    types = expression.operand_types(graph, known)
    return tuple(
        scalar_view(x, kind) if view is None else view
        for x, view, kind in zip(operands, views, types, strict=True)
    )


def _operate(operator: str, *operands: Any) -> Any:
    """An operator of ``Array``."""
    kind = next(x.xla_shape.element_type for x in operands if isinstance(x, Array))
    return apply(operators.operation(operator, kind), operands)


OPERATORS.append(_operate)
