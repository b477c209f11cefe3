"""Reductions of an axis that is cut into blocks: partial results of blocks, combined by another.

What the blocks of an operand are must not be seen in the bits. A reduction that is exact in every
order has one partial result per block. A sum or a product of floats follows the law of sums
(``hlo.sequences``): a run of ``CHUNK`` elements, of ``CHUNK`` such runs and so on has one result
whatever lies around it. So blocks are cut at multiples of such a run, each run has a partial
result, and the partial results are a sequence that is reduced by the same law.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

from gpubcast.dask.axes import Axes, Axis
from gpubcast.dask.block_graphs import BlockGraph
from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Apply, Expression, Parameter
from gpubcast.hlo.op import Op
from gpubcast.hlo.sequences import CHUNK, sequences
from gpubcast.shapes.element_types import ElementType

_SUMS = ("reduce_sum", "reduce_prod")
# So many elements a kernel has at least, where runs may be longer.
_FEW = 1 << 16


@dataclass(frozen=True, slots=True)
class CutReduction:
    """A reduction of which some axes are cut.

    Attributes:
        node: its number in the graph.
        axes: the axes that are cut.
        shortest: the least number of elements along the axis that has a partial result; blocks are
            cut at its multiples. None where any number has.
    """

    node: int
    axes: tuple[Axis, ...]
    shortest: int | None


def cut_reduction(axes: Axes, node: int, cut: frozenset[Axis]) -> CutReduction | None:
    """A node as a reduction of axes that are cut; None where it is none, or its order forbids it.

    Args:
        axes: the graph's axes.
        node: the node.
        cut: the axes that are cut in its operands.
    """
    apply = axes.expression.nodes[node]
    if not isinstance(apply, Apply) or ops.OPS[apply.op].rule is not rules.REDUCE:
        return None
    operand = axes.inferred[apply.args[0]].shape
    numbers = sorted(_axes_of(apply))
    found = [axes.of(apply.args[0], d) for d in numbers]
    if len(set(found)) < len(found):
        return None
    if apply.op not in _SUMS or not _has_order(operand.element_type):
        own = tuple(axis for axis in found if axis in cut)
        return CutReduction(node, own, None) if own else None
    # The first axis of the outermost sequence: all others vary within each element or run of it.
    outermost = sequences([operand.dimensions[d] for d in numbers])[-1]
    inner = math.prod(operand.dimensions[numbers[k]] for k in outermost[1:])
    if found[0] not in cut or inner == 0 or CHUNK % inner:
        return None
    return CutReduction(node, (found[0],), CHUNK // inner)


def _axes_of(apply: Apply) -> tuple[int, ...]:
    given = dict(apply.attributes)["axes"]
    assert isinstance(given, tuple)
    return given


def _has_order(element_type: ElementType) -> bool:
    return element_type.is_floating or element_type.is_complex


def run_length(shortest: int, chunks: tuple[int, ...], others: int) -> int:
    """How many elements along an axis have one partial result.

    Args:
        shortest: the least number.
        chunks: how the axis is cut.
        others: the number of elements of a block for one index along the axis.
    """
    borders = [sum(chunks[:k]) for k in range(1, len(chunks))]
    length = shortest
    while length * CHUNK <= max(chunks):
        longer = length * CHUNK
        if any(border % longer for border in borders) and length * others >= _FEW:
            break
        length = longer
    return length


def on_multiples(chunks: tuple[int, ...], length: int) -> tuple[int, ...]:
    """The same cuts, each moved to the nearest multiple of a length."""
    size = sum(chunks)
    borders = [0]
    for k in range(1, len(chunks)):
        border = round(sum(chunks[:k]) / length) * length
        if borders[-1] < border < size:
            borders.append(border)
    borders.append(size)
    return tuple(b - a for a, b in itertools.pairwise(borders))


def partial_graph(made: BlockGraph, element_type: ElementType) -> Expression:
    """The graph of partial results, in the type in which elements are added."""
    graph = made.expression
    (output,) = graph.outputs
    apply = graph.nodes[output]
    assert isinstance(apply, Apply)
    if not _is_widened(ops.OPS[apply.op], element_type):
        return graph
    assert output == len(graph.nodes) - 1
    wide = Apply("convert_element_type", apply.args, (("to", "f32"),))
    nodes = (*graph.nodes[:-1], wide, replace(apply, args=(output,)))
    return replace(graph, nodes=nodes, outputs=(output + 1,), axes=())


def partial_type(op: str, element_type: ElementType) -> str:
    """The element type of partial results."""
    return "f32" if _is_widened(ops.OPS[op], element_type) else element_type.name


def combining_graph(op: str, element_type: ElementType, count: int) -> Expression:
    """The graph that reduces partial results, which lie along so many first axes."""
    nodes = (Parameter(0), Apply(op, (0,), (("axes", tuple(range(count))),)))
    if not _is_widened(ops.OPS[op], element_type):
        return Expression(1, nodes, (1,))
    back = Apply("convert_element_type", (1,), (("to", element_type.name),))
    return Expression(1, (*nodes, back), (2,))


def _is_widened(row: Op, element_type: ElementType) -> bool:
    """Whether elements are added in f32 and rounded once, at the end."""
    return row.name in _SUMS and element_type.is_floating and element_type.rounds
