"""Columns of which a thread has several, neighbours in memory that it loads as vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda import column_reduction
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.schedule import AccessPattern, CudaTarget
from tests.emulated.test_reductions import run
from tests.support.emulator.backend import NewDevice
from tests.support.random_reductions import ReductionCase, reduced
from tests.support.reduction_cases import dtype_of

Array = np.ndarray[Any, Any]


def values(name: str, *dimensions: int) -> Array:
    """Numbers whose products and sums round."""
    drawn = np.random.default_rng(7).standard_normal(dimensions) * 9
    return drawn.astype(np.int64).astype(dtype_of(name)) if name[0] in "su" else np.asarray(
        drawn.astype(dtype_of(name))
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Columns:
    """Sums of ``x * row`` along an axis, times ``own``, where ``x`` is a view of an array.

    Attributes:
        name: the element type.
        dimensions: of the array.
        axis: that is reduced.
        width: how many columns a thread is meant to have.
        held: whether its elements are all that it loads.
        view: what of the array is seen.
        scaled: whether it is multiplied by ``row``.
    """

    name: str
    dimensions: tuple[int, ...]
    axis: int
    width: int
    held: bool
    view: Callable[[Any], Any] = lambda x: x
    scaled: bool = True

    def __str__(self) -> str:
        return f"{self.name}{list(self.dimensions)} along {self.axis}, {self.width}"

    def case(self) -> ReductionCase:
        every = values(self.name, *self.dimensions)
        x = self.view(every)
        others = tuple(d for d in range(x.ndim) if d != self.axis)
        row = values(self.name, x.shape[self.axis])
        own = values(self.name, *(x.shape[d] for d in others))

        @gb.fuse
        def function(p: Any, q: Any, r: Any) -> Any:
            if self.scaled:
                p = gb.mul(p, gb.broadcast_in_dim(q, x.shape, (self.axis,)))
            return gb.mul(gb.reduce_sum(p, axes=(self.axis,)), r)

        def expected() -> tuple[Array, ...]:
            shape = [-1 if d == self.axis else 1 for d in range(x.ndim)]
            with np.errstate(over="ignore"):
                scaled = x * row.reshape(shape) if self.scaled else x
                return (reduced("sum", self.name, scaled, (self.axis,)) * own,)

        def call(device: str) -> tuple[Any, ...]:
            seen = self.view(gb.array(every, device=device))
            return (function(seen, gb.array(row, device=device), gb.array(own, device=device)),)

        first = function.plan(x, row, own).broadcast_plans[0]
        skipped = (x.ctypes.data - every.ctypes.data) % 32
        addresses = (skipped, *(0 for _ in first.accesses[1:]))
        chosen = schedule(first, CudaTarget("sm_90", 132), addresses)
        assert isinstance(chosen, CudaColumnReduction)
        assert (chosen.vector_width, chosen.held) == (self.width, self.held), chosen.reason
        assert (AccessPattern.TILE in chosen.reads) == (self.width > 1)
        assert (AccessPattern.COLUMN in chosen.reads) == (self.width > 1 and self.scaled)
        return ReductionCase(str(self), call, expected)


CASES = (
    Columns("f32", (37, 24), 0, 4, True, scaled=False),
    Columns("f32", (3, 70, 20), 1, 4, True, scaled=False),
    Columns("f32", (3, 70, 20), 1, 2, True),
    Columns("f32", (130, 10), 0, 2, True),
    Columns("f32", (130, 9), 0, 1, True),
    Columns("f32", (40, 25), 0, 1, True, lambda x: x[:, 1:]),  # of lines of 25
    Columns("f32", (40, 28), 0, 2, True, lambda x: x[:, 2:], scaled=False),
    Columns("f32", (40, 28), 0, 4, True, lambda x: x[:, 4:], scaled=False),
    Columns("f32", (2, 40, 28), 1, 4, True, lambda x: x[:, ::-1], scaled=False),
    Columns("f32", (2, 40, 28), 1, 1, True, lambda x: x[:, :, ::-1]),
    Columns("f32", (600, 20), 0, 4, True, scaled=False),
    Columns("f32", (1100, 12), 0, 4, False, scaled=False),
    Columns("f32", (1100, 12), 0, 2, False),
    Columns("f64", (130, 8), 0, 1, True),
    Columns("bf16", (300, 16), 0, 4, True, scaled=False),
    Columns("f16", (5, 130, 10), 1, 2, True),
    Columns("u8", (2, 1500, 20), 1, 2, False),
    Columns("s8", (9, 33, 12), 1, 4, True, scaled=False),
    Columns("s64", (40, 12), 0, 1, True),
    Columns("f32", (33000, 8), 0, 4, True, scaled=False),  # by chunks
)


@pytest.mark.parametrize("columns", CASES, ids=str)
def test_columns(columns: Columns, new_device: NewDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are shorter and longer than vectors, aligned and not, in one group of elements and
    in several."""
    monkeypatch.setattr(column_reduction, "MANY_VECTORS", 1)
    state.clear()
    assert run(new_device(), [columns.case()]) >= 1
    state.clear()


def several(x: Array) -> ReductionCase:
    """Reductions that share a pass, one of which chooses, of a sum of two operands."""

    @gb.fuse
    def function(p: Any, q: Any) -> Any:
        both = gb.add(p, q)
        return gb.reduce_max(both, axes=(1,)), gb.argmax(both, axis=1, index_dtype="s32")

    def expected() -> tuple[Array, ...]:
        both = x + x[::-1]
        return reduced("max", "f32", both, (1,)), both.argmax(1).astype(np.int32)

    def call(device: str) -> tuple[Any, ...]:
        return tuple(function(gb.array(x, device=device), gb.array(x, device=device)[::-1]))

    return ReductionCase("several", call, expected)


def test_what_chooses_has_columns_of_its_own(
    new_device: NewDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_reduction, "MANY_VECTORS", 1)
    state.clear()
    run(new_device(), [several(np.asarray(values("f32", 6, 70, 8) // 4))])
    state.clear()


def test_few_vectors_are_not_made() -> None:
    """Each thread has a column where there are few, so that all of the device has some."""
    for columns, width in ((4092, 2), (4096, 4), (2048, 2), (2046, 1)):
        plan = gb.plan("reduce_sum", f"f32[600,{columns}]", axes=(0,)).broadcast_plan
        chosen = schedule(plan, CudaTarget("sm_90", 132), (0,) * len(plan.accesses))
        assert isinstance(chosen, CudaColumnReduction) and chosen.vector_width == width


def test_registers_bound_the_vectors() -> None:
    """What several reductions come to is held, too."""
    for sums, width in ((1, 4), (2, 2)):

        @gb.fuse
        def function(x: Any) -> Any:
            return tuple(gb.reduce_sum(gb.mul(x, float(k)), axes=(1,)) for k in range(sums))  # noqa: B023

        plan = function.plan("f32[64,300,256]").broadcast_plans[0]
        chosen = schedule(plan, CudaTarget("sm_90", 132), (0,) * len(plan.accesses))
        assert isinstance(chosen, CudaColumnReduction) and chosen.held
        assert chosen.vector_width == width, chosen.reason
