"""What a library is to a benchmark: something that turns a case into calls."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

from ..cases import Sized
from ..timing import Call

Views = tuple[Any, ...]
# The operands and ``out`` as arrays of NumPy or CuPy -> the ways to call, by entry.
Ready = Callable[[Views, Any], dict[str, Call]]

_DIRECT = re.compile(r"(\w+)\(([\w, ]+), out=out\)")


class Library:
    """A library."""

    name = ""  # what reports call it
    module = ""  # what has to import; "" for gpubcast
    devices: tuple[str, ...] = ("cpu",)  # kinds of devices that it is compared on
    entries: tuple[str, ...] = ("call", "out")  # its ways of calling, among these and "bound"
    compiles = False  # whether its first call of a case is a time worth knowing
    recompiles = False  # whether it compiles anew for every size
    effort = 0  # the least extent of a run that has it unless named: 0 quick, 1 usual, 2 full
    on_host = False  # whether a device's own clock does not see its work

    @property
    def library(self) -> Any:
        """What it imports, when it is used."""
        return importlib.import_module(self.module)

    def absent(self, kind: str, threads: int) -> str | None:
        """Why it cannot be compared here; None where it can, and is then set up."""
        try:
            self.set_up(kind, threads)
        except ImportError:
            return f"{self.module} is not installed"
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
        return None

    def set_up(self, kind: str, threads: int) -> None:
        """Import it and give it all threads; raises where it cannot be used."""
        assert self.library

    def unsupported(self, sized: Sized) -> str | None:
        """Why it has nothing to compare with a case; None where it has."""
        return None

    def entries_of(self, sized: Sized) -> tuple[str, ...]:
        """Its ways of calling a case."""
        return self.entries

    def ready(self, sized: Sized) -> Ready:
        """The case, compiled as far as it can be without operands; it has these entries."""
        raise NotImplementedError

    def array(self, result: Any) -> Any:
        """A result as an array of NumPy or CuPy."""
        return result

    def wait(self, result: Any) -> Any:
        """Wait for a result of a library that has ``on_host``."""

    def release(self) -> None:
        """Empty its pool of device memory."""


def with_out(
    sized: Sized, call: Callable[..., Any], into: Callable[..., Any], operands: Views, out: Any
) -> dict[str, Call]:
    """The entries of a library whose functions take their operands by position and ``out=``, and
    leave axes that are reduced with size 1."""
    if sized.reduces:
        opened = sized.opened(out)

        def written() -> Any:
            into(*operands, out=opened)
            return out

        return {"call": lambda: sized.closed(call(*operands)), "out": written}
    return {
        "call": functools.partial(call, *operands),
        "out": functools.partial(into, *operands, out=out),
    }


def direct_call(sized: Sized) -> str | None:
    """The one function that a case is, if it is one."""
    found = _DIRECT.fullmatch(sized.case.steps)
    if found is None or found[2] != ", ".join(sized.case.computes.names):
        return None
    return found[1]
