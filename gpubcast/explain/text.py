"""An explanation as plain text, for pipes, logs and error reports."""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.explain.picture import Card, Listing, Picture, Strip, TitledTable
from gpubcast.hlo.alignment import render

WIDTH = 100
STRIPS = "memory, in address order; a, b, c ... are an array's elements in row-major order"


def text(picture: Picture) -> str:
    """The picture without a final newline; lines have no trailing blanks."""
    blocks = ["\n".join(picture.header)]
    if picture.grid is not None:
        blocks.append(f"{render(picture.grid)}\n  {picture.legend}".rstrip())
    blocks += [table_text(part) for part in picture.tables]
    if picture.strips:
        blocks.append("\n".join([STRIPS, *strips(picture.strips)]))
    blocks += [_card(part) for part in picture.cards]
    if picture.source:
        blocks += [_listing(part) for part in picture.listings]
    return "\n\n".join(blocks)


def table_text(part: TitledTable, left: int = 1) -> str:
    """A table in aligned columns: the first ``left`` to the left, the others to the right."""
    if not part.columns:
        return part.title
    cells = [part.columns, *part.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(part.columns))]
    lines = [part.title]
    for row in cells:
        columns = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(columns)).rstrip())
    return "\n".join(lines)


def strips(parts: Sequence[Strip]) -> list[str]:
    """The lines of the strips; a strip that is too long goes on in the next line."""
    labels = max(len(part.label) for part in parts)
    shapes = max(len(part.shape) for part in parts)
    lines = []
    for part in parts:
        head = f"  {part.label.ljust(labels)}  {part.shape.ljust(shapes)}  "
        groups = ["".join(slot.text for slot in group) for group in part.groups]
        body = _wrapped(groups, WIDTH - len(head))
        for i, line in enumerate([*body, *filter(None, [part.note])]):
            lines.append((" " * len(head) if i else head) + line)
    return lines


def _wrapped(groups: list[str], room: int) -> list[str]:
    """Groups of signs, joined by bars; broken between groups, inside one only where it is longer
    than a line."""
    most = max(room, 40) // 2
    lines: list[str] = []
    for group in groups:
        for piece in (group[start : start + most] for start in range(0, len(group), most)):
            shown = " ".join(piece)
            if lines and len(lines[-1]) + 3 + len(shown) <= 2 * most:
                lines[-1] += f" | {shown}"
            else:
                lines.append(shown)
    return lines


def _card(part: Card) -> str:
    width = max(len(name) for name, _ in part.facts)
    lines = (f"  {name.ljust(width)}  {value}" for name, value in part.facts)
    return "\n".join([part.title, *lines])


def _listing(part: Listing) -> str:
    return "\n".join([part.title, *(f"  {line}".rstrip() for line in part.text.splitlines())])
