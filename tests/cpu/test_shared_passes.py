"""Reductions that share a pass on the CPU: none changes another."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.reduced_values import reduced, same
from tests.support.reduction_calls import values


@pytest.mark.parametrize("columns", [1, 2, 3, 16, 17, 64, 65, 127, 128, 200, 520, 600, 2049])
def test_what_has_no_identity_beside_what_has(columns: int) -> None:
    """A product of complex numbers, which no value leaves as it is: lanes without an element are
    skipped by it, and are the identity for the reductions that share its pass."""
    both = gb.fuse("r c -> r, r, r")(
        lambda x: (
            gb.reduce_prod(x, "c"),
            gb.reduce_sum(gb.real(x), "c"),
            gb.reduce_max(gb.imag(x), "c"),
        )
    )
    x = values(np.random.default_rng(columns), "c64", (5, columns))
    assert same(both(x)[0], reduced("reduce_prod", x, (1,)))
    assert same(both(x)[1], reduced("reduce_sum", x.real, (1,)))
    assert same(both(x)[2], reduced("reduce_max", x.imag, (1,)))


@pytest.mark.parametrize(("op", "kind"), [("reduce_sum", "c128"), ("reduce_max", "f64")])
def test_many_share_a_pass(op: str, kind: str) -> None:
    """More than have their lanes in registers, of full chunks and of a shorter one."""
    x = values(np.random.default_rng(14), kind, (3, 1_100))
    factors = [*range(1, 15)]

    @gb.fuse("r c -> r")
    def total(x: Any) -> Any:
        made = [getattr(gb, op)(x * factor, "c") for factor in factors]
        return functools.reduce(gb.add, made)

    wanted = functools.reduce(np.add, [reduced(op, x * factor, (1,)) for factor in factors])
    assert same(total(x), wanted)


@pytest.mark.parametrize("kind", ["f32", "bf16", "s16"])
@pytest.mark.parametrize(
    ("dims", "axes"),
    [
        ((3, 40_000), (1,)),
        ((40_000, 3), (0,)),
        ((2_500, 9), (0,)),
        ((2, 2_500, 9), (1,)),
        ((50, 4, 700), (0, 2)),
        ((40_000,), (0,)),
    ],
)
def test_reductions_of_the_same_chunks(
    kind: str, dims: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    """Beside each other, and of what differs."""

    @gb.fuse
    def function(x: Any) -> Any:
        total, most = gb.reduce_sum(x, axes=axes), gb.reduce_max(x, axes=axes)
        return total, gb.reduce_min(x + x, axes=axes) - most

    x = values(np.random.default_rng(3), kind, dims)
    total, apart = function(x)
    assert same(total, reduced("reduce_sum", x, axes))
    with np.errstate(all="ignore"):
        wanted = reduced("reduce_min", x + x, axes) - reduced("reduce_max", x, axes)
    assert same(apart, wanted)
    plans = function.plan(f"{kind}[{','.join(map(str, dims))}]").broadcast_plans
    assert len(plans) == 2


def test_chunks_of_other_sequences_are_others() -> None:
    x = values(np.random.default_rng(4), "f32", (40_000, 3))
    y = values(np.random.default_rng(5), "f32", (3, 40_000))

    @gb.fuse
    def function(x: Any, y: Any) -> Any:
        return gb.reduce_sum(x, axes=(0,)), gb.reduce_sum(y, axes=(1,)), gb.reduce_sum(y, axes=(0,))

    one, other, short = function(x, y)
    assert same(one, reduced("reduce_sum", x, (0,)))
    assert same(other, reduced("reduce_sum", y, (1,)))
    assert same(short, reduced("reduce_sum", y, (0,)))
