"""Helpers of the tests that other tests rest on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.instructions import count
from tests.support.once import once


def test_instructions_are_counted_under_a_call() -> None:
    def inner(times: int) -> int:
        return sum(n for n in range(times))

    nothing, few, many = (count(lambda n=n: inner(n)) for n in (0, 10, 100))
    assert 0 < nothing < few < many
    # The generator's loop, whose every turn is alike.
    assert (many - few) == 9 * (few - nothing)
    assert many == count(lambda: inner(100))


def test_what_is_made_once_is_not_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("made")

    for _ in range(2):
        assert (once(tmp_path / "a" / "thing", make) / "file").read_text() == "made"
    assert made == [tmp_path / "a" / "thing"]


def test_what_failed_is_made_by_the_next(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError

    with pytest.raises(ValueError):
        once(tmp_path / "thing", fail)
    assert list(once(tmp_path / "thing", lambda folder: (folder / "whole").touch()).iterdir()) == [
        tmp_path / "thing" / "whole"
    ]
