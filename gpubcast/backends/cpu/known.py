"""The calls that machine code does whole (``whole``): what it must know of each, and their table.

A known call holds on to every object that its signature names, so an address in it means what it
meant. The table is read and written with the interpreter's lock held.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from gpubcast.backends.base import Driven
from gpubcast.backends.cpu import entry, words
from gpubcast.element_types import ElementType
from gpubcast.streams import ALIGNED

# Known calls, after which all are forgotten, and places for them.
MOST_CALLS, PLACES = 4096, 1 << 14
_MODULUS, _HALF = 1 << 64, 1 << 63
# Keywords of these types are what they are as long as they live.
_CONSTANT = (type(None), bool, int, str, type, np.dtype, ElementType)
_ITEMS = (type(None), bool, int, str)
# C functions in the order of the control words, and NumPy's by its number in the table.
_FUNCTIONS = (
    "PyObject_Vectorcall", "PyDict_GetItemWithError", "PyEval_SaveThread", "PyEval_RestoreThread",
    "Py_IncRef", "Py_DecRef",
)  # fmt: skip
_MORE_FUNCTIONS = ("PyTuple_New", "PyLong_AsLongLongAndOverflow", "PyErr_Clear")
_NEW_FROM_DESCRIPTOR = 94


@dataclass(frozen=True, slots=True)
class View:
    """An operand or a result.

    Attributes:
        crooked: bits that its address may not have.
        span: which bytes from there on it may touch.
        places: of an operand, a bit each for the results that may lie in the very same memory.
        scalar: the element type that a scalar becomes, which is passed by value.
    """

    crooked: int = 0
    span: tuple[int, int] = (0, 0)
    places: int = 0
    scalar: ElementType | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What is run.

    Attributes:
        kernel: the address of its code; unused where ``grid`` is 0.
        grid: iterations of its outermost loop.
        template: the parameter table with empty slots.
        slots: per slot, the operand or result, which word of its value, and what is added; an
            operand behind the last result is at address 0.
        release: whether other threads may run meanwhile.
        threaded: whether all this depends on the number of threads.
        crew: state and code of the crew that runs it, parts, granularity and threads; or None.
        driven: the kernel where it is on a GPU; ``kernel`` and ``template`` are unused then.
        makers: functions that make new results; none where machine code does.
    """

    kernel: int
    grid: int
    template: bytes
    slots: tuple[tuple[int, int, int], ...]
    release: bool = False
    threaded: bool = False
    crew: tuple[int, int, int, int, int] | None = None
    driven: Driven | None = None
    makers: Sequence[Callable[[], Any]] = ()


class Table:
    """The known calls of this process, and functions that look there first.

    Args:
        definition: the built-in function.
        code: the address of ``whole``.
        environment: where variables are kept, and the names of those that matter; see ``words``.
    """

    def __init__(
        self, definition: Any, code: int, environment: tuple[Any, tuple[Any, ...]]
    ) -> None:
        self._definition = definition
        self._places = (ctypes.c_int64 * PLACES)()
        self._variables, self._names = environment
        self._control = _control(ctypes.addressof(self._places), environment)
        self._site = struct.pack("<2q", code, ctypes.addressof(self._control))
        self._held: list[Any] = []
        self._gpu: tuple[type, Callable[[], int]] | None = None

    def admit(self, driven: Driven) -> bool:
        """Have arrays on a GPU looked at, too, if they are built as expected."""
        if self._gpu is None and not all(map(_as_expected, driven.specimens)):
            return False
        self._gpu = type(driven.specimens[0]), driven.current_device
        self._control[words.GPU_TYPE], self._control[words.CURRENT_DEVICE] = map(id, self._gpu)
        return True

    def callable(self, slow: Callable[..., Any]) -> Callable[..., Any]:
        """``slow(what, operands, out, *keywords)``, done by machine code where it is known."""
        # What machine code reads lives as long as the function.
        return entry.made(self._definition, (self._site, slow, self))

    def clear(self) -> None:
        """Forget every call."""
        ctypes.memset(self._places, 0, ctypes.sizeof(self._places))
        self._held = []

    def add(
        self, call: tuple[Any, ...], views: Sequence[View], results: Sequence[Any],
        *, packed: bool, work: Work,
    ) -> bool:  # fmt: skip
        """Make a call known; whether it is one that machine code can do.

        Args:
            call: the arguments: what, operands, out, keywords.
            views: what is to be known of the operands, then of the results.
            results: the call's results, like which new ones are made.
            packed: whether they are in a tuple.
            work: the kernel.
        """
        signed = signature(call, self._gpu[0] if self._gpu is not None else None)
        flat = [_view_words(x, view) for x, view in zip((*call[1], *results), views, strict=True)]
        long = len(work.template) > 8 * words.MOST_PARAMETERS or len(work.template) % 8
        if signed is None or None in flat or long or len(flat) > words.MOST_VIEWS:
            return False
        if len(self._held) >= MOST_CALLS:
            self.clear()
        number = mixed(signed)
        free = [at for at in _probed(number) if not self._places[at]]
        if not free:
            return False
        text = self._variables.get(self._names[-1])
        new = words.GIVEN if call[2] is not None else words.SEVERAL if packed else words.ONE
        facts = (new, text)
        known = _packed(number, signed, flat, results, work, facts)
        self._held.append((call[0], call[3:], known, text, work, *_types(call, results)))
        self._places[free[0]] = ctypes.addressof(known)
        return True


def _probed(number: int) -> list[int]:
    return [(number + probe) % PLACES for probe in range(words.PROBES)]


def mixed(signed: list[int]) -> int:
    """Where in the table a signature is looked for first; see ``whole``."""
    total = 0
    for one in signed:
        total = (total * words.MULTIPLIER + one) % _MODULUS
    return _as_word(total ^ (total >> 32))


def signature(call: tuple[Any, ...], gpu: Any = None) -> list[int] | None:
    """What is alike in like calls, as ``whole`` makes it; None where a call can have no like."""
    what, operands, out, *keywords = call
    outs = out if type(out) is tuple else (out,)
    signed = [id(what), len(operands), id(type(out))]
    every: tuple[Any, ...] = (*operands, *outs)
    for x in every:
        signed.append(id(type(x)))
        if type(x) is np.ndarray or type(x) is gpu:
            signed += (id(x.dtype), x.ndim)
            if type(x) is gpu:
                signed += (x.data.device_id, x.data.ptr % ALIGNED)
            signed += chain.from_iterable(zip(x.shape, x.strides, strict=True))
    for x in keywords:
        if type(x) is tuple and all(type(item) in _ITEMS for item in x):
            signed += (id(tuple), len(x), *map(id, x))
        elif isinstance(x, _CONSTANT):
            signed.append(id(x))
        else:
            return None
    return signed if len(signed) <= words.MOST_WORDS - words.LONGEST else None


def _types(call: tuple[Any, ...], results: Sequence[Any]) -> list[Any]:
    """The types and dtypes that a signature or a result names."""
    outs = call[2] if type(call[2]) is tuple else (call[2],)
    every = (*call[1], *outs, *results)
    return [type(x) for x in every] + [getattr(x, "dtype", None) for x in every]


def _view_words(x: Any, view: View) -> list[int] | None:
    """An operand or a result as ``whole`` reads it; None where Python has to."""
    kind = view.scalar
    if kind is None:
        return [words.MEMORY, view.crooked, *view.span, view.places]
    low = high = 0
    how: int | None = None
    if isinstance(x, np.ndarray) or _in_place(x):
        how = words.COPIED
    elif type(x) is float:
        how = {"f64": words.FLOAT_F64, "f32": words.FLOAT_F32}.get(kind.name)
    elif type(x) is bool:
        how = {"pred": words.BOOLEAN}.get(kind.name)
    elif type(x) is int and kind.is_integral and kind.bits >= 8:
        how, limits = words.INTEGER, np.iinfo(kind.dtype)
        low, high = int(limits.min), min(int(limits.max), _HALF - 1)
    elif type(x) is int:
        how = {"f64": words.INTEGER_F64, "f32": words.INTEGER_F32}.get(kind.name)
    return None if how is None else [how, kind.itemsize, low, high, 0]


def _in_place(x: Any) -> bool:
    """Whether a NumPy scalar's value is where such values are."""
    size = x.dtype.itemsize if isinstance(x, np.generic) else 0
    return 0 < size <= 16 and ctypes.string_at(id(x) + words.VALUE, size) == x.tobytes()


def _as_expected(x: Any) -> bool:
    """Whether an array on a GPU is built as ``words`` says."""

    def word(at: int) -> int:
        return ctypes.c_int64.from_address(at).value

    pointer = x.data
    sizes = words.GPU_POINTER + 8, words.GPU_DEVICE + 4
    if type(x).__basicsize__ < sizes[0] or type(pointer).__basicsize__ < sizes[1]:
        return False
    found = word(id(x) + words.GPU_DESCRIPTOR), word(id(x) + words.GPU_POINTER)
    device = ctypes.c_int32.from_address(id(pointer) + words.GPU_DEVICE).value
    if (*found, word(id(pointer) + words.GPU_ADDRESS), device) != (
        *(id(x.dtype), id(pointer), pointer.ptr, pointer.device_id),
    ):
        return False
    first, end, strides = (
        word(id(x) + at) for at in (words.GPU_DIMENSIONS, words.GPU_END, words.GPU_STRIDES)
    )
    if end - first != 8 * x.ndim or min(first, strides) < 1 << 12 or (first | strides) % 8:
        return False
    every = [word(at + 8 * d) for at in (first, strides) for d in range(x.ndim)]
    return every == [*x.shape, *x.strides]


def _packed(
    number: int, signed: list[int], views: Sequence[Any], results: Sequence[Any], work: Work,
    facts: tuple[int, bytes | None],
) -> Any:  # fmt: skip
    """A known call as ``whole`` reads it."""
    template = struct.unpack(f"<{len(work.template) // 8}q", work.template)
    if work.driven is not None:
        template = tuple(chain.from_iterable(map(_lane, work.driven.lanes)))
    at_views = words.SIGNATURE + len(signed)
    at_slots = at_views + words.VIEW_WORDS * len(views)
    at_template = at_slots + 2 * len(work.slots)
    at_shapes = at_template + len(template)
    memory = (ctypes.c_int64 * (at_shapes + sum(2 * x.ndim for x in results)))()
    start = ctypes.addressof(memory)
    first = len(views) - len(results)
    shapes: list[int] = []
    made = []
    for k, x in enumerate(results):
        at = start + 8 * (at_shapes + len(shapes))
        if work.makers:
            made.append((id(work.makers[k]), words.MADE_BY_PYTHON, 0, 0))
        else:
            made.append((id(x.dtype), x.ndim, at, at + 8 * x.ndim))
        shapes += [*x.shape, *x.strides]
    every = [(*view, 0, 0, 0, 0) for view in views[:first]]
    every += [(*view, *shape) for view, shape in zip(views[first:], made, strict=True)]
    slots = [
        (words.NOWHERE if view == len(views) else words.PLACE_WORDS * view + part, add)
        for view, part, add in work.slots
    ]
    crew, run, *cut = work.crew or (0, 0, 1, 1, 1)
    how = words.SHARED if work.crew else words.RELEASED if work.release else words.KEPT
    kernel, driven = work.kernel, [0] * 4
    if work.driven is not None:
        how, kernel, driven = words.DRIVEN, work.driven.process, _addresses(work.driven)
    new, text = facts
    flat = [
        *(number, len(signed), kernel, work.grid, first, len(results), new, len(slots)),
        *(len(template), work.threaded, 0 if text is None else id(text), how, *cut, crew, run),
        *(start + 8 * at for at in (at_views, at_slots, at_template)),
        *(id(memory) if work.driven or work.makers else 0, *driven),
        *signed, *chain(*every, *slots), *template, *shapes,
    ]  # fmt: skip
    memory[:] = [_as_word(value) for value in flat]
    return memory


def _addresses(driven: Driven) -> list[int]:
    device, grid, block = driven.device, driven.grid, driven.block
    return [id(device), id(driven.function), id(grid), id(block)]


def _lane(lane: tuple[bytearray, tuple[Any, ...]]) -> tuple[int, int, int]:
    table, arguments = lane
    return 0, ctypes.addressof(ctypes.c_char.from_buffer(table)), id(arguments)


def _as_word(value: int) -> int:
    """An integer modulo 2**64, as a signed word."""
    return (value + _HALF) % _MODULUS - _HALF


def _control(places: int, environment: tuple[Any, tuple[Any, ...]]) -> Any:
    """The control words; see ``words``."""
    variables, names = environment
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    functions = (ctypes.c_void_p * (_NEW_FROM_DESCRIPTOR + 1)).from_address(pointer(capsule, None))
    return (ctypes.c_int64 * words.CONTROL_WORDS)(
        places, PLACES - 1, id(np.ndarray), id(tuple), id(True), id(variables), *map(id, names),
        *map(_function, _FUNCTIONS), functions[_NEW_FROM_DESCRIPTOR] or 0,
        *map(_function, _MORE_FUNCTIONS), 0, 0,
        ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value or 0, _versioned(), 0,
    )  # fmt: skip


def _versioned() -> bool:
    """Whether a dictionary's version is where it is expected, and changes when it changes."""
    tried: dict[Any, bytes] = {b"one": b"1"}
    version = ctypes.c_uint64.from_address(id(tried) + words.DICT_VERSION)
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
