"""How a reduction's elements are combined in a CPU kernel: by the law of sums, in memory of its own.

The memory of a reduction holds its lanes, then the results of a sequence's chunks, then, where they
do not lie in a row, the elements of one chunk.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.parameter_table import INDENT
from gpubcast.codegen.cpu.scalar_code import compute_name, constant, scratch_type
from gpubcast.codegen.literals import identity_bits
from gpubcast.hlo import ops
from gpubcast.hlo.op import Identity
from gpubcast.hlo.sequences import CHUNK, LANES
from gpubcast.planning.plan import Program

# Where the parts of a reduction's memory begin.
RESULTS, ELEMENTS = LANES, LANES + CHUNK


class Combination:
    """One reduction of a program: ``value`` is its number."""

    def __init__(self, program: Program, value: int) -> None:
        self.value = value
        self.instruction = program.code[value - len(program.reads)]
        (self.operand,) = self.instruction.args
        self.element_type = self.instruction.element_type
        self.row = ops.OPS[self.instruction.op]
        self.memory = scratch_type(self.element_type)

    @property
    def identity(self) -> str:
        """The value that changes no other."""
        assert self.row.identity is not None
        return constant(self.element_type, identity_bits(self.row.identity, self.element_type))

    def allocation(self) -> str:
        return f"t{self.value} = scratch_{self.memory}()"

    def combined(self, first: str, second: str) -> str:
        """The expression of two values combined."""
        text = self.row.cpu_for(self.element_type.category).format(
            first, second, bits=self.element_type.bits, type=self.element_type.name
        )
        return f"{compute_name(self.element_type)}({text})"

    def load(self, index: str) -> str:
        return f"load_{self.memory}(t{self.value}, {index})"

    def store(self, index: str, text: str) -> str:
        return f"store_{self.memory}(t{self.value}, {index}, {text})"

    def cleared(self) -> list[str]:
        """All lanes as if nothing were in them."""
        return [f"for l in range({LANES}):", INDENT + self.store("l", self.identity)]

    def taken(self, text: str) -> str:
        """A value that lane ``l`` takes."""
        return self.store("l", self.combined(self.load("l"), text))

    def tree(self) -> list[str]:
        """The lanes combined, into lane 0."""
        lines = []
        half = LANES // 2
        while half:
            both = self.combined(self.load("l"), self.load(f"l + {half}"))
            lines += [f"for l in range({half}):", INDENT + self.store("l", both)]
            half //= 2
        return lines

    def from_memory(self, first: int, count: str) -> list[str]:
        """Elements that lie in the memory, combined into lane 0."""
        return [
            *self.cleared(),
            f"for k in range(0, {count}, {LANES}):",
            f"{INDENT}for l in range(min({LANES}, {count} - k)):",
            2 * INDENT + self.taken(self.load(f"{first} + k + l")),
            *self.tree(),
        ]

    def result(self) -> str:
        """The statement that makes the reduction's value of what its elements came to."""
        text = f"c{self.value}"
        if self.row.identity is Identity.ZERO and not self.element_type.is_integral:
            text = self.combined(self.identity, text)
        rounded = self.element_type.rounds and not self.element_type.is_floating
        return f"v{self.value} = round_{self.element_type.name}({text})" if rounded else f"v{self.value} = {text}"
