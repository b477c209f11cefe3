"""Machine code for whole calls (``whole``): made once on a machine, tried once in a process."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import entry, objects
from gpubcast.backends.cpu.address import address
from gpubcast.backends.cpu.beside import Beside
from gpubcast.backends.cpu.known import Table, View, Work
from gpubcast.element_types import ELEMENT_TYPES
from gpubcast.streams import ALIGNED

# What ``whole`` is kept under, beside all that every kernel depends on.
_SOURCE = KernelSource("gpubcast_whole", f"aligned to {ALIGNED}", "gpubcast_whole")

# Makes it where waiting would hold up a call.
MAKER = Beside(__name__, "make")


def is_compiled() -> bool:
    """Whether there is machine code already, so that a table is made at once."""
    return objects.is_stored(_SOURCE)


def make() -> int:
    """Where the machine code is, which is made and left on disk if need be."""
    return objects.load(_SOURCE, _compiled)


def table() -> Table | None:
    """A new table, after a trial; None where the machine code is not to be trusted."""
    environment = config.watched()
    definition = entry.call_definition()
    if environment is None or definition is None:
        return None
    try:
        code = make()
        return Table(definition, code, environment) if _works(definition, code) else None
    except Exception:  # numba's, LLVM's, or there is no such C function: Python does without
        return None


def _compiled() -> tuple[bytes, str]:
    from gpubcast.backends.cpu.compiling import machine_code
    from gpubcast.backends.cpu.whole import whole

    return machine_code(whole, 4)


def _works(definition: Any, code: int) -> bool:
    """Arrays and scalars, a kernel that only notes what it is given, and each reason to refuse."""
    notes: list[bytes] = []
    _code, kernel = entry.as_code(
        lambda table, low, high: notes.append(ctypes.string_at(table, 40) + bytes((low, high)))
    )
    variables: dict[bytes, bytes] = {}
    tried = Table(definition, code, (variables, tuple(b"abcde"[i : i + 1] for i in range(5))))
    call = tried.callable(lambda *given: None)
    f32, s8 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["s8"]
    raw = np.zeros(256, np.uint8)
    memory = raw[-raw.ctypes.data % 32 :][:192]
    x, out, fixed = (memory[at : at + 32].view(np.float64).reshape(2, 2) for at in (0, 32, 96))
    fixed.flags.writeable = False
    scalars = (2.5, np.float32(1.5), -3)
    views = [View(7, (0, 32)), *(View(scalar=kind) for kind in (f32, f32, s8)), View(7, (0, 32))]
    slots = ((0, 0, 8), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0))
    work = Work(kernel, 5, bytes(40), slots)
    like = [("what", (x, *scalars), target, None, (0, 1)) for target in (out, None)]
    for given in like:
        if not tried.add(given, views, (out,), packed=False, work=work):
            return False
    refused = [
        call("what", (x, *scalars), fixed, None, (0, 1)),
        call("what", (x, *scalars), x, None, (0, 1)),
        call("what", (memory[8:40].view(np.float64).reshape(2, 2), *scalars), out, None, (0, 1)),
        call("what", (memory[65:97].view(np.float64).reshape(2, 2), *scalars), out, None, (0, 1)),
        call("what", (x.T, *scalars), out, None, (0, 1)),
        call("what", (x, 2, *scalars[1:]), out, None, (0, 1)),
        call("what", (x, *scalars[:2], 128), out, None, (0, 1)),
        call("what", (x, *scalars), out, None, (1, 0)),
        call("else", (x, *scalars), None, None, (0, 1)),
        call("what", (x, *scalars), None, None),
    ]
    variables[b"b"] = b"1"
    refused.append(call(*like[0]))
    variables.clear()
    if any(one is not None for one in refused) or notes or call(*like[0]) is not out:
        return False
    fresh = call(*like[1])
    alike = type(fresh) is np.ndarray and (fresh.dtype, fresh.strides) == (out.dtype, out.strides)
    bits = struct.pack("<f4xf4xQ", 2.5, 1.5, 253)
    return alike and notes == [
        struct.pack("<Q", address(x) + 8) + bits + struct.pack("<Q", address(one)) + bytes((0, 5))
        for one in (out, fresh)
    ]
