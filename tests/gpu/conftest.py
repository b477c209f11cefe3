"""The fixture ``device``: each test runs on the CPU, and marked ``gpu`` on a CUDA device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.shapes.element_types import element_type

NdArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A device under test: its kind (``"cpu"``, ``"cuda"``) and its array module."""

    kind: str
    xp: Any

    def put(self, x: np.ndarray[Any, Any]) -> Any:
        """A row-major copy of a NumPy array on the device."""
        packed = np.array(x, order="C")
        return packed if self.kind == "cpu" else _from_bytes(self.xp, packed)

    def get(self, x: Any) -> np.ndarray[Any, Any]:
        """A device array, or a gpubcast Array, as NumPy array."""
        if isinstance(x, gb.Array):
            return x.numpy()
        if self.kind == "cpu":
            return np.array(x)
        if x.dtype.kind == "c":
            return np.array(self.xp.asnumpy(x))
        # Unsigned integers, so that no kernel of CuPy's touches the values.
        words = self.xp.asnumpy(x.view(f"u{x.dtype.itemsize}"))
        host: np.ndarray[Any, Any] = np.ascontiguousarray(words).view(x.dtype).reshape(x.shape)
        return host

    def address(self, x: Any) -> int:
        """Address of a device array's first element."""
        return int(x.ctypes.data if self.kind == "cpu" else x.data.ptr)


def _from_bytes(cupy: Any, x: np.ndarray[Any, Any]) -> Any:
    words = cupy.asarray(x.view(f"u{x.dtype.itemsize}"))
    return words.view(x.dtype).reshape(x.shape)


def bits(x: NdArray) -> NdArray:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def assert_same(found: NdArray, wanted: NdArray, *, either_zero: bool = False) -> None:
    """The same form and the same bits; any NaN for a NaN."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if found.dtype.kind == "c":
        found, wanted = (np.stack([x.real, x.imag], -1) for x in (found, wanted))
    same = bits(found) == bits(wanted)
    if element_type(found.dtype).is_floating:
        same = same | ((found != found) & (wanted != wanted))
        if either_zero:
            same = same | (found == wanted)
    where = np.argwhere(~same)
    assert not len(where), (
        f"{len(where)} of {found.size} differ, first at {tuple(where[0])}: "
        f"{found[tuple(where[0])]!r}, wanted {wanted[tuple(where[0])]!r}"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On the CPU an eighth of the many cases is a developer's; the others are long tests."""
    names = "test_kernels.py", "test_cases.py"
    on_cpu = [
        item
        for item in items
        if item.path.parent == Path(__file__).parent
        and item.path.name in names
        and not item.get_closest_marker("gpu")
    ]
    for number, item in enumerate(on_cpu):
        if number % 8:
            item.add_marker(pytest.mark.long)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Each device in turn. A fault on the GPU is reported by the test that caused it."""
    if request.param == "cpu":
        yield Place("cpu", np)
        return
    yield from _gpu()


@pytest.fixture
def gpu() -> Iterator[Place]:
    """The CUDA device, for tests marked ``gpu``."""
    yield from _gpu()


def _gpu() -> Iterator[Place]:
    import cupy

    yield Place("cuda", cupy)
    try:
        cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        # The context is gone, and with it every test that would follow in this process.
        pytest.exit(f"the device was lost in this test: {error}", returncode=3)
