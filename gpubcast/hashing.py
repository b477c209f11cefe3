"""Digests of contents, which files are named after."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

# hashlib has its function from there; it loads OpenSSL itself, which takes longer than a kernel
# that is on disk.
try:
    from _blake2 import blake2b
except ImportError:  # another interpreter
    from hashlib import blake2b


def digest(contents: bytes) -> str:
    """40 hexadecimal digits that other contents do not have."""
    return blake2b(contents, digest_size=20).hexdigest()


class Hashed:
    """Base of a frozen dataclass with slots, which names ``__hash__ = Hashed.__hash__`` itself.

    The hash is no field: it is neither compared nor pickled.
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash(tuple(_compared(self)))
            object.__setattr__(self, "_hash", value)
            return value


def _compared(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value) if field.compare]
