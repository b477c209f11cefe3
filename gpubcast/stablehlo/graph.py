"""The graph of a function whose sizes are known, and the segments that it is cut into.

A segment is one expression graph, which the planner makes a kernel of, or as few as it can. A
value that is read another way than it lies, as a reshape of what is computed, is an array between
two segments. The segments are ordered by levels: what a segment reads was made at a lower one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpubcast.hlo import expression, ops
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    arguments_of,
    reachable,
)
from gpubcast.hlo.inference import infer
from gpubcast.hlo.op import Inferred
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.shape import Shape

Range = tuple[int, int, int]
"""The first position, the one behind the last (before it, for a negative step), and the step."""


@dataclass(frozen=True, slots=True)
class CallOperand:
    """An array of the call."""

    index: int


@dataclass(frozen=True, slots=True)
class Literal:
    """An array that the module holds, or that follows from sizes."""

    value: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ReshapedView:
    """The elements of another slot in row-major order, with other dimensions."""

    base: int
    dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SlicedView:
    """The elements of another slot at some positions along each dimension."""

    base: int
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """What a node of the graph is, written to memory."""

    node: int


Slot = CallOperand | Literal | ReshapedView | SlicedView | Computed


@dataclass(frozen=True, slots=True)
class Segment:
    """One expression and the arrays that it reads and writes, by their slots.

    Attributes:
        outputs: per result the slot, for a result of the function -1 - its number.
        ranks: the results' numbers of dimensions.
    """

    graph: Expression
    shapes: tuple[Shape, ...]
    operands: tuple[int, ...]
    outputs: tuple[int, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Segments:
    """A graph in segments.

    Attributes:
        segments: in the order in which they run.
        results: where each result is: a slot, or -1 - its number for an output of a segment.
        notes: why values lie in memory between segments.
    """

    segments: tuple[Segment, ...]
    results: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Graph:
    """A graph being made.

    Attributes:
        nodes, inferred, lines, levels: of each node: what it is, its shape, the line that made it,
            and how many segments come before it.
        slots: the arrays that nodes read.
        notes: for a slot, why its elements lie in memory.
        line: the line of the operation that is being read.
    """

    nodes: list[Node] = field(default_factory=list)
    inferred: list[Inferred] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)
    line: str = ""
    _numbers: dict[Node, int] = field(default_factory=dict)
    _computed: dict[int, int] = field(default_factory=dict)
    _views: dict[ReshapedView | SlicedView, int] = field(default_factory=dict)

    def shape(self, node: int) -> Shape:
        """The shape of a node."""
        return self.inferred[node].shape

    def _add(self, node: Node, inferred: Inferred, level: int) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.inferred.append(inferred)
            self.lines.append(self.line)
            self.levels.append(level)
        return self._numbers[node]

    def slot(self, slot: Slot, shape: Shape, level: int) -> int:
        """The node that reads a new array."""
        self.slots.append(slot)
        return self._add(Parameter(len(self.slots) - 1), Inferred(shape, ()), level)

    def note(self, node: int, text: str) -> None:
        """Say why an array that a node reads lies in memory."""
        parameter = self.nodes[node]
        assert isinstance(parameter, Parameter)
        self.notes[parameter.index] = f"{self.line}: {text}" if self.line else text

    def argument(self, index: int, shape: Shape) -> int:
        """The node of an argument."""
        return self.slot(CallOperand(index), shape, 0)

    def literal(self, value: np.ndarray[Any, Any], of: ElementType) -> int:
        """The node of an array that the module holds."""
        return self.slot(Literal(value), Shape(of.name, value.shape), 0)

    def scalar(self, bits: int, of: ElementType) -> int:
        """A scalar that is part of the code."""
        return self._add(Constant(of.name, bits), Inferred(Shape(of.name, ()), ()), 0)

    def apply(self, name: str, *args: int, **attributes: Any) -> int:
        """An operation by its gpubcast name.

        Raises:
            Error: a rule refuses the operands.
        """
        given = dict(expression.canonical(name, attributes))
        expansion = ops.OPS[name].expansion(given)
        if expansion.each is not None:
            args = tuple(self._applied(Apply(expansion.each, (a,))) for a in args)
        return self._applied(expression.applied(expansion, args))

    def _applied(self, node: Apply) -> int:
        shapes = tuple(self.shape(a) for a in node.args)
        inferred = infer(node.op, shapes, dict(node.attributes))
        return self._add(node, inferred, max((self.levels[a] for a in node.args), default=0))

    def place(self, arg: int, place: tuple[int | None, ...], dimensions: Sequence[int]) -> int:
        """A node's dimensions put elsewhere: a transpose, a broadcast, dropped sizes of 1."""
        node = Place(arg, place, tuple(dimensions), None)
        shape = Shape(self.shape(arg).element_type.name, tuple(dimensions))
        return self._add(node, Inferred(shape, (place,)), self.levels[arg])

    def view(self, node: int, dimensions: tuple[int, ...]) -> int:
        """A node that reads an array, with other dimensions."""
        parameter = self.nodes[node]
        assert isinstance(parameter, Parameter)
        base = parameter.index
        found = self.slots[base]
        wanted = ReshapedView(found.base if isinstance(found, ReshapedView) else base, dimensions)
        return self._view(node, wanted, dimensions)

    def sliced(self, node: int, ranges: tuple[Range, ...]) -> int:
        """A node that reads an array, at some positions along each dimension."""
        parameter = self.nodes[node]
        assert isinstance(parameter, Parameter)
        dimensions = tuple(len(range(*one)) for one in ranges)
        return self._view(node, SlicedView(parameter.index, ranges), dimensions)

    def _view(
        self, node: int, wanted: ReshapedView | SlicedView, dimensions: tuple[int, ...]
    ) -> int:
        if wanted not in self._views:
            shape = Shape(self.shape(node).element_type.name, dimensions)
            self._views[wanted] = self.slot(wanted, shape, self.levels[node])
        return self._views[wanted]

    def computed(self, node: int) -> int:
        """A node as an array in memory."""
        if isinstance(self.nodes[node], Parameter):
            return node
        if node not in self._computed:
            shape = Shape(self.shape(node).element_type.name, self.shape(node).dimensions)
            self._computed[node] = self.slot(Computed(node), shape, self.levels[node] + 1)
        return self._computed[node]

    # --- segments --------------------------------------------------------------------------------

    def segments(self, results: Sequence[int], names: Mapping[int, str]) -> Segments:
        """The segments that compute some nodes.

        Args:
            results: the nodes.
            names: what arguments are called, by their index.
        """
        places: list[int] = []
        wanted: dict[int, dict[int, int]] = {}
        waiting: list[int] = []
        taken: set[int] = set()
        for number, node in enumerate(results):
            own = self._own_memory(node)
            if own is not None and self._memory_of(own) not in taken:
                taken.add(self._memory_of(own))
                places.append(own)
                waiting.append(node)
                continue
            node = self._copied(node)
            places.append(-1 - number)
            wanted.setdefault(self.levels[node], {})[-1 - number] = node
            waiting.append(node)
        needed: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index in needed:
                continue
            needed.add(index)
            what = self.nodes[index]
            waiting += arguments_of(what)
            if not isinstance(what, Parameter):
                continue
            number = self._memory_of(what.index)
            slot = self.slots[number]
            if isinstance(slot, Computed):
                wanted.setdefault(self.levels[slot.node], {})[number] = slot.node
                waiting.append(slot.node)
        made = tuple(self._segment(wanted[level], names) for level in sorted(wanted))
        kernels = {number for one in made for number in one.operands}
        notes = tuple(note for number, note in self.notes.items() if number in kernels)
        return Segments(made, tuple(places), notes)

    def _own_memory(self, node: int) -> int | None:
        """The slot of a node that lies in memory of the call's own, which may be its result."""
        found = self.nodes[node]
        # What is sliced would hold on to more memory than it shows.
        if not isinstance(found, Parameter) or self._is_sliced(found.index):
            return None
        base = self.slots[self._memory_of(found.index)]
        return found.index if isinstance(base, Computed) else None

    def _is_sliced(self, number: int) -> bool:
        slot = self.slots[number]
        if isinstance(slot, ReshapedView):
            return self._is_sliced(slot.base)
        return isinstance(slot, SlicedView)

    def _memory_of(self, number: int) -> int:
        """The slot in whose memory the elements of a slot lie."""
        slot = self.slots[number]
        while isinstance(slot, (ReshapedView, SlicedView)):
            number, slot = slot.base, self.slots[slot.base]
        return number

    def _copied(self, node: int) -> int:
        """A result; one that only is an array of the call is a copy of it."""
        if not isinstance(self.nodes[node], Parameter):
            return node
        shape = self.shape(node)
        return self.place(node, tuple(range(shape.rank)), shape.dimensions)

    def _segment(self, wanted: Mapping[int, int], names: Mapping[int, str]) -> Segment:
        outputs = tuple(wanted.items())
        kept = sorted(reachable(self.nodes, wanted.values()))
        new = {old: i for i, old in enumerate(kept)}
        operands: list[int] = []
        shapes: list[Shape] = []
        nodes: list[Node] = []
        called: list[str] = []
        for old in kept:
            node = self.nodes[old]
            if isinstance(node, Parameter):
                nodes.append(Parameter(len(operands)))
                operands.append(node.index)
                shapes.append(self.shape(old))
                called.append(self._called(node.index, names))
            elif isinstance(node, Apply):
                nodes.append(Apply(node.op, tuple(new[a] for a in node.args), node.attributes))
            elif isinstance(node, Place):
                nodes.append(Place(new[node.arg], node.place, node.shape, None))
            else:
                nodes.append(node)
        graph = Expression(
            len(operands),
            tuple(nodes),
            tuple(new[node] for _, node in outputs),
            packed=True,
            names=Names(tuple(called), tuple(self.lines[old] for old in kept)),
        )
        slots = tuple(number for number, _ in outputs)
        ranks = tuple(self.shape(node).rank for _, node in outputs)
        return Segment(graph, tuple(shapes), tuple(operands), slots, ranks)

    def _called(self, number: int, names: Mapping[int, str]) -> str:
        slot = self.slots[number]
        if isinstance(slot, CallOperand):
            return names.get(slot.index, f"argument {slot.index}")
        if isinstance(slot, ReshapedView):
            return f"{self._called(slot.base, names)} reshaped"
        if isinstance(slot, SlicedView):
            return f"{self._called(slot.base, names)} sliced"
        return "constant" if isinstance(slot, Literal) else "temporary"
