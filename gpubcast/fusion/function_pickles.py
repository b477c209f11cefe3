"""How a fused function's own function is pickled: by name where its module has it, else by value.

``pickle`` writes functions by name alone, ``cloudpickle`` writes those of ``__main__``, lambdas and
local ones by value. Both ask for a plain function, which the fused one hides: ``module.name`` is
the fused function. So a stand-in is pickled, a copy that is found as ``module.name.by_name``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

ATTRIBUTE = "by_name"
"""Where a fused function has its stand-in."""
_NAMELESS = "a fused function without a name of its own in its module; cloudpickle takes it: "


def found(module: str | None, name: str) -> Any:
    """What a module has by a qualified name; None where there is neither."""
    here: Any = sys.modules.get(module or "")
    for part in name.split("."):
        here = getattr(here, part, None)
    return here


def stand_in(function: Callable[..., Any], *, owner: object) -> Callable[..., Any]:
    """The function that is pickled for the one that ``owner`` fuses.

    Where no name leads to either, ``pickle`` refuses the stand-in by the name that it has, which
    says what to do; ``cloudpickle`` takes it by value.
    """
    name = function.__qualname__
    named = found(function.__module__, name)
    if named is function and isinstance(function, FunctionType):
        return function
    if named is owner:
        return _copy(function, f"{name}.{ATTRIBUTE}")
    return _copy(function, _NAMELESS + name)


def again(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, by its own name, of a stand-in that was pickled by value."""
    return function if function.__qualname__ == name else _copy(function, name)


def _copy(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    assert isinstance(function, FunctionType)
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__dict__.update(function.__dict__)
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    made.__qualname__ = name
    return made
