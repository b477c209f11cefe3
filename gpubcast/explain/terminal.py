"""An explanation in a terminal. The only module of the package that imports rich."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from gpubcast.explain.picture import Card, Picture, TitledTable
from gpubcast.explain.text import STRIPS, strips
from gpubcast.hlo.alignment import AlignmentGrid, CellState

# Nothing is parsed as markup: shapes are full of square brackets.
_STYLES = {
    CellState.MATCHED: "bold",
    CellState.EXPANDED: "yellow",
    CellState.ABSENT: "dim",
    CellState.UNPLACED: "dim",
    CellState.WRONG: "bold red",
}


def renderables(picture: Picture) -> Iterator[RenderableType]:
    """What rich prints, part by part."""
    yield Text("\n".join(picture.header), style="bold")
    if picture.grid is not None:
        yield Text()
        yield _grid(picture.grid)
        yield Text(picture.legend, style="dim")
    for table in picture.tables:
        yield Text(f"\n{table.title}")
        if table.columns:
            yield _table(table)
    if picture.strips:
        yield Text(f"\n{STRIPS}")
        yield from map(_strip, strips(picture.strips))
    for card in picture.cards:
        yield Text(f"\n{card.title}")
        yield _card(card)
    for listing in picture.listings if picture.source else ():
        yield Text(f"\n{listing.title}")
        yield Syntax(
            listing.text, listing.language, theme="ansi_dark", background_color="default",
            word_wrap=True,
        )  # fmt: skip


def _grid(grid: AlignmentGrid) -> RichTable:
    table = RichTable(header_style="")
    table.add_column(Text(grid.title))
    for column in grid.columns:
        table.add_column(Text(column), justify="right")
    for row in grid.rows:
        cells = [Text(cell.text, style=_STYLES[cell.state]) for cell in row.cells]
        table.add_row(Text(row.label), *cells)
    return table


def _table(part: TitledTable) -> RichTable:
    table = RichTable(header_style="")
    for k, column in enumerate(part.columns):
        table.add_column(Text(column), justify="right" if k else "left")
    for name, *cells in part.rows:
        table.add_row(name, *(Text(cell, style="dim" if cell == "0" else "") for cell in cells))
    return table


def _strip(line: str) -> Text:
    text = Text(line, no_wrap=True, overflow="fold")
    text.highlight_regex(r"(?<= )\.(?= |$)", "dim")
    return text


def _card(part: Card) -> RichTable:
    table = RichTable(show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in part.facts:
        table.add_row(Text(name), Text(value))
    return table
