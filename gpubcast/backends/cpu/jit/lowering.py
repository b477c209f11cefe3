"""Python functions as functions of an LLVM module, in one pass over numba's IR.

numba reads Python's bytecode, says what an operation gives on some types, and emits it. Its own way
from one to the other, a network of constraints and then a walk that is ready for Python objects,
takes longer than all else of a small kernel. Here types are those of what is emitted: a statement's
are known when it is reached. That asks of a kernel, and of functions that return nothing, that a
variable has one type; of others the types are found out first.

What a function calls is an ``Intrinsic``, which becomes instructions, an operation of numba's, or a
Python function, which becomes a function of the same module.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, ClassVar, NamedTuple

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils, ir

from gpubcast.backends.cpu.jit.function_ir import (
    interpreted,
    local_variables,
    loops,
    returns_nothing,
)
from gpubcast.backends.cpu.jit.llvm_passes import optimised
from gpubcast.backends.cpu.jit.numba_target import contexts
from gpubcast.backends.cpu.jit.ranges import EXTREMES, begun, extracted, range_of, turned

# Stands for the type of what is no value: functions, types and modules.
_OBJECT = object()
# The most loops of a function that LLVM takes apart but once, see ``llvm_passes``.
_FEW_LOOPS = 2


class TypedValue(NamedTuple):
    """What a variable holds: numba's type, and LLVM's value or what is known while compiling."""

    type: Any
    value: Any


# Functions of one name are told apart by the order in which they are made.
_NUMBERS = itertools.count()


class Inlined:
    """A Python function that is taken into each of its callers, whatever its size. It is computed
    as it is written: fast math of a caller stops here. It is optimised once for all of them."""

    attribute = "alwaysinline"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._number = next(_NUMBERS)
        self._modules: dict[tuple[Any, ...], Any] = {}

    def name(self, arguments: tuple[Any, ...]) -> str:
        """Its name in all modules, for some types of arguments."""
        return f"{self.function.__qualname__} {self._number} {arguments}"

    def module(self, arguments: tuple[Any, ...]) -> Any:
        """A module that has it, for some types of arguments."""
        found = self._modules.get(arguments)
        if found is None:
            name = self.name(arguments)
            module = new_module(name)
            made = FunctionLowering(module, name, arguments, _types(self.function, arguments))
            made.function.attributes.add(self.attribute)
            module.is_simple |= isinstance(self, Called)
            found = self._modules[arguments] = module.optimised()
            found.get_function(name).linkage = "linkonce_odr"
        return found


class Called(Inlined):
    """A Python function of no result that stays one: what it does is worth a call. Its machine
    code is the same in all kernels, none of which LLVM has to look through again."""

    attribute = "noinline"


class Module(llvm.Module):  # type: ignore[misc]
    """An LLVM module, not optimised.

    Attributes:
        own: its functions by what they are made of.
        linked: modules of functions that are inlined into its own, by name.
        called: the same of those that are called.
        is_simple: whether it has few loops, and calls no Python functions that are inlined.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.own: dict[tuple[Any, tuple[Any, ...]], Any] = {}
        self.linked: dict[str, Any] = {}
        self.called: dict[str, Any] = {}
        self.is_simple = True

    def optimised(self) -> Any:
        """LLVM's module, with all that its functions call."""
        codegen, linked = contexts()[1].codegen(), list(self.linked.values())
        found = optimised(str(self), linked, codegen, is_simple=self.is_simple)
        for name, module in self.called.items():
            found.link_in(module, preserve=True)
            found.get_function(name).linkage = "internal"
        return found


def new_module(name: str) -> Module:
    """An empty module for the processor of numba's code generator."""
    codegen = contexts()[1].codegen()
    module = Module(name)
    module.triple, module.data_layout = codegen._llvm_module.triple, codegen._data_layout
    return module


def entry(function: Callable[..., Any], arguments: int) -> tuple[Module, Any]:
    """A module of a function of so many 64-bit integers, and that function there."""
    module = new_module(function.__name__)
    typed = FunctionTypes(interpreted(function), types.none, {})
    return module, FunctionLowering(module, module.name, (types.int64,) * arguments, typed).function


class FunctionTypes(NamedTuple):
    """A function in numba's IR, the types of what it returns and of variables that have memory."""

    blocks: dict[int, Any]
    result: Any
    variables: dict[str, Any]


@functools.lru_cache(256)
def _types(function: Callable[..., Any], arguments: tuple[Any, ...]) -> FunctionTypes:
    """A function's types, which are known when all of it has been emitted."""
    found = FunctionTypes(interpreted(function), None, {})
    if returns_nothing(found.blocks):
        return found._replace(result=types.none)
    while True:
        made = FunctionLowering(new_module("types"), "types", arguments, found)
        variables = {name: slot.type for name, slot in made.slots.items()}
        if not any(variables[name] != found.variables.get(name) for name in made.widened):
            return found._replace(result=made.result, variables=variables)
        found = found._replace(variables=variables)


class FunctionLowering:
    """One function of a module.

    Args:
        module, name: the module, and the function's name there.
        arguments: numba's types of its arguments.
        typed: what is lowered; the type of its result is None where only types are asked for.

    Attributes:
        function: LLVM's.
        result: the type of what it returns.
        slots: the variables that have memory, with their types.
        widened: those of them whose type is not that of what is first assigned.
    """

    def __init__(
        self, module: Module, name: str, arguments: tuple[Any, ...], typed: FunctionTypes
    ) -> None:
        self._typing, self._target = contexts()
        blocks, self.result, self._variable_types = typed
        self._module, self._only_types = module, self.result is None
        self.function = _declared(module, name, self.result or types.none, arguments)
        decoded = self._target.call_conv.decode_arguments
        self._builder = llvm.IRBuilder(self.function.append_basic_block("entry"))
        given = decoded(self._builder, arguments, self.function)
        # Of a boolean that takes a branch.
        begin = self._builder.block
        self._arguments = list(zip(arguments, given, strict=True))
        self._is_local = local_variables(blocks)
        self._values: dict[str, TypedValue] = {}
        self.slots: dict[str, TypedValue] = {}
        self.widened = set[str]()
        # Loops over ranges, those of them before the last call that stays one, and other calls.
        self._loops, self._around, self._calls = 0, 0, 0
        self._blocks = {n: self.function.append_basic_block(f"B{n}") for n in sorted(blocks)}
        self._reached = {min(blocks)}
        for number, block in self._blocks.items():
            self._builder.position_at_end(block)
            if number not in self._reached:
                self._builder.unreachable()
                continue
            for statement in blocks[number].body:
                self._statements[type(statement)](self, statement)
        self._builder.position_at_end(begin)
        self._builder.branch(self._blocks[min(blocks)])
        module.is_simple &= not self._calls and loops(blocks) - self._around <= _FEW_LOOPS

    def _assign(self, statement: Any) -> None:
        name, value = statement.target.name, self._evaluated(statement.value)
        if self._is_local.get(name, False) or value.type is _OBJECT:
            self._values[name] = value
            return
        typed = self._variable_types.get(name) or _plain(value.type)
        before = self.slots[name].type if name in self.slots else None
        if before is not None and before != typed:
            if not self._only_types:
                raise TypeError(f"{name} is {before} and {typed}")
            self.widened.add(name)
            before, typed = None, self._unified(before, typed)
        found = self._cast(value, typed)
        if before is None:
            self.slots[name] = TypedValue(typed, self._slot(found.type, name))
        self._builder.store(found, self.slots[name].value)

    def _unified(self, first: Any, second: Any) -> Any:
        """The type that values of two types are converted to."""
        found = self._typing.unify_types(first, second)
        if found is None:
            raise TypeError(f"a value is {first} and {second}")
        return found

    def _slot(self, typed: Any, name: str) -> Any:
        """Memory of a variable, zero before it is assigned."""
        with self._builder.goto_entry_block():
            slot = self._builder.alloca(typed, name=name)
            self._builder.store(llvm.Constant(typed, None), slot)
        return slot

    def _branch(self, statement: Any) -> None:
        condition = self._cast(self._variable(statement.cond.name), types.boolean)
        if isinstance(condition, llvm.Constant):
            taken = statement.truebr if condition.constant else statement.falsebr
            self._builder.branch(self._reach(taken))
            return
        then, otherwise = self._reach(statement.truebr), self._reach(statement.falsebr)
        self._builder.cbranch(condition, then, otherwise)

    def _jump(self, statement: Any) -> None:
        self._builder.branch(self._reach(statement.target))

    def _reach(self, number: int) -> Any:
        """A block that is gone on with; one that none is gone to from has no code."""
        self._reached.add(number)
        return self._blocks[number]

    def _return(self, statement: Any) -> None:
        found = self._variable(statement.value.name)
        if self._only_types:
            typed = _plain(found.type)
            self.result = typed if self.result is None else self._unified(self.result, typed)
            self._builder.unreachable()
            return
        value = self._cast(found, self.result)
        returned = self._target.get_return_value(self._builder, self.result, value)
        self._target.call_conv.return_value(self._builder, returned)

    def _evaluated(self, what: Any) -> TypedValue:
        if isinstance(what, ir.Var):
            return self._variable(what.name)
        if isinstance(what, ir.Expr):
            if what.op not in self._expressions:
                raise NotImplementedError(f"{what.op} in compiled code")
            return self._expressions[what.op](self, what)
        if isinstance(what, ir.Arg):
            return TypedValue(*self._arguments[what.index])
        return self._constant(what.value)

    def _constant(self, what: Any) -> TypedValue:
        """A number of the source, or what a name there stands for."""
        if what is None:
            return TypedValue(types.none, self._target.get_dummy_value())
        if not isinstance(what, (bool, int, float, complex)):
            return TypedValue(_OBJECT, what)
        typed = types.maybe_literal(what) or self._typing.resolve_value_type(what)
        return TypedValue(typed, self._target.get_constant_generic(self._builder, typed, what))

    def _variable(self, name: str) -> TypedValue:
        found = self._values.get(name)
        if found is not None:
            return found
        slot = self.slots[name]
        return TypedValue(slot.type, self._builder.load(slot.value))

    def _variables(self, *names: Any) -> list[TypedValue]:
        return [self._variable(one.name) for one in names]

    def _cast(self, value: TypedValue, to: Any) -> Any:
        if value.type is to:
            return value.value
        return self._target.cast(self._builder, value.value, value.type, to)

    def _binary(self, what: Any) -> TypedValue:
        return self._operation(what.fn, self._variables(what.lhs, what.rhs))

    def _binary_in_place(self, what: Any) -> TypedValue:
        return self._operation(what.immutable_fn, self._variables(what.lhs, what.rhs))

    def _unary(self, what: Any) -> TypedValue:
        return self._operation(what.fn, self._variables(what.value))

    def _call(self, what: Any) -> TypedValue:
        callee, given = self._variable(what.func.name), self._variables(*what.args)
        if callee.type is not _OBJECT or what.kws or what.vararg:
            raise NotImplementedError(f"a call of {what.func.name}")
        function = callee.value
        if isinstance(function, (FunctionType, Inlined)):
            return self._called(function, given)
        if function is range:
            bounds = [self._cast(one, types.int64) for one in given]
            return TypedValue(types.range_state64_type, range_of(self._builder, bounds))
        return self._operation(EXTREMES.get(function, function), given)

    def _operation(self, function: Any, given: list[TypedValue]) -> TypedValue:
        """An intrinsic, or an operation of numba's."""
        typed = tuple(one.type for one in given)
        result, arguments, emit = self._target.operation(function, typed)
        values = list(map(self._cast, given, arguments))
        return TypedValue(result, emit(self._builder, values))

    def _called(self, function: Any, given: list[TypedValue]) -> TypedValue:
        """A call of a function of this module, or of one that is linked to it."""
        typed = tuple(_plain(one.type) for one in given)
        types_of = _types(getattr(function, "function", function), typed)
        result = types_of.result
        if self._only_types:
            return TypedValue(result, llvm.Constant(self._target.get_value_type(result), None))
        callee = self._module.own.get((function, typed))
        if callee is None:
            callee = self._module.own[function, typed] = self._callee(function, typed, types_of)
        values = list(map(self._cast, given, typed))
        convention = self._target.call_conv
        status, found = convention.call_function(self._builder, callee, result, typed, values)
        if isinstance(function, Called):
            self._around = self._loops
        else:
            self._calls += 1
            with cgutils.if_unlikely(self._builder, status.is_error):
                convention.return_status_propagate(self._builder, status)
        return TypedValue(result, found)

    def _callee(self, function: Any, typed: tuple[Any, ...], types_of: FunctionTypes) -> Any:
        """A function of this module, or what stands in it for one of another."""
        if not isinstance(function, Inlined):
            name = f"{function.__qualname__} {len(self._module.own)}"
            made = FunctionLowering(self._module, name, typed, types_of).function
            made.linkage = "internal"
            return made
        name = function.name(typed)
        made = _declared(self._module, name, types_of.result, typed)
        if isinstance(function, Called):
            self._module.called[name] = function.module(typed)
            made.attributes.add("nounwind")
        else:
            self._module.linked[name] = function.module(typed)
            made.attributes.add("alwaysinline")
        return made

    def _attribute(self, what: Any) -> TypedValue:
        of = self._variable(what.value.name)
        if not isinstance(of.value, ModuleType):
            raise NotImplementedError(f"{what.attr} of {of.type}")
        return self._constant(getattr(of.value, what.attr))

    def _tuple(self, what: Any) -> TypedValue:
        items = self._variables(*what.items)
        typed = [one.type for one in items]
        if not all(isinstance(one, types.Literal) for one in typed):
            typed = list(map(_plain, typed))
        of = types.BaseTuple.from_types(typed)
        values = list(map(self._cast, items, typed))
        return TypedValue(of, self._target.make_tuple(self._builder, of, values))

    def _item(self, what: Any) -> TypedValue:
        of = self._variable(what.value.name)
        return TypedValue(of.type[what.index], self._builder.extract_value(of.value, what.index))

    def _same(self, what: Any) -> TypedValue:
        return self._variable(what.value.name)

    def _begun(self, what: Any) -> TypedValue:
        given = self._variable(what.value.name)
        self._loops += 1
        of = TypedValue(_plain(given.type), self._cast(given, _plain(given.type)))
        typed = of.type.iterator_type
        if isinstance(of.type, types.RangeType):
            return TypedValue(typed, begun(self._builder, of.value))
        emit = self._target.get_function("getiter", typed(of.type))
        return TypedValue(typed, emit(self._builder, (of.value,)))

    def _next(self, what: Any) -> TypedValue:
        loop = self._variable(what.value.name)
        typed = types.Pair(loop.type.yield_type, types.boolean)
        if isinstance(loop.type, types.RangeIteratorType):
            return TypedValue(typed, turned(self._builder, loop.value))
        emit = self._target.get_function("iternext", typed(loop.type))
        return TypedValue(typed, emit(self._builder, (loop.value,)))

    def _first(self, what: Any) -> TypedValue:
        of = self._variable(what.value.name)
        return TypedValue(of.type.first_type, extracted(self._builder, of.value, 0))

    def _second(self, what: Any) -> TypedValue:
        of = self._variable(what.value.name)
        return TypedValue(of.type.second_type, extracted(self._builder, of.value, 1))

    _statements: ClassVar[dict[type, Callable[[FunctionLowering, Any], None]]] = {
        ir.Assign: _assign, ir.Branch: _branch, ir.Jump: _jump, ir.Return: _return,
    }  # fmt: skip
    _expressions: ClassVar[dict[Any, Callable[[FunctionLowering, Any], TypedValue]]] = {
        "binop": _binary, "inplace_binop": _binary_in_place, "unary": _unary, "call": _call,
        "getattr": _attribute, "build_tuple": _tuple, "exhaust_iter": _same,
        "static_getitem": _item, "cast": _same, "getiter": _begun, "iternext": _next,
        "pair_first": _first, "pair_second": _second,
    }  # fmt: skip


def _declared(module: Module, name: str, result: Any, arguments: tuple[Any, ...]) -> Any:
    """A function of a module, with numba's convention."""
    convention = contexts()[1].call_conv
    function = llvm.Function(module, convention.get_function_type(result, arguments), name)
    convention.decorate_function(function, [str(k) for k in range(len(arguments))], arguments)
    return function


def _plain(typed: Any) -> Any:
    """A type that does not say which number a constant is."""
    if isinstance(typed, types.BaseTuple):
        return types.BaseTuple.from_types(list(map(_plain, typed)))
    return types.unliteral(typed)
