"""What a kernel's blocks and threads touch: the plane of its elements in tiles, and one tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.pictures import svg

Box = tuple[int, int, int, int]
"""Elements of a tile: the first row and column, and how many of both."""

# So many tiles are drawn in each direction; of more, the middle is left out.
MOST_TILES = 6
_WIDE, _HIGH = 210.0, 110.0
_FIRST, _SECOND = "hsl(25 85% 52%/.85)", "hsl(215 75% 50%/.75)"
_TILE = "hsl(150 60% 45%/.3)"


@dataclass(frozen=True, slots=True)
class Share:
    """What one thread, or one step of a loop, touches of a tile.

    Attributes:
        name: who: ``"thread 0"``.
        boxes: its elements; some of them where there are too many to list.
        count: how many elements it has of a whole tile.
    """

    name: str
    boxes: tuple[Box, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Touched:
    """A plane of elements in tiles.

    Attributes:
        name: what it is of: ``"ROWS"``.
        rows, columns: the size of the plane.
        down, across: what its rows and its columns are.
        planes: how many planes there are.
        tile: rows and columns of a tile.
        owner: whose a tile is: ``"block"``.
        shares: what is touched at a time within the first tile, at most two.
    """

    name: str
    rows: int
    columns: int
    down: str
    across: str
    planes: int
    tile: tuple[int, int]
    owner: str
    shares: tuple[Share, ...]

    @property
    def tiles(self) -> int:
        """How many tiles all planes have."""
        return self.planes * math.prod(self._counts())

    def _counts(self) -> tuple[int, int]:
        return -(-self.rows // self.tile[0]), -(-self.columns // self.tile[1])

    def words(self) -> str:
        """What the picture shows."""
        height, width = self.tile
        said = [
            f"{self.name}: {self.rows:,} rows ({self.down}) of {self.columns:,} elements "
            f"({self.across})",
            f"each {self.owner} has a tile of {height:,} by {width:,}: {self._number()}",
        ]
        said += [f"{one.name} has {_counted(one)}" for one in self.shares[:1]]
        return "; ".join(said)

    def _number(self) -> str:
        count = math.prod(self._counts())
        planes = f" in each of {self.planes:,} planes" if self.planes > 1 else ""
        return f"{count:,} {self.owner}{'s' * (count != 1)}{planes}"


def _counted(share: Share) -> str:
    many = f"{share.count:,} element{'s' * (share.count != 1)} of it"
    shapes = {box[2:] for box in share.boxes}
    if len(shapes) != 1:
        return many
    ((height, width),) = shapes
    pieces = share.count // (height * width)
    return f"{many}, in {pieces:,} piece{'s' * (pieces != 1)} of {height:,} by {width:,}"


def picture(touched: Touched) -> str:
    """The plane, the first of its tiles beside it and what is touched of that, as SVG; empty where
    there are no elements."""
    if not touched.rows * touched.columns:
        return ""
    down, across = touched._counts()
    parts, top = [], 36.0
    # The plane: tiles in lines, the first filled.
    rows, columns = _some(down), _some(across)
    ratio = touched.tile[1] / touched.tile[0]
    wide = max(14.0, min(34.0, 20.0 * math.sqrt(ratio)))
    high = max(9.0, min(20.0, 20.0 / math.sqrt(ratio)))
    places = [
        (c * wide, top + r * high)
        for r, row in enumerate(rows) for c, column in enumerate(columns)
        if row is not None and column is not None
    ]  # fmt: skip
    parts.append(svg.path(svg.boxes(places[:1], wide, high), fill=_TILE))
    parts.append(
        svg.path(svg.boxes(places, wide, high), stroke="currentColor", more=' stroke-opacity=".6"')
    )
    for r, row in enumerate(rows):
        if row is None:
            parts.append(svg.text(wide / 2, top + (r + 0.5) * high + 4, "⋮", anchor="middle"))
    for c, column in enumerate(columns):
        if column is None:
            parts.append(svg.text((c + 0.5) * wide, top + high / 2 + 4, "⋯", anchor="middle"))
    heads = (
        f"{touched.down} down, {touched.across} across",
        (f"{touched.rows:,} x {touched.columns:,}: {touched._number()}"),
    )
    parts += [svg.text(0, 12 + 15 * k, head, faint=not k) for k, head in enumerate(heads)]
    bottom = top + len(rows) * high
    # The tile, and what is touched of it.
    left = max(len(columns) * wide + 20, svg.LETTER * (max(map(len, heads)) + 3))
    height, width = touched.tile
    scale_x, scale_y = _WIDE / width, min(_HIGH / height, max(14.0, _WIDE / width))
    tall = height * scale_y
    parts.append(
        svg.path(
            f"M{svg.number(wide)} {svg.number(top)}L{svg.number(left)} {svg.number(top)}"
            f"M{svg.number(wide)} {svg.number(top + high)}L{svg.number(left)} "
            f"{svg.number(top + tall)}",
            stroke="currentColor", more=' stroke-opacity=".35" stroke-dasharray="3 2"',
        )
    )  # fmt: skip
    whole = [(left, top)]
    parts.append(svg.path(svg.boxes(whole, _WIDE, tall), fill=_TILE, stroke="currentColor"))
    parts.append(svg.text(left, 27, f"a {touched.owner}: {height:,} x {width:,}"))
    y = top + tall + 14
    for colour, share in zip((_FIRST, _SECOND), touched.shares, strict=False):
        drawn = "".join(
            svg.boxes([(left + c * scale_x, top + r * scale_y)], max(w * scale_x, 1.2),
                      max(h * scale_y, 1.2))
            for r, c, h, w in share.boxes
        )  # fmt: skip
        parts.append(svg.path(drawn, fill=colour))
        parts.append(svg.path(svg.boxes([(left, y - 9)], 9, 9), fill=colour))
        parts.append(svg.text(left + 14, y, f"{share.name}: {_counted(share)}"))
        y += 15
    longest = max((len(f"{x.name}: {_counted(x)}") for x in touched.shares), default=0)
    right = left + max(_WIDE, 14 + svg.LETTER * (longest + 1))
    return svg.figure(right + 2, max(bottom + 3, y - 6), parts, touched.words())


def _some(count: int) -> Sequence[int | None]:
    """The numbers below a count; where there are too many, None for the middle."""
    if count <= MOST_TILES:
        return range(count)
    return [0, 1, 2, None, count - 2, count - 1]
