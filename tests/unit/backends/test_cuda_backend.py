"""The CUDA backend as far as a machine without a GPU can prove: NVRTC, headers, cubin cache."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends import kernel_store
from gpubcast.backends.cuda import cubins, headers, nvrtc
from tests.conftest import why_no_gpu

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
