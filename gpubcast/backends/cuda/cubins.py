"""Cubins on disk: one per source, headers, flags, architecture and NVRTC.

Where there is no NVRTC, those that any has made serve.
"""

from __future__ import annotations

from gpubcast.backends.cuda import headers, nvrtc
from gpubcast.backends.kernel_store import Store
from gpubcast.errors import CompileError
from gpubcast.hashing import digest

# Raised when the meaning of a file changes.
SCHEMA = 4
# Hexadecimal digits of a key that say what is compiled; the others say by which compiler.
_PROGRAM, _COMPILER = 24, 16


def program_key(text: str, arch: str, options: tuple[str, ...] = ()) -> str:
    """What the keys of a program begin with, whichever NVRTC compiles it."""
    parts = (str(SCHEMA), text, headers.headers_digest(), arch, *nvrtc.OPTIONS, *options)
    return digest("\0".join(parts).encode())[:_PROGRAM]


def key(text: str, arch: str, options: tuple[str, ...] = ()) -> str:
    """The cache key of a program.

    Raises:
        CompileError: there is no NVRTC, which is a part of the key.
    """
    compiler = digest(nvrtc.identity().encode())[:_COMPILER]
    return program_key(text, arch, options) + compiler


def cubin(text: str, arch: str, options: tuple[str, ...] = ()) -> bytes:
    """A program's cubin, compiled now if it is not in the cache.

    Raises:
        CompileError: NVRTC refused the source, or is missing and none has ever compiled it.
        Error: the cache folder belongs to another user.
    """
    try:
        name = key(text, arch, options)
    except CompileError:
        found = cubins(arch).found_any(program_key(text, arch, options))
        if found is None:
            raise
        return found
    return cubins(arch).fetch(name, lambda: nvrtc.compile_cubin(text, arch, options).image)


def found(text: str, arch: str, options: tuple[str, ...] = ()) -> bytes | None:
    """The cubin of a program if it is in the cache; nothing is compiled, no folder is made."""
    try:
        return cubins(arch).found(key(text, arch, options))
    except CompileError:
        return cubins(arch).found_any(program_key(text, arch, options))


def cubins(arch: str) -> Store:
    """Where the cubins of an architecture are kept."""
    return Store(f"cubin/{arch}", "cubin")
