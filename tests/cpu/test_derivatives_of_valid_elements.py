"""Gradients of functions with ``valid=``: those of JAX's functions of the valid elements alone, 0
behind the lengths, whatever lies there; through ``gpubcast.jax`` and ``gpubcast.torch``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.linearization import linearized
from gpubcast.hlo.transposition import transposed
from gpubcast.plans import Plan
from tests.support import doors

jax = doors.library("jax")
import jax.numpy as jnp  # noqa: E402

import gpubcast.jax  # noqa: E402

RNG = np.random.default_rng(5)
X, Y = RNG.uniform(0.5, 2.0, (4, 6)), RNG.uniform(0.5, 2.0, (4, 6))
GAIN, ROW = RNG.uniform(0.5, 2.0, 6), RNG.uniform(0.5, 2.0, 4)
LENGTHS = np.array([6, 0, 1, 4], np.int32)
VALID = np.arange(6) < LENGTHS[:, None]
JUNK = (0.0, np.nan, np.inf, -3.0)


@pytest.fixture(autouse=True)
def doubles() -> Any:
    with jax.enable_x64(True):
        yield


def f64(x: Any) -> Any:
    return gb.convert_element_type(x, "f64")


def softmax(x: Any, gain: Any, n: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col") * gain


def softmax_of_rows(x: Any, gain: Any) -> Any:
    e = jnp.exp(x - jnp.max(x))
    return e / jnp.sum(e) * gain


def normed(x: Any, gain: Any, n: Any) -> Any:
    size = f64(gb.get_dimension_size(x, "col"))
    mean = gb.reduce_sum(x, "col") / size
    variance = gb.reduce_sum(gb.square(x - mean), "col") / size
    return (x - mean) * gb.rsqrt(variance + 1e-3) * gain


def normed_of_rows(x: Any, gain: Any) -> Any:
    mean = jnp.mean(x)
    return (x - mean) / jnp.sqrt(jnp.mean((x - mean) ** 2) + 1e-3) * gain


def powers(x: Any, gain: Any, n: Any) -> Any:
    return gb.reduce_prod(x, "col") * gb.pow(x, gain) + gb.log(x) / gain


def powers_of_rows(x: Any, gain: Any) -> Any:
    return jnp.prod(x) * x**gain + jnp.log(x) / gain


def outside(function: Any, arrays: list[Any], gradients: list[Any]) -> dict[int, Any]:
    plan = function.plan(*arrays)
    made = transposed(plan.expression, plan.shapes)
    every = (*plan.shapes, *(plan.output_shapes[k] for k in made.results))
    assert made.expression is not None
    given = [gradients[k] for k in made.results]
    found = Plan("gradient", made.expression, every)(*arrays, *given)
    return dict(zip(made.operands, found, strict=True))


def by_rows(of_row: Any, x: Any, gain: Any, g: Any) -> tuple[Any, Any]:
    """The gradients by JAX, from rows that are as long as they are."""
    dx, dgain = np.zeros_like(x), np.zeros_like(gain)
    for i, n in enumerate(LENGTHS):
        if n:
            part = jax.vjp(of_row, jnp.asarray(x[i, :n]), jnp.asarray(gain[:n]))[1]
            dx[i, :n], of_gain = part(jnp.asarray(g[i, :n]))
            dgain[:n] += of_gain
    return dx, dgain


ROWS = [
    pytest.param(softmax, softmax_of_rows, id="softmax"),
    pytest.param(normed, normed_of_rows, id="normed", marks=pytest.mark.long),
    pytest.param(powers, powers_of_rows, id="powers", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("function", "of_row"), ROWS)
@pytest.mark.parametrize("transpose", [False, pytest.param(True, marks=pytest.mark.long)])
def test_what_lies_behind_a_row_is_neither_seen_nor_given_a_gradient(
    function: Any, of_row: Any, transpose: bool
) -> None:
    spelled = "row col, col, row -> col row" if transpose else "row col, col, row -> row col"
    fused = gb.fuse(spelled, valid={"col": "n"})(function)
    g = RNG.standard_normal((4, 6))
    expected = by_rows(of_row, X, GAIN, g)
    for junk in JUNK:
        x, given = np.where(VALID, X, junk), np.where(VALID, g, junk)
        given = np.ascontiguousarray(given.T) if transpose else given
        found = outside(fused, [x, GAIN, LENGTHS], [given])
        assert sorted(found) == [0, 1]
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(found[0][~VALID], 0)


@pytest.mark.long
def test_several_results_some_without_the_label() -> None:
    @gb.fuse("row col, row col, row, row -> col, row col, row", valid={"col": "n"})
    def several(x: Any, y: Any, r: Any, n: Any) -> Any:
        top = gb.reduce_max(x, "col")
        return gb.reduce_sum(x / y, "row"), x * y * r, top * gb.reduce_sum(gb.log(y), "col") * r

    def of_jax(x: Any, y: Any, r: Any) -> Any:
        safe = jnp.where(VALID, y, 1.0)
        top = jnp.max(jnp.where(VALID, x, -jnp.inf), 1)
        log = jnp.sum(jnp.log(safe), 1)
        return (
            jnp.sum(jnp.where(VALID, x / safe, 0), 0),
            jnp.where(VALID, x * y * r[:, None], 0),
            jnp.where(LENGTHS > 0, top * log * r, 0),
        )

    g = [RNG.standard_normal(6), RNG.standard_normal((4, 6)), RNG.standard_normal(4)]
    # Of a row without elements the maximum is -inf, and what it is multiplied with is 0.
    g[2][LENGTHS == 0] = 0
    x, y = np.where(VALID, X, np.nan), np.where(VALID, Y, 0.0)
    found = outside(several, [x, y, ROW, LENGTHS], g)
    expected = jax.vjp(of_jax, np.where(VALID, X, 0), np.where(VALID, Y, 0), ROW)[1](
        tuple(map(jnp.asarray, g))
    )
    used = LENGTHS > 0
    for i in (0, 1):
        np.testing.assert_allclose(found[i], expected[i], rtol=1e-10)
    np.testing.assert_allclose(found[2][used], expected[2][used], rtol=1e-10)


@pytest.mark.long
def test_queries_and_keys_have_lengths_of_their_own() -> None:
    @gb.fuse("b q k, b k, b, b -> b q k, b q", valid={"q": "rows", "k": "columns"})
    def attention(s: Any, bias: Any, rows: Any, columns: Any) -> Any:
        e = gb.exp(s + bias)
        total = gb.reduce_sum(e, "k")
        return e / total, gb.log(total)

    s, bias = RNG.standard_normal((3, 4, 5)), RNG.standard_normal((3, 5))
    rows, columns = np.array([4, 2, 0]), np.array([5, 3, 1])
    is_row = (np.arange(4) < rows[:, None])[:, :, None]
    is_column = (np.arange(5) < columns[:, None])[:, None, :]

    def of_jax(s: Any, bias: Any) -> Any:
        e = jnp.where(is_column, jnp.exp(s + bias[:, None]), 0)
        total = jnp.sum(e, 2)
        return (
            jnp.where(is_row & is_column, e / total[..., None], 0),
            jnp.where(is_row[..., 0], jnp.log(total), 0),
        )

    g = [RNG.standard_normal((3, 4, 5)), RNG.standard_normal((3, 4))]
    expected = jax.vjp(of_jax, s, bias)[1](tuple(map(jnp.asarray, g)))
    s = np.where(is_row & is_column, s, np.nan)
    bias = np.where(is_column[:, 0], bias, np.nan)
    found = outside(attention, [s, bias, rows, columns], g)
    for i in (0, 1):
        np.testing.assert_allclose(found[i], expected[i], rtol=1e-10, atol=1e-13)


def test_valid_elements_alone_share_the_gradient_of_a_maximum() -> None:
    top = gb.fuse("row col, row -> row", valid={"col": "n"})(lambda x, n: gb.reduce_max(x, "col"))
    x = np.array([[-np.inf, -np.inf, -np.inf], [1.0, 1.0, 1.0]])
    found = outside(top, [x, np.array([2, 2])], [np.array([1.0, 3.0])])
    np.testing.assert_array_equal(found[0], [[0.5, 0.5, 0], [1.5, 1.5, 0]])


def test_a_choice_of_the_function_itself_is_differentiated_as_jax_does_it() -> None:
    """0 * inf is NaN there, and only valid= says that nothing is seen."""
    f = gb.fuse("i -> i")(lambda x: gb.select(x > 0.0, gb.log(x), 0.0))
    found = outside(f, [np.array([1.0, 0.0])], [np.ones(2)])
    np.testing.assert_array_equal(found[0], [1.0, np.nan])


@gb.fuse("row col, col, row -> row col", valid={"col": "n"})
def fused_softmax(x: Any, gain: Any, n: Any) -> Any:
    return softmax(x, gain, n)


@pytest.mark.long
def test_gpubcast_jax() -> None:
    x = np.where(VALID, X, np.nan)

    def loss(x: Any, gain: Any) -> Any:
        return jnp.sum(gpubcast.jax.call(fused_softmax, x, gain, LENGTHS) ** 2)

    def expected(x: Any, gain: Any) -> Any:
        e = jnp.where(VALID, jnp.exp(x), 0)
        total = jnp.where(LENGTHS > 0, jnp.sum(e, 1), 1)
        return jnp.sum((e / total[:, None] * gain) ** 2)

    np.testing.assert_allclose(
        jax.jit(jax.grad(loss))(x, GAIN), jax.grad(expected)(X, GAIN), rtol=1e-8, atol=1e-12
    )
    batch = np.stack([x, 2 * x])
    of_each = jax.jit(jax.vmap(jax.grad(loss, 1), (0, None)))
    np.testing.assert_allclose(
        of_each(batch, GAIN), [jax.grad(expected, 1)(s * X, GAIN) for s in (1, 2)], rtol=1e-8
    )
    tangents = (np.where(VALID, Y, np.nan), GAIN)
    np.testing.assert_allclose(
        jax.jvp(loss, (x, GAIN), tangents)[1],
        jax.jvp(expected, (X, GAIN), (np.where(VALID, Y, 0), GAIN))[1],
        rtol=1e-8,
    )


@pytest.mark.long
def test_second_derivatives() -> None:
    """By the exponentials alone: that of a whole softmax is too much for one kernel."""

    @gb.fuse("row col, row -> row", valid={"col": "n"})
    def fused(x: Any, n: Any) -> Any:
        return gb.reduce_sum(gb.exp(x), "col") * gb.reduce_sum(gb.log(x), "col")

    def of_jax(x: Any) -> Any:
        safe = jnp.where(VALID, x, 1.0)
        return jnp.sum(jnp.where(VALID, jnp.exp(x), 0), 1) * jnp.sum(jnp.log(safe), 1)

    found = jax.hessian(lambda x: jnp.sum(gpubcast.jax.call(fused, x, LENGTHS)))
    expected = jax.hessian(lambda x: jnp.sum(of_jax(x)))(X)
    np.testing.assert_allclose(found(np.where(VALID, X, np.nan)), expected, rtol=1e-9)


def test_lengths_take_no_more_kernels() -> None:
    counts = []
    for valid in ({}, {"col": "n"}):
        fused = gb.fuse("row col, col, row -> row col", valid=valid)(softmax)
        plan = fused.plan("f64[64,128]", "f64[128]", "s32[64]")
        made = linearized(plan.expression, plan.shapes, (0, 1))
        assert made is not None
        for graph, more in ((made.backward, plan.output_shapes), (made.forward, plan.shapes[:2])):
            assert graph.lengths == plan.expression.lengths
            counts.append(len(Plan("gradient", graph, (*plan.shapes, *more)).broadcast_plans))
    assert counts[:2] == counts[2:]


def test_wrong_lengths_are_refused_backward_too() -> None:
    with pytest.raises(gb.ShapeError, match="from 0 to 6") as caught:
        outside(fused_softmax, [X, GAIN, LENGTHS + 1], [X])
    assert caught.value.rule == "X9"


def test_gpubcast_torch() -> None:
    torch = doors.library("torch")
    import gpubcast.torch

    op = gpubcast.torch.op(fused_softmax, name="ragged_softmax")
    lengths = torch.from_numpy(LENGTHS)
    x = torch.tensor(np.where(VALID, X, np.nan), requires_grad=True)
    gain = torch.tensor(GAIN, requires_grad=True)
    g = RNG.standard_normal((4, 6))
    made = op(x, gain, lengths)
    np.testing.assert_array_equal(made.detach().numpy()[~VALID], 0)
    found = torch.autograd.grad(made, (x, gain), torch.tensor(g))
    for one, other in zip(found, by_rows(softmax_of_rows, X, GAIN, g), strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-10, atol=1e-12)
    x = torch.tensor(X, requires_grad=True)
    assert torch.autograd.gradcheck(op, (x, gain, lengths), fast_mode=True)
    torch.library.opcheck(op, (x, gain, lengths))
    mapped = torch.func.vmap(op, (0, None, None))(torch.stack([x, 2 * x]), gain, lengths)
    np.testing.assert_array_equal(mapped[1].detach(), op(2 * x, gain, lengths).detach())
    each = torch.func.vmap(op, (None, None, 0))(x, gain, torch.stack([lengths, lengths // 2]))
    np.testing.assert_array_equal(each[1].detach(), op(x, gain, lengths // 2).detach())
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager", dynamic=True)
    np.testing.assert_array_equal(
        compiled(x, gain, lengths).detach(), op(x, gain, lengths).detach()
    )
