"""Cubins on disk: one per source, headers, flags, architecture and NVRTC."""

from __future__ import annotations

from gpubcast.backends.cuda import headers, nvrtc
from gpubcast.backends.kernel_store import Store
from gpubcast.hashing import digest

# Raised when the meaning of a file changes.
SCHEMA = 3


def key(text: str, arch: str, options: tuple[str, ...] = ()) -> str:
    """The cache key of a program."""
    parts = (str(SCHEMA), text, headers.headers_digest(), arch, nvrtc.identity())
    joined = "\0".join((*parts, *nvrtc.OPTIONS, *options))
    return digest(joined.encode())


def cubin(text: str, arch: str, options: tuple[str, ...] = ()) -> bytes:
    """A program's cubin, compiled now if it is not in the cache.

    Raises:
        CompileError: NVRTC refused the source.
        Error: the cache folder belongs to another user.
    """
    name = key(text, arch, options)
    return cubins(arch).fetch(name, lambda: nvrtc.compile_cubin(text, arch, options).image)


def found(text: str, arch: str, options: tuple[str, ...] = ()) -> bytes | None:
    """The cubin of a program if it is in the cache; nothing is compiled, no folder is made.

    Raises:
        CompileError: there is no NVRTC, which is a part of the key.
    """
    return cubins(arch).found(key(text, arch, options))


def cubins(arch: str) -> Store:
    """Where the cubins of an architecture are kept."""
    return Store(f"cubin/{arch}", "cubin")
