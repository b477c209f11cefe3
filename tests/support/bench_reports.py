"""Reports of ``gpubcast bench`` that tests make up, and what they look at the output with."""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from bench.arguments import parser
from bench.schema import Absent, Ceiling, Report, Result

# What a page says in its title of how it is laid out.
LAYOUT = """
const edge = document.documentElement.clientWidth, wrong = [];
if (document.documentElement.scrollWidth > edge) wrong.push('the page is wider than its window');
for (const e of document.querySelectorAll('h1,h2,p,pre,ul,li,svg,figcaption,.wide,summary')) {
  if (e.getBoundingClientRect().right > edge + 1) wrong.push('beyond the edge: ' + e.textContent);
}
for (const row of document.querySelectorAll('tr:not(.head)')) {
  const tall = row.cells.length > 2 && row.getBoundingClientRect().height > 60;
  if (tall) wrong.push('a tall row: ' + row.textContent);
}
for (const svg of document.querySelectorAll('svg')) {
  const out = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
  texts.forEach(([t, a], k) => {
    if (a.left < out.left - 1 || a.right > out.right + 1 || a.bottom > out.bottom + 1
        || a.top < out.top - 1) wrong.push('clipped: ' + t.textContent);
    for (const [u, b] of texts.slice(k + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 0.3 * a.height) {
        wrong.push('overlapping: ' + t.textContent + ' and ' + u.textContent);
      }
    }
  });
}
document.title = 'LAYOUT ' + (wrong.join('; ') || 'fits');
"""
HOSTILE = "<script>alert('x')</script>\x1b[31m\x00 & \"q\" ]]> | `a` \ud800\r*b*"


def result(library: str, entry: str, median: float | None, **facts: Any) -> Result:
    """A result of a row bias of 4 KiB; ``facts`` replace what it says."""
    moved = facts.get("bytes", 4096)
    found = {
        "case": "row bias", "expression": "gb.add(x, v, broadcast_dimensions=(1,))",
        "dtype": "f32", "size": "cache", "level": "L2",
        "operands": ["f32[16,32]{1,0}", "f32[32]{0}"], "outputs": ["f32[16,32]{0,1}"],
        "elements": 512, "bytes": moved,
        "schedule": "NEST" if library == "gpubcast" else None, "library": library, "entry": entry,
        "status": "ok", "error": None, "checked": "NumPy, all elements",
        "samples": [] if median is None else [0.9 * median, median, median, 1.1 * median, median],
        "median": median, "p20": median and 0.95 * median, "p80": median and 1.05 * median,
        "timer": "clock", "fraction": median and moved / median / 8e9,
        "ceiling": "copy L2, 2 threads",
        "peak_host": 2048, "peak_device": None,
    }  # fmt: skip
    return Result(**(found | facts))


def failure(library: str, entry: str, status: str, error: str, **facts: Any) -> Result:
    return result(library, entry, None, status=status, error=error, **facts)


def a_report(*results: Result, **facts: Any) -> Report:
    environment = {
        "time": "2026-09-01T12:00:00Z", "revision": "0123456789" * 4 + "-dirty", "python": "3.12.1",
        "system": "Linux", "processor": "Quick 9000", "cores": 2, "threads": 2, "load": 0.25,
        "packages": {"numpy": "2.4.6", "torch": None}, "gpu": None,
    }  # fmt: skip
    ceilings = [
        Ceiling(name=name, threads=threads, level="L2", bytes=1 << 20, samples=[1e-4] * 5,
                median=1e-4 / threads, p20=1e-4, p80=1e-4)
        for threads in (1, 2) for name in ("copy", "fill")
    ]  # fmt: skip
    found: dict[str, Any] = {
        "finished": True, "command": "gpubcast bench --json x.json", "seed": 0, "device": "cpu",
        "environment": environment, "ceilings": ceilings, "results": list(results),
        "absent": [Absent(library="PyTorch", reason="No module named 'torch'\nmore")],
    }  # fmt: skip
    return Report(**(found | facts))


def small() -> Report:
    """Every kind of result: right, wrong, failed, without ``out=``, and without a ceiling."""
    other = {"case": "tiny", "size": "small", "level": "L1", "bytes": 256, "fraction": None}
    return a_report(
        result("NumPy", "call", 1.25e-6),
        result("NumPy", "out", 1e-6),
        result("gpubcast", "first", 0.0421),
        result("gpubcast", "call", 0.5e-6),
        result("gpubcast", "out", 0.6e-6),
        result("gpubcast", "bound", 0.4e-6),
        result("JAX", "call", 2e-6),
        failure("numexpr", "out", "failed", "TypeError: no such type\n  at line 3"),
        failure("wrong", "call", "WRONG", "12 of 512 elements differ"),
        result("gpubcast", "call", 3e-6, **other),
        result("NumPy", "call", 1e-6, **other, peak_host=None, p20=None),
    )


# What a terminal shows of it.
TABLE = """\
Quick 9000, 2 cores, 2 threads
revision 0123456789-dirty, 2026-09-01T12:00:00Z
Python 3.12.1, numpy 2.4.6
ceiling L2, 1 thread: copy 10.5, fill 10.5 GB/s
ceiling L2, 2 threads: copy 21.0, fill 21.0 GB/s

library            first     call      out    bound x ours   GB/s ceiling       p20-p80   memory
row bias  f32 cache L2  f32[16,32], f32[32] -> f32[16,32]{0,1}
 gpubcast        42.1 ms   500 ns   600 ns   400 ns      -   6.83     85%    570-630 ns    2 KiB
 NumPy                    1.25 us  1.00 us           1.67x   4.10     51%  0.95-1.05 us    2 KiB
 JAX                      2.00 us                    4.00x   2.05     26%  1.90-2.10 us    2 KiB
 numexpr: failed: TypeError: no such type
 wrong                      WRONG                        -      -       -             -        -
 wrong: WRONG: 12 of 512 elements differ
tiny  f32 small L1  f32[16,32], f32[32] -> f32[16,32]{0,1}
 gpubcast                 3.00 us                        -   0.09       -  2.85-3.15 us    2 KiB
 NumPy                    1.00 us                    0.33x   0.26       -             -        -

absent: PyTorch (No module named 'torch')
"""


def printed(renderable: Any, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def options(*words: str, **given: Any) -> argparse.Namespace:
    """The options of a command, of which some are replaced."""
    found = parser("gpubcast bench").parse_args(["--no-color", *words])
    return argparse.Namespace(**(vars(found) | given))


def hostile() -> Report:
    """A report whose every text attacks the page, the terminal or the Markdown."""
    names = ("case", "expression", "dtype", "size", "level", "schedule", "checked", "timer")
    texts = dict.fromkeys(names, HOSTILE) | {"operands": [HOSTILE], "outputs": [HOSTILE]}
    found = a_report(
        result("gpubcast", "out", 1e-6, **texts, ceiling=HOSTILE),
        result(HOSTILE, "call", 1e-6, **texts, ceiling=HOSTILE),
        failure(HOSTILE, "out", "WRONG", HOSTILE, **texts),
        command=HOSTILE, not_measured=[HOSTILE], lost=[HOSTILE],
        absent=[Absent(library=HOSTILE, reason=HOSTILE)],
    )  # fmt: skip
    found.environment |= dict.fromkeys(("processor", "revision", "python", HOSTILE), HOSTILE)
    found.environment["packages"] = {HOSTILE: HOSTILE}
    found.ceilings[0].name = found.ceilings[0].level = HOSTILE
    return found


def parsed(page: str) -> ElementTree.Element:
    """The page as XML, which is stricter than any browser."""
    return ElementTree.fromstring(page)


def browser() -> str:
    """A browser that runs without a display."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(names)}")
    return found


def browse(page: Path, profile: Path, *flags: str) -> str:
    command = [
        *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={profile}", "--window-size=1200,900", *flags, page.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def first_pixel(png: bytes) -> tuple[int, ...]:
    """Red, green and blue of the first pixel: no filter of PNG changes that one."""
    assert png.startswith(b"\x89PNG")
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(data)[1:4])
