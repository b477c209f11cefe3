"""Where the hand-written CUDA headers lie: in the wheel, or beside the package in a checkout."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from gpubcast import config, hashing
from gpubcast.errors import CompileError


@functools.cache
def folder() -> Path:
    """The folder of ``prelude.cuh`` and the schedules.

    Raises:
        CompileError: the installation has no headers.
    """
    package = Path(config.PACKAGE_ROOT).resolve()
    for candidate in (package / "_cuda_kernels", package.parent / "cuda_kernels"):
        if (candidate / "prelude.cuh").is_file():
            return candidate
    raise CompileError(f"the CUDA headers are missing from the installation in {package}")


@functools.cache
def texts() -> dict[str, str]:
    """Path in the folder to text of every header."""
    found = {}
    root = str(folder())
    for where, _, names in os.walk(root):
        inside = where[len(root) + 1 :].replace(os.sep, "/")
        for name in names:
            if name.endswith(".cuh"):
                with open(os.path.join(where, name), encoding="utf-8") as file:
                    found[f"{inside}/{name}" if inside else name] = file.read()
    return dict(sorted(found.items()))


@functools.cache
def headers_digest() -> str:
    """Changes when any header changes."""
    joined = "\0".join(part for item in texts().items() for part in item)
    return hashing.digest(joined.encode())
