"""Reductions while a function is traced: their axes are labels where labels hold, else numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpubcast.errors import ShapeError, brief, plain_text
from gpubcast.fusion.source_lines import refusal_at_line
from gpubcast.fusion.trace import ArrayTracer, Trace, Tracer
from gpubcast.hlo import xla_messages
from gpubcast.hlo.expression import Place
from gpubcast.hlo.labels import ELLIPSIS
from gpubcast.hlo.op import Op


def keyword_of(row: Op) -> str:
    """The keyword that names a reduction's axes."""
    return row.rule.attributes[0].name


def check_numbers(name: str, keyword: str, given: Any) -> None:
    """Refuse labels where none hold.

    Raises:
        ShapeError: E4, an axis is a text.
    """
    entries = given if isinstance(given, (tuple, list)) else (given,)
    text = next((entry for entry in entries if plain_text(entry) is not None), None)
    if text is not None:
        raise refusal_at_line(
            f"{name}: {keyword}={brief(given)}: the function has no labels, so axes are numbers "
            "from 0 on",
            rule="E4",
            kind="gpubcast:axes and labels",
            error=ShapeError,
        )


def reduced_labels(trace: Trace, name: str, keyword: str, value: Tracer, given: Any) -> list[str]:
    """The labels that a reduction takes away, in the order of their first appearance in the
    function's text.

    Raises:
        ShapeError: E2, one twice; E4, a number; E5, one that the function lacks; E6, one along
            which the value does not vary.
    """
    text = plain_text(given)
    entries = [text] if text is not None else list(given) if _listed(given) else [given]
    labels: list[str] = []
    for entry in entries:
        labels += _named(trace, name, keyword, entry)
    known = trace.frame.order
    for label in labels:
        if labels.count(label) > 1:
            raise refusal_at_line(
                f"{name}: {keyword} names the label {label!r} twice",
                rule="E2",
                kind=xla_messages.DUPLICATE_AXIS,
                error=ShapeError,
            )
        if label not in value.varies:
            varies = ", ".join(one for one in known if one in value.varies) or "no label"
            raise refusal_at_line(
                f"{name}: the value does not vary along {label!r}, but along {varies}; reducing it "
                "would count a size that cannot be seen: gb.get_dimension_size(x, label) is that",
                rule="E6",
                kind="gpubcast:reduction of a constant axis",
                error=ShapeError,
            )
    return [label for label in known if label in labels]


def _named(trace: Trace, name: str, keyword: str, entry: Any) -> Sequence[str]:
    """The labels that an entry names: one, or those for which ``...`` stands."""
    every = trace.frame.ellipsis
    if every is not None and plain_text(entry) == ELLIPSIS:
        return every
    return [label_of(trace, name, keyword, entry)]


def without_ellipsis(value: Tracer, axes: Sequence[Any]) -> tuple[Any, ...]:
    """Axes by label, those for which ``...`` stands in its place."""
    every = value.trace.frame.ellipsis
    if every is None:
        return tuple(axes)
    return tuple(
        label for one in axes for label in (every if plain_text(one) == ELLIPSIS else (one,))
    )


def check_one(trace: Trace, name: str, labels: list[str], given: Any) -> None:
    """Refuse several labels, and none, where an index along one is asked for.

    Raises:
        ShapeError: E4.
    """
    if len(labels) != 1:
        raise refusal_at_line(
            f"{name}: axis={brief(given)}: inside '{trace.frame.pattern}' it is one label",
            rule="E4",
            kind="gpubcast:axes and labels",
            error=ShapeError,
        )


def label_of(trace: Trace, name: str, keyword: str, given: Any) -> str:
    """A label of the function.

    Raises:
        ShapeError: E4, a number; E5, one that the function lacks.
    """
    label, pattern = plain_text(given), trace.frame.pattern
    if label is None:
        raise refusal_at_line(
            f"{name}: {keyword}={brief(given)}: inside '{pattern}' an axis is named by its label",
            rule="E4",
            kind="gpubcast:axes and labels",
            error=ShapeError,
        )
    if label not in trace.frame.order:
        known = ", ".join(trace.frame.order) or "none"
        raise refusal_at_line(
            f"{name}: no operand of '{pattern}' has the label {brief(label)}; it has {known}",
            rule="E5",
            kind="gpubcast:unknown label",
            error=ShapeError,
        )
    return label


def _listed(given: Any) -> bool:
    return isinstance(given, (tuple, list))


def with_last_axes(trace: Trace, value: ArrayTracer, labels: list[str]) -> ArrayTracer:
    """A value of a labelled function with the axes along which it varies, some labels the last."""
    pattern = trace.frame.pattern
    assert pattern is not None and value.element_type is not None
    order = [*_left(trace, value, labels), *labels]
    if order == list(pattern.axes):
        return value
    place = tuple(order.index(x) if x in order else None for x in pattern.axes)
    shape = tuple(trace.frame.sizes[label] for label in order)
    node = Place(value.node, place, shape, trace.frame.number)
    return trace.emit(node, value.element_type, len(shape), value.varies)


def _left(trace: Trace, value: ArrayTracer, labels: list[str]) -> list[str]:
    """The labels along which a value still varies when some have been reduced."""
    assert trace.frame.pattern is not None
    return [x for x in trace.frame.pattern.axes if x in value.varies and x not in labels]


def spread_back(
    trace: Trace, reduced: ArrayTracer, value: ArrayTracer, labels: list[str]
) -> ArrayTracer:
    """A reduced value with every axis of the labels again, repeated along those that it lacks."""
    pattern = trace.frame.pattern
    assert pattern is not None and reduced.element_type is not None
    left = _left(trace, value, labels)
    place = tuple(pattern.axes.index(label) for label in left)
    shape = tuple(trace.frame.sizes[label] for label in pattern.axes)
    node = Place(reduced.node, place, shape, trace.frame.number)
    return trace.emit(node, reduced.element_type, len(shape), frozenset(left))


def numbers_of(rank: int, labels: list[str], attributes: Mapping[str, Any], keyword: str) -> Any:
    """The keywords of a reduction of the last axes of a value."""
    numbers = tuple(range(rank - len(labels), rank))
    return {**attributes, keyword: numbers if keyword == "axes" else numbers[0]}
