"""The pages *Coming from*: lines of other libraries and ours, both computed."""

from __future__ import annotations

import pytest

from tests.support import doors
from tests.support import foreign_lines as computed
from tools.site import foreign_lines

LINES = [
    pytest.param(key, line, text, id=f"{key}: {line.what}")
    for key in ("jax", "torch", "numexpr", "xarray")
    for line, text in foreign_lines.of(key)
]


@pytest.mark.parametrize(("key", "line", "text"), LINES)
def test_both_sides_agree(key: str, line: foreign_lines.Line, text: str) -> None:
    doors.library(key)
    computed.compare(line, key, text)


@pytest.mark.parametrize("line", foreign_lines.LINES, ids=lambda line: line.what)
def test_our_line_takes_tensors(line: foreign_lines.Line) -> None:
    torch = doors.library("torch")
    doors.library("gpubcast.torch")
    if "torch" in line.theirs:
        given = {name: torch.from_numpy(x) for name, x in foreign_lines.operands().items()}
        assert computed.ours(line, **given).shape == computed.ours(line).shape
