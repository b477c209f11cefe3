"""An explanation as HTML: one self-contained element, no scripts, light and dark."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

from gpubcast.explain.picture import Card, Listing, MemorySlot, Picture, Strip, TitledTable
from gpubcast.explain.text import STRIPS
from gpubcast.hlo.alignment import AlignmentGrid, CellState
from gpubcast.pictures import alignment, memory, schedule, stages, svg
from gpubcast.pictures.alignment import AxisBox, OperandRow
from gpubcast.pictures.notebook import MOST_BYTES, size

_STYLE = """
.gpubcast{font:13px/1.45 ui-monospace,monospace;--line:#8886;--soft:#8883}
.gpubcast table{border-collapse:collapse;margin:.4em 0 1em;width:auto}
.gpubcast h4{font:inherit;font-weight:600;text-align:left;margin:0;padding:.2em 0}
.gpubcast th,.gpubcast td{border:1px solid var(--line);padding:.1em .6em;text-align:right}
.gpubcast th{font-weight:400}
.gpubcast th[scope=row],.gpubcast td.value{text-align:left}
.gpubcast .expanded{background:var(--soft);font-style:italic}
.gpubcast .absent,.gpubcast .padding,.gpubcast .note{opacity:.55}
.gpubcast .padding{background:var(--soft)}
.gpubcast .wrong{color:#c00;font-weight:600}
.gpubcast .memory td{padding:.1em .45em}
.gpubcast .memory td.first{border-left-width:3px}
.gpubcast .scrolled{overflow-x:auto}
.gpubcast .memory{margin:0}
.gpubcast [pointer-events=all] path:hover{stroke:#d33;stroke-width:2;stroke-opacity:1}
.gpubcast .memory-of{margin:.4em 0 1em}
.gpubcast figure{margin:.4em 0 1em}
.gpubcast pre{overflow-x:auto;white-space:pre;margin:.3em 0}
@media print{.gpubcast pre{white-space:pre-wrap}.gpubcast figure,.gpubcast tr{break-inside:avoid}}
"""


def bundle(text: str, picture: Picture) -> dict[str, str]:
    """What notebooks show: as much of the picture as a notebook has room for."""
    grid = picture.grid
    drawn = "" if grid is None else arrows(grid)
    alone = {"image/svg+xml": svg.alone(drawn)} if drawn else {}
    arrays = sum(map(_drawable, picture.strips))
    # Sources go first, then tiles and bytes, then the pictures of memory; text says all of it.
    unlisted = replace(picture, listings=())
    cards = tuple(replace(card, touched=None) for card in picture.cards)
    bare = replace(unlisted, cards=cards, stages=())
    rooms = (memory.MOST_BYTES, 6_000, 3_000)
    tried = [(picture, rooms[0]), *itertools.product((unlisted, bare), rooms), (bare, 0)]
    for one, room in tried:
        figures = fragment(one, room // max(arrays, 1))
        made = {"text/plain": text, "text/html": figures, **alone}
        if size(made) <= MOST_BYTES:
            return made
    short = text[: MOST_BYTES // 3]
    return {"text/plain": short, "text/html": _pre(short)}


def fragment(picture: Picture, most_bytes: int = memory.MOST_BYTES, *, linked: bool = False) -> str:
    """The picture as one ``div`` with its own style; everything from the plan is escaped.

    Args:
        picture: the parts.
        most_bytes: how large the picture of an array's memory is at most; 0 for none.
        linked: whether a pointer on a slot marks it in the strip and in the grid. There may be one
            such ``div`` on a page.
    """
    parts = [f"<style>{_STYLE}</style>", _pre("\n".join(picture.header))]
    if picture.grid is not None:
        drawn = arrows(picture.grid)
        parts += [f"<figure>{drawn}</figure>"] if drawn else []
        parts.append(_grid(picture.grid, picture.legend))
    parts += [_table(part) for part in picture.tables]
    if picture.strips:
        marks = [f"m{number}-" if linked else "" for number in range(len(picture.strips))]
        marked = list(zip(picture.strips, marks, strict=True))
        # What is too long for a strip is a grid.
        strips = [_strip(part, mark) for part, mark in marked if part.groups or not _drawable(part)]
        parts += [f"<h4>{escape(STRIPS)}</h4>", *strips] if strips else []
        parts += [
            f"<figure>{_memory(part, most_bytes, mark)}</figure>"
            for part, mark in marked if _drawable(part)
        ]  # fmt: skip
        if linked:
            parts.append(_links(marked))
    if most_bytes:
        drawn = stages.picture(picture.stages)
        parts += [f"<figure><figcaption>bytes</figcaption>{drawn}</figure>"] if drawn else []
    for card in picture.cards:
        parts.append(_card(card))
        if most_bytes and card.touched is not None:
            parts.append(f"<figure>{schedule.picture(card.touched)}</figure>")
    parts += [_listing(part) for part in picture.listings]
    return '<div class="gpubcast">\n' + "\n".join(parts) + "\n</div>"


def page(picture: Picture) -> str:
    """A whole HTML document with the picture."""
    title = escape(picture.header[0])
    head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<title>{title}</title></head>\n'
        f"<body>{fragment(picture, linked=True)}</body></html>\n"
    )


def arrows(grid: AlignmentGrid) -> str:
    """The grid with an arrow from each operand's axes to the result's, as SVG."""
    rows = []
    result, columns = "", list(grid.columns)
    for one in grid.rows:
        if one.label.startswith("output"):
            result = one.label
            columns = [cell.text for cell in one.cells]
            continue
        boxes = tuple(
            AxisBox(
                "" if cell.state is CellState.ABSENT else cell.text,
                cell.state in (CellState.MATCHED, CellState.EXPANDED),
                cell.state is CellState.EXPANDED,
                cell.state is CellState.WRONG,
            )
            for cell in one.cells
        )
        rows.append(OperandRow(one.label, boxes))
    return alignment.picture(grid.title, columns, rows, result)


def _pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _row(head: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{escape(head)}</th>{"".join(cells)}</tr>'


def _columns(names: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{escape(name)}</th>' for name in names) + "</tr>"


def _framed(title: str, rows: Iterable[str], css_class: str = "") -> str:
    attribute = f' class="{css_class}"' if css_class else ""
    # A caption would be as narrow as its table.
    head, named = (f"<h4>{escape(title)}</h4>", f' aria-label="{escape(title)}"') if title else (
        "", "")  # fmt: skip
    return f"{head}<table{attribute}{named}>{''.join(rows)}</table>"


def _grid(grid: AlignmentGrid, legend: str) -> str:
    rows = [_columns((grid.title, *grid.columns))]
    for row in grid.rows:
        cells = [f'<td class="{cell.state.value}">{escape(cell.text)}</td>' for cell in row.cells]
        if row.note:
            cells.append(f'<td class="note">{escape(row.note)}</td>')
        rows.append(_row(row.label, cells))
    return _framed("alignment", rows) + f'<div class="note">{escape(legend)}</div>'


def _drawable(part: Strip) -> bool:
    """Whether an array has more than a row of elements, which a strip shows as well."""
    return sum(n > 1 for n in part.memory.extents) > 1 and 0 not in part.memory.extents


def _memory(part: Strip, most_bytes: int, mark: str) -> str:
    note = "" if part.groups or not part.note else f": {part.note}"
    caption = f"<figcaption>{escape(part.memory.name + note)}</figcaption>"
    return caption + (memory.picture(part.memory, most_bytes, mark) if most_bytes else "")


def _links(marked: Iterable[tuple[Strip, str]]) -> str:
    """A slot under the pointer is marked wherever it is drawn."""
    names = [
        f".{mark}{slot.offset}" for part, mark in marked for group in part.groups for slot in group
    ]
    rules = (
        f".gpubcast:has({name}:hover) {name}{{background:#d336;stroke:#d33;stroke-width:2}}"
        for name in names
    )
    return f"<style>{''.join(rules)}</style>" if names else ""


def _table(part: TitledTable) -> str:
    if not part.columns:
        return f"<h4>{escape(part.title)}</h4>"
    rows = [_row(row[0], (f"<td>{escape(cell)}</td>" for cell in row[1:])) for row in part.rows]
    return _framed(part.title, [_columns(part.columns), *rows])


def _strip(part: Strip, mark: str) -> str:
    cells = [
        _slot(slot, mark, first=k == 0) for group in part.groups for k, slot in enumerate(group)
    ]
    table = _framed("", [_row(f"{part.label} {part.shape}", cells)], "memory")
    note = f'<div class="note">{escape(part.note)}</div>' if part.note else ""
    return f'<div class="memory-of"><div class="scrolled">{table}</div>{note}</div>'


def _slot(slot: MemorySlot, mark: str, *, first: bool) -> str:
    css_classes = [*(["first"] if first else []), *(["padding"] if slot.index is None else [])]
    css_classes += [f"{mark}{slot.offset}"] if mark else []
    attribute = f' class="{" ".join(css_classes)}"' if css_classes else ""
    what = "padding" if slot.index is None else f"element {slot.index}"
    return f'<td{attribute} title="slot {slot.offset}: {escape(what)}">{escape(slot.text)}</td>'


def _card(part: Card) -> str:
    return _framed(
        part.title,
        (_row(name, [f'<td class="value">{escape(value)}</td>']) for name, value in part.facts),
    )


def _listing(part: Listing) -> str:
    return f"<details><summary>{escape(part.title)}</summary>{_pre(part.text)}</details>"
