"""The picture of a report: the share of the ceiling by case, a panel for each size.

It is drawn on nothing and in colours that are seen on light and dark alike, for pages; a file of
its own is drawn on white.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gpubcast as gb

from ..schema import Report, Result
from .rows import Row, about, clean, rows

# A library keeps its colour and its mark, so that colour is not needed to tell them apart.
_COLOURS = ("#3b7de0", "#d9822b", "#9a5fd0", "#139c90", "#cf4d8e", "#8a9a1c", "#80808a")
_MARKS = "os^DvP"
_PANEL, _NAMES, _LINE = 3.4, 2.2, 0.3
"""Inches: the width of a panel, of the names of cases, and the height of a case."""
_BAND = 0.6
"""The part of a case's height over which its marks are spread: equal shares are all seen."""
_GREY = "#808080"


def plot(report: Report, path: Path) -> None:
    """Write the picture as a file; equal reports give equal files.

    Raises:
        Error: there is nothing to draw.
        OSError: the file cannot be written.
    """
    known = about(report)
    if not _draw(report, path, f"{known.machine}\n{known.origin}", facecolor="white", dpi=160):
        raise gb.Error(f"--plot {path}: no result has a share of a ceiling to draw")


def svg(report: Report) -> str:
    """The picture as an SVG element; empty where there is nothing to draw."""
    text = io.StringIO()
    if not _draw(report, text, "", transparent=True, format="svg"):
        return ""
    found = text.getvalue()
    return found[found.index("<svg") :]


def _draw(report: Report, target: Any, title: str, **how: Any) -> bool:
    """Draw and save; whether there was anything to draw."""
    import matplotlib
    from matplotlib.figure import Figure

    shown = [row for row in rows(report.results) if any(_bounded(row))]
    if not shown:
        return False
    sizes = list(dict.fromkeys(row.where for row in shown))
    names = list(dict.fromkeys(row.about.where[:2] for row in shown))
    libraries = list(dict.fromkeys(result.library for row in shown for result in _bounded(row)))
    size = (_NAMES + _PANEL * len(sizes), 1.5 + _LINE * len(names))
    # Text of reports is no formula, and the ids in an SVG are not random.
    with matplotlib.rc_context({"text.parse_math": False, "svg.hashsalt": "gpubcast"}):
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for where, panel in zip(sizes, panels, strict=True):
            _panel(panel, where, [row for row in shown if row.where == where], names, libraries)
        if title:
            figure.suptitle(title, fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles[::-1], labels[::-1], loc="outside lower center", fontsize=8, frameon=False,
            ncols=min(len(libraries), 3 * len(sizes)),
        )  # fmt: skip
        kind = how.get("format") or Path(target).suffix.lower().removeprefix(".")
        dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(target, metadata=dates.get(kind), **how)
    return True


def _bounded(row: Row) -> list[Result]:
    """What each library is judged by, where a ceiling bounds it."""
    found = (line.fairest for line in row.lines)
    return [result for result in found if result is not None and result.fraction is not None]


def _panel(
    panel: Any,
    size: str,
    found: Sequence[Row],
    names: Sequence[tuple[str, str]],
    libraries: Sequence[str],
) -> None:
    """One size: a line for each case and type, a mark for each library, ours on top."""
    places = {name: k for k, name in enumerate(names)}
    results = [result for row in found for result in _bounded(row)]
    for k, library in reversed(list(enumerate(libraries))):
        lower = _BAND * ((k + 0.5) / len(libraries) - 0.5)
        mine = [result for result in results if result.library == library]
        panel.plot(
            [100 * (result.fraction or 0.0) for result in mine],
            [places[result.case, result.dtype] + lower for result in mine],
            linestyle="none", marker=_MARKS[k % len(_MARKS)], color=_COLOURS[k % len(_COLOURS)],
            markersize=7 if k == 0 else 5, alpha=1.0 if k == 0 else 0.8, label=clean(library),
        )  # fmt: skip
    types = {dtype for _, dtype in names}
    labels = [clean(f"{case} {dtype}" if len(types) > 1 else case) for case, dtype in names]
    panel.set_yticks(range(len(names)), labels, fontsize=8)
    panel.set_ylim(len(names) - 0.5, -0.5)
    right = 105 * max(1.0, *(result.fraction or 0.0 for result in results))
    panel.set_xlim(-0.02 * right, right)  # a mark at 0 is seen whole
    panel.axvline(100, color=_GREY, linestyle="--", linewidth=1)
    panel.set_title(size, fontsize=9)
    panel.set_xlabel("% of the ceiling", fontsize=8)
    panel.tick_params(axis="x", labelsize=8, color=_GREY)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color=_GREY, alpha=0.25, linewidth=0.6)
    for k in range(0, len(names), 2):
        panel.axhspan(k - 0.5, k + 0.5, color=_GREY, alpha=0.08, linewidth=0, zorder=0)
    panel.set_axisbelow(True)
    panel.spines["bottom"].set_color(_GREY)
    panel.spines[["top", "right", "left"]].set_visible(False)
