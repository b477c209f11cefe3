"""``gb.nn`` beside ``jax.nn`` (tests/corpora/nn.jsonl), and beside sums in f64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import nn
from tests.support.reduced_values import same
from tests.support.reduction_cases import array_of, dtype_of
from tests.support.small_types import F8, HALVES

FILE = Path(__file__).resolve().parents[1] / "corpora" / "nn.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
ALONG = ("softmax", "log_softmax", "logsumexp", "standardize", "mean", "var")
ELEMENTWISE = ("relu", "gelu", "silu", "sigmoid", "softplus")
Array = np.ndarray[Any, Any]


def wrong(row: dict[str, Any], found: Array) -> list[int]:
    """Where a result is not jax's: other infinities or NaN, or more than four units of the larger
    of the operand and the result (differences are taken of numbers of that size)."""
    kind = row["type"]
    wanted = array_of(kind, row["out_dims"], row["out"])
    x = array_of(kind, row["dims"], row["bits"]).astype(float)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), row
    one, other = found.astype(float), wanted.astype(float)
    size = max(1.0, np.abs(x[np.isfinite(x)]).max(initial=0))
    if row["function"] == "var":
        size = size**2
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= 4 * EPSILON[kind] * np.maximum(size, np.abs(other))
    near &= np.isfinite(one) & np.isfinite(other)
    alike = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.flatnonzero(~(near | alike)).tolist()


def check(row: dict[str, Any]) -> None:
    x = array_of(row["type"], row["dims"], row["bits"])
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in row["keywords"].items()}
    found = getattr(nn, row["function"])(x, **given)
    assert wrong(row, np.asarray(found)) == [], (row["tag"], row["function"], given)


def chosen(kinds: tuple[str, ...], functions: tuple[str, ...], *, every: bool) -> list[Any]:
    return [
        row
        for row in ROWS
        if row["type"] in kinds and row["function"] in functions
        if every or (row["keywords"].get("axis", -1) == -1 and row["type"] == "f32")
    ]


@pytest.mark.parametrize("function", [*ALONG, *ELEMENTWISE])
def test_jax(function: str) -> None:
    rows = chosen(("f32",), (function,), every=False)
    assert len(rows) >= 3
    for row in rows:
        check(row)


@pytest.mark.long
@pytest.mark.parametrize("kind", EPSILON)
@pytest.mark.parametrize("function", [*ALONG, *ELEMENTWISE])
def test_jax_on_every_type_and_axis(function: str, kind: str) -> None:
    """Of a type every other axis, and of the next type the others."""
    for row in chosen((kind,), (function,), every=True)[list(EPSILON).index(kind) % 2 :: 2]:
        check(row)


def test_a_wrong_result_would_be_seen() -> None:
    for row in ROWS:
        out = array_of(row["type"], row["out_dims"], row["out"])
        assert wrong(row, out) == []
        size = max(1, np.abs(array_of(row["type"], row["dims"], row["bits"]).astype(float)).max())
        if np.isfinite(out.astype(float)).all() and np.isfinite(size):
            other = (out.astype(float) + max(size, size**2) / 16).astype(out.dtype)
            assert len(wrong(row, other)) == out.size, row["function"]


# --- f64 references ------------------------------------------------------------------------------

RNG = np.random.default_rng(1811)
X = RNG.standard_normal((5, 6, 300)).astype("f4")
G = RNG.standard_normal(300).astype("f4")
B = RNG.standard_normal(300).astype("f4")


def close(found: Any, wanted: Array, bound: float = 4e-6) -> None:
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert np.abs(found.astype(float) - wanted).max(initial=0) <= bound


def normal(x: Array, axis: Any, epsilon: float) -> Array:
    x = x.astype(float)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def test_layer_norm() -> None:
    wanted = normal(X, -1, 1e-6)
    close(nn.layer_norm(X), wanted)
    close(nn.layer_norm(X, G), wanted * G)
    close(nn.layer_norm(X, None, B), wanted + B)
    close(nn.layer_norm(X, G, B), wanted * G + B, 8e-6)
    close(nn.layer_norm(X, G, B, epsilon=0.1), normal(X, -1, 0.1) * G + B, 8e-6)


def test_layer_norm_over_several_axes() -> None:
    scale = RNG.standard_normal((6, 300)).astype("f4")
    close(
        nn.layer_norm(X, scale, scale, axis=(1, 2)), normal(X, (1, 2), 1e-6) * scale + scale, 1e-5
    )
    close(nn.layer_norm(X, scale, axis=(-1, -2)), normal(X, (1, 2), 1e-6) * scale, 1e-5)
    column = RNG.standard_normal(5).astype("f4")
    close(nn.layer_norm(X, column, axis=0), normal(X, 0, 1e-6) * column[:, None, None], 1e-5)


def test_rms_norm() -> None:
    wide = X.astype(float)
    wanted = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6)
    close(nn.rms_norm(X), wanted)
    close(nn.rms_norm(X, G), wanted * G)


def test_long_rows_and_columns() -> None:
    """Means are exact to the last bits also where a sum in the order of memory is not."""
    x = (RNG.standard_normal((3, 50_000)) + 1000).astype("f4")
    wide = x.astype(float)
    for one, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        assert np.abs(np.asarray(nn.mean(one, axis=axis)) - wide.mean(1)).max() <= 1e-4
        assert np.abs(np.asarray(nn.var(one, axis=axis)) / wide.var(1) - 1).max() <= 1e-4
        close(
            np.asarray(nn.logsumexp(one, axis=axis)),
            np.log(np.exp(wide - 1000).sum(1)) + 1000,
            2e-4,
        )


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_means_of_narrow_types_are_computed_in_f32(kind: str) -> None:
    """The sums are exact there: no ones are lost, and nothing overflows."""
    x = np.full((2, 8_192), 60_000 if kind == "f16" else 3.0, dtype_of(kind))
    wide = x.astype(float)
    assert (np.asarray(nn.mean(x)).astype(float) == wide.mean(1)).all()
    assert (np.asarray(nn.var(x)).astype(float) == 0).all()
    assert (np.asarray(nn.standardize(x)).astype(float) == 0).all()
    assert nn.layer_norm(x, np.ones(8_192, x.dtype)).dtype == x.dtype


# --- ends, ranks, types --------------------------------------------------------------------------


def test_no_elements() -> None:
    empty = np.zeros((2, 0), "f4")
    for name in ("softmax", "log_softmax", "standardize", "layer_norm", "rms_norm"):
        assert getattr(nn, name)(empty).shape == (2, 0)
    assert (np.asarray(nn.logsumexp(empty)) == -np.inf).all()
    assert np.isnan(nn.mean(empty)).all() and np.isnan(nn.var(empty)).all()
    assert nn.softmax(empty, axis=0).shape == (2, 0)


def test_any_rank() -> None:
    for dims in ((7,), (1, 7), (2, 1, 7), (2, 3, 1, 2, 7)):
        x = RNG.standard_normal(dims)
        e = np.exp(x - x.max(-1, keepdims=True))
        close(nn.softmax(x), e / e.sum(-1, keepdims=True), 1e-15)


def test_complex_numbers_have_means() -> None:
    z = (RNG.standard_normal((3, 50)) + 1j * RNG.standard_normal((3, 50))).astype("c16")
    assert np.abs(np.asarray(nn.mean(z)) - z.mean(1)).max() <= 1e-15
    assert np.abs(np.asarray(nn.var(z)) - z.var(1)).max() <= 1e-15


def test_a_layout_is_kept() -> None:
    x = gb.array(X, layout=gb.Layout((0, 2, 1), (8, 8, 512)))
    for name in ("softmax", "layer_norm"):
        found = getattr(nn, name)(x)
        assert same(found.numpy(), np.asarray(getattr(nn, name)(X)))
    assert same(nn.mean(x, axis=1).numpy(), np.asarray(nn.mean(X, axis=1)))


def test_inside_functions_with_labels_and_without() -> None:
    labelled = gb.fuse("r c -> r c")(lambda x: nn.softmax(x, axis="c") * 2)
    plain = gb.fuse(lambda x: nn.softmax(x) * 2)
    wanted = np.asarray(nn.softmax(X[0])) * 2
    assert same(labelled(X[0]), wanted) and same(plain(X[0]), wanted)
    norm = gb.fuse("r c, c, c -> r c")(lambda x, g, b: nn.layer_norm(x, g, b, axis="c"))
    assert same(norm(X[0], G, B), np.asarray(nn.layer_norm(X[0], G, B)))
    both = gb.fuse("b r c -> b")(lambda x: nn.logsumexp(x, axis=("r", "c")))
    assert same(both(X), np.asarray(nn.logsumexp(X, axis=(1, 2))))


def test_out_and_out_layout() -> None:
    out = np.empty_like(X)
    assert nn.softmax(X, out=out) is out
    assert same(out, np.asarray(nn.softmax(X)))
    layout = gb.Layout((0, 1, 2))
    assert nn.softmax(gb.array(X), out_layout=layout).layout == layout


@pytest.mark.parametrize("name", ["mean", "var", "standardize", "layer_norm", "rms_norm"])
def test_integers_are_refused(name: str) -> None:
    with pytest.raises(gb.ElementTypeError) as caught:
        getattr(nn, name)(np.arange(6).reshape(2, 3))
    assert (caught.value.rule, caught.value.kind) == ("T7", f"gpubcast:integer {name}")
    assert f"{name}: not defined on s64" in str(caught.value)


@pytest.mark.parametrize("axis", [2, -3, (0, 2)])
def test_axes_that_x_lacks_are_refused(axis: Any) -> None:
    with pytest.raises(gb.ShapeError) as caught:
        nn.softmax(X[0], axis=axis)
    assert caught.value.rule == "E1"
    assert f"softmax: axis={axis!r}, but x has 2 dimensions" in str(caught.value)


@pytest.mark.parametrize("axis", [None, True, 1.0, np.bool_(True), (0, None)])
def test_axes_that_are_no_integers_are_refused(axis: Any) -> None:
    with pytest.raises(gb.ShapeError) as caught:
        nn.softmax(X[0], axis=axis)
    assert caught.value.rule == "B2"
    assert "softmax: an axis outside of labels must be an integer, got " in str(caught.value)


@pytest.mark.parametrize("axis", [-1, 1, None])
def test_numbers_inside_labels_are_refused(axis: Any) -> None:
    with pytest.raises(gb.ShapeError) as caught:
        gb.fuse("r c -> r c")(lambda x: nn.softmax(x, axis=axis))(X[0])
    assert caught.value.rule == "E4"
    assert f"softmax: axis={axis}: inside 'r c -> r c' an axis is named" in str(caught.value)


@pytest.mark.parametrize("function", [nn.mean, nn.softmax])
def test_no_axis_inside_labels(function: Any) -> None:
    fused = gb.fuse("r c -> r c")(lambda x: function(x, axis=()))
    assert same(fused(X[0]), function(X[0], axis=()))


def test_what_has_no_type_says_so() -> None:
    for function in (
        lambda x: nn.mean(gb.select(x > 0, 1.0, 0.0), axis=(0, 1)),
        lambda x: nn.rms_norm(x, gb.select(x > 0, 1.0, 0.0)),
    ):
        with pytest.raises(gb.ElementTypeError, match="no operand beside a Python scalar"):
            gb.fuse(function)(X[0])


def test_integers_of_numpy_are_axes() -> None:
    np.testing.assert_array_equal(nn.softmax(X[0], axis=np.int64(0)), nn.softmax(X[0], axis=0))


@pytest.mark.parametrize("kind", [*F8, *HALVES, "f32", "f64"], ids=str)
def test_logsumexp_of_every_float_type(kind: Any) -> None:
    """Of an infinite element, where the type has one, the sum is infinite."""
    dtype = dtype_of(str(kind))
    x = np.array([[1, 2, 3], [-2, 0.5, 1]]).astype(dtype)
    with np.errstate(all="ignore"):
        infinite = np.array([[np.inf, 1, 2], [-np.inf] * 3]).astype(dtype)
    wanted = np.log(np.exp(x.astype(float)).sum(1))
    found = nn.logsumexp(x).astype(float)
    assert np.abs(found - wanted).max() <= 0.25, found
    if np.isinf(infinite[0, 0].astype(float)):
        np.testing.assert_array_equal(nn.logsumexp(infinite).astype(float), [np.inf, -np.inf])


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "c64"])
def test_a_mean_of_several_axes_is_one_quotient(kind: str) -> None:
    x = np.random.default_rng(3).standard_normal((50, 7, 11)).astype(dtype_of(kind))
    wide = x.astype("f4") if kind == "f16" else x
    wanted = gb.div(gb.reduce_sum(wide, (1, 2)), wide.dtype.type(77)).astype(x.dtype)
    for found in (nn.mean(x, axis=(1, 2)), nn.mean(x, axis=(2, 1)), gb.array(x).mean((2, 1))):
        assert same(np.asarray(found), wanted)
    assert same(np.asarray(nn.mean(x, axis=())), x)


@pytest.mark.parametrize("name", ["mean", "var", "softmax", "logsumexp", "standardize"])
def test_dots_are_all_axes_for_which_they_stand(name: str) -> None:
    function = getattr(nn, name)
    left = "b c" if name in ("mean", "var", "logsumexp") else "b ... c"
    fused = gb.fuse(f"b ... c -> {left}")(lambda x: function(x, axis="..."))
    x = np.random.default_rng(4).standard_normal((2, 3, 4, 5)).astype("f4")
    assert same(fused(x), function(x, axis=(1, 2)))
    assert same(fused(x[:, 0]), function(x[:, 0], axis=1))
    both = gb.fuse("b ... c -> c")(lambda x: nn.mean(x, axis=("...", "b")))
    assert same(both(x), nn.mean(x, axis=(0, 1, 2)))


@pytest.mark.parametrize("scale", [X[0], 2.0, np.float32(2)])
def test_a_scale_of_other_axes_is_refused(scale: Any) -> None:
    with pytest.raises(gb.ShapeError) as caught:
        nn.rms_norm(X[0], scale)
    assert caught.value.rule == "B5b"
    assert "rms_norm: scale has the axes that are normalised, 1 of x, not" in str(caught.value)


def test_other_names_and_other_forms_are_refused() -> None:
    with pytest.raises(gb.ElementTypeError, match="approximate='none': it is True or False"):
        nn.gelu(X, approximate="none")
    with pytest.raises(gb.UnknownNameError, match=r"gb\.sqrt\(gb\.nn\.var\(x, axis\)\)"):
        nn.std  # noqa: B018
    with pytest.raises(gb.UnknownNameError, match=r"it is gb\.exp$"):
        nn.exp  # noqa: B018
    assert not hasattr(nn, "__wrapped__")


def test_an_axis_twice_is_refused() -> None:
    with pytest.raises(gb.ShapeError) as caught:
        nn.mean(X, axis=(0, -3))
    assert caught.value.rule == "E2"
