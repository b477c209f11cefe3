"""The extension ``fft`` of the standard, by NumPy or CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gpubcast.array_api import operations, views
from gpubcast.array_api.array_object import StandardArray, host, operand
from gpubcast.array_api.dtypes import (
    CONTINUOUS,
    FLOAT64,
    FLOATING,
    NUMERIC,
    Categories,
    as_dtype,
)
from gpubcast.array_api.manipulation import Axes

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
_REALS: Categories = frozenset((FLOATING,))


def _along(name: str, x: StandardArray, takes: Categories, **keywords: Any) -> StandardArray:
    source = operand(name, x)
    operations.refuse_kind(name, source.xla_shape.element_type, takes)
    found: StandardArray = host(f"fft.{name}", x, **keywords)
    return found


def fft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The discrete Fourier transform along an axis."""
    return _along("fft", x, CONTINUOUS, n=n, axis=axis, norm=norm)


def ifft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The inverse of ``fft``."""
    return _along("ifft", x, CONTINUOUS, n=n, axis=axis, norm=norm)


def rfft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The transform of real numbers: half of it, the other is its conjugate."""
    return _along("rfft", x, _REALS, n=n, axis=axis, norm=norm)


def irfft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The inverse of ``rfft``."""
    return _along("irfft", x, CONTINUOUS, n=n, axis=axis, norm=norm)


def hfft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The transform of half of a Hermitian signal, which is real."""
    return _along("hfft", x, CONTINUOUS, n=n, axis=axis, norm=norm)


def ihfft(
    x: StandardArray, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> StandardArray:
    """The inverse of ``hfft``."""
    return _along("ihfft", x, _REALS, n=n, axis=axis, norm=norm)


def fftn(
    x: StandardArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> StandardArray:
    """The transform along several axes."""
    return _along("fftn", x, CONTINUOUS, s=s, axes=axes, norm=norm)


def ifftn(
    x: StandardArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> StandardArray:
    """The inverse of ``fftn``."""
    return _along("ifftn", x, CONTINUOUS, s=s, axes=axes, norm=norm)


def rfftn(
    x: StandardArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> StandardArray:
    """The transform of real numbers along several axes, the last one halved."""
    return _along("rfftn", x, _REALS, s=s, axes=axes, norm=norm)


def irfftn(
    x: StandardArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> StandardArray:
    """The inverse of ``rfftn``."""
    return _along("irfftn", x, CONTINUOUS, s=s, axes=axes, norm=norm)


def _frequencies(name: str, n: int, d: float, dtype: Any, device: str | None) -> StandardArray:
    own = FLOAT64 if dtype is None else as_dtype(dtype)
    found = views.of(getattr(np.fft, name)(n, d=d).astype(own), "cpu")
    return StandardArray(found if device is None else found.to_device(device))


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """The frequencies of ``fft`` for ``n`` samples at a distance ``d``."""
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """The frequencies of ``rfft`` for ``n`` samples at a distance ``d``."""
    return _frequencies("rfftfreq", n, d, dtype, device)


def fftshift(x: StandardArray, /, *, axes: Axes | None = None) -> StandardArray:
    """The frequency zero moved to the middle."""
    return _along("fftshift", x, NUMERIC, axes=axes)


def ifftshift(x: StandardArray, /, *, axes: Axes | None = None) -> StandardArray:
    """The inverse of ``fftshift``."""
    return _along("ifftshift", x, NUMERIC, axes=axes)
