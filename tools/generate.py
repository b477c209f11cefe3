"""Write what follows from tables (``make generate``).

``gpubcast/functions.py``, the list of its names and ``docs/operations.md`` are made from the
operation table, ``cuda_kernels/elementary_*.cuh`` from the formulas in ``gpubcast/elementary``.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from gpubcast.elementary.cuda import headers
from gpubcast.ops import OPS, Op, Result, Rule

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "gpubcast" / "functions.py"
PACKAGE = ROOT / "gpubcast" / "__init__.py"
KERNELS = ROOT / "cuda_kernels"
TABLE = ROOT / "docs" / "operations.md"
MARK = "    # Operations, written by make generate:\n"

HEAD = '''"""The public operations, one function per row of the operation table.

Written by ``make generate`` from ``gpubcast/ops.py``; a test compares the two. Do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpubcast.eager import APPLY
from gpubcast.layout import Layout
'''

ATTRIBUTE_TYPES = {
    "direction": "str",
    "total_order": "bool",
    "to": "Any",
    "sizes": "Sequence[int]",
    "shape": "Sequence[int]",
    "broadcast_dimensions": "Sequence[int]",
    "exponent_bits": "int",
    "mantissa_bits": "int",
    "method": "str",
    "y": "int",
    "dtype": "Any",
    "size": "int",
    "dimension": "int",
}
ATTRIBUTE_DOCS = {
    "direction": "one of EQ, NE, LT, LE, GT, GE.",
    "total_order": "compare floats by their total order instead of IEEE 754's.",
    "to": "the element type of the result: an XLA name or a NumPy dtype.",
    "sizes": "sizes of the new leading dimensions.",
    "shape": "dimensions of the result.",
    "dtype": "the element type of the result: an XLA name or a NumPy dtype.",
    "size": "number of elements.",
    "dimension": "the dimension of ``shape`` along which positions are counted.",
    "method": "``away_from_zero`` or ``even``: where halves go.",
    "y": "the power, an integer.",
    "exponent_bits": "bits of the exponent, at least 1.",
    "mantissa_bits": "bits of the mantissa, the leading one not counted.",
}
# Keywords that may be given by position, as jax.lax takes them.
_PLACED = ("dtype", "shape", "size", "dimension", "to", "exponent_bits", "mantissa_bits", "y")
SAME_DIMENSIONS = "An array of the dimensions of ``x``."
RETURN_DOCS = {
    Rule.BINARY: "An array; where one size is 1, the result has the other.",
    Rule.SELECT: "An array of the dimensions of ``on_true``.",
    Rule.BROADCAST: "An array of ``sizes`` followed by the dimensions of ``x``.",
    Rule.BROADCAST_IN_DIM: "An array of the dimensions ``shape``.",
    Rule.IOTA: "A NumPy or CuPy array by the device.",
}
OPERAND_DOCS = {
    Rule.BINARY: "operands of one element type: arrays of one rank, or of two ranks with "
    "``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.",
    Rule.SELECT: "``pred`` is a scalar or has the dimensions of the others, which are equal.",
    Rule.CLAMP: "``lo`` and ``hi`` are scalars or have the dimensions of ``x``.",
}


def function(row: Op) -> str:
    """The source of one public function."""
    positional = [f"{name}: Any" for name in row.operands]
    keyword, passed = [], ["out", "out_layout"]
    for attribute in row.attributes:
        kind = ATTRIBUTE_TYPES[attribute.name]
        if attribute.default is not None:
            default = repr(attribute.default) if attribute.choices else attribute.default
            keyword.append(f"{attribute.name}: {kind} = {default}".replace("'", '"'))
        elif row.rule in (Rule.BROADCAST, Rule.BROADCAST_IN_DIM) or attribute.name in _PLACED:
            positional.append(f"{attribute.name}: {kind}")
        else:
            keyword.append(f"{attribute.name}: {kind}")
        passed.append(attribute.name)
    if row.rule is Rule.BINARY:
        keyword.append("broadcast_dimensions: Sequence[int] | None = None")
        passed.append("broadcast_dimensions")
    keyword += ["out: Any = None", "out_layout: Layout | None = None"]
    if not row.arity:
        keyword.append("device: str | None = None")
        passed.append("device")
    lines = [f"def {row.name}("]
    lines += [f"    {text}," for text in positional]
    lines += ["    *,", *(f"    {text}," for text in keyword), ") -> Any:"]
    lines += textwrap.indent(docstring(row), "    ").splitlines()
    operands = ", ".join(row.operands) + ("," if row.arity == 1 else "")
    call = f'    return APPLY.call("{row.name}", ({operands}), {", ".join(passed)})'
    if len(call) > 100:
        passed_lines = [f'"{row.name}"', f"({operands})", *passed]
        call = "\n".join(
            ["    return APPLY.call(", *(f"        {a}," for a in passed_lines), "    )"]
        )
    lines += [call, ""]
    return "\n".join(lines)


def docstring(row: Op) -> str:
    """Shapes, types, values at the edges, errors and source of one operation."""
    summary = f"{row.doc[0].upper()}{row.doc[1:]}" if row.doc[0].isalpha() else f"``{row.doc}``"
    if row.doc[0].isalpha() and row.doc[1:2] in " *<>=!&|^":
        summary = row.doc
    parts = textwrap.wrap(f'"""{summary} (HLO: ``{row.opcode}``).', 96, break_on_hyphens=False)
    parts.append("")
    accepted = ", ".join(sorted((t.name for t in row.accepts), key=_type_order))
    parts += textwrap.wrap(f"Element types: {accepted}. {_result(row)}", 96)
    if row.edges:
        parts += textwrap.wrap(f"Edges: {row.edges}.", 96)
    if row.ulp != (0, 0):
        parts.append(f"Error: at most {row.ulp[0]} ulp (f32), {row.ulp[1]} ulp (f64).")
    parts += ["", "Args:"]
    operands = OPERAND_DOCS.get(row.rule, "the operand.")
    if row.arity:
        parts += _argument(", ".join(row.operands), operands)
    for attribute in row.attributes:
        if attribute.name in ATTRIBUTE_DOCS:
            parts += _argument(attribute.name, ATTRIBUTE_DOCS[attribute.name])
    if row.rule is Rule.BINARY:
        parts += _argument(
            "broadcast_dimensions",
            "for each dimension of the operand of lower rank, the dimension of the other that it "
            "is matched with; strictly increasing.",
        )
    if row.rule is Rule.BROADCAST_IN_DIM:
        parts += _argument(
            "broadcast_dimensions",
            "for each dimension of ``x`` its place in the result; unique, in any order.",
        )
    parts += _argument(
        "out",
        "receives the result and is returned; exactly its dimensions and type, elements that do "
        "not overlap each other, and no ``out_layout`` beside it.",
    )
    parts += _argument("out_layout", "layout of the new result; None for the inferred one.")
    if not row.arity:
        parts += _argument(
            "device",
            "where it is made: ``cpu``, the default, or ``cuda``; with ``out``, its device.",
        )
    parts += ["", "Raises:"]
    parts += _argument(
        "Error", "a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it."
    )
    parts.append('"""')
    return "\n".join(parts)


def _type_order(name: str) -> tuple[str, int]:
    return name.rstrip("0123456789"), int("".join(c for c in name if c.isdigit()) or 0)


RESULTS = {
    Result.SAME: "same",
    Result.PRED: "pred",
    Result.TO: "`to`",
    Result.DTYPE: "`dtype`",
    Result.COMPLEX: "complex",
    Result.REAL: "real",
}


def _result(row: Op) -> str:
    return {
        Result.SAME: "The result has the operands' type.",
        Result.PRED: "The result is pred.",
        Result.COMPLEX: "The result is c64 or c128.",
        Result.REAL: "The result is real: f32 for c64, f64 for c128, else the operand's type.",
        Result.TO: "The result has the type ``to``.",
        Result.DTYPE: "The result has the type ``dtype``.",
    }.get(row.result, "")


def _argument(name: str, text: str) -> list[str]:
    return textwrap.wrap(f"{name}: {text}", 92, initial_indent="    ", subsequent_indent=" " * 8)


def rows() -> list[Op]:
    """The rows that become functions."""
    return [row for row in OPS.values() if row.public]


def names() -> str:
    """The names of the functions, as lines of a list."""
    return "".join(f'    "{name}",\n' for name in sorted(row.name for row in rows()))


def module() -> str:
    """The whole text of functions.py."""
    return "\n\n".join([f"{HEAD}\n__all__ = [\n{names()}]\n", *map(function, rows())])


def table() -> str:
    """The whole text of docs/operations.md."""
    lines = [
        "# The operations",
        "",
        "Written by `make generate` from `gpubcast/ops.py`.",
        "Error: the largest allowed on either device, in units in the last place of f32 and f64;",
        "0 is correctly rounded. f16 and bf16 round the f32 result once.",
        "",
        "| function | HLO | element types | result | value | at the edges | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows():
        accepted = " ".join(sorted((t.name for t in row.accepts), key=_type_order))
        error = "0" if row.ulp == (0, 0) else f"{row.ulp[0]}, {row.ulp[1]}"
        result = RESULTS.get(row.result, "")
        cells = (f"`{row.name}`", f"`{row.opcode}`", accepted, result, row.doc, row.edges, error)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def package() -> str:
    """The whole text of __init__.py, with the names of the functions in ``__all__``."""
    before, _, rest = PACKAGE.read_text().partition(MARK)
    return before + MARK + names() + rest[rest.index("]") :]


def _current(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    made = {TARGET: module(), PACKAGE: package(), TABLE: table()}
    made |= {KERNELS / name: text for name, text in headers().items()}
    if "--check" in sys.argv:
        stale = [path.name for path, text in made.items() if _current(path) != text]
        sys.exit(f"{', '.join(stale)}: run make generate" if stale else 0)
    for path, text in made.items():
        path.write_text(text)
