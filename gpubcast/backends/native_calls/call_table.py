"""The calls that machine code knows: their records as words, and the functions that look there.

A record's words hold on to every object that its signature names, so an address in it means what it
meant. The table is read and written with the interpreter's lock held.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import numpy as np

from gpubcast.backends.array_types import DeviceArray
from gpubcast.backends.base import Driven
from gpubcast.backends.cpu.jit import builtins
from gpubcast.backends.cpu.ndarray_address import ALIGNMENT
from gpubcast.backends.cpu.result_pool import LEAST
from gpubcast.backends.native_calls import object_layout
from gpubcast.backends.native_calls import record_layout as w
from gpubcast.backends.native_calls.kernel_words import (
    KernelWords,
    as_word,
    kernels_of,
    words_of_kernels,
)
from gpubcast.backends.native_calls.record import (
    Argument,
    FlatResult,
    NewResult,
    RecordedCall,
    StridedResult,
)
from gpubcast.backends.native_calls.signature import MODULUS, mixed, words

# Records, after which all are forgotten, and buckets of the hash table.
MOST_CALLS, BUCKETS = 4096, 1 << 14
# C functions in the order of the control words, and NumPy's by their numbers in its table.
_FUNCTIONS = (
    "PyObject_Vectorcall", "PyDict_GetItemWithError", "PyEval_SaveThread", "PyEval_RestoreThread",
    "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyLong_AsLongLongAndOverflow", "PyErr_Clear",
    "PyType_GenericAlloc",
)  # fmt: skip
_NEW_FROM_DESCRIPTOR, _SET_BASE_OBJECT = 94, 282
_SLOTS = {
    "_operand": w.AT_OPERAND,
    "_device": w.AT_DEVICE,
    "_buffer": w.AT_BUFFER,
    "_strided": w.AT_STRIDED,
}


@dataclass(frozen=True, slots=True, eq=False)
class NativeCall:
    """A record in the words of machine code.

    Attributes:
        memory: the words, as ``record_layout`` has them.
        driven: the kernel, where it is on a GPU.
        array_type: the type of the DeviceArrays in the call; None where there are none.
        owned: what the words refer to.
    """

    memory: Any
    driven: Driven | None
    array_type: type[DeviceArray] | None
    owned: tuple[Any, ...]


def native_call(
    call: tuple[Any, ...], signed: tuple[Any, ...], record: RecordedCall
) -> NativeCall | None:
    """A record in the words of machine code; None where that cannot do such calls.

    Args:
        call: a call that was recorded: what computes, operands, ``out``, and keywords.
        signed: its signature.
        record: its record.
    """
    what, operands, out, *keywords = call
    found, kernels = words(what, signed, keywords), kernels_of(record)
    arguments = []
    for i, argument in enumerate(record.arguments):
        value = None if argument.scalar is None else _scalar(operands[i], argument)
        if argument.scalar is None:
            value = [w.MEMORY, argument.misaligned, *argument.span, argument.in_place]
        if value is not None:
            arguments.append(value)
    outs = out if type(out) is tuple else (out,)
    types = {type(x) for x in (*operands, *outs) if isinstance(x, DeviceArray)}
    types |= {new.native.array_type for new in record.new if isinstance(new.native, FlatResult)}
    if (
        found is None or kernels is None or len(arguments) < len(record.arguments)
        or len(arguments) + len(record.temporaries) > w.MOST_ARGUMENTS
        # So many bytes come from the pool of results, which Python asks.
        or (kernels[0].driven is None
            and sum(map(_room, record.temporaries)) >= LEAST)
        or len(types) > 1 or not all(map(_adds_nothing, types))
    ):  # fmt: skip
        return None
    kernel, *more = kernels
    header, following = kernel.header, words_of_kernels(more)
    header[w.NEXT] = ctypes.addressof(following[0]) if following else 0
    header[w.ARITY], header[w.OUTS] = record.arity, len(record.arguments) - record.arity
    header[w.NEW] = w.GIVEN if not record.new else w.SEVERAL if record.packed else w.ONE
    scratch = None
    if record.temporaries and kernel.driven is not None:
        scratch = functools.partial(kernel.driven.scratch, sum(map(_room, record.temporaries)))
        header[w.SCRATCH] = id(scratch)
    memory = _written(record, found, arguments, kernel)
    owned = what, keywords, signed, record, [one.driven for one in kernels], following, scratch
    return NativeCall(memory, kernel.driven, next(iter(types), None), owned)


def _adds_nothing(array_type: type[DeviceArray]) -> bool:
    """Whether arrays of a type are built as DeviceArrays are: the library's, and no subclass."""
    like = DeviceArray.__init__, DeviceArray.__basicsize__
    alike = (array_type.__init__, array_type.__basicsize__) == like
    return alike and DeviceArray in (array_type, array_type.__base__)


def _scalar(x: Any, argument: Argument) -> list[int] | None:
    """How a scalar becomes bits; None where Python has to say it."""
    element_type = argument.scalar
    assert element_type is not None
    low = high = 0
    how: int | None = None
    if isinstance(x, np.ndarray) or _in_place(x):
        how = w.COPIED
    elif type(x) is float:
        how = {"f64": w.FLOAT_F64, "f32": w.FLOAT_F32}.get(element_type.name)
    elif type(x) is bool:
        how = {"pred": w.BOOLEAN}.get(element_type.name)
    elif type(x) is int and element_type.is_integral and element_type.bits >= 8:
        how, limits = w.INTEGER, np.iinfo(element_type.dtype)
        low, high = int(limits.min), min(int(limits.max), MODULUS // 2 - 1)
    elif type(x) is int:
        how = {"f64": w.INTEGER_F64, "f32": w.INTEGER_F32}.get(element_type.name)
    return None if how is None else [how, element_type.itemsize, low, high, 0]


def _in_place(x: Any) -> bool:
    """Whether a NumPy scalar's value is where such values are."""
    size = x.dtype.itemsize if isinstance(x, np.generic) else 0
    return 0 < size <= 16 and ctypes.string_at(id(x) + object_layout.VALUE, size) == x.tobytes()


class CallTable:
    """The recorded calls of this process, and functions that look there first.

    Args:
        definition: the built-in function.
        code: the address of ``replay``.
        environment: where variables are, and the names of those that matter, in the order of
            the control words.
    """

    def __init__(
        self, definition: Any, code: int, environment: tuple[Any, tuple[Any, ...]]
    ) -> None:
        self._definition = definition
        self._buckets = (ctypes.c_int64 * BUCKETS)()
        self._variables, self._names = environment
        self._uint8 = np.dtype(np.uint8)
        self._control = _control(ctypes.addressof(self._buckets), environment, self._uint8)
        self._site = struct.pack("<2q", code, ctypes.addressof(self._control))
        self._held: list[Any] = []
        self._gpu: tuple[type, Callable[[], int]] | None = None
        self._array_type: type[DeviceArray] | None = None

    def callable(self, slow: Callable[..., Any]) -> Callable[..., Any]:
        """``slow(what, operands, out, *keywords)``, done by machine code where it is recorded."""
        # What machine code reads lives as long as the function.
        return builtins.builtin_function(self._definition, (self._site, slow, self))

    def clear(self) -> None:
        """Forget every call."""
        ctypes.memset(self._buckets, 0, ctypes.sizeof(self._buckets))
        self._held = []

    def add(self, call: NativeCall) -> bool:
        """Have machine code do calls like a recorded one; whether it will."""
        if not self._admits_gpu(call.driven) or not self._admits(call.array_type):
            return False
        if len(self._held) >= MOST_CALLS:
            self.clear()
        memory, text = call.memory, self._variables.get(self._names[-1])
        free = [at for at in _probed(memory[w.HASH]) if not self._buckets[at]]
        if not free:
            return False
        memory[w.THREADS_TEXT] = 0 if text is None else id(text)
        entry = memory, text, call.owned
        if memory[w.OWNER]:
            memory[w.OWNER] = id(entry)
        held = self._held
        held.append(entry)
        self._buckets[free[0]] = ctypes.addressof(memory)
        if self._held is not held:  # forgotten meanwhile
            self._buckets[free[0]] = 0
        return True

    def _admits_gpu(self, driven: Driven | None) -> bool:
        """Have arrays on a GPU looked at, too, if they are built as expected."""
        if driven is None:
            return True
        if self._gpu is None and not all(map(_as_expected, driven.specimens)):
            return False
        self._gpu = type(driven.specimens[0]), driven.current_device
        self._control[w.GPU_TYPE], self._control[w.CURRENT_DEVICE] = map(id, self._gpu)
        return True

    def _admits(self, array_type: type[DeviceArray] | None) -> bool:
        """Have DeviceArrays looked at, too: those of the first type that is asked for."""
        if array_type is None or self._array_type is not None:
            return array_type in (None, self._array_type)
        offsets = _slot_offsets()
        if offsets is None:
            return False
        self._array_type = array_type
        for name, offset in offsets.items():
            self._control[_SLOTS[name]] = offset
        self._control[w.DEVICE_ARRAY_TYPE] = id(array_type)
        return True


def _probed(number: int) -> list[int]:
    return [(number + probe) % BUCKETS for probe in range(w.PROBES)]


def _slot_offsets() -> dict[str, int] | None:
    """Where a DeviceArray keeps what it refers to; None where that is not found."""
    values = {name: object() for name in _SLOTS}
    x = DeviceArray.__new__(DeviceArray)
    for name, value in values.items():
        setattr(x, name, value)
    size = DeviceArray.__basicsize__ // 8
    seen = list((ctypes.c_int64 * size).from_address(id(x)))
    if any(seen.count(id(value)) != 1 for value in values.values()):
        return None
    return {name: 8 * seen.index(id(value)) for name, value in values.items()}


def _as_expected(x: Any) -> bool:
    """Whether an array on a GPU is built as ``words`` says."""

    def word(at: int) -> int:
        return ctypes.c_int64.from_address(at).value

    pointer = x.data
    sizes = object_layout.GPU_POINTER + 8, object_layout.GPU_DEVICE + 4
    if type(x).__basicsize__ < sizes[0] or type(pointer).__basicsize__ < sizes[1]:
        return False
    found = word(id(x) + object_layout.GPU_DESCRIPTOR), word(id(x) + object_layout.GPU_POINTER)
    device = ctypes.c_int32.from_address(id(pointer) + object_layout.GPU_DEVICE).value
    if (*found, word(id(pointer) + object_layout.GPU_ADDRESS), device) != (
        *(id(x.dtype), id(pointer), pointer.ptr, pointer.device_id),
    ):
        return False
    first, end, strides = (
        word(id(x) + at)
        for at in (object_layout.GPU_DIMENSIONS, object_layout.GPU_END, object_layout.GPU_STRIDES)
    )
    if end - first != 8 * x.ndim or min(first, strides) < 1 << 12 or (first | strides) % 8:
        return False
    every = [word(at + 8 * d) for at in (first, strides) for d in range(x.ndim)]
    return every == [*x.shape, *x.strides]


def _room(num_bytes: int) -> int:
    """Bytes of a temporary, so that what is behind it is aligned, too."""
    return num_bytes + -num_bytes % ALIGNMENT


def _written(
    record: RecordedCall, signed: list[int], arguments: list[list[int]], kernel: KernelWords
) -> Any:
    """A record's words, with those of its signature, of its operands and results but for what new
    ones are, of what is in front of them, of its first kernel, and of where temporaries are."""
    count = len(record.arguments)
    at_arguments = w.SIGNATURE + len(signed)
    at_kernel = at_arguments + w.ARGUMENT_WORDS * count
    at_temporaries = at_kernel + kernel.size
    rooms = [*accumulate(map(_room, record.temporaries), initial=0)]
    at_vectors = at_temporaries + len(rooms)
    vectors = [
        (*new.native.dimensions, *new.native.strides)
        if isinstance(new.native, StridedResult) else ()
        for new in record.new
    ]  # fmt: skip
    memory = (ctypes.c_int64 * (at_vectors + sum(map(len, vectors))))()
    start = ctypes.addressof(memory)
    results: list[tuple[int, ...]] = []
    for new, vector in zip(record.new, vectors, strict=True):
        results.append(_result(new, start + 8 * at_vectors, 4 * len(vector)))
        at_vectors += len(vector)
    given = [(0,) * 5] * (count - len(results))
    header, words_of_kernel = kernel.header, kernel.words(start + 8 * at_kernel)
    # Python may run in the middle of a call, or a garbage collection, and forget the record; and
    # another thread may while a kernel runs.
    python = header[w.HOW] == w.BY_DRIVER or record.new or header[w.NEXT]
    header |= {
        w.HASH: mixed(signed), w.COUNT: len(signed),
        w.THREADED: record.target is not None, w.OWNER: bool(python),
        w.AT_ARGUMENTS: start + 8 * at_arguments, w.TEMPORARIES: len(record.temporaries),
        w.TEMPORARY_BYTES: rooms[-1], w.AT_TEMPORARIES: start + 8 * at_temporaries,
    }  # fmt: skip
    every = zip(arguments, given + results, strict=True)
    flat = [
        *(header.get(number, 0) for number in range(w.SIGNATURE)), *signed,
        *chain.from_iterable((*argument, *result) for argument, result in every),
        *words_of_kernel, *rooms, *chain.from_iterable(vectors),
    ]  # fmt: skip
    memory[:] = [as_word(value) for value in flat]
    return memory


def _result(new: NewResult, at: int, length: int) -> tuple[int, ...]:
    """How a new result is made; ``at``: where its vectors are, of so many bytes each."""
    native = new.native
    if native is None:
        return w.MADE_BY_PYTHON, id(new.make), 0, 0, 0
    if isinstance(native, FlatResult):
        return w.FLAT, id(native.operand), native.num_bytes, id(native.device), 0
    return w.STRIDED, id(native.dtype), len(native.dimensions), at, at + length


def _control(buckets: int, environment: tuple[Any, tuple[Any, ...]], uint8: np.dtype[Any]) -> Any:
    """The control words."""
    variables, names = environment
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    functions = (ctypes.c_void_p * (_SET_BASE_OBJECT + 1)).from_address(pointer(capsule, None))
    found = (ctypes.c_int64 * w.CONTROL_WORDS)()
    found[: w.GETPID + 1] = [
        buckets, BUCKETS - 1, *map(id, (np.ndarray, tuple, None, True, uint8, variables, *names)),
        *map(_function, _FUNCTIONS), functions[_NEW_FROM_DESCRIPTOR] or 0,
        functions[_SET_BASE_OBJECT] or 0,
        ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value or 0,
    ]  # fmt: skip
    found[w.VERSIONED] = _versioned()
    return found


def _versioned() -> bool:
    """Whether a dictionary's version is where it is expected, and changes when it changes."""
    tried: dict[Any, bytes] = {b"one": b"1"}
    version = ctypes.c_uint64.from_address(id(tried) + object_layout.DICT_VERSION)
    seen = [version.value]
    for change in (
        lambda: tried.update(two=b"2"), lambda: tried.update(two=b"3"), lambda: tried.pop("two"),
        lambda: tried.setdefault(b"three", b"4"), tried.clear,
    ):  # fmt: skip
        change()
        seen.append(version.value)
        tried.get(b"one")
        if version.value != seen[-1]:
            return False
    return len(set(seen)) == len(seen)


def _function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
