"""Results on a device: operations, kernel families, layouts, views, ``out=``; bit for bit.

The same bodies run on the CPU, where they prove that the tests are right, and on a CUDA device.
What is wanted comes from the CPU backend on packed operands, or is written out.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.functions import __all__ as FUNCTIONS
from gpubcast.hlo import rules
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType, element_type
from tests.gpu.conftest import Place
from tests.support import operations
from tests.support.cases import check, make
from tests.support.scalars import special_values

NdArray = np.ndarray[Any, Any]

KINDS = tuple(name for name, kind in ELEMENT_TYPES.items() if not kind.is_complex)
COUNTED = tuple(name for name in KINDS if name != "pred")  # the types that iota has
OPERATIONS = tuple(name for name in FUNCTIONS if OPS[name].rule is not rules.IOTA)
FORMS = ("flat", "rows", "gather")
# Which of +0.0 and -0.0 these return is not specified.
EITHER_ZERO = ("max", "min", "clamp")


def bits(x: NdArray) -> NdArray:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def assert_same(found: NdArray, wanted: NdArray, *, either_zero: bool = False) -> None:
    """The same form and the same bits; any NaN for a NaN."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    same = bits(found) == bits(wanted)
    if element_type(found.dtype).is_floating:
        same = same | ((found != found) & (wanted != wanted))
        if either_zero:
            same = same | (found == wanted)
    where = np.argwhere(~same)
    assert not len(where), (
        f"{len(where)} of {found.size} differ, first at {tuple(where[0])}: "
        f"{found[tuple(where[0])]!r}, wanted {wanted[tuple(where[0])]!r}"
    )


def operand_values(kind: ElementType, number: int) -> NdArray:
    """13 x 67 values; operands 0 and 1 together go through all pairs of special values."""
    special = special_values(kind)
    n = len(special)
    first, second = np.repeat(special, n), np.tile(special, n)
    return np.resize((first, second, np.roll(second, n + 1))[number], (13, 67))


def arranged(device: Place, x: NdArray, form: str, number: int) -> Any:
    """A device array with the given values whose memory calls for one kernel family."""
    if form == "flat":
        return device.put(x)
    if form == "rows":
        if number:
            return device.put(x)
        wider = np.zeros((x.shape[0], x.shape[1] + 6), x.dtype)
        wider[:, 3:-3] = x
        return device.put(wider)[:, 3:-3]
    if number % 2 == 0:
        return device.put(x.T).T
    wider = np.zeros((x.shape[0], 2 * x.shape[1]), x.dtype)
    wider[:, ::2] = x
    return device.put(wider)[:, ::2]


def kinds_of(name: str) -> tuple[str, ...]:
    return tuple(k for k in KINDS if ELEMENT_TYPES[k] in OPS[name].accepts)


def keywords_of(name: str, kind: str) -> dict[str, Any]:
    if name == "compare":
        return {"direction": "GT", "total_order": element_type(kind).is_floating}
    if name == "bitcast_convert_type":
        same_width = {4: "u4", 8: "u8", 16: "u16", 32: "u32", 64: "u64"}
        return {"to": kind if kind == "pred" else same_width[element_type(kind).bits]}
    if name == "convert_element_type":
        return {"to": "f32"}
    if name == "broadcast":
        return {"sizes": (3,)}
    if name == "broadcast_in_dim":
        return {"shape": (67, 2, 13), "broadcast_dimensions": (2, 0)}
    if name == "reduce_precision":
        return {"exponent_bits": 4, "mantissa_bits": 5}
    return operations.keywords(OPS[name], element_type(kind))[0]


# --- every operation ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(device: Place, name: str) -> None:
    """Each operation on each type (on the CPU: on one), in the three families in turn."""
    kinds = kinds_of(name)
    if device.kind == "cpu":
        kinds = tuple(k for k in ("f32", "s32", "pred") if k in kinds)[:1]
    for i, kind in enumerate(kinds):
        row, keywords = OPS[name], keywords_of(name, kind)
        types = [element_type(kind)] * row.arity
        if row.rule is rules.SELECT:
            types[0] = element_type("pred")
        values = [operand_values(t, number) for number, t in enumerate(types)]
        form = FORMS[(i + len(name)) % 3] if device.kind == "cuda" else "gather"
        operands = [arranged(device, x, form, number) for number, x in enumerate(values)]
        function = getattr(gb, name)
        found, wanted = device.get(function(*operands, **keywords)), function(*values, **keywords)
        # Elementary functions too: both devices run the same formula.
        assert_same(found, wanted, either_zero=name in EITHER_ZERO)


@pytest.mark.parametrize("kind", COUNTED)
def test_iota(device: Place, kind: str) -> None:
    found = gb.broadcasted_iota(kind, (13, 67), 1, device=device.kind)
    assert_same(device.get(found), gb.broadcasted_iota(kind, (13, 67), 1))


def test_conversions(device: Place) -> None:
    """Between all types through f32, f64, s32 and pred (on the CPU: a few), at the edges."""
    hubs = ("f32", "f64", "s32", "pred")
    pairs = [(a, b) for a, b in itertools.product(KINDS, KINDS) if a in hubs or b in hubs]
    if device.kind == "cpu":
        pairs = [("f32", "s32"), ("f64", "bf16"), ("s32", "u8"), ("f16", "pred")]
    for source, target in pairs:
        x = operand_values(element_type(source), 0)
        found = device.get(gb.convert_element_type(arranged(device, x, "gather", 1), target))
        assert_same(found, gb.convert_element_type(x, target))


# --- kernel families ---------------------------------------------------------------------------

FAMILIES = (
    ("flat", ("f32[37,41]", "f32[37,41]"), None),
    ("flat", ("u8[37,41]", "u8[]"), ()),
    ("flat", ("f64[1]", "f64[1]"), None),
    ("rows", ("f32[53,300]", "f32[300]"), (1,)),
    ("rows", ("u8[53,1000]", "u8[53]"), (0,)),
    ("rows", ("f64[5,7,64]", "f64[7]"), (1,)),
    ("rows", ("bf16[3,2,5,64]", "bf16[2]"), (1,)),
    ("rows", ("f16[129,1]", "f16[1,264]"), None),
    ("rows", ("s32[2,1000]", "s32[1,1000]"), None),
    ("phase", ("f32[1001,3]", "f32[3]"), (1,)),
    ("phase", ("f32[53,97]", "f32[97]"), (1,)),
    ("phase", ("u8[3,2,3,2,3,2]", "u8[3,1,3,1,3,1]"), None),
    ("phase", ("s64[2,3,5]{0,1,2}", "s64[3]"), (1,)),
    ("xpose", ("f32[70,90]", "f32[70,90]{0,1}"), None),
    ("xpose", ("bf16[5,70,90]", "bf16[5,70,90]{1,2,0}"), None),
)


@pytest.mark.parametrize(("family", "texts", "placed"), FAMILIES)
def test_family(
    device: Place, family: str, texts: tuple[str, ...], placed: tuple[int, ...] | None
) -> None:
    """Sizes that no vector and no tile divides, in the family that the schedule names."""
    shapes = [gb.Shape.parse(text) for text in texts]
    keywords: dict[str, Any] = {} if placed is None else {"broadcast_dimensions": placed}
    plan = gb.plan("add", *shapes, **keywords)
    assert plan.schedule("sm_90").name.lower() == family
    values = [
        np.array(np.arange(s.num_elements) * (7 + i) % 13, s.element_type.dtype)
        for i, s in enumerate(shapes)
    ]
    values = [x.reshape(s.dimensions) for x, s in zip(values, shapes, strict=True)]
    operands = [
        gb.array(device.put(x), layout=s.layout) for x, s in zip(values, shapes, strict=True)
    ]
    x, y = values
    if placed is not None:
        y = y.reshape([x.shape[d] if d in placed else 1 for d in range(x.ndim)])
    assert_same(device.get(plan(*operands)), np.asarray(x + y))


@pytest.mark.parametrize("offset", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "f64"])
def test_unaligned_base(device: Place, kind: str, offset: int) -> None:
    base = np.arange(400).astype(element_type(kind).dtype) % np.array(100, element_type(kind).dtype)
    x, out = device.put(base)[offset : offset + 301], device.put(np.zeros_like(base))[offset:]
    y = device.put(base)[:301]
    assert gb.add(x, y, out=out[:301]) is not None
    assert_same(device.get(out)[:301], base[offset : offset + 301] + base[:301])
    assert not device.get(out)[301:].any()


UNALIGNED = (
    ("add", (40, 70), (70,), (1,), np.s_[1:], np.s_[:]),
    ("add", (40, 70), (70,), (1,), np.s_[:, 1:], np.s_[1:]),
    ("add", (40, 70), (40,), (0,), np.s_[1:, 3:], np.s_[1:]),
    ("add", (300, 3), (3,), (1,), np.s_[1:], np.s_[:]),
    ("add", (300, 5), (5,), (1,), np.s_[1:, 1:4], np.s_[1:4]),
    ("mul", (64, 96), (64, 96), None, np.s_[:, 1:], np.s_[:, 1:]),
)


@pytest.mark.parametrize(("name", "first", "second", "placed", "key", "other"), UNALIGNED)
@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "f64"])
def test_unaligned_views(
    device: Place, kind: str, name: str, first: tuple[int, ...], second: tuple[int, ...],
    placed: tuple[int, ...] | None, key: Any, other: Any,
) -> None:  # fmt: skip
    """Rows that begin anywhere, into aligned and unaligned results; the last: one is transposed."""
    dtype = element_type(kind).dtype
    x, y = (np.array(np.arange(math.prod(n)) * k % 11, dtype).reshape(n)
            for n, k in ((first, 7), (second, 5)))  # fmt: skip
    a, b = device.put(x)[key], device.put(y)[other]
    keywords: dict[str, Any] = {}
    if placed is None:
        a, b, x, y = a, device.put(y.T.copy()).T[other], x[key], y[other]
    else:
        keywords = {"broadcast_dimensions": placed}
        x, y = x[key], y[other]
    aligned = (
        y if placed is None else y.reshape([n if d in placed else 1 for d, n in enumerate(x.shape)])
    )
    wanted = (x + aligned if name == "add" else x * aligned).astype(dtype)
    function = getattr(gb, name)
    assert_same(device.get(function(a, b, **keywords)), wanted)
    memory = device.put(np.full(first, 99, dtype))
    function(a, b, **keywords, out=memory[key])
    whole = np.full(first, 99, dtype)
    whole[key] = wanted
    assert_same(device.get(memory), whole)


@pytest.mark.parametrize("block", range(4))
def test_random_calls(device: Place, block: int) -> None:
    """Random shapes, layouts, padding, views and outputs; a hundred on a GPU per block."""
    for number in range(8 if device.kind == "cpu" else 100):
        call = make(1000 * block + number, device.kind)
        check(call, call.run().to_device("cpu"))


def test_rank_16(device: Place) -> None:
    x = (np.arange(2**16) % 251).astype(np.uint8).reshape((2,) * 16)
    axes = tuple(range(1, 16, 2)) + tuple(range(0, 16, 2))
    found = gb.add(device.put(x), device.put(x).transpose(axes))
    assert_same(device.get(found), x + x.transpose(axes))


# --- kinds of operands and results -------------------------------------------------------------


def test_results_are_of_the_operands_kind(device: Place) -> None:
    x = device.put(np.arange(6, dtype=np.float32).reshape(2, 3))
    a = gb.array(x)
    assert (type(gb.add(x, x)), type(gb.add(x, 1.0))) == (device.xp.ndarray, device.xp.ndarray)
    assert (type(gb.add(a, a)), type(gb.add(a, x)), type(gb.add(x, a))) == (gb.Array,) * 3
    assert a.device == ("cpu" if device.kind == "cpu" else "cuda:0")
    assert_same(device.get(gb.add(x, a)), np.arange(0, 12, 2, dtype=np.float32).reshape(2, 3))


def test_arrays(device: Place) -> None:
    """Slices, transposes, layouts, transfers, scalars out."""
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    a = gb.array(host, device=device.kind)
    assert_same(a.numpy(), host)
    assert_same(a.T.numpy(), host.T)
    assert_same(a[1:, ::-2].numpy(), host[1:, ::-2])
    assert_same(gb.add(a[1], a[2, ::-1]).numpy(), host[1] + host[2, ::-1])
    assert_same(a.with_layout(gb.Layout((0, 1), (5, 4), gb.PaddingValue.ONE)).numpy(), host)
    assert_same(a.to_device("cpu").numpy(), host)
    assert_same(gb.array(a.to_device("cpu"), device=device.kind).numpy(), host)
    assert (a[2, 3].item(), int(a[0, 1]), bool(a[0, 0])) == (11, 1, False)
    assert repr(a).startswith(f"gpubcast.Array(s32[3,4]{{1,0}}, device='{a.device}'")
    assert_same(gb.full("f32[2,2]", 3, device=device.kind).numpy(), np.full((2, 2), 3, np.float32))


def test_scalars(device: Place) -> None:
    x = np.array([1.5, -2.0, 4.0], np.float32)
    y = device.put(x)
    one = device.put(np.array(0.5, np.float32))
    for scalar in (0.5, np.float32(0.5), np.array(0.5, np.float32), one, gb.array(one)):
        assert_same(device.get(gb.add(y, scalar)), x + np.float32(0.5))
    zero_rank = gb.add(one, one)
    assert (zero_rank.shape, float(device.get(zero_rank))) == ((), 1.0)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 5)])
def test_no_elements(device: Place, shape: tuple[int, ...]) -> None:
    x = device.put(np.zeros(shape, np.float32))
    found = gb.add(x, 1.0)
    assert (type(found), found.shape, found.dtype) == (device.xp.ndarray, shape, np.float32)
    padded = gb.Layout(
        tuple(reversed(range(len(shape)))), tuple(n + 2 for n in shape), gb.PaddingValue.ONE
    )
    memory = gb.array(x, layout=padded).to_device("cpu")._buffer.view(np.float32)
    assert_same(memory, np.ones(math.prod(n + 2 for n in shape), np.float32))


def test_bf16(device: Place) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((19, 45)).astype(ml_dtypes.bfloat16) for _ in range(2))
    assert_same(device.get(gb.mul(device.put(x), device.put(y))), x * y)
    assert_same(
        device.get(gb.add(device.put(x), device.put(y)[3], broadcast_dimensions=(1,))), x + y[3]
    )


def test_exchange_shares_memory(device: Place) -> None:
    """DLPack in both directions, and on a GPU ``__cuda_array_interface__``, without a copy."""
    x = device.put(np.arange(12, dtype=np.float32).reshape(3, 4))
    a = gb.from_dlpack(x.T)
    assert (a.shape, device.address(a.view())) == ((4, 3), device.address(x))
    out = device.xp.from_dlpack(gb.array(x))
    assert_same(device.get(out), device.get(x))
    b = gb.array(x)
    assert device.address(device.xp.from_dlpack(b)) == device.address(b.view())
    assert device.address(device.xp.from_dlpack(b.T[1:])) == device.address(b.view()) + 4
    if device.kind == "cuda":
        assert b.__cuda_array_interface__["data"][0] == device.address(b.view())
        assert device.address(device.xp.asarray(b)) == device.address(b.view())
    else:
        assert not hasattr(b, "__cuda_array_interface__")


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "bool", "int64"])
def test_torch(device: Place, kind: str) -> None:
    torch = pytest.importorskip("torch")
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x = (torch.arange(12, device=device.kind).reshape(3, 4) % 5).to(getattr(torch, kind))
    found = gb.max(x.T, x.T)
    assert isinstance(found, device.xp.ndarray)
    if device.kind == "cpu" and kind == "bfloat16":  # NumPy exports no such elements
        back = torch.from_numpy(found.view(np.int16)).view(torch.bfloat16)
    else:
        back = torch.from_dlpack(found)
    assert torch.equal(back.to(x.device), x.T)
    out = torch.empty_like(x)
    assert gb.bitcast_convert_type(x, gb.element_type(found.dtype).name, out=out) is out
    assert torch.equal(out, x)


def test_torch_with_gradient_is_refused(device: Place) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(3, device=device.kind, requires_grad=True)
    with pytest.raises(gb.Error, match=r"require(s_)?.?grad"):
        gb.add(x, x)


def test_jax(device: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory
    jax = pytest.importorskip("jax")
    try:
        where = jax.devices("gpu" if device.kind == "cuda" else "cpu")[0]
    except RuntimeError as error:
        pytest.skip(f"this JAX has no such device: {error}")
    x = jax.device_put(np.arange(12, dtype=np.float32).reshape(3, 4), where)
    found = gb.add(x, x)
    assert isinstance(found, device.xp.ndarray)
    assert_same(device.get(found), np.arange(0, 24, 2, dtype=np.float32).reshape(3, 4))


# --- memory: layouts, padding, views, out= -------------------------------------------------------

PADDED = (
    (gb.PaddingValue.ZERO, "f32", 0.0),
    (gb.PaddingValue.ONE, "f64", 1.0),
    (gb.PaddingValue.LOWEST, "f16", -np.inf),
    (gb.PaddingValue.HIGHEST, "f32", np.inf),
    (gb.PaddingValue.HIGHEST, "s32", 2**31 - 1),
    (gb.PaddingValue.LOWEST, "u8", 0),
)


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
@pytest.mark.parametrize(("padding", "kind", "value"), PADDED)
def test_written_padding(
    device: Place, padding: gb.PaddingValue, kind: str, value: float, order: tuple[int, int]
) -> None:
    """Every slot of the buffer, logical or padding."""
    dtype = element_type(kind).dtype
    x = np.arange(5 * 37).reshape(5, 37).astype(dtype)
    layout = gb.Layout(order, (7, 40), padding)
    result = gb.add(gb.array(device.put(x)), device.put(x[0]), broadcast_dimensions=(1,),
                    out_layout=layout)  # fmt: skip
    wanted = np.full((7, 40), value, dtype)
    wanted[:5, :37] = x + x[0]
    memory = result.to_device("cpu")._buffer.view(dtype)
    assert_same(memory, (wanted if order == (1, 0) else wanted.T).reshape(-1))


def test_shared_padding_runs_flat(device: Place) -> None:
    """Padding that promises nothing is computed like any element."""
    layout = gb.Layout((1, 0), (6, 48))
    x = np.arange(5 * 33, dtype=np.float32).reshape(5, 33)
    a = gb.array(device.put(x), layout=layout)
    found = gb.mul(a, a)
    assert found.layout == layout
    assert gb.plan("mul", a.xla_shape, a.xla_shape).schedule("sm_90").name == "FLAT"
    assert_same(found.numpy(), x * x)


@pytest.mark.parametrize("key", [np.s_[::-1], np.s_[:, ::-3], np.s_[8:1:-2, 1::2]])
def test_negative_and_stepped_strides(device: Place, key: Any) -> None:
    x = np.arange(9 * 70, dtype=np.int32).reshape(9, 70)
    found = gb.sub(device.put(x)[key], device.put(2 * x)[key])
    assert_same(device.get(found), x[key] - 2 * x[key])


def test_repeated_operand(device: Place) -> None:
    row = np.arange(40, dtype=np.float32)
    repeated = device.xp.broadcast_to(device.put(row), (7, 40))
    found = gb.add(repeated, repeated)
    assert_same(device.get(found), np.tile(2 * row, (7, 1)))


@pytest.mark.parametrize("key", [np.s_[2:7, 3:40], np.s_[::2, ::-2], np.s_[8:3:-1, 1:2]])
def test_out_leaves_the_rest_alone(device: Place, key: Any) -> None:
    x = np.arange(9 * 43, dtype=np.int32).reshape(9, 43)
    memory = device.put(np.full((9, 43), -7, np.int32))
    target = memory[key]
    assert gb.add(device.put(x)[key], device.put(x)[key], out=target) is target
    wanted = np.full((9, 43), -7, np.int32)
    wanted[key] = 2 * x[key]
    assert_same(device.get(memory), wanted)


def test_out_overlaps_an_operand(device: Place) -> None:
    """In place, shifted by one, reversed and transposed: as if nothing overlapped."""
    x = np.arange(1000, dtype=np.float32)
    shifted, reverse, place = device.put(x), device.put(x), device.put(x)
    gb.add(shifted[:-1], 1.0, out=shifted[1:])
    assert_same(device.get(shifted), np.concatenate([x[:1], x[:-1] + 1]))
    gb.add(reverse[::-1], 1.0, out=reverse)
    assert_same(device.get(reverse), x[::-1] + 1)
    gb.mul(place, place, out=place)
    assert_same(device.get(place), x * x)
    square = np.arange(67 * 67, dtype=np.float32).reshape(67, 67)
    turned = device.put(square)
    gb.neg(turned.T, out=turned)
    assert_same(device.get(turned), -square.T)


def test_out_as_array(device: Place) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = gb.full("f32[2,3]{0,1:pad(4,3,one)}", 9, device=device.kind)
    assert gb.add(device.put(x), 1.0, out=out) is out
    wanted = np.ones((3, 4), np.float32)
    wanted[:, :2] = (x + 1).T
    assert_same(out.to_device("cpu")._buffer.view(np.float32), wanted.reshape(-1))


def test_plan_and_bind(device: Place) -> None:
    """A plan takes any strides; a bound call reads its buffers when it is called."""
    x = np.arange(40 * 33, dtype=np.float32).reshape(40, 33)
    row = x[1]
    plan = gb.plan("add", "f32[40,33]", "f32[33]", broadcast_dimensions=(1,))
    a, v, out = device.put(x), device.put(row), device.put(np.zeros_like(x))
    assert_same(device.get(plan(a, v)), x + row)
    assert_same(device.get(plan(device.put(x.T).T, v[::-1])), x + row[::-1])
    bound = plan.bind(a, v, out=out)
    assert bound() is out
    assert_same(device.get(out), x + row)
    v += 1
    bound()
    assert_same(device.get(out), x + (row + 1))
    with pytest.raises(gb.ShapeError, match="the plan is for"):
        plan(a.T, v)
