"""More elements and bytes than 32 bits count, in every kernel family, one test at a time."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.shapes.element_types import element_type
from tests.gpu.conftest import Place


class Room:
    """The device, and what is free of its memory."""

    def __init__(self, gpu: Place) -> None:
        self.cupy = gpu.xp

    def need(self, num_bytes: int) -> None:
        """Skip the test where there is less memory."""
        free = self.cupy.cuda.runtime.memGetInfo()[0]
        if free < num_bytes:
            wanted, there = num_bytes / 2**30, free / 2**30
            pytest.skip(f"{wanted:.0f} GiB of device memory are needed, {there:.0f} are free")


@pytest.fixture
def room(gpu: Place) -> Iterator[Room]:
    """All of the memory: processes that run the tests beside this one wait."""
    with (Path(tempfile.gettempdir()) / "gpubcast-large-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pool = gpu.xp.get_default_memory_pool()
        pool.free_all_blocks()
        yield Room(gpu)
        pool.free_all_blocks()


def _equal(found: Any, wanted: Callable[[slice], Any], step: int = 4096) -> bool:
    """Whether a large array is what a function says of a part of its rows at a time."""
    parts = [slice(i, i + step) for i in range(0, len(found), step)]
    return all(bool((found[part] == wanted(part)).all()) for part in parts)


M, N = 65_537, 32_771
ROWS, COLUMNS = 32_784, 32_800
POINTS = (1 << 28) + 3
# What runs, and the family that is meant to: a plan, and how it is made.
PLANS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "running, odd rows": ("add", (f"u8[{M},{N}]", f"u8[{N}]"), {"broadcast_dimensions": (1,)}),
    "xpose, odd": (
        "broadcast_in_dim", (f"u8[{M},{N}]",), {"shape": (N, M), "broadcast_dimensions": (1, 0)},
    ),
    "rows": ("add", (f"s32[{ROWS},{COLUMNS}]", f"s32[{COLUMNS}]"), {"broadcast_dimensions": (1,)}),
    "phase": ("add", (f"s32[{POINTS},5]", "s32[5]"), {"broadcast_dimensions": (1,)}),
    "xpose": (
        "broadcast_in_dim", (f"s32[{ROWS},{COLUMNS}]",),
        {"shape": (COLUMNS, ROWS), "broadcast_dimensions": (1, 0)},
    ),
}  # fmt: skip


def planned(name: str) -> gb.Plan:
    """The plan of that name."""
    operation, shapes, keywords = PLANS[name]
    return gb.plan(operation, *shapes, **keywords)


@pytest.mark.parametrize("name", PLANS)
def test_the_plans_are_of_these_families(name: str) -> None:
    """Known without a GPU; and 32 bits do not hold what they go through."""
    plan = planned(name)
    chosen = plan.schedule("sm_90")
    assert chosen.name.lower() == name.partition(",")[0]
    # PHASE counts in 32 bits within a tile only.
    assert chosen.offset_bits == 64 or name.startswith("phase")
    assert plan.output_shape.byte_size > 2**31


FLAT = (
    ("s8", 2**31 - 1, 0), ("s8", 2**31, 0), ("s8", 2**31 + 1, 0), ("s8", 2**31 + 1, 1),
    ("s32", 2**30 + 5, 0), ("s32", 2**30 + 5, 3),
)  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "elements", "offset"), FLAT)
def test_flat(room: Room, kind: str, elements: int, offset: int) -> None:
    """At the edges of 32 bits, aligned and not; s32: beyond 2**32 bytes."""
    dtype = element_type(kind).dtype
    room.need(elements * (8 + 4 * dtype.itemsize))
    cupy = room.cupy
    counted = cupy.arange(elements + offset, dtype=cupy.uint32)
    counted %= cupy.uint32(61)
    x = counted.astype(dtype)[offset:]
    del counted
    memory = cupy.full(elements + offset + 1, -1, dtype)
    out = memory[offset:-1]
    assert gb.add(x, x, out=out) is out
    assert _equal(out, lambda part: x[part] + x[part], 1 << 26)
    assert int(memory[-1]) == -1 and (not offset or int(memory[offset - 1]) == -1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["running, odd rows", "xpose, odd"])
def test_more_than_2_31_elements(room: Room, name: str) -> None:
    """Of odd sizes, so that nothing is aligned."""
    room.need(16 << 30)
    cupy = room.cupy
    counted = cupy.arange(M * N, dtype=cupy.uint32)
    x = counted.astype(cupy.uint8).reshape(M, N)
    del counted
    if name == "xpose, odd":
        found = planned(name)(x)
        assert _equal(found, lambda part: x.T[part])
    else:
        row = cupy.arange(N, dtype=cupy.uint32).astype(cupy.uint8)
        found = planned(name)(x, row)
        assert _equal(found, lambda part: x[part] + row)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["rows", "phase", "xpose"])
def test_more_than_2_32_bytes(room: Room, name: str) -> None:
    """Offsets that 32 bits do not hold."""
    room.need(22 << 30)
    cupy, plan = room.cupy, planned(name)
    m, n = plan.shapes[0].dimensions
    x = cupy.arange(m * n, dtype=cupy.uint32).view(cupy.int32).reshape(m, n)
    if name == "xpose":
        found = plan(x)
        assert _equal(found, lambda part: x.T[part])
    else:
        row = cupy.arange(n, dtype=cupy.int32)
        found = plan(x, row)
        assert _equal(found, lambda part: x[part] + row, 1 << 24 if name == "phase" else 4096)


@pytest.mark.gpu
def test_gather(room: Room) -> None:
    """Every second element of a result of 8 GiB: what lies between stays."""
    room.need(24 << 30)
    cupy = room.cupy
    x = cupy.arange(ROWS * COLUMNS, dtype=cupy.uint32).view(cupy.int32).reshape(ROWS, COLUMNS)
    memory = cupy.full((ROWS, 2 * COLUMNS), -1, cupy.int32)
    gb.neg(x[::-1], out=memory[:, ::2])
    assert _equal(memory, lambda part: cupy.where(
        cupy.arange(2 * COLUMNS) % 2 == 0, -cupy.repeat(x[::-1][part], 2, axis=1), -1
    ), 1024)  # fmt: skip
