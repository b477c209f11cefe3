"""Calls of functions with axis labels; and ``gb.apply``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

X = np.arange(6, dtype="f4").reshape(2, 3)
ROW, COL = X[:, 0].copy(), X[0].copy()
CUBE = np.arange(24, dtype="f4").reshape(2, 3, 4)


def plus(x: Any, y: Any) -> Any:
    return x + y


def fused(text: str, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    return gb.fuse(text)(function)(*args, **keywords)


def refusal(call: Callable[[], Any]) -> gb.ShapeError:
    with pytest.raises(gb.ShapeError) as caught:
        call()
    return caught.value


def test_operands_may_be_permuted() -> None:
    moved = np.ascontiguousarray(CUBE.transpose(2, 0, 1))
    result = fused("a b c, c a b -> b c a", plus, CUBE, moved)
    np.testing.assert_array_equal(result, (CUBE + CUBE).transpose(1, 2, 0))


def test_a_literal_one_on_operands_and_outputs() -> None:
    np.testing.assert_array_equal(fused("r 1, r c -> r c", plus, X[:, :1], X), X[:, :1] + X)
    np.testing.assert_array_equal(
        fused("1 r 1, 1 r -> r 1 1", plus, X[None, :, :1], X[None, :, 0]),
        (X[:, :1] * 2)[:, :, None],
    )
    result = fused("r c, c -> 1 r 1 c 1", plus, X, COL)
    np.testing.assert_array_equal(result, (X + COL)[None, :, None, :, None])


def test_an_empty_group_is_a_scalar() -> None:
    for scalar in (2, 2.0, np.float32(2), np.array(2, "f4")):
        np.testing.assert_array_equal(fused("r c, -> r c", plus, X, scalar), X + 2)
        np.testing.assert_array_equal(fused(", r c -> r c", plus, scalar, X), X + 2)
    result = fused("->", lambda x: x * 2, np.float32(3))
    assert (result.shape, result) == ((), 6)


def test_lists_are_operands() -> None:
    result = fused("r c, c -> r c", plus, [[1, 2], [3, 4]], [10, 20])
    np.testing.assert_array_equal(result, [[11, 22], [13, 24]])


def test_sizes_zero_and_one() -> None:
    assert fused("r c, c -> r c", plus, X[:0], COL).shape == (0, 3)
    one = fused("r c, c -> r c", plus, X[:, :1], COL[:1])
    np.testing.assert_array_equal(one, X[:, :1])
    assert refusal(lambda: fused("r c, r -> r c", plus, X[:0], ROW[:1])).rule == "X6"


@pytest.mark.parametrize(
    ("text", "expected", "wanted"),
    [
        ("r c, c -> r c", "f32[2,3]{0,1:pad(4,5,zero)}", X + COL),
        ("r c, c -> c r", "f32[3,2]{1,0:pad(5,4,zero)}", (X + COL).T),
        ("r c, c -> r 1 c", "f32[2,1,3]", (X + COL)[:, None]),
        ("c, r c -> r c", "f32[2,3]{0,1:pad(4,5,zero)}", X + COL),
    ],
)
def test_R1_layout_of_a_labelled_result(text: str, expected: str, wanted: np.ndarray) -> None:
    padded = gb.array(X, layout=gb.Layout((0, 1), (4, 5), gb.PaddingValue.ZERO))
    operands = (COL, padded) if text.startswith("c") else (padded, COL)
    result = fused(text, plus, *operands)
    assert result.xla_shape == gb.Shape.parse(expected)
    np.testing.assert_array_equal(result.numpy(), wanted)
    # The padding is zeros, so the whole memory adds up to the elements.
    assert result.buffer.sum() == wanted.sum()


def test_select_and_clamp_see_aligned_operands() -> None:
    result = fused("r c, c, r -> r c", lambda x, y, z: gb.select(y > 1, x, z), X, COL, ROW)
    np.testing.assert_array_equal(result, np.where(COL > 1, X, ROW[:, None]))
    result = fused("r c, c -> r c", lambda x, y: gb.clamp(y, x, 4.0), X, COL)
    np.testing.assert_array_equal(result, np.minimum(np.maximum(COL, X), 4))
    result = fused("r c, -> r c", lambda x, p: gb.select(p, x, 0), X, True)
    np.testing.assert_array_equal(result, X)
    result = fused("r c -> r c", lambda x: gb.select(x > 2, np.float32(1), 0.0), X)
    np.testing.assert_array_equal(result, (X > 2).astype("f4"))


def test_an_output_is_broadcast_along_an_axis_it_does_not_vary_along() -> None:
    wanted = np.broadcast_to(COL, (2, 3))
    np.testing.assert_array_equal(fused("r c, c -> r c", lambda x, y: y, X, COL), wanted)


@pytest.mark.parametrize("constant", [np.float32(3), np.array(3, "f4"), gb.array(np.float32(3))])
def test_an_output_may_be_a_constant(constant: Any) -> None:
    (result,) = fused("r c -> r c", lambda x: (constant,), X)
    np.testing.assert_array_equal(result, np.full((2, 3), 3, "f4"))


def test_several_outputs_of_several_ranks() -> None:
    outs = fused(
        "r c, r, c -> r c, c, r, , 1",
        lambda x, m, v: (x * v + m, v * 2, m + 1, np.float32(5), np.float32(6)),
        X, ROW, COL,
    )  # fmt: skip
    wanted = (X * COL + ROW[:, None], COL * 2, ROW + 1, np.float32(5), np.full(1, 6, "f4"))
    assert [out.shape for out in outs] == [(2, 3), (3,), (2,), (), (1,)]
    for out, want in zip(outs, wanted, strict=True):
        np.testing.assert_array_equal(out, want)


def test_an_operand_may_have_a_label_that_nothing_uses() -> None:
    other = np.zeros(5, "f4")
    np.testing.assert_array_equal(fused("r c, k -> r c", lambda x, y: x, X, other), X)
    error = refusal(lambda: fused("r c, k -> r c", plus, X, other))
    assert error.rule == "X7"
    assert "lacks the axis 'k'" in str(error)
    # What labels say of an operand is checked even where nothing needs it.
    assert refusal(lambda: fused("r c, r -> r c", lambda x, y: x, X, COL)).rule == "X6"


def test_X4_with_star_arguments() -> None:
    @gb.fuse("r c, r c, c -> r c")
    def total(x: Any, *rest: Any) -> Any:
        return x + rest[0] + rest[1]

    np.testing.assert_array_equal(total(X, X, COL), X + X + COL)
    for given in ((X, X), (X, X, COL, COL)):
        error = refusal(lambda given=given: total(*given))
        assert error.rule == "X4"
        assert f"has 3 groups of operands, and got {len(given)} operands" in str(error)


def test_None_has_a_group_and_no_size() -> None:
    @gb.fuse("r c, c -> r c")
    def biased(x: Any, bias: Any = None) -> Any:
        return x if bias is None else x + bias

    np.testing.assert_array_equal(biased(X), X)
    np.testing.assert_array_equal(biased(X, COL), X + COL)
    error = refusal(lambda: fused("r, c -> r c", lambda x, y: x, ROW, None))
    assert (error.rule, error.kind) == ("X3", "gpubcast:unknown label")
    assert "the only operands with the label 'c' are None or scalars" in str(error)


def test_apply() -> None:
    np.testing.assert_array_equal(gb.apply("r c, c -> r c", gb.add, X, COL), X + COL)
    np.testing.assert_array_equal(
        gb.apply("r c, c, r -> c r", gb.select, X > 1, COL, ROW),
        np.where(X > 1, COL, ROW[:, None]).T,
    )
    np.testing.assert_array_equal(
        gb.apply("r c, c -> r c", lambda x, y: x * y + 1, X, COL), X * COL + 1
    )
    np.testing.assert_array_equal(gb.apply("r c, c -> r c", gb.fuse(plus), X, COL), X + COL)


def test_apply_takes_the_keywords_of_the_operation() -> None:
    result = gb.apply("r c, c -> r c", gb.compare, X, COL, direction="GT")
    np.testing.assert_array_equal(result, X > COL)
    result = gb.apply("r, r -> r", gb.compare, [0.0], [-0.0], direction="GT", total_order=True)
    np.testing.assert_array_equal(result, [True])
    assert gb.apply("r -> r", gb.convert_element_type, COL, to="f64").dtype == np.float64


def test_apply_with_out_and_out_layout() -> None:
    out = np.empty((2, 3), "f4")
    assert gb.apply("r c, c -> r c", gb.add, X, COL, out=out) is out
    np.testing.assert_array_equal(out, X + COL)
    result = gb.apply("r c, c -> r c", gb.add, X, COL, out_layout=gb.Layout((0, 1)))
    assert result.flags.f_contiguous
    np.testing.assert_array_equal(result, X + COL)


@pytest.mark.parametrize("first", [True, 1])
def test_apply_keeps_equal_keywords_of_different_types_apart(first: Any) -> None:
    def compared(total_order: Any) -> Any:
        return gb.apply("i, i -> i", gb.compare, COL, COL, direction="LE", total_order=total_order)

    for total_order in (first, 1, True):
        if total_order is True:
            assert compared(total_order).all()
        else:
            with pytest.raises(gb.Error) as caught:
                compared(total_order)
            assert caught.value.rule == "T0"


def test_apply_names_the_operation_and_no_line_of_an_earlier_call() -> None:
    gb.apply("r c, c -> r c", gb.sub, X, COL)
    error = refusal(lambda: gb.apply("r c, c -> r c", gb.sub, X, ROW))
    assert str(error) == (
        "the label 'c' has size 3 in operands[0] and size 2 in operands[1] [X6]\n"
        "  in sub\n"
        "  axis                   r  c\n"
        "  operands[0]: f32[2,3]  2  3\n"
        "  operands[1]: f32[2]    ·  2\n"
        "                            ^"
    )
    with pytest.raises(gb.ElementTypeError) as caught:
        gb.apply("r c, c -> r c", gb.sub, X, COL.astype("f8"))
    assert (caught.value.rule, "\n" in str(caught.value)) == ("T5", False)
    assert refusal(lambda: gb.apply("r c, c -> r c", gb.sub, X)).rule == "X4"


def test_apply_from_many_threads() -> None:
    barrier = threading.Barrier(4)
    results = []

    def work() -> None:
        barrier.wait()
        results.append(gb.apply("i j k, k j -> i k j", gb.max, CUBE, CUBE[0].T))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = np.maximum(CUBE, CUBE[0]).transpose(0, 2, 1)
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, wanted)
