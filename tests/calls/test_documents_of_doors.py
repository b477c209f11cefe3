"""The pages of docs/ whose examples need another library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import doors

LIBRARIES = {
    "docs/stablehlo.md": "jax",
    "docs/jax.md": "jax",
    "docs/dask.md": "dask.array",
    "docs/xarray.md": "xarray",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_documents_run(repository: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    doors.library(LIBRARIES[name])
    text = (repository / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    code = "\n".join(block for kind, block in blocks if kind == "python")
    exec(compile(code, name, "exec"), {"__name__": "document"})
    printed = capsys.readouterr().out.splitlines()
    shown = [line for kind, block in blocks if kind == "text" for line in block.splitlines()]
    assert len(shown) >= 3
    assert [line for line in shown if line not in printed] == []
