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
from tests.gpu import test_array_api, test_arrays, test_cases, test_kernels
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


@pytest.mark.parametrize("layout", [gb.Layout((1, 0)), gb.Layout((0, 1), (50, 90))], ids=str)
def test_strided_arrays_leave_the_device(device: Place, layout: gb.Layout) -> None:
    test_arrays.test_strided_arrays_leave_the_device(device, layout)


def test_fields_of_records(device: Place) -> None:
    test_arrays.test_elements_that_lie_anywhere(device, "f64")


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


@pytest.mark.parametrize("key", [np.s_[:], np.s_[::-2, 1:5], np.s_[2, ::3], np.s_[7:]], ids=str)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "c128"])
@pytest.mark.parametrize("gap", [0, 1])
def test_elements_that_lie_anywhere(device: Place, dtype: str, key: Any, gap: int) -> None:
    """An operand, then a result, where kernels cannot read and write elements as such: they are
    copied byte by byte, and nothing beside them changes."""
    element = gb.element_type(dtype).dtype
    step = element.itemsize + gap
    strides = 20 * step, step
    host = np.arange(7 * 20 * step + 9, dtype=np.uint8) % 59
    wanted = np.ndarray((7, 20), element, host, 1, strides)[key]
    raw = device.put(host)
    x = cupy.ndarray((7, 20), element, raw.data + 1, strides)[key]
    found = gb.bitcast_convert_type(x, dtype)
    assert device.get(found).tobytes() == wanted.tobytes()
    assert gb.array(x).numpy().tobytes() == wanted.tobytes()
    changed = np.ascontiguousarray(wanted[..., ::-1])
    assert gb.bitcast_convert_type(device.put(changed), dtype, out=x) is x
    np.ndarray((7, 20), element, host, 1, strides)[key] = changed
    np.testing.assert_array_equal(device.get(raw), host)


def test_a_sparse_slice_is_packed_first(device: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpubcast.arrays._DENSE_BYTES", 64)
    x = np.arange(41 * 30, dtype=np.float32).reshape(41, 30)
    array = gb.array(device.put(x))
    for key in (np.s_[:, 3], np.s_[::-9, 1:3], np.s_[5:30:3, 29]):
        np.testing.assert_array_equal(array[key].numpy(), x[key])
        np.testing.assert_array_equal(array.T[key[::-1]].to_device("cpu").numpy(), x.T[key[::-1]])


@pytest.mark.parametrize("number", range(len(test_array_api.CALLS)))
def test_array_api_calls(device: Place, number: int) -> None:
    test_array_api.test_calls(device, test_array_api.CALLS[number])


def test_array_api_in_place(device: Place) -> None:
    test_array_api.test_in_place(device)


def test_array_api_devices(device: Place) -> None:
    test_array_api.test_devices(device)
