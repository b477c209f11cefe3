"""Devices by name: ``"cpu"``, ``"cuda"`` and ``"cuda:<index>"``."""

from __future__ import annotations

import re

from gpubcast.errors import DeviceError, brief, plain_text

Device = tuple[str, int]
CPU: Device = ("cpu", 0)
_DEVICE = re.compile(r"cpu|cuda(:(?P<index>[0-9]{1,4}))?")


def parse_device(text: str) -> Device:
    """``"cpu"``, ``"cuda"`` or ``"cuda:1"`` as type and index.

    Raises:
        DeviceError: anything else.
    """
    found = _DEVICE.fullmatch(plain_text(text) or "")
    if found is not None:
        return ("cuda", int(found["index"] or 0)) if found[0] != "cpu" else CPU
    raise DeviceError(
        f"no device {brief(text)}; devices are 'cpu', 'cuda' and 'cuda:<index>'",
        rule="A1",
        kind="gpubcast:device",
    )


def device_name(device: Device) -> str:
    """``"cpu"`` or ``"cuda:<index>"``."""
    device_type, index = device
    return device_type if device_type == "cpu" else f"{device_type}:{index}"
