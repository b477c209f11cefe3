"""Compiled kernels on disk, of any device: one file per key.

A file's name ends in the digest of its contents, which is checked before a file is used; writes
are atomic, a lock keeps two processes from compiling the same kernel, and a folder that another
user owns is refused. A folder that cannot be written is replaced by a private temporary one.

What only a process needs that writes is imported there: it takes longer than to read a kernel.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gpubcast import config
from gpubcast.errors import Error
from gpubcast.hashing import digest

if TYPE_CHECKING:
    from pathlib import Path


# Ends of the names of files that are no kernels.
LOCK, PARTIAL = ".lock", ".partial"
# Seconds to wait for another process, and between two questions.
LOCK_TIMEOUT, _TURN = 60.0, 0.005


class Store(NamedTuple):
    """The files of one kind.

    Attributes:
        folder: under the cache folder, ``"cubin/sm_90"``.
        suffix: of the files, ``"cubin"``.
    """

    folder: str
    suffix: str

    def found(self, key: str) -> tuple[str, bytes] | None:
        """Path and contents of a key's file if it is there, whole and this user's; nothing is
        made."""
        place = os.path.join(config.cache_dir(), self.folder)
        try:
            own = os.stat(place).st_uid == os.getuid()
        except OSError:
            return None
        return self._valid(_shelf(place, key), key) if own else None

    def stored(self, key: str) -> Path | None:
        """The file itself."""
        found = self.found(key)
        return None if found is None else _path(found[0])

    def lasts(self) -> bool:
        """Whether other processes find what this one stores, once it has stored something."""
        return os.access(os.path.join(config.cache_dir(), self.folder), os.W_OK)

    def discard(self, path: str) -> None:
        """Remove a file that turned out to be of no use."""
        with contextlib.suppress(OSError):
            os.unlink(path)

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
            return _path(self._fetch(_shelf(self._place(), key), key, make))
        except OSError:
            return _path(self._fetch(_shelf(self._private_place(), key), key, make))

    def _fetch(self, shelf: str, key: str, make: Callable[[], bytes]) -> str:
        found = self._valid(shelf, key)
        if found is not None:
            return found[0]
        with contextlib.suppress(FileExistsError):
            os.mkdir(shelf)
        with _locked(os.path.join(shelf, key + LOCK)):
            found = self._valid(shelf, key)
            return self._store(shelf, key, make()) if found is None else found[0]

    def _valid(self, shelf: str, key: str) -> tuple[str, bytes] | None:
        for path in self._files(shelf, key):
            try:
                with open(path, "rb", buffering=0) as file:
                    contents = file.read()
            except OSError:
                continue
            if digest(contents) == path.rsplit(".", 2)[1]:
                return path, contents
        return None

    def _store(self, shelf: str, key: str, image: bytes) -> str:
        import tempfile

        path = os.path.join(shelf, f"{key}.{digest(image)}.{self.suffix}")
        handle, partial = tempfile.mkstemp(dir=shelf, suffix=PARTIAL)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(image)
            os.replace(partial, path)
        except BaseException:
            self.discard(partial)
            raise
        for stale in self._files(shelf, key):
            if stale != path:
                self.discard(stale)
        return path

    def _files(self, shelf: str, key: str) -> list[str]:
        """What is there of a key. A pattern would be compiled anew for each."""
        try:
            names = os.listdir(shelf)
        except OSError:
            return []
        own = (n for n in names if n.startswith(f"{key}.") and n.endswith(f".{self.suffix}"))
        return [os.path.join(shelf, name) for name in sorted(own)]

    def _place(self) -> str:
        place = os.path.join(config.cache_dir(), self.folder)
        try:
            os.makedirs(place, mode=0o700, exist_ok=True)
            owner = os.stat(place).st_uid
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
        os.chmod(place, 0o700)
        return place

    def _private_place(self) -> str:
        place = os.path.join(_private_root(), self.folder)
        os.makedirs(place, exist_ok=True)
        return place


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _shelf(place: str, key: str) -> str:
    """Where a key's file lies: to find one among thousands takes longer than to read it."""
    return os.path.join(place, key[:2])


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Wait for another process that makes the same kernel. It may have been stopped, so not for
    ever: two that write the same file do no harm."""
    import fcntl

    until = time.monotonic() + LOCK_TIMEOUT
    with open(path, "w") as file:
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
def _private_root() -> str:
    import shutil
    import tempfile

    root = tempfile.mkdtemp(prefix="gpubcast-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root
