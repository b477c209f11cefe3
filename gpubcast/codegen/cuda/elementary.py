"""The CUDA text of formulas: readable functions, the same operations in the same order."""

from __future__ import annotations

import hashlib
import math
import struct
import sys

from gpubcast.hlo.elementary.formula import FORMULAS, HELPERS, Formula, FormulaCode, formula_code
from gpubcast.hlo.elementary.values import FormulaInstruction, MachineType

TYPES = {
    MachineType.F32: "float",
    MachineType.F64: "double",
    MachineType.U32: "u32",
    MachineType.U64: "u64",
    MachineType.BOOL: "bool",
}
SIGNED = {MachineType.U32: "i32", MachineType.U64: "i64"}
INFIX = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"},
    **{"shl": "<<", "lshr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
    **{"eq": "==", "ne": "!="},
}
CALLS = {
    **{"sqrt": "sqrt", "rint": "rint", "floor": "floor", "trunc": "trunc", "abs": "fabs"},
    **{"fma": "fma", "high_product": "__umul64hi"},
    **{"at_least": "at_least", "at_most": "at_most"},
}
CALLS_32 = {"high_product": "__umulhi"}
PARTS = ("re", "im")
# Names that Python allows and C++ does not, and what the headers call by these names.
RESERVED = frozenset(
    (
        *(
            "auto",
            "bool",
            "case",
            "char",
            "const",
            "default",
            "do",
            "double",
            "enum",
            "extern",
            "float",
        ),
        *(
            "goto",
            "inline",
            "int",
            "long",
            "new",
            "operator",
            "register",
            "return",
            "short",
            "signed",
            "sizeof",
        ),
        *(
            "static",
            "struct",
            "switch",
            "template",
            "this",
            "typedef",
            "union",
            "unsigned",
            "void",
            "volatile",
        ),
        *CALLS.values(),
        "bits_as",
    )
)
WIDTH = 92


def file_name(module: str) -> str:
    """The header of a module's formulas."""
    return f"elementary/{module}.cuh"


def headers() -> dict[str, str]:
    """File name to text of every header."""
    modules = {f.module for f in (*FORMULAS.values(), *HELPERS.values())}
    return {file_name(module): header(module) for module in modules}


def header(module: str) -> str:
    """The header of the formulas of one module, in the order in which they are written there."""
    everything = [*HELPERS.values(), *FORMULAS.values()]
    formulas = [formula for formula in everything if formula.module == module]
    called = {
        step.extra[0].module
        for formula in formulas
        for step in formula_code(formula).instructions
        if step.op in ("call", "rarely")
    }
    needs = sorted(called - {module})
    doc = (sys.modules[formulas[0].function.__module__].__doc__ or "").splitlines()[0]
    guard = f"GB_ELEMENTARY_{module.upper()}_CUH"
    lines = [
        f"// {doc}",
        "//",
        f"// Written by `make generate` from gpubcast/hlo/elementary/{module}.py; do not edit.",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "scalar.cuh"',
        *(f'#include "{file_name(name)}"' for name in needs),
        "",
        "namespace gb {",
        "",
    ]
    tables: set[str] = set()
    for formula in formulas:
        lines += [*function(formula, tables), ""]
    return "\n".join([*lines, "}  // namespace gb", "", "#endif", ""])


def value_type(formula: Formula, *, result: bool = False) -> str:
    """The C type of an operand or of the result."""
    machine_type = TYPES[formula.machine_type]
    real = not formula.complex or (result and formula.real_result)
    return machine_type if real else f"complex<{machine_type}>"


def function(formula: Formula, tables: set[str] | None = None) -> list[str]:
    """The lines of one function, and before them the tables that it looks up and that are not
    among ``tables``, the names of those written before."""
    code = formula_code(formula)
    writer = _Writer(code, set() if tables is None else tables)
    names = [code.names.get(i, f"x{i}") for i in code.parameters]
    operands = names
    if formula.complex:
        operands = [name.removesuffix("_re") for name in names[::2]]
        names = [f"{operands[i // 2]}.{PARTS[i % 2]}" for i in range(len(names))]
    writer.texts.update(zip(code.parameters, names, strict=True))
    writer.taken.update(operands)
    given = ", ".join(f"{value_type(formula)} {name}" for name in operands)
    body = writer.body()
    results = ", ".join(writer.texts[i] for i in code.results)
    body += _wrapped(f"return {results if len(code.results) == 1 else f'{{{results}}}'};")
    rare = formula in HELPERS.values() and not formula.native
    linkage = "GB_RARE" if rare else "GB_FN"
    head = f"{linkage} {value_type(formula, result=True)} {formula.name}({given}) {{"
    comment = [f"// {line}" for line in _summary(formula)]
    return [*writer.tables, *comment, head, *(f"  {line}" for line in ["GB_ENTER", *body]), "}"]


def _summary(formula: Formula) -> list[str]:
    doc = (formula.function.__doc__ or "").strip().splitlines()
    return [line.strip() for line in doc if line.strip()]


class _Writer:
    """Writes the body of one function: a value used once stands where it is used."""

    def __init__(self, code: FormulaCode, declared_tables: set[str]) -> None:
        self.code = code
        self.declared_tables = declared_tables
        self.texts: dict[int, str] = {}
        self.loose: set[int] = set()  # values whose text needs parentheses beside an operator
        self.taken: set[str] = set(RESERVED)
        self.tables: list[str] = []
        self.structs: dict[tuple[Formula, tuple[int, ...]], str] = {}
        self.uses = [0] * len(code.instructions)
        for index in (*(a for step in code.instructions for a in step.args), *code.results):
            self.uses[index] += 1
        # Tables of F32 that are looked up at one index, of one length, are columns of one table: an
        # address serves all. In F64 NVRTC then has too much in registers: log of c128 spilled.
        self.columns: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for step in code.instructions:
            if step.op == "lookup" and step.machine_type is MachineType.F32:
                columns = self.columns.setdefault((step.args[0], len(step.extra)), [])
                columns += [step.extra] if step.extra not in columns else []

    def body(self) -> list[str]:
        """The statements in front of the return."""
        lines: list[str] = []
        for index, instruction in enumerate(self.code.instructions):
            if instruction.op != "parameter":
                lines += self._statement(index, instruction)
        return lines

    def _statement(self, index: int, instruction: FormulaInstruction) -> list[str]:
        if instruction.op == "constant":
            self._inline(index, cuda_literal(instruction.machine_type, instruction.extra))
            return []
        if instruction.op == "call" and instruction.extra[0].results == 2:
            return self._pair(index, instruction)
        text = self._expression(instruction)
        name = self.code.names.get(index)
        returned = index in self.code.results
        if self.uses[index] <= 1 and (name is None or returned) and len(text) < WIDTH - 30:
            self._inline(index, text, loose=instruction.op in (*INFIX, "select", "rarely"))
            return []
        self.texts[index] = self._fresh(name or f"t{index}")
        return _wrapped(f"const {TYPES[instruction.machine_type]} {self.texts[index]} = {text};")

    def _inline(self, index: int, text: str, *, loose: bool = False) -> None:
        self.texts[index] = text
        if loose or text.startswith("-"):
            self.loose.add(index)

    def _pair(self, index: int, instruction: FormulaInstruction) -> list[str]:
        """A call that returns a pair: the pair is a variable, this value one of its parts."""
        formula, part = instruction.extra
        key = (formula, instruction.args)
        lines = []
        if key not in self.structs:
            self.structs[key] = name = self._fresh(f"{formula.name}_{index}")
            machine_type = value_type(formula, result=True)
            lines = _wrapped(
                f"const {machine_type} {name} = {self._call(formula, instruction.args)};"
            )
        self.texts[index] = f"{self.structs[key]}.{PARTS[part]}"
        return lines

    def _fresh(self, name: str) -> str:
        fresh, number = name, 1
        while fresh in self.taken:
            number += 1
            fresh = f"{name}_{number}"
        self.taken.add(fresh)
        return fresh

    def _call(self, formula: Formula, args: tuple[int, ...]) -> str:
        operands = [self.texts[a] for a in args]
        if formula.complex:
            machine_type = value_type(formula)
            pairs = zip(operands[::2], operands[1::2], strict=True)
            operands = [f"{machine_type}{{{re}, {im}}}" for re, im in pairs]
        return f"{formula.name}({', '.join(operands)})"

    def _expression(self, instruction: FormulaInstruction) -> str:
        op, machine_type, args, extra = instruction
        bare = [self.texts[a] for a in args]
        operands = [f"({self.texts[a]})" if a in self.loose else self.texts[a] for a in args]
        source, to = self.code.instructions[args[0]].machine_type, TYPES[machine_type]
        match op:
            case "shl" | "lshr" | "ashr" if operands[1].startswith("0x"):
                by = int(bare[1].rstrip("ul"), 16)
                if op != "ashr":
                    return f"{operands[0]} {INFIX[op]} {by}"
                return f"static_cast<{to}>(static_cast<{SIGNED[machine_type]}>({bare[0]}) >> {by})"
            case "ashr":
                value = f"static_cast<{SIGNED[machine_type]}>({bare[0]})"
                return f"static_cast<{to}>({value} >> {operands[1]})"
            case _ if op in INFIX:
                return f"{operands[0]} {INFIX[op]} {operands[1]}"
            case "neg":
                return f"-{operands[0]}"
            case "select":
                return f"{operands[0]} ? {operands[1]} : {operands[2]}"
            case "bits" | "from_bits":
                return f"bits_as<{to}>({bare[0]})"
            case "to_float" if not source.is_float:
                return f"static_cast<{to}>(static_cast<{SIGNED[source]}>({bare[0]}))"
            case "to_float" | "resize":
                return f"static_cast<{to}>({bare[0]})"
            case "leading_zeros":
                return f"static_cast<{to}>(leading_zeros({bare[0]}))"
            case "call":
                return self._call(extra[0], args)
            case "rarely":
                return f"{operands[0]} ? {self._call(extra[0], args[2:])} : {operands[1]}"
            case "table":
                return f"{self._table(machine_type, (extra,))}[0][{bare[0]}]"
            case "lookup":
                columns = tuple(self.columns.get((args[0], len(extra)), (extra,)))
                name, column = self._table(machine_type, columns), columns.index(extra)
                return f"{name}[{column}][{operands[0]} & {len(extra) - 1}]"
        name = (CALLS_32 if machine_type is MachineType.U32 else CALLS).get(op) or CALLS[op]
        return f"{name}({', '.join(bare)})"

    def _table(self, machine_type: MachineType, columns: tuple[tuple[int, ...], ...]) -> str:
        name = f"TABLE_{_digest(machine_type, columns)}"
        if name not in self.declared_tables:
            self.declared_tables.add(name)
            size = f"[{len(columns)}][{len(columns[0])}]"
            # Functions of two headers look up the same table, and a kernel may include both.
            guard = f"GB_HAS_{name}"
            self.tables += [f"#ifndef {guard}", f"#define {guard}"]
            self.tables.append(f"GB_TABLE {TYPES[machine_type]} {name}{size} = {{")
            for words in columns:
                entries = [cuda_literal(machine_type, word) for word in words]
                rows = [", ".join(entries[i : i + 4]) for i in range(0, len(entries), 4)]
                self.tables += [f"  {'{' if i == 0 else ' '}{row}," for i, row in enumerate(rows)]
                self.tables.append("  },")
            self.tables += ["};", "#endif"]
        return name


def _digest(machine_type: MachineType, columns: tuple[tuple[int, ...], ...]) -> str:
    return hashlib.sha256(f"{machine_type.value} {columns}".encode()).hexdigest()[:8]


def _wrapped(line: str) -> list[str]:
    """A statement broken at spaces, continuation lines indented."""
    lines = []
    while len(line) > WIDTH:
        cut = line.rfind(" ", 20, WIDTH)
        if cut < 0:
            break
        lines.append(line[:cut])
        line = "    " + line[cut + 1 :]
    return [*lines, line]


def cuda_literal(machine_type: MachineType, word: int) -> str:
    """The bits of a number as C++ writes it, exactly."""
    if machine_type is MachineType.BOOL:
        return "true" if word else "false"
    if not machine_type.is_float:
        return f"{word:#x}{'u' if machine_type is MachineType.U32 else 'ull'}"
    suffix, code = ("f", "<f") if machine_type is MachineType.F32 else ("", "<d")
    value = struct.unpack(code, word.to_bytes(machine_type.bits // 8, "little"))[0]
    if not math.isfinite(value):
        unsigned = f"{word:#x}{'u' if machine_type is MachineType.F32 else 'ull'}"
        return f"bits_as<{TYPES[machine_type]}>({unsigned})"
    return f"{_shortest(machine_type, value)}{suffix}"


def _shortest(machine_type: MachineType, value: float) -> str:
    """The shortest decimal that rounds to the value."""
    if machine_type is MachineType.F64:
        return repr(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return text if any(c in text for c in ".e") else f"{text}.0"
