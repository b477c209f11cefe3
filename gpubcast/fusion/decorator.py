"""``fuse``: what makes a function a fused one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, overload

from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo import composed_axes

P = ParamSpec("P")
R = TypeVar("R")
_NONE: Mapping[str, Any] = MappingProxyType({})


@overload
def fuse(
    function: Callable[P, R], *, static: Iterable[str] = (), fast_math: bool = False
) -> Fused[P, R]: ...
@overload
def fuse(
    function: str | None = None,
    *,
    static: Iterable[str] = (),
    fast_math: bool = False,
    valid: Mapping[str, str] = _NONE,
    sizes: Mapping[str, int] = _NONE,
) -> Callable[[Callable[P, R]], Fused[P, R]]: ...


def fuse(
    function: Callable[..., Any] | str | None = None,
    *,
    static: Iterable[str] = (),
    fast_math: bool = False,
    valid: Mapping[str, str] = _NONE,
    sizes: Mapping[str, int] = _NONE,
) -> Any:
    """Make a function of gpubcast operations one kernel. A decorator.

    Args:
        function: the function (``@gb.fuse``), or labels
            (``@gb.fuse("row col, row -> row col")``): one group per array parameter, one per
            result. Operands are then aligned by label, in any order, before the first operation.
        static: names of parameters that are not arrays; their values are part of the code.
        fast_math: allow reassociation and contraction; results may differ in the last places, and
            between devices.
        valid: for labels, the array parameter that says how many elements along them are valid,
            the first ones: ``valid={"col": "lengths"}``. Reductions see valid elements only, and of
            none their identity; elsewhere a result keeps what ``out`` holds, and a new one has its
            padding value, by default zero. On the CPU a length below 0 or above the size is
            refused, on a GPU the nearer of the two is taken.
        sizes: of labels, where operands do not say them: ``"b (h d) -> b h d"`` with
            ``sizes={"h": 8}``.

    Returns:
        A ``gb.Fused``.

    Raises:
        ShapeError: rules X1 to X4 and X9, the labels or ``valid`` are malformed or do not fit the
            parameters.
        Error: F5, the function cannot be fused.

    Example:
        >>> import gpubcast as gb, numpy as np
        >>> @gb.fuse("row col, row, col -> row col")
        ... def scaled(x, mean, gain):
        ...     return (x - mean) * gain
        >>> x = np.arange(6, dtype="f4").reshape(2, 3)
        >>> scaled(x, x[:, 0], np.float32([1, 2, 3]))
        array([[0., 2., 6.],
               [0., 2., 6.]], dtype=float32)
    """
    if callable(function):
        return Fused(function, None, static, fast_math, valid, sizes)
    if function is not None:
        composed_axes.read(function, sizes)  # what is malformed is refused here
    return lambda body: Fused(body, function, static, fast_math, valid, sizes)
