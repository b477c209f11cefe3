"""The broadcast plan: one iteration space, and one stride per array and axis.

``build`` turns a graph and its operands into a plan whose axes are the output's dimensions. A
broadcast axis has stride 0. ``simplify`` then normalises it. A plan is plain data: hashable,
picklable, the same for every device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpubcast import ops
from gpubcast.element_types import ElementType
from gpubcast.errors import ElementTypeError, LayoutError, ShapeError
from gpubcast.expression import Constant, Expression, Node, Parameter, Place, arguments_of
from gpubcast.hashed import Hashed
from gpubcast.inference import Inferred
from gpubcast.layout import PaddingValue
from gpubcast.shape import Shape

Places = tuple[int | None, ...]
"""For each dimension of an array or a node, the axis that indexes it; None for none."""

MAX_RANK = 16
CONSTANT = "constant"


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
        operand: index of the operand read, or of the output written.
        element_type: type in memory.
        strides: per axis, in elements; 0 on a broadcast axis.
        offset: of the first element visited, in elements.
        extents: per axis, how many indices may be touched without leaving the array's memory.
        by_value: the value is a launch parameter.
    """

    operand: int
    element_type: ElementType
    strides: tuple[int, ...]
    offset: int
    extents: tuple[int, ...]
    by_value: bool = False

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
    """

    op: str
    args: tuple[int, ...]
    element_type: ElementType
    bits: int | None = None

    def __str__(self) -> str:
        inner = f"{self.bits:#x}" if self.bits is not None else ",".join(f"%{a}" for a in self.args)
        return f"{self.op}.{self.element_type}({inner})"


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

    One write at least has every axis; another may lack some (stride 0), and is then written at
    their first index only.
    """

    program: Program
    axes: tuple[Axis, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    fill: tuple[PaddingValue | None, ...]

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.axes)

    @property
    def num_visited(self) -> int:
        """Number of slots the kernel visits, padding included."""
        return math.prod(axis.extent for axis in self.axes)

    @property
    def num_bytes(self) -> int:
        """Bytes that must move: each distinct element of each operand and output once."""
        total = 0
        for access in self.accesses:
            walked = (
                axis.extent
                for axis, stride in zip(self.axes, access.strides, strict=True)
                if stride != 0
            )
            total += math.prod(walked) * access.element_type.itemsize
        return total

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

    def varies(self) -> tuple[frozenset[int], ...]:
        """For each value of the program, the axes along which it varies."""
        every = range(self.rank)
        known = [frozenset(k for k in every if access.strides[k]) for access in self.reads]
        for instruction in self.program.code:
            known.append(frozenset().union(*(known[a] for a in instruction.args)))
        return tuple(known)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Reads, then writes: the order of a kernel's slots."""
        return self.reads + self.writes


def build(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    places: tuple[Places, ...] = (),
) -> BroadcastPlan:
    """The plan of one kernel, whose axes are the dimensions of the first output.

    Args:
        expression: the graph.
        nodes: the result of ``expression.typed`` for these operands.
        operands: one per parameter.
        outputs: one per result.
        places: per output, the axis of each of its dimensions; None for one of size 1 that has
            none. By default the outputs' dimensions are the axes.

    Raises:
        ElementTypeError: a type has no kernels.
    """
    dimensions = outputs[0].shape.dimensions
    places = places or (tuple(range(len(dimensions))),) * len(outputs)
    walk = Walk(expression, nodes, operands, dimensions, places)
    # Values are numbered reads first.
    reads = tuple(walk.reads)

    def number(value: int) -> int:
        return value if value >= 0 else len(reads) - 1 - value

    code = tuple(replace(c, args=tuple(number(a) for a in c.args)) for c in walk.code)
    program = Program(
        tuple(a.element_type for a in reads), code, tuple(map(number, walk.results)),
        expression.fast_math,
    )  # fmt: skip
    for index in range(len(reads) + len(code)):
        _must_compute(program.type_of(index))
    writes = tuple(
        _access(i, output, place, dimensions)
        for i, (output, place) in enumerate(zip(outputs, places, strict=True))
    )
    fill = tuple(map(filled, outputs))
    extents = next(
        (o.extents for o, value in zip(outputs, fill, strict=True) if value is not None), dimensions
    )
    axes = tuple(Axis(size, extent) for size, extent in zip(dimensions, extents, strict=True))
    return BroadcastPlan(program, axes, reads, writes, fill)


def filled(output: Operand) -> PaddingValue | None:
    """The padding value that an output's slots are to hold; None where nothing is written."""
    value = output.shape.layout.padding_value
    return value if value.written and output.extents != output.shape.dimensions else None


def _access(index: int, operand: Operand, place: Places, dimensions: tuple[int, ...]) -> Access:
    """An array walked over axes: ``place`` says which of them indexes each of its dimensions."""
    strides = [0] * len(dimensions)
    extents = list(dimensions)
    for dimension, axis in enumerate(place):
        if axis is not None:
            # A dimension reached through two axes of one operand would add up; places are
            # injective, so each axis is met once.
            strides[axis] = operand.strides[dimension]
            extents[axis] = operand.extents[dimension]
    return Access(
        index,
        operand.shape.element_type,
        tuple(strides),
        0,
        tuple(extents),
        operand.by_value,
    )


def _moves_only(row: ops.Op, source: ElementType, result: ElementType) -> bool:
    """Whether an operation leaves every value as it is."""
    if row.result is ops.Result.KEY:
        return not source.is_floating
    moves = row.rule in (ops.Rule.BROADCAST, ops.Rule.BROADCAST_IN_DIM)
    return moves or (row.rule in (ops.Rule.CONVERT, ops.Rule.BITCAST) and source is result)


def _must_compute(element_type: ElementType) -> None:
    if not element_type.computes:
        raise ElementTypeError(
            f"{element_type} has no kernels yet; shape inference alone is available for it",
            rule="P2",
            kind="gpubcast:type without kernels",
        )


class Walk:
    """Pushes index maps from the outputs down to the parameters, then computes upwards.

    A map says for each dimension of a node which axis indexes it, or None where its size 1 is
    broadcast. A node reached with two maps is two values: they are read at different places.

    Attributes:
        reads: each distinct read.
        code: each distinct instruction.
        placed: per parameter, the maps through which it is read.
        results: the value of each output; instruction i is numbered -1 - i.
    """

    def __init__(
        self,
        expression: Expression,
        nodes: tuple[Inferred, ...],
        operands: tuple[Operand, ...],
        dimensions: tuple[int, ...],
        places: tuple[Places, ...],
    ) -> None:
        self.nodes = nodes
        self.operands = operands
        self.dimensions = dimensions
        self.reads: list[Access] = []
        self.code: list[Instruction] = []
        self.placed: dict[int, list[Places]] = {}
        self._values: dict[object, int] = {}
        # Per node, the maps with which it is needed. Arguments come before what takes them.
        needed: list[dict[Places, None]] = [{} for _ in expression.nodes]
        for output, place in zip(expression.outputs, places, strict=True):
            needed[output][place] = None
        for index in range(len(expression.nodes) - 1, -1, -1):
            for axes in needed[index]:
                for argument, inner in self._arguments(expression.nodes[index], index, axes):
                    needed[argument][inner] = None
        for index, node in enumerate(expression.nodes):
            for axes in needed[index]:
                self._values[index, axes] = self._value(index, node, axes)
        self.results = tuple(
            self._values[output, place]
            for output, place in zip(expression.outputs, places, strict=True)
        )

    def _arguments(self, node: Node, index: int, axes: Places) -> list[tuple[int, Places]]:
        """The arguments of a node whose own dimensions are indexed by ``axes``, with their maps."""
        if isinstance(node, Parameter):
            # Where an expression is cut, this was inferred as an operation.
            return []
        inferred = self.nodes[index]
        result = inferred.shape.dimensions
        found = []
        for argument, place in zip(arguments_of(node), inferred.maps, strict=True):
            sizes = self.nodes[argument].shape.dimensions
            inner = tuple(
                None if to is None or (size == 1 and result[to] != 1) else axes[to]
                for size, to in zip(sizes, place, strict=True)
            )
            found.append((argument, inner))
        return found

    def _value(self, index: int, node: Node, axes: Places) -> int:
        if isinstance(node, Parameter):
            return self._read(node.index, axes)
        kind = self.nodes[index].shape.element_type
        if isinstance(node, Constant):
            return self._instruction(Instruction(CONSTANT, (), kind, node.bits))
        args = tuple(self._values[argument] for argument in self._arguments(node, index, axes))
        if isinstance(node, Place):
            return args[0]
        row = ops.OPS[node.op]
        source = self.nodes[node.args[0]].shape.element_type
        if row.rule is ops.Rule.BITCAST and source.bits != kind.bits:
            raise ElementTypeError(
                f"bitcast_convert_type from {source} to {kind} changes the width of an element; "
                "kernels reinterpret equal widths only, shape inference is available",
                rule="P3",
                kind="gpubcast:bitcast width",
            )
        if _moves_only(row, source, kind):
            return args[0]
        return self._instruction(Instruction(node.op, args, kind))

    def _instruction(self, instruction: Instruction) -> int:
        if instruction not in self._values:
            self.code.append(instruction)
            self._values[instruction] = -len(self.code)
        return self._values[instruction]

    def _read(self, parameter: int, axes: Places) -> int:
        operand = self.operands[parameter]
        axes = tuple(
            None if size == 1 else axis
            for size, axis in zip(operand.shape.dimensions, axes, strict=True)
        )
        access = _access(parameter, operand, axes, self.dimensions)
        self.placed.setdefault(parameter, []).append(axes)
        if access not in self._values:
            self._values[access] = len(self.reads)
            self.reads.append(access)
        return self._values[access]


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
