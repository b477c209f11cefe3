"""The scalar code of a CUDA kernel: a functor with one part per thread, row, column and element.

What is made of operands that do not vary inside a tile, along its rows or along its columns is
computed beforehand and kept in registers (``operands.cuh``: ``struct Body``).
"""

from __future__ import annotations

import enum
import math

from gpubcast.hlo import ops, rules
from gpubcast.hlo.literals import component_bits, scalar_of
from gpubcast.planning.plan import BroadcastPlan, Instruction, Program
from gpubcast.planning.signs import nonpositive_form
from gpubcast.schedules.schedule import AccessPattern, CudaScheduleBase, VectorScheduleBase
from gpubcast.shapes.element_types import Category, ElementType

# Elements of a byte that are computed at a time.
WORD = 4


class _Part(enum.Enum):
    """A member function of the functor: its name, the struct of what it computes for later ones,
    what it is given."""

    SCALARS = ("scalars", "Scalars", "Scalars& s")
    COLUMNS = ("columns", "Columns", "const Scalars& s, Columns& c, int r")
    ROWS = ("rows", "Rows", "const Scalars& s, Rows& w, int k")
    RUN = ("run", "", "const Scalars& s, const Columns& c, const Rows& w, int r, int k")


_STRUCT = {_Part.SCALARS: "s", _Part.COLUMNS: "c", _Part.ROWS: "w"}
_INDEX = {_Part.SCALARS: "0, 0", _Part.COLUMNS: "r, 0", _Part.ROWS: "0, k", _Part.RUN: "r, k"}
_PART_OF = {
    AccessPattern.VALUE: _Part.SCALARS,
    AccessPattern.SCALAR: _Part.SCALARS,
    AccessPattern.COLUMN: _Part.COLUMNS,
    AccessPattern.ROW: _Part.ROWS,
    AccessPattern.PERIODIC: _Part.ROWS,
}


def cuda_type(element_type: ElementType) -> str:
    """The storage type as the prelude names it."""
    name = element_type.storage
    return name if name in ("float", "double") else f"gb::{name}"


def functor(plan: BroadcastPlan, schedule: CudaScheduleBase, *, tiled: bool) -> list[str]:
    """The members of the functor, line by line.

    Args:
        tiled: whether the kernel asks for what the rows and columns of a tile share.
    """
    parts = _parts(plan, schedule, tiled=tiled)
    written = [_PART_OF.get(own, _Part.RUN) for own in schedule.writes]
    lines = []
    for part in _Part:
        lines += _member(plan.program, part, parts, written)
    whole = isinstance(schedule, VectorScheduleBase) and schedule.vector_width % WORD == 0
    if whole and has_words(plan) and all(where is _Part.RUN for where in written):
        lines += _words(plan.program)
    return lines


def has_words(plan: BroadcastPlan) -> bool:
    """Whether four elements can be computed at a time: all values have one byte, and every
    operation has an expression on words."""
    program = plan.program
    return (
        not any(access.generated for access in plan.reads)
        and all(_is_byte(own) for own in program.reads)
        and all(
            _is_byte(one.element_type) and (not one.args or bool(_on_words(program, one)))
            for one in program.code
        )
    )


def _is_byte(own: ElementType) -> bool:
    return own.bits == 8 and not own.is_floating


def _on_words(program: Program, instruction: Instruction) -> str:
    row = ops.OPS[instruction.op]
    return row.words_for(program.type_of(instruction.args[int(row.rule.predicate)]))


def _words(program: Program) -> list[str]:
    """The member that computes four elements, all of it."""
    base = len(program.reads)
    used = {a for one in program.code for a in one.args} | set(program.results)
    lines = [
        "static constexpr bool WORDS = true;",
        "template <class In, class Out>",
        "static GB_FN void words(const In& in, Out& out, int r, int k) {",
        *(f"  const u32 v{i} = get<{i}>(in).word(r, k);" for i in range(base) if i in used),
    ]
    for i, one in enumerate(program.code, base):
        if one.bits is not None:
            text = f"{one.bits * 0x01010101:#010x}u"
        else:
            text = _on_words(program, one).format(*(f"v{a}" for a in one.args))
        lines.append(f"  const u32 v{i} = {text};")
    lines += [f"  get<{o}>(out).keep_word(k, v{v});" for o, v in enumerate(program.results)]
    return [*lines, "}"]


def _parts(plan: BroadcastPlan, schedule: CudaScheduleBase, *, tiled: bool) -> list[_Part | None]:
    """Where each value is computed; None for a constant, which is written where it is used."""
    parts: list[_Part | None] = [
        part if (part := _PART_OF.get(own, _Part.RUN)) is _Part.SCALARS or tiled else _Part.RUN
        for own in schedule.reads
    ]
    for instruction in plan.program.code:
        # An operation on constants alone is computed once, like one on scalars.
        own: _Part | None = _Part.SCALARS if instruction.args else None
        for argument in instruction.args:
            other = parts[argument]
            if own is _Part.SCALARS:
                own = other or own
            elif other not in (None, _Part.SCALARS, own):
                own = _Part.RUN
        parts.append(own)
    return parts


def _member(
    program: Program, part: _Part, parts: list[_Part | None], written: list[_Part]
) -> list[str]:
    base = len(program.reads)
    computed = [i for i in range(base, len(parts)) if parts[i] is part]
    stored = [o for o, where in enumerate(written) if where is part]
    if part is not _Part.RUN and not computed and not stored:
        return []
    used = {a for i in computed for a in program.code[i - base].args}
    used |= {program.results[o] for o in stored}
    hoisted = [i for i in computed if _needed_elsewhere(program, i, parts, written)]
    name, struct, given = part.value
    lines = []
    if struct:
        members = "".join(f" {program.type_of(i).compute} v{i};" for i in hoisted)
        lines.append(f"struct {struct} {{{members}{' ' if members else ''}}};")
    lines += [
        "template <class In, class Out>",
        f"static GB_FN void {name}(const In& in, Out& out,",
        f"                         {given}) {{",
    ]
    lines += [
        f"  const {program.reads[i].compute} v{i} = get<{i}>(in).value({_INDEX[part]});"
        for i in range(base)
        if i in used
    ]

    def text(value: int) -> str:
        where = parts[value]
        if where is None:
            own = program.code[value - base]
            assert own.bits is not None
            return constant(own.element_type, own.bits)
        local = where is part or value < base
        return f"v{value}" if local else f"{_STRUCT[where]}.v{value}"

    for i in computed:
        instruction = program.code[i - base]
        names = [text(a) for a in instruction.args]
        compute = instruction.element_type.compute
        lines.append(f"  const {compute} v{i} = {expression(program, instruction, i, names)};")
    lines += [f"  {_STRUCT[part]}.v{i} = v{i};" for i in hoisted]
    index = "k" if part in (_Part.ROWS, _Part.RUN) else "r" if part is _Part.COLUMNS else "0"
    lines += [f"  get<{o}>(out).keep({index}, {text(program.results[o])});" for o in stored]
    return [*lines, "}"]


def _needed_elsewhere(
    program: Program, value: int, parts: list[_Part | None], written: list[_Part]
) -> bool:
    base = len(program.reads)
    return any(
        value in later.args and parts[base + i] is not parts[value]
        for i, later in enumerate(program.code)
    ) or any(
        result == value and where is not parts[value]
        for result, where in zip(program.results, written, strict=True)
    )


def expression(program: Program, instruction: Instruction, index: int, names: list[str]) -> str:
    """The expression of a value that is no access, whose arguments are called ``names``."""
    row = ops.OPS[instruction.op]
    operand = program.type_of(instruction.args[int(row.rule.predicate)])
    result = instruction.element_type
    if row.rule is rules.CONVERT:
        return f"convert<{cuda_type(result)}, {cuda_type(operand)}>({names[0]})"
    if row.rule is rules.BITCAST:
        return f"bitcast<{cuda_type(result)}, {cuda_type(operand)}>({names[0]})"
    said = {"bits": operand.bits, "type": cuda_type(operand), **dict(instruction.attributes)}
    text = called(program, instruction).format(*names, **said)
    # A value only written is rounded by the store; one that is used again is rounded here.
    rounded = result.rounds and program.taken(index)
    return f"round_to<{cuda_type(result)}>({text})" if rounded else text


def called(program: Program, instruction: Instruction) -> str:
    """The operation table's expression for an instruction: that for operands that are at most 0,
    where there is one and its operand is known to be."""
    row = ops.OPS[instruction.op]
    operand = program.type_of(instruction.args[int(row.rule.predicate)])
    return nonpositive_form(program, instruction) or row.cuda_for(operand)


def constant(element_type: ElementType, bits: int) -> str:
    """A constant as CUDA writes it; parenthesised where a sign could meet an operator."""
    if element_type.is_complex:
        re, im = (
            constant(element_type.component, part) for part in component_bits(element_type, bits)
        )
        return f"{element_type.compute}{{{re}, {im}}}"
    scalar = scalar_of(element_type, bits)
    if element_type.category is Category.PRED:
        return "true" if scalar else "false"
    if element_type.is_integral:
        if element_type.bits == 4:
            return f"static_cast<{element_type.compute}>({scalar})"
        wide = f"{bits:#x}u" if element_type.bits <= 32 else f"{bits:#x}ull"
        return f"static_cast<{element_type.compute}>({wide})"
    if not math.isfinite(scalar):
        return f"to_compute(bits_as<{cuda_type(element_type)}>({bits:#x}ull))"
    suffix = "f" if element_type.compute == "float" else ""
    return f"{scalar!r}{suffix}" if math.copysign(1, scalar) > 0 else f"({scalar!r}{suffix})"
