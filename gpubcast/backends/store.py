"""Compiled kernels on disk, of any device: one file per key.

A file's name ends in the digest of its contents, which is checked before a file is used; writes
are atomic, a lock keeps two processes from compiling the same kernel, and a folder that another
user owns is refused. A folder that cannot be written is replaced by a private temporary one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpubcast import config
from gpubcast.errors import Error

# Ends of the names of files that are no kernels.
LOCK, PARTIAL = ".lock", ".partial"
# Seconds to wait for another process, and between two questions.
PATIENCE, _TURN = 60.0, 0.005


@dataclass(frozen=True, slots=True)
class Store:
    """The files of one kind.

    Attributes:
        folder: under the cache folder, ``"cubin/sm_90"``.
        suffix: of the files, ``"cubin"``.
    """

    folder: str
    suffix: str

    def stored(self, key: str) -> Path | None:
        """The file of a key if it is there, whole and this user's; nothing is made."""
        place = config.cache_dir() / self.folder
        try:
            own = place.stat().st_uid == os.getuid()
        except OSError:
            return None
        return self._valid(_shelf(place, key), key) if own else None

    def discard(self, path: Path) -> None:
        """Remove a file that turned out to be of no use."""
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def fetch(self, key: str, make: Callable[[], bytes]) -> Path:
        """The file of a key, made and stored if it is missing or damaged.

        A folder that fails meanwhile (a full disk, no locks on a network) is left for a private
        one.

        Raises:
            Error: the cache folder belongs to another user.
        """
        found = self.stored(key)  # also of a folder that cannot be written
        if found is not None:
            return found
        try:
            return self._fetch(_shelf(self._place(), key), key, make)
        except OSError:
            return self._fetch(_shelf(self._private_place(), key), key, make)

    def _fetch(self, shelf: Path, key: str, make: Callable[[], bytes]) -> Path:
        found = self._valid(shelf, key)
        if found is not None:
            return found
        shelf.mkdir(exist_ok=True)
        with _locked(shelf, key):
            return self._valid(shelf, key) or self._store(shelf, key, make())

    def _valid(self, shelf: Path, key: str) -> Path | None:
        for path in self._files(shelf, key):
            try:
                if _digest(path.read_bytes()) == path.name.split(".")[1]:
                    return path
            except OSError:
                continue
        return None

    def _store(self, shelf: Path, key: str, image: bytes) -> Path:
        path = shelf / f"{key}.{_digest(image)}.{self.suffix}"
        handle, name = tempfile.mkstemp(dir=shelf, suffix=PARTIAL)
        partial = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(image)
            partial.replace(path)
        except BaseException:
            self.discard(partial)
            raise
        for stale in self._files(shelf, key):
            if stale != path:
                self.discard(stale)
        return path

    def _files(self, shelf: Path, key: str) -> list[Path]:
        """What is there of a key. A pattern would be compiled anew for each."""
        try:
            names = os.listdir(shelf)
        except OSError:
            return []
        own = (n for n in names if n.startswith(f"{key}.") and n.endswith(f".{self.suffix}"))
        return [shelf / name for name in sorted(own)]

    def _place(self) -> Path:
        place = config.cache_dir() / self.folder
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            owner = place.stat().st_uid
            writable = os.access(place, os.W_OK)
        except OSError:
            return self._private_place()
        if owner != os.getuid():
            raise Error(
                f"the kernel cache {place} belongs to another user (uid {owner}); "
                "set GPUBCAST_CACHE_DIR to a folder of your own"
            )
        if not writable:
            return self._private_place()
        place.chmod(0o700)
        return place

    def _private_place(self) -> Path:
        place = _private_root() / self.folder
        place.mkdir(parents=True, exist_ok=True)
        return place


def _shelf(place: Path, key: str) -> Path:
    """Where a key's file lies: to find one among thousands takes longer than to read it."""
    return place / key[:2]


def _digest(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()[:32]


@contextlib.contextmanager
def _locked(shelf: Path, key: str) -> Iterator[None]:
    """Wait for another process that makes the same kernel. It may have been stopped, so not for
    ever: two that write the same file do no harm."""
    until = time.monotonic() + PATIENCE
    with (shelf / f"{key}{LOCK}").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    break
                time.sleep(_TURN)
        yield


@functools.cache
def _private_root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="gpubcast-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root
