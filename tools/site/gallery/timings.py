"""The times of the gallery's examples, from committed reports of ``tools/gallery_report.py``."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

OURS = "gpubcast"


def reports(root: Path) -> dict[str, dict[str, Any]]:
    """The committed reports, by the names of their files."""
    paths = sorted((root / "bench" / "results").glob("gallery-*.json"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def text(name: str, found: dict[str, dict[str, Any]]) -> str:
    """What the reports have of an example, as Markdown; empty where they have nothing.

    Args:
        name: the example.
        found: the reports.
    """
    return "\n\n".join(
        f"{table(rows)}\n\n{measured(file, report, rows)}"
        for file, report in found.items()
        if (rows := [row for row in report["rows"] if row["example"] == name])
    )


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each thing that was timed."""
    others = list(dict.fromkeys(n for row in rows for n in row["seconds"] if n != OURS))
    heads = ["", "operands", f"{OURS}, ms"]
    for other in others:
        heads += [f"{other}, ms", f"{other} / ours"]
    lines = [f"| {' | '.join(heads)} |", "|---|---" + "|--:" * (len(heads) - 2) + "|"]
    for row in rows:
        least = {library: min(samples) for library, samples in row["seconds"].items()}
        operands = ", ".join(
            f"{count} x `{one}`" if count > 1 else f"`{one}`"
            for one, count in ((one, len([*same])) for one, same in groupby(row["operands"]))
        )
        cells = [row["case"].replace("_", " "), operands, _ms(least[OURS])]
        for other in others:
            cells += (
                [_ms(least[other]), f"{least[other] / least[OURS]:.1f}"]
                if other in least
                else ["", ""]
            )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def measured(file: str, report: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """How and on what."""
    made = report["environment"]
    counts = {len(samples) for row in rows for samples in row["seconds"].values()}
    packages = ("numpy", "torch", "jax")
    versions = [f"{one} {made['packages'][one]}" for one in packages if made["packages"].get(one)]
    count = f"{min(counts)} or more" if len(counts) > 1 else f"{min(counts)}"
    return (
        f"The least of {count} calls in turns, on {made['processor']}, {made['threads']} threads; "
        f"Python {made['python']}, {', '.join(versions)}; gpubcast "
        f"{made['gpubcast']}, revision {made['revision'][:12]}, {made['time'][:10]}. {_load(made)}"
        f"Every sample is in `bench/results/{file}`, which `python -m tools.gallery_report` writes."
    )


def _load(made: dict[str, Any]) -> str:
    """What is said of other programs, where there were some."""
    if made["load"] < 0.5:
        return ""
    return (
        f"Other programs ran meanwhile (a load of {made['load']:.1f}), so the ratios say more than "
        "the times. "
    )


def _ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
