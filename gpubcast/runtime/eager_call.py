"""One eager call: foreign operands in, expression, run, result of the operands' array type out."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any

from gpubcast.backends.array_types import DeviceArray
from gpubcast.errors import Error
from gpubcast.hlo import expression, graph_inference
from gpubcast.hlo.expression import Attributes, Expression, keeps
from gpubcast.hlo.inference import wrong_number
from gpubcast.hlo.ops import OPS
from gpubcast.runtime import call_cache, execute, state
from gpubcast.runtime.device import parse_device
from gpubcast.runtime.entry_point import Call, EntryPoint
from gpubcast.runtime.operands import byte_view, is_scalar, output_view, scalar_view, view_of
from gpubcast.runtime.overlap import share_memory, shared
from gpubcast.runtime.protocols import Symbolic
from gpubcast.runtime.results import new_results
from gpubcast.runtime.view import View
from gpubcast.shapes.layout import Layout, check_layout

# The types of keywords that are what they are.
_WORDS = frozenset({type(None), bool, int, str})


@functools.lru_cache(4096)
def _graph(name: str, attributes: Attributes) -> Expression:
    return expression.single(name, dict(attributes))


def apply_operation(
    name: str, operands: tuple[Any, ...], out: Any = None, out_layout: Layout | None = None,
    *given: Any,
) -> Any:  # fmt: skip
    """Run one operation on arrays. Arguments go by position, so that like calls look alike.

    Args:
        name: the operation.
        operands: gpubcast, NumPy, CuPy or DLPack arrays, lists, scalars; traced values in a
            function that is being fused.
        out: an array that receives the result and is returned.
        out_layout: layout of the new array.
        given: the operation's keywords in the order of ``keywords``; missing ones are None.

    Returns:
        ``out``, or a new array: a gpubcast Array if any operand is one, else CuPy or NumPy; see
        ``EntryPoint`` for arrays of other libraries.

    Raises:
        Error: a rule refuses the call.
    """
    if not operands:
        return _without_operands(name, out, out_layout, *given)
    call = (name, operands, out, out_layout, *given)
    prefix = _prefix(name, given)
    if prefix is not None and out_layout is None:
        made = call_cache.again(prefix, call)
        if made is not None:
            return made
    attributes = dict(zip(keywords(name), given, strict=False))
    for x in operands:
        if isinstance(x, Symbolic):
            placed = out is not None or out_layout is not None
            return x.trace.apply(name, operands, attributes, placed)
    if operands[-1] is None and OPS[name].reduction:
        raise wrong_number(OPS[name], (), 1)
    graph = _graph(name, () if prefix == name else expression.canonical(name, attributes))
    if prefix is None and out_layout is None:
        made = call_cache.again(graph, call)
        if made is not None:
            return made
    if OPS[name].rule.predicate:
        graph = with_scalar_branch(graph, operands)
    views = views_of(graph, operands)
    return finish(graph, call, views, out_layout, graph if prefix is None else prefix)


def with_scalar_branch(graph: Expression, operands: tuple[Any, ...]) -> Expression:
    """The graph of a ``select`` of which one branch is a Python scalar, which fits anywhere."""
    scalars = [i for i in (1, 2) if is_scalar(operands[i])]
    if len(scalars) != 1:
        return graph
    rank = view_of(operands[3 - scalars[0]]).operand.shape.rank
    return expression.select_of_scalar(scalars[0], rank) if rank else graph


@functools.cache
def keywords(name: str) -> tuple[str, ...]:
    """The keywords of an operation, in the order in which ``apply_operation`` takes them."""
    row = OPS[name]
    names = tuple(attribute.name for attribute in row.keywords)
    return names if row.arity else (*names, "device")


def _without_operands(name: str, out: Any, out_layout: Layout | None, *given: Any) -> Any:
    *values, device = given
    attributes = dict(zip(keywords(name), values, strict=False))
    trace = state.current_trace()
    if trace is not None:
        placed = not (out is None and out_layout is None and device is None)
        return trace.apply(name, (), attributes, placed)
    graph = _graph(name, expression.canonical(name, attributes))
    return finish(graph, (name, (), out), (), out_layout, device=device)


def _prefix(name: str, given: tuple[Any, ...]) -> Hashable:
    """What stands for an operation and its keywords where that is quickly said, else None."""
    types = tuple(map(type, given))
    if _WORDS.issuperset(types):
        # True is equal to 1, but no power and no dimension.
        return (name, given, types) if any([x is not None for x in given]) else name
    for x, cls in zip(given, types, strict=True):
        if cls not in _WORDS and not (cls is tuple and all([type(d) is int for d in x])):
            return None
    return name, given, types


def finish(
    graph: Expression,
    call: Call,
    views: tuple[View, ...],
    out_layout: Layout | None,
    prefix: Hashable = None,
    device: str | None = None,
) -> Any:
    """Run a graph on views of a call's operands; see ``apply_operation``. With a ``prefix`` the
    call is recorded."""
    _, operands, out, *_ = call
    wanted = None if device is None else parse_device(device)
    layouts = layouts_of(graph, out_layout)
    # A recorded call looks at no element, and has the operands that were given.
    keep = prefix is not None and layouts is None and not (graph.lengths or keeps(graph))
    array_type = next((type(x) for x in operands if isinstance(x, DeviceArray)), None)
    if out is None:
        make = functools.partial(new_results, array_type)
        launch, results = execute.run(graph, views, None, layouts, wanted, make)
        if keep:
            call_cache.remember(prefix, call, views, launch, array_type, packed=graph.packed)
        return tuple(results) if graph.packed else results[0]
    outs = outs_of(graph, out)
    targets = [output_view(x) for x in outs]
    if len(outs) > 1 and any([copy_back is not None for _, copy_back in targets]):
        # What stands in for an unaligned array does not show what the array shares.
        _check_apart([byte_view(x) for x in outs])
    launch, _ = execute.run(graph, views, tuple([t for t, _ in targets]), layouts, wanted)
    if keep and type(out) is (tuple if graph.packed else type(out)):
        call_cache.remember(prefix, call, views, launch, array_type, packed=graph.packed)
    for _, copy_back in targets:
        if copy_back is not None:
            copy_back()
    return out


def _check_apart(outs: list[View]) -> None:
    for i, one in enumerate(outs):
        for j, other in enumerate(outs[:i]):
            if share_memory(one, other):
                raise shared(j, i)


def layouts_of(graph: Expression, out_layout: Any) -> tuple[Layout | None, ...] | None:
    """``out_layout`` as one entry per result.

    Raises:
        LayoutError: it is neither a Layout nor, for several results, a tuple of them.
    """
    if out_layout is None:
        return None
    given = tuple(out_layout) if graph.packed and isinstance(out_layout, (tuple, list)) else None
    for layout in given or (out_layout,):
        check_layout(layout, "out_layout")
    return given if given is not None else (out_layout,)


def outs_of(graph: Expression, out: Any) -> tuple[Any, ...]:
    """``out`` as one array per result.

    Raises:
        Error: several results and no tuple.
    """
    if not graph.packed:
        return (out,)
    if not isinstance(out, (tuple, list)):
        raise Error(
            f"out is a tuple of {len(graph.outputs)} arrays, one per result, not "
            f"{type(out).__name__}",
            rule="A2",
            kind="gpubcast:number of outs",
        )
    return tuple(out)


def views_of(graph: Expression, operands: tuple[Any, ...]) -> tuple[View, ...]:
    """The operands as the runtime sees them; Python scalars take the type of the others."""
    if not any(map(is_scalar, operands)):
        return tuple(map(view_of, operands))
    views = [None if is_scalar(x) else view_of(x) for x in operands]
    given = tuple(None if v is None else v.operand.shape.element_type for v in views)
    types = graph_inference.operand_types(graph, given)
    return tuple(
        scalar_view(x, element_type) if view is None else view
        for x, view, element_type in zip(operands, views, types, strict=True)
    )


APPLY = EntryPoint(apply_operation)
