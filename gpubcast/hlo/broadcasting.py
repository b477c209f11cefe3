"""The broadcasting rules: operands' dimensions -> output dimensions, and where each of theirs goes.

Dimensions only; element types appear in messages and nowhere else. Every refusal names its rule
of ``docs/rules.md`` and keeps XLA's order of checks, so that a call with several faults reports the
one XLA reports. Sources: XLA's ``docs/broadcasting.md`` and ``xla/service/shape_inference.cc``;
for the order of ``broadcast_in_dim``'s dimensions, the StableHLO specification.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import Any

from gpubcast.errors import Error, ShapeError, brief
from gpubcast.hlo import xla_messages
from gpubcast.hlo.alignment import legal_assignments, row, unplaced
from gpubcast.hlo.refusals import label, listing, shape_refusal, type_refusal, unequal_refusal
from gpubcast.shapes.layout import entries_of, tupled
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Where the dimensions of the operands go.

    Attributes:
        dimensions: sizes of the output.
        maps: ``maps[i][d]`` is the output dimension to which dimension d of operand i goes. An
            operand dimension of size 1 whose output size differs is expanded (stride 0); an output
            dimension that no entry of ``maps[i]`` names repeats operand i. None stands for one that
            is reduced.
    """

    dimensions: tuple[int, ...]
    maps: tuple[tuple[int | None, ...], ...]


def unary(x: Shape) -> Broadcast:
    """The operand's own dimensions."""
    return Broadcast(x.dimensions, (_identity(x),))


def binary(
    name: str, lhs: Shape, rhs: Shape, broadcast_dimensions: Sequence[int] | None
) -> Broadcast:
    """A binary operation: equal ranks with degenerate dimensions, or in-dim and degenerate.

    Args:
        name: the operation, for messages.
        lhs, rhs: shapes of the operands; the lower-rank one may be on either side.
        broadcast_dimensions: dimension of the higher-rank operand for each dimension of the
            lower-rank one, strictly increasing; None and () mean "not given".

    Raises:
        ShapeError: rules B1 to B5f.
    """
    dims: tuple[int, ...] = ()
    if broadcast_dimensions is not None:
        dims = integer_list(name, "broadcast_dimensions", broadcast_dimensions, (lhs, rhs))
    if lhs.rank == rhs.rank:
        return _equal_ranks(name, lhs, rhs, dims)
    return _in_dim(name, lhs, rhs, dims)


def _equal_ranks(name: str, lhs: Shape, rhs: Shape, dims: tuple[int, ...]) -> Broadcast:
    operands = (lhs, rhs)
    identity = _identity(lhs)
    if dims and dims != identity:
        raise shape_refusal(
            f"{name}: operands of equal rank {lhs.rank} align dimension by dimension, but "
            f"broadcast_dimensions={tupled(dims)} [B3]",
            [
                row(label(0, lhs), lhs.dimensions, identity, lhs.dimensions),
                row(label(1, rhs), rhs.dimensions, identity, rhs.dimensions, note=_given(dims)),
            ],
            "leave broadcast_dimensions out" + (f" (or write {identity})" if identity else ""),
            rule="B3",
            kind=xla_messages.NOT_IDENTITY,
            operands=operands,
        )
    pairs = list(zip(lhs.dimensions, rhs.dimensions, strict=True))
    wrong = [d for d, (a, b) in enumerate(pairs) if not _fits(a, b)]
    # 1 yields to the other side; so 1 with 0 gives 0.
    output = tuple(b if a == 1 else a for a, b in pairs)
    if wrong:
        d = wrong[0]
        raise shape_refusal(
            f"{name}: dimension {d} has size {pairs[d][0]} in operand 0 and size {pairs[d][1]} "
            "in operand 1; sizes must be equal or one of them 1 [B4]",
            [
                row(label(0, lhs), lhs.dimensions, identity, output),
                row(label(1, rhs), rhs.dimensions, identity, output, wrong=wrong),
            ],
            rule="B4",
            kind=xla_messages.INCOMPATIBLE,
            operands=operands,
        )
    return Broadcast(output, (identity, identity))


def _in_dim(name: str, lhs: Shape, rhs: Shape, dims: tuple[int, ...]) -> Broadcast:
    operands = (lhs, rhs)
    small_at = 0 if lhs.rank < rhs.rank else 1
    small, big = operands[small_at], operands[1 - small_at]
    small_name, big_name = f"operand {small_at}", f"operand {1 - small_at}"

    def refusal(rule: str, kind: str, what: str, wrong: int | None = None) -> Error:
        if wrong is None:
            last = unplaced(label(small_at, small), big.rank, _given(dims) if dims else "")
        else:
            # Entries before the wrong one have passed; those after it have not been looked at.
            last = row(
                label(small_at, small),
                small.dimensions,
                dims[: wrong + 1],
                big.dimensions,
                wrong=(wrong,),
                note=_given(dims),
            )
        first = row(label(1 - small_at, big), big.dimensions, _identity(big), big.dimensions)
        rows = [last, first] if small_at == 0 else [first, last]
        fix = legal_assignments(small.dimensions, big.dimensions, _fits)
        return shape_refusal(
            f"{name}: {what} [{rule}]", rows, fix, rule=rule, kind=kind, operands=operands
        )

    if not dims and small.rank:
        raise refusal(
            "B5a",
            xla_messages.UNEQUAL_RANK,
            f"{small_name} has rank {small.rank} and {big_name} has rank {big.rank}, and "
            "broadcast_dimensions is not given",
        )
    if len(dims) != small.rank:
        raise refusal(
            "B5b",
            xla_messages.BINARY_LENGTH,
            f"broadcast_dimensions={tupled(dims)} has {len(dims)} entries, but {small_name}, the "
            f"one of lower rank, has rank {small.rank}",
        )
    output = list(big.dimensions)
    for i, d in enumerate(dims):
        if d < 0:
            raise refusal(
                "B5c",
                xla_messages.NEGATIVE,
                f"broadcast_dimensions[{i}] is {d}; it cannot be negative, and dimensions do not "
                "count from the end",
            )
        if d >= big.rank:
            raise refusal(
                "B5d",
                xla_messages.TOO_LARGE,
                f"broadcast_dimensions[{i}] is {d}, too large for {big_name} of rank {big.rank}",
            )
        if not _fits(small.dimensions[i], big.dimensions[d]):
            raise refusal(
                "B5e",
                xla_messages.MISMATCH,
                f"{small_name} dimension {i} has size {small.dimensions[i]} but goes to dimension "
                f"{d} of {big_name}, which has size {big.dimensions[d]}; sizes must be equal or "
                "one of them 1",
                wrong=i,
            )
        if i and d <= dims[i - 1]:
            raise refusal(
                "B5f",
                xla_messages.ORDER,
                f"broadcast_dimensions={tupled(dims)} is not strictly increasing: {d} comes after "
                f"{dims[i - 1]}",
                wrong=i,
            )
        if big.dimensions[d] == 1:
            output[d] = small.dimensions[i]
    maps = (dims, _identity(big)) if small_at == 0 else (_identity(big), dims)
    return Broadcast(tuple(output), maps)


def broadcast(operand: Shape, sizes: Sequence[int]) -> Broadcast:
    """New leading dimensions of the given sizes (none for an empty list; 0 is a size).

    Raises:
        ShapeError: rules B1, B2 and D6.
    """
    new = integer_list("broadcast", "sizes", sizes, (operand,))
    for i, size in enumerate(new):
        if size < 0:
            raise shape_refusal(
                f"broadcast: sizes[{i}] is {size}; a size cannot be negative [D6]",
                [],
                rule="D6",
                kind=xla_messages.NEGATIVE_SIZE,
                operands=(operand,),
            )
    output = new + operand.dimensions
    return Broadcast(output, (tuple(range(len(new), len(output))),))


def broadcast_in_dim(
    operand: Shape, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Broadcast:
    """Each operand dimension placed at a dimension of ``shape``, size 1 expanding to any size.

    Args:
        operand: shape of the operand.
        shape: sizes of the output.
        broadcast_dimensions: output dimension of each operand dimension; unique, in any order,
            so that the operand may be transposed (StableHLO's rule; XLA's client wants them
            strictly increasing).

    Raises:
        ShapeError: rules B1, B2 and D1 to D5c.
    """
    name = "broadcast_in_dim"
    output = integer_list(name, "shape", shape, (operand,))
    dims = integer_list(name, "broadcast_dimensions", broadcast_dimensions, (operand,))

    def refusal(rule: str, kind: str, what: str, wrong: int | None = None) -> Error:
        last = (
            unplaced(label(0, operand), len(output), _given(dims))
            if wrong is None
            else row(
                label(0, operand),
                operand.dimensions,
                dims[: wrong + 1],
                output,
                wrong=(wrong,),
                note=_given(dims),
            )
        )
        return shape_refusal(
            f"{name}: {what} [{rule}]",
            [row("shape", output, range(len(output)), output), last],
            legal_assignments(operand.dimensions, output, _expands, increasing=False),
            rule=rule,
            kind=kind,
            operands=(operand,),
        )

    for i, size in enumerate(output):
        if size < 0:
            raise shape_refusal(
                f"{name}: shape[{i}] is {size}; a size cannot be negative [D1]",
                [],
                rule="D1",
                kind=xla_messages.INVALID_SHAPE,
                operands=(operand,),
            )
    # The output must be representable before anything else is looked at, as in XLA.
    result_shape(name, operand.element_type.name, output, (operand,))
    if len(dims) != operand.rank:
        raise refusal(
            "D2",
            xla_messages.IN_DIM_LENGTH,
            f"broadcast_dimensions={tupled(dims)} has {len(dims)} entries, but the operand has "
            f"rank {operand.rank}",
        )
    rank = len(output)

    def outside(rule: str, i: int) -> Error:
        what = f"broadcast_dimensions[{i}] is {dims[i]}, outside shape of rank {rank}"
        return refusal(rule, xla_messages.OUT_OF_BOUND, what)

    # XLA scans twice: an entry equal to the output's rank is only refused after the ranks.
    for i, d in enumerate(dims):
        if not 0 <= d <= rank:
            raise outside("D3", i)
    if operand.rank > rank:
        raise refusal(
            "D4",
            xla_messages.HIGHER_RANK,
            f"the operand has rank {operand.rank}, but shape has only {rank} dimensions",
        )
    for i, d in enumerate(dims):
        if d == rank:
            raise outside("D5a", i)
        if not _expands(operand.dimensions[i], output[d]):
            raise refusal(
                "D5b",
                xla_messages.IN_DIM_MISMATCH,
                f"operand dimension {i} has size {operand.dimensions[i]} but goes to output "
                f"dimension {d} of size {output[d]}; it must be 1 or equal",
                wrong=i,
            )
        if d in dims[:i]:
            raise refusal(
                "D5c",
                xla_messages.ORDER,
                f"broadcast_dimensions={tupled(dims)} names output dimension {d} twice",
                wrong=i,
            )
    return Broadcast(output, (dims,))


def select(pred: Shape, on_true: Shape, on_false: Shape) -> Broadcast:
    """The documented HLO rule: branches of one shape, and pred of that shape or a scalar.

    Raises:
        ElementTypeError: C1 (branches of different types), C2 (pred is not pred).
        ShapeError: C1 (branches of different dimensions), C3 (pred of another shape).
    """
    operands = (pred, on_true, on_false)
    sizes = on_true.dimensions
    if _different_types(on_true, on_false):
        what = (
            f"select: operand 1 is {on_true.element_type} and operand 2 is "
            f"{on_false.element_type}; both must have one element type"
        )
        raise type_refusal("C1", xla_messages.SELECT_BRANCHES, operands, what)
    if sizes != on_false.dimensions:
        what = (
            f"select: operand 1 has dimensions {sizes} and operand 2 has {on_false.dimensions}; "
            "they must be equal"
        )
        raise unequal_refusal("C1", xla_messages.SELECT_BRANCHES, operands, what)
    if pred.element_type.name != "pred":
        what = (
            f"select: operand 0 is {pred.element_type} and must be pred; compare it, for example "
            "with ne(x, 0)"
        )
        raise type_refusal("C2", xla_messages.SELECT_PRED_TYPE, operands, what)
    if pred.rank and pred.dimensions != sizes:
        what = (
            f"select: operand 0 has dimensions {pred.dimensions} and must be a scalar or have "
            f"{sizes}"
        )
        raise unequal_refusal("C3", xla_messages.SELECT_PRED_SHAPE, operands, what)
    return Broadcast(sizes, tuple(map(_identity, operands)))


def clamp(lo: Shape, x: Shape, hi: Shape) -> Broadcast:
    """The documented HLO rule: lo and hi are scalars or have the dimensions of x.

    Raises:
        ElementTypeError: C4 (different types).
        ShapeError: C5 (lo or hi of another shape).
    """
    operands = (lo, x, hi)
    for i, bound in ((0, lo), (2, hi)):
        if _different_types(bound, x):
            what = (
                f"clamp: operand {i} is {bound.element_type} and operand 1 is {x.element_type}; "
                "all must have one element type"
            )
            raise type_refusal("C4", xla_messages.CLAMP_TYPES, operands, what)
    for i, bound in ((0, lo), (2, hi)):
        if bound.rank and bound.dimensions != x.dimensions:
            what = (
                f"clamp: operand {i} has dimensions {bound.dimensions} and must be a scalar or "
                f"have {x.dimensions}"
            )
            raise unequal_refusal("C5", xla_messages.CLAMP_SHAPES, operands, what)
    return Broadcast(x.dimensions, tuple(map(_identity, operands)))


def result_shape(
    name: str, element_type: str, dimensions: Sequence[int], operands: tuple[Shape, ...]
) -> Shape:
    """The row-major shape of a result.

    Raises:
        ShapeError: it is not representable; rule and kind are the shape's own.
    """
    try:
        return Shape(element_type, tuple(dimensions))
    except ShapeError as e:
        raise ShapeError(
            "\n".join([f"{name}: {e}", *([listing(operands)] if operands else [])]),
            rule=e.rule,
            kind=e.kind,
            operands=operands,
        ) from None


def _identity(shape: Shape) -> tuple[int, ...]:
    return tuple(range(shape.rank))


def _fits(a: int, b: int) -> bool:
    return a == b or a == 1 or b == 1


def _expands(size: int, output: int) -> bool:
    return size in (1, output)


def _different_types(a: Shape, b: Shape) -> bool:
    # Mixed floating types pass here, as in XLA; inference refuses them after XLA's own checks.
    one_class = a.element_type.is_floating and b.element_type.is_floating
    return a.element_type is not b.element_type and not one_class


def integer_list(
    name: str, what: str, values: Any, operands: tuple[Shape, ...] = ()
) -> tuple[int, ...]:
    """A list of dimensions or sizes as a tuple of Python ints.

    Raises:
        ShapeError: B1, not an ordered sequence; B2, an entry is not an integer.
    """
    if type(values) is tuple and all(type(value) is int for value in values):
        return values
    ordered = (
        isinstance(values, Iterable)
        and isinstance(values, Sized)
        and not isinstance(values, str | bytes | bytearray | Set | Mapping)
    )
    # A NumPy array of rank 0 has the methods of a sequence, but is none.
    entries = entries_of(values) if ordered else None
    if entries is None:
        example = f"; write ({values},)" if type(values) is int and values >= 0 else ""
        raise ShapeError(
            f"{name}: {what} must be a sequence of integers, not {brief(values)}{example}",
            rule="B1",
            kind="gpubcast:not a sequence",
            operands=operands,
        )
    result = []
    for i, value in enumerate(entries):
        try:
            if isinstance(value, bool):
                raise TypeError
            result.append(operator.index(value))
        except Exception:
            raise ShapeError(
                f"{name}: {what}[{i}] is {brief(value)}, of type {type(value).__name__}; "
                "an integer is needed",
                rule="B2",
                kind="gpubcast:not integers",
                operands=operands,
            ) from None
    return tuple(result)


def _given(dims: tuple[int, ...]) -> str:
    return f"broadcast_dimensions={tupled(dims)}"
