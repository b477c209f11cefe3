"""What a call hands to a kernel: its operands as memory and strides, on one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpubcast.errors import DeviceError
from gpubcast.planning.plan import Operand
from gpubcast.runtime.device import CPU, Device, device_name
from gpubcast.schedules.cuda.vectors import ALIGNED


@dataclass(slots=True)
class View:
    """An operand or output of a call, as the array layer hands it over.

    Attributes:
        operand: shape and strides.
        slot: address of the first element, or the storage bits of a host scalar, which may be
            more than one word.
        device: type and index; None for a host scalar, which fits any device.
        array: whatever keeps the memory alive.
    """

    operand: Operand
    slot: int
    device: Device | None
    array: Any = None


def devices_of(views: tuple[View, ...], wanted: Device | None = None) -> Device:
    """The one device that the operands live on; for scalars alone ``wanted``, or the CPU.

    Raises:
        DeviceError: operands on different devices, or not on the one that is wanted.
    """
    found = {view.device for view in views}
    found.discard(None)
    if len(found) > 1:
        listed = ", ".join(
            f"operand {i} on {device_name(view.device)}"
            for i, view in enumerate(views)
            if view.device is not None
        )
        raise DeviceError(
            f"operands live on different devices ({listed}); move one with gb.array(x, device=...) "
            "or a.to_device(...): nothing is transferred implicitly",
            rule="A1",
            kind="gpubcast:mixed devices",
            operands=tuple(view.operand.shape for view in views),
        )
    device = next(iter(found), None) or wanted or CPU
    if wanted not in (None, device):
        raise DeviceError(
            f"out is on {device_name(device)}, but device={device_name(wanted)!r}",
            rule="A1",
            kind="gpubcast:mixed devices",
        )
    return device


def aligned(views: tuple[View, ...], device: Device) -> tuple[int, ...]:
    """The addresses modulo ``ALIGNED`` where kernels care; empty when all are 0."""
    if device[0] == "cpu":
        return ()
    remainders = tuple(0 if view.operand.by_value else view.slot % ALIGNED for view in views)
    return remainders if any(remainders) else ()
