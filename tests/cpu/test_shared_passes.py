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
