"""Tensors in, tensors out: types of elements, shared memory, ``out``, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.support import doors

torch = doors.library("torch")

import gpubcast as gb  # noqa: E402
import gpubcast.torch as gt  # noqa: E402
from gpubcast.torch.tensors import ELEMENT_TYPE_OF  # noqa: E402

DTYPES = sorted(ELEMENT_TYPE_OF, key=str)


@gb.fuse("r c, r -> r c, r")
def scaled(x, m):
    return x * m, m + m


def _values(dtype, shape=(2, 3)):
    return (torch.arange(6) % 2 + 1).reshape(shape).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_of_both(dtype):
    x = _values(dtype)
    found = gb.select(x == x, x, x)
    assert type(found) is torch.Tensor and found.dtype is dtype
    assert torch.equal(found.to(torch.complex128), x.to(torch.complex128))
    broadcast = gb.broadcast(x, (2,))
    assert broadcast.dtype is dtype and tuple(broadcast.shape) == (2, 2, 3)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_memory_is_shared_both_ways(dtype):
    x = _values(dtype)
    a = gb.from_dlpack(x)
    assert str(a.xla_shape.element_type) == ELEMENT_TYPE_OF[dtype]
    assert a.view().__array_interface__["data"][0] == x.data_ptr()
    again = gt.asarray(a)
    assert again.data_ptr() == x.data_ptr() and again.dtype is dtype
    transposed = gt.asarray(gb.from_dlpack(x.T))
    assert transposed.data_ptr() == x.data_ptr() and transposed.stride() == x.T.stride()


def test_operands_are_read_in_place_and_results_are_not_copied(monkeypatch):
    x = torch.ones(4, 4)
    seen = []
    from gpubcast.torch import tensors

    monkeypatch.setattr(tensors, "from_numpy", lambda a: seen.append(a) or torch.from_numpy(a))
    y = gb.add(x, x)
    assert y.data_ptr() == seen[0].__array_interface__["data"][0]


@pytest.mark.parametrize("repeats", [1, 3, 40])
def test_every_way_of_calling(repeats):
    x, m = torch.arange(6.0).reshape(2, 3), torch.tensor([1.0, 2.0])
    plan = gb.plan("add", "f32[2,3]", "f32[2,3]")
    for _ in range(repeats):
        assert torch.equal(gb.add(x, x), x + x)
        assert torch.equal(gb.mul(x, 2.0), x * 2)
        assert torch.equal(gb.reduce_sum(x, axes=(1,)), x.sum(1))
        a, b = scaled(x, m)
        assert torch.equal(a, x * m[:, None]) and torch.equal(b, m + m)
        a, b = scaled(x, m=m)
        assert torch.equal(a, x * m[:, None]) and torch.equal(b, m + m)
        assert torch.equal(plan(x, x), x + x)
        assert torch.equal(gb.apply("r c, r -> r c", gb.sub, x, m), x - m[:, None])
        torch.testing.assert_close(gb.nn.softmax(x), torch.softmax(x, -1))


def test_mixtures():
    x, a = torch.ones(3), np.ones(3, "f4")
    assert type(gb.add(x, a)) is torch.Tensor
    assert type(gb.add(a, x)) is torch.Tensor
    assert type(gb.add(gb.array(a), x)) is gb.Array
    assert type(gb.array(a) + x) is gb.Array
    assert type(x + gb.array(a)) is gb.Array
    assert type(gb.add(torch.nn.Parameter(x, requires_grad=False), a)) is torch.Tensor
    assert torch.equal(gb.add(torch.tensor(2.0), a), torch.full((3,), 3.0))


def test_scalar_results_and_empty_ones():
    assert gb.reduce_sum(torch.ones(3), axes=(0,)).shape == ()
    assert gb.neg(torch.ones(0, 3)).shape == (0, 3)


def test_out():
    x, out = torch.ones(2, 3), torch.zeros(3, 2).T
    before = out._version
    for _ in range(20):
        assert gb.add(x, x, out=out) is out
    assert torch.equal(out, x + x) and out._version > before
    a, b = torch.zeros(2, 3), np.zeros(2, "f4")
    found = scaled(x, torch.ones(2), out=(a, b))
    assert found[0] is a and found[1] is b and torch.equal(a, x) and (b == 2).all()
    half = torch.zeros(2, 3, dtype=torch.bfloat16)
    assert gb.convert_element_type(x, "bf16", out=half) is half and (half == 1).all()
    inside = torch.zeros(2, 5)
    gb.add(x, x, out=inside[:, 1:4])
    assert inside.sum() == 12


def test_what_backward_saved_is_seen_to_have_changed():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    with torch.no_grad():
        gb.neg(y, out=y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(gb.ElementTypeError, match="requires gradients"):
        gb.add(x, x)
    with pytest.raises(gb.ElementTypeError, match="requires gradients"):
        gb.add(np.ones(3, "f4"), 1.0, out=x)
    with torch.no_grad():
        found = gb.add(x, x)
    assert torch.equal(found, torch.full((3,), 2.0)) and not found.requires_grad
    with torch.inference_mode():
        assert torch.equal(gb.add(torch.ones(3), x), torch.full((3,), 2.0))


def test_bits_of_views():
    z = torch.tensor([1 + 2j, 3 - 4j])
    negated, conjugated = z.conj().imag, z.conj()
    assert negated.is_neg() and conjugated.is_conj()
    assert torch.equal(gb.add(negated, 0.0), torch.tensor([-2.0, 4.0]))
    assert torch.equal(gb.mul(conjugated, 1.0), torch.tensor([1 - 2j, 3 + 4j]))
    for x in (negated, conjugated):
        with pytest.raises(gb.ElementTypeError, match="resolve_"):
            gb.from_dlpack(x)
        with pytest.raises(gb.ElementTypeError, match="resolve_"):
            gb.neg(x.clone(), out=x)


def _refused():
    x = torch.ones(2, 2)
    yield "sparse", x.to_sparse(), "to_dense"
    yield "csr", x.to_sparse_csr(), "to_dense"
    yield "meta", x.to("meta"), "meta"
    yield "quantised", torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), "quantised"
    yield "complex32", x.to(torch.complex32), "complex32"
    yield "f8", x.to(torch.float8_e4m3fnuz), "float8_e4m3fnuz"
    yield "nested", torch.nested.nested_tensor([x, x]), "to_padded_tensor|requires"


@pytest.mark.filterwarnings("ignore")
def test_refusals():
    for name, x, says in _refused():
        with pytest.raises(gb.Error, match=says):
            gb.neg(x)
        with pytest.raises(gb.Error, match=says):
            gb.neg(np.ones((2, 2), "f4"), out=x)
        assert name


def test_subclasses_that_compute_otherwise_are_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.ones(3))
    with pytest.raises(gb.ElementTypeError, match="FakeTensor"):
        gb.neg(fake)
    with pytest.raises(gb.ElementTypeError, match="op\\(function\\)"):
        torch.func.vmap(gb.neg)(torch.ones(3, 3))


def test_a_call_on_a_gpu_is_on_the_current_stream_of_pytorch(monkeypatch):
    pytest.importorskip("cupy")
    from types import SimpleNamespace

    from torch._subclasses.fake_tensor import FakeTensorMode

    from gpubcast.torch import tensors
    from tests.support import fake_gpu

    with FakeTensorMode(allow_non_fake_inputs=True):
        there = torch.empty(3, device="cuda")
    monkeypatch.setattr(
        torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=70 + device.index)
    )
    with fake_gpu.gpu() as gpu:
        with tensors._stream((torch.ones(3), there)):
            assert gpu.driver.get_current_stream().ptr == 70
        assert gpu.driver.get_current_stream().ptr == 16
        with tensors._stream((torch.ones(3), np.ones(3))):
            assert gpu.driver.get_current_stream().ptr == 16


def test_what_is_no_array_is_no_tensor():
    for what in ([1, 2], 3.0, None, memoryview(b"ab").tolist()):
        with pytest.raises(gb.ElementTypeError, match=r"torch\.tensor copies"):
            gt.asarray(what)


def test_views_that_no_tensor_has():
    with pytest.raises(gb.LayoutError, match="negative"):
        gt.asarray(gb.array(np.ones((2, 3), "f4"))[::-1])
    with pytest.raises(gb.LayoutError, match="negative"):
        gt.asarray(np.ones(3, "f4")[::-1])
    with pytest.raises(gb.LayoutError, match="read-only"):
        gt.asarray(np.broadcast_to(np.float32(1), (3,)))
    with pytest.raises(gb.ElementTypeError, match="s4"):
        gb.convert_element_type(torch.ones(3), "s4")
    assert torch.equal(gb.neg(np.ones(3, "f4")[::-1], out=torch.zeros(3)), -torch.ones(3))


def test_compiled_code_breaks_its_graph_at_a_plain_call():
    torch._dynamo.reset()
    graphs = []

    def backend(graph, examples):
        graphs.append(graph)
        return graph.forward

    def f(x, m):
        y = scaled(x * 2, m=m)[0] + 1
        return gb.add(y, y) * 3

    x, m = torch.arange(6.0).reshape(2, 3), torch.tensor([1.0, 2.0])
    assert torch.equal(torch.compile(f, backend=backend)(x, m), f(x, m))
    assert len(graphs) == 3  # before, between and after the two calls
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="skip"):
        torch.compile(f, backend=backend, fullgraph=True)(x, m)
    torch._dynamo.reset()


def test_before_the_import_results_are_numpy_and_negated_views_are_refused():
    code = """if True:
        import torch, numpy as np, gpubcast as gb
        assert type(gb.add(torch.ones(3), torch.ones(3))) is np.ndarray
        try:
            gb.neg(torch.tensor([1 + 2j]).conj().imag)
        except gb.ElementTypeError as error:
            assert "resolve_neg" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_the_import_finds_calls_that_machine_code_does_already():
    code = """if True:
        import numpy as np, torch, gpubcast as gb
        from gpubcast.runtime.eager_call import APPLY
        x, t = np.ones(3, "f4"), torch.ones(3)
        for _ in range(5000):
            gb.add(x, x)
        assert APPLY.state == "native"
        import gpubcast.torch
        assert APPLY.state == "native"
        assert type(gb.add(t, t)) is torch.Tensor and type(gb.add(x, x)) is np.ndarray
        assert type(gb.add(t, 1.0, out=t)) is torch.Tensor and float(t[0]) == 2.0
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_a_stablehlo_function_takes_tensors():
    doors.library("jaxlib")
    function = gb.from_stablehlo(
        "func.func @main(%a: tensor<2x?xbf16>, %b: tensor<2x?xbf16>)"
        " -> (tensor<2x?xbf16>, tensor<2x?xbf16>) {\n"
        " %0 = stablehlo.subtract %a, %b : tensor<2x?xbf16>\n"
        " %1 = stablehlo.negate %a : tensor<2x?xbf16>\n"
        " return %0, %1 : tensor<2x?xbf16>, tensor<2x?xbf16>\n}"
    )
    x = _values(torch.bfloat16)
    for other in (x, gb.array(x)):
        found = function(x, other)
        kind = torch.Tensor if other is x else gb.Array
        assert [type(one) for one in found] == [kind, kind]
        values = [one.float() if other is x else one.numpy().astype("f4") for one in found]
        assert np.array_equal(values, [(x - x).float(), (-x).float()])
    with pytest.raises(gb.ElementTypeError, match="requires gradients"):
        function(x.requires_grad_(), x)
