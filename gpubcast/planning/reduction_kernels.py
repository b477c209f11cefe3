"""Which kernels a graph with reductions becomes: one where it can be, else a sequence of few.

A kernel walks *parallel* axes, and for each of their indices the elements of one sequence, as often
as its reductions depend on each other. Within the elements of a sequence there may be another one
(a sum over pairs, whose distance is a sum). What does not fit is cut: reductions that depend on
none are computed into temporaries, which are operands of what is left.
"""

from __future__ import annotations

from dataclasses import replace

from gpubcast.hlo.expression import (
    Apply,
    Expression,
    Parameter,
    Place,
    arguments_of,
    reachable,
    reduces,
)
from gpubcast.hlo.op import Inferred
from gpubcast.planning.axis_classes import AxisClasses, Dimension
from gpubcast.planning.bitcasts import changes_width
from gpubcast.planning.build import filled, read_as
from gpubcast.planning.lowering import by_chunks, lowered
from gpubcast.planning.partition import Kernel, Kernels, partition
from gpubcast.planning.plan import INDEX, BroadcastPlan, Operand
from gpubcast.planning.single_kernel import is_within, one_kernel, sequence_axes
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape


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
        operands: its operands: those of the call, then what is computed.
        arrays: their numbers: operands of the call first, then its outputs, then temporaries.
        results: the numbers of the results that are left.
        alike: dimensions of results of reductions that are walked as one axis.
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
        self.arrays = tuple(range(len(operands)))
        self.results = tuple(range(len(outputs)))
        self.alike = _alike(graph, nodes)
        self.made: list[Kernel] = []
        self.temporaries: list[Shape] = []

    def kernels(self) -> Kernels:
        for index in sorted(reachable(self.graph.nodes, self.graph.outputs)):
            if self._is_copied(index):
                while below := self._reductions((index,)):
                    self._compute_reductions(below)
                self._compute_elements(index)
        self._compute_reduced_results()
        while left := self._reductions(self.graph.outputs):
            whole = self._one_kernel(self.graph, self._outputs())
            if whole is not None:
                self._make(whole, tuple(self.arity + i for i in self.results))
                return Kernels(tuple(self.made), tuple(self.temporaries))
            if not self._compute_results():
                self._compute_reductions(left)
        rest = partition(self.graph, self.nodes, self.operands, self._outputs())
        return self._with(rest)

    def _one_kernel(self, graph: Expression, outs: tuple[Operand, ...]) -> BroadcastPlan | None:
        """One kernel for a part of the graph. What is computed by now may be used in other ways
        than what it was computed from, so that its dimensions are axes of their own."""
        found = one_kernel(graph, self.nodes, self.operands, outs, self.alike)
        return found or one_kernel(graph, self.nodes, self.operands, outs)

    def _make(self, plan: BroadcastPlan, written: tuple[int, ...]) -> None:
        """Have a kernel that writes the arrays ``written``."""
        reads = tuple(INDEX if a.generated else self.arrays[a.operand] for a in plan.reads)
        writes = tuple(written[a.operand] for a in plan.writes)
        self.made.append(Kernel(plan, (*reads, *writes)))

    def _fresh(self, count: int) -> tuple[int, ...]:
        """The numbers of the next temporaries."""
        first = self.arity + len(self.outputs) + len(self.temporaries)
        return tuple(range(first, first + count))

    def _compute_reduced_results(self) -> None:
        """Compute the results without reductions that are reduced for others across rows, and so
        would be computed twice in one kernel, a first time to be reduced; these then read them."""
        left = self._reductions(self.graph.outputs)
        read = reachable(self.graph.nodes, left)
        sources = [self._source(node) for node in self.graph.outputs]
        chosen = tuple(
            k
            for k, node in enumerate(sources)
            if node in read
            and isinstance(self.graph.nodes[node], Apply)
            and not self._reductions((node,))
            and not filled(self.outputs[k])
            and self._is_reduced_across_rows(node, self.outputs[k], left)
        )
        if not chosen or len(chosen) == len(sources):
            return
        axes = tuple(self.graph.axes[k] for k in chosen) if self.graph.axes else ()
        nodes = tuple(self.graph.outputs[k] for k in chosen)
        part = replace(self.graph, outputs=nodes, axes=axes, packed=True)
        made = partition(part, self.nodes, self.operands, tuple(self.outputs[k] for k in chosen))
        self._append(made, tuple(self.arity + k for k in chosen))
        for k in chosen:
            if not isinstance(self.graph.nodes[sources[k]], Parameter):
                self._replace(sources[k], self.outputs[k], self.arity + k)
        self._leave(chosen)

    def _is_reduced_across_rows(self, node: int, out: Operand, left: list[int]) -> bool:
        """Whether no reduction of a result takes its innermost axis away."""
        inner = [d for d in out.shape.layout.minor_to_major if out.shape.dimensions[d] != 1][:1]
        classes = AxisClasses(self.graph, self.nodes, reachable(self.graph.nodes, left))
        row = {classes.axes(node)[d] for d in inner}
        above = [i for i in left if node in reachable(self.graph.nodes, (i,))]
        return not any(row & set(sequence_axes(self.graph, classes, i)) for i in above)

    def _source(self, node: int) -> int:
        """The node of which another is but the result."""
        found = self.graph.nodes[node]
        while isinstance(found, Place) and found.place == tuple(range(len(found.shape))):
            if self.nodes[found.arg].shape.dimensions != self.nodes[node].shape.dimensions:
                break
            node = found.arg
            found = self.graph.nodes[node]
        return node

    def _leave(self, chosen: tuple[int, ...]) -> None:
        """Go on without some results, which are computed."""
        left = [k for k in range(len(self.results)) if k not in chosen]
        axes = tuple(self.graph.axes[k] for k in left) if self.graph.axes else ()
        outputs = tuple(self.graph.outputs[k] for k in left)
        self.results = tuple(self.results[k] for k in left)
        self.graph = replace(self.graph, outputs=outputs, axes=axes)

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
        results = tuple(self.arity + self.results[k] for k in chosen)
        self._make(plan, (*results, *self._fresh(len(shared))))
        for node, out in zip(shared, outs, strict=True):
            self._replace(node, out)
        self._leave(chosen)

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
        plan = self._one_kernel(part, (*given, *outs))
        return None if plan is None else (plan, shared, outs)

    def _with(self, rest: Kernels) -> Kernels:
        """These kernels, and others that take their temporaries as operands."""
        self._append(rest, tuple(self.arity + i for i in self.results))
        return Kernels(tuple(self.made), tuple(self.temporaries), rest.why)

    def _append(self, rest: Kernels, targets: tuple[int, ...]) -> None:
        """Kernels of a partition whose outputs are the arrays ``targets``."""
        before = len(self.operands)
        (first,) = self._fresh(1)

        def number(own: int) -> int:
            if own < before:
                return own if own < 0 else self.arrays[own]
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
        self._make(plan, self._fresh(len(chosen)))
        for node, out in zip(chosen, outs, strict=True):
            self._replace(node, out)

    def _ready(self, left: list[int]) -> int:
        """The first reduction that waits for none, or the one that such a one is part of."""
        for index in left:
            below = [i for i in reachable(self.graph.nodes, (index,)) if i in left and i != index]
            nested = all(is_within(self.graph, self.nodes, self.operands, i, index) for i in below)
            inner = any(
                index in reachable(self.graph.nodes, (i,))
                and is_within(self.graph, self.nodes, self.operands, index, i)
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
        plan = self._one_kernel(part, outs)
        return None if plan is None else (plan, outs)

    def _compute_elements(self, node: int) -> None:
        """Compute a node without reductions into a temporary."""
        if isinstance(self.graph.nodes[node], Parameter):
            return
        out = _temporary(self.nodes[node].shape)
        part = replace(self.graph, outputs=(node,), axes=(), packed=False)
        (target,) = self._fresh(1)
        made = partition(part, self.nodes, self.operands, (out,))
        self.temporaries.append(out.shape)
        self._append(made, (target,))
        self._replace(node, out, target)

    def _replace(self, node: int, out: Operand, array: int | None = None) -> None:
        """Take a node that has been computed for an operand: an array, or the next temporary."""
        changed = list(self.graph.nodes)
        changed[node] = Parameter(self.graph.num_parameters)
        count = self.graph.num_parameters + 1
        self.graph = replace(self.graph, num_parameters=count, nodes=tuple(changed))
        self.operands += (out,)
        if array is None:
            (array,) = self._fresh(1)
            self.temporaries.append(out.shape)
        self.arrays += (array,)


def _alike(
    graph: Expression, nodes: tuple[Inferred, ...]
) -> tuple[tuple[Dimension, Dimension], ...]:
    """The dimensions of reductions that are walked as one axis, which is not seen any more where
    what they reduce is not part of the graph; and those of chunks of one sequence."""
    classes = AxisClasses(graph, nodes, range(len(nodes)))
    chunks: dict[tuple[Dimension, ...], Dimension] = {}
    first: dict[Dimension, Dimension] = {}
    found = []
    for index, node in enumerate(graph.nodes):
        if not reduces(node):
            continue
        if by_chunks(node):
            own = index, nodes[index].shape.rank - 1
            classes.join(chunks.setdefault(sequence_axes(graph, classes, index), own), own)
        if classes.clashes(index):
            continue
        for d, axis in enumerate(classes.axes(index)):
            if axis is not None:
                found.append((first.setdefault(axis, (index, d)), (index, d)))
    return tuple((one, other) for one, other in found if one != other)


def _temporary(shape: Shape) -> Operand:
    return Operand.of(shape.with_layout(Layout(shape.layout.minor_to_major)))
