"""``gpubcast.torch.op``: gradients, fake tensors, compilers, vmap, refusals."""

from __future__ import annotations

import copy
import shutil

import numpy as np
import pytest

from tests.support import doors

torch = doors.library("torch")

import gpubcast as gb  # noqa: E402
import gpubcast.torch as gt  # noqa: E402
from gpubcast.hlo.derivatives import zero  # noqa: E402
from gpubcast.hlo.ops import OPS  # noqa: E402

F64 = torch.float64
BACKENDS = ["eager", "aot_eager"] + (["inductor"] if shutil.which("g++") else [])


@gb.fuse("row col, col, col -> row col", static=("epsilon",))
def layer_norm(x, gamma, beta, epsilon=1e-5):
    n = gb.convert_element_type(gb.get_dimension_size(x, "col"), x.dtype)
    centred = x - gb.reduce_sum(x, "col") / n
    variance = gb.reduce_sum(centred * centred, "col") / n
    return centred * gb.rsqrt(variance + epsilon) * gamma + beta


@gb.fuse("r c, r -> r c, r")
def pair(x, m):
    return gb.exp(x * m), gb.reduce_sum(x, "c") * 2.0


@gb.fuse
def of_complex(z):
    return gb.mul(gb.exp(z), gb.conj(z)), gb.abs(z)


@pytest.fixture(scope="module")
def norm():
    return gt.op(layer_norm)


def _long(*values):
    return [pytest.param(value, marks=pytest.mark.long) for value in values]


def _given(rows=5, cols=7, dtype=F64):
    generator = torch.Generator().manual_seed(1)
    shapes = ((rows, cols), (cols,), (cols,))
    return tuple(
        torch.randn(s, generator=generator, dtype=dtype).requires_grad_(True) for s in shapes
    )


def _loss(norm):
    return lambda x, gamma, beta: (norm(x * 2, gamma, beta) ** 2).sum()


def test_forward_and_gradients(norm):
    given = _given()
    wanted = torch.nn.functional.layer_norm(given[0], (7,), *given[1:])
    torch.testing.assert_close(norm(*given), wanted)
    assert torch.autograd.gradcheck(norm, given)
    assert torch.autograd.gradgradcheck(norm, given)


def test_opcheck(norm):
    torch.library.opcheck(norm, _given())
    torch.library.opcheck(norm, tuple(x.detach() for x in _given()))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_whole_graphs_compile(norm, backend, dynamic):
    given, loss = _given(), _loss(norm)
    wanted = torch.autograd.grad(loss(*given), given)
    torch._dynamo.reset()
    compiled = torch.compile(loss, fullgraph=True, backend=backend, dynamic=dynamic)
    for sizes in ((5, 7), (6, 9)) if dynamic else ((5, 7),):
        given = _given(*sizes)
        wanted = torch.autograd.grad(loss(*given), given)
        found = torch.autograd.grad(compiled(*given), given)
        torch.testing.assert_close(found, wanted)
    torch._dynamo.reset()


def test_a_whole_graph_compiles(norm):
    given, loss = _given(), _loss(norm)
    wanted = torch.autograd.grad(loss(*given), given)
    torch._dynamo.reset()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)
    torch.testing.assert_close(torch.autograd.grad(compiled(*given), given), wanted)
    with pytest.raises(Exception, match="label 'col'"):
        compiled(given[0], given[1].detach()[:3], given[2])
    torch._dynamo.reset()


def test_several_results():
    operator = gt.op(pair)
    given = (*_given(4, 3)[:1], torch.randn(4, dtype=F64, requires_grad=True))
    assert torch.autograd.gradcheck(operator, given)
    torch.library.opcheck(operator, given)
    first, second = operator(*given)
    (alone,) = torch.autograd.grad(second.sum(), given[:1])
    torch.testing.assert_close(alone, torch.full((4, 3), 2.0, dtype=F64))
    assert first.shape == (4, 3)


def test_complex_gradients_are_pytorchs():
    z = torch.randn(4, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(gt.op(of_complex, results=2), (z,))


def test_fused_functions_without_labels_and_bound_arguments():
    @gb.fuse
    def shifted(x, v, s):
        return gb.add(gb.mul(x, s), v, broadcast_dimensions=(1,))

    operator = gt.op(shifted, arguments={"s": 3.0}, name="shifted by three")
    x, v = _given()[:2]
    torch.testing.assert_close(operator(x, v), x * 3 + v)
    assert torch.autograd.gradcheck(operator, (x, v))
    softmax = gt.op(gb.nn.softmax, arguments={"axis": 0})
    torch.testing.assert_close(softmax(x), torch.softmax(x, 0))
    assert torch.autograd.gradcheck(softmax, (x,))
    assert str(operator).startswith("<CustomOpDef(gpubcast::shifted_by_three")


def test_only_what_needs_gradients_has_them(norm):
    x, gamma, beta = _given()
    frozen = gamma.detach()
    found = torch.autograd.grad(norm(x, frozen, beta).sum(), (x, beta))
    wanted = torch.nn.functional.layer_norm(x, (7,), frozen, beta).sum()
    torch.testing.assert_close(found, torch.autograd.grad(wanted, (x, beta)))
    assert not norm(x.detach(), frozen, beta.detach()).requires_grad


def test_vmap(norm):
    x = torch.randn(5, 3, 7, dtype=F64, requires_grad=True)
    _, gamma, beta = _given()
    batched = torch.func.vmap(norm, in_dims=(1, None, None))
    wanted = torch.nn.functional.layer_norm(x.movedim(1, 0), (7,), gamma, beta)
    torch.testing.assert_close(batched(x, gamma, beta), wanted)
    assert torch.autograd.gradcheck(batched, (x, gamma, beta))
    twice = torch.func.vmap(torch.func.vmap(gt.op(pair)), in_dims=(0, None))
    first, second = twice(torch.ones(2, 3, 4, 5), torch.ones(3, 4))
    assert first.shape == (2, 3, 4, 5) and second.shape == (2, 3, 4)


@pytest.mark.parametrize(
    "shapes", [((1, 7), (7,), (7,)), ((0, 7), (7,), (7,)), ((3, 1), (1,), (1,))]
)
def test_sizes_of_0_and_1(norm, shapes):
    given = tuple(torch.ones(s, dtype=F64, requires_grad=True) for s in shapes)
    found = torch.autograd.grad(norm(*given).sum(), given)
    wanted = torch.nn.functional.layer_norm(given[0], shapes[1], *given[1:]).sum()
    torch.testing.assert_close(found, torch.autograd.grad(wanted, given))
    torch.library.opcheck(norm, given, test_utils=("test_faketensor", "test_schema"))


@pytest.mark.parametrize(
    "make", [lambda x: x.T.contiguous().T, lambda x: x[:, ::2], lambda x: x.expand(5, 7)]
)
def test_strides(norm, make):
    x = make(torch.randn(5, 7, dtype=F64)).detach().requires_grad_(True)
    gamma, beta = (torch.randn(x.shape[1], dtype=F64, requires_grad=True) for _ in "ab")
    assert torch.autograd.gradcheck(norm, (x, gamma, beta), check_batched_grad=False)
    torch.library.opcheck(norm, (x, gamma, beta), test_utils=("test_faketensor", "test_schema"))


@pytest.mark.parametrize("dtype", [torch.bfloat16, *_long(torch.float16, torch.float32)], ids=str)
def test_types(norm, dtype):
    given = _given(dtype=torch.float32)
    narrow = tuple(x.detach().to(dtype).requires_grad_(True) for x in given)
    found = norm(*narrow)
    assert found.dtype is dtype
    gradients = torch.autograd.grad(found.float().sum(), narrow)
    assert [g.dtype for g in gradients] == [dtype] * 3
    torch.testing.assert_close(gradients[2].float(), torch.full((7,), 5.0))


def test_the_bits_depend_on_no_number_of_threads(norm, monkeypatch):
    given = _given(700, 530, torch.float32)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("GPUBCAST_THREADS", threads)
        y = norm(*given)
        found.append((y.detach(), *torch.autograd.grad((y * y).sum(), given)))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_forward_is_one_kernel_and_backward_two():
    given = _given()
    plan = layer_norm.plan(*(x.detach().numpy() for x in given))
    gradient = gt.gradient_plan(layer_norm, *given)
    assert len(plan.broadcast_plans) == 1 and len(gradient.broadcast_plans) == 2
    text = str(gradient.explain())
    assert "kernel 1" in text and "kernel 2" not in text
    values = tuple(x.detach() for x in given)
    found = gradient(*values, torch.ones(5, 7, dtype=F64))
    y = torch.nn.functional.layer_norm(given[0], (7,), *given[1:])
    torch.testing.assert_close(found, torch.autograd.grad(y.sum(), given))


SMOOTH = [
    n
    for n, row in OPS.items()
    if row.derivative not in (None, zero)
    and n not in ("reduce_precision", "convert_element_type", "real", "imag", "complex")
    and (row.rule.reduces is not None or n not in ("clamp", "select"))
]


@pytest.mark.long
@pytest.mark.parametrize("name", SMOOTH)
def test_gradcheck_of_every_operation(name):
    row = OPS[name]
    low, high = {"acosh": (1.2, 3.0)}.get(name, (0.1, 0.9))
    generator = np.random.default_rng(4)
    given = [
        torch.tensor(generator.permutation(np.linspace(low, high, 12)).reshape(3, 4))
        for _ in range(row.arity)
    ]
    given = tuple((x + 0.003 * i).requires_grad_(True) for i, x in enumerate(given))
    function = getattr(gb, name)
    if row.rule.reduces is not None:
        fused = gb.fuse(lambda x: function(x, (1,)))
    elif name == "integer_pow":
        fused = gb.fuse(lambda x: function(x, 3))
    elif name == "conj":
        fused = gb.fuse(lambda x: gb.real(function(x)))
    elif row.arity == 2:
        fused = gb.fuse(lambda x, y: function(x, y))
    else:
        fused = gb.fuse(lambda x: function(x))
    operator = gt.op(fused, name=f"checked_{name}")
    assert torch.autograd.gradcheck(operator, given, fast_mode=True)


@pytest.mark.parametrize("name", ["select", "clamp"])
def test_gradcheck_of_choices(name):
    @gb.fuse("r c, r c, r -> r c")
    def chosen(x, y, z):
        if name == "select":
            return gb.select(x > y, y, z) * x
        return gb.clamp(y, x, z)

    generator = np.random.default_rng(4)
    x, y = (torch.tensor(generator.random((3, 4)), requires_grad=True) for _ in "xy")
    z = torch.tensor(generator.random(3) + 0.5, requires_grad=True)
    assert torch.autograd.gradcheck(gt.op(chosen), (x, y, z))


def _with_forward_ad(function):
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2, 3), torch.ones(2, 3))
        return torch.autograd.forward_ad.unpack_dual(function(dual)).tangent


# torch.jit, which PyTorch itself loads for forward mode.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "derive",
    [
        _with_forward_ad,
        lambda f: torch.func.jvp(f, (torch.ones(2, 3),), (torch.ones(2, 3),))[1],
        lambda f: torch.func.jacfwd(f)(torch.ones(2, 3)),
        lambda f: torch.func.jvp(
            torch.func.vmap(f), (torch.ones(4, 2, 3),), (torch.ones(4, 2, 3),)
        ),
    ],
    ids=["dual", "jvp", "jacfwd", "vmap"],
)
def test_a_tangent_is_refused_not_dropped(norm, derive):
    with pytest.raises(gb.ElementTypeError, match="forward-mode") as told:
        derive(lambda x: norm(x, torch.ones(3), torch.ones(3)))
    assert told.value.rule == "A3"
    # What has none passes, and what is computed from it has its own.
    one = norm(torch.ones(2, 3), torch.ones(3), torch.ones(3))
    assert torch.equal(_with_forward_ad(lambda x: x * norm(one, one[0], one[0])), one)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_plain_call_refuses_a_tangent():
    for call in (gb.exp, lambda x: gb.add(x, x), lambda x: gb.add(torch.ones(2, 3), x)):
        with pytest.raises(gb.ElementTypeError, match="forward-mode"):
            _with_forward_ad(call)


def test_a_module_with_an_operator_is_copied(norm):
    module = torch.nn.Module()
    module.norm = norm
    assert copy.deepcopy(module).norm is norm


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"results": 0}, "number of results"),
        ({"results": -1}, "number of results"),
        ({"results": "2"}, "number of results"),
        ({"name": 3}, "a text"),
        ({"name": "1st"}, "a letter of ASCII"),
        ({"arguments": [1]}, "dictionary"),
        ({"arguments": {"m": np.ones(3, "f4")}}, "an array for 'm'"),
        ({"arguments": {"m": torch.ones(3)}}, "an array for 'm'"),
    ],
)
def test_an_operator_is_made_of_what_is_said(given, says):
    with pytest.raises(gb.Error, match=says) as told:
        gt.op(pair, **given)
    assert told.value.rule == "F5"


def test_a_name_in_other_letters_is_shortened():
    assert gt.op(gb.fuse(lambda x: x + 1.0), name="größe")(torch.ones(2)).tolist() == [2, 2]


def test_refusals(norm):
    with pytest.raises(gb.Error, match=r"gradient_plan takes a function made by gb\.fuse"):
        gt.gradient_plan(lambda x: x, torch.ones(3))
    with pytest.raises(gb.Error, match=r"made by gb\.fuse"):
        gt.op(lambda x: x)
    with pytest.raises(gb.Error, match="no parameter 'sigma'"):
        gt.op(layer_norm, arguments={"sigma": 1})
    with pytest.raises(gb.Error, match="fixed number"):
        gt.op(gb.fuse(lambda *xs: xs[0]))
    with pytest.raises(gb.Error, match="no parameter is left"):
        gt.op(gb.fuse(lambda x=1.0: x))
    wrong = gt.op(pair, results=3)
    with pytest.raises(gb.Error, match="results=3"):
        wrong(torch.ones(2, 3), torch.ones(2))
    with pytest.raises(gb.ShapeError, match="label 'col'"):
        norm(torch.ones(2, 3), torch.ones(4), torch.ones(3))
    x = torch.ones(3, requires_grad=True)
    psi = gt.op(gb.fuse(lambda x: gb.digamma(x)))
    with pytest.raises(gb.ElementTypeError, match="no derivative"):
        psi(x).sum().backward()
    floor = gt.op(gb.fuse(lambda x: gb.floor(x)))
    assert torch.autograd.grad(floor(x).sum(), x, allow_unused=True) == (None,)
    with pytest.raises(gb.Error, match="gradient"):
        gt.gradient_plan(gb.fuse(lambda x: gb.floor(x)), torch.ones(3))
