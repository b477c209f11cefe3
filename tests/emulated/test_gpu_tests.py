"""The tests of the GPU tier on CuPy's arrays over the emulator: they would run on a GPU.

Here are those bodies of ``tests/gpu`` that need neither a kernel of CuPy's nor a stream, with few
types: each kernel is compiled with g++.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np
import pytest

import gpubcast as gb
from bench.cases import CASES, Case
from tests.emulated import cupy_device
from tests.gpu import test_arrays, test_cases, test_kernels
from tests.gpu.conftest import Place
from tests.support.emulator.backend import NewDevice

# Each call is a unit of g++'s of its own.
pytestmark = pytest.mark.long


class Emulated(Place):
    """A place whose memory the host can read."""

    def put(self, x: np.ndarray[Any, Any]) -> Any:
        return cupy_device.put(np.array(x, order="C"))

    def get(self, x: Any) -> np.ndarray[Any, Any]:
        return cupy_device.get(x) if isinstance(x, cupy.ndarray) else super().get(x)


@pytest.fixture
def device(new_device: NewDevice) -> Iterator[Place]:
    with cupy_device.device(new_device()) as made:
        yield Emulated("cuda", cupy)
        made.emulator.check_canaries()


@pytest.mark.parametrize(("family", "texts", "placed"), test_kernels.FAMILIES)
def test_family(device: Place, family: str, texts: Any, placed: Any) -> None:
    test_kernels.test_family(device, family, texts, placed)


@pytest.mark.parametrize(
    ("name", "first", "second", "placed", "key", "other"), test_kernels.UNALIGNED
)
@pytest.mark.parametrize("kind", ["u8", "f32"])
def test_unaligned_views(
    device: Place, kind: str, name: str, first: Any, second: Any, placed: Any, key: Any, other: Any
) -> None:
    test_kernels.test_unaligned_views(device, kind, name, first, second, placed, key, other)


@pytest.mark.parametrize("offset", [1, 3])
@pytest.mark.parametrize("kind", ["u8", "f32"])
def test_unaligned_base(device: Place, kind: str, offset: int) -> None:
    test_kernels.test_unaligned_base(device, kind, offset)


@pytest.mark.parametrize(("padding", "kind", "value"), test_arrays.PADDED)
def test_written_padding(device: Place, padding: Any, kind: str, value: float) -> None:
    test_arrays.test_written_padding(device, padding, kind, value, (0, 1))


@pytest.mark.parametrize("key", [np.s_[2:7, 3:40], np.s_[8:3:-1, 1:2]])
def test_out_leaves_the_rest_alone(device: Place, key: Any) -> None:
    test_arrays.test_out_leaves_the_rest_alone(device, key)


@pytest.mark.parametrize("shape", [(0,), (2, 0, 5)])
def test_no_elements(device: Place, shape: Any) -> None:
    test_arrays.test_no_elements(device, shape)


@pytest.mark.parametrize(
    "body",
    [
        test_kernels.test_rank_16,
        test_arrays.test_results_are_of_the_operands_kind,
        test_arrays.test_arrays,
        test_arrays.test_scalars,
        test_arrays.test_bf16,
        test_arrays.test_shared_padding_runs_flat,
        test_arrays.test_repeated_operand,
        test_arrays.test_out_overlaps_an_operand,
        test_arrays.test_out_as_array,
    ],
    ids=lambda body: body.__name__,
)
def test_body(device: Place, body: Any) -> None:
    body(device)


SMALL = [case for case in CASES if not case.huge]


@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_case(device: Place, case: Case) -> None:
    """A case of the benchmark, with operands that NumPy made."""
    sized = test_cases.at(case, case.dtypes[0], small=True)
    made = sized.operands(np, test_cases.SEED)
    operands = tuple(gb.array(device.put(x.numpy()), layout=x.layout) for x in made)
    test_cases.check(device, sized, operands)
