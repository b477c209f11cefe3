"""Layouts: the order and the padding in which an array lies in linear memory.

Sources: XLA's "Shapes and Layout" page, ``layout_util.cc`` and, for padding, the ``Layout`` message
that the page quotes (``minor_to_major``, ``padded_dimensions``, ``padding_value``).
"""

from __future__ import annotations

import enum
import itertools
import operator
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, SupportsIndex

from gpubcast.errors import Error, LayoutError, brief, plain_text
from gpubcast.pictures.shown import Shown, shown_memory

# Sizes, strides and byte counts are int64 in XLA.
MAX_SIZE = 2**63 - 1

_KIND_COUNT = (
    "layout minor_to_major field contains <n> elements, but shape is rank <n>: <list>; "
    "shape: <proto>"
)
_KIND_BOUNDS = "layout minor_to_major field has out-of-bounds value: <list>; shape: <proto>"
_KIND_DUPLICATE = "layout minor_to_major field has duplicate values: <list>; shape: <proto>"
_KIND_PADDED_COUNT = "layout has <n> padded dimensions, but shape is rank <n>"
_KIND_PADDED_SMALL = (
    "for dimension <n>, dimension padding (<n>) is smaller than the dimension size (<n>) "
    "of the shape"
)


class PaddingValue(enum.Enum):
    """What the padding slots of a result hold; the numbers are those of the proto.

    INVALID and UNKNOWN promise nothing. The other four are written together with the result.
    """

    __module__ = "gpubcast"

    INVALID = 0
    ZERO = 1
    ONE = 2
    LOWEST = 3
    HIGHEST = 4
    UNKNOWN = 5

    @property
    def written(self) -> bool:
        """Whether the slots have a defined content that has to be written."""
        return self not in (PaddingValue.INVALID, PaddingValue.UNKNOWN)


# Integers that a message lists at most; no array of NumPy's has so many dimensions.
_MOST_LISTED = 64


def listed(values: Iterable[int]) -> str:
    """``"2, 3"``; an integer too long to be worth reading is shown by its width, and of a long list
    its beginning."""
    every = list(values)
    shown = [
        str(v) if v.bit_length() <= 64 else f"<{v.bit_length()}-bit integer>"
        for v in every[:_MOST_LISTED]
    ]
    more = [f"... {len(every)} in all"] if len(every) > _MOST_LISTED else []
    return ", ".join(shown + more)


def tupled(values: tuple[int, ...]) -> str:
    """``"(2, 3)"``, or its beginning; see ``listed``."""
    return f"({listed(values)},)" if len(values) == 1 else f"({listed(values)})"


def integers(values: object, what: str, error: type[Error], rule: str) -> tuple[int, ...]:
    """``values`` as a tuple of Python ints.

    Args:
        values: an ordered collection of ints, NumPy integers included; bool, float and str are
            not integers here.
        what: how the message calls the collection, e.g. ``"dimensions"``.
        error: the exception class to raise.
        rule: the id of the rule that a refusal cites.

    Raises:
        Error: of class ``error``, kind ``"gpubcast:not integers"``.
    """
    if type(values) is tuple:
        for value in values:
            if type(value) is not int:
                break
        else:
            return values
    unordered = isinstance(values, (str, bytes, bytearray, Set, Mapping))
    # An iterator has no length, and might have no end.
    if unordered or not hasattr(type(values), "__len__") or not isinstance(values, Iterable):
        raise error(
            f"{what} must be a sequence of integers, got {_brief(values)}",
            rule=rule,
            kind="gpubcast:not integers",
        )
    entries = entries_of(values)
    if entries is not None:
        return tuple(integer(value, f"an entry of {what}", error, rule) for value in entries)
    raise error(
        f"{what} must be a sequence of integers, got {_brief(values)}",
        rule=rule,
        kind="gpubcast:not integers",
    )


MOST_ENTRIES = 1_000_000
"""Entries of a sequence that are read: nothing has as many dimensions."""


def entries_of(values: Any) -> list[Any] | None:
    """The entries of a sequence; None for what has no length, or not as many entries as it says,
    as a rank-0 NumPy array, or has more than a million. Of an iterable without an end no more than
    it says is asked for."""
    if type(values) in (list, tuple):
        # Nothing foreign runs: what is raised here is a signal handler's, for its own caller.
        return list(values) if len(values) <= MOST_ENTRIES else None
    try:
        length = min(len(values), MOST_ENTRIES)
        entries = list(itertools.islice(values, length + 1))
    except Exception:  # whatever a foreign object raises
        return None
    return entries if len(entries) == length else None


def integer(value: object, what: str, error: type[Error], rule: str) -> int:
    """``value`` as a Python int; see :func:`integers`."""
    if type(value) is int:
        return value
    try:
        if not isinstance(value, bool) and isinstance(value, SupportsIndex):
            return operator.index(value)
    except Exception:  # it has the method, and refuses
        pass
    raise error(
        f"{what} must be an integer, got {_brief(value)}",
        rule=rule,
        kind="gpubcast:not integers",
    )


def _brief(value: object) -> str:
    return f"{brief(value)} ({type(value).__name__})"


def check_minor_to_major(minor_to_major: tuple[int, ...], rank: int) -> None:
    """Refuse what is not a permutation of ``0 .. rank-1``; the checks run in XLA's order.

    Raises:
        LayoutError: rule L2 (number of entries), L3 (an entry out of bounds) or L4 (twice).
    """
    entries = f"{{{listed(minor_to_major)}}}"
    if len(minor_to_major) != rank:
        raise LayoutError(
            f"layout minor_to_major field contains {len(minor_to_major)} elements, "
            f"but shape is rank {rank}: {entries}",
            rule="L2",
            kind=_KIND_COUNT,
        )
    if any(not 0 <= d < rank for d in minor_to_major):
        raise LayoutError(
            f"layout minor_to_major field has out-of-bounds value: {entries}; "
            f"the dimensions are 0 to {rank - 1}",
            rule="L3",
            kind=_KIND_BOUNDS,
        )
    if len(set(minor_to_major)) != rank:
        raise LayoutError(
            f"layout minor_to_major field has duplicate values: {entries}",
            rule="L4",
            kind=_KIND_DUPLICATE,
        )


def _check_padded_range(padded: tuple[int, ...]) -> None:
    # Smaller than every size, so XLA's template holds before the shape is known.
    if any(size < 0 for size in padded):
        raise LayoutError(
            f"padded_dimensions ({listed(padded)}) has a negative size",
            rule="L6",
            kind=_KIND_PADDED_SMALL,
        )
    if any(size > MAX_SIZE for size in padded):
        raise LayoutError(
            f"padded_dimensions ({listed(padded)}) has a size of 2^63 or more",
            rule="L6",
            kind="gpubcast:padded size",
        )


def strides_of(extents: Sequence[int], minor_to_major: Sequence[int]) -> tuple[int, ...]:
    """Elements between neighbours along each dimension.

    Law: the stride of dimension ``minor_to_major[k]`` is the product of the extents of
    ``minor_to_major[0 .. k-1]``.

    Args:
        extents: the size of each dimension in memory (the padded size where there is padding).
        minor_to_major: a permutation of the dimension numbers, fastest first.
    """
    strides = [0] * len(extents)
    step = 1
    for d in minor_to_major:
        strides[d] = step
        step *= extents[d]
    return tuple(strides)


# In XLA's order; tiles and the physical shapes of sparse layouts are not among them.
_ATTRIBUTES = re.compile(
    r"(D\([DCSH][+~]*(,[DCSH][+~]*)*\))?(L\(\d+\))?(#\(\w+\))?(\*\(\w+\))?(E\(\d+\))?(S\(\d+\))?"
    r"(SC(\(\d+:\d+(,\d+)*\))+)?(M\(\d+\))?"
)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Layout(Shown):
    """How the dimensions of an array lie in memory.

    Attributes:
        minor_to_major: the dimension numbers from the fastest varying to the slowest, a
            permutation of ``0 .. rank-1``.
        padded_dimensions: the size of each dimension in memory, in elements, at least the
            logical size; None without padding. The slots past the logical size are padding.
        padding_value: what the padding slots of a result hold.
        attributes: XLA's further attributes as canonical text, e.g. ``"L(256)S(2)"``. They are
            carried, compared and printed, and mean nothing to gpubcast: an array has none.

    Raises:
        LayoutError: rules L1 to L5, L7, L9.
    """

    __module__ = "gpubcast"

    minor_to_major: tuple[int, ...]
    padded_dimensions: tuple[int, ...] | None
    padding_value: PaddingValue
    attributes: str
    # Layouts are dictionary keys on hot paths, and the hash of an Enum runs Python code.
    _hash: int = field(init=False, compare=False)

    def __init__(
        self,
        minor_to_major: Iterable[SupportsIndex],
        padded_dimensions: Iterable[SupportsIndex] | None = None,
        padding_value: PaddingValue = PaddingValue.INVALID,
        attributes: str = "",
    ) -> None:
        order = integers(minor_to_major, "minor_to_major", LayoutError, "L1")
        check_minor_to_major(order, len(order))
        padded: tuple[int, ...] | None = None
        if padded_dimensions is not None:
            padded = integers(padded_dimensions, "padded_dimensions", LayoutError, "L1")
            if len(padded) != len(order):
                raise LayoutError(
                    f"layout has {len(padded)} padded dimensions, but shape is rank {len(order)}",
                    rule="L5",
                    kind=_KIND_PADDED_COUNT,
                )
            _check_padded_range(padded)
        if not isinstance(padding_value, PaddingValue):
            raise LayoutError(
                f"padding_value must be a PaddingValue, got {_brief(padding_value)}",
                rule="L7",
                kind="gpubcast:padding value",
            )
        if padded is None and padding_value is not PaddingValue.INVALID:
            raise LayoutError(
                f"padding_value {padding_value.name} needs padded_dimensions",
                rule="L7",
                kind="gpubcast:padding value",
            )
        plain = plain_text(attributes)
        if plain is None or not _ATTRIBUTES.fullmatch(plain):
            raise LayoutError(
                f"{_brief(attributes)} is no canonical text of layout attributes, such as 'S(1)'",
                rule="L9",
                kind="gpubcast:layout attributes",
            )
        put = object.__setattr__
        put(self, "minor_to_major", order)
        put(self, "padded_dimensions", padded)
        put(self, "padding_value", padding_value)
        put(self, "attributes", plain)
        put(self, "_hash", hash((order, padded, padding_value.value, plain)))

    @staticmethod
    def default(rank: int) -> Layout:
        """The row-major layout ``{rank-1, ..., 0}`` without padding.

        Raises:
            LayoutError: rule L1, ``rank`` is not an integer from 0 to a million.
        """
        number = integer(rank, "rank", LayoutError, "L1")
        if number < 0:
            raise LayoutError(
                f"rank must be at least 0, got {listed((number,))}",
                rule="L1",
                kind="gpubcast:negative rank",
            )
        if number > MOST_ENTRIES:
            raise LayoutError(
                f"rank must be at most {MOST_ENTRIES}, got {listed((number,))}",
                rule="L1",
                kind="gpubcast:rank",
            )
        return _default(number)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.minor_to_major)

    @property
    def is_default(self) -> bool:
        """Whether this is ``Layout.default(rank)``: row-major, no padding."""
        return self == _default(len(self.minor_to_major))

    def validate(self, dimensions: tuple[int, ...]) -> None:
        """Check that an array of these sizes can have this layout.

        Raises:
            LayoutError: rule L1 (no sequence of integers), L2 (rank) or L6 (a padded size below
                the logical size).
        """
        dimensions = integers(dimensions, "dimensions", LayoutError, "L1")
        if len(self.minor_to_major) != len(dimensions):
            check_minor_to_major(self.minor_to_major, len(dimensions))
        if self.padded_dimensions is None:
            return
        for d, (padded, size) in enumerate(zip(self.padded_dimensions, dimensions, strict=True)):
            if padded < size:
                raise LayoutError(
                    f"for dimension {d}, dimension padding ({listed((padded,))}) is smaller than "
                    f"the dimension size ({listed((size,))}) of the shape",
                    rule="L6",
                    kind=_KIND_PADDED_SMALL,
                )

    def permute(self, permutation: Iterable[SupportsIndex]) -> Layout:
        """The layout of the same memory when the dimensions are renumbered.

        Args:
            permutation: dimension ``i`` of the result is dimension ``permutation[i]`` of self.

        Raises:
            LayoutError: rule L8, not a permutation of ``0 .. rank-1``.
        """
        sources = integers(permutation, "permutation", LayoutError, "L8")
        if sorted(sources) != list(range(self.rank)):
            raise LayoutError(
                f"({listed(sources)}) is not a permutation of the {self.rank} dimensions",
                rule="L8",
                kind="gpubcast:not a permutation",
            )
        target = {source: i for i, source in enumerate(sources)}
        padded = self.padded_dimensions
        return Layout(
            tuple(target[d] for d in self.minor_to_major),
            None if padded is None else tuple(padded[source] for source in sources),
            self.padding_value,
            self.attributes,
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            Layout,
            (self.minor_to_major, self.padded_dimensions, self.padding_value, self.attributes),
        )

    def __str__(self) -> str:
        """HLO text with our padding suffix: ``{0,1}``, ``{0,1:pad(3,5,zero)}``."""
        order = ",".join(map(str, self.minor_to_major))
        suffix = self.attributes
        if self.padded_dimensions is not None:
            words = [str(size) for size in self.padded_dimensions]
            if self.padding_value is not PaddingValue.INVALID:
                words.append(self.padding_value.name.lower())
            suffix = f"pad({','.join(words)}){suffix}"
        return f"{{{order}:{suffix}}}" if suffix else f"{{{order}}}"

    def __repr__(self) -> str:
        parts = [f"minor_to_major={self.minor_to_major}"]
        if self.padded_dimensions is not None:
            parts.append(f"padded_dimensions={self.padded_dimensions}")
        if self.padding_value is not PaddingValue.INVALID:
            parts.append(f"padding_value={self.padding_value}")
        if self.attributes:
            parts.append(f"attributes={self.attributes!r}")
        return f"Layout({', '.join(parts)})"

    def _shown(self) -> dict[str, str]:
        sizes = self.padded_dimensions or (3, 4, 2, 2)[: len(self.minor_to_major)]
        sizes += (1,) * (len(self.minor_to_major) - len(sizes))
        strides, step = [0] * len(sizes), 1
        for d in self.minor_to_major:
            strides[d], step = step, step * sizes[d]
        order = ", ".join(map(str, self.minor_to_major))
        head = f"{self}: dimensions from the fastest to the slowest: {order or 'none'}"
        shown = "padded sizes" if self.padded_dimensions else "sizes as an example"
        name = f"{self}, {shown} {sizes}"
        return shown_memory(repr(self), head, name, sizes, sizes, tuple(strides), name)


@lru_cache(maxsize=64)
def _default(rank: int) -> Layout:
    return Layout(tuple(range(rank - 1, -1, -1)))


def check_layout(layout: object, what: str) -> None:
    """Refuse what is neither a Layout nor None.

    Raises:
        LayoutError: rule L11.
    """
    if layout is not None and not isinstance(layout, Layout):
        raise LayoutError(
            f"{what} must be a Layout or None, got {_brief(layout)}",
            rule="L11",
            kind="gpubcast:not a layout",
        )
