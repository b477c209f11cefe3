"""What the GPU tests and the benchmark ask of CuPy is there, though nothing here can run it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupy
import pytest

FILES = ("tests/gpu/*.py", "bench/**/*.py", "gpubcast/backends/cuda/backend.py")
# What is CuPy under another name, in these files.
NAMES = {
    "cupy": cupy, "gpu.xp": cupy, "device.xp": cupy, "self.xp": cupy, "room.cupy": cupy,
    "self.cupy": cupy, "_runtime": cupy.cuda.runtime, "stream": cupy.cuda.Stream,
    "graph": cupy.cuda.Graph,
}  # fmt: skip


def chains(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every longest chain of attributes: ``cupy.cuda.Stream``."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            text = ast.unparse(node)
            if text.replace(".", "").replace("_", "").isalnum():
                yield node.lineno, text


def missing(name: str, known: Any, text: str) -> bool:
    """Whether a chain that begins with a name asks for what is not there."""
    found = known
    for part in text.removeprefix(f"{name}.").split("."):
        if not hasattr(found, part):
            return True
        found = getattr(found, part)
        if not isinstance(found, type) and type(found).__name__ != "module":
            return False  # what a call or a property returns is not known
    return False


def problems(text: str) -> list[str]:
    """The chains of a file that CuPy does not have."""
    return [
        f"{line}: {chain}"
        for line, chain in chains(ast.parse(text))
        for name, known in NAMES.items()
        # Other files call other things a stream.
        if name not in ("stream", "graph") or "Stream(" in text
        if chain.startswith(f"{name}.") and missing(name, known, chain)
    ]


@pytest.mark.parametrize("pattern", FILES)
def test_cupy_has_it(repository: Path, pattern: str) -> None:
    paths = sorted(repository.glob(pattern))
    assert paths
    found = {path.name: problems(path.read_text()) for path in paths}
    assert {name: listed for name, listed in found.items() if listed} == {}


def test_what_is_not_there_is_found() -> None:
    text = "cupy.cuda.Streem(cupy.add(x), Stream())\nstream.begin_capture()\ngpu.xp.cuda.nothing()"
    assert sorted(problems(text)) == ["1: cupy.cuda.Streem", "3: gpu.xp.cuda.nothing"]
