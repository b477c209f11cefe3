"""Every page of the documentation runs and prints what it shows; pages that need an optional
library are in ``tests/interop/test_documents.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import documents

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in documents.every(ROOT) if not page.libraries]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_page_prints_what_it_shows(page: documents.Document) -> None:
    assert documents.run(page) == []


def test_the_pages_are_all_there() -> None:
    paths = {page.path for page in documents.every(ROOT)}
    assert {"README.md", "docs/index.md", "docs/fusion.md", "docs/torch.md", "docs/jax.md"} <= paths


@pytest.mark.parametrize(
    ("blocks", "wrong"),
    [
        ((("python", "print(1)\n"), ("text", "2\n")), ["2"]),
        ((("python", ">>> 1 + 1\n3\n"),), ["3"]),
        ((("python", "x = 1\n"), ("python", ">>> x\n1\n"), ("text", "\n")), []),
        ((("sh", "exit 1\n"), ("python", "print('a')\n"), ("text", "a\n")), []),
    ],
)
def test_what_a_page_shows_and_does_not_print_is_found(
    blocks: tuple[tuple[str, str], ...], wrong: list[str]
) -> None:
    found = documents.run(documents.Document("page", blocks))
    assert [line for line in wrong if not any(line in x for x in found)] == []
    assert bool(found) == bool(wrong)


def test_the_libraries_of_a_page_are_those_that_it_imports() -> None:
    code = ">>> import torch, gpubcast as gb\n", "import gpubcast.jax\n", "from dask import array\n"
    page = documents.Document("page", tuple(("python", block) for block in code))
    assert page.libraries == ("dask", "jax", "torch")
    parsed = documents.Document("page", (("python", "f = gb.from_stablehlo(text)\n"),))
    assert parsed.libraries == ("jaxlib",)
