"""A report as one HTML page: no scripts, nothing from outside, light and dark.

The page is well-formed XML too, so that any reader of either can check it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ..compare import LEGEND, Comparison
from ..schema import ENTRIES, OURS, Report
from . import rows
from .picture import svg


def page(report: Report, comparison: Comparison | None = None) -> str:
    """The whole page, with the comparison where there is one."""
    found = rows.rows(report.results)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_clean,
    )  # fmt: skip
    environment.filters |= {"cells": rows.cells_of, "seconds": rows.seconds, "size": rows.size}
    return environment.get_template("page.html.jinja").render(
        about=rows.about(report),
        cases=rows.grouped(found, "case"),
        changes=rows.CHANGES,
        columns=("library", *ENTRIES, "x ours", "GB/s", "ceiling", "p20-p80", "host", "device"),
        comparison=comparison,
        compared=LEGEND,
        facts=_facts(report),
        heads=tuple(f"{name}, x ours" for name in rows.libraries_of(found)),
        latencies=report.latencies,
        legend=rows.LEGEND,
        others=rows.libraries_of(found),
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
    known = {"seed": report.seed, "device": report.device, **report.environment}
    known.pop("packages", None)
    return dict(_flat(known, ""))


def _flat(known: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in known.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{before}{name} ")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{before}{name}", "-" if value in (None, {}) else text
