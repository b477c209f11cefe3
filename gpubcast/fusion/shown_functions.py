"""What notebooks show of a fused function: its parameters, and where their labels go."""

from __future__ import annotations

from gpubcast import locks
from gpubcast.fusion.arguments import Arguments
from gpubcast.hlo.labels import ONE, LabelPattern


def function_bundle(
    text: str,
    arguments: Arguments,
    pattern: LabelPattern | None,
    valid: tuple[tuple[str, int], ...],
) -> dict[str, str]:
    """The function as text, HTML and a picture of its labels.

    Args:
        text: its ``repr``.
        arguments: its parameters.
        pattern: its labels; None where it has none.
        valid: labels and the numbers of the groups that say how many elements are valid.
    """
    with locks.compiling():
        from gpubcast.pictures.alignment import AxisBox, OperandRow, picture
        from gpubcast.pictures.notebook import bundle

    head = f"fused function {arguments.home}({arguments.signature})"
    if pattern is None:
        return bundle(text, head, "")
    names = arguments.array_names(len(pattern.operands))
    said = [f"{len(pattern.operands)} operands: {pattern}"]
    said += [
        f"along {label} the first {names[number]} elements are valid" for label, number in valid
    ]
    rows = [
        OperandRow(name, tuple(AxisBox(x if x in group else "", x in group) for x in pattern.axes))
        for name, group in zip(names, pattern.operands, strict=True)
    ]
    outputs = [" ".join(group) or "a scalar" for group in pattern.outputs]
    columns = [label for label in pattern.axes if label != ONE]
    drawn = picture("axis", columns, rows, "results: " + ", ".join(outputs))
    return bundle(text, head, "\n".join(said), drawn)
