"""Functions of the standard that are several operations, each one kernel.

They are bodies of fused functions, which ``one``, ``two`` and ``three`` make of them: of so many
operands, for one set of constants, so that a repeated call passes arrays alone and is replayed by
machine code. Operands of elementwise functions have one shape, and are converted to the element
type ``to`` inside the kernel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from gpubcast import functions as gb
from gpubcast.fusion.decorator import fuse
from gpubcast.fusion.fused_function import Fused
from gpubcast.shapes.element_types import Category, element_type

Body = Callable[..., Any]
# Bodies with their constants that have a fused function at a time.
MOST = 4096


@functools.lru_cache(MOST)
def one(body: Body, *said: Any) -> Fused[..., Any]:
    """The fused function of one operand that a body is with some constants."""

    def call(x: Any) -> Any:
        return body(x, *said)

    return fuse(call)


@functools.lru_cache(MOST)
def two(body: Body, *said: Any) -> Fused[..., Any]:
    """The same of two operands."""

    def call(x: Any, y: Any) -> Any:
        return body(x, y, *said)

    return fuse(call)


@functools.lru_cache(MOST)
def three(body: Body, *said: Any) -> Fused[..., Any]:
    """The same of three operands."""

    def call(x: Any, y: Any, z: Any) -> Any:
        return body(x, y, z, *said)

    return fuse(call)


def _as(x: Any, to: str) -> Any:
    """A value as an element type."""
    return x if str(x.element_type) == to else gb.convert_element_type(x, element_type(to))


def promoted(x1: Any, x2: Any, name: str, to: str) -> Any:
    """An operation of two operands after the promotion of both."""
    return getattr(gb, name)(_as(x1, to), _as(x2, to))


def selected(condition: Any, x1: Any, x2: Any, to: str) -> Any:
    """x1 where the condition holds, else x2, after the promotion of both."""
    return gb.select(condition, _as(x1, to), _as(x2, to))


def _python_remainder(x: Any, y: Any) -> Any:
    """The remainder with the divisor's sign."""
    r = gb.rem(x, y)
    if x.element_type.category is Category.UNSIGNED:
        return r
    zero = gb.eq(r, 0)
    other = gb.bitwise_and(gb.bitwise_not(zero), gb.bitwise_xor(gb.lt(r, 0), gb.lt(y, 0)))
    moved = gb.select(other, r + y, r)
    if not x.element_type.is_floating:
        return moved
    return gb.select(zero, gb.copysign(r, y), moved)


def remainder(x1: Any, x2: Any, to: str) -> Any:
    """The remainder of x1 / x2 with the sign of x2, as Python's ``%``."""
    return _python_remainder(_as(x1, to), _as(x2, to))


def floor_divide(x1: Any, x2: Any, to: str) -> Any:
    """The quotient rounded down, as Python's ``//``."""
    x, y = _as(x1, to), _as(x2, to)
    own = element_type(to)
    quotient = gb.div(x, y)
    if own.category is Category.UNSIGNED:
        return quotient
    if own.is_integral:
        r = gb.rem(x, y)
        down = gb.bitwise_and(gb.ne(r, 0), gb.bitwise_xor(gb.lt(r, 0), gb.lt(y, 0)))
        return gb.select(down, quotient - 1, quotient)
    # The rounded quotient may have reached a whole number that the exact one is below; x less the
    # remainder is a multiple of y.
    plain = gb.floor(quotient)
    whole = gb.div(x - _python_remainder(x, y), y)
    near = gb.floor(whole)
    near = gb.select(gb.gt(whole - near, 0.5), near + 1, near)
    return gb.select(gb.bitwise_and(gb.is_finite(plain), gb.ne(plain, 0)), near, plain)


def clipped_below(x: Any, lowest: Any, to: str) -> Any:
    """The larger of x and a bound."""
    return gb.max(_as(x, to), _as(lowest, to))


def clipped_above(x: Any, highest: Any, to: str) -> Any:
    """The smaller of x and a bound."""
    return gb.min(_as(x, to), _as(highest, to))


def clipped(x: Any, lowest: Any, highest: Any, to: str) -> Any:
    """x between two bounds."""
    return gb.min(gb.max(_as(x, to), _as(lowest, to)), _as(highest, to))


def sign_of_unsigned(x: Any) -> Any:
    """1, or 0 for 0."""
    return gb.convert_element_type(gb.ne(x, 0), x.element_type)


def sign_of_floating(x: Any) -> Any:
    """-1, 1, NaN, or +0.0 for both zeros."""
    return gb.sign(x) + 0.0


def tanh_of_complex(x: Any) -> Any:
    """Where the real part is infinite the imaginary part is 0 with the sign of the operand's."""
    y = gb.tanh(x)
    part, found = gb.imag(x), gb.imag(y)
    far = gb.bitwise_and(gb.isinf(gb.real(x)), gb.is_finite(part))
    return gb.complex(gb.real(y), gb.select(far, gb.copysign(found, part), found))


def rounded_parts(x: Any) -> Any:
    """Both parts of a complex number, rounded to even."""
    parts = (gb.round(part, method="even") for part in (gb.real(x), gb.imag(x)))
    return gb.complex(*parts)


def finite_parts(x: Any) -> Any:
    """Whether both parts of a complex number are finite."""
    return gb.bitwise_and(gb.is_finite(gb.real(x)), gb.is_finite(gb.imag(x)))


# --- reductions --------------------------------------------------------------------------------


def reduced(x: Any, name: str, axes: tuple[int, ...], to: str) -> Any:
    """A reduction of x as another type."""
    return getattr(gb, name)(_as(x, to), axes)


def truth(x: Any, name: str, axes: tuple[int, ...]) -> Any:
    """A reduction of whether elements are not zero."""
    return getattr(gb, name)(_nonzero(x), axes)


def counted(x: Any, axes: tuple[int, ...]) -> Any:
    """How many elements are not zero."""
    return gb.reduce_sum(gb.convert_element_type(_nonzero(x), "s64"), axes)


def _nonzero(x: Any) -> Any:
    return x if x.element_type.category is Category.PRED else gb.ne(x, 0)


def _mean(x: Any, axes: tuple[int, ...], count: Any) -> Any:
    return gb.div(gb.reduce_sum(x, axes), count)


def mean(x: Any, count: Any, axes: tuple[int, ...], to: str) -> Any:
    """The sum as type ``to`` over a number, as x's own type."""
    return _as(_mean(_as(x, to), axes, count), str(x.element_type))


def variance(x: Any, count: Any, divisor: Any, axes: tuple[int, ...], root: bool, to: str) -> Any:
    """The sum of squared distances from the mean over a number, or its root."""
    wide = _as(x, to)
    others = tuple(d for d in range(x.ndim) if d not in axes)
    centre = _mean(wide, axes, count)
    distance = gb.sub(wide, centre, broadcast_dimensions=others or None)
    found = gb.div(gb.reduce_sum(gb.square(distance), axes), divisor)
    return _as(gb.sqrt(found) if root else found, str(x.element_type))


def vector_norm(x: Any, axes: tuple[int, ...], order: float) -> Any:
    """The p-norm; the largest or smallest size for an infinite p, the number of others for 0."""
    size = gb.abs(x)
    if math.isinf(order):
        return (gb.reduce_max if order > 0 else gb.reduce_min)(size, axes)
    if order == 0:
        return gb.reduce_sum(gb.convert_element_type(gb.ne(size, 0), size.element_type), axes)
    if order == 1:
        return gb.reduce_sum(size, axes)
    if order == 2:
        return gb.sqrt(gb.reduce_sum(gb.square(size), axes))
    return gb.pow(gb.reduce_sum(gb.pow(size, order), axes), 1 / order)
