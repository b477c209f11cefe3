"""The alignment grid: which output dimension each operand dimension goes to.

One column per output dimension, one row per operand. Plain tuples go in, a Grid or text comes out,
so that errors and ``explain`` draw the same picture. No colours here: a cell carries its state, and
whoever prints it decides how a state looks.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

LEGAL_SHOWN = 8
"""How many legal assignments an error lists before it counts the rest."""

SEARCHED_RANK = 10
"""Up to this output rank, legal assignments in any order are looked for (at most 2**10 states)."""


class CellState(enum.Enum):
    """What an operand does along one output dimension."""

    MATCHED = "matched"  # the operand has this dimension, of the output's size
    EXPANDED = "expanded"  # the operand's size 1 serves every index of the output
    ABSENT = "absent"  # no dimension of the operand goes here
    UNPLACED = "unplaced"  # nobody has said whether one goes here
    WRONG = "wrong"  # the operand's size does not fit


@dataclass(frozen=True, slots=True)
class AlignmentCell:
    """One operand along one output dimension: a state and the text that shows it."""

    state: CellState
    text: str


@dataclass(frozen=True, slots=True)
class AlignmentRow:
    """One operand: its label, one cell per output dimension, and a remark after them."""

    label: str
    cells: tuple[AlignmentCell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class AlignmentGrid:
    """The alignment of the operands of one operation; ``columns`` are the columns' headings."""

    columns: tuple[str, ...]
    rows: tuple[AlignmentRow, ...]
    title: str = "output dimension"


def row(
    label: str,
    dimensions: Sequence[int],
    placement: Sequence[int],
    output: Sequence[int],
    *,
    wrong: Collection[int] = (),
    note: str = "",
) -> AlignmentRow:
    """The row of an operand.

    Args:
        label: text in front of the cells, e.g. ``"f32[3]"``.
        dimensions: the operand's sizes.
        placement: output dimension of each of them, all in ``range(len(output))``.
        output: the output's sizes.
        wrong: the operand's dimensions that do not fit.
        note: a remark after the cells.
    """
    cells = [AlignmentCell(CellState.ABSENT, "·")] * len(output)
    for i, d in enumerate(placement):
        size = dimensions[i]
        if i in wrong:
            cells[d] = AlignmentCell(CellState.WRONG, str(size))
        elif size == output[d]:
            cells[d] = AlignmentCell(CellState.MATCHED, str(size))
        else:
            cells[d] = AlignmentCell(CellState.EXPANDED, f"{size}→{output[d]}")
    return AlignmentRow(label, tuple(cells), note)


def unplaced(label: str, rank: int, note: str = "") -> AlignmentRow:
    """The row of an operand whose place in an output of ``rank`` dimensions is not known."""
    return AlignmentRow(label, (AlignmentCell(CellState.UNPLACED, "?"),) * rank, note)


def alignment_grid(rows: Sequence[AlignmentRow], rank: int) -> AlignmentGrid:
    """The grid of some rows over an output of ``rank`` dimensions.

    Raises:
        ValueError: a row has another number of cells.
    """
    for r in rows:
        if len(r.cells) != rank:
            raise ValueError(f"row {r.label!r} has {len(r.cells)} cells for {rank} columns")
    return AlignmentGrid(tuple(str(d) for d in range(rank)), tuple(rows))


def render(grid: AlignmentGrid) -> str:
    """The grid as lines of text without a final newline; ``^`` stands under every wrong cell."""
    left = max(len(text) for text in (grid.title, *(r.label for r in grid.rows)))
    widths = [
        max(len(text) for text in (heading, *(r.cells[d].text for r in grid.rows)))
        for d, heading in enumerate(grid.columns)
    ]

    def line(label: str, texts: Sequence[str], note: str = "") -> str:
        columns = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
        return "  ".join(["", label.ljust(left), *columns, note]).rstrip()

    lines = [line(grid.title, grid.columns)]
    for r in grid.rows:
        lines.append(line(r.label, [cell.text for cell in r.cells], r.note))
        if any(cell.state is CellState.WRONG for cell in r.cells):
            marks = ["^" * len(c.text) if c.state is CellState.WRONG else "" for c in r.cells]
            lines.append(line("", marks))
    return "\n".join(lines)


def legal_assignments(
    small: tuple[int, ...],
    big: tuple[int, ...],
    fits: Callable[[int, int], bool],
    *,
    increasing: bool = True,
) -> str:
    """Help text: the legal ``broadcast_dimensions`` of ``small`` in ``big``.

    The first LEGAL_SHOWN are listed and the rest counted.

    Args:
        small, big: sizes of the operand, and of what it is placed in.
        fits: whether a dimension of the first size may go to one of the second.
        increasing: strictly increasing ones only; else unique ones in any order (beyond
            SEARCHED_RANK dimensions, where there are too many to count, increasing ones again).
    """
    increasing = increasing or len(big) > SEARCHED_RANK

    def places(i: int, taken: int) -> Iterator[tuple[int, int]]:
        for d in range(len(big)):
            if not taken >> d & 1 and fits(small[i], big[d]):
                # ``taken`` has a bit for every output dimension that is closed to later entries.
                yield d, (2 << d) - 1 if increasing else taken | 1 << d

    @cache
    def count(i: int, taken: int) -> int:
        if i == len(small):
            return 1
        return sum(count(i + 1, after) for _, after in places(i, taken))

    def each(i: int, taken: int) -> Iterator[tuple[int, ...]]:
        if i == len(small):
            yield ()
            return
        for d, after in places(i, taken):
            if count(i + 1, after):
                yield from ((d, *rest) for rest in each(i + 1, after))

    total = count(0, 0)
    if not total:
        order = "in this order" if increasing else "in any order"
        return f"no broadcast_dimensions are legal: {small} does not fit into {big} {order}"
    shown = list(islice(each(0, 0), LEGAL_SHOWN))
    text = "legal broadcast_dimensions: " + ", ".join(map(str, shown))
    if total > len(shown):
        return f"{text} and {total - len(shown)} more"
    return f"{text}; write broadcast_dimensions={shown[0]}" if total == 1 else text
