"""Functions of neural networks by ``jax.nn``'s names and definitions, each one kernel.

Each is a fused function of a few lines, and an example of how to write one's own: an axis is a
number (from the end, if it is negative) or, inside a function with labels, a label. They are called
like any fused function, with ``out`` and ``out_layout``, and inside of others.

    >>> import gpubcast as gb, numpy as np
    >>> gb.nn.softmax(np.float32([[0, 0, 0, 0]]))
    array([[0.25, 0.25, 0.25, 0.25]], dtype=float32)

A function of your own is written in the same way; with labels it is shorter still:

    >>> @gb.fuse("row col, row col -> row col")
    ... def masked_softmax(x, mask):
    ...     x = gb.select(mask, x, -float("inf"))
    ...     e = gb.exp(x - gb.reduce_max(x, "col"))
    ...     return e / gb.reduce_sum(e, "col")

f8, f16 and bf16 are computed in their own type, operation by operation, as everything is; means,
variances and norms are computed in f32 and rounded once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from gpubcast import functions as gb
from gpubcast.errors import ElementTypeError, ShapeError, UnknownNameError, brief
from gpubcast.fusion.arguments import arguments_refusal
from gpubcast.fusion.decorator import fuse
from gpubcast.fusion.reductions import label_of, without_ellipsis
from gpubcast.fusion.source_lines import untyped
from gpubcast.fusion.trace import check_typed
from gpubcast.hlo import ops, xla_messages
from gpubcast.hlo.labels import counted
from gpubcast.hlo.literals import largest_finite
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.layout import integer

Axis = int | str | Sequence[int] | Sequence[str]

_STATIC = ("axis",)
_NORM = ("axis", "epsilon")


def _axes(name: str, x: Any, axis: Axis) -> tuple[Any, tuple[int, ...] | None]:
    """The axes to reduce, and where the dimensions of a reduced value go; None under labels, which
    say it."""
    check_typed(x)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    if any(isinstance(one, str) for one in given):
        return without_ellipsis(x, given), None
    if x.trace.frame.pattern is not None:
        return tuple(label_of(x.trace, name, "axis", one) for one in given), None
    numbers = []
    for entry in given:
        one = integer(entry, f"{name}: an axis outside of labels", ShapeError, "B2")
        if not -x.ndim <= one < x.ndim:
            raise ShapeError(
                f"{name}: axis={brief(axis)}, but x has {x.ndim} dimensions [E1]",
                rule="E1",
                kind="Reducing out-of-bounds dimension <n> in shape <shape>.",
            )
        numbers.append(one % x.ndim)
    return tuple(numbers), tuple(d for d in range(x.ndim) if d not in numbers)


def _with(
    operation: Callable[..., Any], x: Any, reduced: Any, places: tuple[int, ...] | None
) -> Any:
    """An operation of a value and one that has been reduced, repeated along the axes it lacks."""
    return operation(x, reduced, broadcast_dimensions=places or None)


def _element_type(x: Any) -> ElementType:
    found: ElementType | None = x.element_type
    if found is None:
        raise untyped()
    return found


def _wide(name: str, x: Any) -> Any:
    """A value in the type that its means are computed in."""
    element_type = _element_type(x)
    if not (element_type.is_floating or element_type.is_complex):
        raise ElementTypeError(
            f"{name}: not defined on {element_type}; convert with convert_element_type first [T7]",
            rule="T7",
            kind=f"gpubcast:integer {name}",
        )
    narrow = element_type.is_floating and element_type.rounds
    return gb.convert_element_type(x, "f32") if narrow else x


def _mean(x: Any, axes: Any) -> Any:
    total = gb.reduce_sum(x, axes)
    return total / gb.convert_element_type(_count(x, axes), x.element_type) if axes else total


def _count(x: Any, axes: Any) -> Any:
    """The number of elements along one axis or several, which s32 may not hold."""
    sizes = [gb.get_dimension_size(x, axis) for axis in axes]
    if len(sizes) == 1:
        return sizes[0]
    return functools.reduce(gb.mul, [gb.convert_element_type(size, "s64") for size in sizes])


def _centered(x: Any, axes: Any, places: tuple[int, ...] | None) -> tuple[Any, Any]:
    """The distance from the mean, and the mean of its square."""
    distance = _with(gb.sub, x, _mean(x, axes), places)
    square = gb.square(gb.abs(distance)) if x.element_type.is_complex else gb.square(distance)
    return distance, _mean(square, axes)


def _like(x: Any, found: Any) -> Any:
    """A result in the type of the operand."""
    same = found.element_type is x.element_type
    return found if same else gb.convert_element_type(found, x.element_type)


@fuse
def relu(x: Any) -> Any:
    """``max(x, 0)``."""
    return gb.max(x, 0)


@fuse
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return gb.logistic(x)


@fuse
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``."""
    return x * gb.logistic(x)


@fuse
def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow."""
    return gb.max(x, 0) + gb.log1p(gb.exp(-gb.abs(x)))


@fuse(static=("approximate",))
def gelu(x: Any, approximate: bool = True) -> Any:
    """The Gaussian error linear unit; by tanh where ``approximate``, as ``jax.nn`` has it."""
    if isinstance(approximate, str):  # PyTorch's spelling
        raise arguments_refusal(f"gelu: approximate={brief(approximate)}: it is True or False")
    if not approximate:
        return 0.5 * x * gb.erfc(-x * math.sqrt(0.5))
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))
    return x * (0.5 * (1.0 + gb.tanh(inner)))


@fuse(static=_STATIC)
def softmax(x: Any, axis: Axis = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along an axis, or several."""
    axes, places = _axes("softmax", x, axis)
    e = gb.exp(_with(gb.sub, x, gb.reduce_max(x, axes), places))
    return _with(gb.div, e, gb.reduce_sum(e, axes), places)


@fuse(static=_STATIC)
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """``log(softmax(x))``, without overflow."""
    axes, places = _axes("log_softmax", x, axis)
    shifted = _with(gb.sub, x, gb.reduce_max(x, axes), places)
    total = gb.log(gb.reduce_sum(gb.exp(shifted), axes))
    return _with(gb.sub, shifted, total, places)


@fuse(static=_STATIC)
def logsumexp(x: Any, axis: Axis = -1) -> Any:
    """``log(sum(exp(x)))`` along an axis, or several, without overflow; they are left out."""
    axes, places = _axes("logsumexp", x, axis)
    largest, element_type = gb.reduce_max(x, axes), _element_type(x)
    if element_type.is_floating:
        # Of an infinite one a difference would be NaN.
        limit = largest_finite(element_type)
        largest = gb.clamp(-limit, largest, limit)
    return gb.log(gb.reduce_sum(gb.exp(_with(gb.sub, x, largest, places)), axes)) + largest


@fuse(static=_STATIC)
def mean(x: Any, axis: Axis = -1) -> Any:
    """The mean along an axis, or several, which are left out."""
    axes, _ = _axes("mean", x, axis)
    return _like(x, _mean(_wide("mean", x), axes))


@fuse(static=_STATIC)
def var(x: Any, axis: Axis = -1) -> Any:
    """The mean squared distance from the mean along an axis, or several, which are left out."""
    axes, places = _axes("var", x, axis)
    found = _centered(_wide("var", x), axes, places)[1]
    return found if x.element_type.is_complex else _like(x, found)


@fuse(static=_NORM)
def standardize(x: Any, axis: Axis = -1, epsilon: float = 1e-5) -> Any:
    """The distance from the mean over the square root of the variance plus ``epsilon``."""
    axes, places = _axes("standardize", x, axis)
    distance, variance = _centered(_wide("standardize", x), axes, places)
    return _like(x, _with(gb.mul, distance, gb.rsqrt(variance + epsilon), places))


@fuse(static=_NORM)
def layer_norm(
    x: Any, scale: Any = None, bias: Any = None, axis: Axis = -1, epsilon: float = 1e-6
) -> Any:
    """``standardize(x) * scale + bias``; ``scale`` and ``bias`` have the axes that are normalised.

    ``scale`` and ``bias`` may be None. ``epsilon`` is that of Flax.
    """
    axes, places = _axes("layer_norm", x, axis)
    distance, variance = _centered(_wide("layer_norm", x), axes, places)
    found = _with(gb.mul, distance, gb.rsqrt(variance + epsilon), places)
    return _like(x, _scaled("layer_norm", found, scale, bias, axes, places))


@fuse(static=_NORM)
def rms_norm(x: Any, scale: Any = None, axis: Axis = -1, epsilon: float = 1e-6) -> Any:
    """``x`` over the square root of the mean of its square plus ``epsilon``, times ``scale``."""
    axes, places = _axes("rms_norm", x, axis)
    wide = _wide("rms_norm", x)
    found = _with(gb.mul, wide, gb.rsqrt(_mean(gb.square(wide), axes) + epsilon), places)
    return _like(x, _scaled("rms_norm", found, scale, None, axes, places))


def _scaled(
    name: str, found: Any, scale: Any, bias: Any, axes: Any, places: tuple[int, ...] | None
) -> Any:
    """A normalised value times ``scale`` plus ``bias``."""
    place = None if places is None else tuple(sorted(axes))
    for operation, which, operand in ((gb.mul, "scale", scale), (gb.add, "bias", bias)):
        if operand is not None:
            check_typed(operand)
            rank = getattr(operand, "ndim", 0)
            if place is not None and rank != len(place):
                raise ShapeError(
                    f"{name}: {which} has the axes that are normalised, "
                    f"{', '.join(map(str, place))} of x, not {counted(rank, 'dimension')} [B5b]",
                    rule="B5b",
                    kind=xla_messages.BINARY_LENGTH,
                )
            own = gb.convert_element_type(operand, found.element_type)
            found = operation(found, own, broadcast_dimensions=place)
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    row = ops.OPS.get(name)
    hint = f"; it is gb.{name}" if row is not None and row.public else ops.suggestion(name)
    raise UnknownNameError(f"gpubcast.nn has no {name!r}{hint}")
