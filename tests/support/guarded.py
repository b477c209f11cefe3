"""Outputs in the middle of a pattern, which tell whether anything beside them was written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

GUARD = 256


class Guarded:
    """An output at some elements from a line's begin, some apart from row to row.

    Attributes:
        out: the output.
        raw: all of its memory.
    """

    def __init__(
        self, dtype: Any, dimensions: tuple[int, ...], skew: int = 0, apart: int = 0
    ) -> None:
        *outer, inner = dimensions
        size = math.prod(outer) * (inner + apart) * np.dtype(dtype).itemsize
        self.raw = np.full(size + 2 * GUARD + 64, 0xA5, np.uint8)
        at = GUARD + -(self.raw.ctypes.data + GUARD) % 64 + skew * np.dtype(dtype).itemsize
        whole = self.raw[at : at + size].view(dtype).reshape(*outer, inner + apart)
        self.out = whole[..., :inner]

    def check(self, wanted: Any) -> None:
        """The output is what is wanted, and nothing beside it was written; it is empty then."""
        np.testing.assert_array_equal(self.out, wanted)
        self.out.view(np.uint8)[...] = 0xA5
        assert (self.raw == 0xA5).all()
