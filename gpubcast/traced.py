"""What a fused function sees of its operands: a type and a rank, never a value or a size.

What would need a value or a size is refused, with the line of the function that asked for it.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gpubcast import ops
from gpubcast.element_types import ElementType
from gpubcast.errors import ElementTypeError, Error, ShapeError, UnknownNameError
from gpubcast.expression import located

if TYPE_CHECKING:
    from gpubcast.tracing import Trace

_PACKAGE = os.path.dirname(__file__)


def outermost(function: Callable[..., Any], *args: Any) -> Any:
    """Trace a function; what called it is no part of it, and ``where`` does not look there."""
    return function(*args)


def where() -> str:
    """The line of the function being traced: the innermost one outside this package, or ""."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost.__code__:
        path = frame.f_code.co_filename
        if not path.startswith((_PACKAGE, "<frozen")):
            line = linecache.getline(path, frame.f_lineno).strip()
            shown = f": {line}" if line else ""
            return f"{frame.f_code.co_name} ({os.path.basename(path)}:{frame.f_lineno}){shown}"
        frame = frame.f_back
    return ""


def refused(
    what: str, *, rule: str, kind: str, error: type[Error] = Error, line: str | None = None
) -> Error:
    """A refusal that names the line of the function being traced, or the one given."""
    return located(error(what, rule=rule, kind=kind), line or where())


def unsupported(what: str, *, error: type[Error] = Error, line: str | None = None) -> Error:
    """The refusal of what no traced value supports (F3)."""
    kind = "gpubcast:unsupported while tracing"
    return refused(what, rule="F3", kind=kind, error=error, line=line)


_CHOOSE = "choose elementwise with gb.select, or name a parameter that decides in static="
_CALL = "call gpubcast's functions, such as gb.exp, in place of math's and NumPy's"


def _needs_value(what: str, instead: str) -> Error:
    return refused(
        f"{what} needs the value of a traced array, which a fused function does not have: it is "
        f"traced once, before any data; {instead}",
        rule="F1",
        kind="gpubcast:value while tracing",
        error=ElementTypeError,
    )


def _needs_size(what: str) -> Error:
    return refused(
        f"{what}: sizes cannot be read while tracing, because one traced function serves all; "
        "pass the size as an argument",
        rule="F2",
        kind="gpubcast:size while tracing",
        error=ShapeError,
    )


class Traced:
    """A value inside a function that is being fused.

    Attributes:
        element_type: its type; None for a scalar that has none yet.
        ndim: number of dimensions; with labels, of the axes.
    """

    # NumPy's scalars then leave operators to this class, and its functions ask for an array.
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    element_type: ElementType | None = None
    ndim = 0

    def __init__(self, trace: Trace, varies: frozenset[str]) -> None:
        self.trace = trace
        self.varies = varies

    def __repr__(self) -> str:
        return f"<traced {self.element_type or 'scalar'} of {self.ndim} dimensions>"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of an element."""
        if self.element_type is None:
            raise untyped()
        return self.element_type.dtype

    def __bool__(self) -> bool:
        raise _needs_value("a branch (if, while, and, or, not)", _CHOOSE)

    def __iter__(self) -> NoReturn:
        raise unsupported("a traced array is not iterated or unpacked: pass its parts as operands")

    def __contains__(self, x: Any) -> NoReturn:
        raise _needs_value("in", _CHOOSE)

    def __len__(self) -> int:
        raise _needs_size("len()")

    def __getitem__(self, key: Any) -> NoReturn:
        raise unsupported("a traced array is not indexed: slice the operand before the call")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise unsupported("a traced array is not written to: use gb.select")

    def __delitem__(self, key: Any) -> None:
        raise unsupported("nothing is deleted from a traced array")

    def __array__(self, *args: Any, **keywords: Any) -> NoReturn:
        raise _needs_value("a NumPy function, or a conversion to an array,", _CALL)

    def __array_function__(self, function: Any, *args: Any) -> NoReturn:
        raise _needs_value(f"numpy.{getattr(function, '__name__', 'function')}", _CALL)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "size"):
            raise _needs_size(f".{name}")
        if name.startswith("__") or name.startswith("_repr_"):
            raise AttributeError(name)
        hint = ops.suggestion(name)
        known = f"; call gb.{name}(x)" if name in ops.OPS and ops.OPS[name].public else hint
        raise unsupported(f"a traced array has no {name!r}{known}", error=UnknownNameError)


def _conversion(name: str) -> Callable[[Traced], NoReturn]:
    def convert(self: Traced) -> NoReturn:
        raise _needs_value(f"{name}()", _CALL)

    return convert


def _absent(operator: str) -> Callable[..., NoReturn]:
    def refuse(self: Traced, *others: Any) -> NoReturn:
        raise unsupported(f"a traced array has no {operator}")

    return refuse


for _name in ("int", "float", "complex", "index"):
    setattr(Traced, f"__{_name}__", _conversion(_name))
for _name, _shown in {
    "floordiv": "//", "rfloordiv": "//", "divmod": "divmod()", "rdivmod": "divmod()",
    "matmul": "@", "rmatmul": "@", "pos": "unary +", "round": "round()",
}.items():  # fmt: skip
    setattr(Traced, f"__{_name}__", _absent(_shown))


def untyped() -> Error:
    """The refusal of a scalar that no operand gives a type."""
    return refused(
        "no operand beside a Python scalar has a type; pass a typed one, e.g. np.float32(2)",
        rule="A4",
        kind="gpubcast:scalar",
        error=ElementTypeError,
    )
