"""Whether reductions share one kernel, and which axes it then has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.hlo.expression import (
    Apply,
    Expression,
    Parameter,
    arguments_of,
    reachable,
    reduces,
)
from gpubcast.hlo.op import Inferred
from gpubcast.planning.axis_classes import AxisClasses, Dimension
from gpubcast.planning.build import Sequences, build, filled
from gpubcast.planning.lowering import by_chunks
from gpubcast.planning.partition import MAX_CODE, MAX_READS, MAX_WRITES
from gpubcast.planning.plan import BroadcastPlan, Operand, Places

# Reductions of one kernel: each has memory of its own.
MAX_REDUCTIONS = 4


def is_within(
    graph: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    inner: int,
    outer: int,
) -> bool:
    """Whether a reduction is computed inside of another: where it varies along the other's axes,
    and its result would be larger than what it is computed from."""
    if inner == outer or by_chunks(graph.nodes[inner]):
        return False
    live = reachable(graph.nodes, (outer,))
    classes = AxisClasses(graph, nodes, live)
    if not set(sequence_axes(graph, classes, outer)) <= set(classes.axes(inner)):
        return False
    read = {
        node.index
        for i in reachable(graph.nodes, (inner,))
        if isinstance(node := graph.nodes[i], Parameter)
    }
    taken = sum(operands[p].shape.num_elements for p in read)
    return nodes[inner].shape.num_elements > taken


def sequence_axes(graph: Expression, classes: AxisClasses, index: int) -> tuple[Dimension, ...]:
    """The axes that a reduction takes away."""
    node = graph.nodes[index]
    assert isinstance(node, Apply)
    axes = classes.axes(node.args[0])
    given = dict(node.attributes)["axes"]
    assert isinstance(given, tuple)
    return tuple(axis for d in given if (axis := axes[d]) is not None)


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of one kernel: parallel ones, then those of its sequences, the outermost first."""

    parallel: tuple[Dimension, ...]
    sequences: tuple[tuple[Dimension, ...], ...]
    chunked: bool

    @property
    def every(self) -> tuple[Dimension, ...]:
        return (*self.parallel, *(axis for sequence in self.sequences for axis in sequence))


def one_kernel(
    graph: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    alike: Sequence[tuple[Dimension, Dimension]] = (),
) -> BroadcastPlan | None:
    """The plan of one kernel that computes all of a graph; None where it takes several.

    Args:
        graph, nodes, operands, outputs: as for ``reduction_kernels``.
        alike: dimensions that are walked as one axis though nothing of the graph says so.
    """
    live = sorted(reachable(graph.nodes, graph.outputs))
    found = [i for i in live if reduces(graph.nodes[i])]
    if len(found) > MAX_REDUCTIONS or len(outputs) > MAX_WRITES or any(map(filled, outputs)):
        return None
    classes = AxisClasses(graph, nodes, live, alike)
    if any(map(classes.clashes, live)):
        return None
    axes = _axes(graph, nodes, operands, classes, found)
    if axes is None:
        return None
    every = axes.every
    number = {axis: k for k, axis in enumerate(every)}

    def place(node: int) -> Places:
        return tuple(None if a is None else number.get(a) for a in classes.axes(node))

    sequence_of = {axis: k for k, one in enumerate(axes.sequences, 1) for axis in one}
    sequences = Sequences(
        sizes=tuple(classes.sizes[node][d] for node, d in every),
        lengths=tuple(map(len, axes.sequences)),
        places={i: place(arguments_of(graph.nodes[i])[0]) for i in found},
        numbers={i: sequence_of[sequence_axes(graph, classes, i)[0]] for i in found},
        chunked=axes.chunked,
    )
    places = tuple(place(i) for i in graph.outputs)
    plan = build(graph, nodes, operands, outputs, places, sequences)
    if len(plan.reads) > MAX_READS or len(plan.program.code) > MAX_CODE:
        return None
    return plan


def _axes(
    graph: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    classes: AxisClasses,
    found: Sequence[int],
) -> _Axes | None:
    """The axes of a kernel; None where its reductions do not share one sequence, or a pair of one
    within the other, or where an output lacks a parallel axis, or one that is empty."""
    taken = {i: sequence_axes(graph, classes, i) for i in found}
    distinct = tuple(dict.fromkeys(taken.values()))
    if len(distinct) > 2 or not all(distinct):
        return None
    if len(distinct) == 2:
        inner = next((s for s in distinct if s == taken[found[0]]), distinct[0])
        (outer,) = (s for s in distinct if s != inner)
        if set(inner) & set(outer):
            return None
        # The elements of an inner sequence are walked once.
        within = [i for i in found if taken[i] == inner]
        if any(k != i and k in reachable(graph.nodes, (i,)) for i in within for k in within):
            return None
        for i in found:
            if taken[i] == inner and not any(
                taken[k] == outer
                and i in reachable(graph.nodes, (k,))
                and is_within(graph, nodes, operands, i, k)
                for k in found
            ):
                return None
        distinct = (outer, inner)
    chunks = [by_chunks(graph.nodes[i]) for i in found if taken[i] == distinct[0]]
    chunked = any(chunks)
    outputs = [set(classes.axes(i)) - {None} for i in graph.outputs]
    sequence = {axis for one in distinct for axis in one}
    if len(distinct) == 2 and any(axes & sequence for axes in outputs):
        # Inner reductions are there while the outer sequence is reduced, and not after it.
        return None
    # Outputs that have some of a sequence's axes are stored in its loops, which an empty one stops.
    empty = {(node, d) for node, d in sequence if not classes.sizes[node][d]}
    if any(axes & sequence and not empty <= axes for axes in outputs):
        return None
    # A chunk's number is the last of the parallel axes.
    last = classes.axes(graph.outputs[0])[-1] if chunked else None
    if chunked and not (all(chunks) and set(graph.outputs) <= set(found)):
        return None
    parallel = dict.fromkeys(
        axis
        for i in graph.outputs
        for axis in classes.axes(i)
        if axis is not None and axis not in sequence and axis != last
    )
    order = (*parallel, *([last] if last is not None else []))
    if any(not set(order) <= axes for axes in outputs):
        return None
    # What lacks an axis would be reduced again and again along it.
    for i in found:
        own = set(classes.axes(i)) | ({last} if chunked and taken[i] == distinct[0] else set())
        around = set(order) if taken[i] == distinct[0] else {*order, *distinct[0]}
        if not around <= own:
            return None
    return _Axes(tuple(order), distinct, chunked)
