"""The exceptions of gpubcast. Every error a user sees is one of these."""

from __future__ import annotations

import copy
import errno
import functools
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_PACKAGE: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Of descriptors, of the process or of the system, and of memory.
_LIMITS: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Error(Exception):
    """Base of every gpubcast error.

    Attributes:
        rule: id of the rule in ``docs/rules.md`` that refused the call, e.g. ``"B5c"``; None where
            no numbered rule applies.
        kind: XLA's error template (shapes, types, opcodes and numbers blanked) where XLA refuses
            the same call; our own id (``"gpubcast:<words>"``) where we differ.
        operands: the shapes of the operands (``Shape``), in call order.
    """

    __module__ = "gpubcast"

    def __init__(
        self,
        message: str,
        *,
        rule: str | None = None,
        kind: str | None = None,
        operands: tuple[object, ...] = (),
    ) -> None:
        super().__init__(_tagged(message, rule))
        self.rule = rule
        self.kind = kind
        self.operands = tuple(operands)

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: the message with its picture, and the caller's lines."""
        return rendered(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle as class(*args); the state carries what the keywords set.
        return (type(self), self.args, self.__dict__)


MOST_RENDERED = 30
_MOST_FRAMES = 4


def rendered(error: BaseException) -> list[str]:
    """An error in at most ``MOST_RENDERED`` lines: what it says, with its alignment grid, then the
    lines of the caller's code that led to it, the innermost last. Lines of gpubcast are left out.
    """
    import linecache  # for looking at; a program that is right never needs it

    frames = []
    place = error.__traceback__
    while place is not None:
        module = str(place.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        own = place.tb_frame.f_code.co_filename.startswith(_PACKAGE)
        if not own and module != "IPython":
            frames.append((place.tb_frame, place.tb_lineno))
        place = place.tb_next
    where: list[str] = []
    for frame, number in frames[-_MOST_FRAMES:]:
        name = frame.f_code.co_filename
        # Notebooks keep the text of a cell for whoever asks for its lines.
        line = linecache.getline(name, number, frame.f_globals).strip()
        where.append(f"  {name}:{number}, in {frame.f_code.co_name}")
        where += [f"    {line}"] if line else []
    said = f"{type(error).__name__}: {error}".splitlines()
    said += getattr(error, "__notes__", ())
    room = MOST_RENDERED - len(where)
    if len(said) > room:
        said = [*said[: room - 1], f"  ... {len(said) - room + 1} more lines: str(error)"]
    return [*said, *where]


def _tagged(message: str, rule: str | None) -> str:
    """The message with the rule's id at the end of its first line."""
    first, newline, rest = message.partition("\n")
    if rule is None or first.endswith(f"[{rule}]"):
        return message
    return f"{first} [{rule}]{newline}{rest}"


MOST_QUOTED = 160
"""Characters of a caller's text, or of a list of numbers, that a message repeats at most."""


def quoted(text: str) -> str:
    """A caller's text for a message, in quotes, and cut where it is long."""
    return repr(text) if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 3]!r}..."


def shortened(text: str) -> str:
    """A text of ours for a message, such as a shape's, cut where it is long."""
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 3] + "..."


def plain_text(value: object) -> str | None:
    """A caller's text as a plain ``str``, or None where it is none: the methods of a subclass may
    say anything."""
    return str.__str__(value) if issubclass(type(value), str) else None


def brief(value: object) -> str:
    """``repr`` for messages: short, and never an error of its own."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


# What takes part in compiling a kernel, beside Python's own modules.
_COMPILERS = ("gpubcast", "llvmlite", "ml_dtypes", "numba", "numpy")


def from_signal_handler(error: BaseException) -> bool:
    """Whether what was raised while a kernel was compiled is a signal handler's, for its caller:
    others than compilers took part in it."""
    own = {*_COMPILERS, *sys.stdlib_module_names}
    at = error.__traceback__
    while at is not None:
        root = str(at.tb_frame.f_globals.get("__name__") or "").partition(".")[0]
        # What is generated has no name.
        if root and root not in own:
            return True
        at = at.tb_next
    return False


class ShapeError(Error, ValueError):
    """Dimensions do not fit together, or a shape is not representable."""

    __module__ = "gpubcast"


class IndexingError(ShapeError, IndexError):
    """An index or an axis is out of bounds, or is none that an array takes."""

    __module__ = "gpubcast"


class ElementTypeError(Error, TypeError):
    """An element type, or an object that has none, is refused by the operation."""

    __module__ = "gpubcast"


class LayoutError(Error, ValueError):
    """A layout is invalid for its shape, or its padding cannot be represented."""

    __module__ = "gpubcast"


class ExportError(LayoutError, BufferError):
    """An array whose memory another library cannot take; a packed copy can be."""

    __module__ = "gpubcast"


class DeviceError(Error, RuntimeError):
    """Operands live on different devices, or a device is missing or unusable."""

    __module__ = "gpubcast"


class OutOfMemoryError(DeviceError, MemoryError):
    """There is not enough memory, on the host or on a GPU; the next call may have it."""

    __module__ = "gpubcast"


def allocates(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same function, whose failed allocations, whoever makes them, are OutOfMemoryError, and
    whose failed imports are DeviceError."""

    @functools.wraps(function)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return function(*args, **keywords)
        except MemoryError as error:
            if isinstance(error, OutOfMemoryError):
                raise
            said = f": {error}" if str(error) else ""
            raise OutOfMemoryError(f"not enough memory{said}") from error
        except (ImportError, OSError) as error:
            if not _is_loading(error):
                raise
            raise DeviceError(
                f"what this call needs cannot be loaded now, and may be the next time: {error}"
            ) from error

    return call


def _is_loading(error: ImportError | OSError) -> bool:
    """Whether a module that gpubcast imports late, or the system's limits, refused a call; and not
    a caller's function that is traced, or the handler of a signal."""
    if isinstance(error, OSError) and error.errno not in _LIMITS:
        return False
    codes, place = [], error.__traceback__
    while place is not None:
        codes.append(place.tb_frame.f_code)
        place = place.tb_next
    own = [k for k, code in enumerate(codes) if code.co_filename.startswith(_PACKAGE)]
    below = codes[own[-1] + 1 :][:1] if own else codes[:1]
    return all(
        code.co_name == "<module>" or code.co_filename.startswith("<frozen importlib")
        for code in below
    )


class CompileError(Error, RuntimeError):
    """Generated code did not compile.

    Attributes:
        source: the whole generated source.
        log: the compiler's log.
        options: the compiler's options.
    """

    __module__ = "gpubcast"

    def __init__(
        self, message: str, *, source: str = "", log: str = "", options: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.source = source
        self.log = log
        self.options = tuple(options)


class UnknownNameError(Error, AttributeError):
    """``gpubcast`` has no such name; the text names ours."""

    __module__ = "gpubcast"


class SplitWarning(UserWarning):
    """An expression takes several kernels, with temporaries between them; it is still right."""

    __module__ = "gpubcast"


class CacheWarning(UserWarning):
    """Compiled kernels cannot be stored, so that later processes compile them again."""

    __module__ = "gpubcast"


def warn(text: str, category: type[Warning]) -> None:
    """Give a warning of the line outside of this package that led to it."""
    import warnings  # not before there is one

    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def numbered(source: str) -> str:
    """Source text with line numbers, so that a compiler's "line 37" means something."""
    return "\n".join(f"{i:4d} | {line}" for i, line in enumerate(source.splitlines(), 1))


def located(error: Error, line: str) -> Error:
    """The same error, naming the line of a fused function where it arose."""
    if not line or line in str(error):
        return error
    again = copy.copy(error)
    first, newline, rest = str(error).partition("\n")
    again.args = (f"{first}\n  in {line}{newline}{rest}",)
    return again
