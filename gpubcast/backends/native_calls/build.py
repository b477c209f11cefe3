"""The machine code of calls (``replay``): made once on a machine, tried once in a process; and the
built-in function that hands it a call's arguments."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, cast

import numpy as np

from gpubcast import config
from gpubcast.backends.array_types import DeviceArray
from gpubcast.backends.base import Backend
from gpubcast.backends.cpu.jit import builtins, object_cache
from gpubcast.backends.cpu.ndarray_address import ALIGNMENT, OFFSET_OF_DATA, address
from gpubcast.backends.native_calls.background import BackgroundProcess
from gpubcast.backends.native_calls.call_table import CallTable, native_call
from gpubcast.backends.native_calls.object_layout import BYTES, ITEMS
from gpubcast.backends.native_calls.record import (
    Argument,
    FlatResult,
    NewResult,
    PackedParameters,
    RecordedCall,
    RecordedKernel,
    StridedResult,
)
from gpubcast.backends.native_calls.signature import signature
from gpubcast.codegen.source import KernelSource
from gpubcast.planning.plan import Operand
from gpubcast.schedules.cuda.vectors import ALIGNED
from gpubcast.shapes.element_types import ELEMENT_TYPES
from gpubcast.shapes.shape import Shape

# What ``replay`` is stored under, with all that every kernel depends on.
_SOURCE = KernelSource("gpubcast_replay", f"aligned to {ALIGNED}", "gpubcast_replay")

# `self` is a tuple whose first item holds the address of the code as its first word; see `replay`.
_BUILTIN = f"""
define ptr @gpubcast_call(ptr %self, ptr %args, i64 %count) {{
  %made = alloca i64
  %nothing = alloca ptr
  %error = alloca ptr
  %at.site = getelementptr i8, ptr %self, i64 {ITEMS}
  %site = load ptr, ptr %at.site
  %at.code = getelementptr i8, ptr %site, i64 {BYTES}
  %code = load ptr, ptr %at.code
  %given = ptrtoint ptr %self to i64
  %first = ptrtoint ptr %args to i64
  %result = ptrtoint ptr %made to i64
  %status = call i32 %code(ptr %nothing, ptr %error, i64 %given, i64 %first, i64 %count,
                        i64 %result)
  %address = load i64, ptr %made
  %found = inttoptr i64 %address to ptr
  ret ptr %found
}}
"""


def is_compiled() -> bool:
    """Whether there is machine code already, so that a table is made at once."""
    return object_cache.is_stored(_SOURCE)


def make() -> int:
    """Where the machine code is, which is made and left on disk if need be."""
    return object_cache.load(_SOURCE, _compiled)


# Makes it where waiting would hold up a call.
COMPILER = BackgroundProcess(make)


def call_definition() -> builtins.MethodDef | None:
    """The function through which calls reach machine code."""
    return builtins.definition(_BUILTIN, "gpubcast_call") if OFFSET_OF_DATA else None


def new_call_table() -> CallTable | None:
    """A new table, after a trial; None where the machine code is not to be trusted."""
    environment = config.watched()
    definition = call_definition()
    if environment is None or definition is None:
        return None
    try:
        code = make()
        return CallTable(definition, code, environment) if _works(definition, code) else None
    except Exception:  # numba's, LLVM's, or there is no such C function: Python does without
        return None


def _compiled() -> tuple[bytes, str]:
    from gpubcast.backends.cpu.jit.compile import machine_code
    from gpubcast.backends.native_calls.replay import replay

    return machine_code(replay, 4)


def _record(kernel: int, arguments: tuple[Argument, ...], *new: NewResult) -> RecordedCall:
    """A record of a kernel with a table of a word per argument, the first 8 bytes further on."""
    slots = ((0, 8), *((i, 0) for i in range(1, len(arguments))))
    parameters = PackedParameters(bytes(8 * len(arguments)), slots)
    one = RecordedKernel(parameters, builtins.callable_at(kernel), 5, (1, 1), 0)
    nobody, arity = cast("Backend", None), len(arguments) - 1
    return RecordedCall(nobody, ("cpu", 0), arguments, arity, (one,), (), None, new, False)


def _works(definition: Any, code: int) -> bool:
    """Arrays and scalars, a kernel that only notes what it is given, and each reason to refuse."""
    notes: list[bytes] = []
    _code, kernel = builtins.as_code(
        lambda table, low, high: notes.append(ctypes.string_at(table, 40) + bytes((low, high)))
    )
    variables: dict[bytes, bytes] = {}
    tried = CallTable(definition, code, (variables, tuple(b"abcdef"[i : i + 1] for i in range(6))))
    call = tried.callable(lambda *given: None)
    f32, s8 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["s8"]
    raw = np.zeros(256, np.uint8)
    memory = raw[-raw.ctypes.data % 32 :][:192]
    x, out, fixed = (memory[at : at + 32].view(np.float64).reshape(2, 2) for at in (0, 32, 96))
    fixed.flags.writeable = False
    scalars = (2.5, np.float32(1.5), -3)
    argument = Argument(7, (0, 32))
    arguments = (
        argument,
        *(Argument(scalar=element_type) for element_type in (f32, f32, s8)),
        argument,
    )
    strided = NewResult(lambda: None, StridedResult(out.dtype, out.shape, out.strides))
    operand, device = Operand.of(Shape("f64", (2, 2))), ("cpu", 0)
    own = DeviceArray(operand, memory[32:], None, device)
    view, elsewhere = (DeviceArray(operand, None, x, one) for one in (device, ("cpu", 1)))
    flat = NewResult(lambda: None, FlatResult(DeviceArray, own._operand, own._device, 32))
    like: list[tuple[tuple[Any, ...], RecordedCall]] = [
        (("what", (x, *scalars), out, None, (0, 1)), _record(kernel, arguments)),
        (("what", (x, *scalars), None, None, (0, 1)), _record(kernel, arguments, strided)),
        (("what", (view, *scalars), own, None), _record(kernel, arguments)),
        (("what", (view, *scalars), None, None), _record(kernel, arguments, flat)),
    ]  # fmt: skip
    for given, record in like:
        signed = signature(given[1], given[2])
        native = None if signed is None else native_call(given, signed[0], record)
        if native is None or not tried.add(native):
            return False
    first, second, third, fourth = (given for given, _ in like)
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
        call("what", (view, *scalars), view, None),
        call("what", (elsewhere, *scalars), own, None),
    ]
    for name, text in ((b"b", b"1"), (b"d", b"off")):
        variables[name] = text
        refused.append(call(*first))
        variables.clear()
    variables[b"d"] = b"on"
    if any(one is not None for one in refused) or notes or call(*first) is not out:
        return False
    fresh = call(*second)
    alike = type(fresh) is np.ndarray and (fresh.dtype, fresh.strides) == (out.dtype, out.strides)
    if not alike or call(*third) is not own:
        return False
    made = call(*fourth)
    bits = struct.pack("<f4xf4xQ", 2.5, 1.5, 253)
    return _is_flat(made, operand, device) and notes == [
        struct.pack("<Q", address(x) + 8) + bits + struct.pack("<Q", address(one)) + bytes((0, 5))
        for one in (out, fresh, own.memory, made.memory)
    ]


def _is_flat(x: Any, operand: Operand, device: tuple[str, int]) -> bool:
    """Whether a new array is as it would be made in Python."""
    if type(x) is not DeviceArray or x._strided is not None:
        return False
    memory, like = x._buffer, np.empty(40, np.uint8)[8:]
    return (
        (x._operand, x._device) == (operand, device)
        and type(memory) is np.ndarray
        and (memory.dtype, memory.shape, memory.strides) == (like.dtype, (32,), (1,))
        and memory.flags.num == like.flags.num
        and address(memory) % ALIGNMENT == 0
        and type(memory.base) is np.ndarray
        and np.shares_memory(memory, memory.base)
    )
