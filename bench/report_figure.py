"""Figures of an HTML page: bytes against the share of the ceiling, both logarithmic, as SVG."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from html import escape as escape_html

from .report_rows import Result, Row, clean, gigabytes, percent, rate, seconds, size

COLOURS = (
    ("#0b57d0", "#8ab4ff"), ("#b3540a", "#ffa657"), ("#7a3fb8", "#d2a8ff"),
    ("#0a7d74", "#4fd1c5"), ("#b0246b", "#ff8bc1"), ("#5f6b00", "#d4d94a"),
    ("#55555e", "#b8b8c2"),
)  # fmt: skip
"""For light and dark; a library keeps its colour and its mark throughout a page."""

WIDTH, HEIGHT = 560, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 122, 10, 34
_TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_LEAST = 0.001
_LABEL = 13

Point = tuple[float, float, Result]


def figure(case: str, dtype: str, rows: Sequence[Row], libraries: Sequence[str]) -> str:
    """The sizes of a case and type as a ``figure``; empty where no share of a ceiling is known.

    Args:
        case: what the figure is called.
        dtype: the element type.
        rows: the sizes.
        libraries: all that the page shows; the place in it gives a library its colour and mark.
    """
    curves = _curves(rows, libraries)
    points = [point for _, curve in curves for point in curve]
    if not points:
        return ""
    x = _Axis([point[0] for point in points], 2.0, _LEFT, WIDTH - _RIGHT)
    y = _Axis([1.0, *(point[1] for point in points)], 1.3, HEIGHT - _BOTTOM, _TOP)
    parts = [*_frame(x, y)]
    names = _spaced([y.at(curve[-1][1]) for _, curve in curves])
    for (library, curve), height in zip(curves, names, strict=True):
        parts += _curve(library, curve, x, y, height)
    label = _escape(f"{case}, {dtype}: share of the ceiling by bytes moved")
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
        f"<figcaption>{_escape(dtype)}: share of the ceiling by bytes moved</figcaption></figure>"
    )


def _escape(text: object) -> str:
    return escape_html(clean(text))


def _curves(
    rows: Sequence[Row], libraries: Sequence[str]
) -> list[tuple[tuple[int, str], list[Point]]]:
    """The points of each library with its number, from small to large."""
    found = []
    for k, library in enumerate(libraries):
        lines = (row.line(library) for row in rows)
        best = (line.fairest for line in lines if line is not None)
        curve = [
            (float(result["bytes"]), max(float(result["fraction"]), _LEAST), result)
            for result in best
            if result is not None and result.get("fraction") and result["bytes"]
        ]
        if curve:
            found.append(((k, library), sorted(curve, key=lambda point: point[0])))
    return found


class _Axis:
    """A logarithmic axis: from values to places in the picture.

    Args:
        values: what has to fit.
        margin: the factor by which the axis goes on beyond them.
        start: where the least value lies.
        end: where the largest one lies.
    """

    def __init__(self, values: Sequence[float], margin: float, start: float, end: float) -> None:
        self.low, self.high = min(values) / margin, max(values) * margin
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


def _frame(x: _Axis, y: _Axis) -> Iterator[str]:
    """Grid lines with their values, and the ceiling."""
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    powers = range(math.ceil(math.log2(x.low)), math.floor(math.log2(x.high)) + 1)
    step = max(1, math.ceil(len(powers) / 6))
    for power in powers[::step]:
        place = x.at(2.0**power)
        text = size(1 << power) if power >= 0 else ""
        yield f'<path class="grid" d="M{place:.1f} {_TOP}V{bottom}"/>'
        yield f'<text x="{place:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>'
    for tick in filter(y.has, _TICKS):
        place = y.at(tick)
        kind = "grid full" if tick == 1.0 else "grid"
        yield f'<path class="{kind}" d="M{_LEFT} {place:.1f}H{right}"/>'
        text = f"{100 * tick:g}%"
        yield f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{text}</text>'


def _spaced(wanted: Sequence[float]) -> list[float]:
    """Heights for labels: as near to the wanted ones as their own height allows."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    placed = list(wanted)
    for before, k in itertools.pairwise(order):
        placed[k] = max(placed[k], placed[before] + _LABEL)
    below = max(placed) - (HEIGHT - _BOTTOM + 4)
    if below > 0:
        limit = HEIGHT - _BOTTOM + 4.0
        for k in reversed(order):
            placed[k] = min(placed[k], limit)
            limit = placed[k] - _LABEL
    return placed


def _curve(
    who: tuple[int, str], curve: Sequence[Point], x: _Axis, y: _Axis, height: float
) -> Iterator[str]:
    """A line, its marks with what they stand for, and the library's name at its end."""
    number, library = who
    colour = f"var(--c{number % len(COLOURS)})"
    places = [(x.at(bytes_), y.at(share)) for bytes_, share, _ in curve]
    path = " ".join(f"{'L' if k else 'M'}{px:.1f} {py:.1f}" for k, (px, py) in enumerate(places))
    yield f'<path class="path" style="stroke:{colour}" d="{path}"/>'
    for (px, py), (_, _, result) in zip(places, curve, strict=True):
        told = (
            f"{library}, {result['entry']}: {size(result['bytes'])} in "
            f"{seconds(result['median'])}, {gigabytes(rate(result))} GB/s, "
            f"{percent(result['fraction'])} of {result.get('ceiling')}"
        )
        mark = _mark(number, px, py)
        yield f'<path style="fill:{colour}" d="{mark}"><title>{_escape(told)}</title></path>'
    start, (end, last) = WIDTH - _RIGHT + 8, places[-1]
    yield (
        f'<path class="path" style="stroke:{colour};stroke-width:.7;opacity:.6" '
        f'd="M{end:.1f} {last:.1f}L{start - 2} {height:.1f}"/>'
        f'<path style="fill:{colour}" d="{_mark(number, start + 5, height)}"/>'
        f'<text class="name" x="{start + 13}" y="{height + 4:.1f}">{_escape(library[:15])}</text>'
    )


def _mark(number: int, x: float, y: float) -> str:
    """A shape of its own for each library, so that colour is not needed to tell them apart."""
    shapes = (
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "m-3.6 -3.6h7.2v7.2h-7.2z",
        "m0 -4.8l4.6 8.2h-9.2z",
        "m0 -5l5 5l-5 5l-5 -5z",
        "m0 4.8l4.6 -8.2h-9.2z",
        "m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    )
    return f"M{x:.1f} {y:.1f}{shapes[number % len(shapes)]}"
