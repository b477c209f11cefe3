"""gpubcast's own pictures of the examples: where the axes go, and what bytes move."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import gpubcast as gb
from gpubcast.explain import Explanation, html
from gpubcast.pictures import stages
from tools.site.gallery.script import Script, load

# Functions of the scripts that need another library: their text is run without the rest.
SHAPES = {
    "larger_than_memory": {"normalised": ("f32[64,32]", "f32[32]", "f32[32]")},
    "torch_operator": {"residual_norm": ("f32[8,64]", "f32[8,64]", "f32[64]")},
}
# Pictures that take another library to draw are in the repository: ``tools/pictures.py``.
COMMITTED = ("stablehlo_module", "torch_operator")


def explanations(script: Script) -> Iterator[tuple[str, Explanation]]:
    """The name and the plan of each fused function, once."""
    if script.has_cases:
        functions = []
        for case in load(script).CASES:
            if case.function not in functions:
                functions.append(case.function)
                yield case.title, case.explain()
    for name, shapes in SHAPES.get(script.name, {}).items():
        yield name, _function(script, name).explain(*shapes)


def _function(script: Script, name: str) -> Any:
    """A fused function, made of its own text alone."""
    (node,) = (
        one
        for one in ast.parse(script.code).body
        if isinstance(one, ast.FunctionDef) and one.name == name
    )
    names: dict[str, Any] = {"gb": gb}
    alone = ast.Module([node], [])
    exec(compile(alone, str(script.path), "exec"), names)
    return names[name]


def alignment(explanation: Explanation) -> str:
    """Where the operands' axes go, as SVG."""
    assert explanation.grid is not None
    return html.arrows(explanation.grid)


def moved(explanation: Explanation) -> str:
    """The bytes that each kernel reads and writes, as SVG."""
    return stages.picture(explanation.stages)


def committed(script: Script) -> str:
    """The picture that is in the repository; empty where there is none."""
    if script.name not in COMMITTED:
        return ""
    path = script.path.parents[1] / "docs" / "pictures" / f"{script.name}.svg"
    return path.read_text(encoding="utf-8").strip()
