"""Compiled kernels on disk: many processes, damage, other compilers, folders that fail."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.backends import kernel_files, kernel_store
from gpubcast.backends.cuda import cubins, nvrtc
from gpubcast.backends.kernel_store import Store
from gpubcast.cli import cache as cli_cache

KERNEL = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'
CUBINS = Store("cubin/sm_90", "cubin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other test's warning has been told, and none of these is told later."""
    monkeypatch.setattr(kernel_store, "_NOTICES", kernel_store._Notices())


def file_of(folder: Path, key: str) -> Path:
    (found,) = folder.rglob(f"{key}.*.cubin")
    return found


def files(folder: Path) -> list[str]:
    """Every file, without its digest; locks left out."""
    found = (
        path for path in folder.rglob("*") if path.is_file() and path.suffix != kernel_files.LOCK
    )
    return sorted(".".join((path.name.split(".")[0], path.suffix[1:])) for path in found)


@pytest.mark.parametrize("damage", ["truncated", "empty", "longer", "other", "unreadable"])
def test_damage_is_repaired(folder: Path, damage: str) -> None:
    image = bytes(range(256)) * 20
    CUBINS.fetch("abcd", lambda: image)
    path = file_of(folder, "abcd")
    path.write_bytes(
        {"truncated": image[:-7], "empty": b"", "longer": image + b"\0", "other": image[::-1],
         "unreadable": image}[damage]
    )  # fmt: skip
    if damage == "unreadable":
        path.unlink()
        path.mkdir()  # whatever it is, it is no file
        (path / "inside").touch()
    assert CUBINS.found("abcd") is None
    assert CUBINS.fetch("abcd", lambda: image) == image
    if damage != "unreadable":
        assert (files(folder), CUBINS.found("abcd")) == (["abcd.cubin"], image)


def test_another_image_of_a_key_takes_its_place(folder: Path) -> None:
    CUBINS.fetch("abcd", lambda: b"first")
    first = file_of(folder, "abcd")
    first.write_bytes(b"damaged")
    assert CUBINS.fetch("abcd", lambda: b"second") == b"second"
    assert (first.exists(), files(folder)) == (False, ["abcd.cubin"])


def test_keys_that_begin_alike_are_told_apart(folder: Path) -> None:
    for key in ("abcd", "abce", "ab"):
        CUBINS.fetch(key, key.encode)
    assert [CUBINS.fetch(key, bytes) for key in ("abcd", "abce", "ab")] == [b"abcd", b"abce", b"ab"]


def test_contents_of_another_key_are_not_used(folder: Path) -> None:
    """The digest in a file's name covers the key: a valid file does not serve another kernel."""
    for key in ("abcd", "abce"):
        CUBINS.fetch(key, key.encode)
    wrong = file_of(folder, "abcd")
    right = file_of(folder, "abce")
    right.rename(right.with_name(f"abce.{wrong.name.split('.', 1)[1]}"))
    wrong.rename(right.with_name(f"abce.{wrong.name.split('.', 1)[1]}"))
    assert CUBINS.found("abce") is None


@pytest.mark.parametrize("made", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_is_not_opened_for_ever(folder: Path, made: Any) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    path = file_of(folder, "abcd")
    lock = path.with_name(f"abcd{kernel_files.LOCK}")
    for one in (path, lock):
        one.unlink()
        made(one)
    assert CUBINS.found("abcd") is None
    assert CUBINS.fetch("abcd", lambda: b"image") == b"image"


def refused(folder: Path) -> str:
    """The one warning about a folder where nothing is used and nothing stored."""
    before = {path: path.lstat().st_mode for path in folder.rglob("*")}
    assert CUBINS.found("abcd") is None
    for _ in range(2):
        assert CUBINS.fetch("abcd", lambda: b"made anew") == b"made anew"
    with pytest.warns(gb.CacheWarning) as told:
        kernel_store.warn()
        kernel_store.warn()
    assert {path: path.lstat().st_mode for path in folder.rglob("*")} == before
    warning = told.pop()
    assert warning.filename == __file__  # the first line that is not gpubcast's
    return str(warning.message)


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o1702])
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, level: int, mode: int) -> None:
    """Neither of its kernels nor for new ones, and its mode is not ours to change."""
    CUBINS.fetch("abcd", lambda: b"image")
    path = [*reversed(folder.parents[:2]), folder, folder / "ab"][level]
    path.chmod(mode)
    assert f"others may write to {path}" in refused(folder)


def test_a_file_that_others_may_write_to_is_not_used(folder: Path) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    file_of(folder, "abcd").chmod(0o666)
    assert CUBINS.found("abcd") is None


@pytest.mark.parametrize("level", range(3))
def test_a_link_below_the_cache_folder_is_not_followed(
    folder: Path, level: int, tmp_path: Path
) -> None:
    """Whose folder it leads to does not matter."""
    CUBINS.fetch("abcd", lambda: b"image")
    path = [folder.parent, folder, folder / "ab"][level]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    refused(folder.parents[1])


def test_the_cache_folder_itself_may_be_a_link_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "link"))
    CUBINS.fetch("abcd", lambda: b"image")
    assert CUBINS.found("abcd") == b"image"


def test_what_another_user_has_written_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert CUBINS.found("abcd") is None
    with pytest.raises(gb.Error, match=r"belongs to another user \(uid \d+\); set GPUBCAST_CACHE"):
        CUBINS.fetch("abcd", lambda: b"image")


def test_a_file_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    status = os.fstat

    def foreign(descriptor: int) -> Any:
        found = status(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return found
        return os.stat_result((*found[:4], 12345, *found[5:10]))

    monkeypatch.setattr(os, "fstat", foreign)
    assert CUBINS.found("abcd") is None


def test_folders_are_ones_own_whatever_the_mask(folder: Path) -> None:
    before = os.umask(0)
    try:
        CUBINS.fetch("abcd", lambda: b"image")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder.parents[1]).rglob("*")}
    assert modes == {0o700, 0o600}
    assert CUBINS.found("abcd") == b"image"


# --- what cannot be stored is used ---------------------------------------------------------------


def failing(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["os.mkdir", "os.replace", "os.open"])
def test_a_disk_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """The kernel is used all the same, nothing is left, and the next one is stored again."""
    with monkeypatch.context() as patched:
        patched.setattr(call, failing)
        assert CUBINS.fetch("full", lambda: b"image") == b"image"
    assert files(folder) == []
    with pytest.warns(gb.CacheWarning, match="No space left on device"):
        kernel_store.warn()
    CUBINS.fetch("full", lambda: b"image")
    assert CUBINS.found("full") == b"image"


def test_what_a_read_only_folder_has_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an image was built with ``gpubcast cache warm``."""
    CUBINS.fetch("abcd", lambda: b"image")
    open_ = os.open

    def read_only(path: Any, flags: int, *rest: Any, **keywords: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(30, "Read-only file system")
        return open_(path, flags, *rest, **keywords)

    monkeypatch.setattr(os, "open", read_only)
    assert CUBINS.fetch("abcd", bytes) == b"image"
    assert CUBINS.fetch("abce", lambda: b"other") == b"other"


def test_a_compiler_that_fails_is_heard_and_leaves_nothing(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CUBINS.fetch("abcd", lambda: Path("/nowhere/tool").read_bytes())
    assert (files(folder), kernel_store._NOTICES.reason) == ([], None)


def test_no_descriptor_is_left_open(folder: Path) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    (folder / "ac").symlink_to(folder / "ab")
    before = len(os.listdir("/proc/self/fd"))
    for key in ("abcd", "acde", "adde"):
        CUBINS.found(key)
        CUBINS.fetch(key, lambda: b"image")
    assert len(os.listdir("/proc/self/fd")) == before


# --- the files of the cache ----------------------------------------------------------------------


def used(folder: Path, key: str, hours: float) -> None:
    moment = time.time() - 3600 * hours
    os.utime(file_of(folder, key), (moment, moment))


def test_what_was_not_used_for_longest_goes_first(folder: Path) -> None:
    for hours, key in enumerate(("aa01", "aa02", "bb03", "bb04")):
        CUBINS.fetch(key, lambda: bytes(1000))
        used(folder, key, 10 + hours)
    assert CUBINS.found("bb04") is not None  # used now
    kernel_files.evict(str(folder.parents[1]), 4000)
    assert len(files(folder)) == 4
    kernel_files.evict(str(folder.parents[1]), 3000)
    assert files(folder) == ["aa01.cubin", "bb04.cubin"]
    assert not list(folder.rglob("bb03*")) and list(folder.rglob("aa01.lock"))


def test_storing_keeps_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_SIZE", "10000")
    monkeypatch.setattr(kernel_store, "EVICTION_INTERVAL", 4)
    for number in range(40):
        CUBINS.fetch(f"{number:04x}", lambda: bytes(1000))
        assert len(files(folder)) <= 13
    assert CUBINS.found("0027") is not None


def test_a_file_that_was_left_unfinished_goes(folder: Path) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    partial = folder / "ab" / f"abcd.1-1{kernel_files.PARTIAL}"
    partial.touch()
    kernel_files.evict(str(folder.parents[1]), 1 << 30)
    assert partial.exists()  # it may be written now
    os.utime(partial, (1, 1))
    kernel_files.evict(str(folder.parents[1]), 1 << 30)
    assert not partial.exists()


def test_clear_removes_ours_alone(folder: Path, tmp_path: Path) -> None:
    CUBINS.fetch("abcd", lambda: b"image")
    (folder / "ab" / f"abcd.7-7{kernel_files.PARTIAL}").write_bytes(b"half")
    outside = tmp_path / "outside"
    foreign = [
        *(folder / "ab" / name for name in ("poetry.lock", "main.cubin", "abcd.o")),
        folder.parent / "project" / "Cargo.lock",
        folder / "src" / "abcd.lock",
        outside / "ab" / f"abcd.{'0' * 40}.cubin",
    ]
    for path in foreign:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("precious")
    (folder / "ac").symlink_to(outside / "ab")
    (folder.parent / "sm_80").symlink_to(outside)
    removed = cli_cache.clear("cuda")
    assert (removed.kernels, removed.num_bytes) == (1, 5)
    assert all(path.read_text() == "precious" for path in foreign)
    links = folder / "ac", folder.parent / "sm_80"
    left = (*foreign[:3], *(path.parent for path in foreign[3:5]), *links)
    assert sorted(map(str, left)) == list(removed.left)
    assert [one.name for one in (folder / "ab").iterdir() if one not in foreign] == []
    again = cli_cache.clear()
    assert (cli_cache.cached(), again.kernels, again.num_bytes) == ((), 0, 0)


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
