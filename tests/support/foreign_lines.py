"""Both sides of a line of *Coming from*, computed."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np

import gpubcast as gb
from tools.site import foreign_lines


def ours(line: foreign_lines.Line, **given: Any) -> np.ndarray[Any, Any]:
    """What our line gives."""
    names = {**foreign_lines.operands(), **given, "gb": gb, "np": np}
    return np.asarray(eval(line.ours, names))


def theirs(key: str, text: str) -> np.ndarray[Any, Any]:
    """What the other library's line gives; NumPy stands for CuPy, whose names it has."""
    names: dict[str, Any] = {"np": np}
    if key == "cupy":
        names["cp"] = SimpleNamespace(**vars(np), asnumpy=np.array)
    else:
        exec(foreign_lines.LIBRARIES[key].imports, names)
    given = foreign_lines.operands()
    if key == "torch":
        given = {name: names["torch"].from_numpy(x) for name, x in given.items()}
    if key == "jax":
        given = {name: names["jnp"].asarray(x) for name, x in given.items()}
    return np.asarray(eval(text, {**names, **given}))


def called(text: str) -> set[str]:
    """The functions of the library's namespace that a line calls."""
    return set(re.findall(r"\b(?:np|cp|jnp|torch)\.([a-z_]+)\(", text))


def compare(line: foreign_lines.Line, key: str, text: str) -> None:
    """Both sides have one shape, one element type, and values as near as f32 functions are; an
    index of XLA's is an s32, others count with s64."""
    here, there = ours(line), theirs(key, text)
    assert here.shape == there.shape
    index = here.dtype == np.int32 and there.dtype == np.int64
    assert here.dtype == there.dtype or index
    np.testing.assert_allclose(here, there, rtol=1e-5)
