"""The pages and pictures of ``gpubcast bench``: in a browser, and in matplotlib."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import gpubcast as gb
from bench import schema
from bench.report import files, picture, table
from bench.report import text as texts
from bench.report.page import page as page_of
from tests.support.bench_reports import (
    LAYOUT,
    a_report,
    browse,
    failure,
    first_pixel,
    hostile,
    options,
    parsed,
    printed,
    result,
    small,
)

# --- the page ---------------------------------------------------------------------------------


def test_the_page_needs_nothing_from_outside() -> None:
    page = page_of(small())
    root = parsed(page)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "image"}
    attributes = [(n.rpartition("}")[2], v) for e in root.iter() for n, v in e.attrib.items()]
    assert {v[:1] for n, v in attributes if n == "href"} == {"#"}  # a mark that is drawn again
    assert not {n for n, _ in attributes} & {"src", "srcset", "action", "data", "poster"}
    assert not any(n.startswith("on") for n, _ in attributes)
    urls = set(re.findall(r"url\([^)]*\)|@import|https?:[^\s\"<>]*", page))
    assert all(re.fullmatch(r"url\(#\w+\)|http://(www\.w3\.org|purl\.org|creativecommons\.org)/.*|"
                            r"https://matplotlib\.org/", url) for url in urls), urls  # fmt: skip
    policy = root.find("head/meta[@http-equiv]")
    assert policy is not None
    assert policy.get("content") == "default-src 'none'; style-src 'unsafe-inline'"
    assert "prefers-color-scheme:dark" in page


def test_what_the_page_says() -> None:
    root = parsed(page_of(small()))
    text = "\n".join(root.itertext())
    for said in (
        *("Quick 9000, 2 cores, 2 threads", "gpubcast bench --json x.json", "row bias", "tiny"),
        *("gb.add(x, v, broadcast_dimensions=(1,))", "42.1 ms", "1.67x", "WRONG", "numexpr"),
        *("failed: TypeError: no such type", "12 of 512 elements differ", "NumPy, all elements"),
        *("absent: PyTorch (No module named 'torch')", "copy 21.0, fill 21.0 GB/s", "2.4.6"),
    ):
        assert said in text, said
    assert [heading.text for heading in root.iter("h2")] == ["row bias", "tiny", "Environment"]
    best = [cell.text for cell in root.iter("td") if cell.get("class") == "best"]
    ahead = [cell.text for cell in root.iter("td") if cell.get("class") == "high"]
    assert ahead == ["85%", "1.67x", "4.00x", "85%", "1.67x", "4.00x"]
    assert best == ["600 ns", "1.00 us", "2.00 us", "3.00 us", "1.00 us"]
    rows = [len(row) for table in root.iter("table") for row in table]
    assert rows[:3] == [8, 8, 8]  # the overview: case, size, ours and its share, four others
    told = [cell.get("title", "") for cell in root.iter("td") if cell.text == "600 ns"]
    assert "5 samples, 570 ns to 630 ns, clock" in told


def test_hostile_texts_stay_texts() -> None:
    page = page_of(hostile())
    root = parsed(page)
    assert "<script" not in page
    assert not list(root.iter("script"))
    assert "\x00" not in page
    assert "\x1b" not in page
    page.encode("utf-8")
    assert "<script>alert('x')</script>\ufffd[31m\ufffd & \"q\" ]]>" in "".join(root.itertext())


@pytest.mark.parametrize("facts", [{}, {"finished": False, "not_measured": ["gelu f32 memory"]}])
def test_an_empty_page(facts: dict[str, Any]) -> None:
    empty = a_report(**facts, ceilings=[], absent=[])
    text = "".join(parsed(page_of(empty)).itertext())
    assert "Nothing was measured." in text
    assert ("unfinished" in text) is bool(facts)


EMPTY: dict[str, Any] = {"level": "", "operands": [], "outputs": [], "expression": ""}


@pytest.mark.parametrize("missing", ["level", "operands", "outputs", "expression", "schedule",
                                     "checked", "p20", "p80", "fraction", "ceiling", "peak_host",
                                     "peak_device", "error"])  # fmt: skip
def test_missing_values_are_shown_as_missing(missing: str) -> None:
    for absent in (small(), small()):
        for one in absent.results:
            setattr(one, missing, EMPTY.get(missing))
        for name in ("processor", "threads", "cores", "python", "packages", "load"):
            absent.environment.pop(name, None)
        parsed(page_of(absent))
        text = printed(table.table(absent)) + texts.markdown(absent)
        assert "None" not in text
        assert "unknown processor" in text


def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(page_of(small()), encoding="utf-8")
    dom = browse(page, tmp_path / "profile", "--dump-dom")
    assert dom.count("<svg") == 1
    assert "600 ns" in dom
    shots = {}
    for scheme, flag in (("light", "1"), ("dark", "0")):
        shot = tmp_path / f"{scheme}.png"
        flags = (f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={flag}")
        browse(page, tmp_path / "profile", *flags)
        shots[scheme] = first_pixel(shot.read_bytes())
    assert shots == {"light": (255, 255, 255), "dark": (0x16, 0x16, 0x1A)}


def committed(repository: Path) -> Path:
    """A report of every case, whose picture is committed too."""
    return repository / "bench/results/cpu-2core-2026-11-21.json"


@pytest.mark.parametrize("width", [1400, 500])
@pytest.mark.parametrize("kind", ["committed", "small", "crowded", "planted"])
def test_a_browser_lays_the_page_out(
    repository: Path, tmp_path: Path, kind: str, width: int
) -> None:
    """Nothing overlaps, is clipped, or makes the page wider than its window."""
    crowd = [
        result(f"library number {k}", "out", 1e-6 * (1 + k / 1000), size=name, bytes=moved)
        for k in range(10) for name, moved in (("cache", 1 << 20), ("memory", 64 << 20))
    ]  # fmt: skip
    reports = {
        "committed": lambda: schema.load(committed(repository)),
        "crowded": lambda: a_report(result("gpubcast", "out", 1e-6), *crowd),
    }
    text = page_of(reports.get(kind, small)())
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    planted = '<p style="width:2000px">planted</p>' if kind == "planted" else ""
    text = text.replace("</body>", f"{planted}<script>{LAYOUT}</script></body>")
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    dom = browse(page, tmp_path / "profile", f"--window-size={width},900", "--dump-dom")
    (told,) = re.findall(r"<title>LAYOUT (.*?)</title>", dom, re.DOTALL)
    if kind == "planted":
        assert "the page is wider than its window" in told
    else:
        assert told == "fits"


def test_a_browser_runs_nothing_of_hostile_texts(tmp_path: Path) -> None:
    attack = hostile()
    for text in (
        "<script>document.body.innerHTML='taken'</script>",
        "<img src=x onerror=alert(1)>",
    ):
        attack.absent.append(schema.Absent(library=text, reason=text))
    page = tmp_path / "report.html"
    page.write_text(page_of(attack), encoding="utf-8")
    dom = browse(page, tmp_path / "profile", "--dump-dom")
    assert "<h2>Environment</h2>" in dom
    assert "<script" not in dom
    assert "<img" not in dom


# --- the picture ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_picture(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    two = small()
    two.results.append(result("gpubcast", "out", 1e-6, case="$x^$ <&>", dtype="f64"))
    for path in (first, second):
        picture.plot(two, path)
    assert first.read_bytes() == second.read_bytes()
    if suffix == ".svg":
        assert ElementTree.parse(first).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    else:
        assert first_pixel(first.read_bytes()) == (255, 255, 255)


def test_the_picture_names_what_it_shows_and_hides_no_mark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from matplotlib.figure import Figure

    drawn: list[Any] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    even = a_report(
        *(result(name, "out", 1e-6) for name in ("gpubcast", "NumPy", "JAX")),
        failure("numexpr", "out", "failed", "x"),
    )
    picture.plot(even, tmp_path / "a.png")
    (figure,) = drawn
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["gpubcast", "NumPy", "JAX"]
    (panel,) = figure.axes
    marks = [line for line in panel.lines if line.get_linestyle() == "None"]
    heights = sorted(float(line.get_ydata()[0]) for line in marks)
    assert len(heights) == 3
    assert all(low + 0.1 < high for low, high in itertools.pairwise(heights))
    assert (heights[0], heights[-1]) == (pytest.approx(-0.2), pytest.approx(0.2))
    shown = {line.get_label(): line.get_marker() for line in marks}
    assert shown == {"gpubcast": "o", "NumPy": "s", "JAX": "^"}


def test_a_run_writes_the_picture_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.png"
    assert files.write(small(), options(plot=path)) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {path}" in "".join(capsys.readouterr().out.split("\n"))


def test_a_picture_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(gb.Error, match="no result has a share of a ceiling"):
        picture.plot(a_report(), tmp_path / "a.png")


@pytest.mark.parametrize(
    ("option", "package"),
    [("html", "jinja2"), ("html", "matplotlib"), ("plot", "matplotlib"), ("compare", "scipy")],
)
def test_a_missing_package_is_named_before_measuring(
    monkeypatch: pytest.MonkeyPatch, option: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    wanted = re.escape(f"--{option} needs {package}: pip install {package}")
    with pytest.raises(gb.Error, match=wanted):
        files.check(options(f"--{option}", "x.svg"))
    files.check(options("--json", "x.json", "--md", "x.md"))


def test_the_picture_of_this_project_is_what_its_report_gives(
    repository: Path, tmp_path: Path
) -> None:
    import matplotlib

    source = committed(repository)
    drawn = source.with_suffix(".svg").read_text(encoding="utf-8")
    if f"Matplotlib v{matplotlib.__version__}," not in drawn:
        pytest.skip("the picture was drawn by another version of matplotlib")
    picture.plot(schema.load(source), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == drawn
