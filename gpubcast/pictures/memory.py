"""Where the elements of an array lie: a grid of its indices, coloured and numbered by address."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.pictures import svg

# So many columns and rows are drawn; of more, the middle is left out.
MOST = ((12, 10), (9, 8), (7, 7), (5, 5), (4, 4))
# So large a picture may be, in bytes: two of them and what is around fit a notebook's output.
MOST_BYTES = 8_000
_SHADES = 10
_HEIGHT, _GAP = 18, 20.0
_HEAD = 34


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of an array.

    Attributes:
        name: what it is of, as text: ``"f32[2,3]{1,0}"``.
        dimensions: its sizes.
        extents: its sizes with padding.
        strides: from one index to the next, in elements.
    """

    name: str
    dimensions: tuple[int, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    def words(self) -> str:
        """What the picture shows."""
        steps = ", ".join(f"dimension {d}: {s:+,}" for d, s in enumerate(self.strides))
        padded = math.prod(self.extents) - math.prod(self.dimensions)
        return (
            f"memory of {self.name}"
            + (f"; one step in elements along {steps}" if steps else "")
            + (f"; {padded:,} elements of padding, hatched" if padded > 0 else "")
        )


def picture(memory: Memory, most_bytes: int = MOST_BYTES, mark: str = "") -> str:
    """The grid as SVG, empty for an array without elements.

    Its last dimension lies across, all others downwards. A pointer on a cell is told its index and
    its address.

    Args:
        memory: the array.
        most_bytes: more of its middle is left out where the picture would be larger.
        mark: begins the class of each cell, whose address follows; empty for none.
    """
    if 0 in memory.extents:
        return ""
    drawn = ""
    for most in MOST:
        drawn = _drawn(memory, *most, mark)
        if len(drawn) <= most_bytes:
            break
    return drawn


def _drawn(memory: Memory, most_columns: int, most_rows: int, mark: str) -> str:
    dimensions, extents, strides = memory.dimensions, memory.extents, memory.strides
    across = len(extents) - 1
    columns = _some(extents[across] if extents else 1, most_columns)
    down = extents[:-1]
    rows = _some(math.prod(down), most_rows)
    cells: list[tuple[float, float, int, bool]] = []
    places: list[tuple[int, ...]] = []
    ends = [
        sum((n - 1) * s for n, s in zip(extents, strides, strict=True) if (s > 0) is upwards)
        for upwards in (False, True)
    ]
    least, most = min(ends[0], 0), max(ends[1], 0)
    width = max(22.0, (len(str(most - least)) + 1) * svg.LETTER)
    indices = [None if row is None else _index(row, down) for row in rows]
    labels = ["⋮" if index is None else ",".join(map(str, index)) for index in indices]
    # Left of the grid are the indices of its rows, and the arrow of the last dimension among them.
    left = (max(len(label) for label in labels) + 1) * svg.LETTER if down else 0
    left += _arrow_room(strides[-2]) if len(strides) > 1 else 0
    # Where what is left out would be there is a narrow column.
    steps = [_GAP if column is None else width for column in columns]
    edges = [left + sum(steps[:k]) for k in range(len(columns) + 1)]
    parts: list[str] = []
    y, tops = float(_HEAD if extents else 4), []
    for number, (index, label) in enumerate(zip(indices, labels, strict=True)):
        before = indices[number - 1] if number else None
        if index and before and len(index) > 1 and index[:-1] != before[:-1]:
            y += 5
        tops.append(y)
        if down:
            parts.append(svg.text(left - 5, y + 13, label, anchor="end", faint=True))
        for place, column in enumerate(columns):
            if index is None or column is None:
                continue
            whole = (*index, column) if extents else ()
            address = sum(i * s for i, s in zip(whole, strides, strict=True)) - least
            outside = any(i >= n for i, n in zip(whole, dimensions, strict=True))
            cells.append((edges[place], y, address, outside))
            places.append(whole)
        y += _HEIGHT
    for place, column in enumerate(columns):
        x = (edges[place] + edges[place + 1]) / 2
        if extents:
            head = "⋯" if column is None else str(column)
            parts.append(svg.text(x, _HEAD - 5, head, anchor="middle", faint=True))
        if column is None:
            middle = (tops[0] + y) / 2 + 4
            parts.append(svg.text(x, middle, "⋯", anchor="middle", faint=True))
    parts += _cells(cells, width, most - least)
    parts += _arrows(memory, left, width, tops)
    parts.append(_pointed(cells, places, width, mark))
    right = edges[-1]
    words = f"dimension {across}: {strides[across]:+,}" if extents else ""
    room = max(right, left + 1.5 * width + 4 + (len(words) + 1) * svg.LETTER) if extents else right
    if len(strides) > 2:
        every = "; ".join(f"dimension {d}: {s:+,}" for d, s in enumerate(strides))
        parts.append(svg.text(0, y + 14, every, faint=True))
        room = max(room, len(every) * svg.LETTER)
        y += 16
    return svg.figure(room + 2, y + 3, parts, memory.words())


def _some(count: int, most: int) -> list[int | None]:
    """The numbers below a count; where there are too many, None for the middle."""
    if count <= most:
        return list(range(count))
    return [*range(most // 2), None, *range(count - (most - 1) // 2, count)]


def _index(row: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """The indices of a row."""
    index: list[int] = []
    for size in reversed(sizes):
        row, rest = divmod(row, size)
        index.insert(0, rest)
    return tuple(index)


def _arrow_room(stride: int) -> float:
    return (len(f"{stride:+,}") + 2) * svg.LETTER


def _cells(cells: Sequence[tuple[float, float, int, bool]], width: float, span: int) -> list[str]:
    """Cells with their addresses, the darker the higher; padding is hatched."""
    shades: dict[int, list[tuple[float, float]]] = {}
    for x, y, address, outside in cells:
        if not outside:
            shades.setdefault(address * (_SHADES - 1) // max(span, 1), []).append((x, y))
    parts = [
        svg.path(
            svg.boxes(places, width, _HEIGHT),
            fill=f"hsl({190 + 9 * shade} 75% 50%/{0.1 + 0.055 * shade:.2f})",
        )
        for shade, places in sorted(shades.items())
    ]
    padding = [(x, y) for x, y, _, outside in cells if outside]
    faint = ' stroke-opacity=".45"'
    parts.append(svg.path(svg.hatching(padding, width, _HEIGHT), stroke="currentColor", more=faint))
    numbers = "".join(
        f'<text x="{svg.number(x + width / 2)}" y="{svg.number(y + 13)}">{address}</text>'
        for x, y, address, outside in cells
        if not outside
    )
    return [*parts, f'<g text-anchor="middle">{numbers}</g>']


def _pointed(
    cells: Sequence[tuple[float, float, int, bool]],
    places: Sequence[tuple[int, ...]],
    width: float,
    mark: str,
) -> str:
    """The cells' outlines, and what a pointer is told on each."""
    told = []
    for (x, y, address, outside), index in zip(cells, places, strict=True):
        name = f' class="{mark}{address}"' if mark else ""
        what = "padding" if outside else f"[{','.join(map(str, index))}]"
        said = f"{what}: slot {address}"
        box = svg.boxes([(x, y)], width, _HEIGHT)
        told.append(f'<path d="{box}"{name}><title>{said}</title></path>')
    return (
        '<g fill="none" stroke="currentColor" stroke-opacity=".45" pointer-events="all">'
        f"{''.join(told)}</g>"
    )


def _arrows(memory: Memory, left: float, width: float, tops: Sequence[float]) -> list[str]:
    """How far it is to the next index along the last two dimensions."""
    strides, sizes = memory.strides, memory.extents
    parts, data = [], ""
    if strides:
        across = len(strides) - 1
        x = left + width / 2
        if sizes[across] > 1:
            data += svg.arrow(x, 8, x + width, 8)
            x += width + 4
        parts.append(svg.text(x, 12, f"dimension {across}: {strides[across]:+,}"))
    if len(strides) > 1:
        if sizes[-2] > 1 and len(tops) > 1:
            data += svg.arrow(6, tops[0] + 9, 6, tops[1] + 9)
        parts.append(svg.text(10, tops[0] + _HEIGHT + 4, f"{strides[-2]:+,}"))
    return [*parts, svg.path(data, stroke="currentColor")]
