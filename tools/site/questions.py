"""Ask the search of a built site the questions of ``docs/questions.md``:
``python -m tools.site.questions build/docs/html``.

The search is that of Sphinx's ``searchtools.js``: words without stop words, stemmed; a page has all
of them that are longer than two letters, in its text or its titles, as a whole or as a part. The
page that the list names is among the first three.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIRST = 3
# Pages that say the same in other words, and the list itself.
_ROW = re.compile(r"^\| (.+\?) \| (.+) \| \[.+?\]\((.+?)\.md\) \|$", re.MULTILINE)
_TITLE, _PARTIAL_TITLE, _TERM, _PARTIAL_TERM = 15, 7, 5, 2


@dataclass(frozen=True)
class Question:
    """A question, the answer in a line, and the page that answers it."""

    text: str
    answer: str
    page: str


def listed(root: Path) -> list[Question]:
    """The questions of the checklist."""
    text = (root / "docs" / "questions.md").read_text(encoding="utf-8")
    return [Question(*row) for row in _ROW.findall(text)]


def index(folder: Path) -> dict[str, Any]:
    """The search index of a built site."""
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    return found


def ranked(
    found: dict[str, Any], question: str, stop: Collection[str], stem: Callable[[str], str]
) -> list[str]:
    """The pages that the search shows, the first one first."""
    asked = [word for word in re.findall(r"\w+", question.lower()) if word not in stop]
    words = {stem(word) for word in asked if not word.isdigit()}
    scores: dict[int, dict[str, int]] = {}
    for word in words:
        for terms, whole, part in (
            (found["terms"], _TERM, _PARTIAL_TERM),
            (found["titleterms"], _TITLE, _PARTIAL_TITLE),
        ):
            for term, score in _matches(terms, word, whole, part):
                pages = terms[term]
                for page in [pages] if isinstance(pages, int) else pages:
                    had = scores.setdefault(page, {})
                    had[word] = max(had.get(word, 0), score)
    needed = {word for word in words if len(word) > 2}
    kept = {page: sum(had.values()) for page, had in scores.items() if needed <= set(had)}
    return [found["docnames"][page] for page in sorted(kept, key=lambda page: -kept[page])]


def _matches(terms: dict[str, Any], word: str, whole: int, part: int) -> list[tuple[str, int]]:
    if word in terms:
        return [(word, whole)]
    return [(term, part) for term in terms if len(word) > 2 and word in term]


def main(arguments: list[str]) -> int:
    """Print the questions whose page is not found; 1 if there are any."""
    from sphinx.search.en import SearchEnglish

    language = SearchEnglish({})
    built = index(Path(arguments[0]))
    lost = 0
    for question in listed(Path(__file__).resolve().parents[2]):
        pages = ranked(built, question.text, SearchEnglish.stopwords, language.stem)
        # The checklist has the words of every question.
        pages = [page for page in pages if page != "questions"]
        if question.page not in pages[:FIRST]:
            lost += 1
            print(f"{question.text} finds {pages[:FIRST]}, not {question.page}")
    print(f"{len(listed(Path(__file__).resolve().parents[2]))} questions, {lost} not answered")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
