"""Operands and functions that several tests of fusion call, and what a refused call raises."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

Array = np.ndarray[Any, Any]
X = np.arange(6, dtype="f4").reshape(2, 3)
INTS = np.arange(6).reshape(2, 3)
V = X[0].copy()
# What ``moded`` was traced with, in order.
TRACES: list[Any] = []


@gb.fuse
def scaled(x: Any, s: Any) -> Any:
    """x * s + s."""
    return x * s + s


@gb.fuse
def twice(x: Any, i: Any, s: Any) -> Any:
    return x * s, i * s


@gb.fuse("row col, row, row, col, col -> row col")
def layernorm_apply(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
    return (x - mean) * rstd * gamma + beta


@gb.fuse(static="mode")
def moded(x: Any, mode: Any) -> Any:
    TRACES.append(mode)
    return getattr(gb, mode)(x) if isinstance(mode, str) else x + len(repr(mode))


@gb.fuse
def defaults(x: Any, y: Any = 2.0, *, z: Any = None, w: Any = 3) -> Any:
    product = x * y * w
    return product if z is None else product + z


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, "f4")


def many(count: int, *shape: int) -> list[Array]:
    return [random(*shape, seed=seed) for seed in range(count)]


def summed(*xs: Any) -> Any:
    """Every operand once, from left to right."""
    return functools.reduce(gb.add, xs)


def refusal(call: Callable[[], Any]) -> gb.Error:
    """The error of a call that is refused."""
    with pytest.raises(gb.Error) as caught:
        call()
    return caught.value


def marked(function: Callable[..., Any]) -> str:
    """How a message names the line of a function that ends in the comment ``here``."""
    code = function.__code__
    path = Path(code.co_filename)
    lines = path.read_text(encoding="utf-8").splitlines()
    first = code.co_firstlineno
    number = next(i for i in range(first, first + 5) if lines[i - 1].endswith("# here"))
    return f"  in {function.__name__} ({path.name}:{number}): {lines[number - 1].strip()}"
