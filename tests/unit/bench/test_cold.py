"""First calls on an empty cache: the table, and whose time stands where."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.measure import cold, environment


def test_the_least_times_and_their_ratio() -> None:
    found = (
        cold.Cold(cold.FIRST, (30.0, 20.0), (90.0, 60.0), (100.0, 80.0)),
        cold.Cold("row", (5.0, 4.0), (6.0, 7.0), (8.0, 9.0)),
        cold.Cold("exp", (2.0, 3.0), (6.0, 7.0), (8.0, 9.0)),
        cold.Cold(cold.THREADS, (10.0, 11.0), (12.0, 13.0), (1.0, 2.0)),
    )
    lines = cold.text(found).splitlines()
    rows = {line[:32].strip(): line[32:].split() for line in lines[1:]}
    assert rows[cold.FIRST] == ["20", "60", "80", "0.25"]
    assert rows["a further pattern, mean"] == ["3", "6", "8", "0.38"]
    assert rows["all of it"] == ["36", "84", "97", "0.37"]


def test_without_another_checkout_there_is_no_ratio() -> None:
    found = tuple(cold.Cold(name, (2.0,), (3.0,)) for name in (cold.FIRST, "row", cold.THREADS))
    assert all(len(line[32:].split()) == 2 for line in cold.text(found).splitlines()[1:])


def test_the_page_says_where_it_was_measured() -> None:
    found = tuple(
        cold.Cold(name, (2.0, 4.0), (3.0, 5.0)) for name in (cold.FIRST, "row", cold.THREADS)
    )
    lines = cold.page(found, "the command").splitlines()
    assert lines[0].startswith("# First calls: ") and "    the command" in lines
    assert f"| {cold.FIRST} | 2 | 3 |" in lines and "| all of it | 6 | 9 |" in lines
    assert any(line.startswith("Milliseconds, the least of 2 processes") for line in lines)


def test_the_page_has_the_other_checkout_and_the_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tuple(
        cold.Cold(name, (2.0, 4.0), (3.0, 5.0), (8.0, 9.0))
        for name in (cold.FIRST, "row", cold.THREADS)
    )
    lines = cold.page(found, "the command", tmp_path).splitlines()
    head = lines.index("| | processor (user and system) | clock | earlier | of that |")
    assert lines[head + 1] == "|---|--:|--:|--:|--:|"
    assert f"| {cold.FIRST} | 2 | 3 | 8 | 0.25 |" in lines
    assert "| all of it | 6 | 9 | 24 | 0.25 |" in lines
    assert any(line.startswith("earlier is revision unknown") for line in lines)
    monkeypatch.setattr(cold, "revision_of", lambda root: f"commit of {root.name}")
    assert f"earlier is revision commit of {tmp_path.name}," in cold.page(found, "", tmp_path)


@pytest.mark.parametrize(
    ("status", "revision"), [("", "0123abc"), (" M README.md", "0123abc-dirty")]
)
def test_a_checkout_is_known_by_its_commit(
    status: str, revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        assert words[:3] == ("git", "-C", str(tmp_path))
        return {"rev-parse": "0123abc", "status": status}[words[3]]

    monkeypatch.setattr(environment, "_output", git)
    assert not environment.revision_of(tmp_path)  # not a checkout: what lies above it may be one
    (tmp_path / ".git").mkdir()
    assert environment.revision_of(tmp_path) == revision
