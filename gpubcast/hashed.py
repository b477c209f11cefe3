"""A hash that is computed once, for frozen values that are part of every call's key."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Hashed:
    """Base of a frozen dataclass with slots, which names ``__hash__ = Hashed.__hash__`` itself.

    The hash is no field: it is neither compared nor pickled.
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash(tuple(_compared(self)))
            object.__setattr__(self, "_hash", value)
            return value


def _compared(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value) if field.compare]
