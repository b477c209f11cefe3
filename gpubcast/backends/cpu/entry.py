"""The ways from Python into a kernel's code: built-in functions of a few machine instructions.

``kernel(table, low, high)`` reads three Python integers, lets go of the interpreter's lock, calls
the code, and takes the lock again. ``call(*arrays)`` does a whole call on NumPy arrays like those
of a call before: it reads their addresses, checks them, fills the parameter table in and calls the
code. One built-in function of each sort serves all kernels; its ``self`` is the address of what it
needs to know. Each is tried before its first use; where one fails, or the interpreter is another
one, ctypes or Python takes its place, more slowly.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import objects
from gpubcast.backends.cpu.address import OFFSET_OF_DATA

# numba's convention: a status is returned; results and errors go where two pointers point.
_TEXT = """
declare ptr @PyLong_AsVoidPtr(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)

define ptr @gpubcast_entry(ptr %self, ptr %args, i64 %count) {
  %result = alloca ptr
  %error = alloca ptr
  %kernel = call ptr @PyLong_AsVoidPtr(ptr %self)
  %at1 = getelementptr ptr, ptr %args, i64 1
  %at2 = getelementptr ptr, ptr %args, i64 2
  %x0 = load ptr, ptr %args
  %x1 = load ptr, ptr %at1
  %x2 = load ptr, ptr %at2
  %table = call i64 @PyLong_AsLongLong(ptr %x0)
  %low = call i64 @PyLong_AsLongLong(ptr %x1)
  %high = call i64 @PyLong_AsLongLong(ptr %x2)
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 %kernel(ptr %result, ptr %error, i64 %table, i64 %low, i64 %high)
  call void @PyEval_RestoreThread(ptr %thread)
  call void @Py_IncRef(ptr %self)
  ret ptr %self
}
"""
# What `self` of a call points to: see `Plan`. Views lie at 72: low, high, in place; then slots:
# view, bytes to add; then the table. A call returns the last array, or `self` if it did nothing.
_CALL = """
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare ptr @memcpy(ptr, ptr, i64)

define ptr @gpubcast_call(ptr %self, ptr %args, i64 %count) {
entry:
  %result = alloca ptr
  %error = alloca ptr
  %plan = call ptr @PyLong_AsVoidPtr(ptr %self)
  %kernel = load ptr, ptr %plan
  %at.grid = getelementptr i64, ptr %plan, i64 1
  %grid = load i64, ptr %at.grid
  %at.views = getelementptr i64, ptr %plan, i64 2
  %views = load i64, ptr %at.views
  %at.slots = getelementptr i64, ptr %plan, i64 3
  %slots = load i64, ptr %at.slots
  %at.bytes = getelementptr i64, ptr %plan, i64 4
  %bytes = load i64, ptr %at.bytes
  %at.mask = getelementptr i64, ptr %plan, i64 5
  %mask = load i64, ptr %at.mask
  %at.data = getelementptr i64, ptr %plan, i64 6
  %data = load i64, ptr %at.data
  %at.flags = getelementptr i64, ptr %plan, i64 7
  %flags = load i64, ptr %at.flags
  %at.release = getelementptr i64, ptr %plan, i64 8
  %release = load i64, ptr %at.release
  %view = getelementptr i64, ptr %plan, i64 9
  %view.words = mul i64 %views, 3
  %slot = getelementptr i64, ptr %view, i64 %view.words
  %slot.words = mul i64 %slots, 2
  %template = getelementptr i64, ptr %slot, i64 %slot.words
  %places = add i64 %views, 1
  %base = alloca i64, i64 %places
  %at.none = getelementptr i64, ptr %base, i64 %views
  store i64 0, ptr %at.none
  %table = alloca i8, i64 %bytes, align 64
  %last = sub i64 %views, 1
  %at.out = getelementptr ptr, ptr %args, i64 %last
  %out = load ptr, ptr %at.out
  %at.flag = getelementptr i8, ptr %out, i64 %flags
  %flag = load i32, ptr %at.flag
  %writeable = and i32 %flag, 1024
  %read.only = icmp eq i32 %writeable, 0
  %at.out.data = getelementptr i8, ptr %out, i64 %data
  %out.data = load i64, ptr %at.out.data
  %out.view.words = mul i64 %last, 3
  %out.view = getelementptr i64, ptr %view, i64 %out.view.words
  %out.low.add = load i64, ptr %out.view
  %at.out.high = getelementptr i64, ptr %out.view, i64 1
  %out.high.add = load i64, ptr %at.out.high
  %out.low = add i64 %out.data, %out.low.add
  %out.high = add i64 %out.data, %out.high.add
  br i1 %read.only, label %refuse, label %next

next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %take ]
  %done = icmp eq i64 %i, %views
  br i1 %done, label %fill, label %look

look:
  %at.array = getelementptr ptr, ptr %args, i64 %i
  %array = load ptr, ptr %at.array
  %at.array.data = getelementptr i8, ptr %array, i64 %data
  %here = load i64, ptr %at.array.data
  %crooked = and i64 %here, %mask
  %straight = icmp eq i64 %crooked, 0
  %own.words = mul i64 %i, 3
  %own = getelementptr i64, ptr %view, i64 %own.words
  %low.add = load i64, ptr %own
  %at.high = getelementptr i64, ptr %own, i64 1
  %high.add = load i64, ptr %at.high
  %at.may = getelementptr i64, ptr %own, i64 2
  %may.word = load i64, ptr %at.may
  %may = icmp ne i64 %may.word, 0
  %low = add i64 %here, %low.add
  %high = add i64 %here, %high.add
  %before = icmp ule i64 %high, %out.low
  %behind = icmp ule i64 %out.high, %low
  %apart = or i1 %before, %behind
  %same = icmp eq i64 %here, %out.data
  %in.place = and i1 %same, %may
  %safe = or i1 %apart, %in.place
  %good = and i1 %safe, %straight
  br i1 %good, label %take, label %refuse

take:
  %at.base = getelementptr i64, ptr %base, i64 %i
  store i64 %here, ptr %at.base
  %i.next = add i64 %i, 1
  br label %next

fill:
  %copied = call ptr @memcpy(ptr %table, ptr %template, i64 %bytes)
  br label %next.slot

next.slot:
  %j = phi i64 [ 0, %fill ], [ %j.next, %put ]
  %filled = icmp eq i64 %j, %slots
  br i1 %filled, label %start, label %put

put:
  %own.slot.words = mul i64 %j, 2
  %own.slot = getelementptr i64, ptr %slot, i64 %own.slot.words
  %number = load i64, ptr %own.slot
  %at.add = getelementptr i64, ptr %own.slot, i64 1
  %add = load i64, ptr %at.add
  %at.from = getelementptr i64, ptr %base, i64 %number
  %from = load i64, ptr %at.from
  %word = add i64 %from, %add
  %at.word = getelementptr i64, ptr %table, i64 %j
  store i64 %word, ptr %at.word
  %j.next = add i64 %j, 1
  br label %next.slot

start:
  %where = ptrtoint ptr %table to i64
  %lets.go = icmp ne i64 %release, 0
  br i1 %lets.go, label %unlocked, label %locked

locked:
  %status = call i32 %kernel(ptr %result, ptr %error, i64 %where, i64 0, i64 %grid)
  br label %leave

unlocked:
  %thread = call ptr @PyEval_SaveThread()
  %status.too = call i32 %kernel(ptr %result, ptr %error, i64 %where, i64 0, i64 %grid)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %leave

leave:
  call void @Py_IncRef(ptr %out)
  ret ptr %out

refuse:
  call void @Py_IncRef(ptr %self)
  ret ptr %self
}
"""
_METH_FASTCALL = 0x0080
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3
)
Kernel = Callable[[int, int, int], object]
Arrays = Callable[..., object]
# Where CPython builds of NumPy keep an array's flags: six words behind its address.
_OFFSET_OF_FLAGS = OFFSET_OF_DATA + 48
# Kernels that visit more bytes let other threads run meanwhile.
_BYTES_TO_RELEASE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a whole call on arrays needs to know.

    Attributes:
        grid: iterations of the kernel's outermost loop.
        template: the parameter table with empty slots.
        offsets: per slot, the array (operands, then the result) and the bytes to add; the number
            behind the result's is an array at address 0.
        mask: bits that no address may have.
        spans: per array, which bytes from its address on it may touch.
        in_place: per operand, whether the result may lie in the very same memory.
        num_bytes: what the kernel moves.
    """

    grid: int
    template: bytes
    offsets: tuple[tuple[int, int], ...]
    mask: int
    spans: tuple[tuple[int, int], ...]
    in_place: tuple[bool, ...]
    num_bytes: int

    def packed(self, kernel: int) -> bytes:
        """The plan as the built-in function reads it."""
        words = [kernel, self.grid, len(self.spans), len(self.offsets), len(self.template)]
        words += [self.mask, OFFSET_OF_DATA, _OFFSET_OF_FLAGS, self.num_bytes > _BYTES_TO_RELEASE]
        for (low, high), may in zip(self.spans, (*self.in_place, True), strict=True):
            words += [low, high, may]
        for slot in self.offsets:
            words += slot
        return struct.pack(f"<{len(words)}q", *words) + self.template


class _MethodDef(ctypes.Structure):
    """CPython's ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def callable_at(address: int) -> Kernel:
    """A Python function that calls a kernel's code."""
    definition = _kernel_definition()
    return _through_ctypes(address) if definition is None else _made(definition, address)


def call_of(kernel: Kernel, plan: Plan) -> tuple[Arrays, object] | None:
    """A Python function of arrays, the result last, that returns the result; anything else that it
    returns says that it did nothing. With it, the memory that it needs as long as it is used. None
    where there is no such function."""
    definition = _call_definition()
    address = getattr(kernel, "__self__", None)
    if definition is None or not isinstance(address, int):
        return None
    memory = ctypes.create_string_buffer(plan.packed(address))
    return _made(definition, ctypes.addressof(memory)), memory


def _made(definition: _MethodDef, address: int) -> Callable[..., object]:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(ctypes.addressof(definition), address, None)  # type: ignore[no-any-return]


def _through_ctypes(address: int) -> Kernel:
    """The same by ctypes, which lets go of the interpreter's lock, too."""
    code = _PROTOTYPE(address)
    results = (ctypes.c_void_p * 2)()
    at = ctypes.addressof(results)

    def kernel(table: int, low: int, high: int, _keep: object = results) -> None:
        code(at, at, table, low, high)

    return kernel


def _definition(text: str, name: str) -> _MethodDef | None:
    """What CPython needs to know of a built-in function; None on other interpreters."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    source = KernelSource(name, text, name)
    try:
        address = objects.load(source, lambda: (objects.compiled_ir(text), name))
    except (RuntimeError, ValueError, AttributeError):
        return None
    return _MethodDef(name.encode(), address, _METH_FASTCALL, None)


@functools.cache
def _kernel_definition() -> _MethodDef | None:
    """The function that calls a kernel, after a trial."""
    definition = _definition(_TEXT, "gpubcast_entry")
    return definition if definition is not None and _kernel_trial(definition) else None


@functools.cache
def _call_definition() -> _MethodDef | None:
    """The function that does a whole call, after a trial."""
    if not OFFSET_OF_DATA:
        return None
    definition = _definition(_CALL, "gpubcast_call")
    return definition if definition is not None and _call_trial(definition) else None


def _as_code(note: Callable[[int, int, int], object]) -> tuple[object, int]:
    """Code that only notes what it is given, as long as the first value lives; and its address."""

    def kernel(_result: int, _error: int, table: int, low: int, high: int) -> int:
        note(table, low, high)
        return 0

    code = _PROTOTYPE(kernel)
    return code, ctypes.cast(code, ctypes.c_void_p).value or 0


def _kernel_trial(definition: _MethodDef) -> bool:
    seen: list[tuple[int, int, int]] = []
    _code, address = _as_code(lambda *given: seen.append(given))
    wanted = (2**63 - 1, -(2**40), 7)
    return _made(definition, address)(*wanted) == address and seen == [wanted]


def _call_trial(definition: _MethodDef) -> bool:
    """Two arrays of 32 bytes, and every reason to refuse."""
    tables: list[bytes] = []

    _code, address = _as_code(
        lambda table, low, high: tables.append(ctypes.string_at(table, 24) + bytes((low, high)))
    )
    memory = np.zeros(160, np.uint8)
    memory = memory[-memory.ctypes.data % 32 :][:128].view(np.float64)
    x, out, fixed = memory[:4], memory[4:8], memory[12:]
    fixed.flags.writeable = False
    plan = Plan(5, bytes(16) + b"template", ((1, 8), (0, 0)), 7, ((0, 32), (0, 32)), (False,), 1)
    held = ctypes.create_string_buffer(plan.packed(address))
    call = _made(definition, ctypes.addressof(held))
    refused = [
        call(x, fixed) is fixed,
        call(x, x) is x,
        call(memory[2:6], out) is out,
        call(memory[6:10], out) is out,
        call(memory.view(np.uint8)[65:97], out) is out,
    ]
    if any(refused) or tables:
        return False
    words = struct.pack("<2Q", out.ctypes.data + 8, x.ctypes.data)
    return call(x, out) is out and tables == [words + b"template" + bytes((0, 5))]
