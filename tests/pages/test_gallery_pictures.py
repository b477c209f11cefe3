"""The gallery's pictures: what the examples' functions compute, for light and dark pages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.support.gallery_scripts import EXAMPLES, NAMES
from tools.site import gallery
from tools.site.gallery import drawing, pictures, plans
from tools.site.gallery.script import Script, load, scripts

EVERY = {script.name: script for script in scripts(EXAMPLES.parent)}


@pytest.fixture(scope="module")
def drawn() -> dict[str, drawing.Drawing]:
    return pictures.drawings({name: load(EVERY[name]) for name in NAMES})


def test_what_has_no_picture_of_data_has_one_of_its_plan(drawn: dict[str, Any]) -> None:
    assert set(EVERY) - set(drawn) == {
        *("batch_norm", "rms_norm"),
        *("larger_than_memory", "stablehlo_module", "torch_operator"),
    }
    for name in set(EVERY) - set(drawn):
        found = [plans.alignment(one) for _, one in plans.explanations(EVERY[name])]
        found += filter(None, [plans.committed(EVERY[name])])
        assert found
        for one in found:
            root = ElementTree.fromstring(one)
            assert root.get("role") == "img" and root.get("aria-label")


@pytest.mark.parametrize("name", pictures.NAMES)
def test_it_is_drawn_in_both_inks(name: str, drawn: dict[str, drawing.Drawing]) -> None:
    light, dark = (drawing.svg(drawn[name], theme) for theme in ("light", "dark"))
    assert light != dark
    for text, ink, other in ((light, "light", "dark"), (dark, "dark", "light")):
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert drawing.INKS[ink] in text and drawing.INKS[other] not in text
        assert len(text) < 250_000
    words = drawn[name].words
    assert words.endswith(".") and "\n" not in words and len(words) > 40


def test_it_is_the_same_again(drawn: dict[str, drawing.Drawing]) -> None:
    assert drawing.svg(drawn["k_means"], "light") == drawing.svg(drawn["k_means"], "light")


def test_it_is_of_what_the_example_computes(drawn: dict[str, drawing.Drawing]) -> None:
    """Another function is another picture."""
    examples: dict[str, Any] = {name: load(EVERY[name]) for name in NAMES}
    examples["softmax"] = SimpleNamespace(softmax=lambda x: np.sort(x))
    other = pictures.drawings(examples)["softmax"]
    assert drawing.svg(other, "light") != drawing.svg(drawn["softmax"], "light")


def test_the_plan_of_a_function_is_that_of_its_text() -> None:
    ((name, found),) = plans.explanations(EVERY["torch_operator"])
    assert name == "residual_norm"
    assert found.header[0].startswith("residual_norm: (f32[8,64]{1,0}, f32[8,64]{1,0}, f32[64]{0})")
    titles = [title for title, _ in plans.explanations(EVERY["rotary_embedding"])]
    assert titles == ["halves"]  # its cases share a function


def test_every_script_is_in_one_group() -> None:
    listed = [name for names in gallery.GROUPS.values() for name in names]
    assert sorted(listed) == sorted(EVERY)


def test_a_script_that_no_group_has_is_refused() -> None:
    new = Script(EXAMPLES / "new_one.py", "New", "a new one.", "", "")
    every = [*EVERY.values(), new]
    shown = {one.name: gallery.Shown("words", ()) for one in every}
    with pytest.raises(ValueError, match="no group of the gallery has new_one"):
        gallery.index(every, shown)


@pytest.mark.parametrize(
    ("summary", "sentence"),
    [
        ("a call and a put.", "A call and a put."),
        ("whole, with its sum inside.", "Whole, with its sum inside."),
        ("exp(x) / its sum", "exp(x) / its sum"),
        ("x / sqrt(y)", "x / sqrt(y)"),
        ("f = m * d", "f = m * d"),
        ("z -> z^2 + c", "z -> z^2 + c"),
    ],
)
def test_a_sentence_has_a_capital_and_a_formula_none(summary: str, sentence: str) -> None:
    assert Script(EXAMPLES / "x.py", "X", summary, "", "").sentence == sentence
