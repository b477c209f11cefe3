"""Outputs that share memory with each other or with operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.fused_functions import Array, many, random, summed


@gb.fuse("r c, c r, r -> r c, c r, r")
def three(x: Any, y: Any, m: Any) -> Any:
    return x + m, y * x, gb.neg(m)


def wanted(x: Array, y: Array, m: Array) -> tuple[Array, Array, Array]:
    return x + m[:, None], y * x.T, -m


def operands() -> tuple[Array, Array, Array]:
    return random(6, 6), random(6, 6, seed=1), random(6, seed=2)


def outs() -> list[Array]:
    return [np.zeros((6, 6), "f4"), np.zeros((6, 6), "f4"), np.zeros(6, "f4")]


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 0), (0, 2), (1, 2), (2, 0)])
def test_outs_that_overlap_each_other_are_refused(one: int, other: int) -> None:
    given = outs()
    given[other] = given[one][0] if other == 2 else given[one].T
    if one == 2:
        base = np.zeros((6, 6), "f4")
        given = [base, np.zeros((6, 6), "f4"), base[3]]
    before = [x.copy() for x in given]
    with pytest.raises(gb.LayoutError) as caught:
        three(*operands(), out=tuple(given))
    assert caught.value.rule == "A2" and "share memory" in str(caught.value)
    for x, kept in zip(given, before, strict=True):
        np.testing.assert_array_equal(x, kept)


def test_outs_between_each_other_are_taken() -> None:
    """Every second element of one buffer, and those between."""
    x, y, m = operands()
    base = np.zeros((6, 13), "f4")
    given = base[:, :12:2], base[:, 1:12:2], base[:, 12]
    assert three(x, y, m, out=given) is given
    for found, expected in zip(given, wanted(x, y, m), strict=True):
        np.testing.assert_array_equal(found, expected)


# For each output, the operand whose memory it is given: as it is, turned, or one of its rows.
SHARED = {
    "all in place": (("x", "y", "m")),
    "exchanged": (("y", "x", "m")),
    "turned": (("x.T", "y.T", "m")),
    "one in place": (("x", "", "")),
    "of lower rank in place": (("", "", "m")),
    "a row": (("", "", "x[2]")),
    "a column": (("", "", "y[:, 1]")),
    "backwards": (("x[::-1]", "y[:, ::-1]", "m[::-1]")),
    "lower rank exchanged": (("", "x", "y[0]")),
}


@pytest.mark.parametrize("name", SHARED)
def test_outs_that_overlap_operands(name: str) -> None:
    """The results are as if nothing overlapped."""
    x, y, m = operands()
    expected = wanted(x.copy(), y.copy(), m.copy())
    given = tuple(
        eval(text, {"x": x, "y": y, "m": m}) if text else own
        for text, own in zip(SHARED[name], outs(), strict=True)
    )
    assert three(x, y, m, out=given) is given
    for found, values in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, values)


def test_an_output_of_lower_rank_over_what_others_still_read() -> None:
    """``m`` is read for every element of a row, and written once."""

    @gb.fuse("r c, r -> r, r c")
    def both(x: Any, m: Any) -> Any:
        return m + 1, x * m

    x, m = random(50, 70), random(50, seed=1)
    expected = m + 1, x * m[:, None]
    out = m, np.zeros_like(x)
    both(x, m, out=out)
    for found, values in zip(out, expected, strict=True):
        np.testing.assert_array_equal(found, values)


@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@pytest.mark.parametrize("position", [0, 7, 19])
def test_a_split_expression_over_one_of_its_operands(position: int) -> None:
    operands = many(20, 4, 4)
    fused = gb.fuse(lambda *xs: (summed(*xs), gb.sub(xs[0], xs[position])))
    expected = summed(*operands), operands[0] - operands[position]
    given = operands[position], np.zeros((4, 4), "f4")
    fused(*operands, out=given)
    for found, values in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, values)


def test_a_bound_call_takes_outs_in_place_only() -> None:
    x, y, m = operands()
    shapes = "f32[6,6]", "f32[6,6]", "f32[6]"
    plan = three.plan(*shapes)
    given = outs()
    call = plan.bind(x, y, m, out=tuple(given))
    for _ in range(2):
        x += 1
        call()
        for found, expected in zip(given, wanted(x, y, m), strict=True):
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(gb.LayoutError, match="shares memory"):
        plan.bind(x, y, m, out=(x.T, given[1], given[2]))


def test_a_result_in_place_of_an_operand_is_read_for_another() -> None:
    """The second kernel reads the first result, and an operand that this has been written over."""

    @gb.fuse("r c -> r c, c")
    def both(x):  # type: ignore[no-untyped-def]
        y = gb.tanh(x)
        return y, gb.reduce_sum(y, "r") + gb.reduce_sum(y * x, "r")

    x = np.linspace(-2, 2, 35, dtype="f4").reshape(5, 7)
    assert len(both.plan(x).broadcast_plans) == 2
    y, total = both(x)
    given, into = x.copy(), np.empty(7, "f4")
    both(given, out=(given, into))
    assert np.array_equal(given, y) and np.array_equal(into, total)
    strided = np.zeros((10, 14), "f4")
    both(x, out=(strided[::2, ::2], into))
    assert np.array_equal(strided[::2, ::2], y) and np.array_equal(into, total)
    assert not strided[1::2].any() and not strided[:, 1::2].any()
    assert np.allclose(total, (np.tanh(x) * (1 + x)).sum(0), rtol=1e-5)
