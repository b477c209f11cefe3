"""What ptxas made of the arithmetic of PTX: was anything contracted, flushed or approximated?

NVRTC's PTX says how each operation rounds; the machine code is only counted here. A product and a
sum that became one instruction would be one FFMA or DFMA more than PTX has ``fma``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from tests.support.ptx.parser import Program, parse

# What ptxas replaces by sequences of its own, which are correctly rounded all the same.
_SEQUENCES = re.compile(r"(div|rcp|sqrt|rsqrt)\.(rn|approx|full)[.\w]*")
_BARE = re.compile(r"(add|sub|mul)(\.ftz)?\.f(32|64)")


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One kernel, functions that it calls included: how often each opcode occurs."""

    ptx: Counter[str]
    sass: Counter[str]

    def faults(self, *, approximate: bool = False) -> list[str]:
        """What is not as the flags of NVRTC ask for, in words.

        Args:
            approximate: whether the operation is made of approximate instructions (``rem``).
        """
        found = [f"{n} {name}: may be contracted" for name, n in self._ptx(_BARE)]
        if not approximate:
            marks = re.compile(r".*\.(approx|full|ftz)\b.*")
            found += [f"{n} {name} in PTX" for name, n in self._ptx(marks)]
        local = re.compile(r"(LDL|STL)\b.*")
        found += [f"{n} {name}: local memory" for name, n in self._sass(local)]
        if self._ptx(_SEQUENCES):
            return found
        for bits, opcode in ((32, "FFMA"), (64, "DFMA")):
            wanted = sum(n for _, n in self._ptx(re.compile(rf"fma\.r\w\.f{bits}")))
            made = sum(n for _, n in self._sass(re.compile(rf"{opcode}\b.*")))
            # What PTX computes twice, ptxas computes once.
            if not 0.95 * wanted <= made <= wanted:
                found.append(f"{made} {opcode} for {wanted} fma")
        found += [f"{n} {name}" for name, n in self._sass(re.compile(r".*\.FTZ\b.*|MUFU.*"))]
        return found

    def _ptx(self, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
        return [(name, n) for name, n in self.ptx.items() if pattern.fullmatch(name)]

    def _sass(self, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
        return [(name, n) for name, n in self.sass.items() if pattern.fullmatch(name)]


def arithmetic(ptx: str, sass: dict[str, Counter[str]]) -> dict[str, Arithmetic]:
    """By kernel, from a program's PTX and the opcodes of each function of its machine code."""
    program = parse(ptx)
    found = {}
    for name, function in program.functions.items():
        if function.entry:
            called = sorted(_called(program, name))
            counted = (_opcodes(program, each) for each in called)
            made = (sass.get(each, Counter()) for each in called)
            found[name] = Arithmetic(sum(counted, Counter()), sum(made, Counter()))
    return found


def _called(program: Program, name: str) -> set[str]:
    """A function, and all that it calls."""
    found, pending = set(), [name]
    while pending:
        own = pending.pop()
        if own in found or own not in program.functions:
            continue
        found.add(own)
        for block in program.functions[own].blocks:
            for instruction in block:
                if instruction.head == "call":
                    pending += [x for x in instruction.operands if x in program.functions]
    return found


def _opcodes(program: Program, name: str) -> Counter[str]:
    blocks = program.functions[name].blocks
    return Counter(instruction.opcode for block in blocks for instruction in block)
