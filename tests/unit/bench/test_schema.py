"""The JSON of a report: read, refused, converted, and written as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gpubcast as gb
from bench import schema
from tests.support.bench_reports import (
    small,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as a report: Expecting"),
        ("[]", "is not a report of gpubcast bench"),
        ('{"schema": 4}', "is not a report of gpubcast bench"),
        ('{"schema": 4, "results": [1]}', "is not a report of gpubcast bench: the report has no "),
        ('{"schema": 1, "results": []}', "has schema 1, this version reads 2 to 4"),
    ],
)
def test_files_that_are_no_reports(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(gb.Error, match=message):
        schema.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"median": "fast"}, r"results\[0\].median is no float"),
        ({"status": "fine"}, r"results\[0\].status is 'fine'"),
        ({"samples": [1, None]}, r"results\[0\].samples\[1\] is no float"),
        ({"elements": True}, r"results\[0\].elements is no int"),
        ({"speed": 1}, r"results\[0\] has speed"),
    ],
)
def test_values_that_a_report_does_not_have(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    found = json.loads(small().text())
    found["results"][0] |= change
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found))
    with pytest.raises(gb.Error, match=message):
        schema.load(path)


def test_what_schema_2_wrote_is_read(tmp_path: Path) -> None:
    found = json.loads(small().text()) | {"schema": 2}
    del found["lost"], found["latencies"], found["in_turns"]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found))
    assert schema.load(path) == small()
    gate = {"of": "pause", "name": "p", "unit": "us", "measured": 1.0, "samples": {"ours": [1.0]}}
    path.write_text(json.dumps(found | {"gates": [gate | {"wanted": 2.0}]}))
    assert schema.load(path).latencies == [schema.Latency(**gate)]


def test_what_schema_3_wrote_is_read(tmp_path: Path) -> None:
    found = json.loads(small().text()) | {"schema": 3}
    del found["in_turns"]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found))
    assert schema.load(path) == small()


def test_a_file_is_written_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    schema.save(path, "old")

    def fail(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(KeyboardInterrupt):
            schema.save(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "link").symlink_to(path)
    schema.save(tmp_path / "link", "new")
    assert (path.read_text(), (tmp_path / "link").is_symlink()) == ("new", True)
    schema.save(Path("/dev/null"), "anything")
