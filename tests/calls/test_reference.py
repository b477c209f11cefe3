"""The reference: every public name is on one page, with an example that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import functions
from gpubcast.hlo.ops import OPS
from tests.support import documents, reference_examples
from tools import type_groups
from tools.site import docstrings, reference

ROWS = {row.name: row for row in OPS.values() if row.public}
EXAMPLES = reference_examples.EXAMPLES
HERE = {name: page for name, page in EXAMPLES.items() if page and not page.libraries}


@pytest.mark.parametrize("name", ROWS)
def test_the_example_of_an_operation_runs(name: str) -> None:
    call, shown = ROWS[name].example
    assert re.match(rf"gb\.{name}\(", call)
    assert repr(eval(call, {"gb": gb, "np": np})) == shown
    assert f"    >>> {call}\n" in getattr(gb, name).__doc__


@pytest.mark.parametrize("name", HERE)
def test_the_example_of_a_name_runs(name: str) -> None:
    page = HERE[name]
    if isinstance(getattr(gb, name, None), type(documents.run)):
        assert f"gb.{name}" in page.code[1]
    assert documents.run(page) == []


def test_every_public_name_has_an_example() -> None:
    assert [name for name, page in EXAMPLES.items() if page is None] == []
    assert set(reference.sections(reference_examples.ROOT)) <= set(EXAMPLES)
    assert {name for name, page in EXAMPLES.items() if page.libraries} == {
        *("from_jax", "from_stablehlo", "StablehloFunction")
    }


def test_every_public_name_is_on_one_page(repository: Path) -> None:
    pages = reference.pages(repository)
    heads = [
        head
        for path, text in pages.items()
        for head in re.findall(r"^## gb\.([\w.]+)$", text, re.MULTILINE)
    ]
    assert sorted(heads) == sorted([*functions.__all__, *EXAMPLES])
    for path, text in pages.items():
        assert text.startswith("# "), path


def test_every_rule_of_the_reference_is_in_the_rules(repository: Path) -> None:
    text = (repository / "docs/rules.md").read_text()
    ids = set(re.findall(r"^ *- \*\*([A-Z]\d+[a-z]?)\*\*", text, re.MULTILINE))
    for row in ROWS.values():
        assert set(reference.rules_of(row)) <= ids, row.name


# --- types in words, docstrings -----------------------------------------------------------------


def test_types_are_named_by_groups() -> None:
    assert type_groups.in_words(OPS["add"].accepts) == "pred, integers, floats, complex"
    assert type_groups.in_words(OPS["abs"].accepts) == "signed integers, floats, complex"
    some = {gb.element_type(name) for name in ("f64", "s32", "f32")}
    assert type_groups.in_words(some) == "f32, f64, s32"
    for row in ROWS.values():
        words = type_groups.in_words(row.accepts).split(", ")
        found: set[Any] = set()
        for word in words:
            found |= type_groups.GROUPS.get(word) or {gb.element_type(word)}
        assert found == row.accepts, row.name


def test_a_docstring_becomes_markdown() -> None:
    text = """One line with ``code``.

    Args:
        x, y: the first of
            two lines.

    Raises:
        Error: when.

    Example:
        >>> 1
        1
    """
    assert docstrings.markdown(text) == (
        "One line with `code`.\n\n**Arguments**\n\n- `x, y`: the first of two lines.\n\n"
        "**Raises**\n\n- `Error`: when.\n\n```python\n>>> 1\n1\n```"
    )
