"""Named dimensions and labels: which dimension of an operand each label of its group is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import xarray

from gpubcast.errors import ShapeError, brief
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo.alignment import AlignmentCell, AlignmentGrid, AlignmentRow, CellState, render
from gpubcast.hlo.labels import ELLIPSIS, ONE, Group, LabelPattern

Sizes = dict[Hashable, int]


_TEMPLATES = {
    "V1": "gpubcast:dimensions and labels",
    "V2": "gpubcast:dimensions without labels",
    "V3": "gpubcast:coordinates",
}


def refused(what: str, rule: str) -> ShapeError:
    """A refusal by one of the rules V1 to V3."""
    return ShapeError(what, rule=rule, kind=_TEMPLATES[rule])


@dataclass(frozen=True, slots=True)
class NamedOperand:
    """An operand of xarray's.

    Attributes:
        name: what messages call it.
        group: its labels.
        value: a DataArray, a Dataset or a Variable.
    """

    name: str
    group: Group
    value: Any

    def variables(self) -> Iterator[tuple[Hashable | None, str, Sizes]]:
        """Each variable's name in its Dataset (None elsewhere), name in messages, and sizes."""
        if isinstance(self.value, xarray.Dataset):
            for key, one in self.value.data_vars.items():
                yield key, f"{self.name}[{key!r}]", dict(one.sizes)
        else:
            yield None, self.name, dict(self.value.sizes)

    def dimensions(self) -> Iterator[tuple[str, tuple[Hashable, ...]]]:
        """Each variable's name in messages, and its dimensions."""
        for key, shown, _ in self.variables():
            yield shown, (self.value if key is None else self.value[key]).dims

    def remaining(self, sizes: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """The dimensions that its group does not name: those of ``...``."""
        return tuple(dim for dim in sizes if dim not in self.group)


def pattern_of(function: Fused[..., Any], named: Sequence[int]) -> LabelPattern:
    """The labels of a function, where every one of them can be the name of a dimension.

    Args:
        function: the function.
        named: the groups whose operands have named dimensions.

    Raises:
        ShapeError: V2, it has no labels, or some that name no dimension.
    """
    name, pattern, composition = function._arguments.name, function._pattern, function._composition
    if pattern is None:
        raise refused(
            f"{name} has no labels, so nothing says which dimension is which: write them as "
            "gb.fuse('row col, col -> row col'), with the dimensions' names",
            "V2",
        )
    said = dict(function._told[4])
    if composition is not None and (
        any(
            len(one) != 1
            for group in (*composition.operands, *composition.outputs)
            for one in group
        )
        or any(label not in said for label, _ in composition.sizes)
    ):
        raise refused(
            f"{name}: composed axes and numbers are no dimensions that have a name: write a label "
            "for each, and call x.unstack() before or x.stack() after",
            "V2",
        )
    for i, group in enumerate((*pattern.operands, *pattern.outputs)):
        if ONE in group and (i in named or i >= len(pattern.operands)):
            what = function._arguments.array_names(i + 1)[i] if i in named else "a result"
            raise refused(
                f"{name}: '{pattern}' has the literal 1 for {what}, and a dimension has a name: "
                "leave the 1 out, and call x.squeeze() before or x.expand_dims() after",
                "V2",
            )
    return pattern


def check(name: str, pattern: LabelPattern, operands: Sequence[NamedOperand], equal: bool) -> None:
    """Refuse operands whose dimensions are not their labels.

    Args:
        name: the function's name.
        pattern: its labels.
        operands: what has named dimensions.
        equal: whether a label has to have one size, as where coordinates do not change it.

    Raises:
        ShapeError: V1, a dimension is missing or has no label, or ``...`` stands for other
            dimensions than in an operand before; X6, two sizes for one label.
    """
    for one in operands:
        for shown, dims in one.dimensions():
            twice = next((dim for dim in dims if dims.count(dim) > 1), None)
            if twice is not None:
                raise refused(
                    f"{name}: {shown} has the dimension {brief(twice)} twice, and a label stands "
                    f"once in a group: give one of them another name",
                    "V1",
                )
    seen = [(one, key, shown, sizes) for one in operands for key, shown, sizes in one.variables()]
    free: dict[Hashable | None, tuple[str, tuple[Hashable, ...]]] = {}
    found: dict[tuple[Hashable | None, Hashable], tuple[str, int]] = {}
    for one, key, shown, sizes in seen:
        left = one.remaining(sizes)
        missing = [label for label in one.group if label != ELLIPSIS and label not in sizes]
        more = left if ELLIPSIS not in one.group else ()
        if missing or more:
            raise _misnamed(name, pattern, [(o, s, z) for o, _, s, z in seen], shown, one, sizes)
        if ELLIPSIS in one.group:
            before = free.get(key) or free.get(None)
            if before is not None and set(before[1]) != set(left):
                raise refused(
                    f"{name}: '...' stands for {_listed(before[1])} in {before[0]} and for "
                    f"{_listed(left)} in {shown}; it is the same dimensions in each",
                    "V1",
                )
            free.setdefault(key, (shown, left))
        for dim, size in sizes.items() if equal else ():
            other = found.get((key, dim)) or found.get((None, dim)) or (shown, size)
            if other[1] != size:
                raise _unequal(name, [(o, s, z) for o, _, s, z in seen], dim, other, (shown, size))
            found.setdefault((key, dim), other)


Rows = Sequence[tuple[NamedOperand, str, Sizes]]


def _misnamed(
    name: str, pattern: LabelPattern, rows: Rows, shown: str, operand: NamedOperand, sizes: Sizes
) -> ShapeError:
    missing = [label for label in operand.group if label != ELLIPSIS and label not in sizes]
    more = operand.remaining(sizes) if ELLIPSIS not in operand.group else ()
    what, hints = [], []
    if missing:
        what.append(f"lacks {_listed(missing)}")
    if more:
        what.append(f"has {_listed(more)} besides")
        hints.append("'...' in a group stands for dimensions of any name")
    if missing and more:
        hints.insert(0, f"{operand.name}.rename({{{more[0]!r}: {missing[0]!r}}}) renames one")
    elif missing and isinstance(operand.value, xarray.Dataset):
        hints.append(f"choose variables, as by {operand.name}[['a', 'b']]")
    elif missing:
        hints.append(f"leave the label out of its group, '{' '.join(operand.group)}'")
    drawn = _drawn(pattern, rows, {(shown, dim) for dim in (*missing, *more)})
    return refused(
        f"{name}: the labels of {shown} are '{' '.join(operand.group)}', and it "
        f"{' and '.join(what)}: {'; '.join(hints)}\n{drawn}",
        "V1",
    )


def _unequal(
    name: str, rows: Rows, dim: Hashable, one: tuple[str, int], other: tuple[str, int]
) -> ShapeError:
    hint = (
        f"; drop a size of 1 by x.squeeze({dim!r}), and its label"
        if 1 in (one[1], other[1])
        else "; join= says what becomes of coordinates that differ"
    )
    drawn = _drawn(None, rows, {(other[0], dim)})
    return ShapeError(
        f"{name}: the dimension {dim!r} has size {one[1]} in {one[0]} and size {other[1]} in "
        f"{other[0]}{hint}\n{drawn}",
        rule="X6",
        kind="gpubcast:label size",
    )


def _drawn(pattern: LabelPattern | None, rows: Rows, wrong: set[tuple[str, Hashable]]) -> str:
    """The dimensions of the operands over labels and names."""
    axes: dict[Hashable, None] = {}
    if pattern is not None:
        axes.update(dict.fromkeys(x for x in pattern.labels if x not in (ELLIPSIS, ONE)))
    axes.update(dict.fromkeys(dim for _, _, sizes in rows for dim in sizes))
    drawn = []
    for _, shown, sizes in rows:
        cells = []
        for dim in axes:
            state = CellState.MATCHED if dim in sizes else CellState.ABSENT
            state = CellState.WRONG if (shown, dim) in wrong else state
            cells.append(AlignmentCell(state, str(sizes.get(dim, "·"))))
        drawn.append(AlignmentRow(shown, tuple(cells)))
    headings = tuple(dim if isinstance(dim, str) else brief(dim) for dim in axes)
    return render(AlignmentGrid(headings, tuple(drawn), "dimension"))


def _listed(dims: Sequence[Hashable]) -> str:
    if not dims:
        return "no dimension"
    noun = "the dimension" if len(dims) == 1 else "the dimensions"
    return f"{noun} {', '.join(map(brief, dims))}"
