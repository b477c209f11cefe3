"""What compiled code calls that is emitted as LLVM instructions.

numba has a decorator for that, which completes numba's own target first (see ``numba_target``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

# Types the result of a call from the operands' types, and says how to emit it.
Definition = Callable[..., tuple[Any, Callable[..., Any]] | None]


class Intrinsic:
    """What compiled code calls that is emitted as LLVM instructions.

    Attributes:
        definition: takes the typing context and the operands' types; gives a numba signature and a
            function of (target context, LLVM builder, signature, LLVM values) that emits the
            instructions and returns their result. None where it does not take such operands.
        literal: whether the types of constants are to say their values.
    """

    def __init__(self, definition: Definition, *, literal: bool = False) -> None:
        self.definition, self.literal = definition, literal
        self.numba_type = IntrinsicType(self)

    def __call__(self, *operands: Any) -> Any:
        raise NotImplementedError(f"{self.definition.__name__} is for compiled code only")


class IntrinsicType(types.Callable):  # type: ignore[misc]
    """Its type, for numba."""

    def __init__(self, intrinsic: Intrinsic) -> None:
        super().__init__(f"intrinsic {intrinsic.definition.__name__} at {id(intrinsic):#x}")
        self._intrinsic = intrinsic
        self._emitters: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        given = args if self._intrinsic.literal else tuple(map(types.unliteral, args))
        found = self._intrinsic.definition(context, *given)
        if found is None:
            return None
        signature, self._emitters[found[0].args] = found
        return signature

    def get_call_signatures(self) -> tuple[tuple[Any, ...], bool]:
        return (), True

    def get_impl_key(self, signature: Any) -> Any:
        return self._intrinsic

    def emitter(self, signature: Any) -> Callable[..., Any]:
        """What emits a call."""
        return self._emitters[signature.args]
