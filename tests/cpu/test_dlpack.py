"""bf16 tensors of host memory, which NumPy's own DLPack import refuses, without another library."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import dlpack
from tests.support.dlpack_exporters import Exporter, Jax, Old, Tensor, Versioned


@pytest.mark.parametrize("refusal", [RuntimeError, BufferError])
def test_bf16_elements_are_shared(monkeypatch: pytest.MonkeyPatch, refusal: Any) -> None:
    """Whatever the NumPy at hand raises; it is BufferError from 2.5 on."""

    def refuse(_: Any) -> None:
        raise refusal("Unsupported dtype in DLTensor.")

    monkeypatch.setattr(np, "from_dlpack", refuse)
    values = np.arange(12, dtype=np.float32).reshape(3, 4).astype(ml_dtypes.bfloat16)
    source = Exporter(values.view(np.uint16).T, 4)
    found = dlpack.adopt(source)
    assert found.dtype == ml_dtypes.bfloat16 and np.shares_memory(found, values)
    np.testing.assert_array_equal(found, values.T)
    np.testing.assert_array_equal(gb.add(source, values.T), values.T + values.T)


def test_the_capsule_lives_as_long_as_the_array() -> None:
    class Capsule:
        pass

    values = np.ones(4, np.uint16)
    capsule = Capsule()
    alive = weakref.ref(capsule)
    tensor = Exporter(values, 4).managed.tensor
    array = np.asarray(dlpack._TensorMemory(capsule, tensor, read_only=True))[1:]
    del capsule
    gc.collect()
    assert alive() is not None
    del array
    gc.collect()
    assert alive() is None


def test_other_unknown_types_are_refused() -> None:
    with pytest.raises(gb.ElementTypeError, match="no array of numbers"):
        gb.neg(Exporter(np.ones(4, np.uint16), 9))


@pytest.mark.parametrize(
    ("exporter", "writable"),
    [
        (lambda words: Exporter(words, 4), False),
        (lambda words: Old(words, 4), False),
        (lambda words: Tensor(words, 4), True),
        (lambda words: Versioned(words, 0), True),
        (lambda words: Versioned(words, 1), False),
        (lambda words: Jax(words, 0), False),
    ],
    ids=["no version", "old", "PyTorch", "writable", "read-only", "JAX"],
)
def test_only_what_may_be_written_is(exporter: Any, writable: bool) -> None:
    """An array of JAX's is immutable, whether its capsule has a version or not."""
    words = np.zeros(3, np.uint16)
    given, ones = exporter(words), np.ones(3, ml_dtypes.bfloat16)
    for _ in range(40):
        if writable:
            assert gb.add(ones, ones, out=given) is given
        else:
            with pytest.raises(gb.LayoutError, match="read-only"):
                gb.add(ones, ones, out=given)
    expected = np.full(3, 2 if writable else 0, ml_dtypes.bfloat16)
    np.testing.assert_array_equal(words.view(ml_dtypes.bfloat16), expected)
    np.testing.assert_array_equal(gb.neg(given), -expected)


def test_tensors_that_are_none() -> None:
    for change in ({"ndim": -1}, {"ndim": 1 << 20}, {"shape": None}, {"data": None}):
        source = Exporter(np.ones(4, np.uint16), 4)
        for name, value in change.items():
            setattr(source.managed.tensor, name, value)
        with pytest.raises(gb.ElementTypeError, match="no array of numbers"):
            gb.neg(source)
    source = Exporter(np.ones(4, np.uint16), 4)
    source.shape[0] = -4
    with pytest.raises(gb.ElementTypeError, match="no array of numbers"):
        gb.neg(source)
    with pytest.raises(gb.ElementTypeError, match="no array of numbers"):
        gb.neg(Versioned(np.ones(4, np.uint16), 0, major=2))


def test_reversed_views_do_not_leave() -> None:
    """PyTorch ends the process where it is shown one."""
    array = gb.array(np.arange(6, dtype="f4").reshape(2, 3))
    for view in (array[::-1], array[:, ::-1], array[::-1].T):
        with pytest.raises(gb.ExportError) as found:
            view.__dlpack__()
        assert isinstance(found.value, BufferError)
        packed = np.from_dlpack(view.with_layout(view.layout))
        np.testing.assert_array_equal(packed, view.numpy())
    np.testing.assert_array_equal(np.from_dlpack(array[1:]), array.numpy()[1:])
