"""Arrays on several GPUs leave and come in the stream of their own device, in one flat copy.

CuPy's own arrays and the real backend, over a driver that copies in this process.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import arrays

cupy = pytest.importorskip("cupy")
THERE = ("cuda", 1)


VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
LEAVING: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda a: a.numpy(),
    "slice": lambda a: a[1:, ::2].numpy(),
    "item": lambda a: a[2, 3].item(),
    "float": lambda a: float(a[2, 3]),
    "repr": repr,
    "pickle": pickle.dumps,
    "to the host": lambda a: a.to_device("cpu"),
}


@pytest.mark.parametrize("way", LEAVING)
def test_a_copy_is_made_in_the_arrays_own_stream(gpu: Any, way: str) -> None:
    """And after the kernels that wrote it; whichever device is current, and stays it."""
    array = arrays.wrap(gb.Shape("f32", (3, 4)), gpu.put(VALUES.view(np.uint8)).ravel(), THERE)
    gpu.driver.copies.clear()
    found = LEAVING[way](array)
    assert gpu.driver.copies and not gpu.loaded
    for copy in gpu.driver.copies:
        assert (copy.way, copy.device, copy.stream) == ("to host", 1, gpu.driver.streams[1].ptr)
    shown = {"numpy": VALUES, "slice": VALUES[1:, ::2], "item": 11.0, "float": 11.0}
    if way in shown:
        np.testing.assert_array_equal(found, shown[way])
    elif way == "repr":
        assert found.startswith("gpubcast.Array(f32[3,4]{1,0}, device='cuda:1',") and "11." in found
    elif way == "to the host":
        np.testing.assert_array_equal(found.numpy(), VALUES)


def test_a_pickle_comes_back_to_its_device(gpu: Any) -> None:
    array = arrays.wrap(gb.Shape("f32", (12,)), gpu.put(VALUES.view(np.uint8)).reshape(-1), THERE)
    text = pickle.dumps(array)
    gpu.driver.copies.clear()
    again = pickle.loads(text)
    assert (again.device, again.view().data.device_id) == ("cuda:1", 1)
    assert [(copy.way, copy.device) for copy in gpu.driver.copies] == [("to device", 1)]
    np.testing.assert_array_equal(again.numpy(), VALUES.reshape(-1))


LAYOUTS = (
    gb.Layout((1, 0)),
    gb.Layout((0, 1)),
    gb.Layout((1, 0), (5, 8)),
    gb.Layout((0, 1), (5, 8), gb.PaddingValue.ZERO),
)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize(
    "key", [(), np.s_[1:], np.s_[::-2, 1:3], np.s_[:, 2], np.s_[3:], np.s_[None, 1, ::-1]], ids=str
)
@pytest.mark.parametrize("dtype", ["f32", "u8", "f8e4m3fn", "c128", "s4"])
def test_a_strided_array_leaves_as_one_flat_copy(
    gpu: Any, layout: gb.Layout, key: Any, dtype: str
) -> None:
    """No kernel packs it: CuPy would compile one."""
    shape = gb.Shape(dtype, (3, 4), layout)
    host = gb.empty(shape)
    host.view()[...] = (np.arange(12).reshape(3, 4) % 7).astype(host.dtype)
    buffer = gpu.put(host._buffer)
    array = arrays.wrap(shape, buffer, THERE)[key]
    gpu.driver.copies.clear()
    found, wanted = array.numpy(), host[key].numpy()
    assert not gpu.loaded
    assert len(gpu.driver.copies) == (wanted.size > 0)
    assert all(copy.num_bytes <= buffer.nbytes for copy in gpu.driver.copies)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert found.tobytes() == wanted.tobytes()
    turned = arrays.wrap(shape, buffer, THERE).T[...].numpy()
    np.testing.assert_array_equal(turned.astype("c16"), host.numpy().T.astype("c16"))
    found[...] = 0  # it is the caller's own
    assert array.numpy().tobytes() == wanted.tobytes()


def test_a_repeated_row_leaves_once_and_is_written_out(gpu: Any) -> None:
    x = gpu.put(VALUES[0])
    repeated = cupy.ndarray((5, 4), np.float32, x.data, (0, 4))
    found = arrays.from_strided(repeated, THERE).numpy()
    assert gpu.driver.copies[-1].num_bytes == 16
    np.testing.assert_array_equal(found, np.tile(VALUES[0], (5, 1)))
    found[0] = -1
    np.testing.assert_array_equal(found[1:], np.tile(VALUES[0], (4, 1)))


def test_a_sparse_slice_is_packed_by_a_kernel_of_ours(gpu: Any) -> None:
    """One column of a large matrix: not the whole matrix crosses the bus."""
    x = gpu.put(np.zeros((700, 500), np.float32)[:500])
    column = arrays.from_strided(x, THERE)[:, 7]
    limit, arrays._DENSE_BYTES = arrays._DENSE_BYTES, 1 << 10
    try:
        for way in (column.numpy, lambda: column.to_device("cpu").numpy()):
            gpu.driver.copies.clear()
            gpu.kernel.noted.clear()
            assert way().shape == (500,)
            assert [copy.num_bytes for copy in gpu.driver.copies] == [2000]
            ((device, addresses),) = gpu.kernel.noted
            assert device == 1 and x.data.ptr + 28 in addresses
        gpu.driver.streams[1].captures = True
        with pytest.raises(gb.DeviceError, match="captured must not allocate"):
            column.numpy()
    finally:
        arrays._DENSE_BYTES = limit


@pytest.mark.parametrize("key", [np.s_[:], np.s_[::2, 1:], np.s_[::-1]], ids=str)
def test_an_unaligned_array_is_copied_on_its_own_device(gpu: Any, key: Any) -> None:
    """By a kernel of ours, in bytes: CuPy's would copy to the current device, and read elements of
    four bytes where none may be read."""
    raw = gpu.put(np.zeros(4 * 12 + 1, np.uint8))
    x = cupy.ndarray((3, 4), np.float32, raw.data + 1)[key]
    aligned = gpu.put(np.zeros(x.shape, np.float32))
    for call in (
        lambda: gb.neg(x),
        lambda: gb.add(aligned, x),
        lambda: arrays.from_strided(x, THERE),
    ):
        gpu.kernel.noted.clear()
        found = call()
        copied, *_ = gpu.kernel.noted
        assert {device for device, _ in gpu.kernel.noted} == {1}
        # Where the bytes begin, in the order in which they lie.
        assert raw.data.ptr + 1 <= copied[1][0] < raw.data.ptr + raw.nbytes
        assert copied[1][0] % 4 == 1
        assert not any(one % 4 for _, both in gpu.kernel.noted[1:] for one in both)
        made = found.view() if isinstance(found, gb.Array) else found
        assert made.data.device_id == 1 and made.data.ptr % 4 == 0
    assert gb.add(aligned, aligned, out=x) is x
    *_, last = gpu.kernel.noted
    assert last[0] == 1 and last[1][1] % 4 == 1


def test_strides_between_elements(gpu: Any) -> None:
    """A field of records of six bytes."""
    raw = gpu.put(np.zeros(60, np.uint8))
    x = cupy.ndarray((10,), np.float32, raw.data, (6,))
    assert gb.neg(x).shape == (10,)
    assert {device for device, _ in gpu.kernel.noted} == {1} and len(gpu.kernel.noted) == 2


def test_unaligned_results_that_share_memory_are_refused(gpu: Any) -> None:
    """What stands in for them does not show it."""
    both = gb.fuse(lambda x: (x + 1, x * 2))
    x = gpu.put(np.zeros(4, np.float32))
    raw = gpu.put(np.zeros(65, np.uint8))
    odd, inside, apart = (cupy.ndarray((4,), np.float32, raw.data + at) for at in (1, 8, 33))
    for other in (odd, inside):
        with pytest.raises(gb.LayoutError, match="out 0 and out 1 share memory"):
            both(x, out=(odd, other))
    both(x, out=(odd, apart))
