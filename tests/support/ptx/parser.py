"""PTX text to functions, basic blocks and instructions; what the words mean is not known here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from tests.support.ptx.faults import RefusedError

# Instructions that end a basic block, and those before which the threads of a warp or of a block
# wait for each other, so that one begins there.
TERMINATORS = ("bra", "brx", "ret", "exit", "trap")
CONVERGENCE = {
    "bar.sync": "block",
    "barrier.sync": "block",
    "barrier.sync.aligned": "block",
    "barrier.cta.sync": "block",
    "barrier.cta.sync.aligned": "block",
    "bar.warp.sync": "warp",
    "shfl.sync": "warp",
    "vote.sync": "warp",
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A named piece of memory: ``count`` elements of ``type``, with initial values or none."""

    space: str
    name: str
    type: str
    count: int = 1
    alignment: int = 1
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Instruction:
    """``@guard opcode operands``; an operand is its text, braces and brackets included."""

    opcode: str
    operands: tuple[str, ...] = ()
    guard: str = ""

    @property
    def head(self) -> str:
        """The opcode without its modifiers: ``ld`` of ``ld.global.u32``."""
        return self.opcode.split(".", 1)[0]

    @property
    def convergence(self) -> str:
        """Whether threads of a ``"warp"`` or ``"block"`` wait for each other here, or ``""``."""
        return _convergence(self.opcode)

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".strip()


@cache
def _convergence(opcode: str) -> str:
    names = (name for name in CONVERGENCE if f"{opcode}.".startswith(f"{name}."))
    return next((CONVERGENCE[name] for name in names), "")


@dataclass(slots=True)
class Function:
    """A kernel (``entry``) or a function that one calls."""

    name: str
    entry: bool
    results: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    registers: dict[str, str] = field(default_factory=dict)  # a prefix or a whole name: its type
    variables: list[Variable] = field(default_factory=list)  # of .local and .shared
    blocks: list[list[Instruction]] = field(default_factory=lambda: [[]])
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def type_of(self, register: str) -> str | None:
        """The declared type of a register, or None where nothing declares it."""
        found = self.registers.get(register)
        if found is None:
            found = self.registers.get(register.rstrip("0123456789") + "<")
            if found is not None:
                self.registers[register] = found
        return found


@dataclass(slots=True)
class Program:
    """All functions and module variables of a text."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)


_HEADER = re.compile(
    r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)([{;])", re.S
)
_VARIABLE = re.compile(
    r"\.(global|const|shared|local|param)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+"
    r"(?:\.ptr\s+(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?)?([\w$]+)"
    r"(?:\[(\d*)\])?(?:\s*=\s*(.*))?",
    re.S,
)
# What says nothing about values: they end with their line and not with a semicolon.
_LINES = re.compile(r"^\s*\.(?:version|target|address_size|file|loc)\b[^\n]*$", re.M)
_ATTRIBUTES = re.compile(r"\.(?:visible|weak|extern)\s+")


def parse(text: str) -> Program:
    """Read a whole PTX file.

    Raises:
        RefusedError: a directive or a form that is not known.
    """
    text = _LINES.sub("", re.sub(r"//[^\n]*", "", text))
    program = Program()
    position = 0
    while header := _HEADER.search(text, position):
        _module_variables(text[position : header.start()], program)
        kind, results, name, parameters, _, last = header.groups()
        position = header.end()
        if last == ";":
            continue  # a declaration; the definition follows
        end = _closing(text, position)
        function = Function(name, kind == "entry", _variables(results), _variables(parameters))
        _read_body(function, text[position:end])
        program.functions[name] = function
        position = end + 1
    _module_variables(text[position:], program)
    return program


def _closing(text: str, position: int) -> int:
    """Where the brace closes that was opened just before."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[position:]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return position + brace.start()
    raise RefusedError("a body without an end")


def _module_variables(text: str, program: Program) -> None:
    for statement in text.split(";"):
        words = _ATTRIBUTES.sub("", statement).strip()
        if words:
            program.variables.append(_variable(words))


def _variable(text: str) -> Variable:
    found = _VARIABLE.fullmatch(text.strip())
    if found is None:
        raise RefusedError(f"directive {' '.join(text.split())[:60]}")
    space, alignment, kind, name, count, values = found.groups()
    listed = tuple(v.strip() for v in values.strip("{} \n\t").split(",")) if values else ()
    number = 1 if count is None else int(count or 0)
    return Variable(space, name, kind, number, int(alignment or 1), listed)


def _variables(text: str | None) -> tuple[Variable, ...]:
    return tuple(_variable(part) for part in (text or "").split(",") if part.strip())


def _read_body(function: Function, body: str) -> None:
    for statement in _statements(body):
        if statement.endswith(":"):
            _begin_block(function)
            function.labels[statement[:-1]] = len(function.blocks) - 1
        elif statement.startswith("."):
            _directive(function, statement)
        else:
            instruction = _instruction(statement)
            if instruction.convergence:
                _begin_block(function)
            function.blocks[-1].append(instruction)
            if instruction.head in TERMINATORS:
                function.blocks.append([])


def _begin_block(function: Function) -> None:
    if function.blocks[-1]:
        function.blocks.append([])


def _statements(body: str) -> list[str]:
    """Split at semicolons; labels end with a colon; braces that open a scope are dropped."""
    found, begin, operands = [], 0, False
    for mark in re.finditer(r"[;:{}]", body):
        text = body[begin : mark.start()].strip()
        if mark[0] in "{}" and (text or operands):
            operands = mark[0] == "{"  # a list of operands
            continue
        if mark[0] == ":" and not re.fullmatch(r"[$\w]+", text):
            continue
        if mark[0] in ";:":
            found.append(" ".join(text.split()) + (":" if mark[0] == ":" else ""))
        begin = mark.end()
    if body[begin:].strip():
        raise RefusedError(f"statement {body[begin:].strip()[:60]}")
    return found


def _directive(function: Function, statement: str) -> None:
    word, _, rest = statement.partition(" ")
    if word == ".reg":
        kind, names = rest.split(None, 1)
        for name in names.split(","):
            prefix = name.strip().split("<")
            function.registers[prefix[0] + ("<" if len(prefix) > 1 else "")] = kind[1:]
    elif word == ".branchtargets":
        function.targets[list(function.labels)[-1]] = tuple(rest.replace(" ", "").split(","))
    elif word in (".local", ".shared"):
        function.variables.append(_variable(statement))
    elif word != ".param" and word != ".pragma":  # the parameters of a call declare themselves
        raise RefusedError(f"directive {word}")


def _instruction(statement: str) -> Instruction:
    guard = ""
    if statement.startswith("@"):
        guard, statement = statement[1:].split(None, 1)
    opcode, _, rest = statement.partition(" ")
    return Instruction(opcode, _operands(rest), guard)


def _operands(text: str) -> tuple[str, ...]:
    """Split at the commas that no bracket encloses."""
    found, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            found.append(text[begin:i].strip())
            begin = i + 1
    return (*found, text[begin:].strip()) if text.strip() else ()
