"""``a += b`` and its kin, which write into ``a``; and the operators that gpubcast has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

from gpubcast.array_methods.part import Part
from gpubcast.errors import ElementTypeError
from gpubcast.hlo import foreign_names
from gpubcast.hlo.operators import operation
from gpubcast.runtime import eager_call
from gpubcast.runtime.operands import is_operand


def _absent(operator: str) -> NoReturn:
    raise ElementTypeError(
        f"an Array has no {operator}{foreign_names.of_operator(operator)}",
        rule="A7",
        kind="gpubcast:absent operator",
    )


class InPlace(Part):
    """Augmented assignment: the operation with ``out`` the left side (A2)."""

    __slots__ = ()

    def _assign(self, operator: str, other: Any) -> Self:
        if not is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        name = operation(operator, self._operand.shape.element_type)
        result: Self = eager_call.APPLY.call(name, (self, other), self, None, None)
        return result

    def __iadd__(self, other: Any) -> Self:
        return self._assign("add", other)

    def __isub__(self, other: Any) -> Self:
        return self._assign("sub", other)

    def __imul__(self, other: Any) -> Self:
        return self._assign("mul", other)

    def __itruediv__(self, other: Any) -> Self:
        return self._assign("/", other)

    def __imod__(self, other: Any) -> Self:
        return self._assign("%", other)

    def __ipow__(self, other: Any) -> Self:
        return self._assign("pow", other)

    def __ilshift__(self, other: Any) -> Self:
        return self._assign("shift_left", other)

    def __irshift__(self, other: Any) -> Self:
        return self._assign(">>", other)

    def __iand__(self, other: Any) -> Self:
        return self._assign("bitwise_and", other)

    def __ior__(self, other: Any) -> Self:
        return self._assign("bitwise_or", other)

    def __ixor__(self, other: Any) -> Self:
        return self._assign("bitwise_xor", other)

    if not TYPE_CHECKING:  # for type checkers there are none

        def __floordiv__(self, other: Any) -> NoReturn:
            _absent("//")

        __rfloordiv__ = __ifloordiv__ = __floordiv__

        def __matmul__(self, other: Any) -> NoReturn:
            _absent("@")

        __rmatmul__ = __imatmul__ = __matmul__

        def __divmod__(self, other: Any) -> NoReturn:
            _absent("divmod()")

        __rdivmod__ = __divmod__

        def __round__(self, digits: int | None = None) -> NoReturn:
            _absent("round()")
