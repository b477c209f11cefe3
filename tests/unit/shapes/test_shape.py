"""Shapes: construction, sizes, indices, derived shapes, identity."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpubcast.errors import ElementTypeError, LayoutError, ShapeError
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape

INVALID_SHAPE = "invalid shape type=<n>, dims=<list>"
INTEGERS = "gpubcast:not integers"

# --- construction ------------------------------------------------------------------------------


def test_arguments_are_normalised() -> None:
    shape = Shape(np.dtype("float32"), np.array([2, 3]))
    assert shape == Shape("f32", (2, 3)) == Shape("float32", [np.int32(2), 3], Layout([1, 0]))
    assert shape.element_type is element_type("f32")
    assert [type(d) for d in shape.dimensions] == [int, int]


def test_T1_an_unknown_type_is_an_element_type_error() -> None:
    with pytest.raises(ElementTypeError):
        Shape("float", (2,))


@pytest.mark.parametrize(
    "dimensions",
    [(True,), (2.0,), ("2",), "23", b"\x02", {2}, {2: 3}, 3, None, np.array(3), (None,), ((2,),)],
    ids=lambda d: f"S1-{d!r}",
)
def test_sizes_are_integers(dimensions: Any) -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", dimensions)
    assert (caught.value.rule, caught.value.kind) == ("S1", INTEGERS)


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("f32", (-1,)),
        ("f32", (0, -1)),
        ("f32", (2**63,)),
        ("f32", (0, 2**63)),
        ("f32", (10**5000,)),
        ("s8", (2**63,)),
        ("f32", (2**61,)),
        ("c128", (2**59,)),
        ("f32", (2**40, 2**40)),
        ("f32", (2**40, 2**40, 0)),
    ],
    ids=lambda x: f"S2-{str(x)[:20] if isinstance(x, str) else len(x)}",
)
def test_invalid_sizes(name: str, dimensions: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        Shape(name, dimensions)
    assert (caught.value.rule, caught.value.kind) == ("S2", INVALID_SHAPE)


def test_S2_messages_state_the_facts() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (1099511627776, 1099511627776))
    assert str(caught.value) == (
        "invalid shape type=11, dims=[1099511627776,1099511627776]: "
        "a signed 64-bit integer cannot count the bytes of its f32 elements [S2]"
    )
    with pytest.raises(ShapeError) as caught:
        Shape("bf16", (2, -3))
    assert str(caught.value) == "invalid shape type=16, dims=[2,-3]: a size is negative [S2]"


def test_S2_the_largest_shapes_are_valid() -> None:
    assert Shape("s8", (2**63 - 1,)).byte_size == 2**63 - 1
    assert Shape("f32", (2**61 - 1,)).byte_size == 2**63 - 4
    assert Shape("f32", (0, 2**62, 2**62)).byte_size == 0


def test_S3_padded_sizes_have_the_same_limits() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (1, 1), Layout((1, 0), (2**31, 2**31)))
    assert (caught.value.rule, caught.value.kind) == ("S3", INVALID_SHAPE)
    assert Shape("s8", (1, 1), Layout((1, 0), (2**31, 2**31))).byte_size == 2**62


def test_L2_layout_of_another_rank() -> None:
    with pytest.raises(LayoutError) as caught:
        Shape("f32", (2, 3), Layout((0,)))
    assert caught.value.rule == "L2"


def test_L6_padding_below_the_size() -> None:
    with pytest.raises(LayoutError) as caught:
        Shape("f32", (2, 3), Layout((0, 1), (2, 2)))
    assert caught.value.rule == "L6"


@pytest.mark.parametrize("value", [PaddingValue.LOWEST, PaddingValue.HIGHEST])
def test_L10_complex_numbers_have_no_extremes(value: PaddingValue) -> None:
    layout = Layout((0,), (4,), value)
    with pytest.raises(LayoutError) as caught:
        Shape("c64", (2,), layout)
    assert (caught.value.rule, caught.value.kind) == ("L10", "gpubcast:padding value")
    with pytest.raises(LayoutError):
        Shape("f32", (2,), layout).with_element_type("c128")
    assert Shape("c64", (2,), Layout((0,), (4,), PaddingValue.ZERO)).allocated_elements == 4


def test_L11_the_layout_is_a_layout() -> None:
    with pytest.raises(LayoutError) as caught:
        Shape("f32", (2, 3), (0, 1))  # type: ignore[arg-type]
    assert (caught.value.rule, caught.value.kind) == ("L11", "gpubcast:not a layout")


def test_rank_is_unlimited() -> None:
    shape = Shape("f32", (1,) * 200)
    assert (shape.rank, shape.num_elements, shape.strides) == (200, 1, (1,) * 200)


# --- derived sizes -----------------------------------------------------------------------------


def test_derived_sizes_of_a_padded_shape() -> None:
    shape = Shape("f64", (2, 3), Layout((0, 1), (3, 5)))
    assert shape.strides == (1, 3)
    assert shape.padded_dimensions == (3, 5)
    assert (shape.num_elements, shape.allocated_elements, shape.byte_size) == (6, 15, 120)
    assert shape.is_padded


def test_derived_sizes_of_a_scalar() -> None:
    shape = Shape("c64", ())
    assert (shape.rank, shape.num_elements, shape.allocated_elements) == (0, 1, 1)
    assert (shape.byte_size, shape.strides, shape.padded_dimensions) == (8, (), ())
    assert shape.is_scalar and not Shape("c64", (1,)).is_scalar


def test_equal_sizes_are_not_padding() -> None:
    assert not Shape("f32", (2, 3, 4), Layout((2, 1, 0), (2, 3, 4))).is_padded
    assert not Shape("f32", (2, 3, 4)).is_padded


def test_a_shape_without_elements_may_have_padding() -> None:
    shape = Shape("f32", (0, 3), Layout((1, 0), (2, 3), PaddingValue.ZERO))
    assert (shape.num_elements, shape.allocated_elements) == (0, 6)
    assert [shape.multi_index(i) for i in range(6)] == [None] * 6


def test_small_integers_take_whole_bytes() -> None:
    assert Shape("s4", (3, 5)).byte_size == 15
    assert Shape("pred", (3, 5)).byte_size == 15


# --- indices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, -4, 2**70, 10**5000], ids=["3", "-4", "2**70", "10**5000"])
def test_S4_dimension_out_of_range(n: int) -> None:
    shape = Shape("f32", (5, 7, 9))
    for call in (shape.dimension, shape.dimension_number):
        with pytest.raises(ShapeError) as caught:
            call(n)
        assert (caught.value.rule, caught.value.kind) == ("S4", "gpubcast:dimension number")
        assert caught.value.operands == (shape,)


def test_S4_scalars_have_no_dimension() -> None:
    with pytest.raises(ShapeError, match=r"f32\[\] has no dimensions"):
        Shape("f32", ()).dimension(0)
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (2,)).dimension(True)
    assert (caught.value.rule, caught.value.kind) == ("S4", INTEGERS)


@pytest.mark.parametrize("multi", [(2, 0), (0, 3), (-1, 0), (0,), (0, 0, 0), ()])
def test_S5_linear_index_stays_inside_the_logical_sizes(multi: tuple[int, ...]) -> None:
    shape = Shape("f32", (2, 3), Layout((0, 1), (3, 5)))
    with pytest.raises(ShapeError) as caught:
        shape.linear_index(multi)
    assert (caught.value.rule, caught.value.kind) == ("S5", "gpubcast:index out of bounds")
    assert caught.value.operands == (shape,)


def test_S5_indices_are_integers() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (2, 3)).linear_index((0.0, 1))  # type: ignore[arg-type]
    assert (caught.value.rule, caught.value.kind) == ("S5", INTEGERS)


@pytest.mark.parametrize("linear", [-1, 15, 2**70])
def test_S6_multi_index_stays_inside_the_allocation(linear: int) -> None:
    shape = Shape("f32", (2, 3), Layout((0, 1), (3, 5)))
    with pytest.raises(ShapeError) as caught:
        shape.multi_index(linear)
    assert (caught.value.rule, caught.value.kind) == ("S6", "gpubcast:index out of bounds")


def test_S6_an_empty_array_has_no_linear_index() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (0, 3)).multi_index(0)
    assert caught.value.rule == "S6"


def test_scalar_indices() -> None:
    assert Shape("f32", ()).linear_index(()) == 0
    assert Shape("f32", ()).multi_index(0) == ()


def small_shapes() -> list[Shape]:
    """Every layout of some small sizes, plain and padded."""
    found = []
    for sizes, padded in (
        ((), ()),
        ((3,), (5,)),
        ((2, 3), (3, 5)),
        ((1, 4), (1, 4)),
        ((2, 3, 4), (2, 5, 4)),
        ((2, 0, 3), (2, 2, 3)),
    ):
        for order in permutations(range(len(sizes))):
            found += [
                Shape("f32", sizes, Layout(order)),
                Shape("f32", sizes, Layout(order, padded)),
            ]
    return found


@pytest.mark.parametrize("shape", small_shapes(), ids=str)
def test_law_every_slot_is_one_element_or_padding(shape: Shape) -> None:
    indices = list(product(*map(range, shape.dimensions)))
    slots = {shape.linear_index(index): index for index in indices}
    assert len(slots) == len(indices) == shape.num_elements
    for linear in range(shape.allocated_elements):
        assert shape.multi_index(linear) == slots.pop(linear, None)
    assert not slots


@st.composite
def padded_shapes(draw: st.DrawFn) -> Shape:
    sizes = draw(st.lists(st.integers(1, 2**12), min_size=0, max_size=4))
    padded = [size + draw(st.integers(0, 9)) for size in sizes]
    return Shape("s8", sizes, Layout(draw(st.permutations(range(len(sizes)))), padded))


@given(padded_shapes(), st.data())
def test_law_linear_and_multi_index_are_inverse(shape: Shape, data: st.DataObject) -> None:
    index = tuple(data.draw(st.integers(0, size - 1)) for size in shape.dimensions)
    linear = shape.linear_index(index)
    assert shape.multi_index(linear) == index
    slot = data.draw(st.integers(0, shape.allocated_elements - 1))
    back = shape.multi_index(slot)
    assert back is None or shape.linear_index(back) == slot


# --- derived shapes ----------------------------------------------------------------------------


def test_with_methods() -> None:
    shape = Shape("f32", (2, 3), Layout((0, 1), (3, 5), PaddingValue.ONE))
    assert shape.with_layout(None) == Shape("f32", (2, 3))
    assert shape.with_layout(Layout((0, 1))) == Shape("f32", (2, 3), Layout((0, 1)))
    assert shape.with_element_type("bf16") == Shape("bf16", (2, 3), shape.layout)
    assert shape.with_dimensions((7, 8)) == Shape("f32", (7, 8))
    assert shape.with_dimensions((7,)) == Shape("f32", (7,))


def test_transpose_is_the_same_memory() -> None:
    shape = Shape("f32", (2, 3, 4), Layout((1, 2, 0), (2, 5, 6), PaddingValue.ZERO))
    for permutation in permutations(range(3)):
        moved = shape.transpose(permutation)
        assert moved.allocated_elements == shape.allocated_elements
        for linear in range(shape.allocated_elements):
            index = shape.multi_index(linear)
            wanted = None if index is None else tuple(index[p] for p in permutation)
            assert moved.multi_index(linear) == wanted


def test_transpose_example() -> None:
    assert str(Shape("f32", (10, 5)).transpose((1, 0))) == "f32[5,10]{0,1}"
    padded = Shape.parse("f32[2,3,4]{2,1,0:pad(2,3,8)}")
    assert str(padded.transpose((2, 0, 1))) == "f32[4,2,3]{0,2,1:pad(8,2,3)}"


@pytest.mark.parametrize("permutation", [(0,), (0, 0), (0, 2), (-1, 0)])
def test_S7_transpose_needs_a_permutation(permutation: tuple[int, ...]) -> None:
    shape = Shape("f32", (2, 3))
    with pytest.raises(ShapeError) as caught:
        shape.transpose(permutation)
    assert caught.value.rule == "S7"
    assert caught.value.kind == (
        "Transpose dimensions <list> are not a permutation of the operand dimensions "
        "(operand shape is <shape>)."
    )
    assert caught.value.operands == (shape,)


# --- identity ----------------------------------------------------------------------------------


def test_equality_is_type_dimensions_layout_and_padding() -> None:
    shapes = [
        Shape("f32", (2, 3)),
        Shape("s32", (2, 3)),
        Shape("f32", (3, 2)),
        Shape("f32", (2, 3), Layout((0, 1))),
        Shape("f32", (2, 3), Layout((0, 1), (2, 3))),
        Shape("f32", (2, 3), Layout((0, 1), (2, 4))),
        Shape("f32", (2, 3), Layout((0, 1), (2, 4), PaddingValue.ZERO)),
    ]
    assert len(set(shapes)) == 7
    again = Shape("f32", (2, 3), Layout((0, 1), (2, 4), PaddingValue.ZERO))
    assert again == shapes[6] and hash(again) == hash(shapes[6])
    text: object = "f32[2,3]{1,0}"
    assert Shape("f32", (2, 3)) != text


def test_compatible_ignores_layout() -> None:
    a, b = Shape("f32", (2, 3)), Shape("f32", (2, 3), Layout((0, 1), (2, 4)))
    assert a.compatible(b) and a.same_dimensions(b)
    assert not a.compatible(Shape("s32", (2, 3))) and a.same_dimensions(Shape("s32", (2, 3)))
    assert not a.compatible(Shape("f32", (3, 2))) and not a.same_dimensions(Shape("f32", (3, 2)))


def test_text_and_repr() -> None:
    shape = Shape("f32", (2, 3), Layout((0, 1), (3, 5), PaddingValue.ZERO))
    assert str(shape) == shape.text() == "f32[2,3]{0,1:pad(3,5,zero)}"
    assert shape.text(layout=False) == "f32[2,3]"
    assert repr(shape) == 'Shape.parse("f32[2,3]{0,1:pad(3,5,zero)}")'
    assert str(Shape("f32", ())) == "f32[]"


def test_frozen_copied_and_pickled() -> None:
    shape = Shape("bf16", (2, 3), Layout((0, 1), (3, 5), PaddingValue.ZERO))
    with pytest.raises(dataclasses.FrozenInstanceError):
        shape.dimensions = (3, 2)  # type: ignore[misc]
    assert not hasattr(shape, "__dict__")
    for twin in (pickle.loads(pickle.dumps(shape)), copy.copy(shape), copy.deepcopy(shape)):
        assert twin == shape and hash(twin) == hash(shape)
        assert (twin.strides, twin.byte_size) == (shape.strides, shape.byte_size)
    assert dataclasses.replace(shape, element_type=element_type("f32")) == shape.with_element_type(
        "f32"
    )


def test_errors_carry_shapes_through_pickle() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape("f32", (2, 3)).dimension(5)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (twin.rule, twin.operands) == ("S4", (Shape("f32", (2, 3)),))
