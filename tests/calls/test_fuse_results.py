"""What a fused function returns, on the CPU: results, plans, split kernels, fast math."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.fused_functions import (
    INTS,
    V,
    X,
    defaults,
    layernorm_apply,
    moded,
    refusal,
    scaled,
    twice,
)


class Methods:
    @staticmethod
    @gb.fuse
    def doubled(x: Any) -> Any:
        return x * 2


# --- results -----------------------------------------------------------------------------------


def test_several_results() -> None:
    for outs in (gb.fuse(lambda x: (x, x + 1))(X), gb.fuse(lambda x: [x, x + 1])(X)):
        assert type(outs) is tuple
        np.testing.assert_array_equal(outs[0], X)
        np.testing.assert_array_equal(outs[1], X + 1)
    (one,) = gb.fuse(lambda x: (x,))(X)
    np.testing.assert_array_equal(one, X)
    same, again = gb.fuse(lambda x: (y := x * 2, y))(X)
    assert not np.shares_memory(same, again)


def test_results_are_arrays_like_the_operands() -> None:
    small, whole = twice(gb.array(X), INTS, 3)
    assert isinstance(small, gb.Array) and isinstance(whole, gb.Array)
    assert isinstance(twice(X, INTS, 3)[0], np.ndarray)


def test_unlabelled_results_of_several_dimensions_share_a_kernel() -> None:
    @gb.fuse
    def both(x: Any, m: Any) -> Any:
        e = gb.exp(m)
        return gb.sub(x, e, broadcast_dimensions=(0,)), e

    rows = np.float32([0, 1])
    difference, e = both(X, rows)
    np.testing.assert_array_equal(e, gb.exp(rows))
    np.testing.assert_array_equal(difference, X - e[:, None])
    assert len(both.plan("f32[2,3]", "f32[2]").broadcast_plans) == 1
    # Nothing says that x and v lie beside each other.
    apart = gb.fuse(lambda x, v: (x + 1, v + 1))
    assert len(apart.plan("f32[2,3]", "f32[3]").broadcast_plans) == 2
    for result, operand in zip(apart(X, V), (X, V), strict=True):
        np.testing.assert_array_equal(result, operand + 1)


def test_out_and_out_layout() -> None:
    out = np.empty((2, 3), "f4")
    assert scaled(X, 2, out=out) is out
    np.testing.assert_array_equal(out, X * 2 + 2)
    assert scaled(X, 2, out_layout=gb.Layout((0, 1))).flags.f_contiguous
    outs = (np.empty((2, 3), "f4"), np.empty((2, 3), "i8"))
    assert twice(X, INTS, 4, out=outs) is outs
    np.testing.assert_array_equal(outs[0], X * 4)
    np.testing.assert_array_equal(outs[1], INTS * 4)
    found = twice(gb.array(X), INTS, 3, out_layout=(gb.Layout((0, 1)), None))
    assert [str(a.xla_shape) for a in found] == ["f32[2,3]{0,1}", "s64[2,3]{1,0}"]


def test_out_may_be_an_operand() -> None:
    x = X.copy()
    assert scaled(x, 2, out=x) is x
    np.testing.assert_array_equal(x, X * 2 + 2)
    x = X.copy()
    other = np.empty_like(x)
    gb.fuse(lambda x: (x + 1, x * 2))(x, out=(x, other))
    np.testing.assert_array_equal(x, X + 1)
    np.testing.assert_array_equal(other, X * 2)


OUT = np.empty((2, 3), "f4")


@pytest.mark.parametrize(
    ("keywords", "rule", "kind", "message"),
    [
        ({"out": OUT}, "A2", "number of outs", "out is a tuple of 2 arrays, one per result, not "),
        ({"out": (OUT,)}, "A2", "number of outs", "out has 1 arrays for 2 results"),
        ({"out": (OUT, OUT)}, "A2", "out", "out 1 is f32[2,3], but the result is s64[2,3]"),
        ({"out_layout": gb.Layout((0, 1))}, "A2", "out_layout", "out_layout has 1 layouts for 2"),
        ({"out_layout": (None,) * 3}, "A2", "out_layout", "out_layout has 3 layouts for 2 results"),
        ({"out_layout": (None, 5)}, "L11", "not a layout", "out_layout must be a Layout or None"),
        (
            {"out_layout": (None, gb.Layout((0, 1))), "out": (OUT, INTS)},
            "A2", "out and out_layout", "out_layout together with out",
        ),
    ],
)  # fmt: skip
def test_wrong_outs(keywords: dict[str, Any], rule: str, kind: str, message: str) -> None:
    error = refusal(lambda: twice(X, INTS, 3, **keywords))
    assert (error.rule, error.kind) == (rule, f"gpubcast:{kind}")
    assert str(error).startswith(message)


def test_outs_do_not_overlap() -> None:
    error = refusal(lambda: gb.fuse(lambda x: (x, x + 1))(X, out=(OUT, OUT)))
    assert (error.rule, error.kind) == ("A2", "gpubcast:outs overlap")


# --- plans -------------------------------------------------------------------------------------


def test_plans_take_shapes_text_and_arrays() -> None:
    plans = {
        scaled.plan(x, s)
        for x, s in itertools.product(
            (gb.Shape("f32", (2, 3)), "f32[2,3]", X, gb.array(X)), (1, 2.5)
        )
    }
    (p,) = plans
    assert repr(p) == "<gpubcast.Plan scaled: (f32[2,3]{1,0}, f32[]) -> f32[2,3]{1,0}>"
    assert str(p.output_shape) == "f32[2,3]{1,0}"
    np.testing.assert_array_equal(p(X, 3), X * 3 + 3)
    np.testing.assert_array_equal(p(X, np.float32(3)), X * 3 + 3)
    assert str(scaled.plan(np.asfortranarray(X), 1).output_shape) == "f32[2,3]{0,1}"


def test_plans_are_called_without_what_is_static_or_None() -> None:
    p = defaults.plan("f32[2,3]", w=4)
    np.testing.assert_array_equal(p(X, 2.0, 5), X * 10)
    np.testing.assert_array_equal(moded.plan(mode="neg", x="f32[2,3]")(X), -X)
    p = twice.plan("f32[2,3]", "s64[2,3]", 0)
    np.testing.assert_array_equal(p(X, INTS, 4)[1], INTS * 4)
    assert [str(shape) for shape in p.output_shapes] == ["f32[2,3]{1,0}", "s64[2,3]{1,0}"]


def test_plans_check_their_arguments() -> None:
    p = scaled.plan("f32[2,3]", 1.0)
    for call, kind in (
        (lambda: p(X), "gpubcast:number of operands"),
        (lambda: p(V, 1.0), "gpubcast:plan mismatch"),
        (lambda: p(X, V), "gpubcast:plan mismatch"),
        (lambda: p(X.astype("f8"), 1.0), "gpubcast:plan mismatch"),
        (lambda: twice.plan("f32[2]", "s64[2]", 3).output_shape, "gpubcast:several results"),
        (
            lambda: gb.fuse(lambda x, y: (x, y)).plan("f32[2]", "f32[3]").broadcast_plan,
            "gpubcast:several kernels",
        ),
    ):
        error = refusal(call)
        assert (error.rule, error.kind) == ("A8", kind)


def test_bound_calls() -> None:
    x, out = X.copy(), np.empty((2, 3), "f4")
    run = scaled.plan(x, 1.0).bind(x, 2.0, out=out)
    assert run() is out
    x += 1
    run()
    np.testing.assert_array_equal(out, x * 2 + 2)
    outs = (np.empty((2, 3), "f4"), np.empty((2, 3), "i8"))
    assert twice.plan(X, INTS, 1).bind(X, INTS, 5, out=outs)() is outs
    np.testing.assert_array_equal(outs[1], INTS * 5)


def test_plans_with_out_layout() -> None:
    p = twice.plan("f32[2,3]", "s64[2,3]", 1, out_layout=[None, gb.Layout((0, 1))])
    assert [str(shape) for shape in p.output_shapes] == ["f32[2,3]{1,0}", "s64[2,3]{0,1}"]
    small, whole = p(X, INTS, 2)
    assert small.flags.c_contiguous and whole.flags.f_contiguous
    np.testing.assert_array_equal(whole, INTS * 2)


def test_pickles() -> None:
    p = layernorm_apply.plan("f32[2,3]", "f32[2]", "f32[2]", "f32[3]", "f32[3]")
    again = pickle.loads(pickle.dumps(p))
    assert (again, hash(again), repr(again)) == (p, hash(p), repr(p))
    operands = (X, X[:, 0], X[:, 1], X[0], X[1])
    np.testing.assert_array_equal(again(*operands), layernorm_apply(*operands))
    for function in (scaled, moded, layernorm_apply, Methods.doubled):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    error = pickle.loads(pickle.dumps(refusal(lambda: scaled(X, V))))
    assert (error.rule, error.kind[:20]) == ("B5a", "Shapes must be equal")


def test_pictures_and_sources() -> None:
    shapes = ("f32[64,256]", "f32[64]", "f32[64]", "f32[256]", "f32[256]")
    text = str(layernorm_apply.explain(*shapes, source=True))
    assert "layernorm_apply: (f32[64,256]{1,0}, f32[64]{0}" in text
    assert "labels: row col, row, row, col, col -> row col" in text
    assert "gamma: f32[256]" in text
    cuda = layernorm_apply.cuda_source(*shapes, arch="sm_80")
    cpu = layernorm_apply.cpu_source(*shapes)
    assert 'extern "C" __global__' in cuda and cuda.count("__global__") == 1
    assert cpu.count("def gb_") == 1
    for line in (*cuda.splitlines(), *cpu.splitlines()):
        assert line.strip() in text


def test_work_is_done_at_its_own_rank() -> None:
    source = gb.fuse("r c, r, -> r c")(lambda x, m, s: x * gb.exp(m) + gb.log(s)).cpu_source(
        "f32[64,256]", "f32[64]", 1.0
    )
    depth = {name: len(line) - len(line.lstrip()) for name in ("exp(", "log(", "for i1")
             for line in source.splitlines() if name in line and "#" not in line}  # fmt: skip
    assert depth["log("] < depth["exp("] == depth["for i1"]


# --- many operands, fast math ------------------------------------------------------------------


def test_splitting_warns_and_changes_no_bit() -> None:
    arrays = [X + i for i in range(20)]
    wanted = arrays[0]
    for x in arrays[1:]:
        wanted = wanted * x + np.float32(0.1)
    split = gb.fuse(lambda *xs: _chain(xs))
    with pytest.warns(gb.SplitWarning, match="2 kernels and temporaries of 24 bytes"):
        result = split(*arrays)
    np.testing.assert_array_equal(result, wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gb.fuse(lambda *xs: _chain(xs))(*arrays[:16])


def _chain(xs: Any) -> Any:
    y = xs[0]
    for x in xs[1:]:
        y = y * x + 0.1
    return y


def test_fast_math_is_another_kernel_and_close() -> None:
    def rational(x: Any) -> Any:
        return gb.sqrt(x + 1) / (x * x + 3) + x * 0.1

    exact, fast = gb.fuse(rational), gb.fuse(fast_math=True)(rational)
    np.testing.assert_allclose(fast(X), exact(X), rtol=1e-6)
    first, second = exact.plan("f32[2,3]"), fast.plan("f32[2,3]")
    assert first != second
    names = [re.findall("def (gb_[0-9a-f]+)", plan.cpu_source()) for plan in (first, second)]
    assert names[0] != names[1]
    special = np.float32([np.nan, np.inf, -np.inf, 1e-40])
    result = gb.fuse(fast_math=True)(lambda x: x * 1.0)(special)
    np.testing.assert_array_equal(result, special)
