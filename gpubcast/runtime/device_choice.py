"""The device that a command runs on, and why."""

from __future__ import annotations

from gpubcast import config
from gpubcast.backends.cuda import driver
from gpubcast.errors import DeviceError
from gpubcast.runtime import state
from gpubcast.runtime.device import parse_device


def choose_device(wanted: str | None) -> tuple[str, str]:
    """The device to run on, and why.

    Args:
        wanted: as the user names it; None for a GPU if one is usable, else the CPU.

    Raises:
        DeviceError: the wanted device cannot be used.
    """
    if wanted is not None:
        state.backend(parse_device(wanted)[0])
        return wanted, "as asked"
    allowed = config.allowed_device_type()
    if allowed is not None:
        state.backend(allowed)
        return allowed, f"GPUBCAST_BACKEND={allowed}"
    seen = driver.probe()
    if not seen.gpus:
        return "cpu", seen.problem
    try:
        state.backend("cuda")
    except DeviceError as error:
        return "cpu", f"there is a {seen.gpus[0].name}, but: {error}"
    return "cuda", seen.gpus[0].name
