"""Keywords of operations: what values they take, and their one canonical form."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

from gpubcast.errors import brief, plain_text
from gpubcast.hlo.broadcasting import integer_list
from gpubcast.shapes.element_types import element_type

REQUIRED: Final = object()
"""The default of a keyword that has none."""


@dataclass(frozen=True, slots=True)
class AttributeType:
    """What values a keyword takes.

    Attributes:
        annotation: the type as the public functions write it.
        python: the type of a canonical value.
        canonical: ``canonical(operation, attribute, value)``: the value as a hashable one. Equal
            values become equal ones and different ones differ, so that they may be keys.
    """

    annotation: str
    python: type
    canonical: Callable[[str, Attribute, Any], Hashable]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A keyword of an operation.

    Attributes:
        name: the keyword.
        type: what values it takes.
        doc: what it says, for docstrings.
        default: its value where it is not given; ``REQUIRED`` if it must be.
        choices: the only values that it may have; any if empty.
        minimum: of an integer, the least that it may be.
        maximum: of an integer, the most that it may be.
        saturation: of an integer, the value from which on more makes no difference.
        positional: whether it may be given by position, as ``jax.lax`` takes it.
        hlo: what HLO calls it; empty where an instruction says it with its result's shape.
    """

    name: str
    type: AttributeType
    doc: str
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    saturation: int | None = None
    positional: bool = False
    hlo: str | None = None

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is REQUIRED

    @property
    def annotation(self) -> str:
        """Its type as the public functions write it: where it has choices, these."""
        if not self.choices:
            return self.type.annotation
        return "Literal[" + ", ".join(f'"{one}"' for one in self.choices) + "]"

    @property
    def hlo_name(self) -> str:
        """What an HLO instruction calls it; empty where its result's shape says it."""
        return self.name if self.hlo is None else self.hlo

    def canonical(self, operation: str, value: Any) -> Hashable:
        """A value in the form in which graphs and keys have it.

        Raises:
            ShapeError: B1 or B2, no list of integers; ElementTypeError: T1, no element type.
        """
        return self.type.canonical(operation, self, value)


def _integers(operation: str, attribute: Attribute, value: Any) -> Hashable:
    return integer_list(operation, attribute.name, value)


def _dimension(operation: str, attribute: Attribute, value: Any) -> Hashable:
    (number,) = integer_list(operation, attribute.name, (value,))
    return number


def _integer(operation: str, attribute: Attribute, value: Any) -> Hashable:
    # No rule takes anything else; the one that refuses it shows it.
    if not hasattr(type(value), "__index__") or isinstance(value, bool):
        return brief(value)
    try:
        number, most = operator.index(value), attribute.saturation
    except Exception:  # it has the method, and refuses: a NumPy array of one dimension
        return brief(value)
    return number if most is None else min(number, most)


def _word(operation: str, attribute: Attribute, value: Any) -> Hashable:
    # No rule takes anything else; the one that refuses it shows it.
    if isinstance(value, bool):
        return value
    text = plain_text(value)
    return brief(value) if text is None else text


def _element_type(operation: str, attribute: Attribute, value: Any) -> Hashable:
    return element_type(value).name


INTEGERS = AttributeType("Sequence[int]", tuple, _integers)
# A size or the number of a dimension: refused as an entry of INTEGERS is (B2).
DIMENSION = AttributeType("int", int, _dimension)
INTEGER = AttributeType("int", int, _integer)
BOOLEAN = AttributeType("bool", bool, _word)
STRING = AttributeType("str", str, _word)
ELEMENT_TYPE = AttributeType("ElementTypeLike", str, _element_type)
# Axes of an operand; labels stand for them inside a function that has some.
AXES = AttributeType("Sequence[int] | str | Sequence[str]", tuple, _integers)
AXIS = AttributeType("int | str", int, _dimension)
