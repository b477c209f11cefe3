"""What a notebook shows of a refused call: what was wrong, drawn, and the caller's own lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.errors import MOST_RENDERED, rendered
from tests.support import doors


def refused(*arguments: Any) -> gb.Error:
    with pytest.raises(gb.Error) as caught:
        _deep(3, *arguments)
    return caught.value


def _deep(depth: int, *arguments: Any) -> Any:
    if depth:
        return _deep(depth - 1, *arguments)
    return gb.add(*arguments)


def test_the_grid_comes_first_and_then_the_callers_lines() -> None:
    error = refused(np.ones((2, 3), np.float32), np.ones(3, np.float32))
    lines = error._render_traceback_()
    assert lines[:4] == [
        "ShapeError: add: operand 1 has rank 1 and operand 0 has rank 2, and "
        "broadcast_dimensions is not given [B5a]",
        "  output dimension     0  1",
        "  operand 0: f32[2,3]  2  3",
        "  operand 1: f32[3]    ?  ?",
    ]
    assert lines[-2].startswith(f"  {__file__}:") and lines[-2].endswith("in _deep")
    assert lines[-1] == "    return gb.add(*arguments)"
    # Four lines of the caller's, each with its place, and none of gpubcast's own.
    assert sum(line.startswith("  /") for line in lines) == 4
    assert not any("gpubcast/" in line and "tests/" not in line for line in lines)


def test_it_is_never_longer_than_30_lines() -> None:
    error = gb.Error("\n".join(f"line {k}" for k in range(100)))
    lines = rendered(error)
    assert len(lines) == MOST_RENDERED == 30
    assert lines[-1] == "  ... 71 more lines: str(error)"
    with pytest.raises(gb.Error) as caught:
        raise error
    lines = rendered(caught.value)
    assert len(lines) == 30 and lines[-1].strip() == "raise error"


def test_in_ipython(capsys: pytest.CaptureFixture[str]) -> None:
    interactive = doors.library("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell(colors="nocolor")
    shell.run_cell("import gpubcast as gb, numpy as np")
    shell.run_cell("def model(x, b):\n    return gb.add(x, b)\n")
    capsys.readouterr()
    shell.run_cell("model(np.ones((2, 3), 'f4'), np.ones(3, 'f4'))")
    text = capsys.readouterr().out
    lines = text.rstrip().splitlines()
    assert len(lines) <= 30 and lines[0].startswith("ShapeError: add: operand 1 has rank 1")
    assert lines[-1].strip() == "return gb.add(x, b)" and "output dimension" in lines[1]
    assert not any("interactiveshell" in line for line in lines)
