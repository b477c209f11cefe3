"""Errors of the rules: what is wrong, a picture or a list of the operands, and the way out."""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.errors import ElementTypeError, ShapeError
from gpubcast.hlo.alignment import AlignmentRow, alignment_grid, render, row, unplaced
from gpubcast.shapes.shape import Shape

# Rules about operands of one element type.
_OF_ONE_TYPE = ("C1", "C4", "T3", "T5")
_SCALAR = (
    "a NumPy scalar, as any array of rank 0, has a type of its own; float(x), or int(x), fits "
    "beside every operand"
)


def label(i: int, shape: Shape) -> str:
    return f"operand {i}: {shape.text(layout=False)}"


def listing(operands: Sequence[Shape]) -> str:
    """One line per operand, for errors that no picture would help."""
    return "\n".join(f"  {label(i, shape)}" for i, shape in enumerate(operands))


def type_refusal(rule: str, kind: str, operands: tuple[Shape, ...], what: str) -> ElementTypeError:
    """An error about element types: what is wrong, then the operands."""
    text = f"{what} [{rule}]\n{listing(operands)}"
    ranks = {shape.rank > 0 for shape in operands}
    if rule in _OF_ONE_TYPE and len(ranks) > 1:
        text += f"\nhelp: {_SCALAR}"
    return ElementTypeError(text, rule=rule, kind=kind, operands=operands)


def unequal_refusal(rule: str, kind: str, operands: tuple[Shape, ...], what: str) -> ShapeError:
    """An error of an operation whose operands must all have the dimensions of operand 1."""
    scalars = "pred may be a scalar" if rule in ("C1", "C3") else "lo and hi may be scalars"
    fix = f"only {scalars}; broadcast the other operand first, with broadcast or broadcast_in_dim"
    if rule == "C1" and not all(shape.rank for shape in operands[1:]):
        fix += f"; {_SCALAR}"
    if rule == "C5" and not operands[1].rank:
        fix = "the order is clamp(lo, x, hi), as XLA has it: the bounds stand around the value"
    rows = _against(operands, 1)
    return shape_refusal(f"{what} [{rule}]", rows, fix, rule=rule, kind=kind, operands=operands)


def _against(operands: Sequence[Shape], at: int) -> list[AlignmentRow]:
    """Rows of operands that have to agree with operand ``at``; scalars fit anywhere."""
    output = operands[at].dimensions
    rows = []
    for i, shape in enumerate(operands):
        if shape.rank not in (0, len(output)):
            note = f"rank {shape.rank}, not {len(output)}"
            rows.append(unplaced(label(i, shape), len(output), note))
        else:
            wrong = [d for d, size in enumerate(shape.dimensions) if size != output[d]]
            rows.append(
                row(label(i, shape), shape.dimensions, range(shape.rank), output, wrong=wrong)
            )
    return rows


def shape_refusal(
    first: str,
    rows: list[AlignmentRow],
    fix: str = "",
    *,
    rule: str,
    kind: str,
    operands: tuple[Shape, ...],
) -> ShapeError:
    """What is wrong, the picture, the operands where no picture shows them, and the way out."""
    picture = render(alignment_grid(rows, len(rows[0].cells))) if rows else listing(operands)
    lines = [first, picture, *([f"help: {fix}"] if fix else [])]
    return ShapeError("\n".join(lines), rule=rule, kind=kind, operands=operands)
