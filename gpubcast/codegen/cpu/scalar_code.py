"""The scalar code of a CPU kernel: one Python expression per instruction."""

from __future__ import annotations

import math

from gpubcast.hlo import ops, rules
from gpubcast.hlo.literals import component_bits, scalar_of
from gpubcast.planning.plan import Instruction, Program
from gpubcast.planning.signs import nonpositive_form
from gpubcast.shapes.element_types import Category, ElementType


def compute_name(element_type: ElementType) -> str:
    """The numba type in which values of an element type are computed."""
    name = element_type.compute
    if name[:1] in ("i", "u"):
        return f"{'u' * (name[0] == 'u')}int{name[1:]}"
    return {"bool": "boolean", "float": "float32", "double": "float64"}.get(
        name, element_type.dtype_name
    )


def scratch_type(element_type: ElementType) -> str:
    """The element type of memory that holds values as they are computed."""
    return {"float": "f32", "double": "f64"}.get(element_type.compute, element_type.name)


def expression(program: Program, value: int) -> str:
    """The expression of a value that is no access."""
    instruction: Instruction = program.code[value - len(program.reads)]
    if instruction.bits is not None:
        return constant(instruction.element_type, instruction.bits)
    row = ops.OPS[instruction.op]
    names = [f"v{a}" for a in instruction.args]
    operand = program.type_of(instruction.args[int(row.rule.predicate)])
    result = instruction.element_type
    if row.rule is rules.CONVERT:
        text = _conversion(result, operand, names[0])
    elif row.rule is rules.BITCAST:
        text = f"from_bits_{result.name}(to_bits_{operand.name}({names[0]}))"
    else:
        said = {"bits": operand.bits, "type": operand.name, **dict(instruction.attributes)}
        form = nonpositive_form(program, instruction) or row.cpu_for(operand)
        text = f"{compute_name(result)}({form.format(*names, **said)})"
    # A value only written is rounded by the store; one that is used again is rounded here.
    return f"round_{result.name}({text})" if result.rounds and program.taken(value) else text


def constant(element_type: ElementType, bits: int) -> str:
    """The expression of a value by its storage bits."""
    if element_type.is_complex:
        re, im = (
            constant(element_type.component, part) for part in component_bits(element_type, bits)
        )
        return f"make_complex({re}, {im})"
    value = scalar_of(element_type, bits)
    if not math.isfinite(value):
        return f"from_bits_{element_type.name}(uint{8 * element_type.itemsize}({bits:#x}))"
    return f"{compute_name(element_type)}({value!r})"


def _conversion(to: ElementType, source: ElementType, value: str) -> str:
    """XLA's convert; a narrow float is rounded later, from a value that keeps its sticky bits."""
    if to.is_complex:
        re, im = value, f"{compute_name(to.component)}(0)"
        if source.is_complex:
            re, im = f"real({value})", _conversion(to.component, source.component, f"imag({value})")
        return f"make_complex({_conversion(to.component, source.component, re)}, {im})"
    if source.is_complex:
        return _conversion(to, source.component, f"real({value})")
    if to.category is Category.PRED:
        return f"{value} != 0"
    if to.is_integral and source.is_floating:
        return f"saturate_{to.name}({value})"
    if to.compute == "float" and to.rounds and source.compute not in ("float", "bool"):
        return f"odd_{'float' if source.is_floating else source.category.value}({value})"
    return f"{compute_name(to)}({value})"
