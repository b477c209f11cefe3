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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpubcast import config
from gpubcast.errors import Error


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
        """The file of a key if it is there and whole; nothing is made."""
        return self._valid(config.cache_dir() / self.folder, key)

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
        try:
            return self._fetch(self._place(), key, make)
        except OSError:
            return self._fetch(self._private_place(), key, make)

    def _fetch(self, place: Path, key: str, make: Callable[[], bytes]) -> Path:
        found = self._valid(place, key)
        if found is not None:
            return found
        with _locked(place, key):
            return self._valid(place, key) or self._store(place, key, make())

    def _valid(self, place: Path, key: str) -> Path | None:
        for path in sorted(place.glob(f"{key}.*.{self.suffix}")):
            try:
                if _digest(path.read_bytes()) == path.name.split(".")[1]:
                    return path
            except OSError:
                continue
        return None

    def _store(self, place: Path, key: str, image: bytes) -> Path:
        path = place / f"{key}.{_digest(image)}.{self.suffix}"
        handle, temporary = tempfile.mkstemp(dir=place)
        with os.fdopen(handle, "wb") as file:
            file.write(image)
        for stale in place.glob(f"{key}.*.{self.suffix}"):
            stale.unlink(missing_ok=True)
        Path(temporary).replace(path)
        return path

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


def _digest(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()[:32]


@contextlib.contextmanager
def _locked(place: Path, key: str) -> Iterator[None]:
    with (place / f"{key}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@functools.cache
def _private_root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="gpubcast-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root
