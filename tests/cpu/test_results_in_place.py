"""Several results of one call, of which some are stored over operands: every one is computed from
what the operands held before the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb

Array = np.ndarray[Any, Any]

TYPES = ("i1", "f4", "f8", "c8", ml_dtypes.bfloat16)
# One run of memory, rows, rows beside a transposed operand.
SPECIFICATIONS = ("a, a, a", "a b, a b, b", "a b, a b, b a")


def made(specification: str, dtype: Any) -> list[Array]:
    """Operands of different small numbers, the last with the given labels."""
    sizes = {"a": 300, "b": 70}
    found = []
    for number, group in enumerate(specification.split(", ")):
        shape = tuple(sizes[label] for label in group.split())
        elements = np.arange(np.prod(shape)) % (5 + number) + 10 * number
        found.append(elements.astype(dtype).reshape(shape))
    return found


def check(specification: str, function: Callable[..., Any], dtype: Any) -> None:
    """Whichever operands of two results are their memory."""
    labels, one = specification, specification.split(",")[0]
    fused = gb.fuse(f"{labels} -> {one}, {one}")(function)
    wanted = [np.array(found) for found in fused(*made(specification, dtype))]
    for places in ((0, 1), (1, 0), (0, None), (None, 0), (1, None), (None, 1)):
        operands = made(specification, dtype)
        new = np.zeros_like(operands[0])
        out = tuple(new if place is None else operands[place] for place in places)
        fused(*operands, out=out)
        for found, right in zip(out, wanted, strict=True):
            assert found.tobytes() == right.tobytes(), places


def exchanged(x: Any, y: Any, z: Any) -> Any:
    return y, gb.add(x, gb.mul(z, 0))


def passed_on(x: Any, y: Any, z: Any) -> Any:
    return x + y + z, x


def both(x: Any, y: Any, z: Any) -> Any:
    return x - z, x + z


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("specification", SPECIFICATIONS)
@pytest.mark.parametrize("function", [exchanged, passed_on, both])
def test_two_results(
    streaming: str, function: Callable[..., Any], specification: str, dtype: Any
) -> None:
    check(specification, function, dtype)


def test_operands_exchange_their_elements(streaming: str) -> None:
    x, y = (np.arange(1000.0) + 5000 * k for k in range(2))
    gb.fuse("a, a -> a, a")(lambda x, y: (y, x))(x, y, out=(x, y))
    assert x[0] == 5000 and y[0] == 0 and (x - y == 5000).all()
