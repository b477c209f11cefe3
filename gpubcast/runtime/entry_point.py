"""The functions by which a call enters the library, in Python or in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from gpubcast.errors import allocates
from gpubcast.runtime import state

Call = tuple[Any, ...]
"""What is computed, the tuple of operands, ``out`` or None, and then keywords, by position. What is
computed is None where nobody calls an entry point that way."""


class EntryPoint:
    """A function on the items of a ``Call``, called as ``entry.call(...)``.

    It begins as the Python function. Before it come the libraries that have joined
    (``array_libraries``), which replace their arrays and call again. Once calls are replayed by
    machine code, a built-in function stands in front of all, which does the calls that it knows and
    hands every other one on.

    Attributes:
        call: what callers call.
        python: the Python function, with what the libraries put before it.
    """

    __slots__ = ("_function", "_in_front", "call", "python")

    def __init__(self, python: Callable[..., Any]) -> None:
        self._function = allocates(python)
        self._in_front: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
        state.entry_points().append(self)
        self.renew()

    def renew(self) -> None:
        """Have the libraries that have joined come before the function."""
        python = self._function
        for library in state.libraries():
            python = library.before(self, python)
        self.python = python
        self.call = python if self._in_front is None else self._in_front(python)

    @property
    def state(self) -> Literal["python", "native"]:
        """Whether a call begins in Python or in machine code."""
        return "python" if self.call is self.python else "native"

    def to_native(self, in_front: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Have calls begin in machine code, which stands ``in_front`` of the Python function."""
        if self.state == "python":
            self._in_front = in_front
            self.call = in_front(self.python)

    def to_python(self) -> None:
        """Have calls begin in Python again."""
        self._in_front = None
        self.call = self.python
