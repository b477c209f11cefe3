"""``gb.fuse(..., valid={"col": "lengths"})``: what is computed, what results hold, what is refused.

Random calls by plain loops are in ``tests/support/valid_elements.py``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.planning.plan import Operand
from gpubcast.planning.planner import plan_for
from gpubcast.planning.valid_elements import apart
from tests.support.law_of_sums import reduction
from tests.support.valid_elements import check, make

RNG = np.random.default_rng(27)
X = RNG.standard_normal((4, 600)).astype(np.float32)
LENGTHS = np.array([600, 0, 1, 513], np.int32)
BEHIND = np.arange(600) >= LENGTHS[:, None]
RAGGED = np.where(BEHIND, np.float32("nan"), X)


@gb.fuse("row col, row -> row col", valid={"col": "lengths"})
def softmax(x: Any, lengths: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


def total(x: Any, lengths: Any) -> Any:
    return gb.reduce_sum(x, "col")


def refusal(call: Callable[[], Any]) -> gb.Error:
    with pytest.raises(gb.Error) as caught:
        call()
    assert caught.value.rule == "X9"
    return caught.value


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(i, marks=pytest.mark.long) for i in range(1, 16))]
)
def test_random_calls_by_plain_loops(part: int) -> None:
    for seed in range(1000 + 10 * part, 1010 + 10 * part):
        check(make(seed, checked=True), "cpu")


def test_sums_keep_the_law_with_zero_behind_the_length() -> None:
    found = gb.fuse("row col, row -> row", valid={"col": "lengths"})(total)(RAGGED, LENGTHS)
    kept = np.where(BEHIND, np.float32(0), X)
    wanted = reduction(kept, [1], np.add, np.float32(0), begins=True)
    assert found.tobytes() == wanted.tobytes()
    assert found[1].tobytes() == np.float32(0).tobytes()


def test_softmax_is_one_kernel_and_sees_no_nan() -> None:
    found = softmax(RAGGED, LENGTHS)
    for row, length in enumerate(LENGTHS):
        e = np.exp((X[row, :length] - X[row, :length].max(initial=-np.inf)).astype(np.float64))
        np.testing.assert_allclose(found[row, :length], e / e.sum(), rtol=1e-6)
    assert not found[BEHIND].any()
    assert len(softmax.plan(X, LENGTHS).broadcast_plans) == 1


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_out_keeps_its_bytes(order: tuple[int, int]) -> None:
    held = np.full((4, 600), 0x7FC0BEEF, np.uint32).view(np.float32)
    out = np.empty((4, 600) if order[0] == 1 else (600, 4), np.float32).transpose(
        (1, 0) if order[0] == 0 else (0, 1)
    )
    out[...] = held
    assert softmax(RAGGED, LENGTHS, out=out) is out
    np.testing.assert_array_equal(out[BEHIND].view(np.uint32), held[BEHIND].view(np.uint32))
    np.testing.assert_array_equal(out[~BEHIND], softmax(RAGGED, LENGTHS)[~BEHIND])


def test_in_place_and_in_memory_that_overlaps() -> None:
    wanted = softmax(RAGGED, LENGTHS)
    x = RAGGED.copy()
    softmax(x, LENGTHS, out=x)
    np.testing.assert_array_equal(x[~BEHIND], wanted[~BEHIND])
    assert np.isnan(x[BEHIND]).all()
    memory = np.zeros((5, 600), np.float32)
    memory[:4] = RAGGED
    memory[4] = 9
    below = memory[1:].copy()
    softmax(memory[:4], LENGTHS, out=memory[1:])
    np.testing.assert_array_equal(memory[1:][~BEHIND], wanted[~BEHIND])
    np.testing.assert_array_equal(memory[1:][BEHIND], below[BEHIND])
    unaligned = np.zeros(4 * 600 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 600)
    unaligned[...] = 5
    softmax(RAGGED, LENGTHS, out=unaligned)
    np.testing.assert_array_equal(unaligned[~BEHIND], wanted[~BEHIND])
    assert (unaligned[BEHIND] == 5).all()


def test_a_new_result_has_its_padding_value() -> None:
    layout = gb.Layout((1, 0), (5, 640), gb.PaddingValue.LOWEST)
    found = softmax(gb.array(RAGGED), LENGTHS, out_layout=layout)
    held = found.buffer.reshape(5, 640)
    assert (held[:4, :600][BEHIND] == -np.inf).all() and (held[4] == -np.inf).all()
    np.testing.assert_array_equal(found.numpy()[~BEHIND], softmax(RAGGED, LENGTHS)[~BEHIND])
    # A padded operand's layout is that of the result, and so is its padding value.
    padded = gb.array(RAGGED, layout=gb.Layout((1, 0), (4, 608), gb.PaddingValue.ONE))
    assert (softmax(padded, LENGTHS).numpy()[BEHIND] == 1).all()


def test_the_size_of_the_label_is_the_number_of_valid_elements() -> None:
    @gb.fuse("row col, row -> row, row, row", valid={"col": "lengths"})
    def sizes(x: Any, lengths: Any) -> Any:
        return gb.get_dimension_size(x, "col"), gb.nn.mean(x, "col"), gb.argmax(x, "col")

    size, mean, where = sizes(RAGGED, LENGTHS)
    np.testing.assert_array_equal(size, LENGTHS)
    assert size.dtype == np.int32
    for row, length in enumerate(LENGTHS):
        if length:
            np.testing.assert_allclose(mean[row], X[row, :length].mean(), atol=1e-6)
            assert where[row] == X[row, :length].argmax()
    assert np.isnan(mean[1]) and where[1] == 0


def test_a_reduction_of_the_rows_sees_valid_elements_too() -> None:
    @gb.fuse("row col, row -> col, ", valid={"col": "lengths"})
    def sums(x: Any, lengths: Any) -> Any:
        return gb.reduce_sum(x, "row"), gb.reduce_sum(x, ("row", "col"))

    x = np.where(BEHIND, np.float32("nan"), np.float32(1))
    columns, whole = sums(x, LENGTHS)
    np.testing.assert_array_equal(columns, (~BEHIND).sum(0))
    assert whole == LENGTHS.sum()


def test_queries_and_keys_have_lengths_of_their_own() -> None:
    @gb.fuse("b q k, b, b -> b q k", valid={"q": "queries", "k": "keys"})
    def attention(scores: Any, queries: Any, keys: Any) -> Any:
        return gb.nn.softmax(scores, axis="k")

    scores = RNG.standard_normal((2, 3, 4)).astype(np.float32)
    found = attention(scores, np.int32([3, 1]), np.int32([2, 4]))
    np.testing.assert_allclose(found.sum(2), [[1, 1, 1], [1, 0, 0]], rtol=1e-6)
    assert not found[0, :, 2:].any()


def test_lengths_may_be_one_number_or_missing() -> None:
    @gb.fuse("row col, -> row", valid={"col": "length"})
    def sums(x: Any, length: Any = None) -> Any:
        return gb.reduce_sum(x, "col")

    ones = np.ones((2, 5), np.float32)
    assert sums(ones, 3).tolist() == [3, 3]
    assert sums(ones, np.int64(2)).tolist() == [2, 2]
    assert sums(ones).tolist() == [5, 5]
    assert "length is 6, and a number of valid elements is from 0 to 5" in str(
        refusal(lambda: sums(ones, 6))
    )
    refusal(lambda: sums(ones, -1))


def test_wrong_lengths_are_refused_however_often_a_call_is_repeated() -> None:
    x, lengths = np.ones((2, 4), np.float32), np.array([1, 4], np.int64)
    for _ in range(50):
        softmax(x, lengths)
    lengths[1] = 5
    error = refusal(lambda: softmax(x, lengths))
    assert str(error).startswith("lengths[1] is 5, and a number of valid elements is from 0 to 4")
    assert isinstance(error, gb.ShapeError) and len(error.operands) == 2
    lengths[1] = -1
    refusal(lambda: softmax(x, lengths))
    p = softmax.plan(x, lengths)
    refusal(lambda: p(x, lengths))
    refusal(lambda: p.bind(x, lengths, out=np.empty_like(x)))
    small = np.array([2**63 + 1, 0], np.uint64)
    refusal(lambda: softmax(x, small))


def test_a_plan_and_a_bound_call_keep_what_out_holds() -> None:
    p = pickle.loads(pickle.dumps(softmax.plan(X, LENGTHS)))
    assert p.expression == softmax.plan(X, LENGTHS).expression
    out = np.full((4, 600), 5, np.float32)
    p(RAGGED, LENGTHS, out=out)
    assert (out[BEHIND] == 5).all() and not p(RAGGED, LENGTHS)[BEHIND].any()
    out[...] = 6
    bound = p.bind(RAGGED, LENGTHS, out=out)
    assert bound() is out and (out[BEHIND] == 6).all()
    text = str(bound.explain())
    assert "unwritten()" in str(p.explain()) and "output" in text
    assert "iota" in p.cuda_source() or "index" in p.cuda_source()


@pytest.mark.parametrize("kind", ["pred", "u4", "s4", "f8e4m3fn", "bf16", "c64", "c128", "f64"])
def test_every_type_is_moved(kind: str) -> None:
    """Elements keep their values; those of pred, s4 and u4 are written as every result is."""
    dtype = gb.element_type(kind).dtype
    x = np.array([[0, 1, 1, 0], [1, 1, 0, 1]]).astype(dtype)
    copy = gb.fuse("row col, row -> col row", valid={"col": "n"})(_first)
    n = np.array([1, 3], np.uint8)
    out = np.ones((4, 2), dtype)
    held = copy(x, n, out=out).astype(np.complex128)
    mask = np.arange(4)[:, None] < n
    np.testing.assert_array_equal(held, np.where(mask, x.T.astype(np.complex128), 1))
    np.testing.assert_array_equal(copy(x, n).astype(np.complex128), held * mask)


def _first(x: Any, n: Any) -> Any:
    return x


def test_what_out_holds_is_read_where_it_is_written() -> None:
    """So that no thread reads what another has written: the law that lets them share memory."""
    found = set()
    for seed in range(2000, 2200):
        case = make(seed, checked=True)
        if not case.into:
            continue
        graph = case.function().plan(*case.operands).expression
        operands = tuple(Operand.of(gb.Shape(x.dtype, x.shape)) for x in case.operands)
        out = Operand.of(gb.Shape(case.operands[0].dtype, case.shape, gb.Layout(case.order)))
        made = plan_for(graph, operands, (out,))
        readers = [
            (kernel, read)
            for kernel in made.kernels
            for read, number in zip(kernel.plan.reads, kernel.arguments, strict=False)
            if number == len(operands)
        ]
        for kernel, read in readers:
            assert len(operands) in kernel.arguments[len(kernel.plan.reads) :]
            assert kernel.plan.in_place(read.operand, kernel.plan.writes[0])
            several = bool(kernel.plan.lacks(kernel.plan.writes[0]))
            assert apart(kernel, len(operands), 1) is several
            found.add(several)
    assert found == {True, False}


def test_what_several_threads_read_is_copied_first() -> None:
    """Each thread of a row would read the element that one of them writes."""

    @gb.fuse("row col, -> row", valid={"row": "count"})
    def sums(x: Any, count: Any) -> Any:
        return gb.reduce_sum(x, "col")

    x, out = np.ones((4, 3), np.float32), np.full(4, 7, np.float32)
    for _ in range(20):
        out[...] = 7
        assert sums(x, 2, out=out) is out and out.tolist() == [3, 3, 7, 7]
    own = np.full((4, 4), 5, np.float32)
    sums(own[:, :3], 2, out=own[:, 3])
    assert own[:, 3].tolist() == [15, 15, 5, 5]
    p = sums.plan("f32[4,3]", 2)
    with pytest.raises(gb.LayoutError, match="bind: out keeps what it holds") as caught:
        p.bind(x, 2, out=out)
    assert caught.value.rule == "A2"
    p(x, 3, out=out)
    assert out.tolist() == [3, 3, 3, 7]


def test_a_function_inside_another() -> None:
    @gb.fuse
    def doubled(x: Any, lengths: Any) -> Any:
        return softmax(x, lengths) + softmax(x, 2)

    found = doubled(RAGGED[:, :8], np.minimum(LENGTHS, 8))
    wanted = softmax(RAGGED[:, :8], np.minimum(LENGTHS, 8))
    other = softmax(RAGGED[:, :8], np.full(4, 2))
    np.testing.assert_array_equal(found, wanted + other)
    refusal(lambda: doubled(X, LENGTHS + 1))

    @gb.fuse("row col, row -> row", valid={"col": "lengths"})
    def outer(x: Any, lengths: Any) -> Any:
        return plain(x)

    np.testing.assert_array_equal(outer(np.ones((2, 3), np.float32), np.int32([1, 2])), [1, 2])

    @gb.fuse("row col, row -> row col")
    def inside(x: Any, lengths: Any) -> Any:
        return softmax(x, lengths)

    error = refusal(lambda: inside(X, LENGTHS))
    assert "inside other labels it is the outermost function that says valid=" in str(error)


@gb.fuse("row col -> row")
def plain(x: Any) -> Any:
    return gb.reduce_sum(x, "col")


@pytest.mark.parametrize(
    ("labels", "valid", "text"),
    [
        (None, {"col": "lengths"}, "valid= names labels, and the function has none"),
        ("row col, row -> row", "lengths", "valid is a mapping from labels to parameters, not"),
        ("row col, row -> row", {"column": "lengths"}, "and the labels are row, col"),
        ("row col, row -> row", {"...": "lengths"}, "and the labels are row, col"),
        ("row col, row -> row", {1: "lengths"}, "names 1, and the labels are row, col"),
        ("row col, row -> row", {"col": "length"}, "is an array parameter of the function"),
        ("row col, row -> row", {"col": 1}, "is an array parameter of the function"),
        ("row col, row col -> row", {"col": "lengths"}, "has neither 'col' nor a literal 1"),
        ("row col, row 1 -> row", {"col": "lengths"}, "has neither 'col' nor a literal 1"),
    ],
)  # fmt: skip
def test_what_valid_does_not_take(labels: str | None, valid: Any, text: str) -> None:
    error = refusal(lambda: gb.fuse(labels, valid=valid)(total))
    assert text in str(error) and "total (test_valid_elements.py:" in str(error)


def test_what_cannot_be_said_of_valid_elements() -> None:
    over = gb.fuse("row col, row -> row", valid={"col": "lengths"})(total)
    error = refusal(lambda: over(X, LENGTHS.astype(np.float32)))
    assert isinstance(error, gb.ElementTypeError)
    assert "the lengths of 'col' are f32; a number of elements is an integer" in str(error)

    @gb.fuse("row col, row, col -> row", valid={"col": "lengths"})
    def of_columns(x: Any, lengths: Any, weights: Any) -> Any:
        return gb.reduce_sum(x, "col") + gb.reduce_sum(weights, "col")

    error = refusal(lambda: of_columns(X, LENGTHS, X[0]))
    assert "which elements along 'col' are valid depends on 'row', along which the value" in str(
        error
    )

    @gb.fuse("row col, row -> row", valid={"col": "lengths"})
    def product(x: Any, lengths: Any) -> Any:
        return gb.reduce_prod(x, "col")

    assert product(np.full((2, 2), 3.0), np.int8([1, 2])).tolist() == [3, 9]
    error = refusal(lambda: product(X.astype(np.complex64), LENGTHS))
    assert "reduce_prod of complex numbers has no identity" in str(error)
