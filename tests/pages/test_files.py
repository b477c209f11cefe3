"""What is written when a run ends, and what is refused before it begins."""

from __future__ import annotations

import copy
import errno
import re
from pathlib import Path
from typing import Any

import pytest

import gpubcast as gb
from bench import compare, schema
from bench.report import files
from bench.report import text as texts
from bench.report.page import page
from tests.support.bench_reports import (
    TABLE,
    options,
    parsed,
    small,
)


def test_every_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = options(**{name: tmp_path / f"r.{name}" for name in ("json", "csv", "md", "html")})
    assert files.write(small(), given) == 0
    assert schema.load(tmp_path / "r.json") == small()
    assert (tmp_path / "r.csv").read_text() == texts.csv(small())
    assert (tmp_path / "r.md").read_text() == texts.markdown(small())
    assert (tmp_path / "r.html").read_text() == page(small())
    out = capsys.readouterr().out
    assert TABLE.splitlines()[8].rstrip() in out
    assert out.count("wrote ") == 4


def test_one_bad_file_keeps_none_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    given = options(json=tmp_path / "folder", md=tmp_path / "r.md", plot=tmp_path / "no" / "r.png")
    with pytest.raises(gb.Error, match=r"(?s)folder cannot be written: .*r\.png cannot be written"):
        files.write(small(), given)
    assert (tmp_path / "r.md").is_file()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"json": "missing/folder/r.json"}, "there is no folder missing/folder"),
        ({"compare": "missing.json"}, "missing.json cannot be read as a report: No such file"),
        ({"fail_over": "lots"}, "--fail-over 'lots'"),
        ({"plot": "a.jpg"}, "must end in"),
        ({"json": "folder"}, "--json folder cannot be written: Is a directory"),
        ({"html": ""}, "--html . cannot be written: Is a directory"),
        ({"csv": "file/r.csv"}, "there is no folder file"),
        ({"md": "r.txt", "csv": "folder/../r.txt"}, "--md r.txt: this is the file of --csv too"),
        ({"md": "link", "csv": "file"}, "--md link: this is the file of --csv too"),
        ({"compare": "base.json", "json": "./base.json"}, "this is the file of --compare too"),
    ],
)
def test_what_cannot_be_met_is_refused_before_measuring(
    given: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    Path("link").symlink_to("file")
    Path("base.json").write_text(small().text())
    words = [word for name, text in given.items() for word in (f"--{name.replace('_', '-')}", text)]
    with pytest.raises(gb.Error, match=re.escape(message)):
        files.check(options(*words))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "base.json", "file", "folder", "link"
    ]  # fmt: skip


@pytest.mark.parametrize("name", files.FILES)
def test_a_file_that_must_not_be_written_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    path = tmp_path / "r.svg"
    with pytest.raises(gb.Error, match=rf"--{name} .*r\.svg cannot be written: Permission denied"):
        files.check(options(**{name: path}))


def test_the_trial_of_a_file_changes_none(tmp_path: Path) -> None:
    there, target = tmp_path / "there", tmp_path / "target"
    there.write_text("text")
    (tmp_path / "link").symlink_to(target)
    files.check(
        options(json=there, csv=tmp_path / "new", md=tmp_path / "link", html=Path("/dev/null"))
    )
    assert there.read_text() == "text"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_write_compares_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = small()
    for one in base.results:
        one.samples = [one.median] * 9 if one.median else []
    slow = copy.deepcopy(base)
    for one in slow.results:
        if one.library == "gpubcast" and one.entry != "first":
            one.record([2 * (one.median or 0.0)] * 9)
    (tmp_path / "base.json").write_text(base.text())
    given = options(compare=tmp_path / "base.json", html=tmp_path / "r.html")
    assert files.write(base, given) == 0
    assert "none surely slower by more than 5%" in capsys.readouterr().out
    assert files.write(slow, given) == 1
    out = capsys.readouterr().out
    assert re.search(
        r"row bias f32 cache out +600 ns +1\.20 us +2\.00x +[\d.]+-[\d.]+ +slower", out
    )
    root = parsed((tmp_path / "r.html").read_text())
    assert [d.get("open") for d in root.iter("details")] == ["open"]
    told = " ".join("".join(root.itertext()).split())
    assert "slower" in told
    assert compare.LEGEND in told
    assert compare.LEGEND in " ".join(out.split())
    assert files.write(slow, options(compare=tmp_path / "base.json", fail_over="1000%")) == 0
    (tmp_path / "base.json").write_text("{")
    with pytest.raises(gb.Error, match="cannot be read as a report"):
        files.write(slow, given)
