"""Types of gpubcast.nn, for type checkers.

Written by ``make generate`` from ``gpubcast/nn.py``; a test compares the two. Do not edit.
"""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from gpubcast.fusion.fused_function import Fused
from gpubcast.runtime.protocols import ArrayLike, ArrayT, ForeignArray, HostArrayLike, OutT
from gpubcast.shapes.layout import Layout

Axis = int | str | Sequence[int] | Sequence[str]

class _Relu(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self, x: ForeignArray, *, out: None = None, out_layout: Layout | None = None
    ) -> Any: ...
    @overload
    def __call__(self, x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...

relu: _Relu

class _Sigmoid(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self, x: ForeignArray, *, out: None = None, out_layout: Layout | None = None
    ) -> Any: ...
    @overload
    def __call__(self, x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...

sigmoid: _Sigmoid

class _Silu(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self, x: ForeignArray, *, out: None = None, out_layout: Layout | None = None
    ) -> Any: ...
    @overload
    def __call__(self, x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...

silu: _Silu

class _Softplus(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self, x: ForeignArray, *, out: None = None, out_layout: Layout | None = None
    ) -> Any: ...
    @overload
    def __call__(self, x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...

softplus: _Softplus

class _Gelu(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self,
        x: ArrayT,
        approximate: bool = True,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        approximate: bool = True,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        approximate: bool = True,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, approximate: bool = True, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

gelu: _Gelu

class _Softmax(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, axis: Axis = -1, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: Axis = -1, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

softmax: _Softmax

class _LogSoftmax(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, axis: Axis = -1, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: Axis = -1, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

log_softmax: _LogSoftmax

class _Logsumexp(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, axis: Axis = -1, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: Axis = -1, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

logsumexp: _Logsumexp

class _Mean(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, axis: Axis = -1, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: Axis = -1, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

mean: _Mean

class _Var(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self, x: ArrayT, axis: Axis = -1, *, out: None = None, out_layout: Layout | None = None
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: Axis = -1, *, out: OutT, out_layout: None = None
    ) -> OutT: ...

var: _Var

class _Standardize(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self,
        x: ArrayT,
        axis: Axis = -1,
        epsilon: float = 1e-05,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        axis: Axis = -1,
        epsilon: float = 1e-05,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        axis: Axis = -1,
        epsilon: float = 1e-05,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        axis: Axis = -1,
        epsilon: float = 1e-05,
        *,
        out: OutT,
        out_layout: None = None,
    ) -> OutT: ...

standardize: _Standardize

class _LayerNorm(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self,
        x: ArrayT,
        scale: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayT,
        bias: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None,
        bias: ArrayT,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None = None,
        *,
        bias: ArrayT,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        scale: HostArrayLike | None = None,
        bias: HostArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        scale: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ForeignArray,
        bias: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None,
        bias: ForeignArray,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None = None,
        *,
        bias: ForeignArray,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: OutT,
        out_layout: None = None,
    ) -> OutT: ...

layer_norm: _LayerNorm

class _RmsNorm(Fused[..., Any]):
    @overload  # type: ignore[override]
    def __call__(
        self,
        x: ArrayT,
        scale: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayT,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> ArrayT: ...
    @overload
    def __call__(
        self,
        x: HostArrayLike,
        scale: HostArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> np.ndarray[Any, Any]: ...
    @overload
    def __call__(
        self,
        x: ForeignArray,
        scale: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ForeignArray,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: None = None,
        out_layout: Layout | None = None,
    ) -> Any: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        scale: ArrayLike | None = None,
        axis: Axis = -1,
        epsilon: float = 1e-06,
        *,
        out: OutT,
        out_layout: None = None,
    ) -> OutT: ...

rms_norm: _RmsNorm
