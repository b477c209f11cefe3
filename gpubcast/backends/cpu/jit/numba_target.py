"""What of numba kernels are made with: its types, and what emits operations on scalars.

numba's own target knows every type and function of Python's and NumPy's that numba has, which takes
longer to import than a kernel to compile; and it makes machine code of every function by itself,
though all but one end up inside of another. This target knows numbers and C's math; ``lowering``
makes functions with it.

Everything here holds numba's global lock.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from numba import types
from numba.core import callconv
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target
from numba.core.typing import mathdecl, templates
from numba.core.typing.context import BaseContext

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic

# An operation on some types: the type of its result, those that its operands are converted to, and
# what emits it, a function of (LLVM builder, values).
Operation = tuple[Any, tuple[Any, ...], Callable[[Any, list[Any]], Any]]


class ScalarTyping(BaseContext):  # type: ignore[misc]
    """The types of what scalar code computes."""

    def load_additional_registries(self) -> None:
        self.install_registry(mathdecl.registry)

    def install_registry(self, registry: Any) -> None:
        # Methods that are written in Python are for numba's own target, which each would complete.
        chosen = templates.Registry()
        chosen.functions, chosen.globals = registry.functions, registry.globals
        chosen.attributes = [
            one for one in registry.attributes
            if not issubclass(one, templates._OverloadAttributeTemplate)
        ]  # fmt: skip
        super().install_registry(chosen)

    def resolve_value_type(self, val: Any) -> Any:
        if isinstance(val, (BuiltinFunctionType, type)):
            # numba would look among its containers first, which takes longer than a kernel.
            found = self._lookup_global(val)
            if found is not None:
                return found
        return super().resolve_value_type(val)


class ScalarTarget(CPUContext):  # type: ignore[misc]
    """Code for numba's processor, without what numba adds for Python objects."""

    def init(self) -> None:
        # Its code generator knows the processor, and what the environment says of that.
        self._internal_codegen = cpu_target.target_context.codegen()
        self._operations: dict[tuple[Any, tuple[Any, ...]], Operation] = {}
        self.is32bit = False
        self.error_model = callconv.create_error_model("numpy", self)

    def load_additional_registries(self) -> None:
        # Each registers what it has when it is imported.
        from numba.cpython import builtins, mathimpl, numbers, tupleobj  # noqa: F401

        self.install_registry(mathimpl.registry)

    def operation(self, function: Any, given: tuple[Any, ...]) -> Operation:
        """What an intrinsic, or a function that numba knows, is on operands of some types.

        Raises:
            TypeError: it does not take them.
        """
        if not (isinstance(function, Intrinsic) and function.literal):
            given = tuple(map(types.unliteral, given))
        key = function, given
        found = self._operations.get(key)
        if found is None:
            made = self._intrinsic if isinstance(function, Intrinsic) else self._function
            found = self._operations[key] = made(function, given)
        return found

    def _intrinsic(self, intrinsic: Intrinsic, given: tuple[Any, ...]) -> Operation:
        found = intrinsic.definition(self.typing_context, *given)
        if found is None:
            raise TypeError(f"{intrinsic.definition.__name__} does not take {given}")
        signature, emit = found
        return (
            signature.return_type, signature.args,
            lambda builder, values: emit(self, builder, signature, values),
        )  # fmt: skip

    def _function(self, function: Any, given: tuple[Any, ...]) -> Operation:
        typed = self.typing_context.resolve_value_type(function)
        signature = self.typing_context.resolve_function_type(typed, given, {})
        if signature is None:
            raise TypeError(f"{function} does not take {given}")
        return signature.return_type, signature.args, self.get_function(typed, signature)

    def add_linking_libs(self, libs: Any) -> None:
        if any(True for _ in libs):
            raise NotImplementedError("a kernel is one module")


@functools.cache
def contexts() -> tuple[ScalarTyping, ScalarTarget]:
    """What numba types and emits scalar code with."""
    typing = ScalarTyping()
    target = ScalarTarget(typing)
    target.refresh()
    return typing, target
