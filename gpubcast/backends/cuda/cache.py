"""Compiled kernels on disk: one cubin per source, headers, flags, architecture and NVRTC version.

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
from pathlib import Path

from gpubcast import config
from gpubcast.backends.cuda import headers, nvrtc
from gpubcast.errors import Error

# Raised when the meaning of a file changes.
SCHEMA = 1


def key(text: str, arch: str, options: tuple[str, ...] = ()) -> str:
    """The cache key of a program."""
    parts = (str(SCHEMA), text, headers.digest(), arch, str(nvrtc.version()))
    joined = "\0".join((*parts, *nvrtc.OPTIONS, *options))
    return hashlib.sha256(joined.encode()).hexdigest()[:40]


def cubin_path(text: str, arch: str, options: tuple[str, ...] = ()) -> Path:
    """Path of a program's cubin, compiled now if it is not in the cache.

    Raises:
        CompileError: NVRTC refused the source.
        Error: the cache folder belongs to another user.
    """
    name = key(text, arch, options)
    return fetch(name, arch, lambda: nvrtc.compile_cubin(text, arch, options).image)


def stored(text: str, arch: str, options: tuple[str, ...] = ()) -> Path | None:
    """The cubin of a program if it is in the cache; nothing is compiled, no folder is made.

    Raises:
        CompileError: there is no NVRTC, whose version is a part of the key.
    """
    return _valid(config.cache_dir() / "cubin" / arch, key(text, arch, options))


def fetch(name: str, arch: str, make: Callable[[], bytes]) -> Path:
    """The file of a key, made and stored if it is missing or damaged.

    A folder that fails meanwhile (a full disk, no locks on a network) is left for a private one.
    """
    try:
        return _fetch(_folder(arch), name, make)
    except OSError:
        return _fetch(_private_folder(arch), name, make)


def _fetch(place: Path, name: str, make: Callable[[], bytes]) -> Path:
    found = _valid(place, name)
    if found is not None:
        return found
    with _locked(place, name):
        return _valid(place, name) or _store(place, name, make())


def _valid(place: Path, name: str) -> Path | None:
    for path in sorted(place.glob(f"{name}.*.cubin")):
        try:
            if _digest(path.read_bytes()) == path.name.split(".")[1]:
                return path
        except OSError:
            continue
    return None


def _digest(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()[:32]


def _store(place: Path, name: str, image: bytes) -> Path:
    path = place / f"{name}.{_digest(image)}.cubin"
    handle, temporary = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "wb") as file:
        file.write(image)
    Path(temporary).replace(path)
    return path


@contextlib.contextmanager
def _locked(place: Path, name: str) -> Iterator[None]:
    with (place / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _folder(arch: str) -> Path:
    place = config.cache_dir() / "cubin" / arch
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = place.stat().st_uid
        writable = os.access(place, os.W_OK)
    except OSError:
        return _private_folder(arch)
    if owner != os.getuid():
        raise Error(
            f"the kernel cache {place} belongs to another user (uid {owner}); "
            "set GPUBCAST_CACHE_DIR to a folder of your own"
        )
    if not writable:
        return _private_folder(arch)
    place.chmod(0o700)
    return place


@functools.cache
def _private_root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="gpubcast-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _private_folder(arch: str) -> Path:
    place = _private_root() / arch
    place.mkdir(exist_ok=True)
    return place
