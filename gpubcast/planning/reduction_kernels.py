"""Which kernels a graph with reductions becomes: one where it can be, else a sequence of few.

A kernel walks *parallel* axes, and for each of their indices the elements of one sequence, as often
as its reductions depend on each other. Within the elements of a sequence there may be another one
(a sum over pairs, whose distance is a sum). What does not fit is cut: reductions that depend on
none are computed into temporaries, which are operands of what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from gpubcast.planning.bitcasts import changes_width
from gpubcast.planning.build import Sequences, build, filled, read_as
from gpubcast.planning.lowering import by_chunks, lowered
from gpubcast.planning.partition import (
    MAX_CODE,
    MAX_READS,
    MAX_WRITES,
    Kernel,
    Kernels,
    kernel_of,
    partition,
)
from gpubcast.planning.plan import BroadcastPlan, Operand, Places
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

# Reductions of one kernel: each has memory of its own.
MAX_REDUCTIONS = 4


def reduction_kernels(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
) -> Kernels:
    """The kernels that compute an expression with reductions; arguments as for ``partition``.

    Raises:
        ElementTypeError: P3, elements of less than a byte read as another width.
    """
    graph, inferred = lowered(expression, nodes)
    return _Cutting(graph, inferred, operands, outputs).kernels()


class _Cutting:
    """A graph of which more and more is computed.

    Attributes:
        graph: what is left; a node that is computed is a parameter.
        operands: its operands: those of the call, then temporaries.
        results: the numbers of the results that are left.
    """

    def __init__(
        self,
        graph: Expression,
        nodes: tuple[Inferred, ...],
        operands: tuple[Operand, ...],
        outputs: tuple[Operand, ...],
    ) -> None:
        self.graph = graph
        self.nodes = nodes
        self.arity = len(operands)
        self.operands = operands
        self.outputs = outputs
        self.results = tuple(range(len(outputs)))
        self.made: list[Kernel] = []
        self.temporaries: list[Shape] = []

    def kernels(self) -> Kernels:
        for index in sorted(reachable(self.graph.nodes, self.graph.outputs)):
            if self._is_copied(index):
                while below := self._reductions((index,)):
                    self._compute_reductions(below)
                self._compute_elements(index)
        while left := self._reductions(self.graph.outputs):
            whole = one_kernel(self.graph, self.nodes, self.operands, self._outputs())
            if whole is not None:
                self.made.append(kernel_of(whole, self.arity, len(self.outputs), self.results))
                return Kernels(tuple(self.made), tuple(self.temporaries))
            if not self._compute_results():
                self._compute_reductions(left)
        rest = partition(self.graph, self.nodes, self.operands, self._outputs())
        return self._with(rest)

    def _outputs(self) -> tuple[Operand, ...]:
        return tuple(self.outputs[i] for i in self.results)

    def _compute_results(self) -> bool:
        """Compute some of several results in one kernel, and with them the reductions that others
        take from there, too; whether there are such. A kernel for these reductions alone would read
        what that of the results reads anyway."""
        every = range(len(self.results))
        for first in every:
            found = self._kernel_of_results((first,))
            if found is None or not found[1]:
                continue
            chosen: tuple[int, ...] = (first,)
            for k in every[first + 1 :]:
                more = self._kernel_of_results((*chosen, k))
                if more is not None:
                    chosen, found = (*chosen, k), more
            self._take(chosen, *found)
            return True
        return False

    def _take(
        self,
        chosen: tuple[int, ...],
        plan: BroadcastPlan,
        shared: tuple[int, ...],
        outs: tuple[Operand, ...],
    ) -> None:
        """Have a kernel of ``_kernel_of_results``; its results are no longer left."""
        fresh = len(self.outputs) + len(self.temporaries)
        results = tuple(self.results[k] for k in chosen)
        written = (*results, *range(fresh, fresh + len(shared)))
        self.made.append(kernel_of(plan, self.arity, len(self.outputs), written))
        for node, out in zip(shared, outs, strict=True):
            self._replace(node, out)
        left = [k for k in range(len(self.results)) if k not in chosen]
        axes = tuple(self.graph.axes[k] for k in left) if self.graph.axes else ()
        outputs = tuple(self.graph.outputs[k] for k in left)
        self.results = tuple(self.results[k] for k in left)
        self.graph = replace(self.graph, outputs=outputs, axes=axes)

    def _kernel_of_results(
        self, chosen: tuple[int, ...]
    ) -> tuple[BroadcastPlan, tuple[int, ...], tuple[Operand, ...]] | None:
        """The kernel of some results, the reductions that others take from it, and their memory."""
        nodes = tuple(self.graph.outputs[k] for k in chosen)
        others = [i for k, i in enumerate(self.graph.outputs) if k not in chosen]
        taken = reachable(self.graph.nodes, others)
        shared = tuple(i for i in self._reductions(nodes) if i in taken and i not in nodes)
        outs = tuple(_temporary(self.nodes[i].shape) for i in shared)
        part = replace(self.graph, outputs=(*nodes, *shared), axes=(), packed=True)
        given = tuple(self.outputs[self.results[k]] for k in chosen)
        plan = one_kernel(part, self.nodes, self.operands, (*given, *outs))
        return None if plan is None else (plan, shared, outs)

    def _with(self, rest: Kernels) -> Kernels:
        """These kernels, and others that take their temporaries as operands."""
        self._append(rest, tuple(self.arity + i for i in self.results))
        return Kernels(tuple(self.made), tuple(self.temporaries), rest.why)

    def _append(self, rest: Kernels, targets: tuple[int, ...]) -> None:
        """Kernels of a partition whose outputs are the arrays ``targets``."""
        before, outputs = len(self.operands), len(self.outputs)
        first = self.arity + outputs + len(self.temporaries)

        def number(own: int) -> int:
            if own < self.arity:
                return own
            if own < before:
                return own + outputs
            if own < before + len(targets):
                return targets[own - before]
            return first + own - before - len(targets)

        for one in rest.kernels:
            self.made.append(Kernel(one.plan, tuple(map(number, one.arguments))))
        self.temporaries += rest.temporaries

    def _is_copied(self, index: int) -> bool:
        """Whether a bitcast to another width reads what lies in no operand's memory."""
        if not changes_width(self.graph, self.nodes, index):
            return False
        return read_as(self.graph, self.nodes, self.operands, index) is None

    def _reductions(self, results: tuple[int, ...]) -> list[int]:
        """The reductions that some results are computed from."""
        live = reachable(self.graph.nodes, results)
        return [i for i in sorted(live) if reduces(self.graph.nodes[i])]

    def _compute_reductions(self, left: list[int]) -> None:
        """Compute a reduction that waits for no other, and those that share its pass."""
        first = self._ready(left)
        found = self._kernel((first,))
        if found is None and first != left[0]:
            # It is too much together with what is part of it.
            first = left[0]
            found = self._kernel((first,))
        if found is None:
            # Its operand is walked in two ways at once, or is too much for one kernel.
            self._compute_elements(arguments_of(self.graph.nodes[first])[0])
            return
        chosen: tuple[int, ...] = (first,)
        plan, outs = found
        for other in left:
            waits = any(
                reduces(self.graph.nodes[i]) and i not in (other, *chosen)
                for i in reachable(self.graph.nodes, (other,))
            )
            if other in chosen or waits or first in reachable(self.graph.nodes, (other,)):
                continue
            more = self._kernel((*chosen, other))
            if more is not None:
                chosen, (plan, outs) = (*chosen, other), more
        written = tuple(len(self.outputs) + len(self.temporaries) + k for k in range(len(chosen)))
        self.made.append(kernel_of(plan, self.arity, len(self.outputs), written))
        for node, out in zip(chosen, outs, strict=True):
            self._replace(node, out)

    def _ready(self, left: list[int]) -> int:
        """The first reduction that waits for none, or the one that such a one is part of."""
        for index in left:
            below = [i for i in reachable(self.graph.nodes, (index,)) if i in left and i != index]
            nested = all(_within(self.graph, self.nodes, self.operands, i, index) for i in below)
            inner = any(
                index in reachable(self.graph.nodes, (i,))
                and _within(self.graph, self.nodes, self.operands, index, i)
                for i in left
                if i != index
            )
            if nested and not inner:
                return index
        return left[0]

    def _kernel(self, chosen: tuple[int, ...]) -> tuple[BroadcastPlan, tuple[Operand, ...]] | None:
        """The kernel that computes some nodes into temporaries."""
        outs = tuple(_temporary(self.nodes[i].shape) for i in chosen)
        part = replace(self.graph, outputs=chosen, axes=())
        plan = one_kernel(part, self.nodes, self.operands, outs)
        return None if plan is None else (plan, outs)

    def _compute_elements(self, node: int) -> None:
        """Compute a node without reductions into a temporary."""
        if isinstance(self.graph.nodes[node], Parameter):
            return
        out = _temporary(self.nodes[node].shape)
        part = replace(self.graph, outputs=(node,), axes=(), packed=False)
        target = self.arity + len(self.outputs) + len(self.temporaries)
        made = partition(part, self.nodes, self.operands, (out,))
        self.temporaries.append(out.shape)
        self._append(made, (target,))
        self._replace(node, out, listed=True)

    def _replace(self, node: int, out: Operand, *, listed: bool = False) -> None:
        """Take a node that has been computed for an operand."""
        changed = list(self.graph.nodes)
        changed[node] = Parameter(self.graph.num_parameters)
        count = self.graph.num_parameters + 1
        self.graph = replace(self.graph, num_parameters=count, nodes=tuple(changed))
        self.operands += (out,)
        if not listed:
            self.temporaries.append(out.shape)


def _temporary(shape: Shape) -> Operand:
    return Operand.of(shape.with_layout(Layout(shape.layout.minor_to_major)))


def _within(
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
    if not set(_sequence(graph, classes, outer)) <= set(classes.axes(inner)):
        return False
    read = {
        node.index
        for i in reachable(graph.nodes, (inner,))
        if isinstance(node := graph.nodes[i], Parameter)
    }
    taken = sum(operands[p].shape.num_elements for p in read)
    return nodes[inner].shape.num_elements > taken


def _sequence(graph: Expression, classes: AxisClasses, index: int) -> tuple[Dimension, ...]:
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
) -> BroadcastPlan | None:
    """The plan of one kernel that computes all of a graph; None where it takes several."""
    live = sorted(reachable(graph.nodes, graph.outputs))
    found = [i for i in live if reduces(graph.nodes[i])]
    if len(found) > MAX_REDUCTIONS or len(outputs) > MAX_WRITES or any(map(filled, outputs)):
        return None
    classes = AxisClasses(graph, nodes, live)
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
        numbers={i: sequence_of[_sequence(graph, classes, i)[0]] for i in found},
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
    within the other, or where an output lacks a parallel axis."""
    taken = {i: _sequence(graph, classes, i) for i in found}
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
                and _within(graph, nodes, operands, i, k)
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
