"""Reductions in NVRTC's code: the bodies of the emulated tests, other random cases, and banks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpubcast.runtime import state
from gpubcast.schedules.cuda import column_reduction
from tests.emulated import test_column_vectors as column_bodies
from tests.emulated import test_reductions as bodies
from tests.support import random_reductions
from tests.support.emulator.backend import NewDevice

long = pytest.mark.long

nested = bodies.nested
test_rows = bodies.test_rows
test_columns = bodies.test_columns
test_wide_indices = bodies.test_wide_indices
test_sequences_within_sequences = bodies.test_sequences_within_sequences
test_short_sequences_within_sequences = bodies.test_short_sequences_within_sequences
test_whole_chunks_of_short_sequences = bodies.test_whole_chunks_of_short_sequences
test_column_vectors = column_bodies.test_columns
test_zeros_and_nan = bodies.test_zeros_and_nan
test_each_element_is_read_once_and_written_once = (
    bodies.test_each_element_is_read_once_and_written_once
)
test_planted_faults_are_found = bodies.test_planted_faults_are_found


@pytest.mark.parametrize(
    ("part", "count"), [(5, 4), *(pytest.param(n, 52, marks=long) for n in (6, 7))]
)
def test_random_reductions_are_those_of_the_law(
    part: int, count: int, new_device: NewDevice, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other calls for each architecture."""
    monkeypatch.setattr(column_reduction, "MANY_VECTORS", 1)
    device = new_device(multiprocessors=1 if part == 6 else 132)
    first = part * 100 + (0 if arch == "sm_90" else 1000)
    cases = [random_reductions.make(seed) for seed in range(first, first + count)]
    assert bodies.run(device, cases) > count


@pytest.mark.parametrize("sizes", [(2, 1400, 1), (1400, 33, 0), (3, 300, 1), (70, 9, 0)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_no_bank_has_conflicts(
    sizes: tuple[int, int, int], dtype: str, new_device: NewDevice
) -> None:
    *dimensions, axis = sizes
    device = new_device()
    case = bodies.softmax_like(bodies.numbers(*dimensions, dtype=dtype), axis)
    with state.use_backend(device):
        bodies.check(case, case.call("cuda"))
    assert device.bank_conflicts == 0


def test_a_conflict_is_counted(new_device: NewDevice, tmp_path: Path) -> None:
    """Threads of a column beside each other in shared memory would have some."""
    device = bodies.altered(
        new_device,
        tmp_path,
        "column_reduction.cuh",
        "return y * blockDim.x + threadIdx.x;",
        "return y + threadIdx.x * blockDim.y;",
    )
    case = bodies.softmax_like(bodies.numbers(1400, 33), 0)
    with state.use_backend(device):
        case.call("cuda")
    assert device.bank_conflicts > 0
