"""The functions by which a call enters the library, in Python or in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from gpubcast.errors import allocates
from gpubcast.runtime import state
from gpubcast.runtime.array_libraries import library_of

Call = tuple[Any, ...]
"""What is computed, the tuple of operands, ``out`` or None, and then keywords, by position. What is
computed is None where nobody calls an entry point that way."""


class EntryPoint:
    """A function on the items of a ``Call``, called as ``entry.call(...)``.

    It begins as the Python function. A library's arrays among operands and results
    (``array_libraries``) are replaced first, and the call is made again. Once calls are replayed by
    machine code, a built-in function stands in front of it, which does the calls that it knows and
    hands every other one on.

    Attributes:
        call: what callers call.
        python: the Python function.
    """

    __slots__ = ("call", "python")

    def __init__(self, python: Callable[..., Any]) -> None:
        self.python = self.call = self._with_libraries(allocates(python))
        state.entry_points().append(self)

    def _with_libraries(self, python: Callable[..., Any]) -> Callable[..., Any]:
        def call(what: Any, operands: Any = (), out: Any = None, *rest: Any) -> Any:
            library = library_of(operands, out)
            if library is not None:
                return library.call(self.call, what, operands, out, *rest)
            return python(what, operands, out, *rest)

        return call

    @property
    def state(self) -> Literal["python", "native"]:
        """Whether a call begins in Python or in machine code."""
        return "python" if self.call is self.python else "native"

    def to_native(self, in_front: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Have calls begin in machine code, which stands ``in_front`` of the Python function."""
        if self.state == "python":
            self.call = in_front(self.python)

    def to_python(self) -> None:
        """Have calls begin in Python again."""
        self.call = self.python
