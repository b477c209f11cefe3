"""Compiled kernels on disk: many processes, damage, other compilers, folders that fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpubcast.backends import kernel_store
from gpubcast.backends.cuda import cubins, nvrtc
from gpubcast.backends.kernel_store import Store
from gpubcast.cli import cache as cli_cache

KERNEL = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'
CUBINS = Store("cubin/sm_90", "cubin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


def files(folder: Path) -> list[str]:
    """Every file, without its digest; locks left out."""
    found = (
        path for path in folder.rglob("*") if path.is_file() and path.suffix != kernel_store.LOCK
    )
    return sorted(".".join((path.name.split(".")[0], path.suffix[1:])) for path in found)


@pytest.mark.parametrize("damage", ["truncated", "empty", "longer", "other", "unreadable"])
def test_damage_is_repaired(folder: Path, damage: str) -> None:
    image = bytes(range(256)) * 20
    path = CUBINS.fetch("abcd", lambda: image)
    path.write_bytes(
        {"truncated": image[:-7], "empty": b"", "longer": image + b"\0", "other": image[::-1],
         "unreadable": image}[damage]
    )  # fmt: skip
    if damage == "unreadable":
        path.unlink()
        path.mkdir()  # whatever it is, it is no file
        (path / "inside").touch()
    assert CUBINS.stored("abcd") is None
    found = CUBINS.fetch("abcd", lambda: image)
    assert found.read_bytes() == image
    assert damage == "unreadable" or files(folder) == ["abcd.cubin"]


def test_another_image_of_a_key_takes_its_place(folder: Path) -> None:
    first = CUBINS.fetch("abcd", lambda: b"first")
    first.write_bytes(b"damaged")
    second = CUBINS.fetch("abcd", lambda: b"second")
    assert (first.exists(), second.read_bytes()) == (False, b"second")


def test_keys_that_begin_alike_are_kept_apart(folder: Path) -> None:
    for key in ("abcd", "abce", "ab"):
        CUBINS.fetch(key, key.encode)
    assert [CUBINS.fetch(key, bytes).read_bytes() for key in ("abcd", "abce", "ab")] == [
        b"abcd", b"abce", b"ab"
    ]  # fmt: skip


def test_a_disk_that_is_full_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is used all the same, from a private folder."""
    replace = os.replace

    def full(partial: str, target: str) -> None:
        if folder in Path(target).parents:
            raise OSError(28, "No space left on device")
        replace(partial, target)

    monkeypatch.setattr(os, "replace", full)
    found = CUBINS.fetch("full", lambda: b"image")
    assert (found.read_bytes(), folder in found.parents, files(folder)) == (b"image", False, [])


def test_what_a_read_only_folder_has_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an image was built with ``gpubcast cache warm``; the rest goes into another."""
    path = CUBINS.fetch("abcd", lambda: b"image")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert CUBINS.fetch("abcd", bytes) == path
    other = CUBINS.fetch("abce", lambda: b"other")
    assert (other.read_bytes(), folder in other.parents) == (b"other", False)


def test_what_another_user_has_written_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert CUBINS.stored("abcd") is None


def test_clear_removes_what_was_left_unfinished(folder: Path) -> None:
    path = CUBINS.fetch("abcd", lambda: b"image")
    (path.parent / f"left{kernel_store.PARTIAL}").write_bytes(b"half")
    assert cli_cache.clear("cuda") == (1, 5)
    assert [one for one in folder.rglob("*") if one.is_file()] == []
    (path.parent / f"left{kernel_store.PARTIAL}").write_bytes(b"half")
    assert (cli_cache.cached(), cli_cache.clear()) == ((), (0, 0))
    assert [one for one in folder.rglob("*") if one.is_file()] == []


# --- the compiler's part of a key ----------------------------------------------------------------


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files that stand for two releases of NVRTC; the first is what is found."""
    made = []
    for release in (b"one", b"two"):
        path = tmp_path / f"libnvrtc-{release.decode()}.so.13"
        path.write_bytes(b"\x7fELF" + release + bytes(10_000))
        made.append(path)
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(map(str, made)))
    nvrtc.identity.cache_clear()
    yield made
    nvrtc.identity.cache_clear()


def test_another_nvrtc_has_other_files(libraries: list[Path], folder: Path) -> None:
    """A cubin of one release is never taken for another's, and comes back with it."""
    first = cubins.key(KERNEL, "sm_90")
    libraries.reverse()
    nvrtc.identity.cache_clear()
    second = cubins.key(KERNEL, "sm_90")
    libraries.reverse()
    nvrtc.identity.cache_clear()
    assert (first != second, cubins.key(KERNEL, "sm_90")) == (True, first)


def test_a_copy_of_an_nvrtc_is_the_same(libraries: list[Path]) -> None:
    """As in two environments: what one compiled serves the other."""
    first = nvrtc.identity()
    copy = libraries[1].with_name("copy.so.13")
    copy.write_bytes(libraries[0].read_bytes())
    libraries.insert(0, copy)
    nvrtc.identity.cache_clear()
    assert nvrtc.identity() == first


def test_an_nvrtc_that_the_system_finds_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["libnvrtc.so.13"]))
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 7))
    nvrtc.identity.cache_clear()
    try:
        assert nvrtc.identity() == "13.7"
    finally:
        nvrtc.identity.cache_clear()
