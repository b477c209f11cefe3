"""From a graph and its operands to the normalised kernels of a call; nothing is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from gpubcast.errors import Error, LayoutError, ShapeError, SplitWarning, warn
from gpubcast.hlo import graph_inference
from gpubcast.hlo.expression import Expression, reduces
from gpubcast.hlo.op import Inferred
from gpubcast.planning.partition import Kernel, partition
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.planning.simplify import normalise
from gpubcast.planning.valid_elements import numbered, resolved
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

OutLayouts = tuple[Layout | None, ...] | None
"""Layouts that replace the inferred ones of new results, where not None."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A call planned.

    Attributes:
        nodes: what each node of the graph is.
        unmerged: the kernels' plans as they were built, before their axes were merged.
        kernels: the kernels, normalised.
        outputs, temporaries: shapes of results, and of arrays that only the kernels see.
    """

    nodes: tuple[Inferred, ...]
    unmerged: tuple[BroadcastPlan, ...]
    kernels: tuple[Kernel, ...]
    outputs: tuple[Shape, ...]
    temporaries: tuple[Shape, ...]


def plan_for(
    graph: Expression,
    operands: tuple[Operand, ...],
    outs: tuple[Operand, ...] | None = None,
    out_layouts: OutLayouts = None,
) -> CallPlan:
    """The plans of a call; nothing is compiled.

    Raises:
        Error: a rule refuses the operands, ``outs`` or ``out_layouts``.
    """
    nodes = graph_inference.infer_nodes(graph, tuple(o.shape for o in operands))
    inferred = tuple(nodes[index].shape for index in graph.outputs)
    given = outs is not None
    if outs is not None:
        _check_outs(inferred, outs, out_layouts)
    else:
        inferred = _laid_out(inferred, out_layouts)
        outs = tuple(map(Operand.of, inferred))
    known = resolved(graph, nodes, operands, outs, given=given)
    if any(map(reduces, graph.nodes)):
        from gpubcast.planning.reduction_kernels import reduction_kernels

        made = reduction_kernels(*known, outs)
    else:
        made = partition(*known, outs)
    numbers = len(operands) + len(outs), len(known[2]) - len(operands)
    kernels = tuple(
        numbered(Kernel(normalise(one.plan), one.arguments), *numbers) for one in made.kernels
    )
    if made.why:
        size = sum(shape.byte_size for shape in made.temporaries)
        text = f"{made.why}: {len(kernels)} kernels and temporaries of {size:,} bytes"
        warn(text, SplitWarning)
    unmerged = tuple(one.plan for one in made.kernels)
    shapes = tuple(out.shape for out in outs)
    return CallPlan(nodes, unmerged, kernels, shapes, made.temporaries)


def _laid_out(shapes: tuple[Shape, ...], layouts: OutLayouts) -> tuple[Shape, ...]:
    if layouts is None:
        return shapes
    if len(layouts) != len(shapes):
        raise LayoutError(
            f"out_layout has {len(layouts)} layouts for {len(shapes)} results; pass a tuple with "
            "one, or None, for each",
            rule="A2",
            kind="gpubcast:out_layout",
        )
    return tuple(
        shape if layout is None else shape.with_layout(layout)
        for shape, layout in zip(shapes, layouts, strict=True)
    )


def _check_outs(
    inferred: tuple[Shape, ...], outs: tuple[Operand, ...], out_layouts: OutLayouts
) -> None:
    if out_layouts is not None:
        raise LayoutError(
            "out_layout together with out: the layout of out is that of its memory",
            rule="A2",
            kind="gpubcast:out and out_layout",
        )
    if len(outs) != len(inferred):
        raise Error(
            f"out has {len(outs)} arrays for {len(inferred)} results",
            rule="A2",
            kind="gpubcast:number of outs",
        )
    for i, (result, out) in enumerate(zip(inferred, outs, strict=True)):
        wanted = (result.element_type, result.dimensions)
        if wanted != (out.shape.element_type, out.shape.dimensions):
            name = "out" if len(outs) == 1 else f"out {i}"
            raise ShapeError(
                f"{name} is {out.shape.text(layout=False)}, but the result is "
                f"{result.text(layout=False)}; out has exactly the result's dimensions and type",
                rule="A2",
                kind="gpubcast:out",
                operands=(out.shape,),
            )
