"""A labelled function while it is traced: operands are aligned at its start, results at its end."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpubcast.arrays import Array
from gpubcast.errors import ShapeError, brief, located
from gpubcast.fusion import valid_lengths
from gpubcast.fusion.operations import type_of
from gpubcast.fusion.source_lines import refusal_at_line
from gpubcast.fusion.trace import ArrayTracer, Frame, Trace, Tracer, check_typed
from gpubcast.hlo.expression import Place
from gpubcast.hlo.labels import (
    ONE,
    Group,
    LabelPattern,
    counted,
    expanded,
    lacking,
    misfit,
    with_ellipsis,
)


def enter(
    trace: Trace,
    pattern: LabelPattern,
    values: Sequence[Tracer | None],
    line: str,
    fixed: Mapping[str, int],
) -> tuple[list[Tracer | None], LabelPattern]:
    """Align the operands of a labelled function, and let labels hold until ``leave``.

    Args:
        trace: the trace.
        pattern: the labels.
        values: one per group of operands; None for an argument that is None.
        line: what messages name.
        fixed: the sizes of labels that no operand has.

    Returns:
        The operands, and the labels as they hold: others take the place of ``...``.

    Raises:
        ShapeError: X5, another rank than labels; X8, inside other labels, an axis that these lack.
    """
    outer, ellipsis = trace.frame.pattern, trace.frame.ellipsis
    if outer is not None:
        pattern = with_ellipsis(pattern, ellipsis or ())
        for group, value in zip(pattern.operands, values, strict=True):
            _check_nested(outer, pattern, group, value)
        sizes, number = trace.frame.sizes, trace.frame.number
        valid = trace.frame.valid
        trace.frames.append(Frame(outer, sizes, number, pattern.labels, ellipsis, valid))
        return list(values), pattern
    ranks = [None if value is None else value.ndim for value in values]
    names = [f"operand {i}" if x is None else trace.called(x, i) for i, x in enumerate(values)]
    try:
        pattern, ellipsis = expanded(pattern, ranks, names)
    except ShapeError as error:
        raise located(error, line) from None
    nodes: list[int] = []
    groups: list[Group] = []
    for i, (group, value) in enumerate(zip(pattern.operands, values, strict=True)):
        if value is not None and value.ndim != len(group):
            raise located(_misfit(pattern, trace.called(value, i), value.ndim, group), line)
        if isinstance(value, ArrayTracer):
            nodes.append(value.node)
            groups.append(group)
    present = LabelPattern(tuple(groups), pattern.outputs)
    number = len(trace.patterns)
    trace.patterns.append((present, tuple(nodes)))
    sizes = {}
    for label in pattern.axes:
        if label in fixed and not any(label in group for group in groups):
            sizes[label] = fixed[label]
            continue
        if not any(label in group for group in groups):
            raise refusal_at_line(
                f"'{pattern}': the only operands with the label {label!r} are None or scalars",
                rule="X3",
                kind="gpubcast:unknown label",
                error=ShapeError,
                line=line,
            )
        operand, dimension = present.source(label)
        sizes[label] = (nodes[operand], dimension)
    trace.frames.append(Frame(pattern, sizes, number, pattern.labels, ellipsis))
    aligned = [
        _placed(trace, pattern, group, value) if isinstance(value, ArrayTracer) else value
        for group, value in zip(pattern.operands, values, strict=True)
    ]
    return aligned, pattern


def _misfit(pattern: LabelPattern, name: str, rank: int, group: Group) -> ShapeError:
    """The refusal of another rank than labels, with a note for who came by ``apply_ufunc``."""
    error = misfit(pattern, name, rank, group)
    if rank > len(group) and "xarray" in sys.modules:
        error.add_note("where xarray.apply_ufunc added a dimension, call gpubcast.xarray.apply")
    return error


def _placed(trace: Trace, pattern: LabelPattern, group: Group, value: ArrayTracer) -> ArrayTracer:
    shape = tuple(trace.frame.sizes[label] for label in pattern.axes)
    node = Place(value.node, pattern.place(group), shape, trace.frame.number)
    varies = frozenset(label for label in group if label != ONE)
    return trace.emit(node, type_of(value), len(shape), varies)


def _check_nested(
    outer: LabelPattern, pattern: LabelPattern, group: Group, value: Tracer | None
) -> None:
    unknown = [label for label in group if label not in (ONE, *outer.axes)]
    if unknown:
        raise refusal_at_line(
            f"'{pattern}' inside '{outer}': a label means the same axis in both, and the outer "
            f"labels have no {unknown[0]!r}",
            rule="X8",
            kind="gpubcast:labels inside labels",
            error=ShapeError,
        )
    missing = sorted((value.varies if value is not None else frozenset()) - set(group))
    if missing:
        raise refusal_at_line(
            f"'{pattern}' inside '{outer}': an operand with the labels '{' '.join(group)}' varies "
            f"along {missing[0]!r}",
            rule="X8",
            kind="gpubcast:labels inside labels",
            error=ShapeError,
        )


def leave(
    trace: Trace, pattern: LabelPattern, outputs: Sequence[Any], home: str, *, last: bool
) -> list[ArrayTracer]:
    """End what ``enter`` began: the results, with the dimensions that their labels say.

    Args:
        trace: the trace.
        pattern: the labels.
        outputs: what the function returned.
        home: the function, as messages name it.
        last: whether its results are those of the graph.

    Raises:
        ShapeError: X4, another number of results; X7, one varies along an axis that it lacks.
    """
    values = [result(trace, x, home) for x in outputs]
    masks = [valid_lengths.mask_of_output(trace, group) for group in pattern.outputs]
    frame = trace.frames.pop()
    if len(values) != len(pattern.outputs):
        raise refusal_at_line(
            f"'{pattern}' has {counted(len(pattern.outputs), 'output')}, and the function returns "
            f"{len(values)}",
            rule="X4",
            kind="gpubcast:number of labels",
            error=ShapeError,
            line=home,
        )
    for i, value in enumerate(values):
        if value.varies - set(pattern.outputs[i]):
            raise located(lacking(pattern, i, value.varies), home)
    if trace.frame.pattern is not None:
        return values
    placed = []
    for i, (value, mask) in enumerate(zip(values, masks, strict=True)):
        found = _output(trace, pattern, frame, i, value)
        if mask is not None:
            where = _output(trace, pattern, frame, i, mask)
            found = valid_lengths.written(trace, where, found, i if last else None)
        placed.append(found)
    return placed


def _output(
    trace: Trace, pattern: LabelPattern, frame: Frame, number: int, value: ArrayTracer
) -> ArrayTracer:
    """A value with the dimensions of an output."""
    group = pattern.outputs[number]
    place: list[int | None] = []
    if value.ndim:
        place = [group.index(label) if label in group else None for label in pattern.axes]
    shape = tuple(1 if label == ONE else frame.sizes[label] for label in group)
    node = Place(value.node, tuple(place), shape, frame.number, number)
    return trace.emit(node, type_of(value), len(shape))


def result(trace: Trace, x: Any, home: str) -> ArrayTracer:
    """A returned value as a node.

    Raises:
        Error: F3, it belongs to another trace; F4, it is a scalar without a type.
    """
    value = trace.admit(x, home)
    if isinstance(value, ArrayTracer):
        return value
    check_typed(value, home)
    raise refusal_at_line(
        f"a fused function returns traced arrays, not the scalar {brief(x)}, which has no type",
        rule="F4",
        kind="gpubcast:result of a fused function",
        line=home,
    )


def results(returned: Any, home: str) -> tuple[list[Any], bool]:
    """What a function returned as a list, and whether it was a tuple.

    Raises:
        Error: F4, it returned something else than a traced value or a tuple of them.
    """
    packed = isinstance(returned, (tuple, list))
    values = list(returned) if packed else [returned]
    for x in values:
        constant = isinstance(x, np.generic) or (isinstance(x, (Array, np.ndarray)) and not x.shape)
        if not isinstance(x, Tracer) and not constant:
            raise refusal_at_line(
                f"a fused function returns a traced array or a tuple of them, not {brief(x)}",
                rule="F4",
                kind="gpubcast:result of a fused function",
                line=home,
            )
    if not values:
        raise refusal_at_line(
            "a fused function returns at least one array",
            rule="F4",
            kind="gpubcast:result of a fused function",
            line=home,
        )
    return values, packed
