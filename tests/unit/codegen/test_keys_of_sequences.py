"""A key says all that a kernel with sequences depends on: the same key, the same text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.codegen.generator import kernel_source
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda import column_reduction
from gpubcast.schedules.schedule import CpuTarget, CudaTarget, Target

Axes = tuple[int, ...]
SUBSETS: tuple[Axes, ...] = tuple(
    axes for count in range(4) for axes in itertools.combinations(range(3), count)
)


def placed(x: Any, dimensions: Axes, axes: Axes) -> Any:
    return gb.broadcast_in_dim(x, dimensions, axes)


def shape(dimensions: Axes, axes: Axes) -> str:
    return f"f32[{','.join(str(dimensions[d]) for d in axes)}]"


def nested(dimensions: Axes, inner: int, first: Axes, second: Axes) -> tuple[BroadcastPlan, ...]:
    """Sums within the elements of a maximum, of a product of operands that have some axes."""

    @gb.fuse
    def function(p: Any, q: Any) -> Any:
        product = gb.mul(placed(p, dimensions, first), placed(q, dimensions, second))
        return gb.reduce_max(gb.reduce_sum(product, axes=(inner,)), axes=(1,))

    return function.plan(shape(dimensions, first), shape(dimensions, second)).broadcast_plans


def with_outputs(dimensions: Axes, axes: Axes, number: int) -> tuple[BroadcastPlan, ...]:
    """Sums as results, for their elements, and beside each other."""
    others = tuple(d for d in range(3) if d not in axes)

    @gb.fuse
    def function(p: Any) -> Any:
        total = gb.reduce_sum(p, axes=axes)
        repeated = placed(total, dimensions, others)
        return (total, repeated, (total, p - repeated), (repeated, p - repeated), p - repeated)[
            number
        ]

    return function.plan(shape(dimensions, (0, 1, 2))).broadcast_plans


def plans() -> Iterator[tuple[str, BroadcastPlan]]:
    for inner, rows, middle, last in itertools.product((1, 2), (1, 6), (3, 200), (3, 200)):
        for first, second in itertools.product(SUBSETS, repeat=2):
            for plan in nested((rows, middle, last), inner, first, second):
                yield f"{rows},{middle},{last} along {inner}: {first} {second}", plan
    for sizes in itertools.product((1, 3), (5, 600), (1, 24)):
        for axes in SUBSETS[1:]:
            for number in range(5):
                for plan in with_outputs(sizes, axes, number):
                    yield f"{sizes} along {axes}, {number}", plan


@pytest.mark.parametrize(
    "target", [CudaTarget("sm_90", 132), CudaTarget("sm_90", 1), CpuTarget()], ids=str
)
def test_plans_of_one_key_have_one_text(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_reduction, "MANY_VECTORS", 1)
    seen: dict[str, tuple[str, str]] = {}
    for what, plan in plans():
        source = kernel_source(plan, schedule(plan, target, (0,) * len(plan.accesses)))
        text, other = seen.setdefault(source.key, (source.text, what))
        assert text == source.text, f"{source.key}: {other} and {what}"
    assert len(seen) > 50
