"""The column of derivatives against ``jax.vjp``: every operation, types, edges, broadcasts."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import expression as graphs
from gpubcast.hlo.derivatives import zero
from gpubcast.hlo.ops import OPS
from gpubcast.hlo.transposition import transposed
from gpubcast.plans import Plan
from gpubcast.shapes.shape import Shape
from tests.support import doors

jax = doors.library("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

DIFFERENTIABLE = [n for n, row in OPS.items() if row.derivative not in (None, zero)]
KEYWORDS = {
    "integer_pow": {"y": 3},
    "reduce_precision": {"exponent_bits": 8, "mantissa_bits": 10},
    "convert_element_type": {"to": "f32"},
}
# Numbers that every function is defined at.
DOMAINS = {"acosh": (1.1, 3.0), "log": (0.1, 3.0), "erf_inv": (-0.9, 0.9), "pow": (0.2, 2.0)}
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 1e-30, 40.0, -40.0)


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


def _vjp(graph, arrays, gradients):
    """The gradients of operands that have one, by the graph made from a graph."""
    shapes = tuple(Shape(x.dtype, x.shape) for x in arrays)
    plan = Plan("graph", graph, shapes)
    made = transposed(graph, shapes)
    if made.expression is None:
        return {}
    given = [gradients[k] for k in made.results]
    every = (*shapes, *(plan.output_shapes[k] for k in made.results))
    found = Plan("gradient", made.expression, every)(*arrays, *given)
    return dict(zip(made.operands, found, strict=True))


def _jax(name, **keywords):
    if name == "log2":
        return lambda x: jnp.log(x) / jnp.asarray(np.log(2), x.dtype)
    if name == "convert_element_type":
        return lambda x: lax.convert_element_type(x, np.float32)
    if name in ("real", "imag", "copysign", "hypot", "log10", "logaddexp"):
        return getattr(jnp, name)
    if name == "select":
        return lambda p, a, b: lax.select(p, a, b)
    if OPS[name].rule.reduces is not None:
        return lambda x: getattr(lax, name)(x, **keywords)
    return lambda *x: getattr(lax, name)(*x, **keywords)


def _agree(found, expected, rtol):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol, equal_nan=True)


def _compare(name, arrays, keywords, rtol, graph=None):
    graph = graph or graphs.single(name, keywords)
    function = _jax(name, **keywords)
    y, pull = jax.vjp(function, *map(jnp.asarray, arrays))
    rng = np.random.default_rng(3)
    g = np.asarray(rng.standard_normal(y.shape), y.dtype)
    if g.dtype.kind == "c":
        g = g + 1j * rng.standard_normal(y.shape).astype(g.real.dtype)
    expected = pull(jnp.asarray(g, y.dtype))
    found = _vjp(graph, arrays, (np.asarray(g, y.dtype),))
    for i, array in enumerate(arrays):
        if array.dtype.kind in "fc":
            gradient = found.get(i, np.zeros_like(array))
            assert gradient.dtype == array.dtype
            _agree(gradient, np.asarray(expected[i]), rtol)


def _operands(name, dtype, values):
    """An operand per parameter, all combinations of values of two."""
    row = OPS[name]
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    every = [a, b, np.full_like(a, 1.5)][: row.arity]
    if name == "select":
        return [a > b, a.astype(dtype), b.astype(dtype)]
    if name == "clamp":
        every = [np.full_like(a, -0.5), a, np.full_like(a, 0.5)]
    return [x.astype(dtype) for x in every]


def _values(name):
    low, high = DOMAINS.get(name, DOMAINS.get(name[:3], (-0.9, 0.9)))
    return np.linspace(low, high, 9) + 0.0131


ELEMENTWISE = [n for n in DIFFERENTIABLE if OPS[n].rule.reduces is None]


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.long)])
def test_every_operation(name, dtype):
    if name in ("atan2", "rem", "div", "pow") and dtype == "f4":
        return
    rtol = {"f8": 1e-9, "f4": 2e-5}[dtype]
    _compare(name, _operands(name, dtype, _values(name)), KEYWORDS.get(name, {}), rtol)


INFINITE = (np.inf, -np.inf, 0.0, 1.0)


@pytest.mark.parametrize("name", ["copysign", "logaddexp", "log10"])
def test_infinite_operands_of_operations_without_an_opcode(name):
    _compare(name, _operands(name, "f8", np.array(INFINITE)), {}, 1e-9)


def test_hypot_of_infinite_and_huge_operands():
    """JAX's formula has 0 * inf = NaN beside infinities; the constant that it says has 0."""
    a, b = _operands("hypot", "f8", np.array((*INFINITE, 1e300, -1e300, 5e-324)))
    found = _vjp(graphs.single("hypot", {}), [a, b], (np.ones_like(a),))
    infinite = np.isinf(a) | np.isinf(b)
    for gradient, x, other in ((found[0], a, b), (found[1], b, a)):
        np.testing.assert_array_equal(gradient[infinite], 0)
        size = np.maximum(abs(x), abs(other))[~infinite]
        unit = np.where(size == 0, 1, size)
        p, q = x[~infinite] / unit, other[~infinite] / unit
        with np.errstate(invalid="ignore"):
            expected = np.where(size == 0, 0.5, p / np.sqrt(p * p + q * q))
        np.testing.assert_allclose(gradient[~infinite], expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["isinf", "isnan", "signbit", "is_finite"])
def test_predicates_have_no_gradient_and_stop_none(name):
    x = np.array([-1.5, 0.0, 2.0])

    @gb.fuse
    def f(x):
        return gb.select(getattr(gb, name)(x), gb.square(x), gb.mul(x, 3.0)), getattr(gb, name)(x)

    expression = _expression(f, [x])
    assert transposed(expression, (Shape("f64", (3,)),)).results == (0,)
    found = _vjp(expression, [x], (np.ones(3),))
    where = getattr(np, {"is_finite": "isfinite"}.get(name, name))(x)
    np.testing.assert_array_equal(found[0], np.where(where, 2 * x, 3.0))
    alone = transposed(graphs.single(name, {}), (Shape("f64", (3,)),))
    assert alone.expression is None


@pytest.mark.long
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_edges(name):
    _compare(name, _operands(name, "f8", np.array(EDGES)), KEYWORDS.get(name, {}), 1e-9)


COMPLEX = [
    n
    for n in ELEMENTWISE
    if any(t.is_complex for t in OPS[n].accepts)
    and n not in ("convert_element_type", "cbrt", "select", "atan2", "exp2", "log2", "sign")
]


@pytest.mark.long
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name):
    rng = np.random.default_rng(1)
    z = [rng.uniform(0.2, 0.8, 20) + 1j * rng.uniform(0.2, 0.8, 20) for _ in range(OPS[name].arity)]
    _compare(name, z, KEYWORDS.get(name, {}), 1e-8)


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if OPS[n].rule.reduces is not None])
@pytest.mark.parametrize(
    "axes",
    [(1,), *(pytest.param(a, marks=pytest.mark.long) for a in ((0,), (2, 0), (0, 1, 2), ()))],
)
def test_reductions_with_ties_and_zeros(name, axes):
    rng = np.random.default_rng(2)
    x = rng.integers(-2, 3, (3, 4, 5)).astype("f8")
    _compare(name, [x], {"axes": axes}, 1e-9)


def _every(graph, function, arrays, rtol=1e-9):
    y, pull = jax.vjp(function, *map(jnp.asarray, arrays))
    ys = y if isinstance(y, tuple) else (y,)
    rng = np.random.default_rng(5)
    g = tuple(np.asarray(rng.standard_normal(one.shape), one.dtype) for one in ys)
    expected = pull(tuple(map(jnp.asarray, g)) if isinstance(y, tuple) else jnp.asarray(g[0]))
    found = _vjp(graph, arrays, g)
    for i, array in enumerate(arrays):
        if array.dtype.kind in "fc":
            _agree(found[i], np.asarray(expected[i]), rtol)


def _random(*shapes):
    rng = np.random.default_rng(7)
    return [rng.uniform(0.3, 1.2, shape) for shape in shapes]


def _expression(function, arrays):
    return function.plan(*map(gb.array, arrays)).expression


def test_broadcasts_transpose_to_sums():
    x, v, s, one = _random((3, 4), (4,), (), (3, 1))

    @gb.fuse
    def f(x, v, s, one):
        y = gb.mul(gb.add(x, v, broadcast_dimensions=(1,)), s)
        z = gb.broadcast(gb.mul(v, v), (2,))
        w = gb.broadcast_in_dim(one, (2, 1, 3), (2, 1))
        return gb.mul(y, one), gb.exp(z), gb.sub(w, s)

    def g(x, v, s, one):
        y = (x + v) * s
        z = lax.broadcast(v * v, (2,))
        w = lax.broadcast_in_dim(one, (2, 1, 3), (2, 1))
        return y * one, jnp.exp(z), w - s

    arrays = [x, v, s, one]
    _every(_expression(f, arrays), g, arrays)


def test_labels():
    x, m, c = _random((3, 4), (3,), (4,))

    @gb.fuse("r c, r, c -> c r, r, r c")
    def f(x, m, c):
        a = gb.exp(m) * 2.0
        e = gb.exp(x - gb.reduce_max(x, "c"))
        p = e / gb.reduce_sum(e, "c")
        return p * a + c, a * gb.reduce_sum(x * c, "c"), gb.select(x > c, m, x)

    def g(x, m, c):
        a = jnp.exp(m) * 2.0
        e = jnp.exp(x - jnp.max(x, 1, keepdims=True))
        p = e / jnp.sum(e, 1, keepdims=True)
        return (
            (p * a[:, None] + c).T,
            a * jnp.sum(x * c, 1),
            jnp.where(x > c, m[:, None], x),
        )

    arrays = [x, m, c]
    _every(_expression(f, arrays), g, arrays)


def test_softmax_of_nn_and_nested_functions():
    (x,) = _random((5, 7))

    @gb.fuse
    def f(x):
        return gb.mul(gb.nn.log_softmax(x), gb.nn.gelu(x))

    def g(x):
        return jax.nn.log_softmax(x) * jax.nn.gelu(x)

    _every(_expression(f, [x]), g, [x], 1e-8)


@pytest.mark.long
@pytest.mark.parametrize("name", ["mean", "var", "standardize", "logsumexp", "softplus", "silu"])
def test_functions_of_nn(name):
    (x,) = _random((4, 6))
    ours = getattr(gb.nn, name)
    keywords = {} if name in ("softplus", "silu") else {"axis": -1}
    theirs = {
        "mean": functools.partial(jnp.mean, axis=-1),
        "var": functools.partial(jnp.var, axis=-1),
        "standardize": functools.partial(jax.nn.standardize, axis=-1),
        "logsumexp": functools.partial(jax.nn.logsumexp, axis=-1),
    }.get(name) or getattr(jax.nn, name)
    expression = ours.plan(gb.array(x), **keywords).expression
    _every(expression, theirs, [x], 1e-8)
