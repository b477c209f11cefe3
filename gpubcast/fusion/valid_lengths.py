"""Labels along which only the first elements are valid: ``gb.fuse(..., valid={"col": "lengths"})``.

Reductions see valid elements only, the others as what changes nothing; results hold values where
elements are valid only; the size of the label is the number of valid elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpubcast.errors import ElementTypeError, Error, ShapeError, brief, plain_text
from gpubcast.fusion.arguments import Arguments
from gpubcast.fusion.source_lines import refusal_at_line
from gpubcast.fusion.trace import ArrayTracer, Frame, ScalarTracer, Trace, Tracer
from gpubcast.hlo.expression import Constant, Parameter, Place, Positions, Size, Unwritten
from gpubcast.hlo.labels import ELLIPSIS, ONE, Group, LabelPattern
from gpubcast.hlo.literals import identity_bits
from gpubcast.hlo.op import Identity, Op
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category

_S32 = ELEMENT_TYPES["s32"]
_LARGEST = (1 << 31) - 1


def refusal(what: str) -> Error:
    """The refusal of ``valid=``, or of what cannot be said of valid elements (X9)."""
    return ShapeError(f"{what} [X9]", rule="X9", kind="gpubcast:valid elements")


def checked(
    arguments: Arguments, pattern: LabelPattern | None, valid: Any
) -> tuple[tuple[str, int], ...]:
    """``valid=`` as pairs of a label and the number of the group of its lengths.

    Raises:
        ShapeError: X9, it is no mapping from labels to array parameters whose groups lack them.
    """
    home = arguments.home
    if not isinstance(valid, Mapping):
        raise refusal(f"{home}: valid is a mapping from labels to parameters, not {brief(valid)}")
    if valid and pattern is None:
        raise refusal(f"{home}: valid= names labels, and the function has none")
    found = []
    for given, parameter in _entries(home, "valid", valid):
        assert pattern is not None
        # A subclass of str may answer anything.
        label, name = plain_text(given), plain_text(parameter)
        if label is None or label not in pattern.labels or label == ELLIPSIS:
            known = ", ".join(one for one in pattern.labels if one != ELLIPSIS) or "none"
            raise refusal(f"{home}: valid= names {brief(given)}, and the labels are {known}")
        number = arguments.group_of(name or "")
        if number is None:
            raise refusal(
                f"{home}: valid={{{label!r}: {brief(parameter)}}}: the number of valid elements "
                "is an array parameter of the function, by its name"
            )
        group = pattern.operands[number]
        if label in group or ONE in group:
            raise refusal(
                f"{home}: valid={{{label!r}: {name!r}}}: the group '{' '.join(group)}' of {name} "
                f"has neither {label!r} nor a literal 1"
            )
        found.append((label, number))
    return tuple(found)


def _entries(home: str, keyword: str, given: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    try:
        return list(given.items())
    except Exception as error:  # whatever a foreign object raises
        raise refusal(f"{home}: {keyword} is a mapping that cannot be read") from error


def enter(
    trace: Trace,
    valid: tuple[tuple[str, int], ...],
    aligned: list[Tracer | None],
    given: list[Any],
) -> None:
    """Let valid elements hold in the current frame, which has just been entered.

    Args:
        trace: the trace.
        valid: see ``checked``.
        aligned: the operands, aligned; None for one that is no traced value.
        given: the operands as they were; lengths that are None leave every element valid.

    Raises:
        ElementTypeError: X9, lengths are no integers.
    """
    frame = trace.frame
    for label, number in valid:
        if given[number] is None:
            continue
        length = aligned[number]
        if length is None:
            length = trace.constant(given[number], _S32)
        elif isinstance(length, ScalarTracer):
            length = length.as_type(_S32)
        assert isinstance(length, ArrayTracer)
        _remember(trace, frame, label, given[number], length)
        frame.valid[label] = _clamped(trace, frame, label, trace.aligned(length))


def _remember(trace: Trace, frame: Frame, label: str, given: Any, length: ArrayTracer) -> None:
    """Have lengths checked where they are known before the call: those of an operand."""
    size = frame.sizes[label]
    if not isinstance(size, tuple):
        return
    owner, dimension = trace.nodes[size[0]], size[1]
    node = trace.nodes[given.node if isinstance(given, ArrayTracer) else length.node]
    if isinstance(node, Parameter) and isinstance(owner, Parameter):
        trace.lengths.append((node.index, owner.index, dimension))


def _clamped(trace: Trace, frame: Frame, label: str, length: ArrayTracer) -> ArrayTracer:
    """Lengths as s32, from 0 to the size of the label."""
    element_type = length.element_type
    if element_type is None or not element_type.is_integral:
        raise refusal_at_line(
            f"the lengths of {label!r} are {element_type}; a number of elements is an integer",
            rule="X9",
            kind="gpubcast:valid elements",
            error=ElementTypeError,
        )
    wide = element_type.bits > 32 or (
        element_type.bits == 32 and element_type.category is Category.UNSIGNED
    )
    value: Any = length
    if element_type.category is Category.SIGNED:
        value = _apply(trace, "max", value, 0)
    if wide:
        value = _apply(trace, "min", value, _LARGEST)
    if element_type is not _S32:
        value = _apply(trace, "convert_element_type", value, to="s32")
    size = _apply(trace, "get_dimension_size", value, axis=label)
    found = _apply(trace, "min", value, size)
    return found


def _apply(trace: Trace, name: str, *operands: Any, **attributes: Any) -> ArrayTracer:
    found = trace.apply(name, operands, attributes, False)
    assert isinstance(found, ArrayTracer)
    return found


def _mask(trace: Trace, labels: list[str]) -> ArrayTracer | None:
    """Whether an element is valid along each of some labels."""
    pattern = trace.frame.pattern
    assert pattern is not None
    shape: tuple[Size, ...] = tuple(trace.frame.sizes[one] for one in pattern.axes)
    found = None
    for label in labels:
        node = Positions(shape, pattern.axes.index(label), trace.frame.number)
        position = trace.emit(node, _S32, len(shape), frozenset((label,)))
        mask = _apply(trace, "lt", position, trace.frame.valid[label])
        found = mask if found is None else _apply(trace, "bitwise_and", found, mask)
    return found


def valid_only(trace: Trace, row: Op, value: ArrayTracer, reduced: list[str]) -> ArrayTracer:
    """A value to be reduced over some labels, with the reduction's identity in place of elements
    that are not valid.

    Raises:
        ShapeError: X9, which elements are valid depends on a label along which the value does not
            vary, or the reduction has no identity.
    """
    labels = []
    for label, length in trace.frame.valid.items():
        if label not in value.varies or not {label, *length.varies} & {*reduced}:
            continue
        missing = [x for x in trace.frame.order if x in length.varies - value.varies]
        if missing:
            raise refusal_at_line(
                f"{row.name}: which elements along {label!r} are valid depends on {missing[0]!r}, "
                "along which the value does not vary; reduce over both at once, or add a value "
                "that has both",
                rule="X9",
                kind="gpubcast:valid elements",
                error=ShapeError,
            )
        labels.append(label)
    mask = _mask(trace, labels)
    if mask is None:
        return value
    element_type = value.element_type
    assert element_type is not None
    if row.name == "reduce_prod" and element_type.is_complex:
        raise refusal_at_line(
            "reduce_prod of complex numbers has no identity (infinity times 1 is NaN), so valid "
            "elements cannot be told from others; multiply real numbers",
            rule="X9",
            kind="gpubcast:valid elements",
            error=ElementTypeError,
        )
    identity = row.identity or (Identity.LOWEST if row.name == "argmax" else Identity.HIGHEST)
    node = Constant(element_type.name, identity_bits(identity, element_type))
    neutral = trace.emit(node, element_type, 0)
    return _apply(trace, "select", mask, value, neutral)


def size_of(trace: Trace, label: str) -> ArrayTracer | None:
    """The number of valid elements along a label; None where all are."""
    return trace.frame.valid.get(label)


def mask_of_output(trace: Trace, group: Group) -> ArrayTracer | None:
    """Where an output has valid elements; None where all are."""
    labels = [
        label
        for label, length in trace.frame.valid.items()
        if label in group and length.varies <= set(group)
    ]
    return _mask(trace, labels)


def written(trace: Trace, mask: ArrayTracer, value: ArrayTracer, output: int | None) -> ArrayTracer:
    """A placed result where elements are valid, and elsewhere what the output holds.

    Args:
        trace: the trace.
        mask: where its elements are valid, placed likewise.
        value: the result.
        output: which output of the graph it is; None for none, which has zeros there.
    """
    element_type, node = value.element_type, trace.nodes[value.node]
    assert element_type is not None and isinstance(node, Place)
    if output is None:
        zero = trace.emit(Constant(element_type.name, 0), element_type, 0)
        held = trace.emit(replace(node, arg=zero.node, place=()), element_type, value.ndim)
    else:
        new = Unwritten(output, element_type.name, node.shape)
        held = trace.emit(new, element_type, value.ndim)
    return _apply(trace, "select", mask, value, held)
