"""Results of a row that are stored while the next row is computed with: the bits of those that are
not, in the right places, and nothing beside them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.runtime import state
from tests.support.guarded import Guarded
from tests.support.pipelined_rows import centred, shares, thrice, twice_shared, waits

# Lengths that are whole chunks, or whole lines, or none, or one more or less; those of a stretch of
# stored values, and of more.
LENGTHS = (*(511, 512, 513, 1000, 1024, 1039, 1040), *(1100, 1536, 2055, 4096, 4097, 9001))


@gb.fuse("outer row col, outer, row, col -> outer row col")
def weighted(x: Any, far: Any, by: Any, of: Any) -> Any:
    """Reads what differs from row to row, what does not, and what is reduced."""
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col") * by + of - far


@gb.fuse("row col -> row col")
def squared_shares(x: Any) -> Any:
    """Two reductions in one pass, and one of them in the results."""
    e = gb.exp(x)
    return e * e / (gb.reduce_sum(e, "col") + gb.reduce_max(e, "col"))


@gb.fuse("outer row col, outer, row, col -> outer row col")
def scaled(x: Any, far: Any, by: Any, of: Any) -> Any:
    """The same of each kind, in one pass that computes little."""
    return (x - gb.reduce_sum(x, "col")) * by + of - far


def random(dtype: Any, dimensions: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(list(dimensions))
    found = rng.standard_normal(dimensions)
    if np.issubdtype(dtype, np.complexfloating):
        found = found + 1j * rng.standard_normal(dimensions)
    return found.astype(dtype)


def in_caches(function: Any, *operands: Any) -> Any:
    """What a call gives whose results are written through the caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPUBCAST_STREAMING", "off")
        return np.asarray(function(*operands))


@pytest.fixture(autouse=True)
def past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_every_length(dtype: Any, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    assert waits(gb.nn.softmax, random(dtype, (4, 1024)))
    for rows, length in itertools.product((1, 2, 3, 65), LENGTHS):
        x = random(dtype, (rows, length))
        wanted = in_caches(gb.nn.softmax, x)
        for skew in (0, 3):
            box = Guarded(dtype, x.shape, skew)
            assert gb.nn.softmax(x, out=box.out) is box.out
            box.check(wanted)


@pytest.mark.parametrize(
    "function, dtype",
    [
        (shares, np.float32),
        (twice_shared, np.float64),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                *((shares, np.float64), (shares, np.complex64), (twice_shared, np.float32)),
                *((squared_shares, np.float32), (squared_shares, np.float64)),
            )
        ),
    ],
)
def test_one_pass(function: Any, dtype: Any) -> None:
    assert waits(function, random(dtype, (4, 1024)))
    for rows, length in itertools.product((1, 2, 5), LENGTHS):
        x = random(dtype, (rows, length))
        box = Guarded(dtype, x.shape, 1)
        function(x, out=box.out)
        box.check(in_caches(function, x))


@pytest.mark.parametrize(
    "function, dtype",
    [
        (gb.nn.standardize, np.float32),
        (gb.nn.log_softmax, np.float64),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                *((gb.nn.standardize, np.float64), (centred, np.complex64)),
                *((gb.nn.log_softmax, np.float32), (thrice, np.float32), (thrice, np.float64)),
            )
        ),
    ],
)
@pytest.mark.parametrize("gains", [False, True])
def test_rows_of_operands_that_are_read_once_more(
    function: Any, dtype: Any, gains: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On processors that gain by it, and on others; of three rows there is one before and one
    behind."""
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(backend._namespace(), "RESULTS_WAIT", gains)
    state.clear()
    try:
        _check_rows(function, dtype)
    finally:
        state.clear()


def _check_rows(function: Any, dtype: Any) -> None:
    assert waits(function, random(dtype, (4, 1024))).endswith(", on some")
    for rows, length in itertools.product((1, 2, 3, 65), LENGTHS):
        x = random(dtype, (rows, length + 3))[:, :length]
        wanted = in_caches(function, x)
        for skew, apart in ((0, 0), (1, 0), (3, 5)):
            box = Guarded(dtype, x.shape, skew, apart=apart)
            function(x, out=box.out)
            box.check(wanted)


@pytest.mark.parametrize("weighted", [weighted, scaled])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_several_axes_of_rows(threads: str, weighted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    for outer, rows, length in itertools.product((1, 3), (1, 2, 7), (512, 1000, 1536)):
        x = random(np.float32, (outer, rows + 2, length + 8))[:, 1:-1, 3:-5]
        others = [random(np.float32, (size,)) for size in (outer, rows, length)]
        assert bool(waits(weighted, x, *others)) == (outer * rows > 1)
        box = Guarded(np.float32, x.shape, 5, apart=19)
        weighted(x, *others, out=box.out)
        box.check(in_caches(weighted, x, *others))


EACH = pytest.mark.parametrize(
    "function", [gb.nn.softmax, gb.nn.standardize, gb.nn.log_softmax], ids=lambda one: one.__name__
)


@EACH
def test_into_the_memory_of_the_operand(function: Any) -> None:
    for rows, length in itertools.product((1, 2, 9), (512, 1000, 2048)):
        x = random(np.float32, (rows, length))
        wanted = in_caches(function, x)
        assert function(x, out=x) is x
        np.testing.assert_array_equal(x, wanted)


@EACH
def test_into_another_row_of_the_operand(function: Any) -> None:
    for shift in (1, 3):
        memory = random(np.float32, (12, 1024))
        before, after = memory[:-shift], memory[shift:]
        wanted = in_caches(function, before)
        function(before, out=after)
        np.testing.assert_array_equal(after, wanted)
        wanted = in_caches(function, after)
        function(after, out=before)
        np.testing.assert_array_equal(before, wanted)


def test_rows_with_nan_infinities_and_nothing() -> None:
    x = random(np.float32, (6, 1024))
    x[1, 700], x[2, 3], x[3] = np.nan, np.inf, -np.inf
    x[4, ::2] = -np.inf
    np.testing.assert_array_equal(gb.nn.softmax(x), in_caches(gb.nn.softmax, x))
    for empty in ((0, 1024), (3, 0)):
        assert gb.nn.softmax(np.empty(empty, np.float32)).shape == empty
