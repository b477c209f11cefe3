"""Python's operators, as the functions of the standard that they stand for."""

from __future__ import annotations

from typing import Any, Self


class StandardOperators:
    """Python's operators, as methods of arrays."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _binary(self, name: str, other: Any, *, reflected: bool = False) -> Self:
        """A function of this array and another operand, which is the left one where ``reflected``;
        NotImplemented for an object that is no operand."""
        raise NotImplementedError

    def _in_place(self, name: str, other: Any) -> Self:
        """The same, written into this array."""
        raise NotImplementedError

    def _unary(self, name: str) -> Self:
        """A function of this array."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Self:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Self:
        return self._binary("add", other, reflected=True)

    def __iadd__(self, other: Any) -> Self:
        return self._in_place("add", other)

    def __sub__(self, other: Any) -> Self:
        return self._binary("subtract", other)

    def __rsub__(self, other: Any) -> Self:
        return self._binary("subtract", other, reflected=True)

    def __isub__(self, other: Any) -> Self:
        return self._in_place("subtract", other)

    def __mul__(self, other: Any) -> Self:
        return self._binary("multiply", other)

    def __rmul__(self, other: Any) -> Self:
        return self._binary("multiply", other, reflected=True)

    def __imul__(self, other: Any) -> Self:
        return self._in_place("multiply", other)

    def __truediv__(self, other: Any) -> Self:
        return self._binary("divide", other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._binary("divide", other, reflected=True)

    def __itruediv__(self, other: Any) -> Self:
        return self._in_place("divide", other)

    def __floordiv__(self, other: Any) -> Self:
        return self._binary("floor_divide", other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._binary("floor_divide", other, reflected=True)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._in_place("floor_divide", other)

    def __mod__(self, other: Any) -> Self:
        return self._binary("remainder", other)

    def __rmod__(self, other: Any) -> Self:
        return self._binary("remainder", other, reflected=True)

    def __imod__(self, other: Any) -> Self:
        return self._in_place("remainder", other)

    def __pow__(self, other: Any) -> Self:
        return self._binary("pow", other)

    def __rpow__(self, other: Any) -> Self:
        return self._binary("pow", other, reflected=True)

    def __ipow__(self, other: Any) -> Self:
        return self._in_place("pow", other)

    def __lshift__(self, other: Any) -> Self:
        return self._binary("bitwise_left_shift", other)

    def __rlshift__(self, other: Any) -> Self:
        return self._binary("bitwise_left_shift", other, reflected=True)

    def __ilshift__(self, other: Any) -> Self:
        return self._in_place("bitwise_left_shift", other)

    def __rshift__(self, other: Any) -> Self:
        return self._binary("bitwise_right_shift", other)

    def __rrshift__(self, other: Any) -> Self:
        return self._binary("bitwise_right_shift", other, reflected=True)

    def __irshift__(self, other: Any) -> Self:
        return self._in_place("bitwise_right_shift", other)

    def __and__(self, other: Any) -> Self:
        return self._binary("bitwise_and", other)

    def __rand__(self, other: Any) -> Self:
        return self._binary("bitwise_and", other, reflected=True)

    def __iand__(self, other: Any) -> Self:
        return self._in_place("bitwise_and", other)

    def __or__(self, other: Any) -> Self:
        return self._binary("bitwise_or", other)

    def __ror__(self, other: Any) -> Self:
        return self._binary("bitwise_or", other, reflected=True)

    def __ior__(self, other: Any) -> Self:
        return self._in_place("bitwise_or", other)

    def __xor__(self, other: Any) -> Self:
        return self._binary("bitwise_xor", other)

    def __rxor__(self, other: Any) -> Self:
        return self._binary("bitwise_xor", other, reflected=True)

    def __ixor__(self, other: Any) -> Self:
        return self._in_place("bitwise_xor", other)

    def __matmul__(self, other: Any) -> Self:
        return self._binary("matmul", other)

    def __rmatmul__(self, other: Any) -> Self:
        return self._binary("matmul", other, reflected=True)

    def __imatmul__(self, other: Any) -> Self:
        return self._in_place("matmul", other)

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]
        return self._binary("equal", other)

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]
        return self._binary("not_equal", other)

    def __lt__(self, other: Any) -> Self:
        return self._binary("less", other)

    def __le__(self, other: Any) -> Self:
        return self._binary("less_equal", other)

    def __gt__(self, other: Any) -> Self:
        return self._binary("greater", other)

    def __ge__(self, other: Any) -> Self:
        return self._binary("greater_equal", other)

    def __neg__(self) -> Self:
        return self._unary("negative")

    def __pos__(self) -> Self:
        return self._unary("positive")

    def __abs__(self) -> Self:
        return self._unary("abs")

    def __invert__(self) -> Self:
        return self._unary("bitwise_invert")
