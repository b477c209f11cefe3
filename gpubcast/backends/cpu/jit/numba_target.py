"""What of numba compiles kernels: its front end, for functions of scalars over raw memory.

numba's own target knows every type and function of Python's and NumPy's that numba has, which takes
longer to import than a kernel to compile; and it makes machine code of every function by itself,
though all but one end up inside of another. This target knows numbers, ranges, tuples and C's math.
What a kernel calls becomes part of the kernel's one LLVM module: ``Intrinsic``s as instructions,
Python functions as functions of the module.

Everything here holds numba's global lock, or is called by numba, which holds it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba import types
from numba.core import bytecode, callconv, compiler, funcdesc, interpreter, ir, postproc
from numba.core.cpu import CPUContext
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import type_inference_stage
from numba.core.typing import mathdecl, templates
from numba.core.typing.context import BaseContext

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic, IntrinsicType
from gpubcast.backends.cpu.jit.llvm_passes import optimised
from gpubcast.backends.cpu.jit.ranges import BUILTINS, STEPS, extracted


class Inlined:
    """A Python function that is taken into each of its callers, whatever its size. It is computed
    as it is written: fast math of a caller stops here."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.numba_type = _FunctionType(function, inlined=True)


class _FunctionType(types.Callable):  # type: ignore[misc]
    """A Python function that compiled code calls."""

    def __init__(self, function: Callable[..., Any], *, inlined: bool) -> None:
        super().__init__(f"function {function.__qualname__} at {id(function):#x}")
        self._function, self._inlined = function, inlined
        self._typed: dict[tuple[Any, ...], TypedFunction] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        given = tuple(map(types.unliteral, args))
        if given not in self._typed:
            self._typed[given] = TypedFunction(self._function, given, inlined=self._inlined)
        return self._typed[given].signature

    def get_call_signatures(self) -> tuple[tuple[Any, ...], bool]:
        return (), True

    def get_impl_key(self, signature: Any) -> Any:
        return self._function

    def emitter(self, signature: Any) -> Callable[..., Any]:
        """What emits a call."""
        return self._typed[signature.args].call


class TypedFunction:
    """A Python function with types of its arguments, as numba's IR.

    Attributes:
        signature: its numba signature.
        descriptor: what numba says of it as a function of LLVM's.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], *, inlined: bool,
        result: Any = None,
    ) -> None:  # fmt: skip
        identity = bytecode.FunctionIdentity.from_function(function)
        self._ir = interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))
        postproc.PostProcessor(self._ir).run()
        _, target = contexts()
        found = type_inference_stage(target.typing_context, target, self._ir, arguments, result)
        for block in self._ir.blocks.values():
            block.body = [one for one in block.body if not _names_function(one, found.typemap)]
        self.signature = found.return_type(*arguments)
        self.descriptor = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            self._ir, found.typemap, found.return_type, found.calltypes,
            mangler=target.mangler, inline=inlined, noalias=False, abi_tags=(),
        )  # fmt: skip

    def lowered(self) -> LoweredFunction:
        """The function in a module of its own."""
        codegen = contexts()[1].codegen()
        module = Module(self.descriptor.mangled_name)
        module.triple, module.data_layout = codegen._llvm_module.triple, codegen._data_layout
        return LoweredFunction(module, self._lowered_into(module))

    def _lowered_into(self, module: Module) -> Any:
        lowering = _Lowering(contexts()[1], _SingleModule(module), self.descriptor, self._ir)
        lowering.lower()
        return lowering.function

    def call(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Emit a call."""
        module, name = builder.module, self.descriptor.mangled_name
        if self.descriptor.inline:
            module.linked.setdefault(name, self)
        elif name not in module.globals:
            self._lowered_into(module).linkage = "internal"
        return context.call_internal(builder, self.descriptor, signature, args)

    @functools.cached_property
    def optimised(self) -> Any:
        """Its module, optimised, to be linked into those of callers, each of which may have it."""
        found = self.lowered().optimised()
        found.get_function(self.descriptor.mangled_name).linkage = "linkonce_odr"
        return found


def _names_function(statement: Any, typemap: dict[str, Any]) -> bool:
    """Whether a statement only gives a name to what is called, or to its module: these have types,
    and no values."""
    of = typemap[statement.target.name] if isinstance(statement, ir.Assign) else None
    return isinstance(of, (types.Callable, types.NumberClass, types.Module))


class LoweredFunction(NamedTuple):
    """A function in an LLVM module, not optimised."""

    module: Module
    function: Any

    def optimised(self) -> Any:
        """LLVM's module, with all that the function calls."""
        _, target = contexts()
        linked = [one.optimised for one in self.module.linked.values()]
        return optimised(str(self.module), linked, target.codegen())


class Module(llvm.Module):  # type: ignore[misc]
    """An LLVM module.

    Attributes:
        linked: the functions in modules of their own that it calls, by name: those that are always
            inlined, which are optimised once for all that call them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.linked: dict[str, TypedFunction] = {}


class _SingleModule:
    """Stands for a code library of numba's while functions are lowered: all into one module."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def create_ir_module(self, name: str) -> Any:
        return self._module


class _Lowering(Lower):  # type: ignore[misc]
    """numba's, of a function that is no generator, never asks for Python and counts no references:
    where numba makes sure that this is so, instruction by instruction, here it is known."""

    def lower(self) -> None:
        self.genlower = None
        self.lower_normal_function(self.fndesc)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        typing = self.context.typing_context
        function = typing.resolve_value_type(op)
        signature = typing.resolve_function_type(function, self.fndesc.calltypes[expr].args, {})
        operands = [
            self.context.cast(self.builder, self.loadvar(one.name), self.typeof(one.name), to)
            for one, to in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        result = self.context.get_function(function, signature)(self.builder, operands)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def incref(self, typ: Any, val: Any) -> None:
        """Nothing has references."""

    def decref(self, typ: Any, val: Any) -> None:
        """Nothing has references."""


class ScalarTyping(BaseContext):  # type: ignore[misc]
    """The types of what scalar code computes."""

    def init(self) -> None:
        self._called: dict[Any, Any] = {}
        self._functions_of: dict[FunctionType, _FunctionType] = {}

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
        if isinstance(val, (Intrinsic, Inlined)):
            return val.numba_type
        if isinstance(val, FunctionType):
            found = self._functions_of.get(val)
            if found is None:
                found = self._functions_of[val] = _FunctionType(val, inlined=False)
            return found
        if isinstance(val, (BuiltinFunctionType, type)):
            own = BUILTINS.get(val)
            # numba would look among its containers first, which takes longer than a kernel.
            found = self._lookup_global(val) if own is None else own.numba_type
            if found is not None:
                return found
        return super().resolve_value_type(val)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        # What a call means depends on nothing else here; numba would find it out each time anew.
        key = func, tuple(args)
        found = self._called.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None and not kws:
                self._called[key] = found
        return found


class ScalarTarget(CPUContext):  # type: ignore[misc]
    """Code for numba's processor, without what numba adds for Python objects."""

    def init(self) -> None:
        # Its code generator knows the processor, and what the environment says of that.
        self._internal_codegen = cpu_target.target_context.codegen()
        self._implementations: dict[Any, Callable[..., Any]] = {}
        self.is32bit = False
        self.error_model = callconv.create_error_model("numpy", self)

    def load_additional_registries(self) -> None:
        # Each registers what it has when it is imported.
        from numba.cpython import builtins, mathimpl, numbers, rangeobj, tupleobj  # noqa: F401

        self.install_registry(mathimpl.registry)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        key = fn, sig
        found = self._implementations.get(key)
        if found is None:
            found = self._implementations[key] = self._implementation(fn, sig)
        return functools.partial(_emitted, found, self, sig)

    def _implementation(self, fn: Any, sig: Any) -> Callable[..., Any]:
        """What emits a call: a function of (target context, builder, signature, values)."""
        if isinstance(fn, (IntrinsicType, _FunctionType)):
            return fn.emitter(sig)
        if isinstance(fn, str) and fn in STEPS:
            of_type, emit = STEPS[fn]
            if isinstance(sig.args[0], of_type):
                return emit
        wrapped = super().get_function(fn, sig)
        return lambda context, builder, signature, args: wrapped(builder, args)

    def pair_first(self, builder: Any, val: Any, ty: Any) -> Any:
        return extracted(builder, val, 0)

    def pair_second(self, builder: Any, val: Any, ty: Any) -> Any:
        return extracted(builder, val, 1)

    def add_linking_libs(self, libs: Any) -> None:
        if any(True for _ in libs):
            raise NotImplementedError("a kernel is one module")


def _emitted(
    emit: Callable[..., Any], context: Any, signature: Any, builder: Any, args: Any, loc: Any = None
) -> Any:
    return emit(context, builder, signature, args)


@functools.cache
def contexts() -> tuple[ScalarTyping, ScalarTarget]:
    """What numba types and lowers scalar code with."""
    typing = ScalarTyping()
    target = ScalarTarget(typing)
    target.refresh()
    return typing, target


def flags() -> Any:
    """numba's options while functions are typed and lowered; to be used in a ``with``."""
    given = compiler.Flags()
    given.no_cpython_wrapper = given.no_cfunc_wrapper = True
    given.nrt = False
    given.error_model = "numpy"
    return ConfigStack().enter(given)
