"""The gallery as CUDA source, on the emulator: the CPU's results, and hardly more memory traffic
than its operands and results; what blocks share counts for each, which reads it from the cache."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Sequence
from typing import Any

import pytest

from gpubcast.plans import Plan
from gpubcast.runtime import state
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.schedule import AccessPattern
from tests.support.emulator.backend import EmulatorBackend, NewDevice, SlotStatistics
from tests.support.gallery_scripts import EXAMPLES, NAMES

# Their operands have strides, or innermost axes of their own.
STRIDED = ("image_normalise", "rotary_embedding")
# It has a reduction across rows, whose lengths differ.
RAGGED = ("ragged_batch",)
ALIGNED = [name for name in NAMES if name not in (*STRIDED, *RAGGED)]
# They walk their operands once for every result.
PAIRS = ("k_means", "rbf_kernel_sum")
# What several rows share, a mask or what belongs to a column, a kernel that reduces rows reads
# again for each of them, from the cache.
SHARED = ("layernorm", "masked_softmax", "rms_norm")
FAMILIES = ("FLAT", "ROWS", "ROW_REDUCTION")
SECTOR = 32
MOST = 1.05


@pytest.fixture(scope="module")
def emulator(new_device: NewDevice) -> EmulatorBackend:
    return new_device(trace=True)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The cases of a script, found as the scripts find one another."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return lambda name: importlib.import_module(name).CASES


def launched(emulator: EmulatorBackend, case: Any) -> tuple[Plan, tuple[SlotStatistics, ...]]:
    """A case's plan, and what its last launch did for each operand and output."""
    operands = case.make("small")
    with state.use_backend(emulator):
        case.run(operands, "cuda")
    plan = case.function.plan(*operands)
    return plan, emulator.statistics[: len(plan.broadcast_plan.accesses)]


def distinct(plan: Plan) -> list[int]:
    """Per operand and output, the bytes of its distinct elements; together the floor."""
    walked = plan.broadcast_plan
    found = [
        math.prod(a.extent for a, stride in zip(walked.axes, one.strides, strict=True) if stride)
        * one.element_type.itemsize
        # Sizes and indices lie in no memory.
        * (not one.generated)
        for one in walked.accesses
    ]
    assert sum(found) == walked.num_bytes
    return found


def once_per_block(plan: Plan) -> list[int]:
    """The same, where of what lacks an axis of ROWS each block along that axis reads its own."""
    walked, chosen = plan.broadcast_plan, plan.schedule("sm_90")
    blocks = [axis.extent for axis in walked.axes]
    if isinstance(chosen, Rows):
        across, down = chosen.block
        blocks[-1] = -(-blocks[-1] // (across * chosen.vector_width))
        if chosen.row_axis >= 0:
            height = down * chosen.rows_per_thread
            blocks[chosen.row_axis] = -(-blocks[chosen.row_axis] // height)
    else:
        blocks = [1] * walked.rank
    return [
        own * math.prod(n for n, stride in zip(blocks, one.strides, strict=True) if not stride)
        if kind in (AccessPattern.ROW, AccessPattern.COLUMN)
        else own
        for one, kind, own in zip(walked.accesses, kinds(plan), distinct(plan), strict=True)
    ]


def kinds(plan: Plan) -> tuple[AccessPattern, ...]:
    schedule = plan.schedule("sm_90")
    return schedule.reads + schedule.writes


def check_traffic(plan: Plan, slots: Sequence[SlotStatistics]) -> None:
    """Assert that all slots together move hardly more than the floor."""
    floor = sum(once_per_block(plan))
    moved = sum(slot.fetched * SECTOR for slot in slots)
    lines = [
        f"{kind.name:8}{slot.fetched * SECTOR:>12,} bytes moved for {own:>12,}"
        for kind, slot, own in zip(kinds(plan), slots, once_per_block(plan), strict=True)
    ]
    assert moved <= MOST * floor, "\n".join((f"{moved / floor:.3f} times the floor", *lines))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_the_cpu(name: str, load: Any, emulator: EmulatorBackend) -> None:
    for case in load(name):
        operands = case.make("small")
        with state.use_backend(emulator):
            found = case.run(operands, "cuda")
        assert case.wrong(found, case.run(operands, "cpu")) is None
        assert case.wrong(found, case.expected(operands)) is None


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ALIGNED if name not in PAIRS])
def test_what_moves_with_every_element_is_moved_once(
    name: str, load: Any, emulator: EmulatorBackend
) -> None:
    for case in load(name):
        plan, slots = launched(emulator, case)
        assert plan.schedule("sm_90").name in FAMILIES
        whole = math.prod(axis.extent for axis in plan.broadcast_plan.axes)
        streams = [
            (slot, own)
            for access, slot, own in zip(
                plan.broadcast_plan.accesses, slots, distinct(plan), strict=True
            )
            if own == whole * access.element_type.itemsize
        ]
        assert streams
        for slot, own in streams:
            assert (slot.useful_bytes, slot.sectors * SECTOR) == (own, own)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ALIGNED if name not in (*PAIRS, *SHARED)])
def test_traffic_is_hardly_above_the_floor(name: str, load: Any, emulator: EmulatorBackend) -> None:
    for case in load(name):
        check_traffic(*launched(emulator, case))


def test_more_traffic_is_caught(load: Any, emulator: EmulatorBackend) -> None:
    plan, slots = launched(emulator, load("black_scholes")[0])
    check_traffic(plan, slots)
    doubled = dataclasses.replace(slots[-1], fetched=2 * slots[-1].fetched)
    with pytest.raises(AssertionError, match="times the floor"):
        check_traffic(plan, (*slots[:-1], doubled))
