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
from bench.libraries.keops import KeOps
from bench.libraries.numba import Numba
from bench.libraries.numexpr import Numexpr
from bench.libraries.numpy import CupyFuse, NumPy

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
        "layernorm apply", "gelu", "bias gelu", "masked scores", "row sum", "column sum",
        "middle sum", "full sum", "softmax", "layernorm", "rms norm", "logsumexp", "argmax",
        "RBF sum", "more than 2**31 elements",
    ]  # fmt: skip


@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=TYPED_NAMES)
def test_sizes(case: cases.Case, dtype: str) -> None:
    """Small is about 64 elements; within a budget means at most it, and no less than half, but
    where there are more pairs than a call should take."""
    small = case.at(cases.SMALL_ELEMENTS, dtype)
    assert 48 <= small.elements <= 64
    assert small.output.element_type.name == ("s64" if case.name == "argmax" else dtype)
    for kind in ("cpu", "cuda"):
        for budget in (cases.CACHE_BYTES[kind], cases.MEMORY_BYTES[kind]):
            least = 0 if case.name == "RBF sum" else budget / 2
            assert least <= case.within(budget, dtype).num_bytes <= 1.02 * budget


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


def test_the_kernel_sum_has_the_size_of_the_design() -> None:
    sized = BY_NAME["RBF sum"].within(cases.MEMORY_BYTES["cpu"])
    assert [str(shape) for shape in sized.shapes] == [
        "f32[20000,3]{1,0}",
        "f32[8000,3]{1,0}",
        "f32[8000]{0}",
    ]
    assert (sized.elements, sized.expands) == (20_000 * 8_000 * 3, True)
    assert "temporaries would take 1831 MiB" in (NumPy().unsupported(sized) or "")
    assert NumPy().unsupported(BY_NAME["RBF sum"].at(64)) is None


def test_labels_that_the_result_lacks_are_aligned_too() -> None:
    axes = {case.name: case.at(64).axes for case in cases.CASES}
    assert axes["column sum"] == ("m", "n")
    assert axes["middle sum"] == ("b", "m", "n")
    assert axes["RBF sum"] == ("i", "j", "d")
    assert axes["outer product"] == ("m", "n")
    assert axes["3-D permutation"] == ("n", "b", "m")
    sized = BY_NAME["RBF sum"].at(64)
    x, y, b = sized.aligned(tuple(x.view() for x in sized.operands(np)))
    assert (x.shape, y.shape, b.shape) == ((10, 1, 3), (1, 2, 3), (1, 2, 1))
    assert sized.opened(np.empty(10)).shape == (10, 1, 1)
    assert sized.closed(np.empty((10, 1, 1))).shape == (10,)


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
    assert Formula.parse('x, y: sum(x * y, "b c") + max(x, "a")').reduced == {"a", "b", "c"}
    total = Formula.parse('x: sum(x, "b")')
    assert total.sums and total.expression(("a", "b")) == ("sum(x, axis=1)", {})
    assert Formula.parse('x: sum(x, "a b")').expression(("a", "b")) == ("sum(x)", {})
    assert not Formula.parse('x: sum(x, "b") * 2.0').sums
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


def test_sums_lie_within_the_error_that_the_law_states() -> None:
    """10 additions for 512 elements, 20 for more, half a unit each; others have another order."""
    for elements, most in ((1 << 10, 5), (1 << 22, 10)):
        sized = BY_NAME["row sum"].at(elements)
        views = tuple(x.view() for x in sized.operands(np))
        reference = check.Reference(sized, np, views)
        assert check.additions(sized) == 2 * most
        wanted = np.sum(views[0], axis=1, dtype=np.float64)
        eps = float(np.finfo(np.float32).eps)
        near = (wanted * (1 + (most - 1) * eps)).astype(np.float32)
        far = (wanted * (1 + (most + 1) * eps)).astype(np.float32)
        assert reference.problem(sized.function()(*views)) is None
        assert reference.problem(near) is None
        assert "elements differ" in (reference.problem(far) or "")
        assert reference.problem(far, ours=False) is None
        assert reference.problem(far * np.float32(1.001), ours=False) is not None
    whole = BY_NAME["full sum"].at(1 << 22)
    assert check.additions(whole) == 40


def test_small_results_are_compared_by_their_own_size() -> None:
    sized = BY_NAME["softmax"].at(1 << 16)
    views = tuple(x.view() for x in sized.operands(np))
    reference = check.Reference(sized, np, views)
    right = sized.function()(*views)
    assert reference.problem(right) is None
    assert reference.problem(right * np.float32(1 + 1e-4)) is not None


def test_pairs_are_sampled() -> None:
    """Their matrix is never stored, not by the check either."""
    sized = BY_NAME["RBF sum"].at(8 << 20)
    assert sized.expands
    views = tuple(x.view() for x in sized.operands(np))
    reference = check.Reference(sized, np, views)
    assert reference.against == "oracle, 1000 indices"
    right = sized.function()(*views)
    assert reference.problem(right) is None
    right[0] *= np.float32(1.001)
    assert "at (0,)" in (reference.problem(right) or "")


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
    assert on["cpu"] == {"NumPy", "numexpr", "numba", "KeOps"} | both
    assert on["cuda"] == {"CuPy", "cupy.fuse", "cub"} | both
    assert [peer.name for peer in libraries.PEERS if peer.effort == 2] == ["torch.compile", "KeOps"]


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
        assert "reduce" in (peer.unsupported(BY_NAME["softmax"].at(64)) or "")
    assert Numexpr().unsupported(BY_NAME["row sum"].at(64)) is None
    assert "s64" in (Numexpr().unsupported(BY_NAME["row sum"].at(64, "s32")) or "")
    assert "keepdims" in (CupyFuse().unsupported(BY_NAME["softmax"].at(64)) or "")
    assert CupyFuse().unsupported(BY_NAME["row sum"].at(64)) is None
    assert KeOps().unsupported(BY_NAME["row sum"].at(64)) is not None
    assert KeOps().unsupported(BY_NAME["RBF sum"].at(64)) is None
