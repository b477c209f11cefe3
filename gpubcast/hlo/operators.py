"""Python's operators: which operation each stands for, on arrays and on traced values alike."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from gpubcast.errors import ElementTypeError
from gpubcast.shapes.element_types import Category, ElementType

OtherT = TypeVar("OtherT")
# What an operator stands for may depend on the element type.
_FLOATING = {"/": "div", "%": "rem"}


class Operators(Generic[OtherT]):
    """Python's operators, as methods of arrays and of traced values.

    ``OtherT`` is what may stand on their other side, for type checkers.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _binary(self, operator: str, other: OtherT, *, reflected: bool = False) -> Self:
        """The operator on this object and another, which is the left one where ``reflected``;
        NotImplemented for an object that is no operand."""
        raise NotImplementedError

    def _unary(self, operator: str) -> Self:
        """The operator on this object."""
        raise NotImplementedError

    def __add__(self, other: OtherT) -> Self:
        return self._binary("add", other)

    def __radd__(self, other: OtherT) -> Self:
        return self._binary("add", other, reflected=True)

    def __sub__(self, other: OtherT) -> Self:
        return self._binary("sub", other)

    def __rsub__(self, other: OtherT) -> Self:
        return self._binary("sub", other, reflected=True)

    def __mul__(self, other: OtherT) -> Self:
        return self._binary("mul", other)

    def __rmul__(self, other: OtherT) -> Self:
        return self._binary("mul", other, reflected=True)

    def __truediv__(self, other: OtherT) -> Self:
        return self._binary("/", other)

    def __rtruediv__(self, other: OtherT) -> Self:
        return self._binary("/", other, reflected=True)

    def __mod__(self, other: OtherT) -> Self:
        return self._binary("%", other)

    def __rmod__(self, other: OtherT) -> Self:
        return self._binary("%", other, reflected=True)

    def __pow__(self, other: OtherT) -> Self:
        return self._binary("pow", other)

    def __rpow__(self, other: OtherT) -> Self:
        return self._binary("pow", other, reflected=True)

    def __lshift__(self, other: OtherT) -> Self:
        return self._binary("shift_left", other)

    def __rlshift__(self, other: OtherT) -> Self:
        return self._binary("shift_left", other, reflected=True)

    def __rshift__(self, other: OtherT) -> Self:
        return self._binary(">>", other)

    def __rrshift__(self, other: OtherT) -> Self:
        return self._binary(">>", other, reflected=True)

    def __and__(self, other: OtherT) -> Self:
        return self._binary("bitwise_and", other)

    def __rand__(self, other: OtherT) -> Self:
        return self._binary("bitwise_and", other, reflected=True)

    def __or__(self, other: OtherT) -> Self:
        return self._binary("bitwise_or", other)

    def __ror__(self, other: OtherT) -> Self:
        return self._binary("bitwise_or", other, reflected=True)

    def __xor__(self, other: OtherT) -> Self:
        return self._binary("bitwise_xor", other)

    def __rxor__(self, other: OtherT) -> Self:
        return self._binary("bitwise_xor", other, reflected=True)

    def __eq__(self, other: OtherT) -> Self:  # type: ignore[override]
        return self._binary("eq", other)

    def __ne__(self, other: OtherT) -> Self:  # type: ignore[override]
        return self._binary("ne", other)

    def __lt__(self, other: OtherT) -> Self:
        return self._binary("lt", other)

    def __le__(self, other: OtherT) -> Self:
        return self._binary("le", other)

    def __gt__(self, other: OtherT) -> Self:
        return self._binary("gt", other)

    def __ge__(self, other: OtherT) -> Self:
        return self._binary("ge", other)

    def __neg__(self) -> Self:
        return self._unary("neg")

    def __abs__(self) -> Self:
        return self._unary("abs")

    def __invert__(self) -> Self:
        return self._unary("bitwise_not")


def depends(operator: str) -> bool:
    """Whether what an operator stands for depends on the element type."""
    return operator in _FLOATING or operator == ">>"


def operation(operator: str, element_type: ElementType) -> str:
    """The operation that an operator stands for on an element type.

    Raises:
        ElementTypeError: A7, ``/`` or ``%`` on integers.
    """
    if operator == ">>":
        signed = element_type.category is Category.SIGNED
        return "shift_right_arithmetic" if signed else "shift_right_logical"
    if operator in _FLOATING and element_type.is_integral:
        raise ElementTypeError(
            f"{operator} is not defined on {element_type}: gb.div truncates toward zero and gb.rem "
            "has the dividend's sign, as in XLA; call the one you mean, or convert to a float "
            "type with gb.convert_element_type",
            rule="A7",
            kind="gpubcast:integer operator",
        )
    return _FLOATING.get(operator, operator)
