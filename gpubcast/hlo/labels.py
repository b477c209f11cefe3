"""Axis labels: ``"row col, row -> row col"`` says once where every operand's dimensions go.

The spelling is that of einops and einx: groups of labels, separated by commas; operands before
the arrow and outputs after it. A literal ``1`` is a dimension of size 1 and belongs to no label.
``...`` stands for any number of axes, the same in every group that has it: where the operands'
ranks are known, labels take its place (``expanded``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpubcast.errors import ShapeError, brief, plain_text, quoted
from gpubcast.hlo.alignment import AlignmentCell, AlignmentGrid, AlignmentRow, CellState, render
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

ONE = "1"
ELLIPSIS = "..."
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOREIGN = {
    "(": "composed axes: a label is one dimension, reshape the operand first",
    ")": "composed axes: a label is one dimension, reshape the operand first",
    "[": "brackets: gb.reduce_sum(x, 'label') and the like say what is reduced",
    "]": "brackets: gb.reduce_sum(x, 'label') and the like say what is reduced",
}

Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelPattern:
    """Parsed labels.

    Attributes:
        operands, outputs: one group of labels each.
    """

    operands: tuple[Group, ...]
    outputs: tuple[Group, ...]

    def __str__(self) -> str:
        sides = (", ".join(map(" ".join, side)).strip() for side in (self.operands, self.outputs))
        return " -> ".join(sides)

    @property
    def axes(self) -> Group:
        """Every label once: the outputs' in order, then those that no output has."""
        groups = (*self.outputs, *self.operands)
        return tuple(dict.fromkeys(x for group in groups for x in group if x != ONE))

    @property
    def labels(self) -> Group:
        """Every label once, in the order of its first appearance in the text."""
        groups = (*self.operands, *self.outputs)
        return tuple(dict.fromkeys(x for group in groups for x in group if x != ONE))

    def place(self, group: Group) -> tuple[int | None, ...]:
        """For each dimension of a group, its axis; None for a literal 1."""
        axes = self.axes
        return tuple(None if label == ONE else axes.index(label) for label in group)

    def source(self, label: str) -> tuple[int, int]:
        """The first operand that has a label, and the dimension."""
        return next(
            (i, group.index(label)) for i, group in enumerate(self.operands) if label in group
        )


def parse(text: str, sized: frozenset[str] = frozenset()) -> LabelPattern:
    """Parse labels.

    Args:
        text: labels, each one dimension.
        sized: labels whose sizes are known without an operand.

    Raises:
        ShapeError: X1, the text is malformed; X2, a label twice in one group; X3, an output's
            label that no operand has.
    """
    plain = plain_text(text)
    if plain is None:
        raise malformed(f"axis labels are text, not {brief(text)}")
    return _parsed(plain, sized)


@lru_cache(4096)
def _parsed(text: str, sized: frozenset[str]) -> LabelPattern:
    shown = f"axis labels {quoted(text)}"
    for sign, why in _FOREIGN.items():
        if sign in text:
            raise malformed(f"{shown} have {why}")
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        raise malformed(f"{shown}: operands and outputs are separated by one '->'")
    sides = tuple(
        tuple(_group(part, shown) for part in side.split(","))
        if side.strip() or "," in side
        else ((),)
        for side in (left, right)
    )
    pattern = LabelPattern(*sides)
    for number, group in enumerate((*pattern.operands, *pattern.outputs)):
        twice = {label for label in group if label != ONE and group.count(label) > 1}
        if twice:
            raise ShapeError(
                f"{shown}: {_name(pattern, number)} has the label {min(twice)!r} twice; a "
                f"diagonal is not taken [X2]\n{_drawn(pattern, number, twice)}",
                rule="X2",
                kind="gpubcast:repeated label",
            )
    known = sized.union(*pattern.operands)
    for number, group in enumerate(pattern.outputs, len(pattern.operands)):
        unknown = {label for label in group if label != ONE} - known
        if unknown:
            raise ShapeError(
                f"{shown}: no operand has the label {min(unknown)!r} of "
                f"{_name(pattern, number)}, so its size is unknown [X3]\n"
                f"{_drawn(pattern, number, unknown)}",
                rule="X3",
                kind="gpubcast:unknown label",
            )
    return pattern


def _group(text: str, shown: str) -> Group:
    labels = tuple(text.split())
    for label in labels:
        if label not in (ONE, ELLIPSIS) and not _LABEL.fullmatch(label):
            raise malformed(f"{shown}: {label!r} is neither a label, the literal 1 nor '...'")
    return labels


def expanded(
    pattern: LabelPattern, ranks: Sequence[int | None], names: Sequence[str]
) -> tuple[LabelPattern, Group | None]:
    """Labels in place of ``...``, and which these are: ``_0``, ``_1`` and so on; None without it.

    Args:
        pattern: the labels.
        ranks: those of the operands; None for one that has none.
        names: what the operands are called.

    Raises:
        ShapeError: X5, an operand has fewer dimensions than labels, or ``...`` would stand for
            another number of axes than in an operand before.
    """
    groups = (*pattern.operands, *pattern.outputs)
    if not any(ELLIPSIS in group for group in groups):
        return pattern, None
    found: tuple[int, int] | None = None
    for i, (group, rank) in enumerate(zip(pattern.operands, ranks, strict=True)):
        if ELLIPSIS not in group or rank is None:
            continue
        count = rank - len(group) + 1
        if count < 0:
            raise misfit(pattern, names[i], rank, group)
        if found is not None and found[1] != count:
            raise ShapeError(
                f"'{pattern}': '...' stands for {counted(found[1], 'axis', 'axes')} in "
                f"{names[found[0]]} and for {counted(count, 'axis', 'axes')} in {names[i]} [X5]",
                rule="X5",
                kind="gpubcast:labels and rank",
            )
        found = found or (i, count)
    taken = {label for group in groups for label in group}
    fresh = (name for k in itertools.count() if (name := f"_{k}") not in taken)
    axes = tuple(itertools.islice(fresh, found[1] if found else 0))
    return with_ellipsis(pattern, axes), axes


def with_ellipsis(pattern: LabelPattern, axes: Group) -> LabelPattern:
    """The pattern with some labels in place of ``...``."""

    def filled(group: Group) -> Group:
        return tuple(x for label in group for x in (axes if label == ELLIPSIS else (label,)))

    return LabelPattern(tuple(map(filled, pattern.operands)), tuple(map(filled, pattern.outputs)))


def layout_by_labels(pattern: LabelPattern, number: int, text: str) -> Layout:
    """The layout of an output whose labels are listed from the slowest to the fastest.

    Raises:
        ShapeError: X11, other labels than those of the output, or an output whose dimensions are
            not known from its labels.
    """
    group, order = pattern.outputs[number], text.split()
    if ELLIPSIS in group or sorted(group) != sorted(order):
        output = _name(pattern, len(pattern.operands) + number)
        raise ShapeError(
            f"out_layout={quoted(text)}: the labels of {output} are '{' '.join(group)}'"
            + ("; '...' stands for any number of them" if ELLIPSIS in group else "")
            + "; each stands once, from the slowest to the fastest, or pass a Layout [X11]",
            rule="X11",
            kind="gpubcast:layout by labels",
        )
    left = list(enumerate(group))
    found = []
    for label in order:
        entry = next(one for one in left if one[1] == label)
        left.remove(entry)
        found.append(entry[0])
    return Layout(tuple(reversed(found)))


def layouts_by_labels(name: str, pattern: LabelPattern | None, given: Any) -> Any:
    """``out_layout`` of a function with layouts in place of labels.

    Args:
        name: of the function.
        pattern: its labels; None where it has none, or where they make up dimensions.
        given: a text with the labels of each result, or a sequence of texts, layouts and None.

    Raises:
        ShapeError: X11, labels that are not those of a result.
    """
    entries = given.split(",") if isinstance(given, str) else list(given)
    if not any(isinstance(one, str) for one in entries):
        return given
    if pattern is None or len(entries) != len(pattern.outputs):
        raise ShapeError(
            f"{name}: out_layout={brief(given)}: text has labels of the results, one group for "
            "each, of a function whose labels are one dimension each; pass a Layout",
            rule="X11",
            kind="gpubcast:layout by labels",
        )
    found = tuple(
        layout_by_labels(pattern, k, one) if isinstance(one, str) else one
        for k, one in enumerate(entries)
    )
    return found[0] if isinstance(given, str) and len(found) == 1 else found


def malformed(message: str) -> ShapeError:
    """The refusal of a text that says no labels (X1)."""
    return ShapeError(message, rule="X1", kind="gpubcast:label syntax")


def sizes(pattern: LabelPattern, shapes: Sequence[Shape], names: Sequence[str]) -> dict[str, int]:
    """The size of every label.

    Args:
        pattern: the labels.
        shapes: the operands.
        names: what the operands are called.

    Raises:
        ShapeError: X5, an operand's rank differs from the number of its labels; X6, two sizes for
            one label (1 and n are two sizes), or a literal 1 of another size.
    """
    found: dict[str, int] = {}
    wrong: list[tuple[int, int]] = []
    for i, (group, shape) in enumerate(zip(pattern.operands, shapes, strict=True)):
        if len(group) != shape.rank:
            raise misfit(pattern, names[i], shape.rank, group)
        for d, label in enumerate(group):
            size = shape.dimensions[d]
            if size != (1 if label == ONE else found.setdefault(label, size)):
                wrong.append((i, d))
    if not wrong:
        return found
    i, d = wrong[0]
    label, size = pattern.operands[i][d], shapes[i].dimensions[d]
    what = (
        f"{names[i]} has size {size} where its labels say 1"
        if label == ONE
        else f"the label {label!r} has size {found[label]} in "
        f"{names[pattern.source(label)[0]]} and size {size} in {names[i]}"
    )
    expanded = 1 in (size, found.get(label)) and label != ONE
    hint = "; a size of 1 that is to be expanded is spelled 1" if expanded else ""
    raise ShapeError(
        f"{what}{hint} [X6]\n{render(label_grid(pattern, shapes, names, wrong))}",
        rule="X6",
        kind="gpubcast:label size",
        operands=tuple(shapes),
    )


def misfit(pattern: LabelPattern, name: str, rank: int, group: Group) -> ShapeError:
    """The refusal of an operand whose rank is not the number of its labels."""
    return ShapeError(
        f"'{pattern}': {name} has {counted(rank, 'dimension')}, and its group "
        f"'{' '.join(group)}' has {counted(len(group), 'label')} [X5]",
        rule="X5",
        kind="gpubcast:labels and rank",
    )


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number and its noun, e.g. ``"2 labels"``."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def label_grid(
    pattern: LabelPattern,
    shapes: Sequence[Shape],
    names: Sequence[str],
    wrong: Sequence[tuple[int, int]] = (),
) -> AlignmentGrid:
    """The operands over the axes, one column per label and one per literal 1 of an operand."""
    axes = pattern.axes
    ones = max((group.count(ONE) for group in pattern.operands), default=0)
    rows = []
    for i, (group, shape) in enumerate(zip(pattern.operands, shapes, strict=True)):
        cells = [AlignmentCell(CellState.ABSENT, "·")] * (len(axes) + ones)
        seen = 0
        for d, label in enumerate(group):
            column = len(axes) + seen if label == ONE else axes.index(label)
            seen += label == ONE
            state = CellState.WRONG if (i, d) in wrong else CellState.MATCHED
            cells[column] = AlignmentCell(state, str(shape.dimensions[d]))
        rows.append(AlignmentRow(f"{names[i]}: {shape.text(layout=False)}", tuple(cells)))
    return AlignmentGrid((*axes, *(ONE,) * ones), tuple(rows), "axis")


def _name(pattern: LabelPattern, number: int) -> str:
    operands, outputs = len(pattern.operands), len(pattern.outputs)
    if number < operands:
        return f"operand {number}"
    return "the output" if outputs == 1 else f"output {number - operands}"


def _drawn(pattern: LabelPattern, number: int, wrong: set[str]) -> str:
    """The groups over the labels, those of one group that are wrong marked."""
    rows = []
    for k, group in enumerate((*pattern.operands, *pattern.outputs)):
        cells = []
        for label in pattern.axes:
            count = group.count(label)
            bad = k == number and label in wrong
            text = "·" if not count else label if count == 1 else f"{count} times"
            state = CellState.WRONG if bad else CellState.MATCHED if count else CellState.ABSENT
            cells.append(AlignmentCell(state, text))
        rows.append(AlignmentRow(_name(pattern, k), tuple(cells)))
    return render(AlignmentGrid(pattern.axes, tuple(rows), "axis"))


def lacking(pattern: LabelPattern, output: int, varies: frozenset[str]) -> ShapeError:
    """The refusal of an output whose value varies along axes that it lacks."""
    axes = [label for label in pattern.axes if label in varies]
    missing = [label for label in axes if label not in pattern.outputs[output]]
    rows = (
        AlignmentRow(
            "its value varies along",
            tuple(
                AlignmentCell(CellState.WRONG if label in missing else CellState.MATCHED, label)
                if label in varies
                else AlignmentCell(CellState.ABSENT, "·")
                for label in pattern.axes
            ),
        ),
        AlignmentRow(
            _name(pattern, len(pattern.operands) + output),
            tuple(
                AlignmentCell(CellState.MATCHED, label)
                if label in pattern.outputs[output]
                else AlignmentCell(CellState.ABSENT, "·")
                for label in pattern.axes
            ),
        ),
    )
    return ShapeError(
        f"'{pattern}': {_name(pattern, len(pattern.operands) + output)} lacks the axis "
        f"{missing[0]!r}, along which its value varies; a reduce_* over it takes it away [X7]\n"
        f"{render(AlignmentGrid(pattern.axes, rows, 'axis'))}",
        rule="X7",
        kind="gpubcast:output lacks an axis",
    )
