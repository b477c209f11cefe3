"""A picture of data for the light and the dark page: matplotlib's SVG, the same every time."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What is written and drawn on each page's ground.
INKS = {"light": "#1f2328", "dark": "#e6edf3"}
WIDTH = 7.2  # inches, for all pictures


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of data.

    Attributes:
        words: what it shows, for those who do not see it.
        draw: draws on a figure, with the colour of what is written.
        height: in inches.
    """

    words: str
    draw: Callable[[Any, str], None]
    height: float = 2.4


def svg(drawing: Drawing, theme: str) -> str:
    """The picture as SVG, without a ground of its own.

    Args:
        drawing: the picture.
        theme: a name in ``INKS``.
    """
    import matplotlib
    from matplotlib.figure import Figure

    ink = INKS[theme]
    colours = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    style: Any = {
        "svg.hashsalt": "gpubcast",
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.linewidth": 0.6,
        "legend.frameon": False,
        **dict.fromkeys(colours, ink),
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(WIDTH, drawing.height), dpi=110, layout="constrained")
        figure.patch.set_visible(False)
        drawing.draw(figure, ink)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()


def images(figure: Any, titles: dict[str, Any], **how: Any) -> list[Any]:
    """Arrays beside each other as images, each under its title; the axes."""
    row = figure.subplots(1, len(titles))
    for axes, (title, image) in zip(row, titles.items(), strict=True):
        axes.imshow(image, **how)
        axes.set(title=title, xticks=[], yticks=[])
    return list(row)
