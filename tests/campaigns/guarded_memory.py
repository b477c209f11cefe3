"""NumPy's memory with a page after each array that ends a process which touches it.

While ``installed``, every array that this thread makes lies at the end of pages of its own, or at
their beginning, between pages that cannot be read. What pages hold beside the array is a pattern,
which is compared when the array is freed. Freed pages cannot be read for a while, either: a use
after free ends the process. NumPy asks through ``PyDataMem_SetHandler`` (NEP 49), so that the
arrays of gpubcast's machine code are among them; and as Python code runs in each allocation, it may
forget calls there as a finalizer would (``on_allocation``).

Memory is also freed while an exception is on its way, when no Python code may run: freeing is
machine code, which writes down what the next allocation looks at.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections import deque
from collections.abc import Callable, Iterator
from ctypes import c_char, c_int, c_size_t, c_uint8, c_void_p
from typing import Any

import numba
from numba import types
from numpy._core import _multiarray_umath

PAGE = mmap.PAGESIZE
_PATTERN = 0xA5
_QUARANTINE = 512  # freed arrays whose addresses are not used again
# What malloc aligns to, which NumPy relies on.
_ALIGNMENT = 16
_SET_HANDLER = 304  # of NumPy's table of functions, __multiarray_api.h

_C = ctypes.CDLL(None, use_errno=True)
_C.mmap.restype = c_void_p
_C.mmap.argtypes = [c_void_p, c_size_t, c_int, c_int, c_int, ctypes.c_long]
_C.munmap.argtypes = [c_void_p, c_size_t]
_C.mprotect.argtypes = [c_void_p, c_size_t, c_int]

_MALLOC = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t)
_CALLOC = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)
_REALLOC = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t)
_FREE = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
_MOST_FREED = 1 << 16  # between two allocations


@numba.cfunc(types.void(types.CPointer(types.int64), types.int64, types.int64))
def _noted(notes: Any, address: int, _: int) -> None:
    noted = numba.carray(notes, _MOST_FREED + 1)
    noted[0] += 1
    noted[1 + (noted[0] - 1) % _MOST_FREED] = address


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler``, version 1."""

    _fields_ = (
        ("name", c_char * 127), ("version", c_uint8), ("ctx", c_void_p), ("malloc", _MALLOC),
        ("calloc", _CALLOC), ("realloc", _REALLOC), ("free", _FREE),
    )  # fmt: skip


class GuardedMemory:
    """A handler for NumPy.

    Attributes:
        damaged: what was found beside arrays, in words.
        on_allocation: is called in each.
    """

    def __init__(self, *, at_begin: bool = False) -> None:
        self.damaged: list[str] = []
        self.on_allocation: Callable[[], object] | None = None
        self._at_begin = at_begin
        self._live: dict[int, tuple[int, int, int]] = {}
        self._freed: deque[tuple[int, int]] = deque()
        self._functions = (
            _MALLOC(lambda _, size: self._new(size, _PATTERN)),
            _CALLOC(lambda _, count, size: self._new(count * size, 0)),
            _REALLOC(self._resized),
            _FREE(_noted.address),
        )
        self._notes = (ctypes.c_int64 * (_MOST_FREED + 1))()
        context = ctypes.addressof(self._notes)
        self._handler = _Handler(b"guarded", 1, context, *self._functions)
        new, name = ctypes.pythonapi.PyCapsule_New, b"mem_handler"
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
        self._capsule = new(ctypes.addressof(self._handler), name, None)
        self._name = name

    def check(self) -> None:
        """Look beside every array that is alive."""
        self._collect()
        for address in list(self._live):
            self._compare(address)

    def _new(self, size: int, fill: int) -> int:
        if self.on_allocation is not None:
            self.on_allocation()
        self._collect()
        inner = max(1, -(-size // PAGE)) * PAGE
        start = _C.mmap(None, inner + 2 * PAGE, 3, 0x22, -1, 0)
        if start in (None, c_void_p(-1).value):
            return 0
        _C.mprotect(start, PAGE, 0)
        _C.mprotect(start + PAGE + inner, PAGE, 0)
        before = 0 if self._at_begin else (inner - size) // _ALIGNMENT * _ALIGNMENT
        address = start + PAGE + before
        ctypes.memset(start + PAGE, _PATTERN, inner)
        if fill != _PATTERN:
            ctypes.memset(address, fill, size)
        self._live[address] = start, inner, size
        return int(address)

    def _resized(self, _: Any, address: int | None, size: int) -> int:
        made = self._new(size, _PATTERN)
        if address and made:
            ctypes.memmove(made, address, min(size, self._live[address][2]))
            self._free(address)
        return made

    def _collect(self) -> None:
        count, self._notes[0] = self._notes[0], 0
        assert count <= _MOST_FREED
        for address in self._notes[1 : count + 1]:
            self._free(address)

    def _free(self, address: int | None) -> None:
        if not address:
            return
        if address not in self._live:
            self.damaged.append(f"freed what is not allocated, {address:#x}")
            return
        self._compare(address)
        start, inner, _ = self._live.pop(address)
        _C.mprotect(start, inner + 2 * PAGE, 0)
        self._freed.append((start, inner + 2 * PAGE))
        while len(self._freed) > _QUARANTINE:
            _C.munmap(*self._freed.popleft())

    def _compare(self, address: int) -> None:
        start, inner, size = self._live[address]
        before, end = address - start - PAGE, start + PAGE + inner
        after = end - address - size
        for where, count, words in (
            (start + PAGE, before, "before"), (address + size, after, "after")
        ):  # fmt: skip
            if ctypes.string_at(where, count) != bytes([_PATTERN]) * count:
                self.damaged.append(f"bytes {words} an array of {size} bytes were written")
                ctypes.memset(where, _PATTERN, count)


@contextlib.contextmanager
def installed(*, at_begin: bool = False) -> Iterator[GuardedMemory]:
    """Have NumPy's arrays of this thread guarded."""
    memory = GuardedMemory(at_begin=at_begin)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(c_void_p))
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
    set_handler = kind(table[_SET_HANDLER])
    before = set_handler(memory._capsule)
    _ALIVE.append(memory)
    try:
        yield memory
    finally:
        set_handler(before)


# Arrays may outlive the block in which they were made, and are freed by their own handler.
_ALIVE: list[GuardedMemory] = []
