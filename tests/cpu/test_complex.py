"""Complex numbers on the CPU: every operation, scalars of 16 bytes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import complex_accuracy, complex_numbers
from tests.support.complex_numbers import KINDS, assert_same, made


@pytest.mark.parametrize(("row", "kind"), complex_numbers.rows(), ids=lambda x: x.name)
def test_operation(row, kind) -> None:
    complex_numbers.check(row, kind, "cpu")


@pytest.mark.parametrize("name", ["add", "div", "exp", "pow"])
def test_a_wrong_result_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row, kind = complex_numbers.OPS[name], KINDS[1]
    right = getattr(gb, name)

    def wrong(*operands):  # type: ignore[no-untyped-def]
        result = right(*operands).numpy()
        with np.errstate(all="ignore"):
            return gb.array(made(kind, result.real * (1 + 2.0**-44), result.imag))

    monkeypatch.setattr(gb, name, wrong)
    with pytest.raises(AssertionError):
        complex_numbers.check(row, kind, "cpu")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parts_of_real_numbers(kind) -> None:
    x = np.array([1.5, -0.0, np.nan, np.inf], kind.component.dtype)
    assert_same(gb.real(x), x, "real")
    assert_same(gb.imag(x), np.zeros_like(x), "imag")
    assert_same(gb.conj(x), made(kind, x, np.full_like(x, -0.0)), "conj")
    y = x[::-1].copy()
    assert_same(gb.complex(x, y), made(kind, x, y), "complex")


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("value", [2, -1.5, 3 - 4j, complex(-0.0, np.inf), complex(np.nan, 1)])
def test_python_scalars(kind, value) -> None:
    """A c128 scalar is two words of the launch parameters."""
    x = complex_numbers.samples(kind, 50)
    number = np.full(50, value, kind.dtype)
    parts = number.real, number.imag
    with np.errstate(all="ignore"):
        product = made(kind, *complex_numbers.EXACT["mul"](x.real, x.imag, *parts))
        quotient = made(kind, *complex_numbers.EXACT["div"](*parts, x.real, x.imag))
    assert_same(gb.mul(x, value), product, "on the right")
    assert_same(gb.div(value, x), quotient, "on the left")
    assert_same(gb.mul(x, number[0]), product, "NumPy's")
    filled = gb.full(f"{kind}[50]", value).numpy()
    assert_same(filled, number, "full")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_fused_constants_and_arguments(kind) -> None:
    scalar = kind.dtype.type

    @gb.fuse
    def body(x, s, t):  # type: ignore[no-untyped-def]
        return (x * s + t) * scalar(2 - 1j) + scalar(complex(np.inf, -0.0)), gb.abs(x) * 2.0

    x = made(kind, np.arange(40) - 20, np.arange(40) % 7)
    found, size = body(x, 3j, 1 - 2j)
    step = made(kind, -3 * x.imag + 1, 3 * x.real - 2)
    with np.errstate(all="ignore"):
        wanted = made(kind, np.full(40, np.inf), 2 * step.imag - step.real)
    assert_same(found, wanted, "complex result")
    assert_same(size, gb.abs(x) * kind.component.dtype.type(2), "real result")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_values_kept_beside_the_inner_loop(kind) -> None:
    """What only the inner axis changes is computed once, into memory of complex numbers."""

    @gb.fuse
    def body(x, row):  # type: ignore[no-untyped-def]
        return gb.add(x, gb.exp(row), broadcast_dimensions=(1,))

    x, row = complex_numbers.samples(kind, 60).reshape(6, 10), complex_numbers.samples(kind, 10)
    row = made(kind, np.clip(row.real, -5, 5), row.imag)
    once = gb.exp(row)
    wanted = made(kind, x.real + once.real, x.imag + once.imag)
    assert "hoist" in body.plan(f"{kind}[6,10]", f"{kind}[10]").cpu_source().splitlines()[0]
    assert_same(body(x, row).reshape(-1), wanted.reshape(-1), "kept")


def test_one_element_is_a_python_number() -> None:
    x = gb.array(np.array([1 - 2j]))
    assert complex(x) == x.item() == 1 - 2j
    assert complex(gb.array(np.float32(2))) == 2
    with pytest.raises(gb.ShapeError, match="one element"):
        complex(gb.array(np.ones(2, complex)))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_one_plan_for_every_scalar(kind) -> None:
    plan = gb.plan("add", f"{kind}[4]", f"{kind}[]")
    x = made(kind, -np.zeros(4), -np.zeros(4))
    for value in (1 + 2j, -3j, 5):
        assert_same(plan(x, value), np.full(4, value, kind.dtype), "plan")
        out = np.empty_like(x)
        assert plan.bind(x, value, out=out)() is out
        assert_same(out, np.full(4, value, kind.dtype), "bound")


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("value", ["ZERO", "ONE"])
def test_padding_is_written(kind, value: str) -> None:
    x = made(kind, np.arange(6).reshape(2, 3), 7)
    layout = gb.Layout((0, 1), (3, 5), gb.PaddingValue[value])
    found = gb.neg(gb.array(x), out_layout=layout)
    memory = found.buffer.reshape(5, 3)
    assert_same(memory[:3, :2].T.reshape(-1).copy(), -x.reshape(-1), "elements")
    padding = np.concatenate([memory[3:].reshape(-1), memory[:3, 2]])
    assert_same(padding, np.full(9, value == "ONE", kind.dtype), "padding")


def test_order_is_refused() -> None:
    x = np.ones(3, np.complex64)
    for name in ("lt", "le", "gt", "ge", "max", "min", "rem"):
        with pytest.raises(gb.ElementTypeError) as caught:
            getattr(gb, name)(x, x)
        assert caught.value.kind == "gpubcast:complex ordering", name
    with pytest.raises(gb.ElementTypeError, match="no order"):
        gb.clamp(x, x, x)
    with pytest.raises(gb.ElementTypeError, match="no order"):
        gb.compare(x, x, direction="EQ", total_order=True)
    assert gb.compare(x, x, direction="NE").tolist() == [False] * 3
    with pytest.raises(gb.LayoutError, match="no order"):
        gb.neg(x, out_layout=gb.Layout((0,), (5,), gb.PaddingValue.LOWEST))


def test_bits_of_complex_numbers_stay_complex() -> None:
    x = made(KINDS[0], [[1, 2]], [[3, -0.0]])
    found = gb.bitcast_convert_type(x, "c128")
    assert found.tobytes() == x.tobytes()
    assert gb.bitcast_convert_type(found, "c64").tobytes() == x.tobytes()
    with pytest.raises(gb.ElementTypeError, match="complex and real"):
        gb.bitcast_convert_type(x, "s64")


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("power", [0, 1, 3, 7, -1, -2])
def test_integer_pow(kind, power: int) -> None:
    x = complex_numbers.samples(kind, 200)
    x = x[(abs(x) > 1e-3) & (abs(x) < 1e3)]
    wide = made(ELEMENT_TYPES["c128"], x.real, x.imag) ** power
    found = gb.integer_pow(x, y=power)
    eps = np.finfo(kind.dtype).eps
    assert found.dtype == kind.dtype
    assert (abs(found - wide) <= 12 * eps * abs(wide)).all()


def test_the_table_of_errors_states_the_bounds() -> None:
    text = complex_accuracy.DOCS.read_text()
    text = text.split(complex_accuracy.BEGIN)[1].split(complex_accuracy.END)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == complex_accuracy.NAMES
    for name, most, *found in rows:
        name = name.strip("`")
        assert most == " / ".join(dict.fromkeys(complex_accuracy.bound(name, k) for k in KINDS))
        limit = 100 if name == "pow" else complex_numbers.BOUNDS[name]
        assert all(float(f.removesuffix("% of it")) <= limit for f in found), name


def test_conversions_between_all_types() -> None:
    for kind in KINDS:
        x = made(kind, [1.25, -3, 300, np.nan], [np.inf, 7, -7, 2])
        assert gb.convert_element_type(x, "pred").tolist() == [True] * 4
        assert gb.convert_element_type(x, "u8").tolist() == [1, 0, 255, 0]
        assert gb.convert_element_type(np.array([3, -1], np.int8), kind).tolist() == [3, -1]
        back = gb.convert_element_type(gb.convert_element_type(x, "c128"), kind)
        assert_same(back, x, "there and back")


def test_vectors_of_the_inner_loop() -> None:
    """Loads and stores of the parts do not keep the compiler from vector instructions."""
    plan = gb.plan("mul", "c64[4096]", "c64[4096]")
    x = complex_numbers.samples(KINDS[0], 4096)
    wanted = complex_numbers.EXACT["mul"](x.real, x.imag, x.real, x.imag)
    assert_same(plan(x, x), made(KINDS[0], *wanted), "mul")
    assert "read_c64(p0, i0)" in plan.cpu_source()


@pytest.mark.parametrize(("dtype", "large", "small"), [("c8", 3e38, 1e-19), ("c16", 1e308, 1e-154)])
def test_the_smaller_part_of_a_root_is_kept(dtype: str, large: float, small: float) -> None:
    """It is denormal, and was lost where the number was scaled by its larger part."""
    z = np.array([complex(-large, small), complex(large, -small)], dtype)
    made = gb.sqrt(z)
    wanted = abs(z.imag.astype("f8")) / (2 * np.sqrt(np.float64(abs(z.real[0]))))
    for got, exact in zip((made.real[0], -made.imag[1]), wanted, strict=True):
        assert got > 0 and abs(got - exact) <= np.spacing(got)
