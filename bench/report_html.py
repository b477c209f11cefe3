"""A report as one HTML page: no scripts, nothing from outside, light and dark.

The page is well-formed XML too, so that any reader of either can check it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape as escape_html

from .compare import COMPARED, Comparison
from .report_figure import COLOURS, figure
from .report_rows import (
    ENTRIES,
    LEGEND,
    OURS,
    Line,
    Report,
    Row,
    about,
    clean,
    is_timed,
    rows,
    seconds,
    size,
    times,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LIGHT = "".join(f"--c{k}:{light};" for k, (light, _) in enumerate(COLOURS))
_DARK = "".join(f"--c{k}:{dark};" for k, (_, dark) in enumerate(COLOURS))
_STYLE = f"""
:root{{--back:#fff;--text:#1b1b1f;--soft:#66666f;--line:#d9d9de;--fill:#f5f5f7;
--high:#1a7f37;--middle:#8a6000;--low:#c02626;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{--back:#16161a;--text:#e6e6ea;--soft:#9c9ca6;
--line:#3a3a42;--fill:#202026;--high:#56d364;--middle:#e3b341;--low:#ff7b72;{_DARK}}}}}
body{{font:15px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text);
max-width:76rem;margin:2rem auto;padding:0 1rem}}
h1{{font-size:1.6rem;margin:0}}h2{{font-size:1.2rem;margin:2.5rem 0 .3rem}}
p,ul{{margin:.3rem 0}}.soft,small{{color:var(--soft)}}
code,pre,td,svg text{{font-family:ui-monospace,monospace}}
pre{{background:var(--fill);padding:.6rem .8rem;overflow-x:auto}}
.wide{{overflow-x:auto}}table{{border-collapse:collapse;font-size:13px;margin:.5rem 0}}
th,td{{padding:.15rem .6rem;text-align:right;white-space:nowrap}}
th{{font-weight:600;border-bottom:1px solid var(--line)}}
th:first-child,th:last-child,td.text{{text-align:left}}th[scope=row]{{font-weight:400;border:0}}
tr.head td{{text-align:left;background:var(--fill);font-family:inherit}}
tr.ours th{{font-weight:700}}td.best{{text-decoration:underline;text-underline-offset:3px}}
td.long{{white-space:normal;text-align:left;overflow-wrap:anywhere;min-width:12rem}}
th[scope=row],th:first-child{{position:sticky;left:0;background:var(--back)}}
summary{{cursor:pointer}}
.high{{color:var(--high)}}.middle{{color:var(--middle)}}.low,.WRONG,.slower{{color:var(--low)}}
.WRONG,.failed{{font-weight:700}}.skipped{{color:var(--soft)}}.faster{{color:var(--high)}}
.figures{{display:flex;flex-wrap:wrap;gap:1rem}}figure{{margin:.5rem 0}}
figcaption{{font-size:13px;color:var(--soft)}}svg{{max-width:100%;height:auto}}
svg text{{font-size:11px;fill:var(--soft)}}svg .grid{{stroke:var(--line);stroke-width:1}}
svg .full{{stroke:var(--soft);stroke-dasharray:4 3}}svg .path{{fill:none;stroke-width:1.6}}
svg text.name{{fill:var(--text)}}
"""
_OVERVIEW = (
    "Our median times and their share of the ceiling; of the others, their time to ours by the "
    "same kind of call: above 1 they are slower."
)
_HEAD = ("library", *ENTRIES, "x ours", "GB/s", "ceiling", "p20-p80", "host", "device", "checked")


def page(report: Report, comparison: Comparison | None = None) -> str:
    """The whole page, with the comparison where there is one."""
    known = about(report)
    title = f"gpubcast bench: {known.machine}"
    found = rows(report)
    names = [*dict.fromkeys(line.library for row in found for line in row.lines)]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(known.origin)}</p>',
        f"<pre>{escape(report['command'])}</pre>",
        *_list([*known.ceilings, *known.remarks]),
    ]
    if found:
        body += [f'<p class="soft">{_OVERVIEW}</p>', _overview(found, names)]
    if comparison is not None:
        body += _comparison(comparison)
    for case in dict.fromkeys(row.case for row in found):
        body += _case(case, [row for row in found if row.case == case], names)
    if not found:
        body.append("<p>Nothing was measured.</p>")
    body += [f'<p class="soft">{escape(LEGEND)}</p>', *_environment(report)]
    head = (
        '<meta charset="utf-8"/><meta name="color-scheme" content="light dark"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>'
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def escape(text: object) -> str:
    """A text for an element or a quoted attribute, without control characters."""
    return escape_html(clean(text))


def _overview(found: Sequence[Row], names: Sequence[str]) -> str:
    """Every row in short: our time and share of the ceiling, the other libraries' ratios."""
    others = [name for name in names if name != OURS]
    body = []
    for row in found:
        ours = row.line(OURS)
        known = row.figures(ours) if ours is not None else None
        cells = [
            f'<th scope="row">{escape(row.case)}</th>',
            _cell(f"{row.dtype} {row.where}"),
            _in_short(row, OURS),
            _cell(known.share, known.grade) if known is not None else _cell("-"),
            *(_in_short(row, name) for name in others),
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    head = ("case", "type and size", OURS, "ceiling", *(f"{name}, x ours" for name in others))
    return _table(head, body)


def _in_short(row: Row, library: str) -> str:
    """Our time, another library's ratio to it, or what went wrong."""
    line = row.line(library)
    if line is None:
        return _cell("-")
    known = row.figures(line)
    if line.fairest is None or known is None:
        return _cell(line.status, escape(line.status))
    if library == OURS:
        return _cell(seconds(line.fairest["median"]))
    return _cell(known.ratio, known.against)


def _case(case: str, found: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """A case: the expression, a figure for each type, and a table of all its sizes."""
    yield f"<h2>{escape(case)}</h2>"
    expressions = dict.fromkeys(row.about.get("expression") or "" for row in found)
    yield from (f"<p><code>{escape(text)}</code></p>" for text in expressions if text)
    by_type = {row.dtype: [other for other in found if other.dtype == row.dtype] for row in found}
    figures = [figure(case, dtype, some, names) for dtype, some in by_type.items()]
    if any(figures):
        yield f'<div class="figures">{"".join(figures)}</div>'
    body = [part for row in found for part in _row(row)]
    yield _table(_HEAD, body)


def _row(row: Row) -> Iterator[str]:
    """A row's heading and its lines."""
    facts = [f"{row.dtype} {row.where}", row.shapes, size(row.about.get("bytes"))]
    facts.append(f"schedule {row.about['schedule']}" if row.about.get("schedule") else "")
    text = escape(" · ".join(filter(None, facts)))
    yield f'<tr class="head"><td colspan="{len(_HEAD)}">{text}</td></tr>'
    yield from (_line(row, line) for line in row.lines)


def _line(row: Row, line: Line) -> str:
    best, known = line.fairest, row.figures(line)
    kind = ' class="ours"' if line.library == OURS else ""
    cells = [f'<th scope="row">{escape(line.library)}</th>']
    cells += [_time(line, entry) for entry in ENTRIES]
    if best is None or known is None:
        said = escape("; ".join(line.trouble))
        cells.append(f'<td class="long" colspan="{len(_HEAD) - 1 - len(ENTRIES)}">{said}</td>')
    else:
        share = f'<td class="{known.grade}" title="{escape(best.get("ceiling") or "")}">'
        said = "; ".join(filter(None, [clean(best.get("checked") or ""), *line.trouble]))
        cells += [
            _cell(known.ratio, known.against),
            _cell(known.rate),
            f"{share}{known.share}</td>",
            _cell(known.spread),
            _cell(known.host),
            _cell(known.device),
            f'<td class="long">{escape(said)}</td>',
        ]
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _time(line: Line, entry: str) -> str:
    result = line.results.get(entry)
    if result is None:
        return "<td></td>"
    if not is_timed(result):
        status = escape(result["status"])
        return f'<td class="{status}">{status}</td>'
    kind = ' class="best"' if result is line.fairest else ""
    low, high = seconds(result.get("p20")), seconds(result.get("p80"))
    told = f"{len(result.get('samples') or ())} samples, {low} to {high}, {result.get('timer')}"
    return f'<td{kind} title="{escape(told)}">{seconds(result["median"])}</td>'


def _cell(text: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f"<td{attribute}>{escape(text)}</td>"


def _table(head: Sequence[str], body: Iterable[str]) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f'<div class="wide"><table><tr>{names}</tr>{"".join(body)}</table></div>'


def _list(items: Iterable[str]) -> Iterator[str]:
    listed = "".join(f"<li>{escape(item)}</li>" for item in items)
    if listed:
        yield f"<ul>{listed}</ul>"


def _comparison(comparison: Comparison) -> Iterator[str]:
    """The comparison with the base: what it comes to, and folded, a row for each result."""
    yield "<h2>Compared with the base</h2>"
    yield from _list([comparison.summary, *comparison.notes])
    table = _table(
        ("result", "base", "now", "ratio", "interval", "verdict"),
        (
            f'<tr><th scope="row">{escape(change.name)}</th>{_cell(seconds(change.old))}'
            f"{_cell(seconds(change.new))}{_cell(times(change.ratio))}{_cell(change.interval)}"
            f"{_cell(change.text, f'text {change.verdict}')}</tr>"
            for change in comparison.changes
        ),
    )
    opened = ' open="open"' if comparison.failed else ""
    yield (
        f"<details{opened}><summary>{len(comparison.changes)} times</summary>"
        f'{table}<p class="soft">{escape(COMPARED)}</p></details>'
    )


def _environment(report: Report) -> Iterator[str]:
    """Everything that is known of the machine, by name."""
    yield "<h2>Environment</h2>"
    facts: dict[str, object] = {
        "seed": report["seed"],
        "device": report["device"],
        "versions": about(report).versions,
    }
    for name, value in report["environment"].items():
        if name != "packages":
            facts |= _facts(name, value)
    yield _table(
        ("", ""),
        (
            f'<tr><th scope="row">{escape(name)}</th>{_cell(_fact(value), "long")}</tr>'
            for name, value in facts.items()
        ),
    )


def _facts(name: str, value: object) -> dict[str, object]:
    """A value by its name; what is inside an object, by the names on the way to it."""
    if not isinstance(value, dict) or not value:
        return {name: value}
    found: dict[str, object] = {}
    for key, inner in value.items():
        found |= _facts(f"{name} {key}", inner)
    return found


def _fact(value: object) -> str:
    if value is None or value == {}:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
