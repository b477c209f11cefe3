"""Random fused expressions on the CPU: the same bits as one eager operation after another.

More examples, for ten minutes from seed 1000 on: ``python -m tests.support.graph_calls 600 1000``.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpubcast as gb
from gpubcast.planning import partition
from gpubcast.runtime import state
from tests.support import graph_calls, graph_maker, graphs

CALLS = 4

random_graphs = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
randoms = st.randoms(use_true_random=False, note_method_calls=False)


def check(rng: random.Random, *, labelled: bool) -> None:
    """One graph, several sizes and layouts: its kernels are few, its calls many."""
    graph = graph_maker.make(rng, labelled=labelled)
    for _ in range(CALLS):
        made = graph_calls.call(graph, rng)
        wanted = graph_calls.unfused(made)
        graph_calls.check(made, made.fused(), wanted)


# --- fused is unfused ----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@random_graphs
@given(rng=randoms)
def test_dimensions_stated_on_each_operation(rng: random.Random) -> None:
    check(rng, labelled=False)


@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@settings(random_graphs, max_examples=4)
@given(rng=randoms)
def test_labels(rng: random.Random) -> None:
    check(rng, labelled=True)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@random_graphs
@given(rng=randoms)
def test_more_labels(rng: random.Random) -> None:
    check(rng, labelled=True)


@pytest.fixture
def small_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limits that random graphs pass, so that nearly all are cut."""
    state.clear()
    monkeypatch.setattr(partition, "MAX_READS", 4)
    monkeypatch.setattr(partition, "MAX_CODE", 4)
    monkeypatch.setattr(partition, "MAX_WRITES", 2)
    yield
    state.clear()


@pytest.mark.long
@pytest.mark.usefixtures("small_kernels")
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@pytest.mark.parametrize("labelled", [False, True], ids=["stated", "labels"])
@settings(random_graphs, max_examples=12)
@given(rng=randoms)
def test_cut_into_small_kernels(labelled: bool, rng: random.Random) -> None:
    check(rng, labelled=labelled)


def test_another_operation_is_caught() -> None:
    """The comparison can fail: with one addition made a subtraction, it does."""
    x = graphs.Value("f32", (0, 1))
    right = graphs.Graph((x, x), (graphs.Step("add", (0, 1), ("", "")),), (2,), (), (x, x, x))
    wrong = dataclasses.replace(right, steps=(graphs.Step("sub", (0, 1), ("", "")),))
    operands = np.ones((2, 3), "f4"), np.ones((2, 3), "f4")
    made = graph_calls.Call(right, (2, 3), "numpy", operands, {})
    wanted = graph_calls.unfused(made)
    graph_calls.check(made, made.fused(), wanted)
    with pytest.raises(AssertionError, match="output 0"):
        graph_calls.check(made, dataclasses.replace(made, graph=wrong).fused(), wanted)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (np.float32([0.0]), np.float32([-0.0]), False),
        (np.float32([1.0]), np.nextafter(np.float32([1.0]), np.float32(2)), False),
        (np.float32([np.nan]), -np.float32([np.nan]), True),
        (np.float32([np.nan]), np.float32([np.inf]), False),
        (np.int32([1]), np.int64([1]), False),
        (np.int32([1]), np.int32([[1]]), False),
        (np.array([True]), np.array([True]), True),
    ],
)  # fmt: skip
def test_what_the_same_bits_are(one: Any, other: Any, alike: bool) -> None:
    assert graph_calls.same(one, other) is alike


# --- what random graphs found once ---------------------------------------------------------------


def test_a_second_output_runs_backwards() -> None:
    """The axes follow the first output; another may have a negative stride along them."""
    x = np.arange(5, dtype="i4")
    base, first = np.zeros(12, "i4"), np.zeros(5, "i4")
    last = base[1:11:2][::-1]
    gb.fuse(lambda x: (x, x * 2))(x, out=(first, last))
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(last, 2 * x)
    assert not base[::2].any()


def test_an_output_without_axes_beside_rows() -> None:
    """Its operand is read before any loop begins."""
    both = gb.fuse(lambda x, y: (gb.neg(x), y))
    x, y = np.ones((6, 5), "f4")[::2], np.full((1,), 3, "f4")
    found = both(x, y)
    np.testing.assert_array_equal(found[0], -x)
    np.testing.assert_array_equal(found[1], y)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers_wrap_in_the_middle_of_an_expression(dtype: str) -> None:
    """No compiler may conclude that x * x is 0 only for 0, or that x + 1 is above x."""
    limits = np.iinfo(dtype)
    half = 2 ** (limits.bits // 2)
    x = np.array([limits.min, limits.max, 0, 1, 3, half], dtype)

    @gb.fuse
    def laws(x: Any) -> Any:
        there_and_back = gb.div(gb.mul(x, 2), 2)
        return (
            gb.ne(x * x, 0), gb.gt(x + 1, x), gb.lt(x - 1, x), gb.eq(there_and_back, x),
            gb.gt(-x, 0), gb.max(x + 1, x), gb.lt(-x, x),
        )  # fmt: skip

    wraps = [(2 * int(v) - limits.min) % 2**limits.bits + limits.min for v in x]
    quotients = [abs(w) // 2 * (1 if w >= 0 else -1) for w in wraps]
    one = x.dtype.type(1)
    wanted = (
        x * x != 0, x + one > x, x - one < x, quotients == x, -x > 0, np.maximum(x + one, x), -x < x
    )  # fmt: skip
    for found, expected in zip(laws(x), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


# --- a new size does not compile -----------------------------------------------------------------


@gb.fuse("r c, r, r, c, c -> r c")
def layernorm_apply(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
    return (x - mean) * rstd * gamma + beta


@gb.fuse("r c, c -> c r, c, r c")
def turned(x: Any, v: Any) -> Any:
    return x * v, v + 1, x > v


@gb.fuse
def outer(x: Any, y: Any) -> Any:
    z = gb.mul(x, y, broadcast_dimensions=(0,))
    return gb.exp(z), gb.neg(y)


@gb.fuse("b h q k, b k, -> b h q k")
def masked(scores: Any, mask: Any, scale: Any) -> Any:
    return gb.select(mask, scores * scale, -1.0)


def _random(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(math.prod(shape)).standard_normal(shape, "f4")


def _padded(*shape: int) -> gb.Array:
    # Rows so wide that no run over the padding is worth it, which would be one axis.
    return gb.array(_random(*shape), layout=gb.Layout((1, 0), (shape[0], 3 * shape[1])))


# A function, and its operands for some sizes.
Made = Callable[..., tuple[Any, ...]]
PATTERNS: dict[str, tuple[Any, int, Made]] = {
    "rows and columns": (
        layernorm_apply, 2,
        lambda r, c: (_random(r, c), _random(r), _random(r), _random(c), _random(c)),
    ),
    "transposed": (turned, 2, lambda r, c: (_random(c, r).T, _random(c))),
    "padded": (turned, 2, lambda r, c: (_padded(r, c), _random(c))),
    "two ranks": (outer, 2, lambda r, c: (_random(r, c), _random(r))),
    "four axes": (
        masked, 4, lambda b, h, q, k: (_random(b, h, q, k), _random(b, k) > 0, 0.5 * b)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_a_new_size_does_not_compile(name: str) -> None:
    function, rank, operands = PATTERNS[name]
    rng = np.random.default_rng(1)
    largest = 60 if rank == 2 else 9
    # Rows so short that they are walked as parts of longer runs are a class of sizes.
    for sizes in itertools.product((2, largest - 1), repeat=rank):
        function(*operands(*sizes))
    known = set(state.kernels())
    for _ in range(50):
        function(*operands(*(int(n) for n in rng.integers(2, largest, rank))))
    assert set(state.kernels()) == known


@pytest.mark.parametrize("name", ["rows and columns", "transposed", "two ranks"])
def test_sizes_of_1_and_0_add_a_pattern_each(name: str) -> None:
    """An axis of size 1 is no axis, and what then lies in one run is one axis. Where an axis has
    no index, an output without it has a kernel of its own. Other sizes make no difference."""
    function, rank, operands = PATTERNS[name]
    rng = np.random.default_rng(2)
    for sizes in itertools.product((0, 1, 5), repeat=rank):
        function(*operands(*sizes))
    known = set(state.kernels())
    for _ in range(50):
        function(*operands(*(int(n) for n in rng.choice((0, 1, 2, 3, 10, 40), rank))))
    assert set(state.kernels()) == known


def test_padding_that_is_worth_running_over_is_another_pattern() -> None:
    """Rows of up to twice their width are one run, wider ones are rows: two kernels, no more."""
    doubled = gb.fuse(lambda x: x * 2)
    before = set(state.kernels())
    for width in range(5, 40):
        layout = gb.Layout((1, 0), (3, 40))
        x = gb.array(_random(3, width), layout=layout)
        np.testing.assert_array_equal(doubled(x).numpy(), 2 * _random(3, width))
    new = {key for key in state.kernels() if key not in before and "mul" in key}
    assert len(new) <= 2


@pytest.mark.parametrize("scalar", [2, 2.5, -1, 1e-3])
def test_another_scalar_does_not_compile(scalar: float) -> None:
    scaled = PATTERNS["four axes"][0]
    scaled(_random(2, 3, 4, 5), _random(2, 5) > 0, 7.0)
    known = set(state.kernels())
    found = scaled(_random(2, 3, 4, 5), _random(2, 5) > 0, scalar)
    assert set(state.kernels()) == known
    mask = (_random(2, 5) > 0)[:, None, None, :]
    wanted = np.where(mask, _random(2, 3, 4, 5) * np.float32(scalar), np.float32(-1))
    np.testing.assert_array_equal(found, wanted)
