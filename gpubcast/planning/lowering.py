"""Reductions as what kernels do: sequences of few elements, in the type that they are summed in.

A graph with reductions becomes one with the same results in which a reduction has

- f32 for f8, f16 and bf16 where elements are added or multiplied, so that they are rounded once;
- the axes of one sequence of the law of sums (``hlo.sequences``), with two elements or more;
- at most ``LONGEST_SEQUENCE`` elements to a sequence: a longer one is reduced chunk by chunk
  (``CHUNKS``) first, and its chunks' results are a sequence that is reduced next. Of a few columns,
  which would keep few processors busy, that is done from ``LONGEST_COLUMN`` elements on, where
  they are only reduced, and not needed again.

The index of an extreme element is the least among those of elements that equal the extreme. Where
that would read memory twice, it is found by one reduction: of integers that have the element in
their upper half, in the order of floats, and in their lower half how few are before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    arguments_of,
    reduces,
)
from gpubcast.hlo.inference import infer
from gpubcast.hlo.op import Inferred
from gpubcast.hlo.reductions import without
from gpubcast.hlo.sequences import num_chunks, sequences
from gpubcast.planning.plan import LONGEST_SEQUENCE
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape

# The most elements of a sequence whose own are no neighbours in memory, beside at most so many
# others: a block of a GPU takes a microsecond for each chunk of its columns, and there is one for
# each multiprocessor where columns are 4,096; threads of a CPU share chunks, and have whole rows.
LONGEST_COLUMN, FEW_COLUMNS = 2048, 4096
# The keyword of a reduction whose result has one element per chunk, along a new last dimension.
CHUNKS = "chunks"
_SUMS = ("reduce_sum", "reduce_prod")
# Columns of more elements are not held in registers, and so many bytes are not near a processor.
_SHORT, LARGE_BYTES = 128, 4 << 20
# Bits of a half of an integer, all of them, and those but the sign.
_HALF = 32
_ONES, _MOST = (1 << _HALF) - 1, (1 << _HALF - 1) - 1


def by_chunks(node: Node) -> bool:
    """Whether a reduction has one result per chunk."""
    return isinstance(node, Apply) and (CHUNKS, True) in node.attributes


def lowered(
    expression: Expression, nodes: tuple[Inferred, ...]
) -> tuple[Expression, tuple[Inferred, ...]]:
    """The graph that kernels are made for, and what its nodes are."""
    made = _LoweredGraph(only_reduces(expression, nodes))
    new: list[int] = []
    for node, inferred in zip(expression.nodes, nodes, strict=True):
        if isinstance(node, Place):
            sizes = inferred.shape.dimensions
            new.append(made.add(replace(node, arg=new[node.arg], shape=sizes), inferred))
        elif not isinstance(node, Apply):
            new.append(made.add(node, inferred))
        elif ops.OPS[node.op].rule is rules.REDUCE:
            axes = dict(node.attributes)["axes"]
            assert isinstance(axes, tuple)
            new.append(made.reduction(node.op, new[node.args[0]], sorted(axes), inferred))
        elif ops.OPS[node.op].rule is rules.CHOOSE:
            new.append(made.choice(node.op, new[node.args[0]], dict(node.attributes), inferred))
        else:
            args = tuple(new[a] for a in node.args)
            new.append(made.add(replace(node, args=args), inferred))
    graph = replace(
        expression,
        nodes=tuple(made.nodes),
        outputs=tuple(new[i] for i in expression.outputs),
        patterns=tuple((one, tuple(new[i] for i in at)) for one, at in expression.patterns),
    )
    return graph, tuple(made.inferred)


def only_reduces(expression: Expression, nodes: tuple[Inferred, ...]) -> bool:
    """Whether the elements that a graph reduces are not needed again: no reduction depends on
    another one, nothing that depends on one varies along more than it, and no result beside them
    varies along more than the largest."""
    varies: list[set[int]] = []  # the dimensions along which a node does
    fewest: list[float] = []  # elements of the smallest reduction that it depends on
    largest = 0
    for node, inferred in zip(expression.nodes, nodes, strict=True):
        args, sizes = arguments_of(node), inferred.shape.dimensions
        moved = zip(args, inferred.maps, strict=False)
        places = {place[d] for arg, place in moved for d in varies[arg] if d < len(place)}
        varies.append({d for d in places if d is not None} if args else {*range(len(sizes))})
        below = min((fewest[arg] for arg in args), default=math.inf)
        elements = math.prod(sizes[d] for d in varies[-1])
        if elements > below:
            return False
        if reduces(node) and elements < nodes[args[0]].shape.num_elements:
            assert isinstance(node, Apply)
            once = ops.OPS[node.op].rule is rules.REDUCE or fits_in_half(nodes[args[0]].shape)
            if below < math.inf or not once:
                return False
            below, largest = elements, max(elements, largest)
        fewest.append(below)
    return all(
        len(varies[out]) == nodes[out].shape.rank
        and (fewest[out] < math.inf or nodes[out].shape.num_elements <= largest)
        for out in expression.outputs
    )


def fits_in_half(shape: Shape) -> bool:
    """Whether elements are in the upper half of an integer of 64 bits."""
    return not shape.element_type.is_complex and shape.element_type.bits <= _HALF


class _LoweredGraph:
    """A graph being made, with what is known of its nodes.

    Attributes:
        only_reduces: whether elements that are reduced are not needed again.
        orders: of each node, its dimensions from minor to major as the elements of the largest
            array that it is computed from lie in memory, which labels do not change.
        sizes: elements of that array.
    """

    def __init__(self, only_reduces: bool) -> None:
        self.only_reduces = only_reduces
        self.nodes: list[Node] = []
        self.inferred: list[Inferred] = []
        self.orders: list[tuple[int, ...]] = []
        self.sizes: list[int] = []

    def add(self, node: Node, inferred: Inferred) -> int:
        order, size = self._memory(node, inferred)
        self.orders.append(order)
        self.sizes.append(size)
        self.nodes.append(node)
        self.inferred.append(inferred)
        return len(self.nodes) - 1

    def _memory(self, node: Node, inferred: Inferred) -> tuple[tuple[int, ...], int]:
        """What ``orders`` and ``sizes`` say of a node."""
        own = inferred.shape.layout.minor_to_major
        args = arguments_of(node)
        if not args:
            return own, inferred.shape.num_elements if isinstance(node, Parameter) else 0
        number = max(range(len(args)), key=lambda k: self.sizes[args[k]])
        largest, place = args[number], inferred.maps[number]
        moved = [place[d] for d in self.orders[largest] if d < len(place)]
        order = dict.fromkeys((*(d for d in moved if d is not None), *own))
        return tuple(order), inferred.shape.num_elements if reduces(node) else self.sizes[largest]

    def apply(self, name: str, *args: int, **attributes: Any) -> int:
        shapes = tuple(self.inferred[a].shape for a in args)
        node = Apply(name, args, tuple(sorted(attributes.items())))
        return self.add(node, infer(name, shapes, attributes))

    def constant(self, value: Any, element_type: str) -> int:
        shape = Shape(element_type, ())
        node = Constant(element_type, scalar_bits(value, shape.element_type))
        return self.add(node, Inferred(shape, ()))

    def shape(self, node: int) -> Shape:
        return self.inferred[node].shape

    def reduction(self, name: str, arg: int, axes: Sequence[int], result: Inferred) -> int:
        """A reduction as several, of one sequence of few elements each."""
        own = self.shape(arg).element_type
        wide = own.is_floating and own.rounds and name in _SUMS
        if wide:
            arg = self.apply("convert_element_type", arg, to="f32")
        sizes = [self.shape(arg).dimensions[axis] for axis in axes]
        for sequence in sequences(sizes):
            arg = self._sequence(name, arg, [axes[k] for k in sequence])
        if wide:
            arg = self.apply("convert_element_type", arg, to=own.name)
        # What only moves elements is no node of its own; its layout is that of the result.
        identity = tuple(range(result.shape.rank))
        return self.add(Place(arg, identity, result.shape.dimensions, 0), _placed(result, identity))

    def _sequence(self, name: str, arg: int, axes: Sequence[int]) -> int:
        """The reduction of one sequence, the innermost that is left."""
        elements = math.prod(self.shape(arg).dimensions[axis] for axis in axes)
        if elements == 1:
            return self._single(name, arg, axes)
        while elements > self._longest(arg, axes):
            arg, elements = self._chunks(name, arg, axes, elements)
            axes = (self.shape(arg).rank - 1,)
        return self.apply(name, arg, axes=tuple(axes))

    def _longest(self, arg: int, axes: Sequence[int]) -> int:
        """The most elements of a sequence that are reduced at a time: fewer where they are no
        neighbours, the sequences are few, and nothing else is done with the elements."""
        sizes = enumerate(self.shape(arg).dimensions)
        columns = math.prod(size for d, size in sizes if d not in axes)
        few = 0 < columns <= FEW_COLUMNS and not self._is_inner(arg, axes)
        return LONGEST_COLUMN if self.only_reduces and few else LONGEST_SEQUENCE

    def _is_inner(self, arg: int, axes: Sequence[int]) -> bool:
        """Whether neighbours in memory are neighbours along some axes."""
        sizes = self.shape(arg).dimensions
        return next((d for d in self.orders[arg] if sizes[d] != 1), None) in axes

    def _single(self, name: str, arg: int, axes: Sequence[int]) -> int:
        """A sequence of one element, which a sum adds to +0.0."""
        operand = self.shape(arg)
        kept = without(operand, axes)
        layout = Layout.default(len(kept.dimensions))
        shape = Shape(operand.element_type, kept.dimensions, layout)
        if axes:
            arg = self.add(Place(arg, kept.maps[0], kept.dimensions, 0), Inferred(shape, kept.maps))
        if name != "reduce_sum" or operand.element_type.is_integral:
            return arg
        if not (operand.element_type.is_floating or operand.element_type.is_complex):
            return arg
        return self.apply("add", arg, self.constant(0, operand.element_type.name))

    def _chunks(self, name: str, arg: int, axes: Sequence[int], elements: int) -> tuple[int, int]:
        """The results of a sequence's chunks, along a last dimension; and their number."""
        operand, count = self.shape(arg), num_chunks(elements)
        kept = without(operand, axes)
        # The new dimension stands in memory where the reduced ones stood.
        order: list[int] = []
        for d in self.orders[arg]:
            to = kept.maps[0][d]
            order.append(len(kept.dimensions) if to is None else to)
        layout = Layout(tuple(dict.fromkeys(order)))
        shape = Shape(operand.element_type, (*kept.dimensions, count), layout)
        said = (("axes", tuple(axes)), (CHUNKS, True))
        return self.add(Apply(name, (arg,), said), Inferred(shape, kept.maps)), count

    def _along(self, name: str, arg: int, axis: int) -> int:
        """A reduction of one axis."""
        result = infer(name, (self.shape(arg),), {"axes": (axis,)})
        return self.reduction(name, arg, (axis,), result)

    def choice(self, name: str, arg: int, given: dict[str, Any], result: Inferred) -> int:
        """The least index of an element that equals the extreme, NaN where there is one."""
        index, found = self._found(name, arg, given["axis"])
        if index != result.shape.element_type.name:
            found = self.apply("convert_element_type", found, to=result.shape.element_type.name)
        identity = tuple(range(result.shape.rank))
        return self.add(
            Place(found, identity, result.shape.dimensions, 0), _placed(result, identity)
        )

    def _found(self, name: str, arg: int, axis: int) -> tuple[str, int]:
        """The index of an extreme element, and its type."""
        operand = self.shape(arg)
        dimensions = operand.dimensions
        if fits_in_half(operand) and self._is_read_again(arg, axis):
            return "s64", self._found_at_once(name, arg, axis)
        self.only_reduces = False  # the elements are needed again
        extreme = self._along("reduce_max" if name == "argmax" else "reduce_min", arg, axis)
        others = tuple(d for d in range(operand.rank) if d != axis)
        spread = self.apply(
            "broadcast_in_dim", extreme, shape=dimensions, broadcast_dimensions=others
        )
        hit = self.apply("eq", arg, spread)
        if operand.element_type.is_floating:
            hit = self.apply("bitwise_or", hit, self.apply("ne", arg, arg))
        index = "s32" if dimensions[axis] < 1 << 31 else "s64"
        position = self.apply("broadcasted_iota", dtype=index, shape=dimensions, dimension=axis)
        largest = self.constant((1 << int(index[1:]) - 1) - 1, index)
        far = self.apply("broadcast_in_dim", largest, shape=dimensions, broadcast_dimensions=())
        candidates = self.apply("select", hit, position, far)
        return index, self._along("reduce_min", candidates, axis)

    def _is_read_again(self, arg: int, axis: int) -> bool:
        """Whether two reductions of an axis that depend on each other read it from memory twice:
        elements that are no neighbours are not kept between them. An index fits half an integer."""
        longest = LONGEST_SEQUENCE if self._is_inner(arg, (axis,)) else _SHORT
        size = self.sizes[arg] * self.shape(arg).element_type.itemsize
        return longest < self.shape(arg).dimensions[axis] <= _ONES and size >= LARGE_BYTES

    def _found_at_once(self, name: str, arg: int, axis: int) -> int:
        """The index of an extreme element by one reduction, an s64."""
        shape = self.shape(arg)

        def number(value: int, element_type: str = "s32") -> int:
            made = self.constant(value, element_type)
            sizes = shape.dimensions
            return self.apply("broadcast_in_dim", made, shape=sizes, broadcast_dimensions=())

        order = self._ordered(arg, number)
        if name == "argmin":
            order = self.apply("bitwise_not", order)
        if shape.element_type.is_floating:
            order = self.apply("select", self.apply("ne", arg, arg), number(_MOST), order)
        upper = self.apply("convert_element_type", order, to="s64")
        upper = self.apply("shift_left", upper, number(_HALF, "s64"))
        place = self.apply("broadcasted_iota", dtype="s64", shape=shape.dimensions, dimension=axis)
        both = self.apply(
            "bitwise_or", upper, self.apply("bitwise_xor", place, number(_ONES, "s64"))
        )
        most = self.apply("bitwise_not", self._along("reduce_max", both, axis))
        ones = self.constant(_ONES, "s64")
        sizes = self.shape(most).dimensions
        ones = self.apply("broadcast_in_dim", ones, shape=sizes, broadcast_dimensions=())
        return self.apply("bitwise_and", most, ones)

    def _ordered(self, arg: int, number: Callable[..., int]) -> int:
        """Elements as s32 of the same order; zeros of both signs are equal."""
        element_type = self.shape(arg).element_type
        if element_type.name == "u32":
            flipped = self.apply("bitwise_xor", arg, number(1 << _HALF - 1, "u32"))
            return self.apply("bitcast_convert_type", flipped, to="s32")
        if not element_type.is_floating:
            return arg if element_type.name == "s32" else self._as(arg, "s32")
        wide = arg if element_type.name == "f32" else self._as(arg, "f32")
        bits = self.apply("add", wide, number(0, "f32"))
        bits = self.apply("bitcast_convert_type", bits, to="s32")
        signs = self.apply("shift_right_arithmetic", bits, number(_HALF - 1))
        magnitude = self.apply("shift_right_logical", signs, number(1))
        return self.apply("bitwise_xor", bits, magnitude)

    def _as(self, arg: int, element_type: str) -> int:
        return self.apply("convert_element_type", arg, to=element_type)


def _placed(result: Inferred, identity: tuple[int, ...]) -> Inferred:
    return Inferred(result.shape, (identity,))
