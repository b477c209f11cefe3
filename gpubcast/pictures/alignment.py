"""Where the axes of operands go: one column per axis of the result, arrows down to it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.pictures import svg

_HEIGHT, _GAP = 20, 10


@dataclass(frozen=True, slots=True)
class AxisBox:
    """One axis of an operand.

    Attributes:
        text: what stands in the box; empty where the operand has none.
        goes: whether it becomes the axis of its column.
        changed: whether its size differs from the axis'.
        wrong: whether it does not fit.
    """

    text: str
    goes: bool
    changed: bool = False
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class OperandRow:
    """An operand: its name and one box per column."""

    name: str
    boxes: tuple[AxisBox, ...]


def picture(
    title: str, columns: Sequence[str], rows: Sequence[OperandRow], result: str = ""
) -> str:
    """The arrows as SVG.

    Args:
        title: what the columns are.
        columns: the axes of the result.
        rows: the operands, one box per column each.
        result: what the result is called.
    """
    if not columns or not rows:
        return ""
    texts = [*columns, *(box.text for one in rows for box in one.boxes)]
    width = max(30.0, (max(map(len, texts)) + 2) * svg.LETTER)
    names = [*(one.name for one in rows), result or title]
    left = (max(map(len, names)) + 2) * svg.LETTER
    step = width + _GAP
    bottom = len(rows) * (_HEIGHT + _GAP) + 6
    parts, lines = [], ""
    solid: list[tuple[float, float]] = []
    dashed: list[tuple[float, float]] = []
    wrong: list[tuple[float, float]] = []
    for k in range(len(columns)):
        x = left + k * step + width / 2
        going = [n for n, one in enumerate(rows) if one.boxes[k].goes]
        if going:
            # From box to box; where an operand lacks the axis, the line passes by.
            stops = [*going, len(rows)]
            for first, second in itertools.pairwise(stops):
                start = first * (_HEIGHT + _GAP) + _HEIGHT + 2
                end = bottom if second == len(rows) else second * (_HEIGHT + _GAP) + 2
                last = second == len(rows)
                lines += svg.arrow(x, start, x, end) if last else f"M{svg.number(x)} {start}V{end}"
    for n, one in enumerate(rows):
        y = n * (_HEIGHT + _GAP) + 2.0
        parts.append(svg.text(left - svg.LETTER, y + 14, one.name, anchor="end"))
        for k, box in enumerate(one.boxes):
            x = left + k * step
            if not box.text:
                continue
            (wrong if box.wrong else dashed if box.changed else solid).append((x, y))
            parts.append(svg.text(x + width / 2, y + 14, box.text, anchor="middle"))
    parts.append(svg.text(left - svg.LETTER, bottom + 14, result or title, anchor="end"))
    for k, column in enumerate(columns):
        parts.append(
            svg.text(left + (k + 0.5) * step - _GAP / 2, bottom + 14, column, anchor="middle")
        )
    ends = [(left + k * step, float(bottom)) for k in range(len(columns))]
    soft = "hsl(215 75% 50%/.18)"
    drawn = [
        svg.path(lines, stroke="currentColor", more=' stroke-opacity=".6"'),
        svg.path(svg.boxes(solid, width, _HEIGHT), fill=soft, stroke="currentColor"),
        svg.path(
            svg.boxes(dashed, width, _HEIGHT), stroke="currentColor", more=' stroke-dasharray="3 2"'
        ),
        svg.path(svg.boxes(wrong, width, _HEIGHT), fill="hsl(0 80% 50%/.3)", stroke="#c00"),
        svg.path(
            svg.boxes(ends, width, _HEIGHT), fill="hsl(150 60% 45%/.25)", stroke="currentColor"
        ),
    ]
    return svg.figure(
        left + len(columns) * step, bottom + _HEIGHT + 3, [*drawn, *parts],
        _words(title, columns, rows),
    )  # fmt: skip


def _words(title: str, columns: Sequence[str], rows: Sequence[OperandRow]) -> str:
    said = []
    for one in rows:
        goes = [
            f"{box.text} to {column}"
            for box, column in zip(one.boxes, columns, strict=True)
            if box.text
        ]
        said.append(f"{one.name}: {', '.join(goes) or 'no axis'}")
    return f"alignment by {title}; {'; '.join(said)}"
