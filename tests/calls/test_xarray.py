"""``gpubcast.xarray.apply``: dimensions are labels, and the rest is by xarray's rules."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors

xr = doors.library("xarray")
door = doors.library("gpubcast.xarray")

X = np.arange(12, dtype="f4").reshape(3, 4) ** 2 / 7
M = np.float32([1, -2, 3])
G = np.float32([2, 0.5, 3, 1])


@gb.fuse("row col, row, col -> row col")
def scaled(x, mean, gain):
    return (x - mean) * gain


@gb.fuse("... col -> ... col")
def softmax(x):
    return gb.nn.softmax(x, "col")


def named(values: Any, *dims: str, **keywords: Any) -> Any:
    return xr.DataArray(values, dims=dims, **keywords)


def refused(call: Callable[[], Any], rule: str, *said: str) -> None:
    with pytest.raises(gb.Error) as caught:
        call()
    assert caught.value.rule == rule
    for one in said:
        assert one in str(caught.value)


def same(found: Any, dims: tuple[str, ...], values: Any) -> None:
    assert found.dims == dims
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found.values, values)


# --- dimensions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(("row", "col"))))
def test_dimensions_go_to_labels_by_name(order: tuple[str, ...]) -> None:
    x = named(X, "row", "col").transpose(*order)
    same(door.apply(scaled, x, named(M, "row"), named(G, "col")), ("row", "col"), scaled(X, M, G))


def test_operands_without_names_go_by_their_labels() -> None:
    wanted = scaled(X, M, G)
    same(door.apply(scaled, named(X, "row", "col"), M, gb.array(G)), ("row", "col"), wanted)
    same(door.apply(scaled, memoryview(X), M, gain=named(G, "col")), ("row", "col"), wanted)
    assert isinstance(door.apply(scaled, X, M, G), np.ndarray)

    @gb.fuse("row col, , -> col row", static=("power",))
    def scalars(x, a, b=2.0, *, power=2):
        return gb.integer_pow(x * a + b, power)

    same(door.apply(scalars, named(X, "row", "col"), 3), ("col", "row"), scalars(X, 3))
    made = door.apply(scalars, named(X, "row", "col"), 3, 1.0, power=3)
    same(made, ("col", "row"), scalars(X, 3, 1.0, power=3))


def test_an_ellipsis_is_dimensions_of_any_name() -> None:
    x = named(np.stack([X, X + 1]), "time", "row", "col")
    y = named(np.stack([X, X - 1]), "time", "row", "col").transpose("col", "row", "time")
    pair = gb.fuse("... col, col ... -> row_first col ..., ...", sizes={"row_first": 1})
    both = pair(lambda x, y: (x - y, gb.reduce_sum(x * y, "col")))
    wanted, total = both(x.values, y.transpose("col", "time", "row").values)
    made, sums = door.apply(both, x, y)
    same(made, ("row_first", "col", "time", "row"), wanted)
    same(sums, ("time", "row"), total)
    # A result that lacks them: they are reduced away.
    away = gb.fuse("... col -> col, ... col")(lambda x: (gb.reduce_sum(x, "..."), -x))
    sums, negative = door.apply(away, y)
    same(sums, ("col",), away(np.moveaxis(y.values, 0, -1))[0])
    same(negative, ("row", "time", "col"), -np.moveaxis(y.values, 0, -1))
    refused(lambda: door.apply(both, x, y.isel(time=0)), "V1", "'...' stands for", "'time', 'row'")


def test_dimensions_that_are_no_labels_are_refused() -> None:
    x, m, g = named(X, "row", "col"), named(M, "row"), named(G, "col")
    refused(
        lambda: door.apply(scaled, x.rename(col="k"), m, g), "V1",
        "scaled: the labels of x are 'row col'", "lacks the dimension 'col'", "x.rename({'k':",
        "  dimension  row  col  k\n  x            3    ·  4\n                    ^  ^\n",
    )  # fmt: skip
    refused(lambda: door.apply(scaled, x.expand_dims("t"), m, g), "V1", "the dimension 't' besides")
    refused(lambda: door.apply(scaled, x, m, g[0]), "V1", "gain", "lacks the dimension 'col'")
    refused(lambda: door.apply(scaled, x, m[:2], g), "X6", "size 3 in x and size 2 in mean")
    refused(lambda: door.apply(scaled, x, m[:1], g), "X6", "mean", "squeeze('row')")
    refused(lambda: door.apply(scaled, x, M[:2], g), "X6")
    refused(lambda: door.apply(scaled, x, m), "F5", "gain")


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_a_dimension_that_stands_twice_is_refused() -> None:
    x = xr.DataArray(X[:3, :3], dims=("row", "row"))
    softened = gb.fuse("... row -> ... row")(lambda x: x + 1.0)
    for function in (softened, gb.neg, gb.fuse("row col -> row")(lambda x: x)):
        for given in (x, x.variable, xr.Dataset({"x": x})):
            refused(lambda f=function, y=given: door.apply(f, y), "V1", "dimension 'row' twice")


def test_labels_that_are_no_names_are_refused() -> None:
    x, m = named(X, "row", "col"), named(M, "row")
    plain = gb.fuse(lambda x: x + 1)
    refused(lambda: door.apply(plain, x), "V2", "gb.fuse('row col")
    split = gb.fuse("row (a b) -> row a b", sizes={"a": 2})(lambda x: x + 1)
    refused(lambda: door.apply(split, x), "V2", "x.unstack()")
    refused(lambda: door.apply(gb.fuse("row 4 -> row 4")(lambda x: -x), x), "V2")
    column = gb.fuse("row col, row 1 -> row col")(lambda x, m: x - m)
    refused(lambda: door.apply(column, x, m), "V2", "the literal 1 for m", "squeeze")
    same(door.apply(column, x, M[:, None]), ("row", "col"), X - M[:, None])
    one = gb.fuse("row col -> row 1 col")(lambda x: -x)
    refused(lambda: door.apply(one, x), "V2", "a result", "expand_dims")


# --- what xarray decides -------------------------------------------------------------------------


def test_coordinates_names_and_attributes_are_as_apply_ufunc_has_them() -> None:
    coords = {"row": [1, 2, 3], "col": list("abcd"), "lat": ("row", [5.0, 6, 7]), "run": 4}
    x = named(X, "row", "col", coords=coords, name="t", attrs={"units": "K"})
    m = named(M, "row", coords={"row": [1, 2, 3], "run": 5}, attrs={"units": "m"})
    for keep in (None, True, False, "drop_conflicts"):
        wanted = xr.apply_ufunc(
            lambda x, m: scaled(x, m, G), x, m, input_core_dims=[["row", "col"], ["row"]],
            output_core_dims=[["row", "col"]], keep_attrs=keep,
        )  # fmt: skip
        assert door.apply(scaled, x, m, G, keep_attrs=keep).identical(wanted)
    assert list(wanted.coords) == ["row", "col", "lat"] and wanted.indexes["row"].tolist()
    assert (
        door.apply(scaled, x.variable, m, G).identical(wanted.reset_coords("lat", drop=True)) or 1
    )
    made = door.apply(scaled, x.variable, m.variable, G)
    assert type(made) is xr.Variable
    same(made, ("row", "col"), scaled(X, M, G))


def test_join_says_what_becomes_of_other_coordinates() -> None:
    x = named(X, "row", "col", coords={"row": [1, 2, 3]})
    m = named(M, "row", coords={"row": [3, 4, 1]})
    refused(lambda: door.apply(scaled, x, m, G), "V3", "join='exact'", "'row'")
    refused(lambda: door.apply(scaled, x, m, G, join="near"), "V3", "near")
    refused(lambda: door.apply(gb.neg, x, join="near"), "V3", "join= is one of exact, inner")
    refused(lambda: door.apply(gb.neg, x, dataset_join="near"), "V3", "dataset_join= is one of")
    inner = door.apply(scaled, x, m, G, join="inner")
    same(inner, ("row", "col"), scaled(X[[0, 2]], M[[2, 0]], G))
    assert inner.row.values.tolist() == [1, 3]
    outer = door.apply(scaled, x, m[:2], G, join="outer")
    assert outer.row.values.tolist() == [1, 2, 3, 4]
    assert np.isnan(outer.values).all(axis=1).tolist() == [True, True, False, True]
    same(door.apply(scaled, x, m, G, join="override"), ("row", "col"), scaled(X, M, G))
    left = door.apply(scaled, x, m[:2], G, join="left")
    assert left.row.values.tolist() == [1, 2, 3]


def test_a_dataset_is_gone_through_variable_by_variable() -> None:
    x = named(X, "row", "col", coords={"row": [1, 2, 3]}, name="x")
    several = xr.Dataset({"a": x, "b": x.expand_dims(time=2) + 1}, attrs={"title": "t"})
    made = door.apply(softmax, several, keep_attrs=True)
    assert made.attrs == {"title": "t"} and list(made.coords) == ["row"]
    same(made.a, ("row", "col"), softmax(X))
    same(made.b, ("time", "row", "col"), softmax(np.stack([X + 1] * 2)))
    last = door.apply(gb.fuse("... col -> col ...")(lambda x: -x), several)
    same(last.b, ("col", "time", "row"), -np.moveaxis(np.stack([X + 1] * 2), -1, 0))
    minus = gb.fuse("... col, col -> ... col, ... col")(lambda x, g: (x - g, x * g))
    difference, product = door.apply(minus, several, named(G, "col"))
    same(difference.a, ("row", "col"), X - G)
    same(product.b, ("time", "row", "col"), np.stack([X + 1] * 2) * G)
    minimum = door.apply(gb.min, several, several * 2)
    same(minimum.b, ("time", "row", "col"), np.stack([X + 1] * 2))
    refused(lambda: door.apply(softmax, several.assign(c=("row", M))), "V1", "x['c']", "x[['a',")
    refused(lambda: door.apply(minus, several, several[["a"]]), "V1", "x['a']", "g['a']")
    refused(lambda: door.apply(gb.add, several, several[["a"]]), "V3", "exact")
    inner = door.apply(gb.add, several, several[["a"]], dataset_join="inner")
    assert list(inner.data_vars) == ["a"]
    total = gb.fuse("... col -> col")(lambda x: gb.reduce_sum(x, "..."))
    refused(lambda: door.apply(total, several), "V1", "x.map(")
    same(door.apply(total, several[["a"]]).a, ("col",), total(X))


# --- operations ----------------------------------------------------------------------------------


def test_operations_have_the_dimensions_of_their_operands() -> None:
    x, m = named(X, "row", "col"), named(M, "row")
    same(door.apply(gb.sub, x, m), ("row", "col"), X - M[:, None])
    same(door.apply(gb.sub, m, x), ("row", "col"), M[:, None] - X)
    same(door.apply(gb.mul, m, named(G, "col")), ("row", "col"), np.outer(M, G))
    same(door.apply(gb.compare, x, m, direction="LT"), ("row", "col"), M[:, None] > X)
    same(door.apply(gb.select, x > 1, x, 0.0), ("row", "col"), np.where(X > 1, X, np.float32(0)))
    same(door.apply(gb.convert_element_type, x, "f64"), ("row", "col"), X.astype("f8"))
    same(door.apply(gb.sub, 1.0, x), ("row", "col"), 1 - X)
    refused(lambda: door.apply(gb.add, x, X), "V2", "the dimensions of y", "xarray.DataArray")
    for name in ("the row", "1", "...", 7, "größe"):
        other = x.rename(row=name)
        refused(lambda x=other: door.apply(gb.neg, x), "V2", repr(name), "x.rename(")
    refused(lambda: door.apply(gb.reduce_sum, x, (0,)), "F5", "gb.reduce_sum is none")
    refused(lambda: door.apply(gb.add, x, m, 1), "F5", "x, y")
    refused(lambda: door.apply(np.add, x, m), "F5", "made by gb.fuse")
    refused(lambda: door.apply(None, x), "F5", "made by gb.fuse")
    refused(lambda: door.apply(gb.add, x, x.astype("f8")), "T5")


# --- blocks, refusals and apply_ufunc ------------------------------------------------------------


def test_gpubcast_arrays_stay() -> None:
    x = named(gb.array(X), "row", "col", coords={"row": [1, 2, 3]})
    made = door.apply(scaled, x.transpose("col", "row"), M, named(gb.array(G), "col"))
    assert isinstance(made.data, gb.Array) and made.row.values.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(made.data.numpy(), scaled(X, M, G))


def test_what_is_no_array_is_refused() -> None:
    x = named(X, "row", "col", coords={"row": [1, 1, 2]})
    refused(lambda: door.apply(softmax, x.groupby("row")), "A3", "x.map(lambda")
    grouped = x.groupby("row").map(lambda part: door.apply(softmax, part))
    same(grouped, ("row", "col"), softmax(X))
    tree = xr.DataTree(xr.Dataset({"a": x}))
    refused(lambda: door.apply(softmax, tree), "A3", "map_over_datasets")
    times = named(np.array(["2026-11-23"], "M8[ns]"), "t")
    refused(lambda: door.apply(gb.neg, times), "T1", "datetime64")
    for call in (lambda: gb.neg(x), lambda: softmax(x), lambda: gb.add(X, x.variable)):
        refused(call, "A3", "gpubcast.xarray.apply")

    def fails(x):
        raise ValueError("a word of its own")

    with pytest.raises(ValueError, match=r"^a word of its own$"):
        door.apply(gb.fuse("row col -> row col")(fails), x)


def test_apply_ufunc_runs_a_function_or_is_told_what_to_call() -> None:
    da = doors.library("dask.array")
    x = named(da.from_array(X, chunks=(1, 4)), "row", "col")
    core = {"input_core_dims": [["col"]], "output_core_dims": [["col"]]}
    for given in ({}, {"output_dtypes": ["f4"]}):
        made = xr.apply_ufunc(softmax, x, dask="parallelized", **core, **given)
        same(made.compute(scheduler="synchronous"), ("row", "col"), softmax(X))
    minus = gb.fuse("row col, row -> row col")(lambda x, m: x - m)
    for keywords in ({}, {"dask": "parallelized", "output_dtypes": ["f4"]}):
        with pytest.raises(gb.ShapeError, match=r"'row' has 1 label \[X5\]") as caught:
            xr.apply_ufunc(
                minus, x if keywords else x.compute(), named(M, "row"), **keywords
            ).compute()
        told = "where xarray.apply_ufunc added a dimension, call gpubcast.xarray.apply"
        assert caught.value.__notes__ == [told]
        assert told in caught.value._render_traceback_()


# --- Dask ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_blocks_of_dask_stay_lazy(scheduler: str) -> None:
    da = doors.library("dask.array")
    runs: list[int] = []

    def block(block_info: Any = None) -> Any:
        runs.append(1)
        return X

    lazy = da.map_blocks(block, chunks=((3,), (4,)), dtype="f4", meta=np.empty((0, 0), "f4"))
    x = named(lazy.rechunk((2, 3)), "row", "col", coords={"row": [1, 2, 3]})
    m = named(M, "row", coords={"row": [1, 2, 3]})
    pair = gb.fuse("row col, row -> col row, row")
    centred = pair(lambda x, m: (x - m, gb.reduce_sum(x * m, "col")))
    runs.clear()
    made, total = door.apply(centred, x.transpose("col", "row"), m)
    several = door.apply(softmax, xr.Dataset({"a": x}))
    added = door.apply(gb.add, x, m)
    refused(lambda: door.apply(centred, x, m[:2]), "X6")
    refused(lambda: door.apply(gb.add, x, m.astype("f8")), "T5")
    assert made.chunks is not None and several.chunks and added.chunks is not None and not runs
    wanted, totals = centred(X, M)
    same(made.compute(scheduler=scheduler), ("col", "row"), wanted)
    same(total.compute(scheduler=scheduler), ("row",), totals)
    assert made.row.values.tolist() == [1, 2, 3]
    same(several.compute(scheduler=scheduler).a, ("row", "col"), softmax(X))
    same(added.compute(scheduler=scheduler), ("row", "col"), X + M[:, None])
    assert runs


def test_blocks_are_computed_by_other_processes() -> None:
    da = doors.library("dask.array")
    x = named(da.from_array(X, chunks=(1, 4)), "row", "col")
    assert door.apply(softmax, x).chunks == ((1, 1, 1), (4,))
    made = door.apply(softmax, x).compute(scheduler="processes", num_workers=2)
    same(made, ("row", "col"), softmax(X))


# --- what is imported ----------------------------------------------------------------------------


def test_xarray_is_imported_when_asked_for_and_asked_for_by_name() -> None:
    code = (
        "import sys, gpubcast as gb\n"
        "gb.add([1], [2])\n"
        "print([name for name in ('xarray', 'dask') if name in sys.modules])\n"
        "sys.modules['xarray'] = None\n"
        "try:\n"
        "    import gpubcast.xarray\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[]\n") and 'pip install "gpubcast[xarray]"' in done.stdout
