"""The line of a fused function that an error speaks of."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpubcast import config
from gpubcast.errors import ElementTypeError, Error, located


def outermost(function: Callable[..., Any], *args: Any) -> Any:
    """Trace a function; what called it is no part of it, and ``where`` does not look there."""
    return function(*args)


def where() -> str:
    """The line of the function being traced: the innermost one outside this package, or ""."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost.__code__:
        path = frame.f_code.co_filename
        if not path.startswith((config.PACKAGE_ROOT, "<frozen")):
            line = linecache.getline(path, frame.f_lineno).strip()
            shown = f": {line}" if line else ""
            return f"{frame.f_code.co_name} ({os.path.basename(path)}:{frame.f_lineno}){shown}"
        frame = frame.f_back
    return ""


def refusal_at_line(
    what: str, *, rule: str, kind: str, error: type[Error] = Error, line: str | None = None
) -> Error:
    """A refusal that names the line of the function being traced, or the one given."""
    return located(error(what, rule=rule, kind=kind), line or where())


def unsupported(what: str, *, error: type[Error] = Error, line: str | None = None) -> Error:
    """The refusal of what no traced value supports (F3)."""
    kind = "gpubcast:unsupported while tracing"
    return refusal_at_line(what, rule="F3", kind=kind, error=error, line=line)


def untyped(line: str | None = None) -> Error:
    """The refusal of a scalar that no operand gives a type."""
    return refusal_at_line(
        "no operand beside a Python scalar has a type; pass a typed one, e.g. np.float32(2)",
        rule="A4",
        kind="gpubcast:scalar",
        error=ElementTypeError,
        line=line,
    )
