"""From a graph to a plan whose axes are the output's dimensions.

Index maps are pushed from the outputs down to the parameters, which gives every operand a stride
per axis; what is computed for each element is collected on the way back.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    arguments_of,
)
from gpubcast.hlo.op import Inferred
from gpubcast.hlo.verification import refused
from gpubcast.planning.bitcasts import CONSUMED, Reading, moves_only, reading
from gpubcast.planning.plan import (
    CONSTANT,
    INDEX,
    WORD,
    Access,
    Axis,
    BroadcastPlan,
    Instruction,
    Operand,
    Places,
    Program,
)
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from gpubcast.shapes.layout import PaddingValue
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Sequences:
    """The axes of a kernel that reduces.

    Attributes:
        sizes: of all axes; those of the sequences come last.
        lengths: how many axes each sequence has, the outermost first.
        places: per reduction, a node of the graph, the axis of each of its operand's dimensions.
        numbers: per reduction, the number of the sequence that it reduces, from 1 on.
        chunked: whether the last parallel axis counts the chunks of the first sequence.
    """

    sizes: tuple[int, ...]
    lengths: tuple[int, ...]
    places: Mapping[int, Places]
    numbers: Mapping[int, int]
    chunked: bool = False


def build(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    places: tuple[Places, ...] = (),
    sequences: Sequences | None = None,
) -> BroadcastPlan:
    """The plan of one kernel, whose axes are the dimensions of the first output.

    Args:
        expression: the graph.
        nodes: the result of ``expression.typed`` for these operands.
        operands: one per parameter.
        outputs: one per result.
        places: per output, the axis of each of its dimensions; None for one of size 1 that has
            none. By default the outputs' dimensions are the axes.
        sequences: the axes, where there are reductions.

    Raises:
        ElementTypeError: P3, elements of less than a byte read as another width.
    """
    dimensions = outputs[0].shape.dimensions if sequences is None else sequences.sizes
    places = places or (tuple(range(len(dimensions))),) * len(outputs)
    walk = Walk(expression, nodes, operands, dimensions, places, sequences)
    # Values are numbered reads first.
    reads = tuple(walk.reads)

    def number(value: int) -> int:
        return value if value >= 0 else len(reads) - 1 - value

    code = tuple(
        replace(instruction, args=tuple(map(number, instruction.args))) for instruction in walk.code
    )
    program = Program(
        tuple(a.element_type for a in reads),
        code,
        tuple(map(number, walk.results)),
        expression.fast_math,
    )
    writes = tuple(
        _access(i, output, place, dimensions)
        for i, (output, place) in enumerate(zip(outputs, places, strict=True))
    )
    fill = tuple(map(filled, outputs))
    extents = next(
        (o.extents for o, value in zip(outputs, fill, strict=True) if value is not None), dimensions
    )
    axes = tuple(Axis(size, extent) for size, extent in zip(dimensions, extents, strict=True))
    if sequences is None:
        return BroadcastPlan(program, axes, reads, writes, fill)
    lengths, chunked = sequences.lengths, sequences.chunked
    return BroadcastPlan(program, axes, reads, writes, fill, lengths, chunked)


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


def read_as(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    index: int,
) -> tuple[Reading, Operand] | None:
    """How a bitcast reads a parameter, and its memory as elements of the result; None for another
    node, and where the memory has no such elements.

    Raises:
        ElementTypeError: P3, elements of less than a byte.
    """
    how = reading(expression, nodes, index)
    if how is None or operands[how.parameter].by_value:
        return None
    operand, element_type = operands[how.parameter], nodes[index].shape.element_type
    dimensions, strides, extents = operand.shape.dimensions, operand.strides, operand.extents
    if how.narrower > 1:
        dimensions, extents = (*dimensions, how.narrower), (*extents, how.narrower)
        strides = (*(stride * how.narrower for stride in strides), 1)
    elif how.wider > 1:
        last = how.place.index(CONSUMED)
        kept = [d for d in range(len(dimensions)) if d != last]
        steps = [strides[d] for d in kept if dimensions[d] != 1]
        if strides[last] != 1 or any(step % how.wider for step in steps):
            return None
        dimensions, extents = (tuple(x[d] for d in kept) for x in (dimensions, extents))
        strides = tuple(strides[d] // how.wider for d in kept)
    return how, Operand(Shape(element_type, dimensions), strides, extents)


class Walk:
    """Pushes index maps from the outputs down to the parameters, then computes upwards.

    A map says for each dimension of a node which axis indexes it, or None where its size 1 is
    broadcast. A node reached with two maps is two values: they are read at different places.

    Attributes:
        reads: each distinct read.
        code: each distinct instruction.
        readings: for each bitcast that only reads a parameter, how.
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
        sequences: Sequences | None = None,
    ) -> None:
        self.nodes = nodes
        self.sequences = sequences
        self.operands = operands
        self.readings: dict[int, tuple[Reading, Operand]] = {}
        for index in range(len(expression.nodes)):
            found = read_as(expression, nodes, operands, index)
            if found is not None:
                self.readings[index] = found
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
        if isinstance(node, Parameter) or index in self.readings:
            # Where an expression is cut, a parameter was inferred as an operation.
            return []
        if isinstance(node, Apply) and ops.OPS[node.op].rule is rules.SIZE:
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
            if self.sequences is not None and index in self.sequences.places:
                inner = self.sequences.places[index]
            found.append((argument, inner))
        return found

    def _value(self, index: int, node: Node, axes: Places) -> int:
        if isinstance(node, Parameter):
            return self._read(node.index, axes)
        if index in self.readings:
            return self._read_as(index, axes)
        element_type = self.nodes[index].shape.element_type
        if isinstance(node, Constant):
            return self._instruction(Instruction(CONSTANT, (), element_type, node.bits))
        assert isinstance(node, (Apply, Place)), "valid_elements has put in what takes sizes"
        args = tuple(self._values[argument] for argument in self._arguments(node, index, axes))
        if isinstance(node, Place):
            return args[0]
        row = ops.OPS[node.op]
        if row.rule is rules.IOTA:
            return self._index(self.nodes[index].shape, dict(node.attributes)["dimension"], axes)
        if row.rule is rules.SIZE:
            dimension = dict(node.attributes)["axis"]
            assert isinstance(dimension, int)
            size = self.nodes[node.args[0]].shape.dimensions[dimension]
            return self._number(size, (0,) * len(self.dimensions), element_type)
        source = self.nodes[node.args[0]].shape.element_type
        if moves_only(row, source, element_type):
            return args[0]
        if row.rule is rules.REDUCE:
            assert self.sequences is not None
            number = self.sequences.numbers[index]
            return self._instruction(Instruction(node.op, args, element_type, sequence=number))
        # Types are the instruction's own, and dimensions are in the maps.
        own = {a.name for a in row.attributes} if row.rule is rules.UNARY else set()
        said = tuple((key, value) for key, value in node.attributes if key in own)
        return self._instruction(Instruction(node.op, args, element_type, attributes=said))

    def _index(self, shape: Shape, dimension: Hashable, axes: Places) -> int:
        """The position along a dimension, converted to the element type."""
        place = tuple(
            axis if d == dimension and shape.dimensions[d] != 1 else None
            for d, axis in enumerate(axes)
        )
        strides = tuple(int(axis in place) for axis in range(len(self.dimensions)))
        return self._number(0, strides, shape.element_type)

    def _number(self, first: int, strides: tuple[int, ...], element_type: ElementType) -> int:
        """A number and, from there on, steps along axes, which is no part of the code."""
        wide = ELEMENT_TYPES["s64"]
        value = self._access(Access(INDEX, wide, strides, first, self.dimensions))
        if element_type is wide:
            return value
        return self._instruction(Instruction("convert_element_type", (value,), element_type))

    def _instruction(self, instruction: Instruction) -> int:
        if instruction not in self._values:
            self.code.append(instruction)
            self._values[instruction] = -len(self.code)
        return self._values[instruction]

    def _read(self, parameter: int, axes: Places) -> int:
        operand = self.operands[parameter]
        if any(a is None and n != 1 for n, a in zip(operand.shape.dimensions, axes, strict=True)):
            # Its first element would be read, which an empty array does not have.
            raise refused(f"the dimensions of {operand.shape} are not all in what is computed")
        axes = tuple(
            None if size == 1 else axis
            for size, axis in zip(operand.shape.dimensions, axes, strict=True)
        )
        access = _access(parameter, operand, axes, self.dimensions)
        self.placed.setdefault(parameter, []).append(axes)
        element_type = access.element_type
        if operand.by_value and element_type.itemsize > WORD:
            # A launch parameter is one word; the parts of a complex number are one each.
            parts = (replace(access, element_type=element_type.component, offset=i) for i in (0, 1))
            args = tuple([self._access(part) for part in parts])
            return self._instruction(Instruction("complex", args, element_type))
        return self._access(access)

    def _read_as(self, index: int, axes: Places) -> int:
        """A parameter read as another element type."""
        how, operand = self.readings[index]
        own = tuple(None if to in (None, CONSUMED) else axes[to] for to in how.place)
        self.placed.setdefault(how.parameter, []).append(own)
        place = tuple(own[d] for d, to in enumerate(how.place) if to != CONSUMED)
        if how.narrower > 1:
            place = (*place, axes[-1])
        return self._access(_access(how.parameter, operand, place, self.dimensions))

    def _access(self, access: Access) -> int:
        if access not in self._values:
            self._values[access] = len(self.reads)
            self.reads.append(access)
        return self._values[access]
