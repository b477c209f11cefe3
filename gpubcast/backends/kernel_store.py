"""Compiled kernels on disk, of any device: one file per key.

What is read is executed, so it is read only where nobody else can have written it: each folder from
the cache folder down to the file and the file itself belong to this user, and nobody else may write
to them. They are opened without following symbolic links and asked on their open descriptors. A
file's name ends in the digest of its key and its contents, which is checked too. Writes are atomic,
and a lock keeps two processes from compiling the same kernel. What cannot be stored is used all the
same, from memory, and one warning says so.

What only a process needs that writes is imported there: it takes longer than to read a kernel.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpubcast import config, errors
from gpubcast.backends.kernel_files import (
    LOCK,
    PARTIAL,
    ForeignOwner,
    Untrusted,
    check_owner,
    check_trusted,
    evict,
)
from gpubcast.errors import CacheWarning, Error
from gpubcast.hashing import digest

# Seconds to wait for another process, and between two questions.
LOCK_TIMEOUT, _TURN = 60.0, 0.005
# Seconds after which a file that is used counts as used again.
USED = 3600.0
# How many kernels a process stores before the size of the cache is looked at again.
EVICTION_INTERVAL = 64

# The threads that make a kernel, and its lock.
_CLAIMED: set[tuple[int, str]] = set()

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Store(NamedTuple):
    """The files of one kind.

    Attributes:
        folder: under the cache folder, ``"cubin/sm_90"``.
        suffix: of the files, ``"cubin"``.
    """

    folder: str
    suffix: str

    def found(self, key: str) -> bytes | None:
        """A key's contents if its file is there, undamaged and nobody else's; nothing is made."""
        try:
            with self._opened(key, make=False) as folder:
                return self._read(folder, key)
        except OSError:
            return None

    def found_any(self, prefix: str) -> bytes | None:
        """The same for whichever key begins so: what was stored last."""
        try:
            with self._opened(prefix, make=False) as folder:
                names = [
                    one
                    for one in os.listdir(folder)
                    if one.startswith(prefix) and one.endswith(f".{self.suffix}")
                ]
                stored = {one: os.stat(one, dir_fd=folder).st_mtime for one in names}
                for name in sorted(names, key=stored.__getitem__, reverse=True):
                    contents = self._read(folder, name.partition(".")[0])
                    if contents is not None:
                        return contents
        except OSError:
            pass
        return None

    def fetch(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The contents of a key's file, made and stored if it is missing or damaged; only made,
        where nothing can be stored (see ``warn``).

        Raises:
            Error: the cache folder belongs to another user.
        """
        found = self.found(key)  # also of a folder that cannot be written
        if found is not None:
            return found
        with contextlib.ExitStack() as held:
            folder = self._claimed(key, held)
            found = None if folder is None else self._read(folder, key)
            if found is None:
                found = make()
                if folder is not None:
                    self._write(folder, key, found)
        return found

    def discard(self, key: str) -> None:
        """Remove the file of a key that turned out to be of no use."""
        with contextlib.suppress(OSError), self._opened(key, make=False) as folder:
            for name in self._names(folder, key):
                os.unlink(name, dir_fd=folder)

    def is_shared(self) -> bool:
        """Whether other processes find what this one stores, once it has stored something."""
        return os.access(os.path.join(config.cache_dir(), self.folder), os.W_OK)

    def _claimed(self, key: str, held: contextlib.ExitStack) -> int | None:
        """A key's folder, made if need be, with the key's lock; None where it cannot be written."""
        try:
            folder = held.enter_context(self._opened(key, make=True))
            held.enter_context(_locked(folder, key + LOCK))
        except OSError as error:
            _NOTICES.unstored(error)
            return None
        return folder

    @contextlib.contextmanager
    def _opened(self, key: str, *, make: bool) -> Iterator[int]:
        """The descriptor of the folder with a key's file, all folders on the way made or not.

        A folder has few keys: to find one among thousands takes longer than to read it.

        Raises:
            Error: one of them belongs to another user, and is to be written to.
            OSError: one is not there, is a link, may be written by others, or cannot be opened.
        """
        path = config.cache_dir()
        if make:
            os.makedirs(path, mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(path, _FOLDER)
            try:
                check_owner(os.lstat(path), path)  # a link that another user has made
                check_trusted(os.fstat(descriptor), path)
                for name in (*self.folder.split("/"), key[:2]):
                    path = os.path.join(path, name)
                    if make:
                        with contextlib.suppress(FileExistsError):
                            os.mkdir(name, 0o700, dir_fd=descriptor)
                    inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                    descriptor, outer = inner, descriptor
                    os.close(outer)
                    check_trusted(os.fstat(descriptor), path)
                yield descriptor
            finally:
                os.close(descriptor)
        except ForeignOwner as error:
            if not make:
                raise
            raise Error(
                f"the kernel cache {error.filename} belongs to another user (uid {error.owner}); "
                "set GPUBCAST_CACHE_DIR to a folder of your own"
            ) from None

    def _read(self, folder: int, key: str) -> bytes | None:
        for name in self._names(folder, key):
            with contextlib.suppress(OSError):
                contents = _contents(folder, name)
                if self._name(key, contents) == name:
                    return contents
        return None

    def _write(self, folder: int, key: str, contents: bytes) -> None:
        name = self._name(key, contents)
        partial = f"{key}.{os.getpid()}-{time.monotonic_ns()}{PARTIAL}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(partial, flags | _FILE, 0o600, dir_fd=folder), "wb") as file:
                file.write(contents)
            os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            if not isinstance(error, OSError):
                raise
            _NOTICES.unstored(error)
            return
        for stale in self._names(folder, key):
            if stale != name:
                with contextlib.suppress(OSError):
                    os.unlink(stale, dir_fd=folder)
        if _NOTICES.stored % EVICTION_INTERVAL == 0:
            evict(config.cache_dir(), config.cache_bytes())
        _NOTICES.stored += 1

    def _name(self, key: str, contents: bytes) -> str:
        return f"{key}.{digest(key.encode() + bytes(1) + contents)}.{self.suffix}"

    def _names(self, folder: int, key: str) -> list[str]:
        """What is there of a key. A pattern would be compiled anew for each."""
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = os.listdir(folder)
        ends = f".{self.suffix}"
        return sorted(one for one in names if one.startswith(f"{key}.") and one.endswith(ends))


def _contents(folder: int, name: str) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Untrusted(None, f"{name} is no file")
        check_trusted(status, name)
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            contents = file.read()
        if time.time() - status.st_mtime > USED:
            # What was used last is evicted last; a file system that is read-only forgets it.
            with contextlib.suppress(OSError):
                os.utime(descriptor)
    finally:
        os.close(descriptor)
    return contents


@contextlib.contextmanager
def _locked(folder: int, name: str) -> Iterator[None]:
    """Wait for another process that makes the same kernel. It may have been stopped, so not for
    ever, and some file systems have no locks: two that write the same file do no harm."""
    import fcntl

    mine = threading.get_ident(), name
    if mine in _CLAIMED:  # an interruption makes the same kernel
        yield
        return
    until = time.monotonic() + LOCK_TIMEOUT
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | _FILE, 0o600, dir_fd=folder)
    try:
        _CLAIMED.add(mine)
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    break
                time.sleep(_TURN)
            except OSError:
                break
        yield
    finally:
        _CLAIMED.discard(mine)
        os.close(descriptor)


class _Notices:
    """How many kernels this process has stored, and why one was not."""

    def __init__(self) -> None:
        self.stored = 0
        self.reason: str | None = None
        self.is_told = False

    def unstored(self, error: OSError) -> None:
        self.reason = error.strerror if isinstance(error, Untrusted) else str(error)


_NOTICES = _Notices()


def warn() -> None:
    """Say once in a process that kernels are not stored, and why; to be called where no lock is
    held, since a warning may run a user's code.

    Warns:
        CacheWarning: a kernel was compiled that the next process compiles again.
    """
    if _NOTICES.reason is None or _NOTICES.is_told:
        return
    _NOTICES.is_told = True
    errors.warn(
        f"compiled kernels are not stored, later processes compile them again: {_NOTICES.reason}; "
        "GPUBCAST_CACHE_DIR names the folder",
        CacheWarning,
    )
