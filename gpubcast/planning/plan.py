"""The broadcast plan: one iteration space, and one stride per array and axis.

``build`` turns a graph and its operands into a plan whose axes are the output's dimensions. A
broadcast axis has stride 0. ``simplify`` then normalises it. A plan is plain data: hashable,
picklable, the same for every device.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gpubcast.errors import LayoutError, ShapeError
from gpubcast.hashing import Hashed
from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Attributes
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.layout import PaddingValue
from gpubcast.shapes.shape import Shape


def leaves_inner_loop(plan: BroadcastPlan) -> bool:
    """Whether an operation does not vary along the inner axis."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and plan.rank - 1 not in axes
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


Places = tuple[int | None, ...]
"""For each dimension of an array or a node, the axis that indexes it; None for none."""

MAX_RANK = 16
# The most elements of a sequence that one thread, or one block of a GPU, reduces.
LONGEST_SEQUENCE = 32768
# Bytes of a launch parameter.
WORD = 8
CONSTANT = "constant"
# The operand of an access that reads no memory: the value at an offset is the offset, an s64. All
# that is known of arrays holds for it as for an array that would begin at address 0.
INDEX = -1


@dataclass(frozen=True, slots=True)
class Operand(Hashed):
    """An array as the planner sees it: its shape and where its elements lie.

    Attributes:
        shape: logical dimensions and layout. The layout of a strided view is its axis order.
        strides: distance of neighbours along each dimension, in elements; may be 0 or negative.
        extents: how far memory may be touched along each dimension: the padded sizes of an array
            that owns its buffer, the dimensions of a view.
        by_value: a host scalar, passed in the launch parameters and not in memory.
    """

    shape: Shape
    strides: tuple[int, ...]
    extents: tuple[int, ...]
    by_value: bool = False

    __hash__ = Hashed.__hash__

    @staticmethod
    def of(shape: Shape) -> Operand:
        """The operand that fills a whole buffer with the given layout.

        Raises:
            LayoutError: the layout has attributes that are text only.
        """
        if shape.layout.attributes:
            raise LayoutError(
                f"{shape}: the attributes {shape.layout.attributes} are carried in text and shape "
                "inference only; an array has none",
                rule="P4",
                kind="gpubcast:layout attributes",
            )
        return Operand(shape, shape.strides, shape.padded_dimensions)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of the iteration space.

    Attributes:
        size: number of indices at which elements are computed.
        extent: number of indices visited; those from ``size`` on are padding to be written.
    """

    size: int
    extent: int


@dataclass(frozen=True, slots=True)
class Access:
    """How one array is walked.

    Attributes:
        operand: index of the operand read, or of the output written; ``INDEX`` for none.
        element_type: type in memory.
        strides: per axis, in elements; 0 on a broadcast axis.
        offset: of the first element visited, in elements; of a launch parameter, in words.
        extents: per axis, how many indices may be touched without leaving the array's memory.
        by_value: the value is a launch parameter, of at most one word.
    """

    operand: int
    element_type: ElementType
    strides: tuple[int, ...]
    offset: int
    extents: tuple[int, ...]
    by_value: bool = False

    @property
    def generated(self) -> bool:
        """Whether no memory is read."""
        return self.operand == INDEX

    @property
    def inner(self) -> int:
        """Stride along the innermost axis; 0 where there is none."""
        return self.strides[-1] if self.strides else 0


@dataclass(frozen=True, slots=True)
class Instruction:
    """One scalar operation on earlier values; values are the reads, then the instructions.

    Attributes:
        op: the operation; ``CONSTANT`` for a value that is part of the code.
        args: the values it takes.
        element_type: of the result.
        bits: the storage bits of a constant.
        attributes: keywords that are part of the operation's expression, sorted by name.
        sequence: of a reduction, the number of the sequence that it reduces, from 1 on; else 0.
    """

    op: str
    args: tuple[int, ...]
    element_type: ElementType
    bits: int | None = None
    attributes: Attributes = ()
    sequence: int = 0

    @property
    def lacks_identity(self) -> bool:
        """Whether a reduction has no value that changes no other: a complex product of infinity and
        1 is NaN."""
        return self.op == "reduce_prod" and self.element_type.is_complex

    def __str__(self) -> str:
        inner = f"{self.bits:#x}" if self.bits is not None else ",".join(f"%{a}" for a in self.args)
        said = "".join(f",{key}={value}" for key, value in self.attributes)
        along = f"@{self.sequence}" if self.sequence else ""
        return f"{self.op}{along}.{self.element_type}({inner}{said})"


@dataclass(frozen=True, slots=True)
class Program:
    """The scalar code of a plan: straight-line, each distinct read and sub-expression once.

    Attributes:
        reads: element type of each read.
        code: the instructions.
        results: the values written, one per output.
        fast_math: whether instructions may be reassociated and contracted.
    """

    reads: tuple[ElementType, ...]
    code: tuple[Instruction, ...]
    results: tuple[int, ...]
    fast_math: bool = False

    def type_of(self, value: int) -> ElementType:
        """Element type of a value."""
        if value < len(self.reads):
            return self.reads[value]
        return self.code[value - len(self.reads)].element_type

    def expensive(self, instruction: Instruction) -> bool:
        """Whether an operation takes many registers."""
        if not instruction.args or instruction.sequence:
            return False
        return ops.OPS[instruction.op].expensive(self.type_of(instruction.args[-1]))

    def any_expensive(self, values: Iterable[int]) -> bool:
        """Whether some of these values are of such operations."""
        base = len(self.reads)
        return any(v >= base and self.expensive(self.code[v - base]) for v in values)

    def taken(self, value: int) -> bool:
        """Whether an instruction computes with a value, which then is not only written: one that
        reinterprets its bits rounds it, as a write does."""
        return any(
            value in instruction.args and ops.OPS[instruction.op].rule is not rules.BITCAST
            for instruction in self.code
        )

    def needed(self, results: tuple[int, ...], stop: tuple[int, ...] = ()) -> tuple[int, ...]:
        """The values that some results are computed from, in order, where those of ``stop`` are
        known."""
        base, wanted = len(self.reads), set(results)
        for i in range(len(self.code) - 1, -1, -1):
            if base + i in wanted and base + i not in stop:
                wanted.update(self.code[i].args)
        return tuple(sorted(wanted))

    def __str__(self) -> str:
        reads = [f"%{i}={t}" for i, t in enumerate(self.reads)]
        base = len(self.reads)
        code = [f"%{base + i}={instruction}" for i, instruction in enumerate(self.code)]
        return " ".join([*reads, *code, "->", *(f"%{r}" for r in self.results)])


@dataclass(frozen=True, slots=True)
class BroadcastPlan:
    """One kernel's work.

    Attributes:
        program: what is computed for each element.
        axes: the iteration space, major to minor.
        reads, writes: one access per value read and per output.
        fill: per output, the padding value to write where an index is at or past an axis' size;
            None where there is no padding or nothing is promised about it.
        sequences: how many axes each sequence has that is reduced, the outermost first. They are
            the last axes; a sequence is walked in the order of its axes, whatever memory is.
        chunked: whether the last axis before them counts the chunks of the first sequence, each of
            which has its own results.

    One write at least has every axis; another may lack some (stride 0), and is then written at
    their first index only.
    """

    program: Program
    axes: tuple[Axis, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    fill: tuple[PaddingValue | None, ...]
    sequences: tuple[int, ...] = ()
    chunked: bool = False

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.axes)

    @property
    def num_parallel(self) -> int:
        """Number of axes that are not part of a sequence; they come first."""
        return len(self.axes) - sum(self.sequences)

    def axes_of(self, sequence: int) -> range:
        """The axes of a sequence, whose numbers begin at 1."""
        first = self.num_parallel + sum(self.sequences[: sequence - 1])
        return range(first, first + self.sequences[sequence - 1])

    @property
    def num_visited(self) -> int:
        """Number of slots the kernel visits, padding included. A sequence without elements has a
        result."""
        parallel = self.num_parallel - self.chunked
        walked = math.prod(axis.extent for axis in self.axes[:parallel])
        if not self.sequences:
            return walked
        return walked * max(1, math.prod(axis.extent for axis in self.axes[self.num_parallel :]))

    @property
    def num_bytes(self) -> int:
        """Bytes that must move: each distinct element of each operand and output once."""
        return sum(map(self.bytes_of, self.accesses))

    def bytes_of(self, access: Access) -> int:
        """Those of one access."""
        if access.generated:
            return 0
        walked = (
            axis.extent
            for axis, stride in zip(self.axes, access.strides, strict=True)
            if stride != 0
        )
        return math.prod(walked) * access.element_type.itemsize

    @property
    def fills(self) -> bool:
        """Whether padding slots are written."""
        return any(value is not None for value in self.fill)

    @property
    def main(self) -> Access:
        """The write whose memory says how the axes are walked: it has every axis."""
        return next((w for w in self.writes if not self.lacks(w)), self.writes[0])

    def lacks(self, access: Access) -> tuple[int, ...]:
        """The axes along which an access stands still."""
        return tuple(
            k
            for k, (axis, stride) in enumerate(zip(self.axes, access.strides, strict=True))
            if stride == 0 and axis.extent > 1
        )

    def in_place(self, operand: int, write: Access) -> bool:
        """Whether each element of an operand is read where its result goes, and only there, if the
        output is the operand's own memory."""
        reads = [read for read in self.reads if read.operand == operand]
        return bool(reads) and all(
            (read.strides, read.offset) == (write.strides, write.offset)
            and read.element_type.itemsize == write.element_type.itemsize
            for read in reads
        )

    def varies(self) -> tuple[frozenset[int], ...]:
        """For each value of the program, the axes along which it varies. A sequence within the
        elements of another is reduced for each of them, also where they are all the same."""
        every = range(self.rank)
        known = [frozenset(k for k in every if access.strides[k]) for access in self.reads]
        for instruction in self.program.code:
            varies = frozenset[int]().union(*(known[a] for a in instruction.args))
            if instruction.sequence:
                varies = varies.difference(self.axes_of(instruction.sequence))
                if self.chunked and instruction.sequence == 1:
                    varies |= {self.num_parallel - 1}
                varies = varies.union(*map(self.axes_of, range(1, instruction.sequence)))
            known.append(varies)
        return tuple(known)

    def depths(self) -> tuple[int, ...]:
        """For each value of the program, in how many sequences it lies: 0 for one outside."""
        numbered = [(k, {*self.axes_of(k)}) for k in range(len(self.sequences), 0, -1)]
        return tuple(
            next((k for k, axes in numbered if axes & varies), 0) for varies in self.varies()
        )

    def num_expensive(self) -> int:
        """Operations that take many registers; where there are sequences, of their elements, since
        others are computed once for all of these."""
        depths = self.depths()[len(self.reads) :]
        return sum(
            self.program.expensive(instruction) and (depth > 0 or not self.sequences)
            for instruction, depth in zip(self.program.code, depths, strict=True)
        )

    def along_sequence(self) -> tuple[int, ...]:
        """The outputs that have an axis of the first sequence."""
        axes = self.axes_of(1)
        return tuple(
            k for k, write in enumerate(self.writes) if any(write.strides[axis] for axis in axes)
        )

    def passes(self) -> tuple[int, ...]:
        """For each value of the program, after how many passes over the first sequence it can be
        computed."""
        known = [0] * len(self.reads)
        for instruction in self.program.code:
            before = max((known[a] for a in instruction.args), default=0)
            known.append(before + (instruction.sequence == 1))
        return tuple(known)

    @property
    def element_types(self) -> frozenset[ElementType]:
        """The types that lie in memory."""
        return frozenset(access.element_type for access in self.accesses)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Reads, then writes: the order of a kernel's slots."""
        return self.reads + self.writes


def check_rank(plan: BroadcastPlan) -> BroadcastPlan:
    """The plan itself; a plan that kernels cannot walk is refused.

    Raises:
        ShapeError: more than 16 axes after merging.
    """
    if plan.rank > MAX_RANK and plan.num_visited:
        raise ShapeError(
            f"{plan.rank} axes remain after merging; kernels walk at most {MAX_RANK}",
            rule="P1",
            kind="gpubcast:rank",
        )
    return plan
