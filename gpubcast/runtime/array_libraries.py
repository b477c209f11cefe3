"""Libraries whose arrays come back as what went in, once their module is imported
(``gpubcast.torch``). The runtime imports none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpubcast.runtime import state


@dataclass(frozen=True, slots=True, eq=False)
class ArrayLibrary:
    """A library's arrays as operands and results.

    Attributes:
        array_type: its type of arrays.
        strided: ``strided(array, written)``: a NumPy or CuPy array over the same memory, which is
            written or only read.
        call: ``call(function, what, operands, out, *rest)``: a ``Call`` with NumPy or CuPy arrays
            in place of the library's, whose results are the library's.
        before: ``before(entry, function)``: what an ``EntryPoint`` calls in place of a function: it
            does ``call`` where there are arrays of the library, and the function elsewhere.
        lazy: whether a result is lazy where any operand is. Such a library comes before all others.
    """

    array_type: type
    strided: Callable[[Any, bool], Any]
    call: Callable[..., Any]
    before: Callable[[Any, Callable[..., Any]], Callable[..., Any]]
    lazy: bool = False


def join(library: ArrayLibrary) -> None:
    """Have a library's arrays recognised; one whose type of arrays has joined replaces it."""
    others = [one for one in state.libraries() if one.array_type is not library.array_type]
    joined = sorted((*others, library), key=lambda one: one.lazy)
    state.set_libraries(tuple(joined))
    for entry in state.entry_points():
        entry.renew()


def is_lazy(x: Any) -> bool:
    """Whether an object is an array of a lazy library that has joined: its shape is known alone."""
    return any(one.lazy and isinstance(x, one.array_type) for one in state.libraries())


def library_of(operands: tuple[Any, ...], out: Any = None) -> ArrayLibrary | None:
    """The library that a call's operands or results are of; None for the runtime's own types."""
    library: ArrayLibrary
    for library in reversed(state.libraries()):
        array_type = library.array_type
        for x in operands:
            if isinstance(x, array_type):
                return library
        if out is not None:
            for x in out if isinstance(out, (tuple, list)) else (out,):
                if isinstance(x, array_type):
                    return library
    return None
