"""Names of NumPy and HLO, as functions of the package, as methods and as NumPy's functions."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import foreign_names, ops

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
    """As a function of the package, and as NumPy's function; an array has the method."""
    a = gb.array(F)
    answer = re.escape(f"; gpubcast calls it {ours!r}")
    assert callable(getattr(a, name))
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


def test_functions_of_numpy_that_only_look_take_an_array() -> None:
    a = gb.array(F)
    assert np.shape(a) == F.shape and np.ndim(a) == 2 and np.size(a) == F.size
    assert np.array_equal(a, F) and np.allclose(a, F)
    assert not np.shares_memory(a, F) and np.shares_memory(a, a.view())
    out = np.zeros_like(F)
    np.copyto(out, a)
    assert np.array_equal(out, F)
    assert np.result_type(a) == F.dtype
    assert np.array_equal(copy.copy(a).numpy(), F)


# What NumPy would make an array of its own of, and what is said instead.
FUNCTIONS: dict[str, tuple[Any, str]] = {
    "concatenate": (lambda a: np.concatenate([a, F]), "write out = gb.empty(shape) and"),
    "where": (lambda a: np.where(a, a, a), "gpubcast calls it 'select'"),
    "sort": (lambda a: np.sort(a), "gpubcast sorts nothing"),
    "reshape in another order": (
        lambda a: np.reshape(a, (4, 3), order="F"), "write a.reshape(dimensions)"
    ),
    "clip": (lambda a: np.clip(a, 0, 1), "gpubcast calls it 'clamp'"),
    "zeros_like": (lambda a: np.zeros_like(a), "write gb.empty(a.xla_shape)"),
    "cumsum": (lambda a: np.cumsum(a), "gpubcast has no scans"),
    "matmul": (lambda a: np.matmul(a, F.T), "gpubcast has no products of matrices"),
    "dot": (lambda a: np.dot(a, F.T), "gpubcast has no products of matrices"),
    "exp": (lambda a: np.exp(a), "call gb.exp(x)"),
    "arctan2": (lambda a: np.arctan2(F, a), "gpubcast calls it 'atan2'"),
    "maximum": (lambda a: np.maximum(F, a), "gpubcast calls it 'max'"),
    "logical_and": (lambda a: np.logical_and(F, a), "gpubcast calls it 'bitwise_and'"),
    "floor_divide": (lambda a: F // a, "write gb.floor(gb.div(x, y)) on floats"),
    "add.reduce": (lambda a: np.add.reduce(a), "gpubcast calls it 'reduce_sum'"),
    "add.outer": (lambda a: np.add.outer(F, a), "numpy.add.outer does not take a gpubcast Array"),
    "add.at": (lambda a: np.add.at(F.copy(), [0], a), "numpy.add.at does not take"),
    "add with": (lambda a: np.add(F, a, dtype="f8"), "call gb.add(x, y, out=...)"),
    "add with out": (lambda a: F.copy().__iadd__(a), "call gb.add(x, y, out=...)"),
    "multiply with where": (lambda a: np.multiply(F, a, where=F > 0), "call gb.mul(x, y, out=...)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_of_numpy_takes_over(name: str) -> None:
    call, answer = FUNCTIONS[name]
    with pytest.raises(gb.ElementTypeError, match=re.escape(answer)) as told:
        call(gb.array(F))
    assert told.value.rule == "A3"
    kinds = ("gpubcast:foreign ufunc", "gpubcast:foreign function", "gpubcast:foreign reduction")
    assert told.value.kind in kinds


# Names of NumPy, CuPy, PyTorch and JAX, as functions of the package and as methods.
NAMES = {
    "floor_divide": "write gb.floor(gb.div(x, y)) on floats; on integers gb.div truncates",
    "matmul": "gpubcast has no products of matrices",
    "zeros": "write gb.full(shape, 0)",
    "get": "or a.numpy(): nothing is transferred implicitly",
    "asnumpy": "or a.numpy(): nothing is transferred implicitly",
    "unsqueeze": "write gb.broadcast_in_dim",
    "jit": "write gb.fuse(function)",
    "tensor": "write gb.array(x)",
    "subtract": "gpubcast calls it 'sub'",
    "logsumexp": "gpubcast calls it 'gb.nn.logsumexp'",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_name_says_what_to_write(name: str) -> None:
    for owner in (gb, gb.array(F)):
        with pytest.raises(gb.UnknownNameError, match=re.escape(NAMES[name])):
            getattr(owner, name)
    with pytest.raises(gb.Error, match=re.escape(NAMES[name])):
        gb.plan(name, "f32[3]")  # type: ignore[arg-type]


def test_the_table_of_foreign_names_has_none_of_ours() -> None:
    names = {*foreign_names.INSTEAD, *(x for names in foreign_names.ABSENT for x in names)}
    assert not names & {*ops.OPS, *ops.ALIASES, *gb.__all__}
    for text in foreign_names.INSTEAD.values():
        # What is written exists.
        for ours in re.findall(r"\bgb\.([a-z_]+)", text):
            assert ours in gb.__all__ or ours == "nn", ours
        for method in re.findall(r"\ba\.([A-Za-z_]+)", text):
            assert hasattr(gb.Array, method), method


def test_a_name_of_numpy_is_no_slip_of_the_pen() -> None:
    """And of others only what is near is offered."""
    for name in ("unwrap", "nanpercentile", "roll", "rot90", "emath"):
        with pytest.raises(gb.UnknownNameError, match=f"gpubcast has no '{name}'$"):
            getattr(gb, name)
    for name, ours in {"subb": "sub", "slect": "select", "ad": "add"}.items():
        with pytest.raises(gb.UnknownNameError, match=f"did you mean '{ours}'"):
            getattr(gb, name)
    with pytest.raises(gb.UnknownNameError, match=r"no 'somm'$"):
        _ = gb.somm


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_along_an_axis_is_a_reduction(name: str) -> None:
    """``gb.max(a, axis=1)`` is what NumPy, CuPy and PyTorch write."""
    one: Any = getattr(gb, name)
    for call in (
        lambda: one(F, axis=1),
        lambda: one(gb.array(F), axis=(0, 1)),
        lambda: one(F, 1, axis=0),
    ):
        with pytest.raises(gb.Error, match=f"write gb.reduce_{name}") as told:
            call()
        assert (told.value.rule, told.value.kind) == ("T0", "gpubcast:unknown keyword")


def test_methods_that_others_have_say_what_to_write() -> None:
    a = gb.array(F)
    assert not hasattr(a, "nothing_like_it")
    with pytest.raises(gb.UnknownNameError, match=re.escape("no 'exp'; call gb.exp(x)")):
        _ = a.exp
    for call, text in (
        (lambda: a // a, "an Array has no //; write gb.floor"),
        (lambda: 2 // a, "an Array has no //; write gb.floor"),
        (lambda: a @ a, "an Array has no @; gpubcast has no products of matrices"),
        (lambda: divmod(a, 2), "an Array has no divmod()"),
        (lambda: round(a), "an Array has no round(); gb.round(x)"),
    ):
        with pytest.raises(gb.ElementTypeError, match=re.escape(text)) as told:
            call()
        assert (told.value.rule, told.value.kind) == ("A7", "gpubcast:absent operator")
