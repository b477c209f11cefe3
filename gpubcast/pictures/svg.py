"""SVG elements: what the pictures are drawn with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape, unescape

FONT = 11
"""Height of letters, in pixels; a letter is some 0.61 as wide."""
LETTER = 0.61 * FONT

# Alone, as an image, a picture has no text around it whose colour it could take.
_ALONE = (
    "<style>svg{color:#1f2328;background:#fff}"
    "@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}</style>"
)


def number(value: float) -> str:
    """A coordinate, with no more digits than can be seen."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, *, anchor: str = "", faint: bool = False) -> str:
    """Words whose baseline begins, has its middle or ends at a point."""
    placed = f' text-anchor="{anchor}"' if anchor else ""
    shade = ' opacity=".65"' if faint else ""
    return f'<text x="{number(x)}" y="{number(y)}"{placed}{shade}>{escape(words)}</text>'


def boxes(places: Iterable[tuple[float, float]], width: float, height: float) -> str:
    """The path of some boxes of one size, by their upper left corners."""
    size = f"h{number(width)}v{number(height)}h-{number(width)}z"
    return "".join(f"M{number(x)} {number(y)}{size}" for x, y in places)


def hatching(places: Iterable[tuple[float, float]], width: float, height: float) -> str:
    """The path of three strokes across each of some boxes."""
    w, h = width, height
    strokes = (
        (0, h / 2, h / 2, -h / 2), (0, h, h, -h), (w - h, h, h, -h), (w - h / 2, h, h / 2, -h / 2)
    )  # fmt: skip
    return "".join(
        f"M{number(x + dx)} {number(y + dy)}l{number(lx)} {number(ly)}"
        for x, y in places
        for dx, dy, lx, ly in strokes
    )


def path(data: str, *, fill: str = "none", stroke: str = "none", more: str = "") -> str:
    """A path."""
    return f'<path d="{data}" fill="{fill}" stroke="{stroke}"{more}/>' if data else ""


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """The path of an arrow that is level or upright."""
    size = 4
    if x == to_x:
        back = -size if to_y > y else size
        head = f"l-3 {back}m3 {-back}l3 {back}"
    else:
        back = -size if to_x > x else size
        head = f"l{back} -3m{-back} 3l{back} 3"
    return f"M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}{head}"


def figure(width: float, height: float, parts: Iterable[str], words: str) -> str:
    """A picture that is as wide as it is drawn, or as there is room.

    Args:
        width, height: its size in pixels.
        parts: the elements.
        words: what it shows, for those who do not see it.
    """
    w, h = number(width), number(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        f'role="img" aria-label="{escape(words)}" fill="currentColor" font-size="{FONT}" '
        'font-family="ui-monospace,Menlo,Consolas,monospace" '
        'style="max-width:100%;height:auto;print-color-adjust:exact">'
        f"<title>{escape(words)}</title>{''.join(parts)}</svg>"
    )


def side_by_side(pictures: Sequence[tuple[str, str]], gap: float = 44) -> str:
    """Pictures beside each other, each under a heading."""
    parts, words, x, height, top = [], [], 0.0, 0.0, 24.0
    for heading, drawn in pictures:
        root = drawn.partition(">")[0]
        wide, high = (float(one) for one in re.findall(r'(?:width|height)="([\d.]+)"', root))
        inner = re.sub(r"^<svg [^>]*><title>[^<]*</title>", "", drawn).removesuffix("</svg>")
        parts.append(text(x, 12, heading))
        parts.append(f'<g transform="translate({number(x)} {number(top)})">{inner}</g>')
        words.append(unescape(re.findall(r"<title>([^<]*)</title>", drawn)[0]))
        x += max(wide, (len(heading) + 1) * LETTER) + gap
        height = max(height, top + high)
    return figure(x - gap, height, parts, "; ".join(words))


def alone(drawn: str) -> str:
    """A picture as an image of its own."""
    head, end, rest = drawn.partition("</title>")
    return f"{head}{end}{_ALONE}{rest}"
