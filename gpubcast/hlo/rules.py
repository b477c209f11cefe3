"""The rules that operations follow: all that differs from rule to rule, once for each.

What they have in common is in ``inference``, which runs them, and ``type_inference``; how the
dimensions of operands go together is in ``broadcasting``.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.errors import ElementTypeError, ShapeError
from gpubcast.hlo import broadcasting, reductions, xla_messages
from gpubcast.hlo.attributes import AXES, AXIS, ELEMENT_TYPE, INTEGERS, Attribute
from gpubcast.hlo.broadcasting import integer_list, result_shape
from gpubcast.hlo.op import Given, Inferred, Op, Rule
from gpubcast.hlo.refusals import type_refusal
from gpubcast.hlo.result_layout import padding_of
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

Shapes = tuple[Shape, ...]
_ALIGNED = "labels have aligned every operand, so nothing is broadcast inside"


def _check_binary(row: Op, shapes: Shapes) -> None:
    """Operands of one type (T3); mixed floating types pass, as in XLA, and are left to T5."""
    first, second = (shape.element_type for shape in shapes)
    if first is not second and not (first.is_floating and second.is_floating):
        raise type_refusal(
            "T3",
            xla_messages.DIFFERENT_TYPES,
            shapes,
            f"{row.name}: operand 0 is {first} and operand 1 is {second}; both must have one "
            "element type; convert one with convert_element_type",
        )


def _bitcast(row: Op, shapes: Shapes, given: Given) -> Inferred:
    """The same bits as another type (C6, C7): a last dimension appears or is consumed."""
    (operand,) = shapes
    source, to = operand.element_type, element_type(given["to"])
    shown = f"{row.name}: {operand.text(layout=False)}"
    if source.is_complex != to.is_complex:
        what = f"{shown} cannot be read as {to}; complex and real types do not bitcast"
        raise type_refusal("C6", xla_messages.COMPLEX_AND_REAL, shapes, what)
    dimensions, layout = operand.dimensions, operand.layout
    padded = layout.padded_dimensions
    place = tuple(range(operand.rank))
    if source.bits > to.bits:
        # The new dimension is the fastest, so that memory does not move.
        ratio = source.bits // to.bits
        order = (operand.rank, *layout.minor_to_major)
        dimensions += (ratio,)
        padded = None if padded is None else (*padded, ratio)
    elif source.bits < to.bits:
        ratio = to.bits // source.bits
        last = operand.rank - 1
        if not dimensions or dimensions[last] != ratio:
            found = f"has size {dimensions[last]}" if dimensions else "is missing"
            raise ShapeError(
                f"{shown} cannot be read as {to}: one {to} takes {ratio} elements of {source}, "
                f"but the last dimension {found} [C7]",
                rule="C7",
                kind=xla_messages.BITCAST_LAST,
                operands=shapes,
            )
        order = tuple(d for d in layout.minor_to_major if d != last)
        dimensions, place = dimensions[:last], place[:last]
        padded = None if padded is None else padded[:last]
    else:
        order = layout.minor_to_major
    carried = Layout(order, padded, layout.padding_value)
    shape = result_shape(row.name, to.name, dimensions, shapes)
    return Inferred(shape.with_layout(padding_of(carried, to)), (place,))


def _bitcast_rank(ranks: Sequence[int], types: Sequence[ElementType], given: Given) -> int:
    source, to = types[0].bits, element_type(given["to"]).bits
    # A wider type takes a last dimension; C7 refuses a scalar that has none.
    return max(ranks[0] + (source > to) - (source < to), 0)


def _iota(row: Op, shapes: Shapes, given: Given) -> Inferred:
    """The shape of positions along a dimension (C8); without ``shape``, that of ``size``."""
    said = row.instruction
    to = element_type(given["dtype"])
    if "size" in given:
        dimensions, dimension = integer_list(said, "size", (given["size"],)), 0
    else:
        dimensions = integer_list(said, "shape", given["shape"])
        (dimension,) = integer_list(said, "dimension", (given["dimension"],))
    shape = result_shape(said, to.name, dimensions, ())
    if not 0 <= dimension < shape.rank:
        raise ShapeError(
            f"{said}: dimension {dimension} is none of {shape.text(layout=False)} [C8]",
            rule="C8",
            kind=xla_messages.IOTA_DIMENSION,
        )
    if to not in row.accepts:
        raise ElementTypeError(
            f"{said}: dtype is {to}; it takes integers, floating and complex numbers [T2]",
            rule="T2",
            kind=None if row.type_check is None else row.type_check.text,
        )
    return Inferred(shape, ())


UNARY = Rule(
    "unary",
    dimensions=lambda name, shapes, given: broadcasting.unary(shapes[0]),
)
BINARY = Rule(
    "binary",
    operands=("x", "y"),
    doc="operands of one element type: arrays of one rank, or of two ranks with "
    "``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.",
    dimensions=lambda name, shapes, given: broadcasting.binary(
        name, shapes[0], shapes[1], given.get("broadcast_dimensions")
    ),
    check_types=_check_binary,
    attributes=(
        Attribute(
            "broadcast_dimensions",
            INTEGERS,
            "for each dimension of the operand of lower rank, the dimension of the other that it "
            "is matched with; strictly increasing.",
            default=None,
        ),
    ),
)
SELECT = Rule(
    "select",
    operands=("pred", "on_true", "on_false"),
    doc="``pred`` is a scalar or has the dimensions of the others, which are equal.",
    dimensions=lambda name, shapes, given: broadcasting.select(*shapes),
    predicate=True,
    uniform=True,
)
CLAMP = Rule(
    "clamp",
    operands=("lo", "x", "hi"),
    doc="``lo`` and ``hi`` are scalars or have the dimensions of ``x``.",
    dimensions=lambda name, shapes, given: broadcasting.clamp(*shapes),
    layouts=(1,),
    uniform=True,
)
CONVERT = Rule(
    "convert",
    dimensions=lambda name, shapes, given: broadcasting.unary(shapes[0]),
    untyped="to",
)
BITCAST = Rule("bitcast", infer=_bitcast, rank=_bitcast_rank)
BROADCAST = Rule(
    "broadcast",
    dimensions=lambda name, shapes, given: broadcasting.broadcast(shapes[0], given["sizes"]),
    rank=lambda ranks, types, given: ranks[0] + len(given["sizes"]),
    layouts=(),
    moves=True,
    inside_labels=_ALIGNED,
)
BROADCAST_IN_DIM = Rule(
    "broadcast_in_dim",
    dimensions=lambda name, shapes, given: broadcasting.broadcast_in_dim(
        shapes[0], given["shape"], given["broadcast_dimensions"]
    ),
    rank=lambda ranks, types, given: len(given["shape"]),
    layouts=(),
    moves=True,
    inside_labels=_ALIGNED,
)
IOTA = Rule(
    "iota",
    operands=(),
    infer=_iota,
    rank=lambda ranks, types, given: len(given["shape"]) if "shape" in given else 1,
    untyped="dtype",
    inside_labels="labels say which axes there are, and its dimensions have none; pass it as an "
    "operand with a group of its own",
)
REDUCE = Rule(
    "reduce",
    dimensions=lambda name, shapes, given: reductions.reduced(name, shapes[0], given["axes"]),
    rank=lambda ranks, types, given: max(ranks[0] - len(given["axes"]), 0),
    attributes=(
        Attribute(
            "axes",
            AXES,
            "the axes to reduce, from 0 on; inside a function with labels, a label or a tuple of "
            "labels.",
            positional=True,
            hlo="dimensions",
        ),
    ),
    reduces=lambda given: tuple(given["axes"]),
)
CHOOSE = Rule(
    "choose",
    dimensions=lambda name, shapes, given: reductions.chosen(name, shapes[0], given["axis"]),
    rank=lambda ranks, types, given: max(ranks[0] - 1, 0),
    attributes=(
        Attribute(
            "axis",
            AXIS,
            "the axis along which to look; inside a function with labels, a label.",
            positional=True,
        ),
        Attribute(
            "index_dtype",
            ELEMENT_TYPE,
            "the element type of the result: an integer type.",
            default="s32",
            positional=True,
        ),
    ),
    reduces=lambda given: (given["axis"],),
)
SIZE = Rule(
    "size",
    dimensions=lambda name, shapes, given: reductions.size_of(name, shapes[0], given["axis"]),
    rank=lambda ranks, types, given: 0,
    attributes=(
        Attribute(
            "axis",
            AXIS,
            "the axis; inside a function with labels, a label.",
            positional=True,
            hlo="dimensions",
        ),
    ),
)
