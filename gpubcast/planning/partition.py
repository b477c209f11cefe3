"""Which kernels an expression becomes: one, unless outputs do not lie beside each other or a limit
is passed.

A bitcast to a type of another width reads memory, so what it is given lies in memory: that is a
parameter, or the node before it goes through a temporary too.

Outputs share a kernel when the dimensions of one are axes of the other. An expression that reads
too many operands or has too much code is cut at a node, whose value goes through a temporary:
values are rounded to their type after each operation, so the result has the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import (
    Apply,
    Expression,
    Node,
    Parameter,
    Place,
    arguments_of,
    reachable,
)
from gpubcast.hlo.op import Inferred
from gpubcast.planning.bitcasts import CONSUMED, changes_width, reading
from gpubcast.planning.build import Walk, build, filled, read_as
from gpubcast.planning.plan import BroadcastPlan, Operand, Places
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

MAX_READS = 16
MAX_WRITES = 8
# What one kernel computes: beyond it registers spill and compilers take seconds.
MAX_CODE = 256


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of a call.

    Attributes:
        plan: its plan, not normalised.
        arguments: for each access, the number of its array: operands first, then outputs, then
            temporaries.
    """

    plan: BroadcastPlan
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of a call, in order.

    Attributes:
        temporaries: the arrays that only they see.
        why: why there are several, where that is not the caller's arrays' doing.
    """

    kernels: tuple[Kernel, ...]
    temporaries: tuple[Shape, ...]
    why: str = ""


def partition(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
) -> Kernels:
    """The kernels that compute an expression.

    Args:
        expression: the graph.
        nodes: the result of ``graph_inference.infer_nodes`` for these operands.
        operands: one per parameter.
        outputs: one per result.

    Raises:
        ElementTypeError: P3, elements of less than a byte read as another width.
    """
    packed, dropped = _packed(expression, nodes, operands), _dropped(expression, nodes)
    if len(outputs) == 1 and not packed:
        plan = build(expression, nodes, operands, outputs)
        if _fits(plan):
            return Kernels((kernel_of(plan, len(operands), len(outputs), (0,)),), ())
    # Cutting counts parameters, and one read in many ways is many reads: then smaller pieces
    # are tried; a single operation reads three at most.
    for reads, code in ((MAX_READS, MAX_CODE), (12, 64), (8, 32), (6, 16), (4, 7), (4, 3), (4, 1)):
        cuts = _cuts(expression, reads, code, packed, dropped)
        made = _cut(expression, nodes, operands, outputs, cuts, packed)
        if all(_fits(kernel.plan) for kernel in made.kernels):
            break
    return made


def _packed(
    expression: Expression, nodes: tuple[Inferred, ...], operands: tuple[Operand, ...]
) -> frozenset[int]:
    """The nodes that lie in memory because a bitcast reads them as a type of another width."""
    found = set()
    for i in reachable(expression.nodes, expression.outputs):
        if changes_width(expression, nodes, i) and read_as(expression, nodes, operands, i) is None:
            how = reading(expression, nodes, i)
            # Below what only moves elements there may be fewer of them.
            below = how is not None and (how.wider == 1 or how.place[-1] == CONSUMED)
            found.add(how.node if how and below else arguments_of(expression.nodes[i])[0])
    return frozenset(found)


def _dropped(expression: Expression, nodes: tuple[Inferred, ...]) -> frozenset[int]:
    """The nodes below one that drops a dimension along which its argument does not vary. In a
    temporary it would have that dimension, and no element where its size is 0."""
    found = set[int]()
    for i in reachable(expression.nodes, expression.outputs):
        for arg, places in zip(arguments_of(expression.nodes[i]), nodes[i].maps, strict=False):
            sizes = zip(nodes[arg].shape.dimensions, places, strict=False)
            if any(to is None and size != 1 for size, to in sizes):
                found |= reachable(expression.nodes, (arg,))
    return frozenset(found)


def _fits(plan: BroadcastPlan) -> bool:
    return len(plan.reads) <= MAX_READS and len(plan.program.code) <= MAX_CODE


def kernel_of(plan: BroadcastPlan, operands: int, outputs: int, written: tuple[int, ...]) -> Kernel:
    """The kernel of a plan that writes the outputs ``written``; beyond ``outputs``, temporaries."""
    reads = (a.operand if a.operand < operands else a.operand + outputs for a in plan.reads)
    writes = (operands + written[a.operand] for a in plan.writes)
    return Kernel(plan, (*reads, *writes))


# --- cutting -----------------------------------------------------------------------------------


def _cut(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    cuts: tuple[int, ...],
    packed: frozenset[int],
) -> Kernels:
    graph = expression
    kernels: list[Kernel] = []
    temporaries: list[Shape] = []
    written: tuple[int, ...]
    for node in cuts:
        shape = nodes[node].shape
        order = shape.layout.minor_to_major
        # What is read as a wider type has its last elements beside each other.
        shape = shape.with_layout(None if node in packed else Layout(order))
        temporary = Operand.of(shape)
        plan = build(replace(graph, outputs=(node,), axes=()), nodes, operands, (temporary,))
        written = (len(outputs) + len(temporaries),)
        kernels.append(kernel_of(plan, expression.num_parameters, len(outputs), written))
        changed = list(graph.nodes)
        changed[node] = Parameter(graph.num_parameters)
        graph = replace(graph, num_parameters=graph.num_parameters + 1, nodes=tuple(changed))
        operands += (temporary,)
        temporaries.append(shape)
    for group in _groups(graph, nodes, operands, outputs):
        written = tuple(number for number, _ in group.members)
        one = replace(graph, outputs=tuple(graph.outputs[i] for i in written), axes=())
        plan = build(
            one,
            nodes,
            operands,
            tuple(outputs[i] for i in written),
            tuple(place for _, place in group.members),
        )
        kernels.append(kernel_of(plan, expression.num_parameters, len(outputs), written))
    why = ""
    if any(not isinstance(expression.nodes[node], Parameter) for node in packed):
        why = "a bitcast reads what is computed as a type of another width"
    if len(cuts) > len(packed):
        why = (
            f"the expression is too large for one kernel (at most {MAX_READS} operands and "
            f"{MAX_CODE} operations)"
        )
    return Kernels(tuple(kernels), tuple(temporaries), why)


def _cuts(
    expression: Expression,
    most_reads: int,
    most_code: int,
    packed: frozenset[int],
    dropped: frozenset[int],
) -> tuple[int, ...]:
    """The nodes to compute into temporaries: those of ``packed``, and others but those of
    ``dropped`` so that none takes more operands or more code."""
    leaves: dict[int, frozenset[int]] = {}
    code: dict[int, frozenset[int]] = {}
    cuts = set(packed)
    # Some results of a graph are computed first: then the rest of it is no part of this.
    for i in sorted(reachable(expression.nodes, expression.outputs)):
        node = expression.nodes[i]
        arguments = arguments_of(node)
        while True:
            leaves[i] = frozenset().union(*(leaves[a] for a in arguments))
            code[i] = frozenset().union(*(code[a] for a in arguments))
            if isinstance(node, Parameter) or _is_index(node):
                leaves[i] = frozenset((i,))
            elif isinstance(node, Apply):
                code[i] |= {i}
            if len(leaves[i]) <= most_reads and len(code[i]) <= most_code:
                break
            chosen = _largest(expression, arguments, leaves, code, dropped)
            if chosen is None:
                break
            cuts.add(chosen)
            leaves[chosen], code[chosen] = frozenset((chosen,)), frozenset()
            for a in arguments:
                below = _computed(expression, a)
                leaves[a], code[a] = leaves[below], code[below]
        if i in packed:
            leaves[i], code[i] = frozenset((i,)), frozenset()
    return tuple(sorted(cuts))


def _is_index(node: Node) -> bool:
    return isinstance(node, Apply) and ops.OPS[node.op].rule is rules.IOTA


def _computed(expression: Expression, index: int) -> int:
    """The node whose elements a node only moves; materialised, it is the smaller of the two."""
    node = expression.nodes[index]
    while isinstance(node, Place) or (isinstance(node, Apply) and ops.OPS[node.op].rule.moves):
        index = node.arg if isinstance(node, Place) else node.args[0]
        node = expression.nodes[index]
    return index


def _largest(
    expression: Expression,
    arguments: tuple[int, ...],
    leaves: dict[int, frozenset[int]],
    code: dict[int, frozenset[int]],
    dropped: frozenset[int],
) -> int | None:
    below = {_computed(expression, a) for a in arguments} - dropped
    able = [a for a in below if code[a] and isinstance(expression.nodes[a], Apply)]
    return max(able, key=lambda a: (len(leaves[a]), len(code[a]), -a), default=None)


# --- outputs beside each other -------------------------------------------------------------------


@dataclass(slots=True)
class _OutputGroup:
    """Outputs of one kernel; the first has every axis.

    Attributes:
        dimensions: the axes.
        members: outputs, and where their dimensions go.
        placed: per parameter, the maps from its dimensions to axes through which it is read.
        indices: the axes along which positions are counted.
        code: number of instructions, shared ones counted twice.
    """

    dimensions: tuple[int, ...]
    members: list[tuple[int, Places]]
    placed: dict[int, list[Places]] = field(default_factory=dict)
    indices: frozenset[Places] = frozenset()
    code: int = 0

    def add(self, number: int, place: Places, walk: Walk) -> None:
        self.members.append((number, place))
        self.code += len(walk.code)
        self.indices |= _indices(walk, place)
        for parameter, places in _moved(walk, place).items():
            known = self.placed.setdefault(parameter, [])
            known += [own for own in places if own not in known]

    def room(self, walk: Walk, place: Places) -> bool:
        reads = {(p, x) for p, places in self.placed.items() for x in places}
        reads |= {(p, x) for p, places in _moved(walk, place).items() for x in places}
        indices = self.indices | _indices(walk, place)
        code = self.code + len(walk.code)
        return (
            len(self.members) < MAX_WRITES
            and len(reads) + len(indices) <= MAX_READS
            and code <= MAX_CODE
        )


def _moved(walk: Walk, place: Places) -> dict[int, list[Places]]:
    """A walk's maps with an output's dimensions replaced by axes."""
    return {
        parameter: [tuple(None if d is None else place[d] for d in own) for own in places]
        for parameter, places in walk.placed.items()
    }


def _indices(walk: Walk, place: Places) -> frozenset[Places]:
    """Of each position that is counted, the axis."""
    return frozenset(
        tuple(place[d] for d, stride in enumerate(read.strides) if stride)
        for read in walk.reads
        if read.generated
    )


def _groups(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
) -> list[_OutputGroup]:
    def size(number: int) -> tuple[int, int]:
        dimensions = outputs[number].shape.dimensions
        return -sum(n != 1 for n in dimensions), -math.prod(dimensions)

    groups: list[_OutputGroup] = []
    for number in sorted(range(len(outputs)), key=size):
        dimensions = outputs[number].shape.dimensions
        identity = tuple(range(len(dimensions)))
        one = replace(expression, outputs=(expression.outputs[number],))
        walk = Walk(one, nodes, operands, dimensions, (identity,))
        for group in groups:
            place = _adjacent(expression, group, number, walk, outputs)
            if place is not None and group.room(walk, place):
                group.add(number, place, walk)
                break
        else:
            group = _OutputGroup(dimensions, [])
            group.add(number, identity, walk)
            groups.append(group)
    return groups


def _adjacent(
    expression: Expression,
    group: _OutputGroup,
    number: int,
    walk: Walk,
    outputs: tuple[Operand, ...],
) -> Places | None:
    """Where an output's dimensions go among the axes of a group; None where it must stand alone."""
    output, main = outputs[number], outputs[group.members[0][0]]
    dimensions = output.shape.dimensions
    identity = tuple(range(len(dimensions)))
    if filled(output) is not None or filled(main) is not None:
        # Padding that must be written is visited by axes of its own.
        alike = dimensions == group.dimensions and output.extents == main.extents
        both = filled(output) is not None and filled(main) is not None
        return identity if alike and both else None
    if expression.axes:
        known = {label: k for k, label in enumerate(expression.axes[group.members[0][0]]) if label}
        found = {d: known.get(x, -1) for d, x in enumerate(expression.axes[number]) if x}
        if -1 in found.values():
            return None
    else:
        found = _aligned(group, walk)
        if not found and dimensions == group.dimensions:
            return identity
    place = tuple(found.get(d) for d in identity)
    if any(axis is None and dimensions[d] != 1 for d, axis in enumerate(place)):
        return None
    if any(
        axis is not None and dimensions[d] != group.dimensions[axis] for d, axis in enumerate(place)
    ):
        return None
    # Where an axis has no index nothing is visited, so an output without that axis would be lost.
    lacking = set(range(len(group.dimensions))) - set(place)
    return None if any(group.dimensions[axis] == 0 for axis in lacking) else place


def _aligned(group: _OutputGroup, walk: Walk) -> dict[int, int]:
    """Where an output's dimensions go so that what it reads is read where the group reads it."""
    found: dict[int, int] = {}
    for parameter, places in walk.placed.items():
        for own in places:
            for there in group.placed.get(parameter, ()):
                more = _extended(found, own, there)
                if more is not None:
                    found = more
                    break
    return found


def _extended(found: dict[int, int], own: Places, there: Places) -> dict[int, int] | None:
    more = dict(found)
    for d, axis in zip(own, there, strict=True):
        if d is None or axis is None:
            if d is not axis:
                return None
            continue
        if more.setdefault(d, axis) != axis:
            return None
    return more if len(set(more.values())) == len(more) else None
