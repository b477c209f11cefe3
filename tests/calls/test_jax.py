"""``gpubcast.jax`` and ``gb.from_jax``: bits inside ``jax.jit``, ``vmap``, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors

jax = doors.library("jax")
import gpubcast.jax  # noqa: E402

RNG = np.random.default_rng(11)
X = RNG.standard_normal((7, 33)).astype("f4")
V = RNG.standard_normal(33).astype("f4")


@gb.fuse("row col, row, col -> row col")
def scaled(x: Any, mean: Any, gain: Any) -> Any:
    return gb.tanh((x - mean) * gain)


@gb.fuse("r c -> c r, r")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "c"))
    total = gb.reduce_sum(e, "c")
    return e / total, gb.log(total)


@gb.fuse(static=("mode",))
def plain(x: Any, y: Any, k: Any = 2.0, *, mode: str = "add") -> Any:
    return gb.add(gb.mul(x, k), y) if mode == "add" else gb.sub(gb.mul(x, k), y)


def same(got: Any, wanted: Any) -> None:
    got = np.asarray(got)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_inside_jit_and_outside_the_bits_are_those_of_the_function() -> None:
    mean = X[:, 0].copy()
    inside = jax.jit(lambda *given: gpubcast.jax.call(scaled, *given))
    for made in (inside(X, mean, V), gpubcast.jax.call(scaled, X, mean, V)):
        same(made, scaled(X, mean, V))


def test_what_jax_computes_before_and_after_is_in_the_same_program() -> None:
    f = jax.jit(lambda x, m, g: gpubcast.jax.call(scaled, x + 1, m, g) * 2)
    same(f(X, X[:, 0], V), scaled(X + 1, X[:, 0].copy(), V) * 2)


@pytest.mark.parametrize("columns", [1, 5, 512, 100_000])
def test_several_results_other_layouts_and_kernels_with_temporaries(columns: int) -> None:
    x = RNG.standard_normal((3, columns)).astype("f4")
    made = jax.jit(lambda x: gpubcast.jax.call(softmax, x))(x)
    assert isinstance(made, tuple)
    for got, wanted in zip(made, softmax(x), strict=True):
        same(got, wanted)


def test_large_operands_are_split_over_the_threads() -> None:
    x = RNG.standard_normal((1200, 1100)).astype("f4")
    g = x[0].copy()
    f = jax.jit(lambda *given: gpubcast.jax.call(scaled, *given))
    same(f(x, x[:, 0], g), scaled(x, x[:, 0].copy(), g))


def test_scalars_static_values_and_defaults() -> None:
    f = jax.jit(lambda x, y: gpubcast.jax.call(plain, x, y, 3, mode="sub"))
    same(f(X, X), plain(X, X, 3, mode="sub"))
    same(gpubcast.jax.call(plain, X, X), plain(X, X))
    with pytest.raises(gb.ElementTypeError):
        gpubcast.jax.call(plain, X.astype("i4"), X.astype("i4"), 2.5)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "pred", "s8", "u32", "c64", "f8e4m3fn"])
def test_element_types(dtype: str) -> None:
    x = (X * 3).astype(gb.element_type(dtype).dtype)

    @gb.fuse("i j -> j i")
    def moved(x: Any) -> Any:
        return gb.select(gb.eq(x, x), x, x)

    same(jax.jit(lambda x: gpubcast.jax.call(moved, x))(x), moved(x))


def test_64_bits() -> None:
    with jax.enable_x64(True):
        x = X.astype("f8")
        same(jax.jit(lambda x: gpubcast.jax.call(softmax, x))(x)[1], softmax(x)[1])


def test_no_elements() -> None:
    same(jax.jit(lambda x: gpubcast.jax.call(softmax, x))(X[:0])[1], softmax(X[:0])[1])


def test_vmap_adds_a_label() -> None:
    xs, means = np.stack([X, 2 * X, -X]), np.stack([X[:, 0]] * 3)

    def one(x: Any, mean: Any, gain: Any) -> Any:
        return gpubcast.jax.call(scaled, x, mean, gain)

    mapped = jax.jit(jax.vmap(one, in_axes=(0, 0, None)))
    wanted = np.stack([scaled(x, m.copy(), V) for x, m in zip(xs, means, strict=True)])
    same(mapped(xs, means, V), wanted)
    text = str(mapped.lower(xs, means, V).as_text())
    assert text.count("@gpubcast(") == 1 and "while" not in text
    # An axis that is not the first, and one over the other.
    last = jax.vmap(one, in_axes=(2, None, None), out_axes=2)
    same(last(np.moveaxis(xs, 0, 2), means[0], V), np.moveaxis(np.stack(
        [scaled(x, means[0].copy(), V) for x in xs]), 0, 2))  # fmt: skip
    twice = jax.vmap(jax.vmap(one, in_axes=(None, None, 0)), in_axes=(0, None, None))
    gains = np.stack([V, V + 1])
    made = twice(xs, means[0], gains)
    for i, x in enumerate(xs):
        for k, gain in enumerate(gains):
            same(made[i, k], scaled(x, means[0].copy(), gain))


def test_vmap_of_several_results() -> None:
    xs = np.stack([X, 2 * X])
    first, second = jax.vmap(lambda x: gpubcast.jax.call(softmax, x))(xs)
    for i, x in enumerate(xs):
        same(first[i], softmax(x)[0])
        same(second[i], softmax(x)[1])


def test_vmap_without_labels_is_one_kernel_too() -> None:
    mapped = jax.jit(jax.vmap(lambda x, y: gpubcast.jax.call(plain, x, y), in_axes=(0, None)))
    same(mapped(X, V), np.stack([plain(x, V) for x in X]))
    text = mapped.lower(X, V).as_text()
    assert text.count("@gpubcast(") == 1 and "while" not in text


def test_what_is_refused() -> None:
    with pytest.raises(gb.ShapeError, match="'col'"):
        jax.jit(lambda x: gpubcast.jax.call(scaled, x, x[:, 0], x[0, :5]))(X)
    with pytest.raises(gb.ElementTypeError, match="takes JAX and NumPy arrays") as caught:
        gpubcast.jax.call(scaled, gb.array(X), X[:, 0], V)
    assert caught.value.rule == "A3"
    with pytest.raises(gb.ElementTypeError, match=r"made by gb\.fuse") as caught:
        gpubcast.jax.call(gb.add, X, X)
    assert caught.value.rule == "F5"
    with pytest.raises(gb.ElementTypeError, match="two s4 in a byte") as caught:
        gpubcast.jax.call(plain, X.astype("int4"), X.astype("int4"), 1)
    assert caught.value.rule == "J1"


@pytest.mark.parametrize("of", [jax.jit, jax.vmap, lambda f: jax.jvp(f, (X,), (X,))])
def test_a_direct_call_inside_of_a_transformation_says_what_to_call(of: Any) -> None:
    for function in (gb.neg, gb.fuse(lambda x: x + 1.0)):
        with pytest.raises(gb.ElementTypeError, match=r"gpubcast\.jax\.call") as caught:
            of(lambda x, f=function: f(x))(X)
        assert caught.value.rule == "A3"


class _Variable:
    """A variable as JAX's libraries have them."""

    def __init__(self, value: Any) -> None:
        self.value = jax.numpy.asarray(value)
        self.shape, self.dtype = self.value.shape, self.value.dtype

    def __jax_array__(self) -> Any:
        return self.value


class _Exporter:
    """What has a shape and a type, and is no array of JAX's or NumPy's."""

    shape, dtype = X.shape, X.dtype

    def __array__(self, *given: Any, **how: Any) -> Any:
        return X


def test_what_carries_more_than_numbers_is_refused() -> None:
    one = gb.fuse(lambda x: x + 1.0)
    for x in (np.ma.masked_array(X, X > 0), _Exporter(), jax.ShapeDtypeStruct((3,), "f4")):
        with pytest.raises(gb.ElementTypeError, match="takes JAX and NumPy arrays") as caught:
            gpubcast.jax.call(one, x)
        assert caught.value.rule == "A3"
    pandas = doors.library("pandas")
    with pytest.raises(gb.ElementTypeError, match="Series of pandas") as caught:
        gpubcast.jax.call(one, pandas.Series(V))
    assert caught.value.rule == "A3"
    same(gpubcast.jax.call(one, _Variable(X)), X + 1)


@pytest.mark.parametrize("what", ["str", "object", "key"])
def test_what_has_no_element_type_is_refused(what: str) -> None:
    x = jax.random.key(0) if what == "key" else np.full((7, 33), None, what)
    for call in (lambda: gpubcast.jax.call(plain, x, x, 1), lambda: gb.from_jax(lambda x: x, x)):
        with pytest.raises(gb.ElementTypeError) as caught:
            call()
        assert caught.value.rule == "T1"


def test_sizes_that_are_no_numbers_are_refused() -> None:
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n,4"), "f4")
    with pytest.raises(gb.ShapeError, match=r"argument x .* sizes \(n, 4\)") as caught:
        jax.export.export(jax.jit(lambda x: gpubcast.jax.call(plain, x, x, 1.0)))(x)
    assert caught.value.rule == "S1"


def test_without_jit_it_runs_all_the_same() -> None:
    def loss(x: Any) -> Any:
        return gpubcast.jax.call(plain, x, X, 2.0).sum()

    wanted = plain(X, X, 2.0), jax.grad(loss)(X)
    with jax.disable_jit():
        same(gpubcast.jax.call(plain, X, X, 2.0), wanted[0])
        same(jax.grad(loss)(X), np.asarray(wanted[1]))


def test_without_machine_code_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpubcast.jax import custom_call

    monkeypatch.setattr(custom_call, "code_of", lambda kernel: None)
    with pytest.raises(gb.DeviceError, match="this interpreter does not reach") as caught:
        gpubcast.jax.call(plain, X[:, :3], X[:, :3], 5.0)
    assert caught.value.rule == "J2"


def test_a_program_of_another_process_is_refused_not_run() -> None:
    """What names no record of this process ends in XLA's error."""
    x = np.ones(8, "f4")
    gpubcast.jax.call(plain, x, x)
    lost = jax.ffi.ffi_call("gpubcast", jax.ShapeDtypeStruct((8,), x.dtype))
    with pytest.raises(Exception, match="no gpubcast call of this key"):
        jax.jit(lambda x: lost(x, x, key=np.int64(12345)))(x).block_until_ready()


# --- from_jax ------------------------------------------------------------------------------------


def normalised(x: Any, gain: Any) -> Any:
    mean = x.mean(1, keepdims=True)
    return (x - mean) / jax.numpy.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5) * gain


def test_a_function_of_jax_is_one_kernel() -> None:
    f = gb.from_jax(normalised, X, gb.Shape("f32", (33,)))
    assert [len(plan.broadcast_plans) for plan in f.plans()] == [1]
    np.testing.assert_allclose(f(X, V), np.asarray(jax.jit(normalised)(X, V)), rtol=2e-5, atol=2e-6)


def test_names_stand_for_sizes() -> None:
    f = gb.from_jax(normalised, "f32[n,m]", "f32[m]")
    assert f.parameters == ("f32[?,?]", "f32[?]")
    for n, m in ((7, 33), (2, 5), (40, 3)):
        x, g = RNG.standard_normal((n, m)).astype("f4"), RNG.standard_normal(m).astype("f4")
        np.testing.assert_allclose(f(x, g), np.asarray(normalised(x, g)), rtol=2e-5, atol=2e-6)
    with pytest.raises(gb.ShapeError, match="the specification 'm'") as caught:
        f(X, V[:4])
    assert caught.value.rule == "H8"


def test_an_argument_that_is_not_used_is_an_operand() -> None:
    for shapes in (("f32[7,33]", "f32[33]"), ("f32[n,m]", "f32[m]")):
        same(gb.from_jax(lambda x, gain: gain * 2, *shapes)(X, V), V * 2)
    dropped = gb.from_stablehlo(jax.jit(lambda x, gain: gain * 2).lower(X, V))
    with pytest.raises(gb.Error, match="keep_unused=True") as caught:
        dropped(X, V)
    assert caught.value.rule == "H5"


@pytest.mark.parametrize("text", ["f32[n-]", "f32[n,n n]", "f32[_]"])
def test_sizes_that_jax_does_not_read_are_refused(text: str) -> None:
    with pytest.raises(gb.ShapeError, match="JAX reads no sizes") as caught:
        gb.from_jax(lambda x: x, text)
    assert caught.value.rule == "S8"


def test_argmax_structures_and_64_bits() -> None:
    f = gb.from_jax(lambda x: {"at": jax.numpy.argmax(x, 1), "any": (x > 1).any()}, "f32[7,33]")
    every, at = f(X)
    np.testing.assert_array_equal(at, X.argmax(1))
    assert every == (X > 1).any()
    wide = gb.from_jax(lambda x: x.sum(), "f64[4]")
    assert wide(np.arange(4.0)).dtype == np.float64
    with pytest.raises(gb.ElementTypeError) as caught:
        gb.from_jax(lambda x: x, 3)
    assert caught.value.rule == "A3"
