"""A pred whose byte is neither 0 nor 1: it reads as true, and is written as 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime.call_cache import REPEATS

# So often that a call goes from Python to its record and to machine code.
CALLS = 4 * REPEATS


def true_bytes(*dimensions: int) -> np.ndarray[Any, Any]:
    """Preds that are true, but for a few, in bytes that NumPy does not write."""
    words = np.random.default_rng(7).integers(0, 256, dimensions or (1,), np.uint8)
    words[words % 5 == 0] = 0
    if not dimensions:
        words = np.full((), 6, np.uint8)
    return words.view(bool)


def written(result: Any) -> np.ndarray[Any, Any]:
    """The bytes of a result."""
    return np.asarray(result.view() if isinstance(result, gb.Array) else result).view(np.uint8)


def bit(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (x.view(np.uint8) != 0).astype(np.uint8)


OPERATIONS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("bitwise_xor", np.bitwise_xor),
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("eq", lambda a, b: (a == b).astype(np.uint8)),
    ("lt", lambda a, b: (a < b).astype(np.uint8)),
    ("max", np.maximum),
    ("add", np.bitwise_or),
)


@pytest.mark.parametrize(("name", "law"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
@pytest.mark.parametrize("how", ["rank 0", "size 1", "scalar", "Array", "array"])
def test_every_way_into_an_operation(name: str, law: Callable[..., Any], how: str) -> None:
    """By value and from memory, at every stage of a repeated call."""
    v = np.array([True, True, False, False])
    single = np.full(1, 6, np.uint8).view(bool)
    x = {
        "rank 0": single.reshape(()),
        "size 1": single,
        "scalar": single[0],
        "Array": gb.from_dlpack(np.full(4, 6, np.uint8).view(bool)),
        "array": np.full(4, 6, np.uint8).view(bool),
    }[how]
    expected = law(v.view(np.uint8), np.ones(4, np.uint8))
    for _ in range(CALLS):
        np.testing.assert_array_equal(written(getattr(gb, name)(v, x)), expected)


MOVES: tuple[tuple[str, tuple[int, ...], Callable[..., Any], Callable[..., Any]], ...] = (
    ("copy", (600, 700), lambda x: gb.broadcast(x, ()), lambda b: b),
    ("repeat", (600, 700), lambda x: gb.broadcast(x, (3,)), lambda b: np.stack([b] * 3)),
    (
        "transpose",
        (600, 700),
        lambda x: gb.broadcast_in_dim(x, (700, 600), (1, 0)),
        lambda b: b.T,
    ),
    (
        "transpose, streamed",
        (4096, 4096),
        lambda x: gb.broadcast_in_dim(x, (4096, 4096), (1, 0)),
        lambda b: b.T,
    ),
    ("copy, streamed", (4096, 4096), lambda x: gb.broadcast(x, ()), lambda b: b),
    ("repeat, streamed", (4096, 4096), lambda x: gb.broadcast(x, (2,)), lambda b: np.stack([b, b])),
    ("reversed", (600, 700), lambda x: gb.broadcast(x[::-1, ::-1], ()), lambda b: b[::-1, ::-1]),
    ("layout", (600, 700), lambda x: gb.array(x, layout=gb.Layout((0, 1))), lambda b: b),
    ("scalar", (), lambda x: gb.broadcast(x, (9, 9)), lambda b: np.broadcast_to(b, (9, 9))),
)  # fmt: skip


@pytest.mark.parametrize(("name", "dimensions", "move", "law"), MOVES, ids=[m[0] for m in MOVES])
def test_what_only_moves_elements_writes_ones(
    name: str,
    dimensions: tuple[int, ...],
    move: Callable[..., Any],
    law: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on" if "streamed" in name else "off")
    x = true_bytes(*dimensions)
    np.testing.assert_array_equal(written(move(x)), law(bit(x)))
