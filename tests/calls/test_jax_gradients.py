"""``gpubcast.jax.call`` differentiated: against JAX's own derivatives, forward, backward, to higher
orders, mapped over, and with the bits of the graph of gradients outside of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.transposition import transposed
from gpubcast.plans import Plan
from tests.support import doors

jax = doors.library("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import gpubcast.jax  # noqa: E402

RNG = np.random.default_rng(19)
X = RNG.standard_normal((4, 6))
GAIN = RNG.standard_normal(6)


@pytest.fixture(autouse=True)
def doubles() -> Any:
    with jax.enable_x64(True):
        yield


@gb.fuse("r c, c -> r c, r")
def softmax(x: Any, gain: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "c"))
    total = gb.reduce_sum(e, "c")
    return e / total * gain, gb.log(total)


def softmax_of_jax(x: Any, gain: Any) -> Any:
    e = jnp.exp(x - jnp.max(x, 1, keepdims=True))
    total = jnp.sum(e, 1)
    return e / total[:, None] * gain, jnp.log(total)


def loss(function: Any) -> Any:
    def of(x: Any, gain: Any) -> Any:
        p, log = function(x, gain)
        return jnp.sum(p * p * p) + jnp.sum(jnp.sin(log))

    return of


def ours(x: Any, gain: Any) -> Any:
    return gpubcast.jax.call(softmax, x, gain)


OURS, JAXS = loss(ours), loss(softmax_of_jax)


def agree(found: Any, expected: Any, rtol: float = 1e-10) -> None:
    found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "transform",
    [jax.jit, pytest.param(lambda f: f, marks=pytest.mark.long)],
    ids=["inside", "outside"],
)
def test_derivatives_are_those_of_jax(transform: Any) -> None:
    both = (0, 1)
    agree(transform(jax.grad(OURS, both))(X, GAIN), jax.grad(JAXS, both)(X, GAIN))
    tangents = (np.cos(X), np.sin(GAIN))
    agree(
        transform(lambda *t: jax.jvp(OURS, (X, GAIN), t))(*tangents),
        jax.jvp(JAXS, (X, GAIN), tangents),
    )
    agree(transform(jax.jacfwd(ours, 1))(X, GAIN), jax.jacfwd(softmax_of_jax, 1)(X, GAIN))


@gb.fuse("r c -> r c")
def normed(x: Any) -> Any:
    return gb.tanh(x) * gb.reduce_sum(x * x, "c")


def test_finite_differences_agree() -> None:
    check_grads(lambda x: gpubcast.jax.call(normed, x), (X,), order=2, modes=("fwd", "rev"))


@pytest.mark.long
def test_finite_differences_agree_to_the_third_order() -> None:
    check_grads(lambda x: gpubcast.jax.call(normed, x), (X[:2],), order=3, modes=("fwd", "rev"))


@pytest.mark.parametrize(
    "hessian",
    [
        jax.hessian,
        pytest.param(lambda f, n: jax.jacrev(jax.jacrev(f, n), n), marks=pytest.mark.long),
        pytest.param(lambda f, n: jax.jacfwd(jax.jacfwd(f, n), n), marks=pytest.mark.long),
        pytest.param(lambda f, n: jax.jacrev(jax.jacfwd(f, n), n), marks=pytest.mark.long),
    ],
)
def test_second_derivatives(hessian: Any) -> None:
    agree(jax.jit(hessian(OURS, 1))(X, GAIN), jax.hessian(JAXS, 1)(X, GAIN))


def outside(function: Any, arrays: list[Any], gradients: list[Any]) -> dict[int, Any]:
    """The gradients of operands, by the graph of gradients run as a plan."""
    plan = function.plan(*arrays)
    made = transposed(plan.expression, plan.shapes)
    given = [gradients[k] for k in made.results]
    every = (*plan.shapes, *(plan.output_shapes[k] for k in made.results))
    assert made.expression is not None
    found = Plan("gradient", made.expression, every)(*arrays, *given)
    return dict(zip(made.operands, found, strict=True))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_bits_are_those_outside_of_jax(dtype: str) -> None:
    x, gain = RNG.standard_normal((37, 301)).astype(dtype), RNG.standard_normal(301).astype(dtype)
    given = [RNG.standard_normal((37, 301)).astype(dtype), RNG.standard_normal(37).astype(dtype)]
    for transform in (jax.jit, lambda f: f):
        pull = transform(lambda *operands: jax.vjp(ours, *operands)[1](tuple(given)))
        for i, found in enumerate(pull(x, gain)):
            np.testing.assert_array_equal(found, outside(softmax, [x, gain], given)[i])


def test_the_bits_are_those_of_pytorch() -> None:
    torch = doors.library("torch")
    import gpubcast.torch

    x, gain = RNG.standard_normal((9, 33)), RNG.standard_normal(33)
    given = [RNG.standard_normal((9, 33)), RNG.standard_normal(9)]
    operands = [torch.tensor(one, requires_grad=True) for one in (x, gain)]
    made = gpubcast.torch.op(softmax)(*operands)
    expected = torch.autograd.grad(made, operands, [torch.tensor(one) for one in given])
    found = jax.vjp(ours, x, gain)[1](tuple(map(jnp.asarray, given)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other.numpy())


def test_vmap_before_and_after() -> None:
    xs = np.stack([X, 2 * X, -X])
    of_each = jax.vmap(jax.grad(OURS, (0, 1)), (0, None))
    agree(jax.jit(of_each)(xs, GAIN), jax.vmap(jax.grad(JAXS, (0, 1)), (0, None))(xs, GAIN))
    text = jax.jit(of_each).lower(xs, GAIN).as_text()
    assert text.count("@gpubcast(") == 2 and "while" not in text  # forward, and backward
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(of_each(xs, GAIN)[0][i], jax.grad(OURS)(x, GAIN))

    def mapped(f: Any) -> Any:
        return lambda xs, gain: jnp.sum(jax.vmap(f, (2, None))(xs, gain))

    turned = np.moveaxis(xs, 0, 2)
    agree(*(jax.grad(mapped(f), (0, 1))(turned, GAIN) for f in (OURS, JAXS)))


@pytest.mark.long
def test_vmap_of_tangents_of_one_point_and_of_one_direction_and_their_transpose() -> None:
    xs = np.stack([X, 2 * X, -X])
    ts = np.stack([np.cos(X), np.sin(X)])

    def pushed(f: Any) -> Any:
        return lambda ts: jax.vmap(lambda t: jax.jvp(f, (X, GAIN), (t, GAIN * 0))[1])(ts)

    agree(pushed(OURS)(ts), pushed(JAXS)(ts))

    def at_each(f: Any) -> Any:
        return jax.vmap(lambda x: jax.jvp(f, (x, GAIN), (ts[0], GAIN))[1])

    agree(at_each(OURS)(xs), at_each(JAXS)(xs))
    linear = [jax.linear_transpose(pushed(f), ts)(np.ones(2)) for f in (OURS, JAXS)]
    agree(*linear)


def test_a_call_that_is_not_known_to_be_linear_has_no_transpose() -> None:
    with pytest.raises(gb.ElementTypeError, match="not known to be linear") as caught:
        jax.linear_transpose(lambda x: ours(x, GAIN), X)(ours(X, GAIN))
    assert caught.value.rule == "G1"


def test_transformations_of_jax_that_differentiate_for_themselves() -> None:
    agree(jax.grad(jax.checkpoint(OURS))(X, GAIN), jax.grad(JAXS)(X, GAIN))
    _, push = jax.linearize(OURS, X, GAIN)
    agree(push(X, GAIN), jax.jvp(JAXS, (X, GAIN), (X, GAIN))[1])

    def looped(f: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            return f(x, GAIN)[0], None

        return lambda x: jnp.sum(jax.lax.scan(step, x, length=3)[0] ** 2)

    agree(jax.grad(looped(ours))(X), jax.grad(looped(softmax_of_jax))(X))


@gb.fuse("r c, r, r c -> r c, r, r c")
def mixed(x: Any, count: Any, keep: Any) -> Any:
    scaled = x * gb.convert_element_type(count, "f64")
    return gb.select(keep, scaled, 0.0), gb.argmax(x, "c"), gb.floor(x)


def mixed_of_jax(x: Any, count: Any, keep: Any) -> Any:
    return (
        jnp.where(keep, x * count[:, None], 0.0),
        jnp.argmax(x, 1).astype("i4"),
        jnp.floor(x),
    )


def test_integers_and_predicates_have_no_gradient_and_hinder_none() -> None:
    count, keep = np.array([1, 5, 0, -2]), X > 0

    def call(*given: Any) -> Any:
        return gpubcast.jax.call(mixed, *given)

    def total(f: Any) -> Any:
        return lambda *given: jnp.sum(f(*given)[0] ** 2) + jnp.sum(f(*given)[2])

    found = jax.grad(total(call), (0, 1, 2), allow_int=True)(X, count, keep)
    assert [one.dtype for one in found[1:]] == [jax.dtypes.float0] * 2
    assert [one.shape for one in found[1:]] == [(4,), (4, 6)]
    agree(found[0], jax.grad(total(mixed_of_jax))(X, count, keep))
    none = [np.zeros(one.shape, jax.dtypes.float0) for one in (count, keep)]
    made, tangents = jax.jvp(call, (X, count, keep), (X, *none))
    assert tangents[1].dtype == jax.dtypes.float0
    agree(tangents[0], jax.jvp(mixed_of_jax, (X, count, keep), (X, *none))[1][0])
    np.testing.assert_array_equal(tangents[2], 0)
    np.testing.assert_array_equal(made[1], X.argmax(1))

    # A result of which only a predicate depends on the operand.
    @gb.fuse
    def positive(x: Any) -> Any:
        return gb.gt(x, gb.mul(x, 0.5))

    _, tangent = jax.jvp(lambda x: gpubcast.jax.call(positive, x), (X,), (X,))
    assert tangent.dtype == jax.dtypes.float0


@gb.fuse("r c, c -> r, r")
def complex_pair(z: Any, w: Any) -> Any:
    y = z * gb.exp(w) / (gb.conj(z) + 2.0)
    return gb.reduce_sum(y, "c"), gb.reduce_sum(gb.abs(y) + gb.real(z) * gb.imag(w), "c")


def complex_pair_of_jax(z: Any, w: Any) -> Any:
    y = z * jnp.exp(w) / (jnp.conj(z) + 2.0)
    return jnp.sum(y, 1), jnp.sum(jnp.abs(y) + jnp.real(z) * jnp.imag(w), 1)


def test_complex_numbers_by_the_convention_of_jax() -> None:
    z, w = X + 1j * X[::-1], GAIN[::-1] - 0.5j * GAIN
    given = (np.array([1 - 2j, 3j, 0.5, -1 + 1j]), np.array([1.0, -2.0, 0.5, 3.0]))

    def call(*operands: Any) -> Any:
        return gpubcast.jax.call(complex_pair, *operands)

    agree(jax.vjp(call, z, w)[1](given), jax.vjp(complex_pair_of_jax, z, w)[1](given))
    tangents = (np.sin(z), 1j * w)
    agree(jax.jvp(call, (z, w), tangents), jax.jvp(complex_pair_of_jax, (z, w), tangents))
    holomorphic = gb.fuse(lambda z: gb.tanh(gb.mul(z, z)))
    found = jax.jacrev(lambda z: gpubcast.jax.call(holomorphic, z), holomorphic=True)(w)
    agree(found, jax.jacrev(lambda z: jnp.tanh(z * z), holomorphic=True)(w))


@gb.fuse(static=("power",))
def scaled(x: Any, k: Any = 2.0, *, power: int = 3) -> Any:
    return gb.mul(gb.integer_pow(x, y=power), k)


def test_scalars_static_values_and_functions_without_labels() -> None:
    f = jax.jit(lambda x, k: jnp.sum(gpubcast.jax.call(scaled, x, k)))
    agree(jax.grad(f, (0, 1))(X, 1.5), (4.5 * X**2, jnp.sum(X**3)))
    fixed = lambda x: jnp.sum(gpubcast.jax.call(scaled, x, 0.5, power=2))  # noqa: E731
    agree(jax.grad(fixed)(X), jnp.asarray(X))
    # One kernel of a batch.
    batch = jax.jit(jax.vmap(lambda x, k: gpubcast.jax.call(scaled, x, k)))
    agree(batch(X, GAIN[:4]), jnp.asarray(X**3 * GAIN[:4, None]))
    assert batch.lower(X, GAIN[:4]).as_text().count("@gpubcast(") == 1


@pytest.mark.parametrize(
    "dtype", ["bf16", *(pytest.param(t, marks=pytest.mark.long) for t in ("f16", "f32"))]
)
def test_gradients_have_the_type_of_operands(dtype: str) -> None:
    x = X.astype(gb.element_type(dtype).dtype)
    call = lambda x: gpubcast.jax.call(gb.nn.softmax, x)  # noqa: E731
    found = jax.vjp(call, x)[1](jnp.asarray(x))[0]
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, outside(gb.nn.softmax, [x], [x])[0])


def test_no_elements() -> None:
    found = jax.grad(lambda x: jnp.sum(ours(x, GAIN)[0]))(X[:0])
    assert found.shape == (0, 6)
    agree(jax.grad(lambda g: jnp.sum(ours(X[:0], g)[0]))(GAIN), jnp.zeros(6))


@gb.fuse("i, i -> i")
def with_digamma(x: Any, y: Any) -> Any:
    return gb.mul(gb.digamma(x), y)


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f: jax.grad(lambda x: jnp.sum(f(x))),
        lambda f: lambda x: jax.jvp(f, (x,), (x,)),
        lambda f: jax.jit(jax.vmap(jax.grad(lambda x: jnp.sum(f(x[None]))))),
    ],
    ids=["grad", "jvp", "vmap"],
)
def test_what_has_no_derivative_is_refused_by_name(differentiate: Any) -> None:
    x = np.abs(X[0]) + 1
    with pytest.raises(gb.ElementTypeError, match="digamma has no derivative") as caught:
        differentiate(lambda x: gpubcast.jax.call(with_digamma, x, x))(x)
    assert caught.value.rule == "G1"
    assert "test_jax_gradients.py" in str(caught.value)


def test_what_is_not_differentiated_needs_no_derivative() -> None:
    x = np.abs(X[0]) + 1
    found = jax.grad(lambda y: jnp.sum(gpubcast.jax.call(with_digamma, x, y)))(x)
    agree(found, jax.scipy.special.digamma(x), 1e-8)
    # The gradient of lgamma is digamma, which has none.
    lgamma = gb.fuse(lambda x: gb.lgamma(x))
    gradient = jax.grad(lambda x: jnp.sum(gpubcast.jax.call(lgamma, x)))
    agree(gradient(x), jax.scipy.special.digamma(x), 1e-8)
    with pytest.raises(gb.ElementTypeError, match="digamma has no derivative"):
        jax.grad(lambda x: jnp.sum(gradient(x)))(x)
