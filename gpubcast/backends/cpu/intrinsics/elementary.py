"""LLVM instructions of the elementary functions, under their names.

Each is a function of the kernel's module of its own, so that a kernel's fast-math flags never reach
it, and is always inlined, so that loops over it become vector loops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.intrinsics import avx2, avx512
from gpubcast.backends.cpu.intrinsics.complex_numbers import pair
from gpubcast.backends.cpu.intrinsics.multiply_add import fma
from gpubcast.backends.cpu.intrinsics.short_tables import intrinsic, vector_unit
from gpubcast.backends.cpu.intrinsics.vector_forms import (
    called_on,
    internal,
    on_one,
    rarely,
    with_vectors,
)
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.processor import architecture, has_avx2, has_avx512
from gpubcast.hlo.elementary.formula import FORMULAS, Formula, FormulaCode, formula_code
from gpubcast.hlo.elementary.values import FormulaInstruction, MachineType

_LLVM = {
    MachineType.F32: ir.FloatType(),
    MachineType.F64: ir.DoubleType(),
    MachineType.U32: ir.IntType(32),
    MachineType.U64: ir.IntType(64),
    MachineType.BOOL: ir.IntType(1),
}
_MACHINE_TYPES = {
    types.float32: (MachineType.F32, False),
    types.float64: (MachineType.F64, False),
    types.complex64: (MachineType.F32, True),
    types.complex128: (MachineType.F64, True),
}
_UNARY = {"sqrt": "sqrt", "rint": "rint", "floor": "floor", "trunc": "trunc", "abs": "fabs"}
_FLOATS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGERS = {
    **{"add": "add", "sub": "sub", "mul": "mul", "and": "and_", "or": "or_", "xor": "xor"},
    **{"shl": "shl", "lshr": "lshr", "ashr": "ashr"},
}
_LIMITS = {"at_least": "<", "at_most": ">"}
_SYMBOLS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def functions() -> dict[str, Any]:
    """One intrinsic per name; its operands' types choose the formula."""
    return {name: _intrinsic(name) for name in {name for name, _, _ in FORMULAS}}


def _intrinsic(name: str) -> Intrinsic:
    def definition(typing_context: Any, *operands: Any) -> Any:
        machine_type = _MACHINE_TYPES.get(operands[0])
        formula = FORMULAS.get((name, *machine_type)) if machine_type else None
        if formula is None or operands != (operands[0],) * formula.arity:
            return None
        result = operands[0]
        if formula.complex and formula.real_result:
            result = types.float32 if formula.machine_type is MachineType.F32 else types.float64

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            of = context.get_value_type(signature.return_type)
            return builder.call(_inlined(builder.module, formula, of, args[0].type), args)

        return result(*operands), codegen

    return Intrinsic(definition)


def _inlined(module: ir.Module, formula: Formula, result: ir.Type, operand: ir.Type) -> Any:
    """A formula as a function of the module."""
    name = f"gb_{formula.name}_{'complex_' * formula.complex}{formula.machine_type.value}"
    if name in module.globals:
        return module.globals[name]
    function = internal(
        module, name, ir.FunctionType(result, [operand] * formula.arity), "alwaysinline"
    )
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    if not formula.complex:
        builder.ret(_emit(builder, formula, list(function.args))[0])
        return function
    results = _emit(
        builder, formula, [builder.extract_value(a, i) for a in function.args for i in (0, 1)]
    )
    builder.ret(results[0] if formula.real_result else pair(builder, *results))
    return function


@functools.cache
def _code(formula: Formula) -> FormulaCode:
    return formula_code(formula)


def _emit(builder: Any, formula: Formula, args: list[Any]) -> list[Any]:
    """The results of a formula on LLVM values, or on vectors of them."""
    code = _code(formula)
    first = args[0].type
    lanes = first.count if isinstance(first, ir.VectorType) else 1
    values: list[Any] = []
    for instruction in code.instructions:
        operands = [values[a] for a in instruction.args]
        source = (
            code.instructions[instruction.args[0]].machine_type
            if instruction.args
            else instruction.machine_type
        )
        if instruction.op == "parameter":
            values.append(args[instruction.extra])
        elif instruction.op == "call":
            called, part = instruction.extra
            made = _vector_instruction(called)
            emit = _emit if made is None else functools.partial(_native, made)
            values.append(emit(builder, called, operands)[part])
        elif instruction.op == "lookup":
            values.append(
                _short_table(builder, instruction.machine_type, instruction.extra, operands[0])
            )
        elif instruction.op == "rarely":
            values.append(_rare_helper(builder, instruction.extra[0], *operands))
        else:
            values.append(_instruction(builder, instruction, source, operands, lanes))
    return [values[i] for i in code.results]


def _vector_instruction(step: Formula) -> Callable[..., Any] | None:
    """What makes a step on a vector by an instruction for it, where the processor has one."""
    if not step.native:
        return None
    if has_avx512():
        return avx512.INSTRUCTIONS[step.name]
    return avx2.INSTRUCTIONS.get((step.name, step.machine_type)) if has_avx2() else None


def _native(
    instruction: Callable[..., Any], builder: Any, step: Formula, args: list[Any]
) -> list[Any]:
    """A call of a native step, for which vector loops have an instruction."""
    machine_type = _LLVM[step.machine_type]
    name = f"gb_{step.name}_{step.machine_type.value}"

    def vector(inner: Any, operands: list[Any]) -> Any:
        return instruction(inner, *operands)

    def scalar(inner: Any, operands: list[Any]) -> Any:
        # Not the formula: it may count on others of its kind, as the instructions do.
        return on_one(inner, operands, vector)

    function = with_vectors(
        builder.module, name, machine_type, [machine_type] * step.arity, scalar, vector
    )
    return [called_on(builder, function, args)]


def _short_table(
    builder: Any, machine_type: MachineType, words: tuple[int, ...], index: Any
) -> Any:
    """The entry of a short table at an index modulo its length."""

    def scalar(inner: Any, operands: list[Any]) -> Any:
        word = operands[0].type
        return _lookup(inner, machine_type, words, inner.and_(operands[0], word(len(words) - 1)))

    def vector(inner: Any, operands: list[Any]) -> Any:
        (at,) = operands
        permuted = vector_unit().permuted
        if permuted is not None:
            return permuted(inner, at, words)
        found: Any = ir.Constant(ir.VectorType(_LLVM[machine_type], at.type.count), ir.Undefined)
        for i in range(at.type.count):
            lane = ir.Constant(ir.IntType(32), i)
            entry = scalar(inner, [inner.extract_element(at, lane)])
            found = inner.insert_element(found, entry, lane)
        return found

    name = f"gb_lookup_{_table_name(machine_type, words)}"
    word = _LLVM[machine_type.word]
    made = with_vectors(builder.module, name, _LLVM[machine_type], [word], scalar, vector)
    return called_on(builder, made, [index])


def _rare_helper(builder: Any, helper: Formula, condition: Any, otherwise: Any, x: Any) -> Any:
    """A helper where a condition holds."""

    def body(inner: Any, operands: list[Any]) -> Any:
        return _emit(inner, helper, operands)[0]

    name = f"gb_{helper.name}_{helper.machine_type.value}"
    vectors = _is_for_vectors(helper)
    return rarely(builder, name, condition, otherwise, [x], body, vectors=vectors)


@functools.cache
def _is_for_vectors(formula: Formula) -> bool:
    """Whether a formula has neither branches nor tables in memory."""
    return all(
        instruction.op not in ("rarely", "table")
        and (instruction.op != "call" or _is_for_vectors(instruction.extra[0]))
        for instruction in _code(formula).instructions
    )


def _instruction(
    builder: Any, instruction: FormulaInstruction, source: MachineType, args: list[Any], lanes: int
) -> Any:
    op, machine_type = instruction.op, instruction.machine_type
    to = _LLVM[machine_type] if lanes == 1 else ir.VectorType(_LLVM[machine_type], lanes)
    if op == "constant":
        one = _constant(machine_type, instruction.extra)
        return one if lanes == 1 else ir.Constant(to, [one] * lanes)
    if op in _FLOATS and machine_type.is_float:
        return getattr(builder, _FLOATS[op])(*args)
    if op in _INTEGERS:
        return getattr(builder, _INTEGERS[op])(*args)
    if op in _SYMBOLS:
        if not source.is_float:
            return builder.icmp_unsigned(_SYMBOLS[op], *args)
        compare = builder.fcmp_unordered if op == "ne" else builder.fcmp_ordered
        return compare(_SYMBOLS[op], *args)
    if op in _UNARY:
        return intrinsic(builder, f"llvm.{_UNARY[op]}", args)
    if op == "fma":
        return fma(builder, *args)
    if op in _LIMITS:
        if architecture() == "aarch64":
            # One instruction there, the same for limits that are not 0.
            name = "llvm.maximum" if op == "at_least" else "llvm.minimum"
            return intrinsic(builder, name, args)
        return builder.select(builder.fcmp_ordered(_LIMITS[op], *args), args[1], args[0])
    if op == "neg":
        return builder.fneg(args[0])
    if op == "select":
        return builder.select(*args)
    if op in ("bits", "from_bits"):
        return builder.bitcast(args[0], to)
    if op == "to_float":
        if source.is_float:
            return (builder.fpext if machine_type is MachineType.F64 else builder.fptrunc)(
                args[0], to
            )
        return builder.sitofp(args[0], to)
    if op == "resize":
        return (builder.zext if machine_type.bits > source.bits else builder.trunc)(args[0], to)
    if op == "high_product":
        wide = ir.IntType(2 * machine_type.bits)
        product = builder.mul(*(builder.zext(a, wide) for a in args))
        return builder.trunc(builder.lshr(product, wide(machine_type.bits)), to)
    if op == "leading_zeros":
        return builder.ctlz(args[0], ir.IntType(1)(0))
    if op == "table":
        return _lookup(builder, machine_type, instruction.extra, args[0])
    raise AssertionError(op)


def _constant(machine_type: MachineType, word: int) -> Any:
    if not machine_type.is_float:
        return _LLVM[machine_type](word)
    return ir.Constant(_LLVM[machine_type.word], word).bitcast(_LLVM[machine_type])


def _table_name(machine_type: MachineType, words: tuple[int, ...]) -> str:
    return f"{machine_type.value}_{abs(hash(words)):x}"


def _lookup(builder: Any, machine_type: MachineType, words: tuple[int, ...], index: Any) -> Any:
    """The entry of a constant table of the module."""
    name = f"gb_table_{_table_name(machine_type, words)}"
    word = _LLVM[machine_type.word] if machine_type.is_float else _LLVM[machine_type]
    entries = ir.ArrayType(word, len(words))
    variable = builder.module.globals.get(name)
    if variable is None:
        variable = ir.GlobalVariable(builder.module, entries, name)
        variable.linkage = "internal"
        variable.global_constant = True
        variable.initializer = entries([word(w) for w in words])
    at = builder.gep(variable, [ir.IntType(64)(0), builder.zext(index, ir.IntType(64))])
    loaded = builder.load(at, typ=word)
    return builder.bitcast(loaded, _LLVM[machine_type]) if machine_type.is_float else loaded
