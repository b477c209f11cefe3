"""docs/architecture.md: what it names is where it says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tools import lint_house

NAMED = re.compile(r"`(?P<path>[\w/]+\.(?:py|cuh))`: `(?P<name>\w+)`")


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs/architecture.md").read_text()


def defines(path: Path, name: str) -> bool:
    """Whether a Python or CUDA file has a function or a class of a name."""
    text = path.read_text()
    if path.suffix == ".cuh":
        return re.search(rf"\b(GB_FN|__global__)\b[^;{{]*\b{name}\(", text) is not None
    return re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE) is not None


def test_the_index_is_true(repository: Path, page: str) -> None:
    section = page.partition("## Where is")[2].partition("\n## ")[0]
    rows = [line.split("|")[2:4] for line in section.splitlines() if line.startswith("| W")]
    assert len(rows) >= 20
    for files, functions in rows:
        pairs = zip(re.findall(r"`([^`]+)`", files), re.findall(r"`(\w+)`", functions), strict=True)
        for path, name in pairs:
            assert defines(repository / path, name), (path, name)


def test_the_steps_of_a_call_are_true(repository: Path, page: str) -> None:
    section = page.partition("## One call")[2].partition("\n## ")[0]
    named = NAMED.findall(section)
    assert len(named) >= 20
    for path, name in named:
        assert defines(repository / "gpubcast" / path, name), (path, name)


def test_packages_stand_in_the_order_of_the_contract(repository: Path, page: str) -> None:
    contracts = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    order = [name for layer in reversed(layers) for name in sorted(layer.split(" | "))]
    table = page.partition("|---|---|---|")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    shown = [name.rstrip("/") for cell in first for name in re.findall(r"`([\w/]+)`", cell)]
    places = {name: k for k, layer in enumerate(reversed(layers)) for name in layer.split(" | ")}
    assert sorted(shown) == sorted(name for name in order if name != "__main__")
    assert [places[name] for name in shown] == sorted(places[name] for name in shown)


def test_every_owner_of_state_is_listed(page: str) -> None:
    section = page.partition("## Mutable state")[2]
    listed = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", section, re.MULTILINE))
    assert listed == lint_house.STATE


def test_a_false_entry_is_seen(repository: Path) -> None:
    assert not defines(repository / "gpubcast/hlo/broadcasting.py", "binar")
    assert not defines(repository / "cuda_kernels/rows.cuh", "filling")
