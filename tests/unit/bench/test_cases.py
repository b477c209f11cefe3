"""The table of cases, formulas, checks, and how libraries compute cases."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import cases, libraries
from bench.cases import check
from bench.cases.formula import Formula
from bench.libraries.numba import Numba
from bench.libraries.numexpr import Numexpr
from bench.libraries.numpy import NumPy

NAMES = [case.name for case in cases.CASES]
TYPED = [(case, dtype) for case in cases.CASES for dtype in case.dtypes]
TYPED_NAMES = [f"{case.name} {dtype}" for case, dtype in TYPED]
BY_NAME = {case.name: case for case in cases.CASES}


# --- the table ---------------------------------------------------------------------------------


def test_the_cases_are_those_of_the_design() -> None:
    assert NAMES == [
        "same shape", "scalar", "row bias", "column", "outer product", "middle axis",
        "channel scale NCHW", "(N,3)+(3)", "transposed operand", "3-D permutation",
        "rank-6 alternating", "padded rows", "broadcast copy", "masked select", "bf16 bias",
        "layernorm apply", "gelu", "bias gelu", "masked scores", "more than 2**31 elements",
    ]  # fmt: skip


@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=TYPED_NAMES)
def test_sizes(case: cases.Case, dtype: str) -> None:
    """Small is about 64 elements; within a budget means at most it, and no less than half."""
    small = case.at(cases.SMALL_ELEMENTS, dtype).output
    assert 48 <= small.num_elements <= 64
    assert small.element_type.name == dtype
    for kind in ("cpu", "cuda"):
        for budget in (cases.CACHE_BYTES[kind], cases.MEMORY_BYTES[kind]):
            assert budget / 2 <= case.within(budget, dtype).num_bytes <= 1.02 * budget


def test_huge_case_has_more_than_2_31_elements() -> None:
    huge = [case for case in cases.CASES if case.huge]
    assert [case.name for case in huge] == ["more than 2**31 elements"]
    output = huge[0].at(cases.HUGE_ELEMENTS).output
    assert 2**31 < output.num_elements < 2**31 + 2**22
    assert output.element_type.name == "u8"


def test_known_shapes() -> None:
    padded = BY_NAME["padded rows"].at(64)
    assert [str(shape) for shape in padded.shapes] == ["f32[4,13]{1,0:pad(4,16)}", "f32[13]{0}"]
    assert str(BY_NAME["transposed operand"].at(64, "s32").shapes[1]) == "s32[8,8]{0,1}"
    permuted = BY_NAME["3-D permutation"].at(96)
    assert str(permuted.shapes[0]) == "f32[6,4,4]{2,1,0}"
    assert permuted.output.dimensions == (4, 6, 4)
    images = BY_NAME["channel scale NCHW"].within(cases.MEMORY_BYTES["cuda"])
    assert images.shapes[0].dimensions[1:] == (128, 56, 56)
    assert BY_NAME["bf16 bias"].at(64).shapes[0].element_type.name == "bf16"


def test_a_call_in_one_line() -> None:
    assert BY_NAME["column"].at(64).expression == "gb.add(x, y, broadcast_dimensions=(0,))"
    assert BY_NAME["layernorm apply"].at(64).expression == (
        'gb.fuse("row col, row, row, col, col -> row col"): (x - mean) * rstd * gamma + beta'
    )


def test_bytes_count_each_distinct_element_once() -> None:
    assert BY_NAME["row bias"].at(64).floor == 4 * (64 + 8 + 64)
    assert BY_NAME["outer product"].at(64).floor == 4 * (8 + 8 + 64)
    assert BY_NAME["padded rows"].at(64).floor == 4 * (4 * 13 + 13 + 4 * 13)


def test_values_are_reproducible_and_normal() -> None:
    floats = cases.values(np, gb.Shape.parse("f32[1000]"))
    assert floats[:3].tolist() == [0.5, 1.4404375553131104, 0.8219115138053894]
    assert floats.min() >= 0.5
    assert floats.max() < 1.5
    assert len(set(floats.tolist())) == 1000
    doubles = cases.values(np, gb.Shape.parse("f64[1000]"))
    assert doubles.dtype == np.float64
    assert np.array_equal(doubles.astype(np.float32), floats)
    assert cases.values(np, gb.Shape.parse("u8[4]"), 1).tolist() == [240, 82, 94, 103]
    assert cases.values(np, gb.Shape.parse("s32[3]"), 1).tolist() == [3852, 1318, 1508]
    mask = cases.values(np, gb.Shape.parse("pred[100000]"))
    assert 0.49 < mask.mean() < 0.51 and 0.49 < (mask[1:] != mask[:-1]).mean() < 0.51
    half = cases.values(np, gb.Shape.parse("f16[1000]"))
    assert np.array_equal(half, floats.astype(np.float16))
    rounded = cases.values(np, gb.Shape.parse("bf16[2,1]")).astype(np.float32)
    assert rounded.tolist() == [[0.5], [1.4375]]
    with pytest.raises(NotImplementedError, match="no values for s8"):
        cases.values(np, gb.Shape.parse("s8[2]"))


# --- formulas ----------------------------------------------------------------------------------


def test_formula() -> None:
    formula = Formula.parse("x, b: u = x + b; 0.5 * u * root(u + 0.5)")
    assert formula.names == ("x", "b")
    assert not formula.moves and Formula.parse("x: x").moves
    assert formula.function({"root": np.sqrt})(3.0, 0.5) == 0.5 * 3.5 * 2.0
    assert formula.expression() == (
        "constant_0 * (x + b) * root(x + b + constant_0)", {"constant_0": 0.5}
    )  # fmt: skip
    seen: list[float] = []

    def constant(value: float) -> Any:
        seen.append(value)
        return np.float32(value)

    typed = formula.function({"root": np.sqrt}, constant)
    assert typed(np.float32(3), np.float32(0.5)).dtype == np.float32
    assert seen == [0.5, 0.5] or seen == [0.5]
    steps = formula.in_place("out += x; out *= b", {})
    out = np.ones(2)
    assert steps(2.0, 3.0, out) is out
    assert out.tolist() == [9.0, 9.0]


# --- checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [False, True])
def test_a_wrong_element_is_found(sample: bool) -> None:
    sized = BY_NAME["column"].at(cases.SMALL_ELEMENTS)
    views = tuple(x.view() for x in sized.operands(np))
    reference = check.Reference(sized, np, views, sample=sample)
    right = check.expected(sized, np, views)
    assert reference.problem(right) is None
    wrong = right.copy()
    wrong[3, 5] = np.nextafter(wrong[3, 5], np.float32(9))
    assert "differ from" in (reference.problem(wrong) or "")
    assert "at (3, 5)" in (reference.problem(wrong) or "")
    assert "float64[8, 8]" in (reference.problem(right.astype(np.float64)) or "")
    assert "instead of float32[8, 8]" in (reference.problem(right[:7]) or "")
    wrong[3, 5] = np.nan
    assert reference.problem(wrong) is not None


def test_units_in_the_last_place() -> None:
    sized = BY_NAME["gelu"].at(cases.SMALL_ELEMENTS)
    views = tuple(x.view() for x in sized.operands(np))
    reference = check.Reference(sized, np, views)
    right = check.expected(sized, np, views)
    eps = np.finfo(np.float32).eps
    assert reference.problem(right + 8 * eps) is None
    assert reference.problem(right + 40 * eps) is not None
    assert reference.problem(np.full_like(right, np.nan)) is not None


# --- peers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=TYPED_NAMES)
def test_every_entry_of_gpubcast_and_numpy(case: cases.Case, dtype: str) -> None:
    """Plans, aligned arrays and index loops share nothing but the formula."""
    sized = case.at(cases.SMALL_ELEMENTS, dtype)
    operands = sized.operands(np)
    assert tuple(x.xla_shape for x in operands) == sized.shapes
    views = tuple(x.view() for x in operands)
    reference = check.Reference(sized, np, views)
    oracle = check.Reference(sized, np, views, sample=True)
    assert oracle.problem(sized.function()(*operands).numpy()) is None
    for library in (libraries.GPUBCAST, NumPy()):
        out = gb.empty(sized.output).view()
        calls = library.ready(sized)(views, out)
        assert tuple(calls) == library.entries_of(sized)
        for entry, call in calls.items():
            cases.bits(out)[...] = 85
            result = call()
            assert reference.problem(result) is None, (library.name, entry)
            assert np.shares_memory(result, out) == (entry != "call")


def test_numpy_s_ufuncs_are_called_without_a_detour() -> None:
    sized = BY_NAME["row bias"].at(64)
    views = tuple(x.view() for x in sized.operands(np))
    calls: Any = NumPy().ready(sized)(views, gb.empty(sized.output).view())
    assert (calls["call"].func, calls["out"].func) == (np.add, np.add)
    assert NumPy().entries_of(BY_NAME["masked select"].at(64)) == ("call",)


def test_peers_by_device() -> None:
    on = {
        kind: {peer.name for peer in libraries.PEERS if kind in peer.devices}
        for kind in ("cpu", "cuda")
    }
    both = {"PyTorch", "torch.compile", "jax.jit"}
    assert on["cpu"] == {"NumPy", "numexpr", "numba"} | both
    assert on["cuda"] == {"CuPy", "cupy.fuse", "cub"} | both
    assert [peer.name for peer in libraries.PEERS if peer.effort == 2] == ["torch.compile"]


def test_peers_by_name() -> None:
    assert [peer.name for peer in libraries.named(("pytorch", "NUMPY", "numpy"))] == [
        "PyTorch", "NumPy"
    ]  # fmt: skip
    assert libraries.named(("none",)) == ()
    with pytest.raises(gb.Error, match="no peer 'scipy'; there are NumPy, numexpr"):
        libraries.named(("scipy",))


def test_absent_peers_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numexpr", None)
    assert Numexpr().absent("cpu", 2) == "numexpr is not installed"
    assert NumPy().absent("cpu", 2) is None

    class Broken(NumPy):
        def set_up(self, kind: str, threads: int) -> None:
            raise RuntimeError("no driver\nat all")

    assert Broken().absent("cpu", 2) == "RuntimeError: no driver"


def test_peers_say_what_they_have_not() -> None:
    moved, bf16 = BY_NAME["broadcast copy"].at(64), BY_NAME["row bias"].at(64, "bf16")
    for peer in (Numexpr(), Numba()):
        assert peer.unsupported(moved) is not None
        assert "no bf16" in (peer.unsupported(bf16) or "")
        assert peer.unsupported(BY_NAME["gelu"].at(64)) is None
