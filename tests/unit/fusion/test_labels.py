"""Axis labels: their text, and every refusal; their calls are in ``tests/calls``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import labels

X = np.arange(6, dtype="f4").reshape(2, 3)
ROW, COL = X[:, 0].copy(), X[0].copy()


def plus(x: Any, y: Any) -> Any:
    return x + y


def fused(text: str, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    return gb.fuse(text)(function)(*args, **keywords)


def refusal(call: Callable[[], Any]) -> gb.ShapeError:
    with pytest.raises(gb.ShapeError) as caught:
        call()
    return caught.value


# --- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "operands", "outputs"),
    [
        ("r c, c -> r c", (("r", "c"), ("c",)), (("r", "c"),)),
        (" r\tc ,\n c->r  c ", (("r", "c"), ("c",)), (("r", "c"),)),
        ("->", ((),), ((),)),
        (", ->", ((), ()), ((),)),
        ("r, -> ,r", (("r",), ()), ((), ("r",))),
        ("r,c,->r c,r,,", (("r",), ("c",), ()), (("r", "c"), ("r",), (), ())),
        ("1 r 1 -> 1", (("1", "r", "1"),), (("1",),)),
        ("R r _ __a1 -> r R", (("R", "r", "_", "__a1"),), (("r", "R"),)),
    ],
)
def test_text_is_parsed(text: str, operands: Any, outputs: Any) -> None:
    pattern = labels.parse(text)
    assert (pattern.operands, pattern.outputs) == (operands, outputs)
    assert labels.parse(str(pattern)) == pattern


def test_axes_are_the_outputs_first() -> None:
    pattern = labels.parse("a 1 b, k c -> c 1 b, a")
    assert pattern.axes == ("c", "b", "a", "k")
    assert pattern.place(("a", "1", "b")) == (2, None, 1)
    assert pattern.source("c") == (1, 1)


SEPARATED = "operands and outputs are separated by one '->'"
COMPOSED = "composed axes: a label is one dimension, reshape the operand first"
BRACKETS = "brackets: gb.reduce_sum(x, 'label') and the like say what is reduced"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"axis labels '': {SEPARATED}"),
        ("r -> c -> r", f"axis labels 'r -> c -> r': {SEPARATED}"),
        ("r - > r", f"axis labels 'r - > r': {SEPARATED}"),
        ("[r] -> r", f"axis labels '[r] -> r' have {BRACKETS}"),
        ("01 -> r", "axis labels '01 -> r': '01' is neither a label, the literal 1 nor '...'"),
        ("1r -> 1r", "axis labels '1r -> 1r': '1r' is neither a label, the literal 1 nor '...'"),
        ("r-c -> r", "axis labels 'r-c -> r': 'r-c' is neither a label, the literal 1 nor '...'"),
        ("a -->a", "axis labels 'a -->a': '-' is neither a label, the literal 1 nor '...'"),
        ("é -> é", "axis labels 'é -> é': 'é' is neither a label, the literal 1 nor '...'"),
        ("² -> ²", "axis labels '² -> ²': '²' is neither a label, the literal 1 nor '...'"),
        ("a;b -> a", "axis labels 'a;b -> a': 'a;b' is neither a label, the literal 1 nor '...'"),
        ("* -> *", "axis labels '* -> *': '*' is neither a label, the literal 1 nor '...'"),
        (5, "axis labels are text, not 5"),
        (["r -> r"], "axis labels are text, not ['r -> r']"),
        (b"r -> r", "axis labels are text, not b'r -> r'"),
    ],
)
def test_malformed_text_is_refused(text: Any, message: str) -> None:
    for call in (lambda: labels.parse(text), lambda: gb.apply(text, gb.neg, X)):
        error = refusal(call)
        assert str(error) == f"{message} [X1]"
        assert (error.rule, error.kind) == ("X1", "gpubcast:label syntax")
    assert refusal(lambda: gb.fuse(text)).rule == "X1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r c", f"axis labels 'r c': {SEPARATED}"),
        ("r -> (r 1)", f"axis labels 'r -> (r 1)' have {COMPOSED}"),
        ("r) -> r", f"axis labels 'r) -> r' have {COMPOSED}"),
        ("r -> r 2", "axis labels 'r -> r 2': '2' is neither a label, the literal 1 nor '...'"),
        (
            "r... -> r",
            "axis labels 'r... -> r': 'r...' is neither a label, the literal 1 nor '...'",
        ),
    ],
)
def test_what_composed_axes_and_einx_spell_is_no_label(text: str, message: str) -> None:
    assert str(refusal(lambda: labels.parse(text))) == f"{message} [X1]"


def test_X2_a_label_twice_in_one_group() -> None:
    error = refusal(lambda: gb.fuse("r c, c c -> r c"))
    assert (error.rule, error.kind) == ("X2", "gpubcast:repeated label")
    assert str(error) == (
        "axis labels 'r c, c c -> r c': operand 1 has the label 'c' twice; a diagonal is not "
        "taken [X2]\n"
        "  axis        r        c\n"
        "  operand 0   r        c\n"
        "  operand 1   ·  2 times\n"
        "                 ^^^^^^^\n"
        "  the output  r        c"
    )
    assert "output 1 has the label 'r' twice" in str(refusal(lambda: gb.fuse("r -> r, r r")))


def test_X3_an_output_label_that_no_operand_has() -> None:
    error = refusal(lambda: gb.fuse("r -> r, q r"))
    assert (error.rule, error.kind) == ("X3", "gpubcast:unknown label")
    assert str(error) == (
        "axis labels 'r -> r, q r': no operand has the label 'q' of output 1, so its size is "
        "unknown [X3]\n"
        "  axis       r  q\n"
        "  operand 0  r  ·\n"
        "  output 0   r  ·\n"
        "  output 1   r  q\n"
        "                ^"
    )


# --- outputs -----------------------------------------------------------------------------------


def test_X7_an_output_that_lacks_an_axis() -> None:
    def total(x: Any, gain: Any) -> Any:
        return x * gain

    line = total.__code__.co_firstlineno
    error = refusal(lambda: fused("r c, c -> c", total, X, COL))
    assert (error.rule, error.kind) == ("X7", "gpubcast:output lacks an axis")
    assert str(error) == (
        "'r c, c -> c': the output lacks the axis 'r', along which its value varies; a reduce_* "
        "over it takes it away [X7]\n"
        f"  in total (test_labels.py:{line})\n"
        "  axis                    c  r\n"
        "  its value varies along  c  r\n"
        "                             ^\n"
        "  the output              c  ·"
    )
    error = refusal(lambda: fused("r c, c -> r c, ", lambda x, y: (x, y), X, COL))
    assert "output 1 lacks the axis 'c'" in str(error)


# --- the number of groups ----------------------------------------------------------------------


def test_X4_one_group_per_array_parameter() -> None:
    error = refusal(lambda: gb.fuse("r c -> r c")(plus))
    assert (error.rule, error.kind) == ("X4", "gpubcast:number of labels")
    assert str(error) == (
        f"plus (test_labels.py:{plus.__code__.co_firstlineno}): 'r c -> r c' has 1 group of "
        "operands, one per array parameter, and the array parameters are x, y; a scalar has an "
        "empty group, and static= names what is no array [X4]"
    )
    assert refusal(lambda: gb.fuse("r, r, r -> r")(plus)).rule == "X4"
    assert refusal(lambda: gb.fuse("r -> r")(lambda: None)).rule == "X4"


@pytest.mark.parametrize(
    ("text", "function", "message"),
    [
        ("r c, c -> r c, c", plus, "has 2 outputs, and the function returns 1"),
        ("r c, c -> r c", lambda x, y: (x, y), "has 1 output, and the function returns 2"),
    ],
)
def test_X4_one_group_per_result(text: str, function: Any, message: str) -> None:
    error = refusal(lambda: fused(text, function, X, COL))
    assert error.rule == "X4"
    assert message in str(error)
    assert f"  in {function.__name__} (test_labels.py:" in str(error)


# --- ranks and sizes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ((X, X), "y has 2 dimensions, and its group 'c' has 1 label"),
        ((COL, COL), "x has 1 dimension, and its group 'r c' has 2 labels"),
        ((X, np.float32(2)), "y has 0 dimensions, and its group 'c' has 1 label"),
        ((X, 2.0), "operand 1 has 0 dimensions, and its group 'c' has 1 label"),
    ],
)
def test_X5_labels_and_rank(operands: Any, message: str) -> None:
    error = refusal(lambda: fused("r c, c -> r c", plus, *operands))
    assert (error.rule, error.kind) == ("X5", "gpubcast:labels and rank")
    line = plus.__code__.co_firstlineno
    assert str(error) == f"'r c, c -> r c': {message} [X5]\n  in plus (test_labels.py:{line})"


def test_X5_of_shapes() -> None:
    pattern = labels.parse("r c, c -> r c")
    shapes = [gb.Shape("f32", (2, 3)), gb.Shape("f32", (2, 3))]
    error = refusal(lambda: labels.sizes(pattern, shapes, ("a", "b")))
    assert str(error) == ("'r c, c -> r c': b has 2 dimensions, and its group 'c' has 1 label [X5]")
    assert labels.sizes(pattern, [shapes[0], gb.Shape("f32", (3,))], ("a", "b")) == {"r": 2, "c": 3}


def test_X6_two_sizes_of_one_label() -> None:
    @gb.fuse("batch row, row, batch -> batch row")
    def scaled(scores: Any, gain: Any, shift: Any) -> Any:
        return scores * gain + shift

    line = scaled.__wrapped__.__code__.co_firstlineno
    error = refusal(lambda: scaled(np.ones((4, 5), "f4"), np.ones(6, "f4"), np.ones(5, "f4")))
    assert (error.rule, error.kind) == ("X6", "gpubcast:label size")
    assert [str(shape) for shape in error.operands] == ["f32[4,5]{1,0}", "f32[6]{0}", "f32[5]{0}"]
    assert str(error) == (
        "the label 'row' has size 5 in scores and size 6 in gain [X6]\n"
        f"  in scaled (test_labels.py:{line})\n"
        "  axis              batch  row\n"
        "  scores: f32[4,5]      4    5\n"
        "  gain: f32[6]          ·    6\n"
        "                             ^\n"
        "  shift: f32[5]         5    ·\n"
        "                        ^"
    )


def test_X6_one_against_n_is_an_error_that_names_the_literal() -> None:
    for call in (
        lambda: fused("r c, r c -> r c", plus, X[:, :1], X),
        lambda: fused("r c, c -> r c", plus, X, COL[:1]),
        lambda: fused("r c, r c -> r c", plus, X[:0], X[:1]),
    ):
        assert "; a size of 1 that is to be expanded is spelled 1 [X6]" in str(refusal(call))
    error = refusal(lambda: fused("r c, r -> r c", plus, X, COL))
    assert "expanded" not in str(error)


@pytest.mark.parametrize("size", [0, 3])
def test_X6_a_literal_one_of_another_size(size: int) -> None:
    error = refusal(lambda: fused("r 1, r c -> r c", plus, X[:, :size], X))
    assert error.rule == "X6"
    lines = str(error).splitlines()
    assert lines[0] == f"x has size {size} where its labels say 1 [X6]"
    assert lines[2:] == [
        "  axis         r  c  1",
        f"  x: f32[2,{size}]  2  ·  {size}",
        "                     ^",
        "  y: f32[2,3]  2  3  ·",
    ]


# --- inside ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: gb.add(x, y, broadcast_dimensions=(1,)),
        lambda x, y: gb.add(x, y, broadcast_dimensions=()),
        lambda x, y: gb.broadcast_in_dim(y, (2, 3), (1,)),
        lambda x, y: gb.broadcast(y, (2,)),
    ],
)
def test_X8_nothing_is_broadcast_inside(function: Any) -> None:
    error = refusal(lambda: fused("r c, c -> r c", function, X, COL))
    assert (error.rule, error.kind) == ("X8", "gpubcast:broadcast inside labels")
    assert f"  in <lambda> (test_labels.py:{function.__code__.co_firstlineno}): " in str(error)


# --- apply -------------------------------------------------------------------------------------


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gb.apply("r -> r", "neg", COL), "apply takes an operation such as gb.mul, not "),
        (
            lambda: gb.apply("r c, c -> r c", gb.add, X, COL, broadcast_dimensions=[1]),
            "apply: one of ('add', [1]) cannot be hashed",
        ),
        (lambda: gb.apply("r -> r", Unhashable(), COL), "apply: one of (<"),
        (lambda: gb.apply("r -> r", gb.neg, "text"), "apply: the text 'text' is no operand; "),
    ],
)
def test_apply_refuses_its_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(gb.ElementTypeError) as caught:
        call()
    assert (caught.value.rule, caught.value.kind) == ("F5", "gpubcast:arguments")
    assert str(caught.value).startswith(message)
