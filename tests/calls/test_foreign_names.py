"""Names of NumPy and HLO, as functions of the package, as methods and as NumPy's functions."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import ops

F = np.arange(12, dtype="f4").reshape(3, 4)


def test_foreign_names_are_answered_with_ours() -> None:
    with pytest.raises(gb.UnknownNameError, match="calls it 'sub'"):
        _ = gb.subtract
    assert not hasattr(gb, "multiply")


REDUCTIONS = {
    "sum": "reduce_sum", "prod": "reduce_prod", "max": "reduce_max", "min": "reduce_min",
    "any": "reduce_or", "all": "reduce_and", "mean": "gb.nn.mean", "var": "gb.nn.var",
}  # fmt: skip


@pytest.mark.parametrize(("name", "ours"), REDUCTIONS.items())
def test_reductions_that_people_try_are_answered_with_ours(name: str, ours: str) -> None:
    """As a function of the package, as a method, and as NumPy's function."""
    a = gb.array(F)
    answer = re.escape(f"; gpubcast calls it {ours!r}")
    with pytest.raises(gb.UnknownNameError, match=f"an Array has no '{name}'{answer}"):
        getattr(a, name)()
    with pytest.raises(gb.ElementTypeError, match=f"numpy.{name} does not take .*{answer}") as told:
        getattr(np, name)(a)
    assert told.value.kind == "gpubcast:foreign reduction"
    with pytest.raises(gb.ElementTypeError, match=f"numpy.{name} needs the value .*{answer}"):
        gb.fuse(lambda x: getattr(np, name)(x))(F)
    if name not in ("max", "min"):
        with pytest.raises(gb.UnknownNameError, match=f"gpubcast has no '{name}'{answer}"):
            getattr(gb, name)


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_of_one_operand_is_a_reduction(name: str) -> None:
    reduction = f"of the elements of one array it is reduce_{name}"
    text = re.escape(f"{name}: takes 2 operands (x, y), got 1; {reduction}")
    one: Any = getattr(gb, name)
    fused = gb.fuse(lambda x: one(x))
    for call in (lambda: one(F), lambda: one(gb.array(F)), lambda: fused(F)):
        with pytest.raises(gb.Error, match=text) as told:
            call()
        assert (told.value.rule, told.value.kind) == ("T0", "gpubcast:number of operands")
    with pytest.raises(gb.Error, match=text):
        gb.plan(name, "f32[3]")


def test_names_of_neural_networks_are_those_of_nn() -> None:
    functions = {name for name, x in vars(gb.nn).items() if isinstance(x, gb.Fused)}
    assert set(ops.NN) == functions
    for name in (*ops.NN, *ops.NN_ALIASES):
        # logistic is jax.lax's name of the sigmoid.
        ours = {"sigmoid": "logistic"}.get(name, f"gb.nn.{ops.NN_ALIASES.get(name, name)}")
        with pytest.raises(gb.UnknownNameError, match=f"gpubcast calls it '{ours}'"):
            getattr(gb, name)


def test_other_functions_of_numpy_and_other_names_are_as_before() -> None:
    a = gb.array(F)
    assert np.shape(a) == F.shape
    assert np.array_equal(a, F)
    assert np.concatenate([a, F]).shape == (2 * len(F), *F.shape[1:])
    assert not hasattr(a, "sum") and not hasattr(a, "nothing_like_it")
    with pytest.raises(AttributeError, match="'Array' object has no attribute 'reshape'"):
        _ = a.reshape
    with pytest.raises(gb.UnknownNameError, match=re.escape("no 'exp'; call gb.exp(x)")):
        _ = a.exp
    assert np.array_equal(copy.copy(a).numpy(), F)
