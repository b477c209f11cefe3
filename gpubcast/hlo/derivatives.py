"""What rows write their derivatives with: values of a graph that is being made, and what several
derivatives have in common. The definitions, also at the edges, are those of ``jax._src.lax.lax``.

A derivative is reverse mode's: ``derivative(g, y, *operands, **keywords)`` says what the gradient
``g`` of the result ``y`` is to each operand; None where it is 0. Complex numbers are multiplied
without conjugation, as JAX does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from gpubcast.shapes.element_types import ElementType

Number = float | int


class Maker(Protocol):
    """The graph that derivatives are written into."""

    def apply(self, name: str, terms: tuple[Term, ...], keywords: dict[str, Any]) -> Term:
        """An operation, elementwise."""

    def constant(self, value: Number, like: Term) -> Term:
        """A number in the type of another value."""

    def total(self, name: str, term: Term) -> Term:
        """A reduction along the axes of the one that is differentiated, repeated along these."""


class Term:
    """A value in a derivative.

    Attributes:
        node: where it is in its graph.
        element_type: of its elements.
    """

    __slots__ = ("_maker", "element_type", "node")

    def __init__(self, maker: Maker, node: int, element_type: ElementType) -> None:
        self._maker = maker
        self.node = node
        self.element_type = element_type

    def op(self, name: str, *others: Term | Number, **keywords: Any) -> Term:
        """An operation on this value and others; a number has this value's type."""
        return self._maker.apply(name, (self, *map(self.like, others)), keywords)

    def like(self, value: Term | Number) -> Term:
        """A number in this value's type; a value as it is."""
        return value if isinstance(value, Term) else self._maker.constant(value, self)

    def total(self, name: str) -> Term:
        """This value reduced along the axes of the reduction that is differentiated, and repeated
        along them."""
        return self._maker.total(name, self)

    def __add__(self, other: Term | Number) -> Term:
        return self.op("add", other)

    def __sub__(self, other: Term | Number) -> Term:
        return self.op("sub", other)

    def __mul__(self, other: Term | Number) -> Term:
        return self.op("mul", other)

    def __truediv__(self, other: Term | Number) -> Term:
        return self.op("div", other)

    def __rsub__(self, other: Number) -> Term:
        return self.like(other) - self

    def __rmul__(self, other: Number) -> Term:
        return self.like(other) * self

    def __rtruediv__(self, other: Number) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return self.op("neg")


Derivative = Callable[..., Term | tuple[Term | None, ...] | None]


def zero(*given: Any, **keywords: Any) -> None:
    """The derivative of what is constant between steps."""


def choose(condition: Term, on_true: Term | Number, on_false: Term | Number, like: Term) -> Term:
    """``select``, of which numbers have the type of another value."""
    return condition.op("select", like.like(on_true), like.like(on_false))


def ones_where(condition: Term, like: Term) -> Term:
    """1 where a condition holds, else 0."""
    return choose(condition, 1, 0, like)


def without_zero(x: Term) -> Term:
    """A value with 1 in place of 0."""
    return choose(x.op("eq", 0), 1, x, x)


def of_extreme(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, Term]:
    """``max`` and ``min``: equal operands have half of the gradient each."""

    def share(x: Term, other: Term) -> Term:
        return ones_where(x.op("eq", y), g) / choose(other.op("eq", y), 2, 1, g)

    return g * share(a, b), g * share(b, a)


def of_reduced_extreme(g: Term, y: Term, x: Term, **axes: Any) -> Term:
    """``reduce_max`` and ``reduce_min``: the elements that equal the extreme share the gradient."""
    extreme = ones_where(x.op("eq", y), g)
    return g / extreme.total("reduce_sum") * extreme


def of_product(g: Term, y: Term, x: Term, **axes: Any) -> Term:
    """``reduce_prod``: the product of the other elements, also where one of them is 0."""
    is_zero = x.op("eq", 0)
    others = without_zero(x)
    zeros = ones_where(is_zero, x.op("real") if x.element_type.is_complex else x)
    count = zeros.total("reduce_sum")
    product = others.total("reduce_prod")
    alone = choose(is_zero, product, 0, g)
    rest = choose(count.op("eq", 1), alone, 0, g)
    return g * choose(count.op("eq", 0), product / others, rest, g)


def of_abs(g: Term, y: Term, x: Term) -> Term:
    """``abs``: of a real number 1 at 0, of a complex one 0."""
    if not x.element_type.is_complex:
        return choose(x.op("ge", 0), g, -g, g)
    size = without_zero(y)
    return (g / size).op("complex", 0) * x.op("conj")


def of_integer_pow(g: Term, y: Term, x: Term, /, **keywords: Any) -> Term | None:
    """``integer_pow``: of x ** 0 it is 0."""
    power = keywords["y"]
    if power == 0:
        return None
    return g if power == 1 else g * (float(power) * x.op("integer_pow", y=power - 1))


def of_pow(g: Term, y: Term, base: Term, power: Term) -> tuple[Term, Term]:
    """``pow``: of the power it is 0 at the base 0."""
    of_base = power * base.op("pow", power - 1)
    return g * of_base, g * (without_zero(base).op("log") * y)


def of_atan2(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, Term]:
    """``atan2``."""
    size = a.op("square") + b.op("square")
    return g * (b / size), g * (-a / size)


def of_copysign(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, None]:
    """``copysign``: of the magnitude as of abs; of the sign it is 0."""
    turned = choose(b.op("signbit"), -g, g, g)
    return choose(a.op("ge", 0), turned, -turned, g), None


def of_hypot(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, Term]:
    """``hypot``: 0 to both where one is infinite, and half to each where both are 0."""
    size = a.op("abs").op("max", b.op("abs"))
    unit = without_zero(size)
    length = (a / unit).op("hypot", b / unit)
    infinite = a.op("isinf").op("bitwise_or", b.op("isinf"))

    def part(x: Term) -> Term:
        share = choose(size.op("eq", 0), 0.5, (x / unit) / length, g)
        return g * choose(infinite, 0, share, g)

    return part(a), part(b)


def of_logaddexp(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, Term]:
    """``logaddexp``: positive infinities are differentiated as zeros."""

    def finite(x: Term) -> Term:
        return choose(x.op("eq", math.inf), 0, x, x)

    def part(x: Term) -> Term:
        return g * (finite(x) - finite(y)).op("exp")

    return part(a), part(b)


def of_clamp(g: Term, y: Term, lo: Term, x: Term, hi: Term) -> tuple[Term, Term, Term]:
    """``clamp``: 0 to all at a limit itself."""
    below = lo.op("gt", x).op("bitwise_and", lo.op("lt", hi))
    inside = x.op("gt", lo).op("bitwise_and", x.op("lt", hi))
    return choose(below, g, 0, g), choose(inside, g, 0, g), choose(hi.op("lt", x), g, 0, g)


def of_rem(g: Term, y: Term, a: Term, b: Term) -> tuple[Term, Term]:
    """``rem``: of the divisor, the quotient that was taken away."""
    quotient = a / b
    return g, -g * (quotient.op("sign") * quotient.op("abs").op("floor"))


def of_conversion(g: Term, y: Term, x: Term, **keywords: Any) -> Term:
    """``convert_element_type``: of a complex gradient the real part, where the operand is real."""
    return g.op("convert_element_type", to=x.element_type.name)


def of_real(g: Term, y: Term, x: Term) -> Term:
    """``real``."""
    return g.op("complex", 0) if x.element_type.is_complex else g


def of_imag(g: Term, y: Term, x: Term) -> Term | None:
    """``imag``; of a real number 0."""
    return g.like(0).op("complex", -g) if x.element_type.is_complex else None


def of_conj(g: Term, y: Term, x: Term) -> Term:
    """``conj``; a real number became complex first."""
    return g.op("conj") if x.element_type.is_complex else g.op("real")
