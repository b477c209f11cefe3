"""Python's operators: which operation each stands for, on arrays and on traced values alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpubcast.element_types import Category, ElementType
from gpubcast.errors import ElementTypeError

BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "/", "mod": "%", "pow": "pow",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "shift_left", "rshift": ">>",
}  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}
# What an operator stands for may depend on the element type.
_FLOATING = {"/": "div", "%": "rem"}


def install(cls: type, call: Callable[..., Any], accepts: Callable[[Any], bool]) -> None:
    """Give a class the operators.

    Args:
        cls: the class.
        call: ``call(operator, *operands)`` computes.
        accepts: whether an object may stand beside an instance.
    """

    def method(name: str, *, reflected: bool = False) -> Callable[..., Any]:
        def binary(self: Any, other: Any) -> Any:
            if not accepts(other):
                return NotImplemented
            return call(name, other, self) if reflected else call(name, self, other)

        return binary

    def unary(name: str) -> Callable[[Any], Any]:
        return lambda self: call(name, self)

    for symbol, name in BINARY.items():
        setattr(cls, f"__{symbol}__", method(name))
        setattr(cls, f"__r{symbol}__", method(name, reflected=True))
    for name in COMPARISONS:
        setattr(cls, f"__{name}__", method(name))
    for symbol, name in UNARY.items():
        setattr(cls, f"__{symbol}__", unary(name))


def depends(operator: str) -> bool:
    """Whether what an operator stands for depends on the element type."""
    return operator in _FLOATING or operator == ">>"


def operation(operator: str, kind: ElementType) -> str:
    """The operation that an operator stands for on an element type.

    Raises:
        ElementTypeError: A7, ``/`` or ``%`` on integers.
    """
    if operator == ">>":
        signed = kind.category is Category.SIGNED
        return "shift_right_arithmetic" if signed else "shift_right_logical"
    if operator in _FLOATING and kind.is_integral:
        raise ElementTypeError(
            f"{operator} is not defined on {kind}: gb.div truncates toward zero and gb.rem has "
            "the dividend's sign, as in XLA; call the one you mean, or convert to a float "
            "type with gb.convert_element_type",
            rule="A7",
            kind="gpubcast:integer operator",
        )
    return _FLOATING.get(operator, operator)
