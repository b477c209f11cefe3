"""What GPUBCAST_DEBUG and GPUBCAST_DUMP show of a launch."""

from __future__ import annotations

import os
import sys

from gpubcast import config
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import Error


def say(text: str) -> None:
    """One line of tracing, on stderr."""
    print(f"gpubcast: {text}", file=sys.stderr)


def dump(source: KernelSource, device_type: str) -> None:
    """Write a kernel's source to the folder that is asked for, if one is.

    Raises:
        Error: it cannot be written.
    """
    folder = config.dump_dir()
    if folder is None:
        return
    suffix = "cu" if device_type == "cuda" else "py"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{source.entry}.{suffix}"), "w") as file:
            file.write(source.text)
    except OSError as error:
        raise Error(f"GPUBCAST_DUMP={folder}: {error}") from error
