"""A StableHLO module as gpubcast reads it: plain data, apart from the bindings that parsed it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpubcast.errors import ElementTypeError, Error
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType

DYNAMIC = -1
"""The size of a dimension that a type leaves open."""

_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([^,>]+(?:<[^>]*>)?)>")
_NAMES = {
    "i1": "pred",
    **{f"i{bits}": f"s{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"ui{bits}": f"u{bits}" for bits in (4, 8, 16, 32, 64)},
    "complex<f32>": "c64",
    "complex<f64>": "c128",
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of a value.

    Attributes:
        element_type: the type of its elements.
        dimensions: its sizes; ``DYNAMIC`` for one that the type leaves open.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]

    def __str__(self) -> str:
        sizes = ",".join("?" if n == DYNAMIC else str(n) for n in self.dimensions)
        return f"{self.element_type}[{sizes}]"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        name: with its dialect, ``stablehlo.add``.
        operands, results: numbers of values of the function.
        types: the results' types, as MLIR writes them.
        attributes: numbers, texts, and tuples of numbers; of a constant, its text as ``value``.
        regions: functions that it applies.
        location: file and line of the source, or the operation's place in its function.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[str, ...]
    attributes: Mapping[str, Any]
    regions: tuple[Function, ...]
    location: str

    @property
    def named(self) -> str:
        """The operation as messages name it."""
        target = self.attributes.get("call_target_name")
        shown = f"{self.name} @{target}" if target else self.name
        return f"{shown} ({self.location})" if self.location else shown


@dataclass(frozen=True, slots=True)
class Function:
    """A function, or the region of an operation.

    Attributes:
        name: without the @.
        parameters, results: numbers of values.
        types: the parameters' types, as MLIR writes them.
        operations: in order; the one that returns is left out.
        public: whether other modules may call it.
        fixed: per parameter its number where no call gives it, which is so for the number of the
            platform that JAX exports for several; else None.
    """

    name: str
    parameters: tuple[int, ...]
    types: tuple[str, ...]
    operations: tuple[Operation, ...]
    results: tuple[int, ...]
    public: bool = True
    fixed: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class StablehloModule:
    """A module: its functions by their names."""

    functions: Mapping[str, Function] = field(default_factory=dict)

    def function(self, name: str | None) -> Function:
        """A function by its name; without one ``main``, or the only public function.

        Raises:
            Error: H4, there is none.
        """
        public = [one for one in self.functions.values() if one.public]
        if name is None:
            name = "main" if "main" in self.functions or len(public) != 1 else public[0].name
        found = self.functions.get(name)
        if found is None:
            listed = ", ".join(self.functions) or "none"
            raise Error(
                f"the module has no function @{name}; it has {listed}",
                rule="H4",
                kind="gpubcast:stablehlo function",
            )
        return found


def tensor_type(text: str, where: str) -> TensorType:
    """The type of a value from MLIR's text.

    Raises:
        ElementTypeError: H3, it is no tensor of elements that gpubcast has.
    """
    matched = _TENSOR.fullmatch(text)
    name = "" if matched is None else matched[2].lower()
    found = ELEMENT_TYPES.get(_NAMES.get(name, name))
    if matched is None or found is None:
        raise ElementTypeError(
            f"{where}: {text} is no tensor of a type that gpubcast has; tokens, tuples, quantised "
            "types, encodings and the other narrow types are refused",
            rule="H3",
            kind="gpubcast:stablehlo type",
        )
    sizes = matched[1].split("x")[:-1]
    return TensorType(found, tuple(DYNAMIC if n == "?" else int(n) for n in sizes))


def operations_of(function: Function) -> Iterator[Operation]:
    """Every operation of a function, those of regions too."""
    for operation in function.operations:
        yield operation
        for region in operation.regions:
            yield from operations_of(region)
