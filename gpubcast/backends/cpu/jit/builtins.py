"""The way from Python into a kernel's machine code: a built-in function of a few instructions.

``kernel(table, low, high)`` reads three Python integers, lets go of the interpreter's lock, calls
the code, and takes the lock again. One built-in function serves all kernels; its ``self`` says
which it calls. It is tried before its first use; where that fails, or the interpreter is another
one, ctypes takes its place, more slowly.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.codegen.source import KernelSource

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
_METH_FASTCALL = 0x0080
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3
)
KernelFunction = Callable[[int, int, int], object]


class MethodDef(ctypes.Structure):
    """CPython's ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def callable_at(address: int) -> KernelFunction:
    """A Python function that calls a kernel's code."""
    definition = _kernel_definition()
    return _through_ctypes(address) if definition is None else builtin_function(definition, address)


def builtin_function(definition: MethodDef, own: object) -> Callable[..., Any]:
    """A built-in function, which keeps ``own``."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    # CPython keeps the last of the three as long as the function: it reads the definition.
    function: Callable[..., Any] = new(ctypes.addressof(definition), own, definition)
    return function


def _through_ctypes(address: int) -> KernelFunction:
    """The same by ctypes, which lets go of the interpreter's lock, too."""
    code = _PROTOTYPE(address)
    results = (ctypes.c_void_p * 2)()
    at = ctypes.addressof(results)

    def kernel(table: int, low: int, high: int, _keep: object = results) -> None:
        code(at, at, table, low, high)

    return kernel


def definition(text: str, name: str) -> MethodDef | None:
    """What CPython needs to know of a built-in function; None on other interpreters."""
    if sys.implementation.name != "cpython":
        return None
    source = KernelSource(name, text, name)
    try:
        address = object_cache.load(source, lambda: (object_cache.compiled_ir(text), name))
    except (RuntimeError, ValueError, AttributeError):
        return None
    return MethodDef(name.encode(), address, _METH_FASTCALL, None)


@functools.cache
def _kernel_definition() -> MethodDef | None:
    """The function that calls a kernel, after a trial."""
    found = definition(_TEXT, "gpubcast_entry")
    return found if found is not None and _kernel_trial(found) else None


def as_code(note: Callable[[int, int, int], object]) -> tuple[object, int]:
    """Code that only notes what it is given, as long as the first value lives; and its address."""

    def kernel(_result: int, _error: int, table: int, low: int, high: int) -> int:
        note(table, low, high)
        return 0

    code = _PROTOTYPE(kernel)
    return code, ctypes.cast(code, ctypes.c_void_p).value or 0


def _kernel_trial(definition: MethodDef) -> bool:
    seen: list[tuple[int, int, int]] = []
    _code, address = as_code(lambda *given: seen.append(given))
    wanted = (2**63 - 1, -(2**40), 7)
    return builtin_function(definition, address)(*wanted) == address and seen == [wanted]
