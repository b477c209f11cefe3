"""A report as one HTML page: no scripts, nothing from outside, light and dark.

The page is well-formed XML too, so that any reader of either can check it.
"""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
from markupsafe import Markup

from ..compare import LEGEND, Comparison
from ..schema import ENTRIES, OURS, Report
from . import rows
from .picture import svg


def page(report: Report, comparison: Comparison | None = None) -> str:
    """The whole page, with the comparison where there is one."""
    found = rows.rows(report.results)
    names = dict.fromkeys(line.library for row in found for line in row.lines)
    cases: dict[str, list[rows.Row]] = {}
    for row in found:
        cases.setdefault(row.about.case, []).append(row)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_clean,
    )  # fmt: skip
    environment.filters |= {"seconds": rows.seconds, "times": rows.times, "size": rows.size}
    return environment.get_template("page.html.jinja").render(
        about=rows.about(report),
        cases=cases,
        columns=("library", *ENTRIES, "x ours", "GB/s", "ceiling", "p20-p80", "host", "device"),
        comparison=comparison,
        compared=LEGEND,
        facts=_facts(report),
        latencies=report.latencies,
        legend=rows.LEGEND,
        others=[name for name in names if name != OURS],
        ours=OURS,
        picture=Markup(svg(report)),
        report=report,
        rows=found,
    )


def _clean(value: object) -> object:
    """What an expression of the template gives, without control characters."""
    return rows.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _facts(report: Report) -> dict[str, str]:
    """Everything that is known of the machine, by name; of an object, by the names on the way."""
    found: dict[str, object] = {"seed": report.seed, "device": report.device}
    waiting = [(name, value) for name, value in report.environment.items() if name != "packages"]
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, dict) and value:
            waiting[:0] = [(f"{name} {key}", inner) for key, inner in value.items()]
        else:
            found[name] = value
    return {
        name: value if isinstance(value, str) else "-" if value in (None, {}) else json.dumps(value)
        for name, value in found.items()
    }
