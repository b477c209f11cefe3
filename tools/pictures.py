"""The README's picture, drawn by ``gpubcast.pictures`` and never by hand.

``python -m tools.pictures`` writes it; a test draws it again and compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gpubcast as gb
from gpubcast.pictures import alignment, memory, svg
from gpubcast.pictures.alignment import AxisBox, OperandRow
from gpubcast.pictures.memory import Memory

README = Path(__file__).resolve().parents[1] / "docs/pictures/readme.svg"
LABELS = "row col, row, row, col, col -> row col"
NAMES = ("x", "mean", "rstd", "gamma", "beta")
SHAPE = "f32[4,5]{0,1:pad(5,6,zero)}"


def readme() -> str:
    """Where the labels of five operands go, and where the elements of a padded result lie."""
    groups = [group.split() for group in LABELS.partition(" -> ")[0].split(",")]
    columns = LABELS.partition(" -> ")[2].split()
    rows = [
        OperandRow(name, tuple(AxisBox(x if x in group else "", x in group) for x in columns))
        for name, group in zip(NAMES, groups, strict=True)
    ]
    shape = gb.Shape.parse(SHAPE)
    lies = Memory(SHAPE, shape.dimensions, shape.padded_dimensions, shape.strides)
    drawn = svg.side_by_side(
        [
            (LABELS, alignment.picture("axis", columns, rows, "result")),
            (SHAPE, memory.picture(lies)),
        ]
    )
    return svg.alone(drawn) + "\n"


def main() -> int:
    """Write the picture."""
    README.parent.mkdir(exist_ok=True)
    README.write_text(readme(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
