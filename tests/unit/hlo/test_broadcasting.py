"""The rules for dimensions: every example of XLA's broadcasting page, and one test per rule."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from gpubcast.errors import ElementTypeError, Error, ShapeError
from gpubcast.hlo import xla_messages
from gpubcast.hlo.alignment import legal_assignments
from gpubcast.hlo.broadcasting import Broadcast, binary, broadcast, broadcast_in_dim, clamp, select
from gpubcast.shapes.shape import Shape


def f32(*dimensions: int) -> Shape:
    return Shape("f32", dimensions)


def add(lhs: Shape, rhs: Shape, dims: tuple[int, ...] | None = None) -> tuple[int, ...]:
    return binary("add", lhs, rhs, dims).dimensions


def refusal(
    call: Callable[[], object], rule: str, kind: str, error: type[Error] = ShapeError
) -> str:
    """The text of the error of ``call``, after checking its class, rule and kind."""
    with pytest.raises(Error) as caught:
        call()
    assert type(caught.value) is error
    assert (caught.value.rule, caught.value.kind) == (rule, kind)
    first = str(caught.value).splitlines()[0]
    assert first.endswith(f"[{rule}]")
    return str(caught.value)


# --- the page, in its order --------------------------------------------------------------------


def test_page_scalar_needs_no_dimensions() -> None:
    assert binary("add", f32(2, 3), f32(), None) == Broadcast((2, 3), ((0, 1), ()))
    assert binary("add", f32(), f32(2, 3), ()) == Broadcast((2, 3), ((), (0, 1)))


def test_page_vector_on_matrix() -> None:
    refusal(lambda: add(f32(2, 3), f32(3)), "B5a", xla_messages.UNEQUAL_RANK)
    assert binary("add", f32(2, 3), f32(3), (1,)) == Broadcast((2, 3), ((0, 1), (1,)))
    refusal(lambda: add(f32(2, 3), f32(3), (0,)), "B5e", xla_messages.MISMATCH)


def test_page_vector_on_square_matrix_has_two_ways() -> None:
    assert binary("add", f32(3, 3), f32(3), (1,)).maps == ((0, 1), (1,))
    assert binary("add", f32(3, 3), f32(3), (0,)).maps == ((0, 1), (0,))


def test_page_matrix_on_cuboid() -> None:
    assert binary("add", f32(2, 3, 4), f32(3, 4), (1, 2)).maps == ((0, 1, 2), (1, 2))


def test_page_formal_definition() -> None:
    m, n, p, q = sizes = (2, 3, 4, 5)
    for d, t in enumerate(sizes):
        assert binary("add", f32(m, n, p, q), f32(t), (d,)).maps[1] == (d,)
        for wrong in set(range(4)) - {d}:
            refusal(
                lambda t=t, w=wrong: add(f32(*sizes), f32(t), (w,)), "B5e", xla_messages.MISMATCH
            )
    for pair in combinations(range(4), 2):
        t, v = (sizes[d] for d in pair)
        assert add(f32(m, n, p, q), f32(t, v), pair) == sizes
    # "it is illegal to match V to N and T to P", and "to match V to both P and N"
    refusal(lambda: add(f32(2, 3, 3, 3), f32(3, 3), (2, 1)), "B5f", xla_messages.ORDER)
    refusal(lambda: add(f32(2, 3, 3, 3), f32(3, 3), (1, 1)), "B5f", xla_messages.ORDER)
    refusal(lambda: add(f32(2, 3, 3, 3), f32(3, 3), (0, 1, 2)), "B5b", xla_messages.BINARY_LENGTH)


def test_page_degenerate_dimensions() -> None:
    assert add(f32(2, 1), f32(2, 3)) == (2, 3)
    assert add(f32(1, 2, 5), f32(7, 2, 5)) == (7, 2, 5)
    assert add(f32(7, 2, 5), f32(7, 1, 5)) == (7, 2, 5)
    refusal(lambda: add(f32(7, 2, 5), f32(7, 2, 6)), "B4", xla_messages.INCOMPATIBLE)
    assert add(f32(2, 1), f32(1, 3)) == (2, 3)


def test_page_composition() -> None:
    assert binary("add", f32(4), f32(1, 2), (0,)) == Broadcast((4, 2), ((0,), (0, 1)))
    assert binary("add", f32(1, 2), f32(4, 3, 1), (1, 2)) == Broadcast(
        (4, 3, 2), ((1, 2), (0, 1, 2))
    )


# --- binary, rule by rule ----------------------------------------------------------------------


def test_B1_a_list_is_a_sequence() -> None:
    kind = "gpubcast:not a sequence"
    lone: Any = 1
    text = refusal(lambda: binary("add", f32(2, 3), f32(3), lone), "B1", kind)
    assert "write (1,)" in text
    for wrong in ("1", {1}, {1: 1}, 1.5, True, np.array(1)):
        refusal(lambda w=wrong: binary("add", f32(2, 3), f32(3), w), "B1", kind)
    refusal(lambda: broadcast(f32(3), lone), "B1", kind)


def test_B2_entries_are_integers() -> None:
    kind = "gpubcast:not integers"
    for wrong in (True, np.True_, 1.0, "1", None, np.float32(1)):
        refusal(lambda w=wrong: add(f32(2, 3), f32(3), (w,)), "B2", kind)
    text = refusal(lambda: broadcast(f32(3), (2, True)), "B2", kind)
    assert text == "broadcast: sizes[1] is True, of type bool; an integer is needed [B2]"
    for right in ([1], np.array([1]), (np.int64(1),), (np.uint8(1),), range(1, 2)):
        got = binary("add", f32(2, 3), f32(3), right).maps[1]
        assert got == (1,)
        assert type(got[0]) is int


def test_B3_equal_ranks_take_no_dimensions_but_the_identity() -> None:
    assert add(f32(2, 3), f32(2, 3), (0, 1)) == (2, 3)
    assert add(f32(2, 3), f32(2, 3), ()) == (2, 3)
    assert add(f32(), f32(), ()) == ()
    for wrong in ((1, 0), (0,), (1,), (0, 1, 2), (-1, 0)):
        refusal(lambda w=wrong: add(f32(2, 3), f32(2, 3), w), "B3", xla_messages.NOT_IDENTITY)
    # It is checked before the sizes.
    refusal(lambda: add(f32(2, 3), f32(2, 4), (1, 0)), "B3", xla_messages.NOT_IDENTITY)


def test_B4_size_zero_yields_to_one_and_not_to_more() -> None:
    assert add(f32(0), f32(1)) == (0,)
    assert add(f32(1), f32(0)) == (0,)
    assert add(f32(0), f32(0)) == (0,)
    refusal(lambda: add(f32(0), f32(2)), "B4", xla_messages.INCOMPATIBLE)


def test_B5a_a_vector_of_one_is_not_a_scalar() -> None:
    refusal(lambda: add(f32(2, 3), f32(1)), "B5a", xla_messages.UNEQUAL_RANK)
    refusal(lambda: add(f32(2, 3), f32(1), ()), "B5a", xla_messages.UNEQUAL_RANK)


def test_B5b_length_precedes_everything_in_the_list() -> None:
    refusal(lambda: add(f32(2, 3), f32(3), (-1, 7)), "B5b", xla_messages.BINARY_LENGTH)
    refusal(lambda: add(f32(2, 3), f32(), (0,)), "B5b", xla_messages.BINARY_LENGTH)


def test_B5c_B5d_bounds_of_entries() -> None:
    refusal(lambda: add(f32(2, 3), f32(3), (-1,)), "B5c", xla_messages.NEGATIVE)
    refusal(lambda: add(f32(2, 3), f32(3), (2,)), "B5d", xla_messages.TOO_LARGE)
    assert add(f32(2, 3), f32(2), (0,)) == (2, 3)
    assert add(f32(2, 3), f32(3), (1,)) == (2, 3)


def test_B5e_one_expands_on_either_side() -> None:
    assert add(f32(2, 3), f32(1), (1,)) == (2, 3)
    assert add(f32(1, 2, 1), f32(0), (2,)) == (1, 2, 0)
    assert add(f32(0), f32(2, 1), (1,)) == (2, 0)
    refusal(lambda: add(f32(2, 3), f32(0), (1,)), "B5e", xla_messages.MISMATCH)


def test_order_of_checks_within_the_list() -> None:
    # Each entry is checked whole before the next: {2,1} on [16,8,4]+[8,4] is a mismatch.
    refusal(lambda: add(f32(16, 8, 4), f32(8, 4), (2, 1)), "B5e", xla_messages.MISMATCH)
    refusal(lambda: add(f32(16, 8, 4), f32(8, 4), (3, 0)), "B5d", xla_messages.TOO_LARGE)
    refusal(lambda: add(f32(4, 4, 4), f32(4, 4), (1, -1)), "B5c", xla_messages.NEGATIVE)
    refusal(lambda: add(f32(4, 4, 4), f32(4, 4), (1, 0)), "B5f", xla_messages.ORDER)


def test_B5_text_has_picture_and_ways_out() -> None:
    text = refusal(lambda: add(f32(2, 3), f32(3)), "B5a", xla_messages.UNEQUAL_RANK)
    assert text.splitlines() == [
        "add: operand 1 has rank 1 and operand 0 has rank 2, and broadcast_dimensions is not given"
        " [B5a]",
        "  output dimension     0  1",
        "  operand 0: f32[2,3]  2  3",
        "  operand 1: f32[3]    ?  ?",
        "help: legal broadcast_dimensions: (1,); write broadcast_dimensions=(1,)",
    ]
    text = refusal(lambda: add(f32(17), f32(4, 4, 3), (2,)), "B5e", xla_messages.MISMATCH)
    assert text.splitlines() == [
        "add: operand 0 dimension 0 has size 17 but goes to dimension 2 of operand 1, which has "
        "size 3; sizes must be equal or one of them 1 [B5e]",
        "  output dimension       0  1   2",
        "  operand 0: f32[17]     ·  ·  17  broadcast_dimensions=(2,)",
        "                               ^^",
        "  operand 1: f32[4,4,3]  4  4   3",
        "help: no broadcast_dimensions are legal: (17,) does not fit into (4, 4, 3) in this order",
    ]
    text = refusal(lambda: add(f32(7, 2, 5), f32(7, 2, 6)), "B4", xla_messages.INCOMPATIBLE)
    assert text.splitlines() == [
        "add: dimension 2 has size 5 in operand 0 and size 6 in operand 1; sizes must be equal or "
        "one of them 1 [B4]",
        "  output dimension       0  1  2",
        "  operand 0: f32[7,2,5]  7  2  5",
        "  operand 1: f32[7,2,6]  7  2  6",
        "                               ^",
    ]


def test_errors_carry_the_operands_in_call_order() -> None:
    operands = (f32(3), f32(2, 3))
    with pytest.raises(ShapeError) as caught:
        binary("add", *operands, None)
    assert caught.value.operands == operands
    assert isinstance(caught.value, ValueError)


def test_laws_over_all_small_shapes() -> None:
    """What is accepted is what the definition says, and NumPy agrees on the aligned shapes."""
    accepted = refused = 0
    shapes = [d for rank in range(4) for d in product((0, 1, 2), repeat=rank)]
    for small, big in product(shapes, shapes):
        if not 0 < len(small) < len(big):
            continue
        legal = []
        for dims in product(range(len(big)), repeat=len(small)):
            try:
                got = binary("add", f32(*small), f32(*big), dims)
            except ShapeError:
                refused += 1
                continue
            accepted += 1
            legal.append(dims)
            aligned = [1] * len(big)
            for size, d in zip(small, dims, strict=True):
                aligned[d] = size
            assert got.dimensions == np.broadcast_shapes(tuple(aligned), big)
            assert got.maps == (dims, tuple(range(len(big))))
            assert binary("add", f32(*big), f32(*small), dims).maps == got.maps[::-1]
        want = [
            dims
            for dims in combinations(range(len(big)), len(small))
            if all(1 in (a, big[d]) or a == big[d] for a, d in zip(small, dims, strict=True))
        ]
        assert legal == want
        text = legal_assignments(small, big, lambda a, b: a == b or 1 in (a, b))
        assert [str(dims) in text for dims in want] == [True] * len(want)
        assert text.startswith("legal") == bool(want)
    assert (accepted, refused) == (672, 1812)


# --- broadcast_in_dim, broadcast ---------------------------------------------------------------


def test_broadcast_in_dim_expands_and_transposes() -> None:
    assert broadcast_in_dim(f32(2, 3), (4, 2, 3), (1, 2)) == Broadcast((4, 2, 3), ((1, 2),))
    assert broadcast_in_dim(f32(2, 3), (3, 2), (1, 0)) == Broadcast((3, 2), ((1, 0),))
    assert broadcast_in_dim(f32(1), (0, 5), (1,)).dimensions == (0, 5)
    assert broadcast_in_dim(f32(1), (0,), (0,)).dimensions == (0,)
    assert broadcast_in_dim(f32(), (2, 2), ()) == Broadcast((2, 2), ((),))


@pytest.mark.parametrize(
    ("rule", "kind", "operand", "shape", "dims"),
    [
        ("D1", xla_messages.INVALID_SHAPE, (2,), (2, -1), (9, 9)),
        ("D2", xla_messages.IN_DIM_LENGTH, (2,), (2, 3), (0, 9)),
        ("D2", xla_messages.IN_DIM_LENGTH, (2, 3, 4), (2,), (0,)),
        ("D3", xla_messages.OUT_OF_BOUND, (2,), (2, 3), (-1,)),
        ("D3", xla_messages.OUT_OF_BOUND, (2,), (2, 3), (3,)),
        ("D3", xla_messages.OUT_OF_BOUND, (7, 2, 2), (2, 3), (0, 1, 3)),
        ("D4", xla_messages.HIGHER_RANK, (7, 2, 2), (2, 3), (0, 1, 2)),
        ("D5a", xla_messages.OUT_OF_BOUND, (3,), (2, 3), (2,)),
        ("D5b", xla_messages.IN_DIM_MISMATCH, (2,), (2, 3), (1,)),
        ("D5b", xla_messages.IN_DIM_MISMATCH, (2,), (1,), (0,)),
        ("D5b", xla_messages.IN_DIM_MISMATCH, (0,), (1,), (0,)),
        ("D5b", xla_messages.IN_DIM_MISMATCH, (2, 3), (2, 4), (1, 2)),
        ("D5c", xla_messages.ORDER, (3, 3), (3, 3), (0, 0)),
    ],
)
def test_broadcast_in_dim_refuses(
    rule: str,
    kind: str,
    operand: tuple[int, ...],
    shape: tuple[int, ...],
    dims: tuple[int, ...],
) -> None:
    refusal(lambda: broadcast_in_dim(f32(*operand), shape, dims), rule, kind)


def test_broadcast_in_dim_text() -> None:
    text = refusal(
        lambda: broadcast_in_dim(f32(3), (2, 3), (0,)), "D5b", xla_messages.IN_DIM_MISMATCH
    )
    assert text.splitlines() == [
        "broadcast_in_dim: operand dimension 0 has size 3 but goes to output dimension 0 of size "
        "2; it must be 1 or equal [D5b]",
        "  output dimension   0  1",
        "  shape              2  3",
        "  operand 0: f32[3]  3  ·  broadcast_dimensions=(0,)",
        "                     ^",
        "help: legal broadcast_dimensions: (1,); write broadcast_dimensions=(1,)",
    ]


def test_broadcast_prepends_sizes() -> None:
    assert broadcast(f32(3), (2, 0)) == Broadcast((2, 0, 3), ((2,),))
    assert broadcast(f32(3), ()) == Broadcast((3,), ((0,),))
    refusal(lambda: broadcast(f32(3), (2, -1)), "D6", xla_messages.NEGATIVE_SIZE)


# --- select, clamp -----------------------------------------------------------------------------


def test_select_takes_a_scalar_pred_and_nothing_else() -> None:
    x, p = f32(2, 3), Shape("pred", (2, 3))
    assert select(p, x, x) == Broadcast((2, 3), ((0, 1),) * 3)
    assert select(Shape("pred", ()), x, x) == Broadcast((2, 3), ((), (0, 1), (0, 1)))
    refusal(lambda: select(p, x, f32()), "C1", xla_messages.SELECT_BRANCHES)
    refusal(lambda: select(p, x, f32(2, 1)), "C1", xla_messages.SELECT_BRANCHES)
    refusal(lambda: select(Shape("pred", (2, 1)), x, x), "C3", xla_messages.SELECT_PRED_SHAPE)
    refusal(lambda: select(Shape("pred", (3,)), x, x), "C3", xla_messages.SELECT_PRED_SHAPE)
    refusal(lambda: select(p, f32(), f32()), "C3", xla_messages.SELECT_PRED_SHAPE)


def test_select_order_of_checks() -> None:
    x, s = f32(3), Shape("s32", (3,))
    refusal(lambda: select(s, x, s), "C1", xla_messages.SELECT_BRANCHES, ElementTypeError)
    refusal(lambda: select(s, x, f32(4)), "C1", xla_messages.SELECT_BRANCHES)
    refusal(
        lambda: select(Shape("s32", (4,)), x, x),
        "C2",
        xla_messages.SELECT_PRED_TYPE,
        ElementTypeError,
    )


def test_clamp_takes_scalar_bounds_each_for_itself() -> None:
    x = f32(2, 3)
    assert clamp(f32(), x, f32()) == Broadcast((2, 3), ((), (0, 1), ()))
    assert clamp(x, x, f32()).maps == ((0, 1), (0, 1), ())
    refusal(lambda: clamp(x, f32(), x), "C5", xla_messages.CLAMP_SHAPES)
    text = refusal(lambda: clamp(f32(), x, f32(2, 1)), "C5", xla_messages.CLAMP_SHAPES)
    assert text.splitlines()[1:5] == [
        "  output dimension     0  1",
        "  operand 0: f32[]     ·  ·",
        "  operand 1: f32[2,3]  2  3",
        "  operand 2: f32[2,1]  2  1",
    ]
    bad = Shape("s32", (9,))
    refusal(lambda: clamp(f32(9), x, bad), "C4", xla_messages.CLAMP_TYPES, ElementTypeError)
