"""Print the extra (``cuda12``, ``cuda13``) that fits the NVIDIA driver, or nothing without a GPU.

The driver library itself is asked: it is there wherever a CUDA program can run, in containers too,
and it needs no tool beside it.
"""

from __future__ import annotations

import ctypes


def extra_for(driver_version: int) -> str:
    """The extra for a driver.

    Args:
        driver_version: the newest CUDA version the driver runs, as ``cuDriverGetVersion`` gives it:
            1000 * major + 10 * minor.

    Returns:
        The name of the extra; "" for drivers older than CUDA 12.
    """
    major = driver_version // 1000
    return f"cuda{min(major, 13)}" if major >= 12 else ""


def driver_version() -> int:
    """The driver's CUDA version (1000 * major + 10 * minor), or 0 without a usable GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    version, devices = ctypes.c_int(0), ctypes.c_int(0)
    # A driver without a device (error 100) is common in containers, and no reason to install CuPy.
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(devices)) != 0:
        return 0
    if devices.value == 0 or driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return 0
    return version.value


if __name__ == "__main__":
    print(extra_for(driver_version()))
