"""What the namespace is able to: ``__array_namespace_info__`` of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpubcast.array_api.creation import DEFAULT_DEVICE
from gpubcast.array_api.dtypes import COMPLEX128, DTYPES, FLOAT64, INT64, isdtype
from gpubcast.backends.cuda import driver
from gpubcast.runtime.device import parse_device
from gpubcast.runtime.device_choice import choose_device

# Axes of a kernel, after those of size 1 are dropped and neighbours are merged (P1).
MAX_DIMENSIONS = 16


class Info:
    """The answers to what a client may ask of the namespace."""

    __module__ = "gpubcast.array_api"

    def capabilities(self) -> dict[str, Any]:
        """What depends on values, and the largest rank that every function takes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MAX_DIMENSIONS,
        }

    def default_device(self) -> str:
        """Where creation functions make arrays unless they are told: the CPU."""
        return DEFAULT_DEVICE

    def devices(self) -> tuple[str, ...]:
        """The devices that can be used here."""
        if choose_device(None)[0] == "cpu":
            return ("cpu",)
        return ("cpu", *(f"cuda:{index}" for index in range(len(driver.probe().gpus))))

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        """The types that arrays have unless they are told, on every device."""
        _check(device)
        return {
            "real floating": FLOAT64,
            "complex floating": COMPLEX128,
            "integral": INT64,
            "indexing": INT64,
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The types of the standard, of a kind (or several) where one is named."""
        _check(device)
        return {
            name: dtype for name, dtype in DTYPES.items() if kind is None or isdtype(dtype, kind)
        }


def _check(device: str | None) -> None:
    if device is not None:
        parse_device(device)


def __array_namespace_info__() -> Info:
    """The namespace, asked about itself."""
    return Info()
