"""One eager call: foreign operands in, expression, run, result of the operands' kind out."""

from __future__ import annotations

import functools
from typing import Any

from gpubcast import expression, runtime
from gpubcast.arrays import (
    BINARY_OPERATORS,
    COMPARISONS,
    OPERATORS,
    Array,
    output_view,
    view_of,
    wrap,
)
from gpubcast.errors import ElementTypeError
from gpubcast.expression import Attributes, Expression
from gpubcast.launch import View
from gpubcast.layout import Layout, check_layout
from gpubcast.operands import is_scalar, scalar_view


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
        operands: gpubcast, NumPy, CuPy or DLPack arrays, lists, scalars.
        out: an array that receives the result and is returned.
        out_layout: layout of the new array.
        attributes: the operation's keywords.

    Returns:
        ``out``, or a new array: a gpubcast Array if any operand is one, else CuPy or NumPy.

    Raises:
        Error: a rule refuses the call.
    """
    graph = _graph(name, expression.canonical(name, attributes))
    return execute(graph, operands, out, out_layout)


def execute(
    graph: Expression, operands: tuple[Any, ...], out: Any, out_layout: Layout | None
) -> Any:
    """Run a graph on arrays; see ``apply``."""
    return finish(graph, operands, views_of(graph, operands), out, out_layout)


def finish(
    graph: Expression,
    operands: tuple[Any, ...],
    views: tuple[View, ...],
    out: Any,
    out_layout: Layout | None,
) -> Any:
    """Run a graph on views of the operands; see ``apply``."""
    check_layout(out_layout, "out_layout")
    if out is not None:
        target, copy_back = output_view(out)
        runtime.run(graph, views, target, out_layout)
        if copy_back is not None:
            copy_back()
        return out
    made = wrap(*runtime.run(graph, views, None, out_layout))
    return made if any(isinstance(x, Array) for x in operands) else made.view()


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


# --- operators ---------------------------------------------------------------------------------


def _floats_only(name: str, symbol: str) -> Any:
    def function(x: Any, y: Any) -> Any:
        kind = next(v.xla_shape.element_type for v in (x, y) if isinstance(v, Array))
        if kind.is_integral:
            raise ElementTypeError(
                f"{symbol} is not defined on {kind}: gb.div truncates toward zero and gb.rem has "
                "the dividend's sign, as in XLA; call the one you mean, or convert to a float "
                "type with gb.convert_element_type",
                rule="A7",
                kind="gpubcast:integer operator",
            )
        return apply(name, (x, y))

    return function


def _shift_right(x: Any, y: Any) -> Any:
    kind = next(v.xla_shape.element_type for v in (x, y) if isinstance(v, Array))
    signed = kind.category.value == "signed"
    return apply("shift_right_arithmetic" if signed else "shift_right_logical", (x, y))


def _plain(name: str) -> Any:
    return lambda *operands: apply(name, operands)


OPERATORS.update(
    {
        name: _plain(name)
        for name in (
            *(set(BINARY_OPERATORS.values()) - {"truediv", "mod", "rshift"}),
            *COMPARISONS,
            "neg",
            "abs",
            "bitwise_not",
        )
    },
    truediv=_floats_only("div", "/"),
    mod=_floats_only("rem", "%"),
    rshift=_shift_right,
)
