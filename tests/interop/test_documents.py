"""The pages of the documentation that need an optional library, and those that need a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import documents, doors, reference_examples

PAGES = [page for page in documents.every(Path(__file__).resolve().parents[2]) if page.libraries]
MARKED = [
    pytest.param(page, marks=[pytest.mark.gpu] * ("cupy" in page.libraries), id=page.path)
    for page in PAGES
]


@pytest.mark.parametrize("page", MARKED)
def test_a_page_prints_what_it_shows(page: documents.Document) -> None:
    for name in page.libraries:
        doors.library(name)
    assert documents.run(page) == []


REFERENCE = {
    name: page for name, page in reference_examples.EXAMPLES.items() if page and page.libraries
}


@pytest.mark.parametrize("name", REFERENCE)
def test_the_example_of_a_name_runs(name: str) -> None:
    for library in REFERENCE[name].libraries:
        doors.library(library)
    assert documents.run(REFERENCE[name]) == []
