"""How much memory a call takes at its peak beyond what was taken before it.

On the host, the kernel's high-water mark of the process's resident memory (VmHWM), reset through
``/proc/self/clear_refs`` before the call: it sees every library's memory. On a GPU, what the driver
counts as taken after the call, once every pool was emptied before it: pools keep what they took.
What an allocator keeps from an earlier call and hands out again is not seen: a peak is never too
high, but may be too low.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def host_peak(call: Callable[[], Any]) -> int | None:
    """Bytes of host memory at the peak of a call beyond those before it; None if unknown.

    The call is made once, whether or not the kernel tells.
    """
    _trim()
    try:
        _RESET.write_text("5")
        before = _read(_STATUS, "VmRSS")
    except (OSError, KeyError):
        call()
        return None
    call()
    return max(0, _read(_STATUS, "VmHWM") - before)


def device_peak(call: Callable[[], Any], release: Callable[[], None], cupy: Any) -> int:
    """Bytes of device memory that a call makes the driver hand out, every library's pool being
    emptied before it."""
    release()
    before = cupy.cuda.runtime.memGetInfo()[0]
    result = call()
    cupy.cuda.runtime.deviceSynchronize()
    after = cupy.cuda.runtime.memGetInfo()[0]
    del result
    return max(0, int(before) - int(after))


def available() -> int:
    """Bytes of host memory that can be taken without swapping; 0 if unknown."""
    try:
        return _read(Path("/proc/meminfo"), "MemAvailable")
    except (OSError, KeyError):
        return 0


def _read(path: Path, name: str) -> int:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return int({key: value for key, _, value in lines}[name].split()[0]) * 1024


def _trim() -> None:
    """Give free memory of the heap back, so that taking it again is seen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
