"""A picture of a report for documents: the share of the ceiling by case, a panel for each size.

matplotlib is imported when a picture is asked for; the extra ``bench`` brings it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gpubcast as gb

from .report_figure import COLOURS
from .report_rows import Report, Row, about, clean, rows

KINDS = (".png", ".svg", ".pdf")
_MARKS = "os^DvP"
"""As in ``report_figure``, so that a library has the same mark in both."""
_PANEL, _NAMES, _LINE = 3.4, 2.2, 0.3
"""Inches: the width of a panel, of the names of cases, and the height of a case."""
_BAND = 0.6
"""The part of a case's height over which its marks are spread: equal shares are all seen."""


def check(path: Path) -> None:
    """Refuse a picture that could not be made.

    Raises:
        Error: matplotlib is missing, or the kind of file is unknown.
    """
    if path.suffix.lower() not in KINDS:
        raise gb.Error(f"--plot {path}: the name must end in {', '.join(KINDS)}")
    try:
        import matplotlib as _matplotlib  # noqa: F401
    except ImportError as error:
        raise gb.Error(
            "--plot needs matplotlib: pip install 'gpubcast[bench]', or pip install matplotlib"
        ) from error


def plot(report: Report, path: Path) -> None:
    """Draw the report; equal reports give equal files.

    Raises:
        Error: matplotlib is missing, the kind of file is unknown, or there is nothing to draw.
        OSError: the file cannot be written.
    """
    check(path)
    shown = [row for row in rows(report) if any(_share(row, line.library) for line in row.lines)]
    if not shown:
        raise gb.Error(f"--plot {path}: no result has a share of a ceiling to draw")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys(row.where for row in shown))
    names = list(dict.fromkeys((row.case, row.dtype) for row in shown))
    libraries = list(
        dict.fromkeys(
            line.library for row in shown for line in row.lines if _share(row, line.library)
        )
    )
    height = 1.5 + _LINE * len(names)
    # Text of reports is no formula, and the ids in an SVG are not random.
    with matplotlib.rc_context({"text.parse_math": False, "svg.hashsalt": "gpubcast"}):
        figure = Figure(figsize=(_NAMES + _PANEL * len(sizes), height), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for size, panel in zip(sizes, panels, strict=True):
            _panel(panel, size, [row for row in shown if row.where == size], names, libraries)
        known = about(report)
        figure.suptitle(f"{known.machine}\n{known.origin}", fontsize=8, color="#555")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles[::-1], labels[::-1], loc="outside lower center", fontsize=8, frameon=False,
            ncols=min(len(libraries), 3 * len(sizes)),
        )  # fmt: skip
        metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        figure.savefig(path, dpi=160, metadata=metadata.get(path.suffix.lower()))


def _share(row: Row, library: str) -> float | None:
    line = row.line(library)
    best = line.fairest if line is not None else None
    return best.get("fraction") if best is not None else None


def _panel(
    panel: Any,
    size: str,
    found: Sequence[Row],
    names: Sequence[tuple[str, str]],
    libraries: Sequence[str],
) -> None:
    """One size: a line for each case and type, a mark for each library, ours on top."""
    places = {name: k for k, name in enumerate(names)}
    for k, library in reversed(list(enumerate(libraries))):
        lower = _BAND * ((k + 0.5) / len(libraries) - 0.5)
        points = [
            (100 * share, places[row.case, row.dtype] + lower)
            for row in found
            if (share := _share(row, library)) is not None
        ]
        panel.plot(
            [x for x, _ in points], [y for _, y in points], linestyle="none",
            marker=_MARKS[k % len(_MARKS)], color=COLOURS[k % len(COLOURS)][0],
            markersize=7 if k == 0 else 5, alpha=1.0 if k == 0 else 0.8,
            label=clean(library),
        )  # fmt: skip
    types = {dtype for _, dtype in names}
    labels = [clean(f"{case} {dtype}" if len(types) > 1 else case) for case, dtype in names]
    panel.set_yticks(range(len(names)), labels, fontsize=8)
    panel.set_ylim(len(names) - 0.5, -0.5)
    most = max(_share(row, line.library) or 0.0 for row in found for line in row.lines)
    right = 105 * max(1.0, most)
    panel.set_xlim(-0.02 * right, right)  # a mark at 0 is seen whole
    panel.axvline(100, color="#888", linestyle="--", linewidth=1)
    panel.set_title(size, fontsize=9)
    panel.set_xlabel("% of the ceiling", fontsize=8)
    panel.tick_params(axis="x", labelsize=8)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color="#ddd", linewidth=0.6)
    for k in range(0, len(names), 2):
        panel.axhspan(k - 0.5, k + 0.5, color="#f3f3f5", zorder=0)
    panel.set_axisbelow(True)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
