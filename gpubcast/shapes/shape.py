"""Shapes: element type, dimensions and layout of an array, and its index maps.

Sources: XLA's "Shapes and Layout" page, ``shape_util.h`` and ``index_util.h``.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, SupportsIndex

from gpubcast.errors import LayoutError, ShapeError, brief
from gpubcast.pictures.shown import Shown, shown_memory
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.element_types import element_type as as_element_type
from gpubcast.shapes.layout import (
    MAX_SIZE,
    Layout,
    PaddingValue,
    check_layout,
    integer,
    integers,
    listed,
    strides_of,
)
from gpubcast.shapes.parser import parse_shape_text, with_caret

_DIMENSION_NAMES = {2: ("y", "x"), 3: ("z", "y", "x"), 4: ("p", "z", "y", "x")}
_EXTREMES = (PaddingValue.LOWEST, PaddingValue.HIGHEST)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shape(Shown):
    """The shape of an array: what its elements are, how many, and where each lies in memory.

    Shapes are equal when type, dimensions and layout are, padding included, as in XLA.

    Args:
        element_type: an XLA name, an ElementType or a NumPy dtype.
        dimensions: the logical sizes, each at least 0.
        layout: None for row-major.

    Attributes:
        strides: elements between neighbours along each dimension, from the padded sizes.
        padded_dimensions: the sizes in memory; the logical sizes where nothing is padded.
        num_elements: number of logical elements.
        allocated_elements: number of elements in memory, padding slots included.
        byte_size: bytes of the allocation.

    Raises:
        ElementTypeError: rule T1, no such element type.
        ShapeError: rules S1 (sizes are integers), S2 (XLA's limits: sizes of at least 0, and
            element size times dimensions, from left to right, within int64), S3 (the same
            limits for the padded sizes).
        LayoutError: rules L2, L6, L10, L11.
    """

    __module__ = "gpubcast"

    element_type: ElementType
    dimensions: tuple[int, ...]
    layout: Layout
    padded_dimensions: tuple[int, ...] = field(init=False, compare=False)
    strides: tuple[int, ...] = field(init=False, compare=False)
    num_elements: int = field(init=False, compare=False)
    allocated_elements: int = field(init=False, compare=False)
    byte_size: int = field(init=False, compare=False)
    # Shapes are dictionary keys on hot paths.
    _hash: int = field(init=False, compare=False)

    def __init__(
        self,
        element_type: Any,
        dimensions: Iterable[SupportsIndex],
        layout: Layout | None = None,
    ) -> None:
        row = as_element_type(element_type)
        sizes = integers(dimensions, "dimensions", ShapeError, "S1")
        byte_size = _checked_bytes(row, sizes, rule="S2")
        itemsize = row.itemsize
        elements = allocated = byte_size // itemsize
        padded = sizes
        if layout is None:
            layout = Layout.default(len(sizes))
        else:
            check_layout(layout, "layout")
            layout.validate(sizes)
            if layout.padded_dimensions is not None:
                padded = layout.padded_dimensions
                byte_size = _checked_bytes(row, padded, rule="S3")
                allocated = byte_size // itemsize
                if row.is_complex and layout.padding_value in _EXTREMES:
                    raise LayoutError(
                        f"complex numbers have no order, so the padding of {row}"
                        f"[{_joined(sizes)}] cannot be {layout.padding_value.name}",
                        rule="L10",
                        kind="gpubcast:padding value",
                    )
        strides = strides_of(padded, layout.minor_to_major)
        _put_element_type(self, row)
        _put_dimensions(self, sizes)
        _put_layout(self, layout)
        _put_padded_dimensions(self, padded)
        _put_strides(self, strides)
        _put_num_elements(self, elements)
        _put_allocated_elements(self, allocated)
        _put_byte_size(self, byte_size)
        _put_hash(self, hash((row, sizes, layout)))

    @classmethod
    def parse(cls, text: str) -> Shape:
        """The shape that HLO text states, e.g. ``"f32[2,3]{0,1}"``, ``"f32[2]{0:pad(4,zero)}"``.

        Raises:
            ShapeError: rules S2, S3, S8 (not a shape), S9, S10 (not supported yet).
            LayoutError: rules L2 to L7, L9 (an attribute that is not supported yet), L10.
        """
        parsed = parse_shape_text(text)
        try:
            return cls(parsed.element_type, parsed.dimensions, parsed.layout)
        except LayoutError as error:
            raise with_caret(error, text, parsed.layout_at) from None
        except ShapeError as error:
            raise with_caret(error, text, parsed.dimensions_at) from None

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dimensions)

    @property
    def true_rank(self) -> int:
        """Number of dimensions of size greater than 1."""
        return sum(size > 1 for size in self.dimensions)

    @property
    def is_scalar(self) -> bool:
        """Whether the rank is 0."""
        return not self.dimensions

    @property
    def is_padded(self) -> bool:
        """Whether some padded size is greater than the logical size."""
        return self.padded_dimensions != self.dimensions

    @property
    def dimension_names(self) -> tuple[str, ...] | None:
        """XLA's letters for ranks 2, 3 and 4, e.g. ``("z", "y", "x")``; None for other ranks."""
        return _DIMENSION_NAMES.get(len(self.dimensions))

    def dimension_number(self, n: int) -> int:
        """``n`` counted from the front: -1 is the last dimension, as in Python.

        Raises:
            ShapeError: rule S4, there is no such dimension.
        """
        number = integer(n, "a dimension number", ShapeError, "S4")
        rank = len(self.dimensions)
        if not -rank <= number < rank:
            legal = f"has dimensions {-rank} to {rank - 1}" if rank else "has no dimensions"
            raise ShapeError(
                f"dimension number {listed((number,))} is out of range: "
                f"{self.text(layout=False)} {legal}",
                rule="S4",
                kind="gpubcast:dimension number",
                operands=(self,),
            )
        return number % rank

    def dimension(self, n: int) -> int:
        """The size of dimension ``n``; negative numbers count from the back.

        Raises:
            ShapeError: rule S4, there is no such dimension.
        """
        return self.dimensions[self.dimension_number(n)]

    def linear_index(self, multi: Iterable[SupportsIndex]) -> int:
        """Where in the buffer, in elements, the element at ``multi`` lies.

        Raises:
            ShapeError: rule S5, not one index per dimension within the logical sizes.
        """
        index = integers(multi, "a multidimensional index", ShapeError, "S5")
        sizes = self.dimensions
        inside = len(index) == len(sizes) and all(
            0 <= i < size for i, size in zip(index, sizes, strict=True)
        )
        if not inside:
            raise ShapeError(
                f"index ({listed(index)}) is not inside {self.text(layout=False)}",
                rule="S5",
                kind="gpubcast:index out of bounds",
                operands=(self,),
            )
        return sum(map(operator.mul, index, self.strides))

    def multi_index(self, linear: int) -> tuple[int, ...] | None:
        """Which element lies at ``linear`` in the buffer, in elements; None for a padding slot.

        Raises:
            ShapeError: rule S6, ``linear`` is outside the allocation.
        """
        rest = integer(linear, "a linear index", ShapeError, "S6")
        if not 0 <= rest < self.allocated_elements:
            raise ShapeError(
                f"linear index {listed((rest,))} is outside {self}, "
                f"which allocates {self.allocated_elements} elements",
                rule="S6",
                kind="gpubcast:index out of bounds",
                operands=(self,),
            )
        index = [0] * len(self.dimensions)
        for d in self.layout.minor_to_major:
            rest, index[d] = divmod(rest, self.padded_dimensions[d])
            if index[d] >= self.dimensions[d]:
                return None
        return tuple(index)

    def with_layout(self, layout: Layout | None) -> Shape:
        """The same type and dimensions in another layout; None for row-major."""
        return Shape(self.element_type, self.dimensions, layout)

    def with_element_type(self, element_type: Any) -> Shape:
        """The same dimensions and layout, padding included, of another element type."""
        return Shape(element_type, self.dimensions, self.layout)

    def with_dimensions(self, dimensions: Iterable[SupportsIndex]) -> Shape:
        """The same element type with other dimensions, row-major."""
        return Shape(self.element_type, dimensions)

    def transpose(self, permutation: Iterable[SupportsIndex]) -> Shape:
        """The shape of the same memory with the dimensions renumbered.

        Args:
            permutation: dimension ``i`` of the result is dimension ``permutation[i]`` of self.

        Raises:
            ShapeError: rule S7, not a permutation of ``0 .. rank-1``.
        """
        sources = integers(permutation, "permutation", ShapeError, "S7")
        if sorted(sources) != list(range(self.rank)):
            raise ShapeError(
                f"Transpose dimensions [{_joined(sources)}] are not a permutation of the operand "
                f"dimensions (operand shape is {self}).",
                rule="S7",
                kind="Transpose dimensions <list> are not a permutation of the operand dimensions "
                "(operand shape is <shape>).",
                operands=(self,),
            )
        sizes = tuple(self.dimensions[source] for source in sources)
        return Shape(self.element_type, sizes, self.layout.permute(sources))

    def same_dimensions(self, other: Shape) -> bool:
        """Whether the dimensions are equal, whatever the types and layouts."""
        return self.dimensions == as_shape(other).dimensions

    def compatible(self, other: Shape) -> bool:
        """Whether type and dimensions are equal, whatever the layouts (XLA's Compatible)."""
        other = as_shape(other)
        return self.element_type is other.element_type and self.dimensions == other.dimensions

    def text(self, layout: bool = True) -> str:
        """HLO text: ``"f32[2,3]{1,0}"``, without layout ``"f32[2,3]"``; a scalar is ``"f32[]"``."""
        head = f"{self.element_type}[{_joined(self.dimensions)}]"
        order = str(self.layout) if layout else "{}"
        return head if order == "{}" else head + order

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return (Shape, (self.element_type, self.dimensions, self.layout))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f'Shape.parse("{self.text()}")'

    def _shown(self) -> dict[str, str]:
        plural = "s" * (self.num_elements != 1)
        slots = f"{self.num_elements:,} element{plural}, {self.byte_size:,} bytes"
        sizes = self.dimensions, self.padded_dimensions, self.strides
        return shown_memory(repr(self), f"{self}: {slots}", str(self), *sizes)


# A frozen object's attributes are put into their slots: looked up by name it takes twice as long,
# and shapes are made on hot paths.
(
    _put_element_type,
    _put_dimensions,
    _put_layout,
    _put_padded_dimensions,
    _put_strides,
    _put_num_elements,
    _put_allocated_elements,
    _put_byte_size,
    _put_hash,
) = (getattr(Shape, one.name).__set__ for one in fields(Shape))


def _joined(values: tuple[int, ...]) -> str:
    return listed(values).replace(" ", "")


def _checked_bytes(row: ElementType, sizes: tuple[int, ...], *, rule: str) -> int:
    # From left to right, as XLA does: a size 0 hides only what stands after it.
    size = row.itemsize
    for extent in sizes:
        size *= extent
        if not 0 <= extent <= MAX_SIZE or size > MAX_SIZE:
            break
    else:
        return size
    reason = (
        "a size is negative"
        if any(extent < 0 for extent in sizes)
        else f"a signed 64-bit integer cannot count the bytes of its {row} elements"
    )
    raise ShapeError(
        f"invalid shape type={row.primitive_type}, dims=[{_joined(sizes)}]"
        f"{' (padded)' if rule == 'S3' else ''}: {reason}",
        rule=rule,
        kind="invalid shape type=<n>, dims=<list>",
    )


def as_shape(x: Any) -> Shape:
    """A Shape, or the one that a text states.

    Raises:
        Error: ``x`` is neither, or the text is refused.
    """
    if isinstance(x, Shape):
        return x
    if isinstance(x, str):
        return Shape.parse(x)
    hint = "; describe an array with gb.array(x).xla_shape" if hasattr(type(x), "dtype") else ""
    raise ShapeError(
        f"expected a Shape or its text, such as 'f32[2,3]', got {brief(x)}{hint}",
        rule="S11",
        kind="gpubcast:not a shape",
    )
