"""dask-array, whose arrays are expressions; NumPy, gpubcast and PyTorch among Dask's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.support import doors

da = doors.library("dask.array")

import gpubcast as gb  # noqa: E402
import gpubcast.dask  # noqa: E402

X = np.random.default_rng(9).standard_normal((3000, 40)).astype("f4")


@gb.fuse("row col, row -> row col, row col, col")
def several(x, mean):
    shifted = gb.exp(x - gb.reduce_max(x, "col"))
    return shifted / gb.reduce_sum(shifted, "col"), x + mean, gb.reduce_sum(x * x, "row")


def _computed(lazy):
    return lazy.compute(scheduler="synchronous")


@gb.fuse("... col -> col ...", static=("power", "scale"))
def _outer(x, power=2, scale=0.5):
    value = gb.nn.softmax(x, axis="col")
    for _ in range(power):
        value = value * x
    return value * scale


SLICES = {
    "rows": np.s_[100:900, :7],
    "row": np.s_[5],
    "columns": np.s_[:, 3:4],
    "steps": np.s_[::7, 1],
}


def test_dask_array_pushes_slices_through():
    dka = doors.library("dask_array")
    x, mean = dka.from_array(X, chunks=(700, 17)), dka.from_array(X[:, 0], chunks=999)
    made, expected = several(x, mean), several(X, X[:, 0])
    for lazy, wanted in zip(made, expected, strict=True):
        assert isinstance(lazy, dka.Array) and lazy.dtype == wanted.dtype
        assert _computed(lazy).tobytes() == wanted.tobytes()
    for index in SLICES.values():
        for k in (0, 1):
            assert np.array_equal(_computed(made[k][index]), expected[k][index])
    assert np.array_equal(_computed(made[2][3:9]), expected[2][3:9])
    repeated = gb.broadcast(x, (3,))
    assert np.array_equal(_computed(repeated[1, 3:7]), X[3:7])
    with pytest.raises(gb.ElementTypeError) as told:
        gb.add(x, da.from_array(X, chunks=100))
    assert told.value.rule == "K2"


def test_other_arrays_beside_dask():
    x, gain = da.from_array(X, chunks=(700, 40)), X[0]
    wanted = gb.add(X, gain, broadcast_dimensions=(1,))
    for other in (gain, gb.array(gain), memoryview(gain), [np.float32(v) for v in gain]):
        lazy = gb.add(x, other, broadcast_dimensions=(1,))
        assert type(lazy._meta) is np.ndarray
        assert _computed(lazy).tobytes() == wanted.tobytes()
    a = gb.array(X)
    for lazy in (a + x, gb.add(a, x), np.add(a, x)):
        assert isinstance(lazy, da.Array) and _computed(lazy).tobytes() == (X + X).tobytes()


def test_blocks_that_are_arrays_of_ours_stay_so():
    x = da.from_array(gb.array(X), chunks=(700, 40))
    for lazy, wanted in zip(several(x, X[:, 0]), several(X, X[:, 0]), strict=True):
        assert type(lazy._meta) is gb.Array
        found = _computed(lazy)
        assert type(found) is gb.Array and found.numpy().tobytes() == wanted.tobytes()


def test_blocks_are_not_what_the_array_said():
    x = da.from_array(X, chunks=(1000, 40))
    meta = np.empty((0, 0), "f4")
    wrong = {
        "A3": lambda block: np.ma.masked_array(block),
        "T1": lambda block: block.astype(">f4"),
        "A3 of types": lambda block: block.astype("f8"),
    }
    for rule, change in wrong.items():
        lazy = gb.add(x, x.map_blocks(change, meta=meta))
        with pytest.raises(gb.Error) as told:
            _computed(lazy)
        assert told.value.rule == rule[:2]


def test_the_other_door_does_not_take_the_result():
    torch = doors.library("torch")
    importlib.import_module("gpubcast.torch")
    x = da.from_array(X, chunks=(700, 40))
    lazy = gb.add(torch.from_numpy(X), x)
    assert isinstance(lazy, da.Array) and _computed(lazy).tobytes() == (X + X).tobytes()


def test_a_plan_takes_a_dask_array_for_its_shape():
    x = da.from_array(X, chunks=(700, 40))
    for plan in (gb.plan("exp", x), gb.fuse(lambda x: gb.exp(x)).plan(x)):
        assert str(plan.output_shape) == "f32[3000,40]{1,0}"
        assert _computed(plan(x)).tobytes() == gb.exp(X).tobytes()
    assert str(gb.infer_shape("exp", x)) == "f32[3000,40]{1,0}"
    assert "f32[3000,40]" in str(several.explain(x, X[:, 0]))


def test_functions_that_stand_for_others():
    x = da.from_array(X, chunks=(700, 17))
    pairs = {
        "nn": (gb.nn.softmax(x), gb.nn.softmax(X)),
        "axis": (gb.nn.softmax(x, axis=0), gb.nn.softmax(X, axis=0)),
        "apply": (gb.apply("r c, c", gb.mul, x, X[0]), gb.apply("r c, c", gb.mul, X, X[0])),
        "keywords": (several(mean=X[:, 0], x=x)[1], several(X, X[:, 0])[1]),
        "inside": (_outer(x, power=3), _outer(X, power=3)),
    }
    for name, (lazy, wanted) in pairs.items():
        assert isinstance(lazy, da.Array), name
        assert _computed(lazy).tobytes() == wanted.tobytes(), name


def test_what_is_never_lazy_is_refused():
    x = da.from_array(X, chunks=(700, 40))
    with pytest.raises(gb.ElementTypeError, match=r"x\.compute\(\)"):
        gb.array(x)
    with pytest.raises(gb.LayoutError, match="A2"):
        gb.exp(X, out=x)
    with pytest.raises(gb.LayoutError, match="A2"):
        gb.exp(x, out_layout=gb.Layout((0, 1)))
    heads = gb.fuse("r (h d) -> r h d", sizes={"h": 8})(lambda x: x * 2.0)
    with pytest.raises(gb.ShapeError, match="X10"):
        heads(x)


EMPTY = [((0, 3), 0), ((0, 3), 1), ((4, 0), 0), ((4, 0), 1)]


@pytest.mark.parametrize(("shape", "axis"), EMPTY)
def test_arrays_without_elements(shape, axis):
    x = np.zeros(shape, "f4")
    lazy = da.from_array(x, chunks=2)
    calls = {
        "exp": gb.exp,
        "sum": lambda x: gb.reduce_sum(x, axes=(axis,)),
        "max": lambda x: gb.reduce_max(x, axes=(axis,)),
    }
    for call in calls.values():
        wanted = call(x)
        found = _computed(call(lazy))
        assert found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def test_a_block_without_elements_changes_nothing():
    x = da.from_array(X, chunks=((700, 0, 1200, 1100), 40))
    for axes in ((0,), (0, 1), (1,)):
        for call in (gb.reduce_sum, gb.reduce_max):
            wanted = np.asarray(call(X, axes=axes))
            assert _computed(call(x, axes=axes)).tobytes() == wanted.tobytes()


def test_arrays_of_rank_0():
    two = da.from_array(np.array(2, "f4"))
    assert _computed(gb.exp(two)).tobytes() == gb.exp(np.array(2, "f4")).tobytes()
    x = da.from_array(X, chunks=(700, 40))
    assert _computed(gb.mul(x, two)).tobytes() == (X * np.float32(2)).tobytes()
    total = gb.reduce_sum(x, axes=(0, 1))
    assert (
        total.shape == ()
        and _computed(gb.mul(x, total)).tobytes()
        == gb.mul(X, gb.reduce_sum(X, axes=(0, 1))).tobytes()
    )


def test_where_blocks_are_decides_the_device_of_the_result():
    """Without a GPU: a type of arrays that says that it is CuPy's."""
    on_gpu = type("ndarray", (np.ndarray,), {"__module__": "cupy"})
    x = da.from_array(X, chunks=(700, 40))
    meta = np.empty((0, 0), "f4").view(on_gpu)
    far = x.map_blocks(lambda block: block.view(on_gpu), meta=meta)
    assert type(gb.exp(far)._meta) is on_gpu
    assert type(gb.reduce_sum(far, axes=(0,))._meta) is on_gpu
    for call in (lambda: gb.add(far, x), lambda: gb.add(far, X), lambda: gb.add(gb.array(X), far)):
        with pytest.raises(gb.DeviceError) as told:
            call()
        assert told.value.rule == "A1"
