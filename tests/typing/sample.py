# pyright: strict
"""A user's script, as ``mypy --strict`` and pyright read it; ``test_typing.py`` runs them on it."""

from __future__ import annotations

import enum
from typing import Any, Literal, assert_type, cast

import numpy as np
from numpy.typing import NDArray

import gpubcast as gb
from gpubcast.typing import ArrayLike, ElementTypeName, OperationName

x: NDArray[np.float32] = np.ones((2, 3), np.float32)
v = np.arange(3, dtype=np.float32)
a = gb.array(x)

# NumPy in, NumPy out; Python scalars and lists are of the host too.
assert_type(gb.add(x, v, broadcast_dimensions=(1,)), np.ndarray[Any, Any])
assert_type(gb.add(x, 2.0), np.ndarray[Any, Any])
assert_type(gb.add([1.0, 2.0], np.float32(1)), np.ndarray[Any, Any])
assert_type(gb.exp(x), np.ndarray[Any, Any])
assert_type(gb.exp(gb.mul(gb.exp(x), x)), np.ndarray[Any, Any])
assert_type(gb.select(x > 0, x, 0.0), np.ndarray[Any, Any])
assert_type(gb.convert_element_type(x, "bf16"), np.ndarray[Any, Any])
assert_type(gb.convert_element_type(x, np.float64), np.ndarray[Any, Any])
assert_type(gb.broadcast_in_dim(v, (2, 3), (1,)), np.ndarray[Any, Any])
assert_type(gb.iota("s32", 4), np.ndarray[Any, Any])

# Any Array in, Array out.
assert_type(a, gb.Array)
assert_type(gb.exp(a), gb.Array)
assert_type(gb.add(a, a), gb.Array)
assert_type(gb.add(a, v, broadcast_dimensions=(1,)), gb.Array)
assert_type(gb.add(v, a, broadcast_dimensions=(1,)), gb.Array)
assert_type(gb.add(1, a), gb.Array)
assert_type(gb.select(a > 0, 0.0, a), gb.Array)
assert_type(gb.select(a > 0, x, x), gb.Array)
assert_type(gb.clamp(0.0, a, 1.0), gb.Array)
assert_type(gb.compare(a, x, direction="LT", total_order=True), gb.Array)
assert_type(gb.round(a, method="even"), gb.Array)
assert_type(gb.reduce_precision(a, 5, 10), gb.Array)

# ``out`` is returned.
z: NDArray[np.float32] = np.empty((2, 3), np.float32)
assert_type(gb.add(a, x, out=z), NDArray[np.float32])
assert_type(gb.add(x, x, out=a), gb.Array)
assert_type(gb.iota("f32", 6, out=a), gb.Array)

# Operators on Arrays.
assert_type(a + a, gb.Array)
assert_type(a + 1, gb.Array)
assert_type(2.0 * a, gb.Array)
assert_type(a - x, gb.Array)
assert_type(x - a, gb.Array)
assert_type(1 / a, gb.Array)
assert_type(-a, gb.Array)
assert_type(abs(a), gb.Array)
assert_type(a**2, gb.Array)
assert_type(a == a, gb.Array)
assert_type(a < 1, gb.Array)
assert_type(a[0], gb.Array)
assert_type(a.T, gb.Array)
assert_type(a.numpy(), np.ndarray[Any, Any])

# Operators take what operations take on their other side.
assert_type(a * [1.0, 2.0, 3.0], gb.Array)
assert_type((1.0, 2.0, 3.0) - a, gb.Array)
assert_type(a & True, gb.Array)
assert_type(np.float32(2) * a, gb.Array)
assert_type(~(a > 0), gb.Array)

# Arrays that this script makes.
assert_type(gb.empty("f32[2,3]"), gb.Array)
assert_type(gb.full(gb.Shape("f32", (2, 3)), 1.5), gb.Array)
assert_type(gb.from_dlpack(x), gb.Array)


class Foreign:
    """An array of another library: its result has a type that gpubcast does not know."""

    def __dlpack__(self, *, stream: int | None = None) -> object:
        raise NotImplementedError

    def __dlpack_device__(self) -> tuple[enum.Enum, int]:
        raise NotImplementedError


class OnGpu:
    """One that only the CUDA Array Interface exchanges."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise NotImplementedError


def foreign(other: Foreign, gpu: OnGpu, untyped: Any) -> None:
    assert_type(gb.exp(other), Any)
    assert_type(gb.add(gpu, 1.0), Any)
    assert_type(gb.add(other, a), gb.Array)
    assert_type(gb.exp(untyped), Any)
    assert_type(gb.add(gpu, gpu, out=gpu), OnGpu)


# Words are Literals; a text of run time is cast to one.
direction: Literal["LT", "GT"] = "LT"
assert_type(gb.compare(a, a, direction=direction), gb.Array)
assert_type(gb.convert_element_type(a, "float8_e4m3fn"), gb.Array)
assert_type(gb.convert_element_type(a, gb.element_type("u4")), gb.Array)
assert_type(gb.convert_element_type(a, np.dtype("int8")), gb.Array)
assert_type(gb.bitcast_convert_type(a, int), gb.Array)
assert_type(gb.argmax(x, 1, index_dtype="s64"), np.ndarray[Any, Any])
assert_type(gb.reduce_sum(a, (0, 1)), gb.Array)
name: OperationName = "exp"
assert_type(gb.plan(name, "f32[2,3]"), gb.Plan)
assert_type(gb.plan(cast(OperationName, input()), "f32[2,3]"), gb.Plan)


def scaled_to(x: gb.Array, to: ElementTypeName, by: ArrayLike) -> gb.Array:
    return gb.mul(gb.convert_element_type(x, to), by)


# Plans.
plan = gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,))
assert_type(plan, gb.Plan)
assert_type(plan(x, v, out=z), NDArray[np.float32])
assert_type(plan.output_shape, gb.Shape)
assert_type(plan.bind(x, v, out=z), gb.BoundCall)


# Fused functions: their own parameters and result.
@gb.fuse
def centred(x: gb.Array, mean: gb.Array) -> gb.Array:
    return gb.sub(x, mean, broadcast_dimensions=(0,))


@gb.fuse("row col, row, col -> row col", fast_math=True)
def scaled(x: NDArray[Any], mean: NDArray[Any], gain: NDArray[Any]) -> NDArray[Any]:
    return gb.mul(gb.sub(x, mean), gain)


@gb.fuse("row col -> row, row", static=["power"])
def moments(x: gb.Array, *, power: int = 2) -> tuple[gb.Array, gb.Array]:
    mean = gb.nn.mean(x, axis="col")
    return mean, gb.reduce_sum(gb.integer_pow(x - mean, power), "col")


@gb.fuse("row (g col), row -> row g", valid={"col": "lengths"}, sizes={"g": 2})
def sums(x: gb.Array, lengths: gb.Array) -> gb.Array:
    return gb.reduce_sum(x, "col")


assert_type(sums(a, a), gb.Array)
assert_type(sums(a, a, out_layout="g row"), gb.Array)


class Model:
    """Where a fused function belongs to a class, it is a static method."""

    @staticmethod
    @gb.fuse
    def scale(x: gb.Array, by: float = 2.0) -> gb.Array:
        return x * by


assert_type(centred(a, a), gb.Array)
assert_type(moments(a, power=3), tuple[gb.Array, gb.Array])
first, second = moments(a)
assert_type(moments(a, out=(first, second)), tuple[gb.Array, gb.Array])
assert_type(moments(a, out_layout=(gb.Layout((0,)), None)), tuple[gb.Array, gb.Array])
assert_type(Model.scale(a), gb.Array)
assert_type(Model().scale(a, by=3.0), gb.Array)
assert_type(centred(a, mean=a), gb.Array)
assert_type(scaled(x, x, x), NDArray[Any])
assert_type(scaled(x, x, x, out=z), NDArray[np.float32])
assert_type(centred.plan("f32[2,3]", "f32[2]"), gb.Plan)
assert_type(gb.apply("r c, r -> r c", gb.add, x, v, out=z), NDArray[np.float32])

# gb.nn
assert_type(gb.nn.softmax(x), np.ndarray[Any, Any])
assert_type(gb.nn.softmax(a, axis=(0, 1)), gb.Array)
assert_type(gb.nn.softmax(x, out=z), NDArray[np.float32])
assert_type(gb.nn.relu(a), gb.Array)
assert_type(gb.nn.layer_norm(x, v, v), np.ndarray[Any, Any])
assert_type(gb.nn.layer_norm(x, v, a), gb.Array)
assert_type(gb.nn.layer_norm(x, bias=a), gb.Array)
assert_type(gb.nn.layer_norm(a, None, v, epsilon=1e-3), gb.Array)
assert_type(gb.nn.rms_norm.plan("f32[2,3]"), gb.Plan)

assert_type(gb.infer_shape("add", "f32[2,3]", "f32[]"), gb.Shape)
assert_type(gb.infer_shape("add", x, a), gb.Shape)
assert_type(gb.plan("neg", a), gb.Plan)
assert_type(gb.to_json(gb.Shape("f32", (2,))), str)
assert_type(a.sum(0), gb.Array)
assert_type(a.reshape(-1)[a > 0], gb.Array)
a += x
assert_type(a, gb.Array)
