"""Arrays, operands, scalars, out=, operators and exchange, on the CPU."""

from __future__ import annotations

import itertools
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime.overlap import overlaps_itself
from tests.support import cases

F = np.arange(12, dtype="f4").reshape(3, 4)


# --- what an operand may be --------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        F,
        np.asfortranarray(F),
        F[::-1],
        F[:, ::-2],
        F.T[1:],
        np.broadcast_to(F[0], (3, 4)),
        np.broadcast_to(np.float32(2), (2, 0, 3)),
        F.reshape(1, 3, 1, 4),
    ],
    ids=["plain", "fortran", "reversed", "steps", "transposed", "repeated", "empty", "ones"],
)
def test_strided_views_are_read_in_place(view: np.ndarray) -> None:
    np.testing.assert_array_equal(gb.mul(view, 2.0), view * np.float32(2))


def test_read_only_input() -> None:
    x = F.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(gb.neg(x), -x)


def test_unaligned_input_and_output() -> None:
    raw = np.zeros(4 * 12 + 1, np.uint8)
    x = raw[1:].view("f4").reshape(3, 4)
    x[...] = F
    assert x.ctypes.data % 4
    np.testing.assert_array_equal(gb.add(x, x), F + F)
    out = np.zeros(4 * 12 + 1, np.uint8)[1:].view("f4").reshape(3, 4)
    assert gb.add(x, F, out=out) is out
    np.testing.assert_array_equal(out, F + F)


def test_strides_that_are_no_multiple_of_the_element() -> None:
    table = np.zeros(5, np.dtype([("flag", "u1"), ("value", "f4")]))
    table["value"] = np.arange(5)
    assert table["value"].strides == (5,)
    np.testing.assert_array_equal(gb.neg(table["value"]), -np.arange(5, dtype="f4"))
    gb.neg(np.ones(5, "f4"), out=table["value"])
    np.testing.assert_array_equal(table["value"], -1)
    np.testing.assert_array_equal(table["flag"], 0)
    np.testing.assert_array_equal(gb.array(table["value"]).numpy(), table["value"])


def test_lists_become_numpy() -> None:
    result = gb.add([[1.0, 2.0]], [[1.0], [2.0]])
    assert type(result) is np.ndarray and result.tolist() == [[2.0, 3.0], [3.0, 4.0]]


def test_rank_16_and_more() -> None:
    shape = (1, 2) * 8
    x = np.arange(2**8, dtype="f4").reshape(shape)
    np.testing.assert_array_equal(gb.add(x, x), x + x)
    deep = np.zeros((1,) * 20 + (3,), "f4")
    assert gb.add(deep, 1.0).shape == deep.shape


@pytest.mark.long
def test_sixteen_unmergeable_axes() -> None:
    left = np.arange(2**8, dtype="i4").reshape((1, 2) * 8)
    right = np.arange(2**8, dtype="i4").reshape((2, 1) * 8)
    np.testing.assert_array_equal(gb.add(left, right), left + right)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1)])
def test_rank_0_and_no_elements(shape: tuple[int, ...]) -> None:
    x = gb.array(np.ones(shape, "f4"))
    assert (x + x).shape == shape
    np.testing.assert_array_equal((x + x).numpy(), np.full(shape, 2, "f4"))


def test_numpy_subclasses_are_plain_arrays() -> None:
    class Sub(np.ndarray):
        pass

    assert type(gb.neg(F.view(Sub))) is np.ndarray


# --- refusals ----------------------------------------------------------------------------------

REFUSED = [
    ("A3", gb.ElementTypeError, lambda: gb.add([[1.0], [1.0, 2.0]], 1.0)),
    ("A3", gb.ElementTypeError, lambda: gb.add(object(), F)),
    ("A3", gb.ElementTypeError, lambda: gb.neg(None)),
    ("T1", gb.ElementTypeError, lambda: gb.neg(np.array([object()]))),
    ("T1", gb.ElementTypeError, lambda: gb.neg(np.array(["text"]))),
    ("T1", gb.ElementTypeError, lambda: gb.neg(F.astype(">f4"))),
    ("T1", gb.ElementTypeError, lambda: gb.neg(np.zeros(2, "M8[s]"))),
    ("T1", gb.ElementTypeError, lambda: gb.convert_element_type(F, "float33")),
    ("S8", gb.ShapeError, lambda: gb.full("f33[2]", 1)),
    ("T2", gb.ElementTypeError, lambda: gb.sub(np.array([True]), np.array([True]))),
    ("T3", gb.ElementTypeError, lambda: gb.add(F, F.astype("i4"))),
    ("T5", gb.ElementTypeError, lambda: gb.add(F, F.astype("f8"))),
    ("B5a", gb.ShapeError, lambda: gb.add(F, F[0])),
    ("B4", gb.ShapeError, lambda: gb.add(F, F[:2])),
    ("A4", gb.ElementTypeError, lambda: gb.add(F.astype("u1"), 256)),
    ("A4", gb.ElementTypeError, lambda: gb.add(F.astype("u1"), -1)),
    ("A4", gb.ElementTypeError, lambda: gb.add(F.astype("i4"), 1.5)),
    ("A4", gb.ElementTypeError, lambda: gb.add(F, True)),
    ("A4", gb.ElementTypeError, lambda: gb.add(F, 1j)),
    ("A4", gb.ElementTypeError, lambda: gb.add(1.0, 2.0)),
    ("A2", gb.ShapeError, lambda: gb.add(F, F, out=np.empty((4, 3), "f4"))),
    ("A2", gb.ShapeError, lambda: gb.add(F, F, out=np.empty((3, 4), "f8"))),
    ("A2", gb.LayoutError, lambda: gb.add(F, F, out=np.broadcast_to(np.float32(0), (3, 4)))),
    ("A2", gb.Error, lambda: gb.add(F, F, out=[0.0])),
    ("A2", gb.LayoutError, lambda: gb.add(F, F, out=F.copy(), out_layout=gb.Layout((0, 1)))),
    ("L2", gb.LayoutError, lambda: gb.add(F, F, out_layout=gb.Layout((0,)))),
    ("L6", gb.LayoutError, lambda: gb.add(F, F, out_layout=gb.Layout((1, 0), (2, 4)))),
    ("S2", gb.ShapeError, lambda: gb.broadcast(F, (2**40, 2**40))),
    ("A1", gb.DeviceError, lambda: gb.array(F, device="tpu")),
    ("A1", gb.DeviceError, lambda: gb.empty("f32[2]", device="cpu:0")),
    ("A5", gb.IndexingError, lambda: gb.array(F)[7]),
    ("A5", gb.IndexingError, lambda: gb.array(F)["0"]),
    ("A6", gb.ShapeError, lambda: bool(gb.array(F))),
    ("A7", gb.ElementTypeError, lambda: gb.array(F.astype("i4")) / 2),
    ("A7", gb.ElementTypeError, lambda: gb.array(F.astype("i4")) % 2),
    ("A8", gb.ShapeError, lambda: gb.plan("neg", "f32[3]")(F)),
    ("A8", gb.Error, lambda: gb.plan("neg", "f32[3]")(F, F)),
    ("T0", gb.Error, lambda: gb.plan("subtract", "f32[3]", "f32[3]")),
    ("C3", gb.ShapeError, lambda: gb.select(np.array([True]), F, F)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "call"), REFUSED)
def test_refused(rule: str, kind: type[gb.Error], call) -> None:
    with pytest.raises(gb.Error) as caught:
        call()
    assert type(caught.value) is kind
    assert caught.value.rule == rule
    assert len(str(caught.value)) > 10


def test_missing_dimensions_show_the_grid_and_the_fix() -> None:
    with pytest.raises(gb.ShapeError) as caught:
        gb.add(np.zeros((2, 3), "f4"), np.zeros(3, "f4"))
    text = str(caught.value)
    assert "broadcast_dimensions=(1,)" in text
    assert "f32[2,3]" in text and "f32[3]" in text and "output dimension" in text


# --- scalars -----------------------------------------------------------------------------------


def test_python_scalars_take_the_type_beside_them() -> None:
    assert gb.add(np.ones(2, "f2"), 1).dtype == np.float16
    assert gb.select(True, np.ones(2, "u1"), np.zeros(2, "u1")).tolist() == [1, 1]
    assert gb.select(np.array(True), 1, np.zeros((), "u1")) == 1
    assert gb.clamp(0, np.array([-5, 5], "i8"), 3).tolist() == [0, 3]
    assert gb.add(np.uint64(2**64 - 1), np.zeros(1, "u8")).tolist() == [2**64 - 1]
    assert gb.add(np.zeros(1, "u8"), 2**64 - 1).tolist() == [2**64 - 1]


def test_scalars_round_once() -> None:
    one = np.ones(1, ml_dtypes.bfloat16)
    # 1 + 2**-8 is a tie in bf16; a little above it rounds up, also where f32 cannot tell.
    assert gb.mul(one, 1 + 2**-8).tolist() == [1.0]
    assert gb.mul(one, 1 + 2**-8 + 2**-40).tolist() == [1 + 2**-7]
    big = 2**60 + 2**36 + 1  # above the tie between two floats, but not in f64
    assert gb.mul(np.ones(1, "f4"), big).tolist() == [float(2**60 + 2**37)]
    assert gb.mul(np.ones(1, "f4"), 10**400).tolist() == [np.inf]


def test_numpy_scalars_are_typed() -> None:
    with pytest.raises(gb.ElementTypeError):
        gb.add(np.ones(2, "f4"), np.float64(1))


# --- out= --------------------------------------------------------------------------------------


def test_out_is_returned_and_the_rest_is_left_alone() -> None:
    base = np.full((9, 9), 7, "f4")
    out = base[1:7:2, 6:2:-1]
    assert gb.add(F, F, out=out) is out
    np.testing.assert_array_equal(out, F + F)
    mask = np.ones((9, 9), bool)
    mask[1:7:2, 6:2:-1] = False
    assert (base[mask] == 7).all()


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 5])
def test_overlapping_out_is_as_if_it_did_not_overlap(shift: int) -> None:
    base = np.arange(40, dtype="f4")
    x, out = base[8:24], base[8 + shift : 24 + shift]
    wanted = x + x[::-1]
    gb.add(x, x[::-1].copy(), out=out)
    np.testing.assert_array_equal(out, wanted)


def test_out_over_a_reversed_or_transposed_operand() -> None:
    x = np.arange(16, dtype="f4")
    wanted = -x[::-1]
    gb.neg(x[::-1], out=x)
    np.testing.assert_array_equal(x, wanted)
    square = np.arange(9, dtype="f4").reshape(3, 3)
    wanted = square.T.copy()
    gb.broadcast_in_dim(square, (3, 3), (1, 0), out=square)
    np.testing.assert_array_equal(square, wanted)
    row = np.arange(9, dtype="f4").reshape(3, 3)
    wanted = row + row[1]
    gb.add(row, row[1], broadcast_dimensions=(1,), out=row)
    np.testing.assert_array_equal(row, wanted)


def test_out_of_another_width_over_its_operand() -> None:
    words = np.arange(16, dtype="i4")
    wanted = words[:8].astype("i8")
    gb.convert_element_type(words[:8], "s64", out=words.view("i8"))
    np.testing.assert_array_equal(words.view("i8"), wanted)


def test_padded_out_gets_its_padding() -> None:
    layout = gb.Layout((0, 1), (5, 6), gb.PaddingValue.HIGHEST)
    out = gb.full(gb.Shape("f32", (3, 4), layout), 1.0)
    gb.add(F, F, out=out)
    np.testing.assert_array_equal(out.numpy(), F + F)
    cases.assert_padding(out)


@pytest.mark.parametrize("value", list(gb.PaddingValue))
@pytest.mark.parametrize("kind", ["pred", "u8", "s32", "bf16", "f64"])
@pytest.mark.parametrize("dimensions", [(3, 4), (0, 4), (0, 0), (1, 1)])
def test_padding_is_written(value: gb.PaddingValue, kind: str, dimensions) -> None:
    layout = gb.Layout((0, 1), (5, 6), value)
    array = gb.array(np.ones(dimensions, gb.element_type(kind).dtype), layout=layout)
    assert array.xla_shape.allocated_elements == 30
    if value.written:
        cases.assert_padding(array)
    assert (array.numpy() == 1).all()


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((2, 3), (3, 1), False), ((2, 3), (3, 2), False), ((2, 3), (2, 1), True),
        ((3, 4), (3, 2), True), ((4,), (0,), True), ((1, 4), (0, 1), False),
        ((0, 4), (0, 0), False),
        ((2, 3), (-3, 1), False), ((5, 4), (4, 5), False), ((6, 5), (4, 5), True),
    ],
)  # fmt: skip
def test_self_overlap_is_exact(shape, strides, overlaps) -> None:
    addresses = [
        sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    ]
    assert (len(set(addresses)) != len(addresses)) == overlaps
    assert overlaps_itself(shape, strides) == overlaps


# --- Array -------------------------------------------------------------------------------------


def test_result_kinds() -> None:
    assert type(gb.add(F, F)) is np.ndarray
    assert type(gb.add(gb.array(F), F)) is gb.Array
    assert type(F + gb.array(F)) is gb.Array
    assert type(gb.add(F, F, out_layout=gb.Layout((0, 1)))) is np.ndarray
    assert gb.add(F, F, out_layout=gb.Layout((0, 1))).flags.f_contiguous


def test_numpy_operands_contribute_axis_order() -> None:
    assert gb.neg(np.asfortranarray(F)).flags.f_contiguous
    swapped = np.zeros((2, 3, 4), "f4").transpose(2, 0, 1)
    assert gb.neg(swapped).strides == np.copy(swapped, order="K").strides


def test_slices_share_memory() -> None:
    array = gb.array(F, layout=gb.Layout((0, 1), (5, 7)))
    part = array[1:, ::-2]
    gb.neg(part, out=part)
    wanted = F.copy()
    wanted[1:, ::-2] *= -1
    np.testing.assert_array_equal(array.numpy(), wanted)
    assert array[1, 2].shape == () and float(array[1, 2]) == wanted[1, 2]
    assert array[None, ..., 0].shape == (1, 3)


def test_transpose_is_a_view_with_a_layout() -> None:
    array = gb.array(F, layout=gb.Layout((1, 0), (3, 6), gb.PaddingValue.ONE))
    assert array.T.xla_shape == gb.Shape.parse("f32[4,3]{0,1:pad(6,3,one)}")
    np.testing.assert_array_equal(array.T.numpy(), F.T)
    assert np.shares_memory(array.view(), array.T.view())


def test_with_layout_moves_elements() -> None:
    array = gb.array(F).with_layout(gb.Layout((0, 1), (4, 4), gb.PaddingValue.LOWEST))
    np.testing.assert_array_equal(array.numpy(), F)
    cases.assert_padding(array)
    assert array.with_layout(None).xla_shape == gb.Shape("f32", (3, 4))


def test_operators() -> None:
    a, n = gb.array(F), F.astype("i4") + 1
    i = gb.array(n)
    checks = [
        (a + a, F + F), (2.0 - a, 2 - F), (a * 3, F * 3), (a / (a + 1.0), F / (F + 1)),
        (a % 2.5, np.fmod(F, np.float32(2.5))), (a**2.0, F**2), (-a, -F), (abs(-a), F),
        (i & 3, n & 3), (i | 8, n | 8), (~i, ~n), (i ^ 5, n ^ 5), (i << 2, n << 2),
        (-i >> 1, -n >> 1),
        (a == a, F == F), (a != 3.0, F != 3), (a < 5.0, F < 5), (a >= F, F >= F), (a > 1.0, F > 1),
    ]  # fmt: skip
    for found, wanted in checks:
        np.testing.assert_array_equal(found.numpy(), wanted)
    unsigned = gb.array(np.array([0xFFFFFFFF], "u4"))
    assert (unsigned >> 4).numpy().tolist() == [0x0FFFFFFF]
    with pytest.raises(TypeError):
        a // a
    assert (a == "text") is False


def test_exchange_shares_memory() -> None:
    array = gb.array(F, layout=gb.Layout((1, 0), (4, 6)))
    assert np.shares_memory(np.from_dlpack(array), array.view())
    assert np.shares_memory(np.asarray(array), array.view())
    assert array.__dlpack_device__() == (1, 0)
    assert not hasattr(array, "__cuda_array_interface__")
    back = gb.from_dlpack(F)
    assert np.shares_memory(back.view(), F)
    assert back.layout == gb.Layout((1, 0))


def test_a_cuda_exporter_without_cuda_is_a_device_error() -> None:
    class Exporter:
        __cuda_array_interface__ = {  # noqa: RUF012
            "shape": (2,), "typestr": "<f4", "data": (4096, False), "version": 3,
        }  # fmt: skip

    from tests.conftest import why_no_gpu

    if why_no_gpu() is None:
        pytest.skip("this machine has a GPU")
    with pytest.raises(gb.DeviceError):
        gb.neg(Exporter())
    with pytest.raises(gb.DeviceError):
        gb.array(F, device="cuda")


def test_backend_restriction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_BACKEND", "cuda")
    with pytest.raises(gb.DeviceError, match="GPUBCAST_BACKEND=cuda"):
        gb.neg(F)


def test_repr_and_conversion() -> None:
    text = repr(gb.array(F))
    assert "f32[3,4]{1,0}" in text and "cpu" in text
    assert gb.array(3).item() == 3 and int(gb.array(3)) == 3


# --- plans -------------------------------------------------------------------------------------


def test_plan_is_data() -> None:
    plan = gb.plan("add", "f32[3,4]", "f32[4]", broadcast_dimensions=(1,))
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert hash(plan) == hash(gb.plan("add", "f32[3,4]", "f32[4]", broadcast_dimensions=[1]))
    np.testing.assert_array_equal(plan(F, F[0]), F + F[0])
    np.testing.assert_array_equal(plan(F[::-1], F[0, ::-1]), F[::-1] + F[0, ::-1])
    assert "struct" in plan.cuda_source("sm_90") and "def gb_" in plan.cpu_source()


def test_bound_call_reads_its_buffers_again() -> None:
    x, out = F.copy(), np.empty_like(F)
    bound = gb.plan("neg", "f32[3,4]").bind(x, out=out)
    assert bound() is out
    x += 1
    bound()
    np.testing.assert_array_equal(out, -x)
    with pytest.raises(gb.Error, match="temporary"):
        gb.plan("neg", "f32[3,4]").bind(x[::-1], out=x)


def test_threads_get_right_results() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(60):
                m, n = (int(v) for v in rng.integers(1, 40, 2))
                x, y = rng.random((m, n), "f4"), rng.random((1, n), "f4")
                np.testing.assert_array_equal(gb.add(x, y), x + y)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_buffer_is_the_whole_memory() -> None:
    array = gb.array(F, layout=gb.Layout((0, 1), (4, 5), gb.PaddingValue.ZERO))
    wanted = np.zeros((4, 5), "f4")
    wanted[:3, :4] = F
    np.testing.assert_array_equal(array.buffer, wanted.reshape(-1, order="F"))
    assert np.shares_memory(array.buffer, array.view())
    assert gb.empty("bf16[0,3]").buffer.size == 0
    with pytest.raises(gb.LayoutError) as caught:
        _ = array[1:].buffer
    assert caught.value.rule == "A9"


def test_plans_print_as_they_are() -> None:
    plan = gb.plan("neg", "f32[2]")
    assert repr(plan) == "<gpubcast.Plan neg: (f32[2]{0}) -> f32[2]{0}>"
    assert repr(plan.bind(F[0, :2], out=np.empty(2, "f4"))) == "<gpubcast.BoundCall on cpu>"
