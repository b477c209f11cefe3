"""Basic blocks of PTX as Python functions over the registers of all threads that are in them.

A register holds the bits that PTX declares: one number where all threads have the same, else an
array. A block's function reads the registers that it needs, computes, writes those that another
block reads, and says where its threads go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.ptx import arithmetic, warps
from tests.support.ptx.faults import RefusedError
from tests.support.ptx.memory import CONSTANT_WINDOWS, Site
from tests.support.ptx.opcodes import DTYPES, operation, size_of, unsigned
from tests.support.ptx.parser import Function, Instruction

# What a block's function gives in place of the number of the next block.
FINISHED = -1
_SPECIAL = re.compile(r"%(?:tid|ntid|ctaid|nctaid)\.[xyz]|%laneid")
_ADDRESS = re.compile(r"\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]")
_SPACES = ("global", "shared", "local", "param", "const")
_HINTS = {"L1::no_allocate", "nc", "volatile"}
# Bytes of what is passed as one piece, and bits.
WORD, _HALF = 4, np.uint64(32)


@dataclass(frozen=True, slots=True)
class Code:
    """A function as Python: per block its function, how many instructions it has, whether threads
    wait before it (see ``Instruction.convergence``), and there the lanes that they wait for."""

    function: Function
    blocks: tuple[Callable[..., Any], ...]
    sizes: tuple[int, ...]
    convergence: tuple[str, ...]
    members: tuple[Callable[..., Any] | None, ...]
    text: str


def translate(function: Function, symbols: dict[str, int], offsets: dict[str, int]) -> Code:
    """Translate a function.

    Args:
        symbols: the addresses of the module's variables.
        offsets: where the function's variables begin in its part of their state space.

    Raises:
        RefusedError: something that is not known, by its name.
    """
    return _Translator(function, symbols, offsets).code()


@dataclass(frozen=True, slots=True)
class _Block:
    """A basic block as Python: the lanes that wait for each other before it, what that reads, the
    lines, and the registers that they read and write."""

    members: str
    read_early: set[str]
    lines: list[str]
    end: str
    read: set[str]
    written: set[str]
    types: dict[str, str]

    def text(self, number: int, live: set[str]) -> list[str]:
        """Its functions; ``live`` are the registers that some block reads."""
        text = []
        if self.members:
            text = [f"def M{number}(R, I, n, X):", *self._reads(self.read_early)]
            text.append(f"  return {self.members}")
        return [
            *text,
            f"def B{number}(R, I, n, X):",
            *self._reads(self.read),
            *(f"  {line}" for line in self.lines),
            *(f"  R.write(I, {name!r}, {name})" for name in sorted(live & self.written)),
            f"  {self.end}",
        ]

    def _reads(self, names: set[str]) -> list[str]:
        return [f"  {n} = R.read(I, {n!r}, {self.types[n]})" for n in sorted(names)]


class _Translator:
    def __init__(
        self, function: Function, symbols: dict[str, int], offsets: dict[str, int]
    ) -> None:
        self.function = function
        self.symbols = symbols
        self.offsets = offsets
        self.spaces = {variable.name: variable.space for variable in function.variables}
        self.parameters = {variable.name for variable in function.parameters}
        self.results = {variable.name for variable in function.results}
        self.constants: dict[str, Any] = {}
        self.names: dict[str, str] = {}  # of each register
        self.types: dict[str, str] = {}  # of each Python name
        self.read: set[str] = set()  # before they are written, in this block
        self.written: set[str] = set()
        self.returned: dict[str, int] = {}  # the results of the last call, by name

    def code(self) -> Code:
        made = [self._block(number) for number in range(len(self.function.blocks))]
        live = set().union(*(block.read | block.read_early for block in made))
        text = "\n".join(line for i, block in enumerate(made) for line in block.text(i, live))
        scope = {**arithmetic.NAMES, **warps.NAMES, **self.constants}
        exec(compile(text, self.function.name, "exec"), scope)
        return Code(
            self.function,
            tuple(scope[f"B{i}"] for i in range(len(made))),
            tuple(map(len, self.function.blocks)),
            tuple(b[0].convergence if b else "" for b in self.function.blocks),
            tuple(scope.get(f"M{i}") for i in range(len(made))),
            text,
        )

    def _block(self, number: int) -> _Block:
        instructions = self.function.blocks[number]
        self.read, self.written = set(), set()
        members = self._members(instructions)
        early, self.read = self.read, set()
        lines, end = [], f"return {number + 1}"
        for instruction in instructions:
            line = self._instruction(instruction, number)
            if line.startswith("return"):
                end = line
            elif line:
                lines.append(line)
        types = {name: self._dtype(self.types[name]) for name in early | self.read}
        return _Block(members, early, lines, end, self.read, self.written, types)

    def _members(self, block: list[Instruction]) -> str:
        """Where a warp waits: which of its lanes take part."""
        if not block or block[0].convergence != "warp":
            return ""
        return self._value(block[0].operands[-1], "u32")

    # --- names and values ---

    def _constant(self, value: Any) -> str:
        name = f"K{len(self.constants)}"
        self.constants[name] = value
        return name

    def _dtype(self, kind: str) -> str:
        name = f"D_{kind}"
        self.constants[name] = DTYPES[kind]
        return name

    def _register(self, operand: str) -> str:
        """The Python name of a register."""
        name = self.names.get(operand)
        if name is None:
            kind = self.function.type_of(operand)
            if kind is None:
                raise RefusedError(f"operand {operand}")
            size_of(kind)
            name = self.names[operand] = re.sub(r"\W", "_", operand)
            self.types[name] = kind
        return name

    def _use(self, name: str) -> str:
        if name not in self.written:
            self.read.add(name)
        return name

    def _value(self, operand: str, kind: str) -> str:
        """An operand as an expression of a type."""
        have = self.function.type_of(operand)
        if have is not None:
            return self._cast(self._use(self._register(operand)), have, kind)
        if operand.startswith("!"):
            return f"~{self._value(operand[1:], kind)}"
        if _SPECIAL.fullmatch(operand):
            return self._cast(f"X.special(I, {operand[1:]!r})", "u32", kind)
        dtype = DTYPES[kind]
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}", operand):
            bits = np.dtype(f"u{len(operand) // 2 - 1}").type(int(operand[2:], 16))
            same = bits.dtype.itemsize == dtype.itemsize
            return self._constant(bits.view(dtype) if same else _refuse(f"operand {operand}"))
        if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)U?", operand):
            number = int(operand.rstrip("U"), 0)
            if kind == "pred":
                return self._constant(np.bool_(number != 0))
            word = np.dtype(f"u{dtype.itemsize}").type(number & ((1 << 8 * dtype.itemsize) - 1))
            return self._constant(word.view(dtype))
        return self._symbol(operand, kind)

    def _symbol(self, name: str, kind: str) -> str:
        """The address of a variable."""
        wide = np.uint64 if size_of(kind) == 8 else np.uint32
        if self.function.entry and name in self.parameters:
            return f"X.parameters + {self._constant(np.uint64(self.offsets[name]))}"
        if self.spaces.get(name) == "local":
            return f"X.stack({self._constant(wide(self.offsets[name]))})"
        if name in self.offsets:
            return self._constant(wide(self.offsets[name]))
        if name in self.symbols:
            return self._constant(np.uint64(self.symbols[name]))
        raise RefusedError(f"operand {name}")

    def _cast(self, text: str, have: str, want: str) -> str:
        """Bits of one type read as another; a narrower one takes the low bits."""
        if have == want or DTYPES[have] == DTYPES[want]:
            return text
        own, wanted = size_of(have), size_of(want)
        if "pred" in (have, want) or own < wanted:
            return _refuse(f"a register of .{have} read as .{want}")
        if own > wanted:
            bits = text if have[0] in "bu" else f"({text}).view({unsigned(have)})"
            text, have = f"{bits}.astype({unsigned(want)})", unsigned(want)
        return text if DTYPES[have] == DTYPES[want] else f"({text}).view({self._dtype(want)})"

    def _assign(self, operand: str, kind: str, text: str) -> str:
        """A value of a type into a register; a wider one is extended by the type's sign."""
        if operand == "_":
            return text
        name = self._register(operand)
        have = self.types[name]
        own, given = size_of(have), size_of(kind)
        if own < given or (have == "pred") != (kind == "pred"):
            return _refuse(f"a value of .{kind} in a register of .{have}")
        if own > given:
            extended = kind if kind[0] == "s" else unsigned(kind)
            if extended != kind:
                text = f"({text}).view({extended})"
            kind = f"{extended[0]}{8 * own}"
            text = f"({text}).astype({kind})"
        if DTYPES[have] != DTYPES[kind]:
            text = f"({text}).view({self._dtype(have)})"
        self.written.add(name)
        return f"{name} = {text}"

    # --- instructions ---

    def _instruction(self, instruction: Instruction, number: int) -> str:
        head, operands = instruction.head, instruction.operands
        if head == "bra":
            return self._branch(instruction, number)
        if instruction.guard:
            raise RefusedError(f"a guard on {instruction.opcode}")
        if head in ("ret", "exit"):
            return f"return {FINISHED}"
        if head == "brx":
            label = operands[1]
            table = [self.function.labels[x] for x in self.function.targets[label]]
            return f"return ({self._value(operands[0], 'u32')}, {table!r})"
        special = getattr(self, f"_{head}", None)
        if special is not None:
            return special(instruction)
        if instruction.convergence:
            return self._convergence(instruction)
        made = operation(instruction.opcode)
        if "|" in operands[0] or len(operands) != 1 + len(made.operands):
            raise RefusedError(f"instruction {instruction}")
        given = (self._value(x, kind) for x, kind in zip(operands[1:], made.operands, strict=True))
        return self._assign(operands[0], made.result, made.text.format(*given))

    def _branch(self, instruction: Instruction, number: int) -> str:
        to = self.function.labels[instruction.operands[0]]
        if not instruction.guard:
            return f"return {to}"
        return f"return ({self._value(instruction.guard, 'pred')}, {to}, {number + 1})"

    def _convergence(self, instruction: Instruction) -> str:
        operands = instruction.operands
        if instruction.convergence == "block":
            fine = operands[0] == "0" and len(operands) == 1 and "arrive" not in instruction.opcode
            return "X.pass_barrier(I)" if fine else _refuse(f"instruction {instruction}")
        if instruction.opcode == "bar.warp.sync":
            return "X.pass_warp_barrier(I)"
        name, mode, kind = instruction.opcode.replace(".sync", "").split(".")
        if name == "vote":
            said = f"vote({mode!r}, {self._value(operands[1], 'pred')}, X, I)"
            known = (mode, kind) in (("ballot", "b32"), ("all", "pred"), ("any", "pred"))
            return self._assign(operands[0], kind, said) if known else _refuse(str(instruction))
        to, _, inside = operands[0].partition("|")
        a, b, c = (self._value(x, "u32") for x in operands[1:4])
        lines = [f"T, P = shuffle({mode!r}, {a}, {b}, {c}, X, I)", self._assign(to, "u32", "T")]
        if inside:
            lines.append(self._assign(inside, "pred", "P"))
        return "; ".join(lines)

    def _pragma(self, instruction: Instruction) -> str:
        return ""

    def _mov(self, instruction: Instruction) -> str:
        """A move, or several registers put together or taken apart."""
        kind = instruction.opcode.removeprefix("mov.")
        to, given = instruction.operands
        if "{" not in to + given:
            return self._assign(to, kind, self._value(given, kind))
        whole = unsigned(kind)
        parts = _listed(given if given.startswith("{") else to)
        part = f"u{8 * size_of(kind) // len(parts)}"
        shifts = [f"{whole}({8 * size_of(part) * i})" for i in range(len(parts))]
        if to.startswith("{"):
            lines = [f"T = {self._value(given, whole)}"]
            for name, shift in zip(parts, shifts, strict=True):
                if name != "_":
                    lines.append(self._assign(name, part, f"(T >> {shift}).astype({part})"))
            return "; ".join(lines)
        pieces = (
            f"({self._value(name, part)}.astype({whole}) << {shift})"
            for name, shift in zip(parts, shifts, strict=True)
        )
        return self._assign(to, whole, " | ".join(pieces))

    def _cvta(self, instruction: Instruction) -> str:
        """Between the addresses of a state space and generic ones."""
        words = instruction.opcode.split(".")
        space = words[-2]
        if space not in _SPACES or words[-1] != "u64":
            raise RefusedError(f"instruction {instruction.opcode}")
        window = self._constant(np.uint64(CONSTANT_WINDOWS.get(space, 0)))
        sign = "-" if words[1] == "to" else "+"
        value = self._value(instruction.operands[1], "u64")
        return self._assign(instruction.operands[0], "u64", f"{value} {sign} {window}")

    # --- memory and calls ---

    def _access(self, instruction: Instruction) -> tuple[str, str, int]:
        """The state space (or ``"generic"``), the type and the number of elements of an access."""
        _, *words, kind = instruction.opcode.split(".")
        named = [word for word in words if word in _SPACES]
        space = named[0] if named else "generic"
        count = int(words.pop()[1:]) if words and re.fullmatch("v[248]", words[-1]) else 1
        if not set(words) <= _HINTS | set(named[:1]):
            raise RefusedError(f"instruction {instruction.opcode}")
        size_of(kind)
        return space, kind, count

    def _place(self, operand: str) -> tuple[str, int]:
        found = _ADDRESS.fullmatch(operand)
        if found is None:
            raise RefusedError(f"address {operand}")
        return found[1], int(found[2] or "0", 0)

    def _site(self, instruction: Instruction, space: str, kind: str, count: int) -> str:
        text = f"{self.function.name}: {instruction}"
        streamed = "no_allocate" in instruction.opcode
        return self._constant(Site(space, DTYPES[kind], count, text, streamed))

    def _address(self, base: str, offset: int, space: str) -> str:
        narrow = space in ("shared", "local") and self._is_narrow(base)
        text = self._value(base, "u32" if narrow else "u64")
        wide = np.uint32 if narrow else np.uint64
        if not offset:
            return text
        return f"{text} + {self._constant(wide(offset % 2 ** (8 * wide().itemsize)))}"

    def _is_narrow(self, base: str) -> bool:
        kind = self.function.type_of(base)
        return base in self.offsets if kind is None else size_of(kind) == 4

    def _ld(self, instruction: Instruction) -> str:
        space, kind, count = self._access(instruction)
        to = _listed(instruction.operands[0])
        base, offset = self._place(instruction.operands[1])
        if space == "param" and self.function.type_of(base) is None and not self._of_entry(base):
            return self._load_passed(to, base, offset, kind)
        site = self._site(instruction, space, kind, count)
        lines = [f"L = X.load({site}, {self._address(base, offset, space)}, I, n)"]
        lines += [self._assign(name, kind, f"L[{j}]") for j, name in enumerate(to)]
        return "; ".join(lines)

    def _of_entry(self, name: str) -> bool:
        return self.function.entry and name in self.parameters

    def _load_passed(self, to: list[str], base: str, offset: int, kind: str) -> str:
        """What a caller passed, or what a call gave back."""
        lines = []
        for j, name in enumerate(to):
            at = offset + j * size_of(kind)
            words = [self._passed(base, at + k, kind) for k in range(0, size_of(kind), WORD)]
            text = words[0]
            if len(words) > 1:
                text = f"({text}.astype(u64) | {words[1]}.astype(u64) << {self._constant(_HALF)})"
            lines.append(self._assign(name, kind, f"{text}.view({self._dtype(kind)})"))
        return "; ".join(lines)

    def _passed(self, base: str, at: int, kind: str) -> str:
        """A word, or less, of what was passed or given back."""
        if base in self.returned:
            return f"RET[{self.returned[base]}, {at}]"
        passed = passed_name(base, at)
        self.types[passed] = _word(kind)
        return self._use(passed)

    def _st(self, instruction: Instruction) -> str:
        space, kind, count = self._access(instruction)
        values = [self._value(x, kind) for x in _listed(instruction.operands[1])]
        base, offset = self._place(instruction.operands[0])
        if space != "param":
            site = self._site(instruction, space, kind, count)
            address = self._address(base, offset, space)
            return f"X.store({site}, {address}, [{', '.join(values)}], I, n)"
        lines = []
        for j, value in enumerate(values):
            at = offset + j * size_of(kind)
            # Of 64 bits two words: what is stored whole may be loaded as halves, and the reverse.
            words = [f"({value}).view({unsigned(kind)})"]
            if size_of(kind) > WORD:
                low, high = self._constant(np.uint64(2**32 - 1)), self._constant(_HALF)
                words = [f"({words[0]} & {low}).astype(u32)", f"({words[0]} >> {high}).astype(u32)"]
            for k, word in enumerate(words):
                passed = passed_name(base, at + k * WORD)
                self.types[passed] = _word(kind)
                self.written.add(passed)
                lines.append(f"{passed} = {word}")
                if base in self.results:
                    lines.append(f"R.write(I, {passed!r}, {passed})")
        return "; ".join(lines)

    def _call(self, instruction: Instruction) -> str:
        operands = list(instruction.operands)
        results = _listed(operands.pop(0)) if operands[0].startswith("(") else []
        callee = operands.pop(0)
        passed = []
        for position, name in enumerate(_listed(operands[0]) if operands else []):
            given = (x for x in sorted(self.written) if re.fullmatch(passed_name(name, r"\d+"), x))
            passed += [f"({position}, {x.rsplit('_', 1)[1]}): {x}" for x in given]
        self.returned = {name: position for position, name in enumerate(results)}
        return f"RET = X.call({callee!r}, {{{', '.join(passed)}}}, I)"


def _listed(text: str) -> list[str]:
    """The operands in braces or parentheses, or the one that there is."""
    return [part.strip() for part in text.strip("{}()").split(",") if part.strip()]


def _word(kind: str) -> str:
    """The unsigned type of a word of a value, or of a smaller value."""
    return f"u{8 * min(size_of(kind), WORD)}"


def passed_name(parameter: str, offset: int | str) -> str:
    """The Python name of some bytes of a parameter of a call."""
    return f"passed_{parameter.replace('$', '_')}_{offset}"


def _refuse(text: str) -> Any:
    raise RefusedError(text)
