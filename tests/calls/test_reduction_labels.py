"""Reductions over labels and over numbers: what they mean, and what is refused in which words."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.reduced_values import reduced, same

RNG = np.random.default_rng(18)
X = RNG.standard_normal((3, 4)).astype("f4")
Y = RNG.standard_normal(3).astype("f4")


def over(text: str | None, function: Callable[..., Any], *operands: Any) -> Any:
    return gb.fuse(text)(function)(*operands)


def refusal(call: Callable[[], Any]) -> Any:
    with pytest.raises(gb.Error) as caught:
        call()
    return caught.value


# --- numbers -------------------------------------------------------------------------------------

E1 = "Reducing out-of-bounds dimension <n> in shape <shape>."
E2 = "Duplicate reduction dimension: <n>"


@pytest.mark.parametrize(
    ("call", "rule", "kind", "text"),
    [
        (
            lambda: gb.reduce_sum(X, (2,)), "E1", E1,
            "reduce_sum: axes=(2,), but the axes of operand 0: f32[3,4] are 0 to 1 [E1]",
        ),
        (
            lambda: gb.reduce_max(X, (0, -1)), "E1", E1,
            "reduce_max: axes=(0, -1), but the axes of operand 0: f32[3,4] are 0 to 1; counted "
            "from the end it is 1 [E1]",
        ),
        (
            lambda: gb.reduce_sum(np.float32(3), (0,)), "E1", E1,
            "reduce_sum: axes=(0,), but operand 0: f32[] has no axes [E1]",
        ),
        (
            lambda: gb.argmax(X, -2, "s32"), "E1", E1,
            "argmax: axis=-2, but the axes of operand 0: f32[3,4] are 0 to 1; counted from the end "
            "it is 0 [E1]",
        ),
        (
            lambda: gb.get_dimension_size(X, 2), "E1", E1,
            "get_dimension_size: axis=2, but the axes of operand 0: f32[3,4] are 0 to 1 [E1]",
        ),
        (
            lambda: gb.reduce_prod(X, (1, 0, 1)), "E2", E2,
            "reduce_prod: axes=(1, 0, 1) names axis 1 twice [E2]",
        ),
        (
            lambda: gb.argmin(X[:, :0], 1, "s32"), "E3",
            "argmin and argmax require non-empty reduced dimension. operand.shape=<list> axis=<n>",
            "argmin: axis 1 has size 0, so there is no index to choose [E3]",
        ),
        (
            lambda: gb.infer_shape("get_dimension_size", "s8[2147483648]", axis=0), "E7",
            "gpubcast:size of an axis",
            "get_dimension_size: axis 0 has a size that is no s32 [E7]",
        ),
        (
            lambda: gb.reduce_sum(X, 1), "B1", "gpubcast:not a sequence",
            "reduce_sum: axes must be a sequence of integers, not 1; write (1,) [B1]",
        ),
        (
            lambda: gb.reduce_sum(X, (True,)), "B2", "gpubcast:not integers",
            "reduce_sum: axes[0] is True, of type bool; an integer is needed [B2]",
        ),
        (
            lambda: gb.argmax(X, 1, "f32"), "T7",
            "index_dtype must be an integer type, but got <type>",
            "argmax: index_dtype is f32; an index is an integer [T7]",
        ),
        (
            lambda: gb.reduce_max(X.astype("c8"), (0,)), "T6", "gpubcast:complex ordering",
            "reduce_max: c64 has no order; compare real numbers, or use eq or ne [T6]",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], rule: str, kind: str, text: str) -> None:
    error = refusal(call)
    assert (error.rule, error.kind) == (rule, kind)
    assert str(error).splitlines()[0] == text


def test_element_types_are_checked_first_then_every_axis_then_repeats() -> None:
    assert refusal(lambda: gb.reduce_and(X, (7, 7))).rule == "T2"
    assert refusal(lambda: gb.reduce_sum(X, (0, 0, 7))).rule == "E1"
    assert refusal(lambda: gb.reduce_sum(X, (0, 0, -1))).rule == "E1"
    assert refusal(lambda: gb.argmax(X[:0].astype("c8"), 2, "f32")).rule == "E1"
    assert refusal(lambda: gb.argmax(X[:0].astype("c8"), 0, "f32")).rule == "E3"
    assert refusal(lambda: gb.argmax(X.astype("c8"), 0, "f32")).rule == "T7"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sum", "gpubcast has no 'sum'; gpubcast calls it 'reduce_sum'"),
        ("amax", "gpubcast has no 'amax'; gpubcast calls it 'reduce_max'"),
        (
            "any",
            "gpubcast has no 'any'; gpubcast calls it 'reduce_or', bitwise on numbers: take it of "
            "gb.convert_element_type(x, 'pred')",
        ),
        ("reduce_mean", "gpubcast has no 'reduce_mean'; write gb.nn.mean(x, axis)"),
        ("nanmax", "gpubcast has no 'nanmax'; write gb.select(gb.ne(x, x), -np.inf, x) first"),
        ("mean", "gpubcast has no 'mean'; gpubcast calls it 'gb.nn.mean'"),
        ("softmax", "gpubcast has no 'softmax'; gpubcast calls it 'gb.nn.softmax'"),
    ],
)
def test_names_of_others_say_ours(name: str, text: str) -> None:
    assert str(refusal(lambda: getattr(gb, name))) == text


# --- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "function", "rule", "kind", "text"),
    [
        (
            None, lambda x: gb.reduce_sum(x, "col"), "E4", "gpubcast:axes and labels",
            "reduce_sum: axes='col': the function has no labels, so axes are numbers from 0 on "
            "[E4]",
        ),
        (
            None, lambda x: gb.argmax(x, "col"), "E4", "gpubcast:axes and labels",
            "argmax: axis='col': the function has no labels, so axes are numbers from 0 on [E4]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(x, (1,)), "E4", "gpubcast:axes and labels",
            "reduce_sum: axes=1: inside 'row col -> row' an axis is named by its label [E4]",
        ),
        (
            "row col -> row", lambda x: gb.argmax(x, 1), "E4", "gpubcast:axes and labels",
            "argmax: axis=1: inside 'row col -> row' an axis is named by its label [E4]",
        ),
        (
            "row col -> ", lambda x: gb.argmax(x, ("row", "col")), "E4",
            "gpubcast:axes and labels",
            "argmax: axis=('row', 'col'): inside 'row col -> ' it is one label [E4]",
        ),
        (
            "row col -> ", lambda x: gb.argmax(x, ()), "E4", "gpubcast:axes and labels",
            "argmax: axis=(): inside 'row col -> ' it is one label [E4]",
        ),
        (
            "row col -> ", lambda x: gb.get_dimension_size(x, 1), "E4", "gpubcast:axes and labels",
            "get_dimension_size: axis=1: inside 'row col -> ' an axis is named by its label [E4]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(x, "rows"), "E5", "gpubcast:unknown label",
            "reduce_sum: no operand of 'row col -> row' has the label 'rows'; it has row, col [E5]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(x, ("col", "col")), "E2", E2,
            "reduce_sum: axes names the label 'col' twice [E2]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(gb.reduce_max(x, "col"), "col"), "E6",
            "gpubcast:reduction of a constant axis",
            "reduce_sum: the value does not vary along 'col', but along row; reducing it would "
            "count a size that cannot be seen: gb.get_dimension_size(x, label) is that [E6]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(gb.reduce_sum(x, ("row", "col")), "row"),
            "E6", "gpubcast:reduction of a constant axis",
            "reduce_sum: the value does not vary along 'row', but along no label; reducing it "
            "would count a size that cannot be seen: gb.get_dimension_size(x, label) is that [E6]",
        ),
        (
            "row col -> row", lambda x: gb.reduce_sum(x, "row"), "X7",
            "gpubcast:output lacks an axis",
            "'row col -> row': the output lacks the axis 'col', along which its value varies; a "
            "reduce_* over it takes it away [X7]",
        ),
    ],
)  # fmt: skip
def test_what_labels_refuse(
    labels: str | None, function: Callable[..., Any], rule: str, kind: str, text: str
) -> None:
    error = refusal(lambda: over(labels, function, X))
    assert (error.rule, error.kind) == (rule, kind)
    assert str(error).splitlines()[0] == text


def test_an_operand_that_lacks_the_label() -> None:
    error = refusal(lambda: over("row col, row -> row", lambda x, y: gb.reduce_sum(y, "col"), X, Y))
    assert error.rule == "E6"
    assert "does not vary along 'col', but along row" in str(error)


def test_the_line_of_the_function_is_named() -> None:
    error = refusal(lambda: over("row col -> row", lambda x: gb.reduce_sum(x, "c"), X))
    assert "test_reduction_labels.py:" in str(error).splitlines()[1]


# --- what they mean ------------------------------------------------------------------------------


def test_a_label_or_several_in_any_order() -> None:
    x = RNG.standard_normal((5, 40, 30)).astype("f4")
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ()):
        wanted = reduced("reduce_sum", x, axes)
        left = " ".join("abc"[d] for d in range(3) if d not in axes)
        for order in itertools.permutations("abc"[d] for d in axes):
            for given in (order, list(order), *(order if len(order) == 1 else ())):
                found = over(f"a b c -> {left}", along(gb.reduce_sum, given), x)
                assert same(found, wanted), given


def along(function: Callable[..., Any], axes: Any) -> Callable[[Any], Any]:
    return lambda x: function(x, axes)


def test_the_text_says_the_order_of_reduced_labels() -> None:
    """That of their first appearance, wherever the operand has them."""
    x = RNG.standard_normal((30, 40)).astype("f4")
    first = over("a b -> ", lambda x: gb.reduce_sum(x, ("b", "a")), x)
    turned = over("b a -> ", lambda x: gb.reduce_sum(x, ("b", "a")), x.T)
    after = over(", b a -> ", lambda s, x: gb.reduce_sum(x, ("b", "a")), 1.0, x.T)
    assert same(first, reduced("reduce_sum", x, (0, 1)))
    assert same(turned, reduced("reduce_sum", np.ascontiguousarray(x.T), (0, 1)))
    assert same(after, turned) and not same(turned, np.asarray(first))
    # A label that an earlier operand has comes first.
    both = over("a, b a -> ", lambda y, x: gb.reduce_sum(x, ("b", "a")), x[:, 0].copy(), x.T)
    assert same(both, first)


def test_a_reduced_value_is_broadcast_back() -> None:
    found = over("row col -> row col", lambda x: x - gb.reduce_max(x, "col"), X)
    assert same(found, X - X.max(1, keepdims=True))
    repeated = over("row col -> col row", lambda x: gb.reduce_max(x, "col"), X)
    assert same(repeated, np.repeat(X.max(1)[None], 4, 0))
    small, whole = over("row col -> row, row col", lambda x: (gb.reduce_max(x, "col"), x), X)
    assert same(small, X.max(1)) and same(whole, X)


def test_an_index_along_a_label() -> None:
    for text, label, axis in (("r c -> r", "c", 1), ("r c -> c", "r", 0), ("r c -> c", ("r",), 0)):
        found = over(text, along(gb.argmax, label), X)
        assert same(found, X.argmax(axis).astype("i4"))
    wide = over("r c -> r", lambda x: gb.argmin(x, "c", index_dtype="s64"), X)
    assert same(wide, X.argmin(1))


def test_functions_with_labels_inside_others() -> None:
    @gb.fuse("r c -> r c")
    def softmax(x: Any) -> Any:
        e = gb.exp(x - gb.reduce_max(x, "c"))
        return e / gb.reduce_sum(e, "c")

    alone = softmax(X)
    assert same(over("r c -> r c", lambda x: softmax(x) * 2, X), alone * 2)
    assert same(over("r c -> r", lambda x: gb.reduce_sum(softmax(x), "c"), X),
                reduced("reduce_sum", alone, (1,)))  # fmt: skip


def test_the_size_of_a_label() -> None:
    def mean(x: Any) -> Any:
        count = gb.convert_element_type(gb.get_dimension_size(x, "c"), "f32")
        return gb.reduce_sum(x, "c") / count

    assert same(over("r c -> r", mean, X), reduced("reduce_sum", X, (1,)) / np.float32(4))
    other = over("r c, r -> ", lambda x, y: gb.get_dimension_size(y, "c"), X, Y)
    assert same(other, np.int32(4)) and same(gb.get_dimension_size(X, 1), np.int32(4))


def test_a_new_size_is_another_size_and_no_other_kernel() -> None:
    from gpubcast.runtime import state

    mean = gb.fuse("r c -> r")(
        lambda x: (
            gb.reduce_sum(x, "c") / gb.convert_element_type(gb.get_dimension_size(x, "c"), "f32")
        )
    )
    mean(np.ones((5, 900), "f4"))
    known = set(state.kernels())
    for rows, columns in ((2, 2), (3, 100), (7, 1000), (9, 513), (4, 5000)):
        assert same(mean(np.ones((rows, columns), "f4")), np.ones(rows, "f4"))
    assert set(state.kernels()) == known


def test_without_labels_axes_are_numbers() -> None:
    def centered(x: Any) -> Any:
        return gb.sub(x, gb.reduce_max(x, (1,)), broadcast_dimensions=(0,))

    assert same(over(None, centered, X), X - X.max(1, keepdims=True))


# --- any number of axes --------------------------------------------------------------------------


@pytest.mark.parametrize("function", [gb.reduce_sum, lambda x, axis: gb.nn.softmax(x, axis=axis)])
def test_dots_name_no_axis_where_the_text_has_none(function: Callable[..., Any]) -> None:
    found = refusal(lambda: gb.fuse("row col -> row col")(lambda x: function(x, "..."))(X))
    assert found.rule == "E5"
    assert "'row col -> row col' has the label '...'; it has row, col" in str(found)


def test_dots_that_stand_for_nothing_reduce_nothing() -> None:
    nothing = gb.fuse("... col -> ... col")(lambda x: gb.reduce_sum(x, "..."))
    np.testing.assert_array_equal(nothing(X[0]), X[0])


# --- scalars that an array chooses ---------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: gb.reduce_sum(gb.select(x > 0, 1.0, 0.0), "col"),
        lambda x: gb.reduce_max(-gb.select(x > 0, 1.0, 0.0) + 1, "col"),
        lambda x: gb.nn.mean(gb.select(x > 0, 1.0, 0.0), axis="col"),
        lambda x: gb.select(x > 0, 1.0, 0.0),
    ],
)
def test_what_an_array_chooses_among_scalars_has_no_type(function: Callable[..., Any]) -> None:
    found = refusal(lambda: gb.fuse("row col -> row col")(function)(X))
    assert found.rule == "A4" and "no operand beside a Python scalar has a type" in str(found)


def test_without_labels_it_has_no_type_either() -> None:
    found = refusal(lambda: gb.fuse(lambda x: gb.select(x > 0, 1.0, 0.0))(X))
    assert found.rule == "A4"


def test_a_label_as_an_operand_says_what_takes_labels() -> None:
    found = refusal(lambda: gb.fuse("row col -> row")(lambda x: gb.max(x, "col"))(X))
    assert found.rule == "F3"
    assert "reductions take a label, as gb.reduce_max(x, 'col')" in str(found)


@pytest.mark.parametrize(("axes", "said"), [(-1, False), (1, True)])
def test_a_lone_axis_is_written_as_a_tuple_where_it_may_be_one(axes: int, said: bool) -> None:
    found = refusal(lambda: gb.reduce_sum(X, axes=axes))
    assert found.rule == "B1" and (f"write ({axes},)" in str(found)) == said
