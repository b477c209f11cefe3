"""The checklist of questions, and the search that is asked them."""

from __future__ import annotations

from pathlib import Path

from tools.site import questions

INDEX = {
    "docnames": ["layouts", "sums", "start"],
    "terms": {"layout": [0, 2], "result": [0, 1], "sum": 1, "padded": 0},
    "titleterms": {"layout": 0, "result": 1},
}
STOP = {"what", "does", "the", "get"}


def ranked(question: str) -> list[str]:
    return questions.ranked(INDEX, question, STOP, lambda word: word.removesuffix("s"))


def test_a_page_has_every_word_of_a_question() -> None:
    assert ranked("What layout does the result get?") == ["layouts"]
    assert ranked("results") == ["sums", "layouts"]
    assert ranked("layout sums") == []


def test_a_part_of_a_word_counts_and_a_word_of_two_letters_is_not_needed() -> None:
    assert ranked("pad") == ["layouts"]
    assert ranked("sum xy") == ["sums"]


def test_there_are_ten_questions_and_each_names_a_page(repository: Path) -> None:
    found = questions.listed(repository)
    assert len(found) == 10
    for question in found:
        assert (repository / "docs" / f"{question.page}.md").is_file(), question.page
        assert len(question.answer) > 10
