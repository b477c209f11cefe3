"""Arrays of other libraries on a GPU: managed memory, and memory that may not be written.

CuPy's own arrays and the real backend, over a driver that copies in this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import arrays
from gpubcast.array_api import indexing as array_indexing
from gpubcast.array_api import views
from gpubcast.array_methods import indexing
from gpubcast.backends import dlpack_capsule
from gpubcast.runtime import call_cache, native_handover, state
from gpubcast.runtime.operands import strided_of
from tests.support import dlpack_exporters as exporters
from tests.support import fake_gpu

cupy = pytest.importorskip("cupy")
THERE = ("cuda", 1)


class Interface:
    """An exporter of ``__cuda_array_interface__`` alone."""

    def __init__(self, x: Any, *, read_only: bool) -> None:
        self.held = x
        self.__cuda_array_interface__ = {
            "shape": x.shape, "typestr": "<f4", "data": (x.data.ptr, read_only), "version": 3,
            "strides": None,
        }  # fmt: skip


class Half(Interface):
    """One that has DLPack's older half, too, which does not say where the memory is."""

    def __dlpack__(self) -> None:
        raise BufferError("no")


class Both(exporters.Exporter):
    """A capsule without a version, and the interface, which says what the capsule cannot."""

    def __init__(self, words: Any, device: Any, *, read_only: bool) -> None:
        super().__init__(words, exporters.F32[0], device)
        self.__cuda_array_interface__ = {"data": (words.ctypes.data, read_only)}


VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
F32_CODE, HERE = exporters.F32[0], (exporters.CUDA, 0)
WORDS = np.zeros((3, 4), np.float32)
READ_ONLY: dict[str, Callable[[Any], Any]] = {
    "DLPack's flag": lambda x: exporters.Versioned(WORDS, 1, code=F32_CODE, device=HERE),
    "JAX": lambda x: exporters.Jax(WORDS, 0, code=F32_CODE, device=HERE),
    "the interface's flag": lambda x: Interface(x, read_only=True),
    "both": lambda x: Both(WORDS, HERE, read_only=True),
}
WRITABLE: dict[str, Callable[[Any], Any]] = {
    "DLPack's flag": lambda x: exporters.Versioned(WORDS, 0, code=F32_CODE, device=HERE),
    "no version": lambda x: exporters.Exporter(WORDS, F32_CODE, HERE),
    "the interface's flag": lambda x: Interface(x, read_only=False),
    "both": lambda x: Both(WORDS, HERE, read_only=False),
    "half": lambda x: Half(x, read_only=False),
}


class Small(exporters.Versioned):
    """A tensor of f8, as PyTorch and JAX say it."""

    dtype = "torch.float8_e5m2"


def test_f8_of_other_libraries_is_imported(gpu: Any) -> None:
    """CuPy does not know it: it is handed bytes, and given the type afterwards."""
    words = np.zeros((3, 4), np.uint8)
    for given, written in ((Small(words, 0, code=12, device=HERE), False),
                           (Small(words, 0, code=12, device=HERE), True)):  # fmt: skip
        if written:
            found = gb.from_dlpack(given)
        else:
            strided, device = strided_of(given)
            found = arrays.from_strided(strided, device)
        assert found.xla_shape == gb.Shape("f8e5m2", (3, 4)) and found.device == "cuda:0"


def writers(x: Any, out: Any) -> tuple[Callable[[], Any], ...]:
    """Every way to write an array."""
    plan = gb.plan("add", "f32[3,4]", "f32[3,4]")
    fused = gb.fuse(lambda a, b: (a + b, a - b))
    other = cupy.ndarray((3, 4), np.float32, x.data)
    return (
        lambda: gb.add(x, x, out=out), lambda: plan(x, x, out=out),
        lambda: plan.bind(x, x, out=out), lambda: fused(x, x, out=(other, out)),
    )  # fmt: skip


@pytest.mark.parametrize("name", READ_ONLY)
def test_read_only_memory_is_not_written(gpu: Any, name: str) -> None:
    x = gpu.put(VALUES, device=0)
    out = READ_ONLY[name](gpu.put(VALUES, device=0))
    for write in writers(x, out):
        for _ in range(3):
            with pytest.raises(gb.LayoutError, match="out is read-only"):
                write()
    assert not gpu.kernel.noted and not gpu.loaded
    assert gb.add(x, out).shape == (3, 4), "it may be read"


@pytest.mark.parametrize("name", WRITABLE)
def test_memory_that_may_be_written_is(gpu: Any, name: str) -> None:
    x = gpu.put(VALUES, device=0)
    out = WRITABLE[name](gpu.put(VALUES, device=0))
    for write in writers(x, out):
        write()
    assert gb.add(x, x, out=out) is out


@pytest.mark.parametrize("replayed", ["machine code", "python"])
def test_an_imported_array_stays_read_only(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, replayed: str
) -> None:
    """Its views too, and where a call like this one has been recorded; a copy may be written."""
    if replayed == "machine code":
        assert native_handover.process_table() is not None
        monkeypatch.setattr(call_cache, "REPEATS", 0)
        monkeypatch.setattr(state, "repeated", lambda launch: True)
    x = arrays.from_strided(gpu.put(VALUES, device=0), ("cuda", 0))
    alike = arrays.from_strided(gpu.put(VALUES, device=0), ("cuda", 0))
    jax = gb.from_dlpack(exporters.Jax(fake_gpu.aligned(WORDS), 0, code=F32_CODE, device=HERE))
    assert jax.device == "cuda:0"
    for _ in range(20):
        assert gb.add(x, x, out=alike) is alike
        assert gb.add(x, x, out=alike.view()) is not None
        gb.add(jax, x)
    launched = len(gpu.kernel.noted)
    for out in (jax, jax.T.T, jax[:], jax.view(), jax.view()[:]):
        for _ in range(3):
            with pytest.raises(gb.LayoutError, match="out is read-only"):
                gb.add(x, x, out=out)
    assert len(gpu.kernel.noted) == launched
    own = type(jax.view())((3, 4), np.float32)
    assert own.flags.writeable and gb.add(x, x, out=own) is own, "memory that a copy of it has"
    copy = gb.array(jax)
    assert gb.add(x, x, out=copy) is copy
    assert type(gb.add(jax, jax)) is gb.Array and type(gb.add(jax.view(), 1.0)) is cupy.ndarray


def test_a_replayed_operand_may_be_read_only(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call with it is recorded like any other."""
    jax = gb.from_dlpack(exporters.Jax(fake_gpu.aligned(WORDS), 0, code=F32_CODE, device=HERE))
    for _ in range(3):
        gb.add(jax, jax)
    monkeypatch.setattr("gpubcast.runtime.execute.run", lambda *_, **__: pytest.fail("anew"))
    gb.add(jax, jax)


def test_managed_memory_is_cudas(gpu: Any) -> None:
    given = exporters.Versioned(WORDS, 0, code=F32_CODE, device=(exporters.MANAGED, 1))
    assert gb.add(given, given).data.device_id == 1
    assert gb.from_dlpack(given).device == "cuda:1"
    assert gb.add(given, given, out=given) is given
    with pytest.raises(gb.DeviceError, match="DLPack device type 4;"):
        gb.neg(exporters.Exporter(WORDS, F32_CODE, (4, 0)))


class Exporting:
    """Stands for CuPy's view of an array: what it exports, without a driver."""

    def __init__(self, flags: Any) -> None:
        self.flags = flags
        self.__cuda_array_interface__ = {"data": (4096, False)}

    def __dlpack__(self, **keywords: Any) -> Any:
        return WORDS.__dlpack__(max_version=keywords.get("max_version"))


def test_an_array_that_may_not_be_written_says_so_where_it_is_exported(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = arrays.from_strided(gpu.put(VALUES, device=0), ("cuda", 0))
    jax = gb.from_dlpack(exporters.Jax(fake_gpu.aligned(WORDS), 0, code=F32_CODE, device=HERE))
    for x, read_only in ((own, False), (jax, True)):
        exporting = Exporting(x.view().flags)
        with monkeypatch.context() as patch:
            patch.setattr(type(x), "view", mock.Mock(return_value=exporting))
            assert x.__cuda_array_interface__["data"] == (4096, read_only)
            found = dlpack_capsule.described(x.__dlpack__(max_version=(1, 0)))
            assert found is not None and found.read_only is read_only
            copied = dlpack_capsule.described(x.__dlpack__(max_version=(1, 0), copy=True))
            assert copied is not None and not copied.read_only
            if read_only:
                with pytest.raises(gb.ExportError, match="the memory may not be written"):
                    x.__dlpack__()


class Holder:
    """Hands out one capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


def test_a_capsule_says_that_its_memory_may_not_be_written() -> None:
    words = np.zeros(4, np.float32)
    capsule = words.__dlpack__(max_version=(1, 0))
    before = dlpack_capsule.described(capsule)
    assert before is not None and before.read_only is False
    after = dlpack_capsule.described(dlpack_capsule.read_only(capsule))
    assert after is not None and after.read_only is True
    assert not np.from_dlpack(Holder(capsule)).flags.writeable
    with pytest.raises(BufferError, match="which no capsule before version"):
        dlpack_capsule.read_only(words.__dlpack__())


class Elsewhere:
    """Stands for a view on device 1, and for CuPy's functions: notes the current device."""

    flags = SimpleNamespace(c_contiguous=True)
    ndim, shape = 1, (3,)

    def __init__(self, gpu: Any) -> None:
        self.gpu, self.noted = gpu, list[int]()

    def __getitem__(self, key: Any) -> Any:
        self.noted.append(self.gpu.driver.device)
        return self.gpu.put(VALUES, device=1)

    def __call__(self, *given: Any, **keywords: Any) -> Any:
        return self[given]


def test_cupy_computes_on_the_device_of_an_array(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements by index arrays, and what the array API namespace leaves to CuPy."""
    x = arrays.from_strided(gpu.put(VALUES, device=1), THERE)
    seen = Elsewhere(gpu)
    monkeypatch.setattr(type(x), "view", lambda self: seen)
    monkeypatch.setattr(views, "host", lambda x: SimpleNamespace(flip=seen))
    monkeypatch.setattr(indexing, "_within", lambda *_: seen[0])
    assert x[[0, 2]].device == "cuda:1"
    views.call("flip", x)
    array_indexing.get(x, 0)
    assert seen.noted == [1, 1, 1, 1]
    assert gpu.driver.device == 0


def test_a_failing_device_is_no_wrong_index(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = arrays.from_strided(gpu.put(VALUES, device=1), THERE)
    lost = gb.DeviceError("the device is lost")
    monkeypatch.setattr(state.backend("cuda"), "on", mock.Mock(side_effect=lost))
    with pytest.raises(gb.DeviceError, match="the device is lost"):
        x[[0]]


def test_jax_copies_an_array_that_may_not_be_written(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for a capsule that cannot say so."""
    given = exporters.Jax(fake_gpu.aligned(WORDS), 0, code=F32_CODE, device=HERE)
    x = gb.from_dlpack(given)
    stand_in = SimpleNamespace(dlpack=SimpleNamespace(from_dlpack=lambda array: array))
    monkeypatch.setitem(sys.modules, "jax", stand_in)
    found = x.__jax_array__()
    assert found.xla_shape == x.xla_shape and len(gpu.kernel.noted) == 1
    assert found.view().data.ptr != x.view().data.ptr
    assert gb.add(x, x, out=found) is found, "it may be written"
