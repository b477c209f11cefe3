"""Dask arrays in, Dask arrays out: lazily, checked while the graph is built, NumPy's bits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.support import doors

da = doors.library("dask.array")

import dask  # noqa: E402

import gpubcast as gb  # noqa: E402
import gpubcast.dask  # noqa: E402

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((60, 70)).astype("f4")
ROW, COL = X.mean(1), RANDOM.standard_normal(70).astype("f4")


@gb.fuse("row col, row, col -> row col")
def scaled(x, mean, gain):
    return (x - mean) * gain


@gb.fuse("row col, row -> row col, row, col row")
def several(x, mean):
    shifted = gb.exp(x - gb.reduce_max(x, "col"))
    total = gb.reduce_sum(shifted, "col")
    return shifted / total, total + mean, x


def _same(lazy, expected, **how):
    """A lazy result has the bits of a call on NumPy arrays, whose type it knew."""
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == expected.dtype and lazy.shape == expected.shape
    assert type(lazy._meta) is np.ndarray and lazy._meta.dtype == expected.dtype
    found = lazy.compute(**{"scheduler": "synchronous", **how})
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


@gb.fuse("row col, row -> row, row col, row col", valid={"col": "lengths"})
def of_valid(x, lengths):
    return gb.reduce_sum(x, "col"), x * x, x + x


def _delayed(block, shape):
    """A Dask array of one block that says f32, whatever the block is."""
    return da.from_delayed(dask.delayed(block, pure=True), shape, dtype="f4")


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_a_fused_function_is_one_blockwise(scheduler):
    x, mean = da.from_array(X, chunks=(25, 30)), da.from_array(ROW, chunks=7)
    lazy = scaled(x, mean, COL)
    # Small operands are cut as the large one is.
    assert lazy.chunks == x.chunks
    assert sum(str(key[0]).startswith("scaled") for key in lazy.__dask_graph__()) == 9
    _same(lazy, scaled(X, ROW, COL), scheduler=scheduler)


def test_several_results_and_reductions():
    x, mean = da.from_array(X, chunks=(25, 30)), da.from_array(ROW, chunks=7)
    made = several(x, mean)
    assert type(made) is tuple
    for lazy, expected in zip(made, several(X, ROW), strict=True):
        _same(lazy, expected)
    assert made[0].chunks[1] == (70,)  # what is reduced, and needed again, is in one block
    assert made[2].chunks == x.T.chunks
    both = dask.compute(*made, scheduler="threads")
    assert all(a.tobytes() == b.tobytes() for a, b in zip(both, several(X, ROW), strict=True))


OPERATIONS = {
    "unary": lambda x: gb.exp(x),
    "stated dimensions": lambda x: gb.add(x, COL, broadcast_dimensions=(1,)),
    "scalar": lambda x: gb.mul(x, 2.5),
    "branch": lambda x: gb.select(gb.gt(x, 0.0), x, 0.0),
    "clamp": lambda x: gb.clamp(np.float32(-1), x, 1.0),
    "broadcast": lambda x: gb.broadcast(x, (3,)),
    "placed": lambda x: gb.broadcast_in_dim(x, (70, 2, 60), (2, 0)),
    "expanded": lambda x: gb.broadcast_in_dim(x[:, :1], (60, 9), (0, 1)),
    "degenerate": lambda x: gb.add(x, x[:1]),
    "transposed": lambda x: gb.add(x[:60, :60], gb.broadcast_in_dim(x[:60, :60], (60, 60), (1, 0))),
    "converted": lambda x: gb.convert_element_type(x, "bf16"),
    "bits": lambda x: gb.bitcast_convert_type(x, "u8"),
    "sum": lambda x: gb.reduce_sum(x, axes=(0,)),
    "everything": lambda x: gb.reduce_sum(x, axes=(0, 1)),
    "index": lambda x: gb.argmax(x, axis=1),
    "plan": lambda x: gb.plan("mul", "f32[60,70]", "f32[60,70]")(x, x),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation(name):
    call = OPERATIONS[name]
    expected = call(X)
    for chunks in ((25, 30), (60, 70), (60, 1), (1, 70)):
        _same(call(da.from_array(X, chunks=chunks)), expected)


def test_an_error_is_one_of_the_graph():
    x = da.from_array(X, chunks=30)
    wrong = {
        "X6": lambda: scaled(x, da.ones(61, dtype="f4"), COL),
        "X5": lambda: scaled(x, x, COL),
        "T3": lambda: gb.add(x, x.astype("i4")),
        "B5d": lambda: gb.add(x, da.ones(70, dtype="f4"), broadcast_dimensions=(5,)),
        "T1": lambda: gb.exp(x.astype(">f4")),
        "A2": lambda: gb.exp(x, out=np.empty_like(X)),
        "A3": lambda: gb.exp(da.ma.masked_greater(x, 0)),
        "K1": lambda: gb.exp(x[x > 0]),
    }
    for rule, call in wrong.items():
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule, rule


def test_several_results_that_keep_what_is_not_valid():
    lengths = (np.arange(60) % 71).astype("i4")
    for given in (lengths, da.from_array(lengths, chunks=9)):
        made = of_valid(da.from_array(X, chunks=(25, 70)), given)
        for lazy, expected in zip(made, of_valid(X, lengths), strict=True):
            _same(lazy, expected)


@pytest.mark.parametrize(
    "block", [np.ones((3, 4)), np.ones(3, "f4"), [[1.0, 2.0]]], ids=["type", "rank", "list"]
)
def test_a_block_that_is_not_what_its_array_says_is_refused_in_its_task(block):
    # The sum, too: each of its stages looks at what it is given.
    for call in (gb.neg, gb.fuse("row col -> row")(lambda x: gb.reduce_sum(x, "col"))):
        lazy = call(_delayed(block, (3, 4)))
        with pytest.raises(gb.ElementTypeError, match=r"a block is .* Dask array says") as told:
            lazy.compute(scheduler="synchronous")
        assert told.value.rule == "A3"


_BEFORE = """
import dask.array as da, gpubcast as gb
x = da.ones(3, chunks=2, dtype="f4")
for call in (lambda: gb.exp(x), lambda: gb.array(x), lambda: gb.fuse(lambda x: x + x)(x)):
    try:
        call()
    except gb.ElementTypeError as error:
        assert error.rule == "A3" and "import gpubcast.dask" in str(error)
    else:
        raise SystemExit("taken")
import gpubcast.dask
assert gb.exp(x).chunks == ((2, 1),)
"""


def test_before_the_import_it_is_refused():
    subprocess.run([sys.executable, "-c", _BEFORE], check=True, timeout=600)
