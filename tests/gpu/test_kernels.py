"""Results of every operation and every kernel family on a device, bit for bit.

The same bodies run on the CPU, where they prove that the tests are right, and on a CUDA device.
What is wanted comes from the CPU backend on packed operands, or is written out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.functions import __all__ as FUNCTIONS
from gpubcast.hlo import rules
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType, element_type
from tests.gpu.conftest import NdArray, Place, assert_same
from tests.support import operations
from tests.support.cases import check, make
from tests.support.scalars import special_values

KINDS = tuple(name for name, kind in ELEMENT_TYPES.items() if not kind.is_complex)
COUNTED = tuple(name for name in KINDS if name != "pred")  # the types that iota has
OPERATIONS = tuple(name for name in FUNCTIONS if OPS[name].rule is not rules.IOTA)
FORMS = ("flat", "rows", "gather")
# Which of +0.0 and -0.0 these return is not specified.
EITHER_ZERO = ("max", "min", "clamp")


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
    if name == "get_dimension_size":
        return {"axis": 1}
    if name == "reduce_precision":
        return {"exponent_bits": 4, "mantissa_bits": 5}
    if OPS[name].rule is rules.REDUCE:
        return {"axes": (1,)}
    if OPS[name].rule is rules.CHOOSE:
        return {"axis": 1, "index_dtype": "s32"}
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


HUBS = ("f32", "f64", "s32", "pred")


@pytest.mark.parametrize("source", KINDS)
def test_conversions(device: Place, source: str) -> None:
    """Between all types through f32, f64, s32 and pred (on the CPU: to one), at the edges."""
    targets = KINDS if source in HUBS else HUBS
    x = operand_values(element_type(source), 0)
    for target in targets[:1] if device.kind == "cpu" else targets:
        found = device.get(gb.convert_element_type(arranged(device, x, "gather", 1), target))
        assert_same(found, gb.convert_element_type(x, target))


# --- reductions --------------------------------------------------------------------------------

# Rows for some threads of a warp, a warp, a block, by chunks; columns by vectors and alone, that a
# thread has at once and that it walks.
SUMS = (
    ("f32[3000,5]", (1,)), ("f32[300,70]", (1,)), ("f16[70,9000]", (1,)), ("f64[2,40000]", (1,)),
    ("f32[300,8192]", (0,)), ("bf16[3,130,4096]", (1,)), ("f32[1500,8192]", (0,)),
    ("u8[900,16384]", (0,)), ("f64[200,4100]", (0,)), ("f32[33000,256]", (0,)),
    ("f32[60,70,80]", (0, 1, 2)), ("c64[7,40,30]", (0, 2)),
)  # fmt: skip


def numbers(text: str) -> NdArray:
    shape = gb.Shape.parse(text)
    drawn = np.random.default_rng(11).standard_normal(shape.dimensions) * 100
    return drawn.astype(np.int64 if shape.element_type.is_integral else np.float64).astype(
        shape.element_type.dtype
    )


@pytest.mark.parametrize(("text", "axes"), SUMS, ids=lambda value: str(value))
def test_sums(device: Place, text: str, axes: tuple[int, ...]) -> None:
    """Every bit is the law's on both devices."""
    x = numbers(text)
    found = device.get(gb.reduce_sum(device.put(x), axes=axes))
    assert_same(found, np.asarray(gb.reduce_sum(x, axes=axes)))


def test_several_reductions_of_columns(device: Place) -> None:
    """That share a pass, beside a row of factors; and passes that depend on each other."""

    @gb.fuse("m n, m -> n, n, m n")
    def function(x: Any, w: Any) -> Any:
        e = gb.exp(x - gb.reduce_max(x, "m"))
        return gb.reduce_sum(x * w, "m"), gb.reduce_min(x, "m"), e / gb.reduce_sum(e, "m")

    x, w = numbers("f32[130,8192]") / 50, numbers("f32[130]")
    found = function(device.put(x), device.put(w))
    for one, wanted in zip(found, function(x, w), strict=True):
        assert_same(device.get(one), np.asarray(wanted))


@pytest.mark.parametrize("coordinates", [2, 3, 9])
def test_pairs(device: Place, coordinates: int) -> None:
    """A sum within the elements of a sum, of few coordinates and of some more."""

    @gb.fuse("i d, j d, j -> i")
    def function(x: Any, y: Any, b: Any) -> Any:
        u = x - y
        return gb.reduce_sum(gb.exp(-0.5 * gb.reduce_sum(u * u, "d")) * b, "j")

    x, y = (numbers(f"f32[{n},{coordinates}]") / 100 for n in (500, 3000))
    b = numbers("f32[3000]")
    found = device.get(function(*map(device.put, (x, y, b))))
    assert_same(found, np.asarray(function(x, y, b)))


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


@pytest.mark.parametrize("block", range(16))
def test_random_calls(device: Place, block: int) -> None:
    """Random shapes, layouts, padding, views and outputs; 25 on a GPU per block."""
    for number in range(2 if device.kind == "cpu" else 25):
        call = make(1000 * block + number, device.kind)
        check(call, call.run().to_device("cpu"))


def test_rank_16(device: Place) -> None:
    x = (np.arange(2**16) % 251).astype(np.uint8).reshape((2,) * 16)
    axes = tuple(range(1, 16, 2)) + tuple(range(0, 16, 2))
    found = gb.add(device.put(x), device.put(x).transpose(axes))
    assert_same(device.get(found), x + x.transpose(axes))
