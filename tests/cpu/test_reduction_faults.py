"""Faults planted in kernels of reductions: each is found by the comparison with the law."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.codegen.cpu import kernel
from gpubcast.planning import simplify
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.runtime import state
from tests.support.reduced_values import reduced, same


class Fault(NamedTuple):
    """A fault in the generated code: what stands there, what is written instead, a call; whether
    processors are taken for some that leave out elements of vectors."""

    pattern: str
    instead: str
    dims: tuple[int, ...]
    axes: tuple[int, ...]
    kind: str = "sum"
    masks: bool = False


# One after another, where a tree is due.
_IN_ORDER = r"\1c1 = float32(0.0)\n\1for l in range(128):\n\1    c1 = c1 + load_f32(t1, l)"
# Where the number of a group of lanes is made from that of a step.
_REVERSED = r"l = 0\n +left = k\n +bit = {} // 2\n +while bit > 0:\n(?: +.*\n){{3}}"
FAULTS = {
    "64 lanes": Fault(
        r"range\(128, count, 128\):\n( +)for l in range\(min\(128",
        r"range(64, count, 64):\n\1for l in range(min(64", (3, 300), (1,),
    ),
    "a lane is never read": Fault(r"min\(128, count - k\)", "min(127, count - k)", (300,), (0,)),
    "lanes in their order": Fault(
        r"( +)c1 = lanes_reduce_sum_f32\(t1\)", _IN_ORDER, (3, 300), (1,)
    ),
    "no +0.0 in a row": Fault(
        r"v1 = float32\(float32\(0\.0\) \+ c1\)", "v1 = c1", (2, 128), (1,), "zeros"
    ),
    "an element of the next row": Fault(
        r"if step \+ l < count:", "if step + l <= count:", (3, 300), (1,), masks=True
    ),
    "the rest is where the row begins": Fault(
        r"step = opaque\(even\) \+ g", "step = g", (3, 300), (1,), masks=True
    ),
    "no first elements of a row": Fault(
        r"range\(0, opaque\(even\)", "range(128, opaque(even)", (3, 300), (1,), masks=True
    ),
    "lanes with a rest in their order": Fault(
        r"( +)c1 = lanes_reduce_sum_f32\(y1\)", _IN_ORDER.replace("t1, l", "y1, l"),
        (3, 300), (1,), masks=True,
    ),
    "no +0.0 in a column": Fault(
        r"float32\(float32\(0\.0\) \+ (load_f32\(t1, \d+ \+ c\))\)", r"\1", (128, 9), (0,), "zeros"
    ),
    "no carry from axis to axis": Fault(r"\n +i\d \+= 1\n", "\n", (4, 3, 90), (0, 2)),
    "no tail chunk": Fault(
        r"if whole < last:", "if last < whole:", (3, 1_300), (1,)
    ),
    "no first elements of a whole chunk": Fault(
        r"range\(0, opaque\(512\)", "range(128, opaque(512)", (3, 512), (1,)
    ),
    "an element of a whole chunk twice": Fault(
        r"step = opaque\(k\) \+ g", "step = opaque(k) // 256 * 256 + g", (3, 512), (1,)
    ),
    "lanes of a whole chunk in their order": Fault(
        r"( +)c1 = lanes_reduce_sum_f32\(u1\)", _IN_ORDER.replace("t1, l", "u1, l"),
        (3, 512), (1,),
    ),
    "chunks of a column in their order": Fault(
        r"chunk = 0\n( +)left = q(?s:.*?)begin = first", r"chunk = q\n\1begin = first",
        (2_000, 9), (0,),
    ),
    "an element of a column twice": Fault(
        r"(a1_5 = v0) if present5 else float32\(0\.0\)", r"\1", (200, 300), (0,)
    ),
    "an element of a short column twice": Fault(
        r"(a1_3 = v0) if present3 else float32\(0\.0\)", r"\1", (99, 300), (0,)
    ),
    "lanes of a short column in their order": Fault(
        _REVERSED.format("quarter"), "l = k\n", (99, 300), (0,)
    ),
    "lanes of a column in their order": Fault(
        _REVERSED.format("held"), "l = k\n", (200, 300), (0,)
    ),
    "lanes of a whole column in their order": Fault(
        _REVERSED.format("64"), "l = k\n", (512, 300), (0,)
    ),
    "lanes of rows as one that are left out": Fault(
        r"half = opaque\(64\)", "half = opaque(4)", (9, 9), (0,)
    ),
    "a lane of rows as one is never combined": Fault(
        r"min\(half, held - half\) \* width", "min(half, held - half) * width - 1", (200, 9), (0,)
    ),
    "no second elements of rows as one": Fault(
        r"for r in range\(128, count, 128\)", "for r in range(256, count, 128)", (200, 9), (0,)
    ),
    "wide rows as one in another order": Fault(
        r"l \+ 448", "l + 320", (512, 40), (0,)
    ),
    "chunk results in their order": Fault(
        r"( +)c1 = lanes_reduce_sum_f32\(t1 \+ 512\)",
        _IN_ORDER.replace("t1, l", "t1, 128 + l"), (9_000,), (0,),
    ),
    "few chunk results in their order": Fault(
        r"a1_1 = float32\(a1_1 \+ a1_3\)", "a1_0 = float32(a1_0 + a1_3)", (2_000,), (0,)
    ),
    "six chunk results in another order": Fault(
        r"a1_1 = float32\(a1_1 \+ a1_5\)", "a1_0 = float32(a1_0 + a1_5)", (3_000,), (0,)
    ),
    "a chunk result is never read": Fault(r"if chunks > 7:", "if chunks > 8:", (4_096,), (0,)),
    "a transposed element of the next row": Fault(
        r"m_1 = i1 \* (\d+)", r"m_1 = i1 * \1 + 1", (99, 9), (1,)
    ),
    "a tile that begins where the last one did": Fault(
        r"\(column \* s0_0\), s0_1", "(low * s0_0), s0_1", (990, 9), (1,)
    ),
}  # fmt: skip


def numbers(fault: Fault) -> np.ndarray[Any, Any]:
    if fault.kind == "zeros":
        return np.full(fault.dims, -0.0, "f4")
    rng = np.random.default_rng(1)
    x = rng.standard_normal(fault.dims) * np.exp2(rng.integers(-9, 9, fault.dims))
    return x.astype("f4")


def is_right(x: np.ndarray[Any, Any], axes: tuple[int, ...]) -> bool:
    return same(gb.reduce_sum(x, axes), reduced("reduce_sum", x, axes))


@pytest.fixture(autouse=True)
def no_known_kernels() -> Iterator[None]:
    state.clear()
    yield
    state.clear()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_code_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    monkeypatch.setitem(backend._namespace(), "MASKS", fault.masks)
    x = numbers(fault)
    assert is_right(x, fault.axes)
    planted = []
    generate: Callable[..., Any] = kernel.generate

    def wrong(*given: Any) -> Any:
        made = generate(*given)
        text, count = re.subn(fault.pattern, fault.instead, made.text)
        planted.append(count)
        return dataclasses.replace(made, text=text)

    monkeypatch.setattr(kernel, "generate", wrong)
    state.clear()
    assert not is_right(x, fault.axes)
    assert sum(planted) > 0


def test_sequences_in_the_order_of_memory_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes of a sequence may not be exchanged so that memory is read in a row."""
    x = numbers(Fault("", "", (8, 25, 20), ())).transpose(0, 2, 1)
    assert is_right(x, (1, 2))

    def sorted_axes(plan: BroadcastPlan) -> BroadcastPlan:
        steps = plan.reads[0].strides
        inner = sorted(range(plan.num_parallel, plan.rank), key=lambda k: -steps[k])
        return simplify._select_axes(plan, [*range(plan.num_parallel), *inner])

    passes = tuple(sorted_axes if p is simplify.order_axes else p for p in simplify.PASSES)
    monkeypatch.setattr(simplify, "PASSES", passes)
    state.clear()
    assert not is_right(x, (1, 2))


def test_another_cut_into_sequences_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpubcast.planning import lowering

    x = numbers(Fault("", "", (8, 30, 600), ()))
    assert is_right(x, (1, 2))
    monkeypatch.setattr(lowering, "sequences", lambda sizes: (tuple(range(len(sizes))),))
    state.clear()
    assert not is_right(x, (1, 2))
