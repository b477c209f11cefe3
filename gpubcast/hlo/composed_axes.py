"""Dimensions that several labels make up, and numbers in place of labels, as einx writes them.

``"b (h d), d -> b h d"``: the second dimension of the first operand is ``h`` times ``d`` elements,
``h`` the slower one. A number ``n`` above 1 is an axis of its own of that size. Both only say how
memory is seen: an operand's dimension becomes several, and several of a result one, without a copy.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpubcast.errors import ShapeError, brief, plain_text, quoted
from gpubcast.hlo import labels
from gpubcast.hlo.labels import ELLIPSIS, ONE, Group, LabelPattern

_TOKEN = re.compile(r"\(|\)|[^\s()]+")
_NUMBER = re.compile(r"[1-9][0-9]*")
Dimensions = tuple[Group, ...]
"""A group, one entry per dimension: the labels that make it up."""


@dataclass(frozen=True, slots=True)
class Composition:
    """Where labels and dimensions differ.

    Attributes:
        operands, outputs: the labels of each dimension.
        sizes: what the text, or ``sizes=``, says of labels.
    """

    operands: tuple[Dimensions, ...]
    outputs: tuple[Dimensions, ...]
    sizes: tuple[tuple[str, int], ...]


def refusal(what: str) -> ShapeError:
    """The refusal of what composed axes do not say, or do not do (X10)."""
    return ShapeError(f"{what} [X10]", rule="X10", kind="gpubcast:composed axes")


def read(text: Any, sizes: Any) -> tuple[LabelPattern, Composition | None]:
    """Labels, and how they make up dimensions; None where each label is one.

    Args:
        text: labels, with composed axes and numbers or without.
        sizes: a mapping from labels to their sizes.

    Raises:
        ShapeError: X1, the text is malformed; X10, ``sizes`` is no such mapping, or names what is
            no label; and what ``labels.parse`` refuses.
    """
    given = _checked(sizes)
    plain = plain_text(text)
    if plain is None or (not given and not re.search(r"[()]|(?<![\w.])\d", plain)):
        return labels.parse(text), None
    taken = set(re.findall(r"[A-Za-z_]\w*", plain))
    fresh = (f"_{k}" for k in itertools.count())
    sides = [
        [_dimensions(group, plain, taken, fresh, given) for group in side.split(",")]
        for side in plain.split("->")
    ]
    flat = " -> ".join(", ".join(" ".join(x for d in one for x in d) for one in s) for s in sides)
    pattern = labels.parse(flat, frozenset(given))
    for label in given:
        if label not in pattern.labels:
            raise refusal(f"sizes= names {label!r}, and the labels are {', '.join(pattern.labels)}")
    operands, outputs = (tuple(side) for side in sides)
    known = tuple(given.items())
    if not known and all(len(d) == 1 for side in sides for one in side for d in one):
        return pattern, None
    return pattern, Composition(operands, outputs, known)


def _checked(sizes: Any) -> dict[str, int]:
    if not isinstance(sizes, Mapping):
        raise refusal(f"sizes is a mapping from labels to sizes, not {brief(sizes)}")
    try:
        entries = list(sizes.items())
    except Exception as error:  # whatever a foreign object raises
        raise refusal("sizes is a mapping that cannot be read") from error
    found = {}
    for label, size in entries:
        name = plain_text(label)
        if name is None or type(size) is not int or size < 0:
            raise refusal(
                f"sizes={{{brief(label)}: {brief(size)}}}: the size of a label is a number"
            )
        found[name] = size
    return found


def _dimensions(
    group: str, text: str, taken: set[str], fresh: Any, sizes: dict[str, int]
) -> Dimensions:
    """The dimensions of one group; numbers become labels whose sizes are known."""
    found: list[Group] = []
    inner: list[str] | None = None
    for token in _TOKEN.findall(group):
        if token in "()":
            if (token == "(") is (inner is not None):
                raise labels.malformed(f"axis labels {quoted(text)}: parentheses do not nest")
            if inner is None:
                inner = []
                continue
            found.append(tuple(inner))
            inner = None
            continue
        if _NUMBER.fullmatch(token) and token != ONE:
            name = next(one for one in fresh if one not in taken)
            sizes[name] = int(token)
            token = name
        if inner is None:
            found.append((token,))
        else:
            inner.append(token)
    if inner is not None:
        raise labels.malformed(f"axis labels {quoted(text)}: a parenthesis is not closed")
    return tuple(found)


def with_ellipsis(group: Dimensions, count: int) -> Dimensions:
    """The dimensions with as many axes in place of ``...``."""
    axes = tuple(f"...{k}" for k in range(count))
    made: list[Group] = []
    for one in group:
        if one == (ELLIPSIS,):
            made += [(axis,) for axis in axes]
        else:
            made.append(tuple(x for y in one for x in (axes if y == ELLIPSIS else (y,))))
    return tuple(made)


def solved(
    composition: Composition, shapes: Sequence[tuple[int, ...] | None], names: Sequence[str]
) -> tuple[dict[str, int], int]:
    """The size of every label, and the number of axes of ``...``.

    Args:
        composition: the labels.
        shapes: the operands' sizes; None for one that is no array.
        names: what the operands are called.

    Raises:
        ShapeError: X5, another number of dimensions; X10, sizes do not divide, or are not known.
    """
    known = dict(composition.sizes)
    places: list[tuple[str, Group, int]] = []
    count = 0
    for name, group, shape in zip(names, composition.operands, shapes, strict=True):
        if shape is None:
            continue
        if any(ELLIPSIS in one for one in group if len(one) > 1):
            raise refusal(f"{name}: '...' within a composed axis of an operand has no known sizes")
        if (ELLIPSIS,) in group:
            count = max(len(shape) - len(group) + 1, 0)
        wanted = with_ellipsis(group, count)
        if len(wanted) != len(shape):
            shown = " ".join(f"({' '.join(x)})" if len(x) != 1 else x[0] for x in group)
            raise ShapeError(
                f"{name} has {labels.counted(len(shape), 'dimension')}, and its group '{shown}' "
                f"has {len(wanted)} [X5]",
                rule="X5",
                kind="gpubcast:labels and rank",
            )
        places += [(name, one, size) for one, size in zip(wanted, shape, strict=True)]
    before = -1
    while before != len(known):
        before = len(known)
        for name, one, size in places:
            _solve(known, name, one, size, dict(composition.sizes))
    for name, one, size in places:
        unknown = [label for label in one if label != ONE and label not in known]
        if unknown:
            raise refusal(
                f"{name}: the sizes of {' and '.join(map(repr, unknown))} in an axis of {size} "
                f"elements are not known; say one of them: sizes={{{unknown[0]!r}: ...}}"
            )
    return known, count


def _solve(
    sizes: dict[str, int], name: str, group: Group, size: int, said: Mapping[str, int]
) -> None:
    unknown = [label for label in group if label != ONE and label not in sizes]
    product = math.prod(sizes.get(label, 1) for label in group)
    shown = f"({' '.join(group)})" if len(group) != 1 else repr(group[0])
    if len(unknown) == 1 and len(group) == 1:
        sizes[unknown[0]] = size
    elif len(unknown) == 1:
        if not product or size % product:
            raise refusal(
                f"{name} has size {size} along {shown}, which is no multiple of {product}"
            )
        sizes[unknown[0]] = size // product
    elif not unknown and product != size and (len(group) != 1 or group[0] in said):
        raise refusal(f"{name} has size {size} along {shown}, whose labels make {product}")
