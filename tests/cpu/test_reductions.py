"""Reductions on the CPU: the bits that the law of sums gives, whatever else a call is.

More random calls, for ten minutes from seed 1000 on, 250 of each function:
``python -m tests.support.reduction_calls 600 1000 250``.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from gpubcast.schedules.cpu import cost
from tests.support import law_of_sums, reduction_calls
from tests.support.reduced_values import reduced, same
from tests.support.reduction_cases import ARGS, dtype_of
from tests.support.reduction_programs import every_reduction

Array = np.ndarray[Any, Any]

# Where lanes, chunks, and the chunks of chunks begin and end.
LENGTHS = (0, 1, 2, 3, 64, 127, 128, 129, 257, 511, 512, 513, 1000, 1025, 32768, 32769)
SHORT = ("reduce_sum", "f32"), ("reduce_prod", "f64"), ("reduce_max", "f16"), ("argmin", "s32")


def numbers(kind: str, *shape: int, seed: int = 0) -> Array:
    """Numbers of which every other order has other sums."""
    rng = np.random.default_rng([*shape, seed])
    if kind in ("f32", "f64", "f16", "bf16"):
        return (rng.standard_normal(shape) * np.exp2(rng.integers(-9, 9, shape))).astype(
            dtype_of(kind)
        )
    return reduction_calls.values(rng, kind, shape)


def check_call(op: str, x: Array, axes: tuple[int, ...], **said: Any) -> None:
    found = getattr(gb, op)(x, axes=axes, **said)
    assert same(found, reduced(op, x, axes)), (op, x.dtype, x.shape, x.strides, axes)


# --- random calls --------------------------------------------------------------------------------


def check_seed(seed: int, calls: int) -> None:
    for made in itertools.islice(reduction_calls.seeded(seed), calls):
        reduction_calls.check(made)


@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@pytest.mark.parametrize("seed", range(4))
def test_random_calls(seed: int) -> None:
    check_seed(seed, 12)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@pytest.mark.parametrize("seed", range(4, 14))
def test_more_random_calls(seed: int) -> None:
    check_seed(seed, 50)


# Rows; columns, those of which follow each other in memory and others; all elements. And no axes,
# and operands without elements.
PLACES = (((3, 700), (1,)), ((700, 5), (0,)), ((130, 300), (0,)), ((3, 700), (0, 1)))
EMPTY = (((3, 700), ()), ((5, 0), (1,)), ((5, 0), (0,)))


def check_every(op: str, kind: str, empty: tuple[Any, ...] = EMPTY) -> None:
    """One reduction on one type."""
    for dims, axes in PLACES + empty:
        x = numbers(kind, *dims)
        if op not in ARGS:
            check_call(op, x, axes)
        elif len(axes) == 1 and 0 not in dims:
            (axis,) = axes
            made = getattr(gb, op)(x, axis=axis, index_dtype="s64")
            wide = x.astype(np.float64)
            wanted = wide.argmax(axis) if op == "argmax" else wide.argmin(axis)
            assert same(made, wanted), (op, kind, dims, axis)


@pytest.mark.parametrize(("op", "kind"), SHORT)
def test_operations_and_types(op: str, kind: str) -> None:
    check_every(op, kind)


@pytest.mark.long
@pytest.mark.parametrize(
    ("op", "kind", "turn"), [(*one, k % len(EMPTY)) for k, one in enumerate(every_reduction())]
)
def test_every_operation_and_type(op: str, kind: str, turn: int) -> None:
    check_every(op, kind, EMPTY[turn : turn + 1])


def test_every_type_has_reductions() -> None:
    assert len({kind for _, kind in every_reduction()}) == 22
    assert len(every_reduction()) > 140


# --- lengths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_of_a_row(length: int) -> None:
    check_call("reduce_sum", numbers("f32", length), (0,))
    check_call("reduce_sum", numbers("f32", 2, length), (1,))


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_of_a_column(length: int) -> None:
    wide = numbers("f32", length, 8)
    for x in (wide, wide[:, 1:]):
        check_call("reduce_sum", x, (0,))


@pytest.mark.parametrize("length", [65_537, 262_144, 262_145, 300_000])
def test_sums_of_many_chunks(length: int) -> None:
    check_call("reduce_sum", numbers("f32", length), (0,))


@pytest.mark.parametrize(
    ("dims", "axes"),
    [
        ((3, 5, 40), (1, 2)), ((2, 30, 40), (1, 2)), ((600, 2, 9), (0, 2)), ((9, 2, 600), (0, 2)),
        ((7, 600, 3), (0, 1)), ((4, 3, 5, 130), (0, 2)), ((4, 3, 5, 130), (3, 0, 1)),
        ((700, 3, 600), (0, 2)), ((1, 600, 1), (0, 1)), ((13, 1, 50, 3), (2, 0)),
    ],
)  # fmt: skip
def test_several_axes(dims: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Of one sequence and of several, in any order of their names."""
    x = numbers("f32", *dims)
    for order in itertools.permutations(axes):
        check_call("reduce_sum", x, order)


# --- what bits do not depend on ------------------------------------------------------------------


def placements(x: Array) -> list[Any]:
    """The same numbers in many layouts."""
    found: list[Any] = [x, np.asfortranarray(x), np.flip(np.flip(x).copy())]
    for begin, step in ((1, 2), (3, 1)):
        wide = np.zeros([2 * n + 3 for n in x.shape], x.dtype)
        window = wide[tuple(slice(begin, begin + step * n, step) for n in x.shape)]
        window[...] = x
        found.append(window)
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    found.append(raw)
    padded = tuple(n + 3 for n in x.shape)
    for value in gb.PaddingValue:
        for order in ((1, 0), (0, 1)):
            found.append(gb.array(x, layout=gb.Layout(order, padded, value)))
    return found


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_the_layout_of_an_operand(axes: tuple[int, ...]) -> None:
    """Padding among it, whatever its slots hold."""
    x = numbers("f32", 40, 600)
    wanted = reduced("reduce_sum", x, axes)
    for place, one in enumerate(placements(x)):
        found = gb.reduce_sum(one, axes)
        elements = found.numpy() if isinstance(found, gb.Array) else found
        assert same(elements, wanted), place


def test_slots_of_padding_are_no_elements() -> None:
    """Products with slots of ZERO would be 0, a largest element with those of HIGHEST inf."""
    x = numbers("f32", 6, 50)
    for value, op in itertools.product(
        gb.PaddingValue, ("reduce_prod", "reduce_max", "reduce_min")
    ):
        layout = gb.Layout((1, 0), (8, 64), value)
        found = getattr(gb, op)(gb.array(x, layout=layout), axes=(0, 1))
        assert same(found.numpy(), reduced(op, x, (0, 1))), (value, op)


def test_a_result_has_no_padding() -> None:
    x = gb.array(numbers("f32", 6, 7, 5), layout=gb.Layout((0, 2, 1), (8, 8, 8)))
    assert gb.reduce_sum(x, (1,)).layout == gb.Layout((0, 1))
    assert gb.reduce_sum(x, (0,)).layout == gb.Layout((1, 0))
    assert gb.argmax(x, 2, "s32").layout == gb.Layout((0, 1))


def test_the_batch() -> None:
    """A row's bits are the same alone and in any batch, at any place of it."""
    rows = numbers("f32", 300, 1_000)
    softmax = gb.fuse("r c -> r c")(_softmax)
    sums, rises = gb.reduce_sum(rows, (1,)), softmax(rows)
    columns = gb.reduce_sum(np.ascontiguousarray(rows.T), (0,))
    assert same(sums, columns)
    for first, count in ((0, 1), (7, 1), (299, 1), (3, 2), (10, 257), (100, 4)):
        part = rows[first : first + count]
        assert same(gb.reduce_sum(part, (1,)), sums[first : first + count])
        assert same(gb.reduce_sum(part.T.copy(), (0,)), sums[first : first + count])
        assert same(softmax(part), rises[first : first + count])


def _softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "c"))
    return e / gb.reduce_sum(e, "c")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("dims", "axes"),
    [((2_000, 300), (1,)), ((300, 2_000), (0,)), ((700_001,), (0,)), ((3, 70_000), (1,)),
     ((70_000, 3), (0,)), ((90, 80, 70), (1,))],
)  # fmt: skip
def test_threads(threads: int, dims: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = numbers("f32", *dims)
    with reduction_calls.using(threads=threads, far=False):
        check_call("reduce_sum", x, axes)


def test_parts_of_threads_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loop is cut, also where there is little work."""
    monkeypatch.setattr(cost, "PARALLEL_BYTES", 1)
    monkeypatch.setattr(cost, "PART_BYTES", 64)
    state.clear()
    with reduction_calls.using(threads=3, far=False):
        for dims, axes in (
            ((13, 130), (1,)),
            ((130, 13), (0,)),
            ((4_000,), (0,)),
            ((5, 3, 9), (1,)),
        ):
            check_call("reduce_sum", numbers("f32", *dims), axes)
    state.clear()


def test_what_is_fused_with_it() -> None:
    x = numbers("f32", 30, 1_111)
    alone = gb.reduce_sum(x, (1,))
    both = gb.fuse("r c -> r, r, r c")(
        lambda x: (gb.reduce_sum(x, "c"), gb.reduce_max(x, "c"), x - gb.reduce_sum(x, "c"))
    )
    sums, largest, rest = both(x)
    assert same(sums, alone) and same(largest, x.max(1)) and same(rest, x - alone[:, None])


def test_fast_math_keeps_the_order() -> None:
    for dims, axes in (((3, 1_111), (1,)), ((1_111, 9), (0,)), ((40_000,), (0,))):
        x = numbers("f32", *dims)
        fast = gb.fuse(fast_math=True)(_sum_along(axes))
        assert same(fast(x), reduced("reduce_sum", x, axes))


def _sum_along(axes: tuple[int, ...]) -> Any:
    return lambda x: gb.reduce_sum(x, axes)


# --- out -----------------------------------------------------------------------------------------


def test_out_with_strides() -> None:
    x = numbers("f32", 50, 129)
    for axes, count in (((1,), 50), ((0,), 129)):
        base = np.full(3 * count, 7, "f4")
        for window in (base[1::3], base[::-3], base[:count]):
            base[...] = 7
            assert gb.reduce_sum(x, axes, out=window) is window
            assert same(window, reduced("reduce_sum", x, axes))
            window[...] = 7
            assert (base == 7).all()


def test_out_that_overlaps_an_operand() -> None:
    """As if there were no overlap: through a temporary."""
    for axes in ((0,), (1,)):
        x = numbers("f32", 40, 40)
        wanted = reduced("reduce_sum", x, axes)
        for out in (x[3], x[:, 5], x.diagonal().copy()):
            again = numbers("f32", 40, 40)
            view = again[3] if out.base is x and out.strides[0] == 4 else again[:, 5]
            gb.reduce_sum(again, axes, out=view)
            assert same(view, wanted)


def _rms_norm(x: Any) -> Any:
    return x * gb.rsqrt(gb.reduce_sum(x * x, "c") / 8.0 + 1.0) * gb.exp(x)


@pytest.mark.parametrize("function", [_softmax, _rms_norm])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8, 15, 16, 17, 40, 63, 64, 65])
def test_short_rows(function: Any, columns: int) -> None:
    """Their vectors go across them; a row alone has vectors along itself."""
    whole = gb.fuse("r c -> r c")(function)
    x = numbers("f32", 1111, columns)
    alone = np.concatenate([np.asarray(whole(x[r : r + 1])) for r in range(len(x))])
    wider = np.zeros((1111, 2 * columns), np.float32)
    wider[:, ::2] = x
    for given in (x, np.asfortranarray(x), wider[:, ::2]):
        assert same(whole(given), alone)


@pytest.mark.parametrize("streaming", ["on", "off"])
@pytest.mark.parametrize("kind", ["f64", "f32", "bf16", "s8", "c64"])
@pytest.mark.parametrize("columns", [5, 13, 64, 700, 1100])
def test_results_that_go_past_the_caches(
    columns: int, kind: str, streaming: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As wide as their memory, or not; at the beginning of a line, or not; in parts. Long rows are
    stored and the next ones asked for by turns."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "off")
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    costly = _softmax if columns == 1100 and kind[0] in "fb" else None
    less = gb.fuse("r c -> r c")(costly or (lambda x: x - gb.reduce_sum(x, "c")))
    rows = 130 if columns > 64 else 1111
    x = numbers(kind, rows, columns)
    wanted = np.concatenate([np.asarray(less(x[r : r + 1])) for r in range(rows)])
    monkeypatch.setenv("GPUBCAST_STREAMING", streaming)
    memory = np.zeros((rows + 1) * (columns + 3), x.dtype)
    for begin, pitch in ((0, columns), (1, columns), (2, columns + 3)):
        step = x.itemsize
        out = np.lib.stride_tricks.as_strided(memory[begin:], (rows, columns), (pitch * step, step))
        memory[:] = 0
        assert less(x, out=out) is out and same(out, wanted)
        out[:] = 0
        assert not memory.tobytes().strip(b"\0")


def test_several_tiles_of_columns_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    x = numbers("f32", 700, 2100)
    assert " far" in str(gb.plan("reduce_sum", x, axes=(0,)).explain(source=True))
    both = gb.fuse("r c -> c, c")(lambda x: (gb.reduce_sum(x, "r"), gb.reduce_max(x, "r")))
    sums, largest = both(x)
    assert same(sums, reduced("reduce_sum", x, (0,)))
    assert same(largest, reduced("reduce_max", x, (0,)))


def test_softmax_in_place() -> None:
    softmax = gb.fuse("r c -> r c")(_softmax)
    x = numbers("f32", 20, 700)
    wanted = softmax(x)
    assert softmax(x, out=x) is x
    assert same(x, wanted)


@pytest.mark.parametrize("value", list(gb.PaddingValue))
def test_a_padded_out_layout(value: gb.PaddingValue) -> None:
    """Its slots hold what it promises."""
    from tests.support import cases

    x = numbers("f32", 6, 130, 9)
    for axes, order in (((1,), (0, 1)), ((2,), (1, 0)), ((0,), (0, 1))):
        wanted = reduced("reduce_sum", x, axes)
        layout = gb.Layout(order, tuple(n + 3 for n in wanted.shape), value)
        found = gb.reduce_sum(gb.array(x), axes, out_layout=layout)
        assert found.layout == layout and same(found.numpy(), wanted)
        if value.written:
            cases.assert_padding(found)


# --- several kernels -----------------------------------------------------------------------------


def test_an_operand_used_twice_in_two_directions() -> None:
    def turned(x: Any) -> Any:
        return gb.reduce_sum(x + gb.broadcast_in_dim(x, (600, 600), (1, 0)), (1,))

    x = numbers("f32", 600, 600)
    assert same(gb.fuse(turned)(x), reduced("reduce_sum", x + x.T, (1,)))


def test_bitcasts_to_another_width_beside_reductions() -> None:
    x = numbers("f32", 30, 5)

    def of_elements(x: Any) -> Any:
        return gb.reduce_sum(gb.bitcast_convert_type(x * 2, "u16"), (0, 2))

    def of_operands(x: Any) -> Any:
        return gb.reduce_sum(gb.bitcast_convert_type(x, "u16"), (0, 2))

    def of_sums(x: Any) -> Any:
        return gb.bitcast_convert_type(gb.reduce_sum(x, (0,)), "u16")

    sums = reduced("reduce_sum", x, (0,))
    for function, wanted in (
        (of_elements, (x * 2).view("u2").reshape(30, 5, 2).sum((0, 2), dtype="u2")),
        (of_operands, x.view("u2").reshape(30, 5, 2).sum((0, 2), dtype="u2")),
        (of_sums, sums.view("u2").reshape(5, 2)),
    ):
        assert same(gb.fuse(function)(x), wanted), function.__name__


def test_labels_without_an_index() -> None:
    def chain(x: Any) -> Any:
        inner = gb.reduce_max(gb.reduce_min(x, "b"), "c")
        return gb.reduce_sum(inner, "a"), gb.exp(x)

    for dims in itertools.product((0, 2, 5), repeat=3):
        x = numbers("f32", *dims)
        top, whole = gb.fuse("a c b -> , a c b")(chain)(x)
        assert whole.shape == dims
        wanted = reduced("reduce_max", reduced("reduce_min", x, (2,)), (1,))
        assert same(top, reduced("reduce_sum", wanted, (0,))), dims


# --- the comparison can fail ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.sum(dtype=np.float32),  # NumPy's order
        lambda x: np.float32(np.cumsum(x, dtype=np.float32)[-1]),  # one after another
        lambda x: _in_chunks(x, 512, 64),
        lambda x: _in_chunks(x, 256, 128),
        lambda x: _in_chunks(x[:-1], 512, 128),
    ],
)
def test_another_order_has_other_bits(other: Any) -> None:
    x = numbers("f32", 5_000)
    assert not same(np.float32(other(x)), reduced("reduce_sum", x, (0,)))


def _in_chunks(x: Array, chunk: int, lanes: int) -> Any:
    results = []
    for k in range(0, x.size, chunk):
        own = [x[k + lane : k + chunk : lanes] for lane in range(lanes)]
        sums = [law_of_sums.sequence_result(list(lane), np.add, np.float32(0)) for lane in own]
        results.append(law_of_sums.sequence_result(sums, np.add, np.float32(0)))
    return law_of_sums.sequence_result(results, np.add, np.float32(0))


def test_a_sum_begins_at_positive_zero() -> None:
    for dims in ((1,), (3,), (130,), (600,), (3, 1)):
        x = np.full(dims, -0.0, "f4")
        axes = tuple(range(len(dims)))
        assert not np.signbit(gb.reduce_sum(x, axes))
        assert not np.signbit(gb.reduce_sum(x, ())).any()
        assert np.signbit(gb.reduce_max(x, axes))


def test_seeds_repeat() -> None:
    """A seed that failed says the same again."""
    for seed in range(20):
        one, other = (next(reduction_calls.seeded(seed)) for _ in range(2))
        assert str(one).partition("operands")[0] == str(other).partition("operands")[0]
        assert random.Random(seed).random() == random.Random(seed).random()
