"""``apply``: one operation on operands that are aligned by label."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, overload

from gpubcast.errors import Error, brief
from gpubcast.fusion.arguments import arguments_refusal, typed_key
from gpubcast.fusion.fused_function import MAX_TRACES, Fused, Layouts
from gpubcast.hlo import composed_axes
from gpubcast.hlo.einx_shorthand import written_out
from gpubcast.runtime.protocols import ArrayLike, OutsT

_NONE: Mapping[str, int] = MappingProxyType({})


@functools.lru_cache(MAX_TRACES)
def _function_with_labels(
    text: str,
    function: Callable[..., Any],
    attributes: tuple[tuple[str, Hashable], ...],
    sizes: tuple[tuple[str, int], ...],
    key: Any,
) -> Fused[..., Any]:
    def call(*operands: Any) -> Any:
        return function(*operands, **dict(attributes))

    call.__name__ = getattr(function, "__name__", "function")
    return Fused(call, text, (), fast_math=False, valid={}, sizes=dict(sizes))


@overload
def apply(
    text: str,
    function: Callable[..., Any],
    *operands: ArrayLike,
    sizes: Mapping[str, int] = ...,
    out: OutsT,
    out_layout: None = None,
    **attributes: Any,
) -> OutsT: ...
@overload
def apply(
    text: str,
    function: Callable[..., Any],
    *operands: ArrayLike,
    sizes: Mapping[str, int] = ...,
    out: None = None,
    out_layout: Layouts | None = None,
    **attributes: Any,
) -> Any: ...


def apply(
    text: str,
    function: Callable[..., Any],
    *operands: Any,
    sizes: Mapping[str, int] = _NONE,
    out: Any = None,
    out_layout: Any = None,
    **attributes: Any,
) -> Any:
    """One operation on operands aligned by label.

    Args:
        text: labels, e.g. ``"b c h w, c -> b c h w"``. Without ``->`` the result has the labels of
            the one operand that has those of all others; ``a [b]`` stands for ``a b, b``.
        function: an operation (``gb.mul``), or any function that could be fused.
        operands: one per group of labels.
        sizes: of labels, where operands do not say them.
        out: an array that receives the result and is returned.
        out_layout: layout of the new array.
        attributes: the operation's keywords; they are hashable.

    Raises:
        ShapeError: rules X1 to X8 and X10.
        Error: a rule refuses the operation.

    Example:
        >>> import gpubcast as gb, numpy as np
        >>> gb.apply("r c, r -> r c", gb.add, np.ones((2, 2), "f4"), np.float32([1, 2]))
        array([[2., 2.],
               [3., 3.]], dtype=float32)
    """
    if not callable(function):
        raise arguments_refusal(f"apply takes an operation such as gb.mul, not {brief(function)}")
    no_operand = next((x for x in operands if isinstance(x, str)), None)
    if no_operand is not None:
        raise arguments_refusal(
            f"apply: the text {brief(no_operand)} is no operand; attributes are given by name, as "
            "axes='col'"
        )
    text = written_out(text, len(operands))
    composed_axes.read(text, sizes)
    given = tuple(sorted(attributes.items()))
    try:
        fused = _function_with_labels(
            text, function, given, tuple(dict(sizes).items()), typed_key(given)
        )
    except Error:
        raise
    except Exception:  # whatever a foreign object raises
        shown = brief((getattr(function, "__name__", function), *attributes.values()))
        raise arguments_refusal(f"apply: one of {shown} cannot be hashed") from None
    return fused(*operands, out=out, out_layout=out_layout)
