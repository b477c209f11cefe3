"""Graphs of which some elements only are valid: what needs sizes, layouts and ``out`` is put in.

Of ``Positions`` it is the sizes. What an output is to hold where nothing is computed for it
(``Unwritten``) is the output itself where ``out`` is given, read at the very places where it is
written, and a constant in a new result. Both are a ``select`` in the same kernel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from gpubcast.hlo import graph_inference
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    Positions,
    Unwritten,
)
from gpubcast.hlo.literals import padding_bits
from gpubcast.hlo.op import Inferred
from gpubcast.planning.partition import Kernel
from gpubcast.planning.plan import Operand
from gpubcast.shapes.layout import PaddingValue

Graph = tuple[Expression, tuple[Inferred, ...], tuple[Operand, ...]]


def resolved(
    graph: Expression,
    nodes: tuple[Inferred, ...],
    operands: tuple[Operand, ...],
    outs: tuple[Operand, ...],
    *,
    given: bool,
) -> Graph:
    """The graph that kernels are made for, what its nodes are, and its operands.

    Args:
        graph, nodes, operands: a call's.
        outs: where its results go.
        given: whether these are arrays that hold something.

    Returns:
        Outputs that are read follow the operands, as further ones.
    """
    every = {type(node) for node in graph.nodes}
    if not every & {Positions, Unwritten}:
        return graph, nodes, operands
    made: list[Node] = []
    new: list[int] = []
    for node, inferred in zip(graph.nodes, nodes, strict=True):
        sizes = inferred.shape.dimensions
        if isinstance(node, Positions):
            said = {"dtype": "s32", "shape": sizes, "dimension": node.dimension}
            node = Apply("broadcasted_iota", (), tuple(sorted(said.items())))
        elif isinstance(node, Unwritten) and given:
            node = Parameter(len(operands) + node.output)
        elif isinstance(node, Unwritten):
            value = outs[node.output].shape.layout.padding_value
            held = value if value.written else PaddingValue.ZERO
            made.append(
                Constant(node.element_type, padding_bits(held, inferred.shape.element_type))
            )
            node = Place(len(made) - 1, (), sizes, 0 if graph.patterns else None)
        elif isinstance(node, Apply):
            node = replace(node, args=tuple(new[a] for a in node.args))
        elif isinstance(node, Place):
            node = replace(node, arg=new[node.arg], shape=sizes)
        made.append(node)
        new.append(len(made) - 1)
    more = outs if given and Unwritten in every else ()
    known = replace(
        graph,
        num_parameters=graph.num_parameters + len(more),
        nodes=tuple(made),
        outputs=tuple(new[i] for i in graph.outputs),
        patterns=tuple((one, tuple(new[i] for i in at)) for one, at in graph.patterns),
    )
    every_operand = (*operands, *more)
    found = graph_inference.infer_nodes(known, tuple(one.shape for one in every_operand))
    return known, found, every_operand


@lru_cache(256)
def with_former_outputs(graph: Expression) -> Expression:
    """The graph to which what its outputs hold before are further operands, one for each."""
    count = graph.num_parameters
    nodes = tuple(
        Parameter(count + node.output) if isinstance(node, Unwritten) else node
        for node in graph.nodes
    )
    return replace(graph, num_parameters=count + len(graph.outputs), nodes=nodes)


def apart(kernel: Kernel, operands: int, outputs: int) -> bool:
    """Whether an output that a kernel reads and writes must be two arrays: threads that do not
    write an element read it."""
    plan = kernel.plan
    written = kernel.arguments[len(plan.reads) :]
    for read, number in zip(plan.reads, kernel.arguments, strict=False):
        if not operands <= number < operands + outputs:
            continue
        write = plan.writes[written.index(number)] if number in written else None
        if write is None or plan.lacks(write) or not plan.in_place(read.operand, write):
            return True
    return False


def numbered(kernel: Kernel, arguments: int, read: int) -> Kernel:
    """A kernel in whose arguments the outputs that are read are the outputs.

    Args:
        kernel: one of a graph with further operands.
        arguments: the number of the call's operands and outputs.
        read: the number of the further operands.
    """
    numbers = tuple(k if k < arguments else k - read for k in kernel.arguments)
    return replace(kernel, arguments=numbers)
