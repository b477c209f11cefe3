"""Reductions of axes that are cut into blocks have the bits that they have in memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.support import doors

da = doors.library("dask.array")

import dask  # noqa: E402

import gpubcast as gb  # noqa: E402
import gpubcast.dask  # noqa: E402
from gpubcast.dask.partial_reductions import on_multiples, run_length  # noqa: E402

RANDOM = np.random.default_rng(11)
TALL = RANDOM.standard_normal((3000, 6)).astype("f4") * np.float32(1e3)


def _computed(lazy):
    return lazy.compute(scheduler="synchronous")


@gb.fuse("row col -> col")
def summed(x):
    return gb.reduce_sum(x * x, "row")


@gb.fuse("row col, col -> col, col")
def moments(x, shift):
    size = gb.convert_element_type(gb.get_dimension_size(x, "row"), "f32")
    mean = gb.reduce_sum(x + shift, "row") / size
    centred = x + shift - mean
    return mean, gb.sqrt(gb.reduce_sum(centred * centred, "row") / size)


@gb.fuse("row col -> row col")
def softmax(x):
    shifted = gb.exp(x - gb.reduce_max(x, "row"))
    return shifted / gb.reduce_sum(shifted, "row")


CUTS = [(700, 6), (512, 4), (1, 6), (100, 2), ((1000, 24, 1976), 6), ((2999, 1), 3), (2048, 6)]


@pytest.mark.parametrize("chunks", CUTS, ids=str)
def test_a_sum_has_its_order_however_it_is_cut(chunks):
    x = da.from_array(TALL, chunks=chunks)
    assert _computed(summed(x)).tobytes() == summed(TALL).tobytes()
    shift = RANDOM.standard_normal(6).astype("f4")
    for lazy, expected in zip(moments(x, shift), moments(TALL, shift), strict=True):
        assert _computed(lazy).tobytes() == expected.tobytes()


def test_a_sum_of_blocks_as_numpy_would_add_them_differs():
    """So the test before this one can fail."""
    parts = [summed(TALL[k : k + 700]) for k in range(0, 3000, 700)]
    assert sum(parts[1:], parts[0]).tobytes() != summed(TALL).tobytes()


def test_blocks_are_reduced_apart():
    """No task sees more than a few blocks of the operand."""
    seen = []

    def block(x):
        seen.append(x.shape)
        return x

    x = da.from_array(TALL, chunks=(512, 6)).map_blocks(block, meta=np.empty((0, 0), "f4"))
    lazy = summed(x)
    assert seen == []
    joined = [layer for layer in lazy.__dask_graph__().layers if layer.startswith("rechunk")]
    assert len(joined) == 1  # that of the partial results
    assert _computed(lazy).tobytes() == summed(TALL).tobytes()
    assert len(seen) == 6


@pytest.mark.parametrize("limit", ["1B", "1GiB"])
def test_what_is_needed_afterwards_is_read_again_or_joined(limit):
    x = da.from_array(TALL, chunks=(600, 6))
    with dask.config.set({"array.chunk-size": limit}):
        lazy = softmax(x)
    assert (len(lazy.chunks[0]) > 1) == (limit == "1B")
    assert _computed(lazy).tobytes() == softmax(TALL).tobytes()


SHOWN = ("sum", "f4"), ("sum", "bfloat16"), ("max", "f4")
# Each operation on every other type, and each type by every other operation.
OTHERS = [
    (name, dtype)
    for i, name in enumerate(("sum", "prod", "max", "min", "and", "or", "xor"))
    for k, dtype in enumerate(("f4", "f2", "bfloat16", "c8", "i4", "u1", "?"))
    if (i + k) % 2 and (name, dtype) not in SHOWN
]
CASES = [*SHOWN, *(pytest.param(*one, marks=pytest.mark.long) for one in OTHERS)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_every_reduction_of_every_type(name, dtype):
    operation = getattr(gb, f"reduce_{name}")
    x = RANDOM.standard_normal((1100, 5, 700)) * 1.5
    x = x.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    for axes in ((0,), (2,), (0, 2), (0, 1, 2), (1,)):
        try:
            expected = operation(x, axes=axes)
        except gb.ElementTypeError as error:
            with pytest.raises(gb.ElementTypeError) as told:
                operation(da.from_array(x, chunks=(300, 2, 300)), axes=axes)
            assert told.value.rule == error.rule
            continue
        lazy = operation(da.from_array(x, chunks=(300, 2, 300)), axes=axes)
        assert lazy.shape == expected.shape and lazy.dtype == expected.dtype
        found = _computed(lazy)
        assert found.tobytes() == np.asarray(expected).tobytes(), (dtype, axes)


@pytest.mark.parametrize("size", [1, 511, 512, 513, 262_144, 262_145, 600_000])
def test_a_vector_is_cut_at_runs(size):
    x = RANDOM.standard_normal(size).astype("f4")
    for chunks in (size, -(-size // 2), 1000 if size < 5000 else 100_000):
        lazy = gb.reduce_sum(da.from_array(x, chunks=chunks), axes=(0,))
        assert _computed(lazy).tobytes() == gb.reduce_sum(x, axes=(0,)).tobytes()


def test_where_blocks_are_cut():
    assert on_multiples((700, 700, 100), 512) == (512, 988)
    assert on_multiples((100,) * 15, 512) == (512, 512, 476)
    assert on_multiples((30, 70), 512) == (100,)
    # A longer run where blocks allow it, or where a run is short work.
    assert run_length(512, (1 << 20, 1 << 20, 5), 1) == 1 << 18
    assert run_length(512, (1000, 1000), 1) == 512
    assert run_length(512, (300_000, 300_000), 1024) == 512
    assert run_length(128, (300_000, 300_000), 4) == 128 * 512


@gb.fuse("row col, row -> row", valid={"col": "lengths"})
def valid_sums(x, lengths):
    return gb.reduce_sum(x, "col")


@gb.fuse("row col, -> col", valid={"row": "length"})
def valid_rows(x, length):
    return gb.reduce_sum(x, "row")


def test_valid_elements_are_counted_in_one_block():
    lengths = RANDOM.integers(0, 7, 3000).astype("i4")
    for chunks in ((700, 2), (3000, 6)):
        x = da.from_array(TALL, chunks=chunks)
        lazy = valid_sums(x, da.from_array(lengths, chunks=1000))
        assert _computed(lazy).tobytes() == valid_sums(TALL, lengths).tobytes()
        lazy = valid_rows(x, np.int32(2000))
        assert _computed(lazy).tobytes() == valid_rows(TALL, np.int32(2000)).tobytes()
    # A length is a value: it is looked at when there is one.
    with pytest.raises(gb.ShapeError) as told:
        _computed(valid_sums(x, lengths + 7))
    assert told.value.rule == "X9"


def test_a_distance_reduces_what_two_operands_share():
    @gb.fuse("n d, m d -> n m")
    def squared(x, y):
        return gb.reduce_sum((x - y) * (x - y), "d")

    x, y = (RANDOM.standard_normal((n, 1500)).astype("f4") for n in (40, 30))
    lazy = squared(da.from_array(x, chunks=(11, 600)), da.from_array(y, chunks=(7, 100)))
    assert _computed(lazy).tobytes() == squared(x, y).tobytes()
