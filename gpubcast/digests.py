"""Digests of contents, which files are named after."""

from __future__ import annotations

# hashlib has its function from there; it loads OpenSSL itself, which takes longer than a kernel
# that is on disk.
try:
    from _blake2 import blake2b
except ImportError:  # another interpreter
    from hashlib import blake2b


def digest(contents: bytes) -> str:
    """40 hexadecimal digits that other contents do not have."""
    return blake2b(contents, digest_size=20).hexdigest()
