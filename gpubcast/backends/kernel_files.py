"""The files of the cache of compiled kernels: which are ours, and which go when there are too many.

Only files are named here that have the form of our names, in folders that have it, too; no symbolic
link is followed. Everything else in a cache folder is somebody else's.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

# Ends of the names of files that are no kernels.
LOCK, PARTIAL = ".lock", ".partial"
# Per device, its folder and the suffix of its kernels.
FOLDERS = {"cpu": ("cpu", "o"), "cuda": ("cubin", "cubin")}
# Seconds after which a file that is being written has been left unfinished.
_ABANDONED = 3600.0
# The part of the limit that is left after an eviction, so that the next one is not due at once.
_REST = 0.9


class Untrusted(OSError):
    """A folder or a file that somebody else may have written."""


class ForeignOwner(Untrusted):
    """One that belongs to another user."""

    def __init__(self, path: str, owner: int) -> None:
        super().__init__(None, f"{path} belongs to another user (uid {owner})", path)
        self.owner = owner


def check_owner(status: os.stat_result, path: str) -> None:
    if status.st_uid != os.geteuid():
        raise ForeignOwner(path, status.st_uid)


def check_trusted(status: os.stat_result, path: str) -> None:
    """Refuse what somebody else may have written.

    Raises:
        OSError: another user owns it, or may write to it.
    """
    check_owner(status, path)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(status.st_mode)
        raise Untrusted(
            None, f"others may write to {path} (mode {mode:o}); chmod go-w would make it yours"
        )


class Patterns(NamedTuple):
    """The forms of our names: of a folder with files, and in it of kernels, of locks and unfinished
    files, and of measurements, which are small and stay."""

    folder: re.Pattern[str]
    kernel: re.Pattern[str]
    unfinished: re.Pattern[str]
    measurement: re.Pattern[str]


@functools.cache
def _patterns(device: str) -> Patterns:
    key, digest = "[0-9a-f]{2,40}", "[0-9a-f]{40}"
    lock, partial = re.escape(LOCK), re.escape(PARTIAL)
    return Patterns(
        re.compile("[0-9a-f]{2}"),
        re.compile(rf"{key}\.{digest}\.{FOLDERS[device][1]}"),
        re.compile(rf"{key}({lock}|\.[0-9a-z_-]+{partial})"),
        re.compile(rf"{key}\.{digest}\.streaming"),
    )


class Entry(NamedTuple):
    """One file of ours.

    Attributes:
        path: of the file.
        device, arch: whose kernel it is.
        is_kernel: a kernel, and no lock or unfinished file beside one.
        num_bytes: on disk.
        used: when it was used last, in seconds since the epoch.
    """

    path: str
    device: str
    arch: str
    is_kernel: bool
    num_bytes: int
    used: float


def entries(root: str, device: str | None = None) -> Iterator[Entry]:
    """Every kernel of a cache folder, and every lock and unfinished file beside one.

    Args:
        root: the cache folder; it need not exist.
        device: ``"cpu"`` or ``"cuda"``; None for both.
    """
    for one, arch, prefix in _folders(root, device):
        forms = _patterns(one)
        for file in _listed(prefix.path):
            is_kernel = bool(forms.kernel.fullmatch(file.name))
            ours = is_kernel or forms.unfinished.fullmatch(file.name)
            if not ours or not file.name.startswith(prefix.name):
                continue
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    size, used = status.st_size, status.st_mtime
                    yield Entry(file.path, one, arch.name, is_kernel, size, used)


def others(root: str, device: str | None = None) -> list[str]:
    """Every path in the folders of devices that is not ours, the topmost of each tree."""
    known = {entry.path for entry in entries(root, device)}
    folders = [(arch.path, prefix.path) for _, arch, prefix in _folders(root, device)]
    ours = {path for pair in folders for path in pair}
    found = []
    for one in FOLDERS if device is None else (device,):
        pending = [os.path.join(root, FOLDERS[one][0])]
        measurement = _patterns(one).measurement
        while pending:
            for item in _listed(pending.pop()):
                if item.path in ours:
                    pending.append(item.path)
                elif item.path not in known and not measurement.fullmatch(item.name):
                    found.append(item.path)
    return sorted(found)


def remove_empty_folders(root: str, device: str | None = None) -> None:
    """Remove the folders of kernels in which nothing is left, and those of architectures."""
    for one in FOLDERS if device is None else (device,):
        top = os.path.join(root, FOLDERS[one][0])
        for arch in _listed(top):
            if arch.is_dir(follow_symlinks=False):
                for prefix in _listed(arch.path):
                    is_ours = _patterns(one).folder.fullmatch(prefix.name)
                    if is_ours and prefix.is_dir(follow_symlinks=False):
                        _remove_if_empty(prefix.path)
                _remove_if_empty(arch.path)
        if not os.path.islink(top):
            _remove_if_empty(top)


def _remove_if_empty(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def refusal(root: str) -> str | None:
    """Why the kernels of a cache folder, or some of them, are not used; None where they are."""
    folders = [root]
    for _, arch, prefix in _folders(root, None):
        folders += [os.path.dirname(arch.path), arch.path, prefix.path]
    for path in dict.fromkeys(folders):
        try:
            check_trusted(os.lstat(path), path)
        except OSError as error:
            return str(error.strerror)
    return None


def evict(root: str, limit: int) -> None:
    """Remove the kernels that were not used for the longest time until a cache folder takes less
    than ``limit`` bytes, and files that were left unfinished.

    Several processes, and several versions of gpubcast, may do so at once. A kernel that is removed
    while it is in use stays in memory.
    """
    now, kernels = time.time(), []
    for entry in entries(root):
        if entry.is_kernel:
            kernels.append(entry)
        elif entry.path.endswith(PARTIAL) and now - entry.used > _ABANDONED:
            _remove(entry.path)
    total = sum(entry.num_bytes for entry in kernels)
    if total <= limit:
        return
    for entry in sorted(kernels, key=lambda entry: entry.used):
        if total <= _REST * limit:
            break
        total -= entry.num_bytes
        _remove(entry.path)
        _remove(entry.path.rsplit(".", 2)[0] + LOCK)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _folders(
    root: str, device: str | None
) -> Iterator[tuple[str, os.DirEntry[str], os.DirEntry[str]]]:
    """Per folder with files: the device, the folder of the architecture, and the folder."""
    for one in FOLDERS if device is None else (device,):
        for arch in _listed(os.path.join(root, FOLDERS[one][0])):
            for prefix in _listed(arch.path) if arch.is_dir(follow_symlinks=False) else ():
                is_ours = _patterns(one).folder.fullmatch(prefix.name)
                if is_ours and prefix.is_dir(follow_symlinks=False):
                    yield one, arch, prefix


def _listed(folder: str) -> list[os.DirEntry[str]]:
    if os.path.islink(folder):
        return []
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda item: item.name)
    except OSError:
        return []
