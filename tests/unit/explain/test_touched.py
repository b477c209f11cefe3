"""What a schedule touches is what it is launched with: tiles are blocks, threads share tiles."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.explain.touched import MOST_BOXES, touched
from gpubcast.pictures import schedule as pictures
from gpubcast.pictures.schedule import Box, Touched
from gpubcast.planning.plan import Operand
from gpubcast.planning.planner import plan_for
from gpubcast.plans import generated_kernels
from gpubcast.runtime.prepare import generated
from gpubcast.runtime.target import cuda_target
from gpubcast.schedules.schedule import CpuTarget


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


@gb.fuse("row col -> col")
def columns(x: Any) -> Any:
    return gb.reduce_sum(x, "row")


def add(*shapes: str, **how: Any) -> gb.Plan:
    return gb.plan("add", *shapes, **how)


OF_VECTORS = "FLAT", "ROWS", "XPOSE", "RUNNING", "GATHER"
CASES = {
    "one run": lambda: add("f32[100003]", "f32[100003]"),
    "large run": lambda: add("f32[4096,4096]", "f32[4096,4096]"),
    "row bias": lambda: add("f32[1000,512]", "f32[512]", broadcast_dimensions=(1,)),
    "batches": lambda: add("bf16[3,70,640]", "bf16[3,1,640]"),
    "outer": lambda: add("f32[3000,1]", "f32[1,2048]"),
    "transposed": lambda: add("f32[300,200]", "f32[300,200]{0,1}"),
    "short rows": lambda: add("f32[9999,3]", "f32[3]", broadcast_dimensions=(1,)),
    "odd rows": lambda: add("u8[300,4097]", "u8[4097]", broadcast_dimensions=(1,)),
    "short softmax": lambda: softmax.plan("f32[1000,20]"),
    "softmax": lambda: softmax.plan("f32[64,1000]"),
    "long softmax": lambda: softmax.plan("f32[3,70001]"),
    "columns": lambda: columns.plan("f32[3000,100]"),
}  # fmt: skip


def kernels(plan: gb.Plan, target: Any) -> list[tuple[Any, Any]]:
    """Plans and schedules of a call on a target."""
    made = generated_kernels(plan, target)
    return [(one, made[k][0]) for k, one in enumerate(plan.broadcast_plans)]


@functools.cache
def every() -> list[tuple[str, Any, Any, Touched]]:
    found = []
    for (name, made), target in itertools.product(
        CASES.items(), (cuda_target("sm_80"), cuda_target("sm_100"), CpuTarget(1), CpuTarget(8))
    ):
        for plan, chosen in kernels(made(), target):
            found.append((name, plan, chosen, touched(plan, chosen)))
    # An output with gaps along long rows, as only a given one has.
    whole = Operand.of(gb.Shape.parse("f32[300,200]"))
    apart = dataclasses.replace(whole, strides=(600, 3))
    expression = add("f32[300,200]", "f32[300,200]").expression
    (kernel,) = plan_for(expression, (whole, whole), (apart,)).kernels
    made = generated(kernel, cuda_target("sm_90"))
    assert made is not None
    found.append(("gaps", kernel.plan, made[0], touched(kernel.plan, made[0])))
    return found


def cells(boxes: tuple[Box, ...]) -> list[tuple[int, int]]:
    return [
        (r + i, c + k) for r, c, h, w in boxes for i in range(h) for k in range(w)
    ]  # fmt: skip


def test_every_family_is_among_the_cases() -> None:
    on_gpu = {chosen.name for _, _, chosen, _ in every() if hasattr(chosen, "grid")}
    on_cpu = {chosen.name for _, _, chosen, _ in every() if not hasattr(chosen, "grid")}
    assert on_cpu == {"NEST", "RUNS", "TILES", "ROW_REDUCTION", "COLUMN_REDUCTION"}
    assert on_gpu == {
        *("FLAT", "ROWS", "XPOSE", "PHASE", "RUNNING", "GATHER"),
        *("ROW_REDUCTION", "COLUMN_REDUCTION"),
    }


def test_a_gpu_has_a_block_for_each_tile() -> None:
    for name, _, chosen, seen in every():
        if hasattr(chosen, "grid"):
            assert seen.tiles == chosen.grid, (name, chosen)


def test_threads_lie_in_the_tile_and_apart() -> None:
    for name, _, chosen, seen in every():
        shares = [cells(share.boxes) for share in seen.shares]
        assert shares and all(shares), name
        for share, boxes in zip(seen.shares, shares, strict=True):
            assert len(set(boxes)) == len(boxes) <= share.count
            if len(share.boxes) < MOST_BOXES:
                assert len(boxes) == share.count, (name, chosen)
            assert all(0 <= r < seen.tile[0] and 0 <= c < seen.tile[1] for r, c in boxes), name
        assert not set.intersection(*map(set, shares)) or len(shares) == 1


def test_threads_of_vectors_share_whole_tiles() -> None:
    """Where every thread has as many elements, they are the tile's."""
    counted = 0
    for name, _, chosen, seen in every():
        if chosen.name in ("FLAT", "ROWS", "XPOSE", "RUNNING", "GATHER") and hasattr(
            chosen, "grid"
        ):
            threads = math.prod(chosen.block)
            assert threads * seen.shares[0].count == math.prod(seen.tile), (name, chosen)
            counted += 1
    assert counted > 10


def test_parts_of_a_cpu_cover_what_threads_share() -> None:
    for name, _, chosen, seen in every():
        if not hasattr(chosen, "grid"):
            tiles = seen.tiles // seen.planes
            assert 1 <= tiles <= max(chosen.parts, 1), (name, chosen)


@pytest.mark.parametrize("name", [*CASES, "gaps"])
def test_the_picture_stays_within_its_bounds(name: str) -> None:
    for one, _, _, seen in every():
        if one != name:
            continue
        source = pictures.picture(seen)
        root = ET.fromstring(source)
        assert root.get("aria-label") == seen.words() and len(source) < 8000
        width, height = (float(root.get(side) or 0) for side in ("width", "height"))
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            if not text.get("text-anchor"):
                assert float(text.get("x") or 0) + 6.6 * len(text.text or "") <= width + 8
            assert float(text.get("y") or 0) <= height
