"""The CUDA backend as far as a machine without a GPU can prove: NVRTC, headers, cubin cache."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends import kernel_store
from gpubcast.backends.cuda import cubins, driver, headers, nvrtc
from gpubcast.codegen.source import KernelSource
from tests.conftest import why_no_gpu
from tests.support import fake_gpu

# Its first import starts a process, which a test may not.
with contextlib.suppress(ImportError):
    import cupy  # noqa: F401

KERNEL = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(gb.CompileError, match=r"sm_42.*it knows sm_"):
        nvrtc.compile_cubin(KERNEL, "sm_42")


def test_a_missing_nvrtc_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["/nowhere/libnvrtc.so.13"]))
    with pytest.raises(gb.CompileError, match="pip install"):
        nvrtc.library.__wrapped__()


def test_headers_are_found_and_enter_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"prelude.cuh", "flat.cuh", "rows.cuh", "gather.cuh"} <= set(headers.texts())
    before = cubins.key(KERNEL, "sm_90")
    assert cubins.key(KERNEL, "sm_80") != before
    assert cubins.key(KERNEL + " ", "sm_90") != before
    monkeypatch.setattr(headers, "headers_digest", lambda: "changed")
    assert cubins.key(KERNEL, "sm_90") != before


def test_a_cache_folder_that_is_a_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(kernel_store, "_NOTICES", kernel_store._Notices())
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "file"))
    assert cubins.cubins("sm_90").fetch("key", lambda: b"image") == b"image"


def test_no_device_is_a_device_error() -> None:
    if why_no_gpu() is None:
        pytest.skip("this machine has a GPU")
    for call in (
        lambda: gb.array(np.ones(2), device="cuda"),
        lambda: gb.empty("f32[2]", device="cuda:1"),
        lambda: gb.empty("f64[2]").to_device("cuda"),
    ):
        with pytest.raises(gb.DeviceError, match="no CUDA device"):
            call()


def test_without_cupy_the_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from gpubcast.runtime import state

    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "gpubcast.backends.cuda.backend", raising=False)
    with pytest.raises(gb.DeviceError, match=r"pip install 'cupy-cuda13x\[ctk\]'"):
        state.backend("cuda")


# --- which NVRTC, and for which architecture ------------------------------------------------------


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheels of both major versions beside each other, and a toolkit."""
    for folder, major in (("cu13", 13), ("cuda_nvrtc", 12)):
        (tmp_path / folder / "lib").mkdir(parents=True)
        (tmp_path / folder / "lib" / f"libnvrtc.so.{major}").write_bytes(b"")
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(nvrtc, "find_spec", lambda name: spec)
    monkeypatch.setenv("CUDA_PATH", "/toolkit")


@pytest.mark.parametrize(
    ("running", "majors"),
    [
        (None, [13, 12, 13, 12]),
        ((13, 0), [13, 12, 13, 12]),
        ((14, 1), [13, 12, 13, 12]),
        ((12, 8), [12, 12, 13, 13]),
        ((11, 8), [12, 13, 12, 13]),
    ],
    ids=str,
)
def test_the_driver_says_which_nvrtc_is_taken(
    wheels: None,
    monkeypatch: pytest.MonkeyPatch,
    running: tuple[int, int] | None,
    majors: list[int],
) -> None:
    """It loads what compilers of its own major version and older ones make; wheels come first."""
    monkeypatch.setattr(driver, "version", lambda: running)
    found = [path for path in nvrtc._candidates() if not path.startswith(("lib", "/usr"))]
    assert [int(path.rpartition(".")[2]) for path in found] == majors
    toolkit = [path.startswith("/toolkit") for path in found]
    assert toolkit == (
        [False, True] * 2 if majors == [12, 12, 13, 13] else [False] * 2 + [True] * 2
    )


def test_what_nvrtc_opens_by_name_is_loaded_from_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheels of CUDA 13.0 do not say where it is."""
    library, builtins = (
        tmp_path / f"lib{name}" for name in ("nvrtc.so.13", "nvrtc-builtins.so.13.0")
    )
    builtins.touch()
    (tmp_path / "libnvrtc-builtins.alt.so.13.0").touch()
    real, loaded = nvrtc.library(), list[str]()
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter([str(library)]))
    monkeypatch.setattr(ctypes, "CDLL", lambda path: loaded.append(path) or real)
    nvrtc.library.__wrapped__()
    assert loaded == [str(library), str(builtins)]


def test_the_drivers_version_does_not_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is forked after the driver was started cannot use it."""

    class Library:
        def cuDriverGetVersion(self, number: object) -> int:
            ctypes.cast(number, ctypes.POINTER(ctypes.c_int))[0] = 12080  # type: ignore[call-overload]
            return 0

        def cuInit(self, flags: int) -> int:
            raise AssertionError("it is started")

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    assert driver.version.__wrapped__() == (12, 8)


@pytest.mark.parametrize(
    ("arch", "made"),
    [
        ("sm_90", "sm_90"),
        ("sm_89", "sm_86"),
        ("sm_103", "sm_100"),
        ("sm_88", "compute_86"),
        ("sm_110", "compute_100"),
        ("sm_111", "compute_100"),
        ("sm_121", "compute_100"),
        ("sm_78", "sm_75"),
        ("sm_72", None),
        ("sm_90a", None),
    ],
)
def test_what_a_gpu_runs_where_nvrtc_does_not_know_it(
    monkeypatch: pytest.MonkeyPatch, arch: str, made: str | None
) -> None:
    """The nearest lower cubin of its major number, but none of an integrated GPU; else PTX."""
    known = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_90", "sm_100", "sm_101")
    monkeypatch.setattr(nvrtc, "architectures", lambda: known)
    if made is None:
        with pytest.raises(gb.CompileError, match=rf"cannot compile for {arch}; it knows sm_75"):
            nvrtc.compiled_for(arch)
    else:
        assert nvrtc.compiled_for(arch) == made


def test_an_integrated_gpu_runs_no_other_ones_cubin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "architectures", lambda: ("sm_80", "sm_86"))
    assert (nvrtc.compiled_for("sm_87"), nvrtc.compiled_for("sm_89")) == ("compute_86", "sm_86")


@pytest.mark.parametrize(("status", "made"), [(209, (13, 5)), (222, (12, 4)), (700, (13, 5))])
def test_code_that_the_driver_does_not_load(
    monkeypatch: pytest.MonkeyPatch, status: int, made: tuple[int, int]
) -> None:
    cupy = pytest.importorskip("cupy")
    refusal = cupy.cuda.driver.CUDADriverError.__new__(cupy.cuda.driver.CUDADriverError, "refused")
    refusal.status = status

    class Module:
        def load(self, image: bytes) -> None:
            raise refusal

    monkeypatch.setattr(driver, "version", lambda: (12, 4))
    monkeypatch.setattr(nvrtc, "version", lambda: made)
    with fake_gpu.gpu():
        from gpubcast.backends.cuda import backend

        monkeypatch.setattr(cubins, "cubin", lambda *_: b"image")
        monkeypatch.setattr(cupy.cuda.function, "Module", Module)
        source = KernelSource("entry", "text", "key")
        with pytest.raises(gb.Error, match="CUDA: refused") as found:
            backend.CupyBackend().load(source)
    if status == 700:
        assert isinstance(found.value, gb.DeviceError)
    else:
        assert isinstance(found.value, gb.CompileError) and found.value.source == "text"
        newer = "13.5 is for a newer driver than this one, which runs CUDA up to 12.4"
        assert (newer in str(found.value)) == (made > (12, 4))
        assert "nvidia-cuda-nvrtc-cu12" in str(found.value) or "gpubcast doctor" in str(found.value)
