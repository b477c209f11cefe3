"""Calls of every function of the array API standard, of a namespace: ours or NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = Callable[[Any], Any]


def sample(dtype: str, shape: tuple[int, ...] = (3, 4), seed: int = 0) -> np.ndarray[Any, Any]:
    """Small numbers of a type, where every function lives; no zero."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(1, 6, shape).astype(dtype) * np.dtype(dtype).type(1)
    values = rng.uniform(0.1, 0.9, shape)
    return (values + 0.25j if kind == "c" else values).astype(dtype)


def _f(m: Any, dtype: str = "float64", shape: tuple[int, ...] = (3, 4), seed: int = 0) -> Any:
    return m.asarray(sample(dtype, shape, seed))


def _square(m: Any) -> Any:
    x = sample("float64", (2, 3, 3))
    return m.asarray(x @ np.swapaxes(x, -1, -2) + 3 * np.eye(3))


CASES: dict[str, tuple[Case, ...]] = {
    "all": (lambda m: m.all(_f(m) > 0.2, axis=0), lambda m: m.all(_f(m), keepdims=True)),
    "any": (lambda m: m.any(_f(m) > 0.8, axis=1), lambda m: m.any(_f(m, "complex128"))),
    "arange": (
        lambda m: m.arange(5),
        lambda m: m.arange(1.0, 9.0, 0.5),
        lambda m: m.arange(9, 1, -2),
    ),
    "argmax": (lambda m: m.argmax(_f(m)), lambda m: m.argmax(_f(m), axis=1, keepdims=True)),
    "argmin": (lambda m: m.argmin(_f(m)), lambda m: m.argmin(_f(m), axis=-2)),
    "argsort": (
        lambda m: m.argsort(_f(m, "int64"), stable=True),
        lambda m: m.argsort(_f(m), axis=0),
    ),
    "asarray": (lambda m: m.asarray([[1, 2], [3, 4]]), lambda m: m.asarray(2.5, dtype=m.float32)),
    "astype": (lambda m: m.astype(_f(m), m.int32), lambda m: m.astype(_f(m, "int8"), m.complex64)),
    "broadcast_arrays": (lambda m: m.broadcast_arrays(_f(m), _f(m, shape=(4,))),),
    "broadcast_shapes": (lambda m: m.asarray(m.broadcast_shapes((2, 1), (3,), ())),),
    "broadcast_to": (lambda m: m.broadcast_to(_f(m), (2, 3, 4)),),
    "clip": (
        lambda m: m.clip(_f(m), 0.3, 0.6),
        lambda m: m.clip(_f(m), _f(m, shape=(4,), seed=1), None),
        lambda m: m.clip(_f(m, "int32"), None, 3),
    ),
    "concat": (
        lambda m: m.concat([_f(m), _f(m, seed=1)], axis=1),
        lambda m: m.concat([_f(m, "int8"), _f(m, "uint8")], axis=None),
    ),
    "count_nonzero": (lambda m: m.asarray(m.count_nonzero(_f(m) > 0.5, axis=0)),),
    "cumulative_prod": (lambda m: m.cumulative_prod(_f(m, "int8"), axis=1, include_initial=True),),
    "cumulative_sum": (
        lambda m: m.cumulative_sum(_f(m), axis=0),
        lambda m: m.cumulative_sum(_f(m, shape=(5,)), include_initial=True, dtype=m.float32),
    ),
    "diff": (
        lambda m: m.diff(_f(m), axis=0, n=2),
        lambda m: m.diff(_f(m), prepend=_f(m, shape=(3, 1), seed=2), append=_f(m, seed=3)),
    ),
    "empty": (lambda m: m.empty((2, 3), dtype=m.int8) * 0,),
    "empty_like": (lambda m: m.empty_like(_f(m, "int64")) * 0,),
    "expand_dims": (
        lambda m: m.expand_dims(_f(m), axis=-1),
        lambda m: m.expand_dims(_f(m), (0, 2)),
    ),
    "eye": (lambda m: m.eye(3), lambda m: m.eye(3, 4, k=-1, dtype=m.int16)),
    "finfo": (lambda m: m.asarray(float(m.finfo(m.float32).eps)),),
    "flip": (lambda m: m.flip(_f(m)), lambda m: m.flip(_f(m), axis=1)),
    "from_dlpack": (lambda m: m.from_dlpack(sample("float64")),),
    "full": (lambda m: m.full((2, 3), 7), lambda m: m.full(4, 1.5, dtype=m.float32)),
    "full_like": (lambda m: m.full_like(_f(m), 3.0), lambda m: m.full_like(_f(m), 3, dtype=m.int8)),
    "iinfo": (lambda m: m.asarray(int(m.iinfo(m.int16).max)),),
    "isin": (lambda m: m.isin(_f(m, "int64"), m.asarray([2, 5])),),
    "linspace": (
        lambda m: m.linspace(0.0, 1.0, 5),
        lambda m: m.linspace(1, 2, 4, endpoint=False),
        lambda m: m.linspace(0.0, 1.0, 3, dtype=m.float32),
    ),
    "matmul": (
        lambda m: m.matmul(_f(m), _f(m, shape=(2, 4, 3), seed=1)),
        lambda m: _f(m) @ _f(m).T,
    ),
    "matrix_transpose": (lambda m: m.matrix_transpose(_f(m, shape=(2, 3, 4))),),
    "max": (lambda m: m.max(_f(m)), lambda m: m.max(_f(m, "int8"), axis=(0, 1), keepdims=True)),
    "mean": (lambda m: m.mean(_f(m), axis=0), lambda m: m.mean(_f(m, "complex64"), keepdims=True)),
    "meshgrid": (
        lambda m: m.meshgrid(_f(m, shape=(2,)), _f(m, shape=(3,))),
        lambda m: m.meshgrid(_f(m, shape=(2,)), _f(m, shape=(3,)), indexing="ij"),
    ),
    "min": (lambda m: m.min(_f(m), axis=1), lambda m: m.min(_f(m, "uint16"))),
    "moveaxis": (
        lambda m: m.moveaxis(_f(m, shape=(2, 3, 4)), 0, -1),
        lambda m: m.moveaxis(_f(m, shape=(2, 3, 4)), (0, 1), (2, 0)),
    ),
    "nonzero": (lambda m: m.nonzero(_f(m) > 0.5),),
    "ones": (lambda m: m.ones((2, 3)), lambda m: m.ones(2, dtype=m.bool)),
    "ones_like": (lambda m: m.ones_like(_f(m, "int8")),),
    "permute_dims": (lambda m: m.permute_dims(_f(m, shape=(2, 3, 4)), (2, 0, 1)),),
    "prod": (lambda m: m.prod(_f(m), axis=0), lambda m: m.prod(_f(m, "uint8"), axis=1)),
    "repeat": (
        lambda m: m.repeat(_f(m), 2),
        lambda m: m.repeat(_f(m), m.asarray([1, 0, 2]), axis=0),
    ),
    "reshape": (lambda m: m.reshape(_f(m), (2, -1)), lambda m: m.reshape(_f(m).T, (12,))),
    "roll": (lambda m: m.roll(_f(m), 2), lambda m: m.roll(_f(m), (1, -1), axis=(0, 1))),
    "searchsorted": (
        lambda m: m.searchsorted(m.asarray([1.0, 2.0, 3.0]), m.asarray([0.5, 2.0]), side="right"),
    ),
    "sort": (lambda m: m.sort(_f(m), axis=0), lambda m: m.sort(_f(m, "int64"))),
    "squeeze": (lambda m: m.squeeze(_f(m, shape=(1, 3, 1)), axis=(0, 2)),),
    "stack": (lambda m: m.stack([_f(m), _f(m, seed=1)], axis=-1),),
    "std": (lambda m: m.std(_f(m), axis=0, correction=1), lambda m: m.std(_f(m, "float32"))),
    "sum": (
        lambda m: m.sum(_f(m, "int8"), axis=0),
        lambda m: m.sum(_f(m, "uint8"), keepdims=True),
        lambda m: m.sum(_f(m, "float32"), axis=(0, 1), dtype=m.float64),
        lambda m: m.sum(_f(m) > 0.5),
    ),
    "take": (lambda m: m.take(_f(m), m.asarray([2, 0]), axis=0),),
    "take_along_axis": (lambda m: m.take_along_axis(_f(m), m.argsort(_f(m), axis=1), axis=1),),
    "tensordot": (lambda m: m.tensordot(_f(m), _f(m, seed=1), axes=((0,), (0,))),),
    "tile": (lambda m: m.tile(_f(m), (2, 1, 2)),),
    "tril": (lambda m: m.tril(_f(m), k=1),),
    "triu": (lambda m: m.triu(_f(m), k=-1),),
    "unique_all": (lambda m: m.unique_all(_f(m, "int64")),),
    "unique_counts": (lambda m: m.unique_counts(_f(m, "int64")),),
    "unique_inverse": (lambda m: m.unique_inverse(_f(m, "int64")),),
    "unique_values": (lambda m: m.unique_values(_f(m, "int64")),),
    "unstack": (lambda m: m.unstack(_f(m), axis=1),),
    "var": (lambda m: m.var(_f(m), correction=0.5), lambda m: m.var(_f(m), axis=1, keepdims=True)),
    "vecdot": (lambda m: m.vecdot(_f(m, "complex128"), _f(m, "complex128", (4,), 1)),),
    "where": (
        lambda m: m.where(_f(m) > 0.5, _f(m), m.asarray(0.0)),
        lambda m: m.where(_f(m, shape=(4,)) > 0.5, _f(m, "int8", (3, 1)), _f(m, "uint8", (4,))),
    ),
    "zeros": (lambda m: m.zeros((2, 3)), lambda m: m.zeros((), dtype=m.int8)),
    "zeros_like": (lambda m: m.zeros_like(_f(m, "bool")),),
    "linalg": (
        lambda m: m.linalg.cholesky(_square(m)),
        lambda m: m.linalg.cholesky(_square(m), upper=True),
        lambda m: m.linalg.cross(_f(m, shape=(2, 3)), _f(m, shape=(2, 3), seed=1)),
        lambda m: m.linalg.det(_square(m)),
        lambda m: m.linalg.diagonal(_f(m), offset=1),
        lambda m: m.linalg.eigvalsh(_square(m)),
        lambda m: m.linalg.inv(_square(m)),
        lambda m: m.abs(m.linalg.eigh(_square(m)).eigenvectors),
        lambda m: m.linalg.matrix_norm(_f(m)),
        lambda m: m.linalg.matrix_norm(_f(m), ord="nuc"),
        lambda m: m.linalg.matrix_power(_square(m), 3),
        lambda m: m.asarray(m.linalg.matrix_rank(_square(m))),
        lambda m: m.linalg.matrix_rank(_square(m), rtol=m.asarray([0.1, 0.5])),
        lambda m: m.linalg.pinv(_square(m), rtol=m.asarray([0.1, 0.5])),
        lambda m: m.linalg.outer(_f(m, shape=(3,)), _f(m, shape=(4,))),
        lambda m: m.linalg.pinv(_f(m)),
        lambda m: m.abs(m.linalg.qr(_f(m)).R),
        lambda m: tuple(m.linalg.slogdet(_square(m))),
        lambda m: m.linalg.solve(_square(m), _f(m, shape=(3,))),
        lambda m: m.linalg.svd(_f(m)).S,
        lambda m: m.linalg.svdvals(_f(m)),
        lambda m: m.linalg.trace(_square(m), offset=1),
        lambda m: m.linalg.vector_norm(_f(m), axis=1),
        lambda m: m.linalg.vector_norm(_f(m), ord=3),
        lambda m: m.linalg.vector_norm(_f(m), ord=np.inf, keepdims=True),
        lambda m: m.linalg.vector_norm(_f(m), ord=-np.inf),
        lambda m: m.linalg.vector_norm(_f(m), ord=0),
        lambda m: m.linalg.vector_norm(_f(m, "complex64"), ord=1, axis=(0, 1)),
    ),
    "fft": (
        *(
            lambda m, n=n: getattr(m.fft, n)(_f(m, "complex64"))
            for n in (
                "fft",
                "ifft",
                "hfft",
                "irfft",
                "fftn",
                "ifftn",
                "irfftn",
                "fftshift",
                "ifftshift",
            )
        ),
        *(
            lambda m, n=n: getattr(m.fft, n)(_f(m, "float32"), norm="ortho")
            for n in ("rfft", "ihfft")
        ),
        lambda m: m.fft.rfftn(_f(m), axes=(0, 1)),
        lambda m: m.fft.fft(_f(m), n=6, axis=0),
        lambda m: m.fft.fftfreq(5, d=0.5),
        lambda m: m.fft.rfftfreq(6),
    ),
}
