"""What the loops of kernels are made of: read in the assembly that LLVM writes for a processor.

The loop of a kernel is the innermost one that writes most bytes. What a turn of it writes outside
the stack, over the size of an element, is how many elements it makes. Blocks that call what is
rarely called (``vector_forms``) are not counted; of another function of the module the instructions
are counted with the loop's. A scalable vector of SVE is taken to have 256 bits, as on Neoverse V1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_SCALABLE = 32
_LABEL = re.compile(r"^(\.L[\w.]+):")
_TARGET = re.compile(r"(\.L\w+)$")
_ENDS = ("jmp", "b", "br", "ret", "retq")
_CALLS = ("callq", "call", "bl", "blr")
# Functions that a block calls rarely.
_RARE = re.compile(r"_lanes\d+$")

# The bytes that a store of x86 writes, by its name; others write the register that they name.
_X86_NAMED = {
    "movss": 4, "movsd": 8, "movd": 4, "movq": 8, "movlps": 8, "movhps": 8, "movlpd": 8,
    "movhpd": 8, "extractps": 4, "pextrb": 1, "pextrw": 2, "pextrd": 4, "pextrq": 8,
    "extractf128": 16, "extracti128": 16, "extractf32x4": 16, "extracti32x4": 16,
    "extractf64x4": 32, "extracti64x4": 32, "movb": 1, "movw": 2, "movl": 4,
}  # fmt: skip
_X86_NARROWING = re.compile(r"^pmov(?:s|us)?(db|dw|qd|qw|qb|wb)$")
_RATIO = {"db": 4, "dw": 2, "qd": 2, "qw": 4, "qb": 8, "wb": 2}
_X86_REGISTER = {"zmm": 64, "ymm": 32, "xmm": 16}
_X86_READS = ("cmp", "test", "ucomis", "comis", "bt", "prefetch", "nop", "lea", "ptest")
_ARM_REGISTER = {"q": 16, "d": 8, "s": 4, "h": 2, "b": 1, "x": 8, "w": 4}
_ARM_LANE = {"b": 1, "h": 2, "s": 4, "w": 4, "d": 8}
# What puts single elements into a vector: from general registers or from memory.
_X86_INSERTS = re.compile(
    r"^(?:pinsr[bwdq] \$[1-9]|(?:mov[dq]) %[er]|(?:insertps|mov[hl]p[sd]) .*\()"
)
_ARM_INSERTS = re.compile(r"^(?:ins|mov) v\d+\.\w+\[\d\], [wx]|^fmov [sd]\d+, [wx]|^ld1 .*\}\[")
_GENERAL_PAIR = re.compile(r"^stn?p [wx]")


class Instruction(NamedTuple):
    """A line of assembly: the name and the operands."""

    name: str
    operands: str


@dataclass(frozen=True)
class Loop:
    """A kernel's loop.

    Attributes:
        instructions: how many a turn has.
        written: the bytes that a turn writes.
        store: those of its largest store.
        inserts: instructions that put a single element into a vector.
        called: functions outside the module.
        text: its lines.
    """

    instructions: int
    written: int
    store: int
    inserts: int
    called: tuple[str, ...]
    text: tuple[str, ...]

    def sort(self, size: int) -> str:
        """``vector``, ``lanes`` where elements are computed or loaded one by one, or
        ``scalar``, for elements of so many bytes."""
        if self.called or self.store < min(2 * size, 16):
            return "scalar"
        return "lanes" if 2 * self.inserts * size >= self.written else "vector"

    def per_element(self, size: int) -> float:
        """Instructions per element of so many bytes."""
        return self.instructions * size / self.written


def loop_of(assembly: str) -> Loop:
    """The loop of the kernel in a module."""
    functions = _functions(assembly)
    sizes = {name: _length(lines) for name, lines in functions.items()}
    found = [loop for body in functions.values() for loop in _loops(body, sizes)]
    return max(found, key=lambda loop: (loop.written, -loop.instructions))


def _functions(assembly: str) -> dict[str, list[str]]:
    """The lines of each function, without directives and remarks."""
    names = set(re.findall(r"^\s*\.type\s+([^,\s]+),\s*[@%]function", assembly, re.MULTILINE))
    functions: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in assembly.splitlines():
        text = re.split(r"\s(?:#\s|//)", line)[0].rstrip()
        if text.endswith(":") and text[:-1] in names:
            lines = functions[text[:-1]] = []
        elif _LABEL.match(text) or (text[:1] == "\t" and text.strip()[:1] not in (".", "#")):
            lines.append(text)
    return functions


def _length(lines: list[str]) -> int:
    return sum(line.startswith("\t") for line in lines)


def _blocks(lines: list[str]) -> tuple[dict[str, list[Instruction]], dict[str, list[str]]]:
    """The instructions of each block and the blocks that follow it."""
    blocks: dict[str, list[Instruction]] = {"entry": []}
    follows: dict[str, list[str]] = {"entry": []}
    at, falls = "entry", True

    def begin(name: str) -> None:
        nonlocal at, falls
        if falls:
            follows[at].append(name)
        blocks.setdefault(name, [])
        follows.setdefault(name, [])
        at, falls = name, True

    for number, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            begin(label[1])
            continue
        name, _, operands = line.strip().partition("\t")
        blocks[at].append(Instruction(name, operands))
        target = _TARGET.search(operands)
        if name in _ENDS or (target and name.startswith(("j", "b.", "cb", "tb"))):
            if target:
                follows[at].append(target[1])
            falls = name not in _ENDS
            begin(f"after {number}")
    return blocks, {name: [x for x in after if x in blocks] for name, after in follows.items()}


def _loops(lines: list[str], sizes: dict[str, int]) -> list[Loop]:
    """The innermost loops of a function."""
    blocks, follows = _blocks(lines)
    order = _reached(follows)
    before: dict[str, list[str]] = {name: [] for name in order}
    for name in order:
        for after in follows[name]:
            before[after].append(name)
    dominators = _dominators(order, before)
    bodies: dict[str, set[str]] = {}
    for name in order:
        for head in follows[name]:
            if head in dominators[name]:
                body, todo = {head}, [name]
                while todo:
                    one = todo.pop()
                    if one not in body:
                        body.add(one)
                        todo += before[one]
                bodies.setdefault(head, set()).update(body)
    inner = [body for head, body in bodies.items() if not (body & set(bodies)) - {head}]
    return [_loop([blocks[name] for name in blocks if name in body], sizes) for body in inner]


def _reached(follows: dict[str, list[str]]) -> list[str]:
    seen, todo = {"entry": None}, ["entry"]
    while todo:
        for after in follows[todo.pop()]:
            if after not in seen:
                seen[after] = None
                todo.append(after)
    return list(seen)


def _dominators(order: list[str], before: dict[str, list[str]]) -> dict[str, set[str]]:
    found = {name: set(order) for name in order} | {"entry": {"entry"}}
    changed = True
    while changed:
        changed = False
        for name in order[1:]:
            new = set.intersection(*(found[b] for b in before[name])) | {name}
            changed |= new != found[name]
            found[name] = new
    return found


def _loop(body: list[list[Instruction]], sizes: dict[str, int]) -> Loop:
    def called(block: list[Instruction]) -> list[str]:
        return [i.operands for i in block if i.name in _CALLS]

    kept = [i for block in body if not any(map(_RARE.search, called(block))) for i in block]
    stores = _stores(kept)
    # A pair of general registers is two elements.
    pieces = [size // 2 if _GENERAL_PAIR.match(text) else size for size, text in stores]
    return Loop(
        len(kept) + sum(sizes.get(name, 0) for name in called(kept)),
        sum(size for size, _ in stores),
        max(pieces, default=0),
        _inserted(kept),
        tuple(sorted(set(called(kept)) - set(sizes))),
        tuple(f"{i.name}\t{i.operands}" for i in kept),
    )


def _stores(instructions: list[Instruction]) -> list[tuple[int, str]]:
    """The bytes of each store outside the stack, and its text."""
    stack = {"sp"}  # registers that point into it: AArch64 reaches its far parts through others
    found = []
    for one in instructions:
        register = re.match(r"(x\d+), (\w+)", one.operands)
        if register and not one.name.startswith("st"):
            (stack.add if register[2] == "sp" else stack.discard)(register[1])
        base = re.search(r"\[(\w+)", one.operands)
        if "%rsp" not in one.operands and not (base and base[1] in stack) and stored(one):
            found.append((stored(one), f"{one.name} {one.operands}"))
    return found


def _inserted(instructions: list[Instruction]) -> int:
    """How many instructions put a single element into a vector. A register that has just been read
    from memory may have several: x86 reads 16 bits of packed elements that way."""
    loaded: set[str] = set()
    count = 0
    for one in instructions:
        first, _, last = one.operands.rpartition(", ")
        count += _inserts(one) and first not in loaded
        (loaded.add if one.name == "movzwl" and "(" in first else loaded.discard)(last)
    return count


def _inserts(instruction: Instruction) -> bool:
    """Whether it puts an element into a vector; what writes it to memory does not."""
    name, operands = instruction
    if "%" in operands:
        to_vector = operands.endswith(tuple("0123456789")) and "mm" in operands
        return to_vector and bool(_X86_INSERTS.match(f"{name.removeprefix('v')} {operands}"))
    return bool(_ARM_INSERTS.match(f"{name} {operands}"))


def stored(instruction: Instruction) -> int:
    """The bytes that an instruction writes to memory; 0 for most."""
    name, operands = instruction
    if "%" not in operands:
        return _stored_arm(name, operands)
    place = re.search(r",\s*(-?\w*\([^()]*\))(?:\s*\{[^}]*\})?$", operands)
    plain = name.removeprefix("v")
    if not place or plain.startswith(_X86_READS):
        return 0
    register = re.search(r"%([xyz]mm)\d+$", operands[: place.start()])
    width = _X86_REGISTER[register[1]] if register else 0
    narrow = _X86_NARROWING.match(plain)
    if narrow:
        return width // _RATIO[narrow[1]]
    if plain == "cvtps2ph":
        return width // 2
    if plain.startswith("kmov"):
        return {"b": 1, "w": 2, "d": 4, "q": 8}[plain[-1]]
    return _X86_NAMED.get(plain, width)


def _stored_arm(name: str, operands: str) -> int:
    if not name.startswith("st"):
        return 0
    if name in ("strb", "sturb"):
        return 1
    if name in ("strh", "sturh"):
        return 2
    first = operands.partition("[")[0]
    if name.startswith(("st1", "st2", "st3", "st4")):
        lane = re.search(r"\.([bhsd]) ?\}\[", operands)
        if lane:
            return _ARM_LANE[lane[1]]
        scalable = re.findall(r"z\d+\.([bhsd])", first)
        if scalable:
            return sum(_SCALABLE // _ARM_LANE[k] * _ARM_LANE[name[3]] for k in scalable)
        return sum(int(n) * _ARM_LANE[k] for n, k in re.findall(r"v\d+\.(\d+)([bhsd])", first))
    registers = re.findall(r"\b([qdshbxwz])(?:\d+|zr|r)\b", first)
    if name.startswith(("stp", "stnp")):
        return 2 * _ARM_REGISTER[registers[0]]
    return _SCALABLE if registers[:1] == ["z"] else _ARM_REGISTER.get(registers[0], 0)
