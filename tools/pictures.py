"""The README's picture, and those of the gallery that take PyTorch or jaxlib to draw.

``python -m tools.pictures`` draws them by ``gpubcast.pictures``; tests draw them again and compare.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast.pictures import alignment, memory, stages, svg
from gpubcast.pictures.alignment import AxisBox, OperandRow
from gpubcast.pictures.memory import Memory

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
README = FOLDER / "readme.svg"
LABELS = "row col, row, row, col, col -> row col"
NAMES = ("x", "mean", "rstd", "gamma", "beta")
SHAPE = "f32[4,5]{0,1:pad(5,6,zero)}"


def readme() -> str:
    """Where the labels of five operands go, and where the elements of a padded result lie."""
    groups = [group.split() for group in LABELS.partition(" -> ")[0].split(",")]
    columns = LABELS.partition(" -> ")[2].split()
    rows = [
        OperandRow(name, tuple(AxisBox(x if x in group else "", x in group) for x in columns))
        for name, group in zip(NAMES, groups, strict=True)
    ]
    shape = gb.Shape.parse(SHAPE)
    lies = Memory(SHAPE, shape.dimensions, shape.padded_dimensions, shape.strides)
    drawn = svg.side_by_side(
        [
            (LABELS, alignment.picture("axis", columns, rows, "result")),
            (SHAPE, memory.picture(lies)),
        ]
    )
    return svg.alone(drawn) + "\n"


def stablehlo_module(example: Any) -> str:
    """The bytes that the module of ``examples/stablehlo_module.py`` moves, for eight heads."""
    (plan,) = gb.from_stablehlo(example.MODULE).plans("f32[8,256,256]")
    (stage,) = plan.explain().stages
    return stages.picture([dataclasses.replace(stage, name="the module, one kernel")]) + "\n"


def torch_operator(example: Any) -> str:
    """The bytes that the operator of ``examples/torch_operator.py`` moves, forward and backward."""
    from gpubcast.torch import gradient_plan

    given, _ = example.operands("small")
    shapes = [gb.Shape("f32", tuple(x.shape)) for x in given]
    (forward,) = example.residual_norm.plan(*shapes).explain().stages
    backward = gradient_plan(example.residual_norm, *given).explain().stages
    kernels = [dataclasses.replace(forward, name="forward, one kernel")]
    for number, stage in enumerate(backward):
        kernels.append(dataclasses.replace(stage, name=f"backward, kernel {number}"))
    return stages.picture(kernels) + "\n"


GALLERY = {"stablehlo_module": stablehlo_module, "torch_operator": torch_operator}


def main() -> int:
    """Write the pictures."""
    from tools.site.gallery import script

    FOLDER.mkdir(exist_ok=True)
    README.write_text(readme(), encoding="utf-8")
    for name, draw in GALLERY.items():
        example = script.load(script.read(ROOT / "examples" / f"{name}.py"))
        (FOLDER / f"{name}.svg").write_text(draw(example), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
