"""NVRTC's machine code, and the files it is kept in."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import gpubcast as gb
from gpubcast.backends.cuda import cubins, nvrtc

KERNEL = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


def test_a_refused_source_shows_numbered_lines_and_log() -> None:
    with pytest.raises(gb.CompileError) as caught:
        nvrtc.compile_cubin(KERNEL + "\nint x = ;", "sm_90")
    error = caught.value
    assert "   2 | int x = ;" in str(error)
    assert "expected an expression" in error.log and "int x = ;" in error.source
    assert "-fmad=false" in error.options and "-ftz=false" in error.options


def test_a_cubin_is_made_once_and_loads_as_elf(folder: Path, monkeypatch) -> None:
    image = cubins.cubin(KERNEL, "sm_90")
    assert image[:4] == b"\x7fELF" and len(list(folder.rglob("*.cubin"))) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(nvrtc, "compile_cubin", lambda *a: pytest.fail("compiled again"))
    assert cubins.cubin(KERNEL, "sm_90") == image


def test_a_failed_compilation_leaves_nothing(folder: Path) -> None:
    with pytest.raises(gb.CompileError):
        cubins.cubin("not C", "sm_90")
    assert not list(folder.rglob("*.cubin"))
