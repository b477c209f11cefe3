"""The sweep as text: for each case what the scheduler picks, what is best, and every variant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DRY = "DRY RUN in the emulator at small sizes: no figure here says anything about a GPU.\n\n"
# Less than this is noise.
_NOISE = 0.02


def text(report: dict[str, Any], *, dry: bool) -> str:
    """The report for a reader."""
    lines = [*_summary(report), "", *_details(report)]
    if report["not_measured"]:
        lines += ["", f"not measured: {'; '.join(report['not_measured'])}"]
    return (DRY if dry else "") + "\n".join(lines) + "\n"


def _summary(report: dict[str, Any]) -> Iterator[str]:
    copy = [one for one in report["ceilings"] if one["name"] == "copy"]
    if copy:
        yield f"copy: {_rate(copy[0]['bytes'] / copy[0]['median'])}"
    yield f"{'case':36} {'picked':36} {'GB/s':>6} {'ceiling':>7}  best"
    for result in report["results"]:
        rows = [row for row in result["variants"] if row["status"] == "ok"]
        if not rows or rows[0]["variant"] != "picked":
            continue
        first, best = rows[0], min(rows, key=lambda row: float(row["median"]))
        gain = first["median"] / best["median"] - 1
        verdict = "picked" if gain < _NOISE else f"{best['variant']}: {gain:.0%} faster"
        name = f"{result['question']}: {result['case']}"
        share = f"{first['fraction']:.0%}" if first["fraction"] is not None else ""
        rate = f"{first['rate'] / 1e9:.0f}"
        yield f"{name:36} {first['schedule']:36} {rate:>6} {share:>7}  {verdict}"


def _details(report: dict[str, Any]) -> Iterator[str]:
    for result in report["results"]:
        yield f"{result['question']}: {result['case']}   {'; '.join(result['shapes'])}"
        rows = result["variants"]
        best = min((row["median"] for row in rows if row["status"] == "ok"), default=0.0)
        for row in rows:
            if row["status"] != "ok":
                yield f"  {row['variant']:24} {row['status']}: {row['error']}"
                continue
            rate = _rate(row["rate"]) if "rate" in row else ""
            slower = row["median"] / best
            yield (
                f"  {row['variant']:24} {1e6 * row['median']:10.2f} us {slower:6.2f}x {rate:>10}  "
                f"{row['schedule'] or ''}".rstrip()
            )


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:.0f} GB/s"
