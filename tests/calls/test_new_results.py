"""New results have memory for all that a kernel writes, padding included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import results


@pytest.mark.parametrize("sizes", [(0,), (0, 3), (3, 0), (0, 0)])
def test_padding_without_an_element_has_memory(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel fills padding; a result without elements had a single byte for it."""
    made: list[Any] = []
    define = results.results_of

    def observed(launch: Any, kind: Any) -> tuple[results.NewResult, ...]:
        found = define(launch, kind)
        for new, size in zip(found, launch.sizes, strict=True):
            base = new.make().base
            made.append((0 if base is None else base.nbytes, size))
        return found

    monkeypatch.setattr(results, "results_of", observed)
    monkeypatch.setattr("gpubcast.runtime.call_cache.results_of", observed)
    padded = tuple(size + 5 for size in sizes)
    order = tuple(reversed(range(len(sizes))))
    layout = gb.Layout(order, padded_dimensions=padded, padding_value=gb.PaddingValue.ZERO)
    for _ in range(4):
        assert gb.neg(np.empty(sizes, np.float32), out_layout=layout).shape == sizes
    assert made and all(size == 4 * math.prod(padded) <= memory for memory, size in made)
