"""The pages *Coming from*: our lines give what NumPy's give, and foreign names are answered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gpubcast as gb
from tests.support import foreign_lines as computed
from tools.site import coming_from, foreign_lines

HERE = [(key, line, text) for key in ("numpy", "cupy") for line, text in foreign_lines.of(key)]
EVERY = [(key, text) for key in foreign_lines.LIBRARIES for _, text in foreign_lines.of(key)]


@pytest.mark.parametrize("line", foreign_lines.LINES, ids=lambda line: line.what)
def test_our_line_runs(line: foreign_lines.Line) -> None:
    assert computed.ours(line).size > 0
    assert line.theirs


@pytest.mark.parametrize(("key", "line", "text"), HERE)
def test_both_sides_agree(key: str, line: foreign_lines.Line, text: str) -> None:
    computed.compare(line, key, text)


def test_a_line_that_differs_is_found() -> None:
    wrong = foreign_lines.Line("wrong", "gb.add(x, 1.0)", {"numpy": "x"})
    with pytest.raises(AssertionError):
        computed.compare(wrong, "numpy", "x")
    typed = foreign_lines.Line("typed", "gb.convert_element_type(x, 'f64')", {"numpy": "x"})
    with pytest.raises(AssertionError):
        computed.compare(typed, "numpy", "x")


def test_a_name_that_a_line_calls_is_ours_or_answered() -> None:
    names = {name for _, text in EVERY for name in computed.called(text)}
    assert len(names) > 15
    for name in names:
        if not hasattr(gb, name):
            with pytest.raises(gb.UnknownNameError, match=r"; (gpubcast calls it|write)"):
                getattr(gb, name)


def test_the_table_of_names_is_what_errors_say(repository: Path) -> None:
    text = coming_from.pages(repository)["coming-from/names.md"]
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) > 80
    for names, answer in rows:
        for name in re.findall(r"`(.+?)`", names):
            if not hasattr(gb, name):
                with pytest.raises(gb.UnknownNameError) as told:
                    getattr(gb, name)
                ours = re.fullmatch(r"`gb\.(.+)`", answer)
                said = f"'{ours[1]}'" if ours and "nn" not in answer else answer.strip("`")
                assert said in str(told.value), name


def test_every_library_has_a_page(repository: Path) -> None:
    pages = coming_from.pages(repository)
    for key, library in foreign_lines.LIBRARIES.items():
        text = pages[f"coming-from/{key}.md"]
        assert text.startswith(f"# Coming from {library.title}\n")
        assert text.count("# gpubcast\n```") == len(foreign_lines.of(key)) >= 8
