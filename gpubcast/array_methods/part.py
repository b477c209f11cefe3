"""What the parts of ``gpubcast.Array`` know of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpubcast.errors import ElementTypeError, Error, brief

if TYPE_CHECKING:
    # One base is enough: what machine code allocates has no more than a DeviceArray has.
    from gpubcast.backends.array_types import DeviceArray

    Part = DeviceArray
else:

    class Part:
        """A part of the class, without fields of its own."""

        __slots__ = ()


def refused_keywords(method: str, takes: str, others: dict[str, Any]) -> Error:
    """The refusal of keywords that NumPy's method of the name has."""
    names = ", ".join(f"{name}={brief(value)}" for name, value in others.items())
    return ElementTypeError(
        f"a.{method} takes {takes}, not {names}", rule="T0", kind="gpubcast:unknown keyword"
    )
