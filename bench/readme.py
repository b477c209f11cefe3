"""The README's figures, written from committed reports and never by hand.

``python -m bench.readme`` replaces what stands between the two markers in README.md: five rows for
each machine, the first calls, and links to the reports that have the rest; ``--check`` only says
whether the README is what the reports give. Every ratio follows from the times beside it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import gpubcast as gb

from .report.rows import about, percent, rows, seconds, times
from .report.text import escape, grid
from .schema import OURS, Report, load, save

BEGIN = "<!-- bench: begin (written by python -m bench.readme) -->"
END = "<!-- bench: end -->"
RESULTS = Path("bench/results")
PATTERNS = RESULTS / "acceptance-cpu-2core-2026-11-25.json"
"""The report of broadcasting patterns; the page of a report's name has all of it."""
CASES, SIZE, DTYPE = (
    ("same shape", "row bias", "(N,3)+(3)", "transposed operand", "layernorm apply"), "64Mi", "f32",
)  # fmt: skip
REDUCTIONS = RESULTS / "reductions-zen4-2core-2026-11-28.json"
"""The report of reductions, alone and with the broadcasts around them."""
REDUCED = ("row sum", "column sum", "full sum", "softmax", "layernorm")
GPU = RESULTS / "gpu-h200-peers-2026-11-28.json"
"""The report of a GPU."""
ON_GPU = (
    *("same shape", "row bias", "(N,3)+(3)", "transposed operand", "3-D permutation"),
    *("layernorm apply", "row sum", "column sum", "full sum", "softmax", "layernorm"),
)
ENTRY = "call"
"""What is compared: a call that makes its result, which every library has."""
FUNCTIONS = {
    "AVX-512": RESULTS / "functions-avx512-zen4-2core-2026-11-25.md",
    "AVX2": RESULTS / "functions-avx2-code-on-zen4-2core-2026-11-25.md",
}
"""Reports of elementary functions; rows are shown of the first."""
OTHERS = {
    "AVX-512 code": RESULTS / "functions-avx512-xeon-2core-2026-11-25.md",
    "AVX2 code": RESULTS / "functions-avx2-code-on-xeon-2core-2026-11-25.md",
}
"""Those of another processor."""
SHOWN = ("exp f32", "tanh f32", "pow f32", "erf f32", "sin f64")
COLD = RESULTS / "cold-zen4-2core-2026-11-25.md"
FIRST = ("first call, with import gpubcast", "a further pattern, mean", "all of it")
GRADIENTS = RESULTS / "gradients-zen4-2core-2026-11-23.md"


def section(root: Path) -> str:
    """What belongs between the markers.

    Args:
        root: the checkout.

    Raises:
        Error: a report lacks a row, or was made from a modified checkout.
        OSError: it cannot be read.
    """
    report = load(root / PATTERNS)
    pages = {path: _clean(root, path) for path in (*FUNCTIONS.values(), COLD, GRADIENTS)}
    lines = [
        *patterns(report, _read(root / PATTERNS.with_suffix(".md"))), "",
        *reductions(load(root / REDUCTIONS), _read(root / REDUCTIONS.with_suffix(".md"))), "",
        *on_gpu(load(root / GPU)), "",
        *functions({code: pages[path] for code, path in FUNCTIONS.items()}), "",
        *first_calls(pages[COLD]), "",
        f"Forward and backward of four layers beside PyTorch: [the report]({GRADIENTS}). "
        f"All reports, and how they were made: [bench/results]({RESULTS}/README.md).",
    ]  # fmt: skip
    return "\n".join(lines)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _clean(root: Path, path: Path) -> str:
    """A page that was made from a checkout as it was committed."""
    page = _read(root / path)
    if re.search(r"revision [0-9a-f]+-dirty", page):
        raise gb.Error(f"{path} was made from a modified checkout")
    return page


# --- patterns ----------------------------------------------------------------------------------


def compared(
    report: Report,
    cases: Sequence[str],
    what: str,
    size: str = SIZE,
    others: Sequence[str] = ("NumPy", "PyTorch", "jax.jit"),
) -> Iterator[str]:
    """Some cases of a report, times and in brackets how many times ours they are.

    Args:
        report: the measurements.
        cases: those shown.
        what: what they are, for the line above them.
        size: that is shown.
        others: the libraries that are shown.
    """
    if str(report.environment.get("revision")).endswith("-dirty"):
        raise gb.Error(f"the report of {what.lower()} was made from a modified checkout")
    known = {row.about.where: row for row in rows(report.results)}
    body = []
    for case in cases:
        row = known.get((case, DTYPE, size))
        if row is None:
            raise gb.Error(f"the report has no {case}, {DTYPE}, {size}")
        found = {
            line.library: line.results[ENTRY] for line in row.lines if ENTRY in line.results
        }  # fmt: skip
        ours = found[OURS]
        cells = [case, row.shapes, seconds(ours.median), percent(ours.fraction)]
        for name in others:
            theirs = found[name].median if name in found else None
            ratio = None if not theirs or not ours.median else theirs / ours.median
            cells.append(f"{seconds(theirs)} ({times(ratio)})")
        body.append(cells)
    told = "1 GiB" if size == "memory" else "64 Mi elements, both cores"
    yield f"**{what}, {escape(about(report).machine)}**, {DTYPE}, {told}:"
    yield ""
    yield from grid(("case", "shapes", OURS, "of the ceiling", *others), body, left=2)
    yield ""


def _counted(page: str) -> tuple[str, str]:
    """How many targets a page says were reached and missed."""
    counted = re.search(r"^(\d+) reached, (\d+) missed\.$", page, re.MULTILINE)
    if counted is None:
        raise gb.Error("the page of the report does not say how many targets were reached")
    return counted[1], counted[2]


def patterns(report: Report, page: str) -> Iterator[str]:
    """Broadcasting, and how the figures are to be read."""
    yield from compared(report, CASES, "Broadcasting")
    reached, missed = _counted(page)
    yield "Medians of calls that make their result, in brackets as a multiple of ours; the ceiling"
    yield "is what this memory can do, measured in the same run. Of what was asked for all cases,"
    yield f"types and sizes, {reached} figures were reached and {missed} missed:"
    yield f"[the report]({PATTERNS.with_suffix('.md')}), {escape(about(report).origin)}."


def reductions(report: Report, page: str) -> Iterator[str]:
    """Reductions, alone and within a kernel."""
    yield from compared(report, REDUCED, "Reductions")
    reached, missed = _counted(page)
    yield f"Of what was asked for all types and sizes, {reached} figures were reached and {missed}"
    yield f"missed: [the report]({REDUCTIONS.with_suffix('.md')}), {escape(about(report).origin)}."


def on_gpu(report: Report) -> Iterator[str]:
    """Broadcasting and reductions on a GPU."""
    yield from compared(report, ON_GPU, "On a GPU", "memory", ("CuPy", "PyTorch"))
    yield "Calls that make their result; the ceiling is the driver's copy in the same run. All"
    yield f"cases: [the report]({GPU.with_suffix('.md')}), {escape(about(report).origin)}."


# --- functions and first calls -----------------------------------------------------------------


def table_of(page: str) -> dict[str, dict[str, str]]:
    """The table of a page: the cells of each row by its name, then by column."""
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    head, _, *body = ([cell.strip() for cell in line] for line in lines)
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body}


def functions(pages: Mapping[str, str]) -> Iterator[str]:
    """Elementary functions: some rows of the first page; of each the mean and what is behind."""
    (code, page), *_ = pages.items()
    table = table_of(page)
    machine = re.findall(r"^# .*: (.*)$", page, re.MULTILINE)[0]
    others = ("NumPy", "PyTorch", "jax.jit")
    body = []
    for name in SHOWN:
        row = table[name]
        cells = [name, row[OURS]]
        for other in others:
            has = row[other] != "-"
            ratio = float(row[other]) / float(row[OURS]) if has else None
            cells.append(f"{row[other]} ({times(ratio)})" if has else "-")
        body.append(cells)
    yield f"**Elementary functions, {machine}**, one core, {code} code, nanoseconds per"
    yield "element in the cache:"
    yield ""
    yield from grid(("function", OURS, *others), body, left=1)
    yield ""
    for name, one in pages.items():
        (mean,) = re.findall(r"^Geometric mean of NumPy's times to ours: (.*)\.$", one, re.M)
        (behind,) = re.findall(r"^Slower than the best of them: (.*)\.$", one, re.MULTILINE)
        path = FUNCTIONS[name]
        yield f"* [{name} code]({path}): NumPy takes {mean} times as long (geometric mean of those"
        yield "  that it has). Ahead of us (its time to ours) is the best of the three in"
        yield f"  {escape(behind)}."
    yield "* AVX2 code was measured on the same processor, of all libraries: no measurement of one"
    yield "  without AVX-512."
    yield "* PyTorch's functions are MKL's, which Intel makes for its own processors. Of a Xeon,"
    others_of = (f"[{code}]({path})" for code, path in OTHERS.items())
    yield f"  where they are ahead in more, with some earlier formulas: {', '.join(others_of)}."


def first_calls(page: str) -> Iterator[str]:
    """What waits for a compiler."""
    table = table_of(page)
    machine = re.findall(r"^# .*: (.*)$", page, re.MULTILINE)[0]
    body = [[name, *table[name].values()] for name in FIRST]
    found = re.search(r"^earlier is revision ([0-9a-f]{7})", page, re.MULTILINE)
    if found is None:
        raise gb.Error(f"{COLD}: no other revision is beside this one (--beside)")
    earlier = found[1]
    yield f"**The first minute**, {machine}, milliseconds where no compiled kernel is on disk yet"
    yield f"([all of them]({COLD})), beside the processor time of revision {earlier}, which was"
    yield "measured in turns with this one; later processes find theirs there:"
    yield ""
    yield from grid(("", "processor", "clock", earlier, "of that"), body, left=1)


def replaced(text: str, new: str) -> str:
    """A document with a new text between the markers.

    Raises:
        Error: the markers are not there, each once and in this order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or any(mark in before + after for mark in (BEGIN, END)):
        raise gb.Error(f"the file needs these two lines, each once:\n{BEGIN}\n{END}")
    return f"{before}{begin}\n\n{new}\n\n{end}{after}"


def main(words: Sequence[str] | None = None) -> int:
    """Write the section, or check it; 1 where it is not what the reports give."""
    parser = argparse.ArgumentParser(prog="python -m bench.readme", description=__doc__)
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args(words)
    try:
        before = given.readme.read_text(encoding="utf-8")
        new = replaced(before, section(given.readme.absolute().parent))
        if not given.check:
            save(given.readme, new)
        elif new != before:
            print(f"{given.readme} is not what its reports give", file=sys.stderr)
            return 1
    except (gb.Error, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
