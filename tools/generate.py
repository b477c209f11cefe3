"""Write what follows from tables (``make generate``).

``gpubcast/functions.py`` and ``functions.pyi``, the lists of their names and ``docs/operations.md``
are made from the operation table, ``nn.pyi`` from the functions in ``gpubcast/nn.py``,
``cuda_kernels/elementary/*.cuh`` from the formulas in ``gpubcast/hlo/elementary``.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpubcast import nn
from gpubcast.codegen.cuda.elementary import headers
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo.op import Op, ResultType
from gpubcast.hlo.ops import OPS
from tools import type_groups

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "gpubcast" / "functions.py"
STUB = TARGET.with_suffix(".pyi")
NN_STUB = ROOT / "gpubcast" / "nn.pyi"
NAMES = ROOT / "gpubcast" / "hlo" / "operation_names.py"
PACKAGE = ROOT / "gpubcast" / "__init__.py"
KERNELS = ROOT / "cuda_kernels"
TABLE = ROOT / "docs" / "operations.md"
WIDTH = 100
MARK = "    # Operations, written by make generate:\n"

HEAD = '''"""The public operations, one function per row of the operation table.

Written by ``make generate`` from ``gpubcast/hlo/rows``; a test compares the two. Do not edit.
What type checkers see of them is in ``functions.pyi``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from gpubcast.hlo.inference import reduction_keywords
from gpubcast.runtime.eager_call import APPLY

if TYPE_CHECKING:
    from gpubcast.runtime.protocols import ArrayLike
    from gpubcast.shapes.element_types import ElementTypeLike
    from gpubcast.shapes.layout import Layout
'''

STUB_HEAD = '''"""Types of the public operations, for type checkers.

Written by ``make generate`` from ``gpubcast/hlo/rows``; a test compares the two. Do not edit.
The kind of the result is that of the operands: an Array if any operand is one, a NumPy array if
all are on the host, and otherwise what the operands' library has. ``out`` is returned.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from gpubcast.runtime.protocols import ArrayLike, ArrayT, ForeignArray, HostArrayLike, OutT
from gpubcast.shapes.element_types import ElementTypeLike
from gpubcast.shapes.layout import Layout
'''

NN_HEAD = '''"""Types of gpubcast.nn, for type checkers.

Written by ``make generate`` from ``gpubcast/nn.py``; a test compares the two. Do not edit.
"""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from gpubcast.fusion.fused_function import Fused
from gpubcast.runtime.protocols import ArrayLike, ArrayT, ForeignArray, HostArrayLike, OutT
from gpubcast.shapes.layout import Layout

Axis = int | str | Sequence[int] | Sequence[str]
'''

NAMES_HEAD = '''"""The names of the public operations, as type checkers read them.

Written by ``make generate`` from ``gpubcast/hlo/rows``; a test compares the two. Do not edit.
"""

from typing import Literal

OperationName = Literal[
'''


def _by_number(name: str) -> list[str | int]:
    """The key of the order in which log2 stands before log10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def parameters(
    row: Op,
    operands: Sequence[str],
    *,
    out: str = "Any = None",
    out_layout: str = "Layout | None = None",
    device: str = "str | None = None",
) -> list[str]:
    """The parameters of one public function, with the types of its operands."""
    positional = [f"{name}: {kind}" for name, kind in zip(row.operands, operands, strict=True)]
    keyword: list[str] = []
    for attribute in row.keywords:
        kind = attribute.annotation
        written = positional if attribute.positional else keyword
        if attribute.required:
            written.append(f"{attribute.name}: {kind}")
            continue
        optional = " | None" if attribute.default is None else ""
        quoted = isinstance(attribute.default, str)
        default = f'"{attribute.default}"' if quoted else attribute.default
        written.append(f"{attribute.name}: {kind}{optional} = {default}")
    keyword += [f"out: {out}", f"out_layout: {out_layout}"]
    if not row.arity:
        keyword.append(f"device: {device}")
    return [*positional, "*", *keyword]


def overloads(row: Op) -> str:
    """The types of one public function."""
    every = row.arity * ["ArrayLike"]
    no_out = {"out": "None = None"}
    given = {"out": "OutT", "out_layout": "None = None"}
    host, on_host = row.arity * ["HostArrayLike"], 'Literal["cpu"] | None = None'
    numpy = (parameters(row, host, **no_out, device=on_host), "np.ndarray[Any, Any]")

    def where(kind: str, result: str) -> list[tuple[list[str], str]]:
        places = [[*every[:i], kind, *every[i + 1 :]] for i in range(row.arity)]
        return [(parameters(row, one, **no_out), result) for one in places]

    # A type checker takes the first that fits; where an operand's type has an Any in it, as that
    # of many NumPy arrays, no other one may fit that returns something else.
    written = [*where("ArrayT", "ArrayT"), numpy, *where("ForeignArray", "Any")]
    if not row.arity:
        written.append((parameters(row, every, **no_out, device="str"), "Any"))
    written.append((parameters(row, every, **given), "OutT"))
    return "".join(f"@overload\n{_signature(row.name, *one)}\n" for one in written)


def nn_overloads(name: str, function: Fused[..., Any]) -> str:
    """The types of one function of ``gpubcast.nn``: those of an operation, where some operands may
    be left out."""
    given = list(inspect.signature(function).parameters.values())
    arrays = [p.name for i, p in enumerate(given) if i not in function._arguments.static]
    rest = [f"{p.name}: {p.annotation} = {p.default!r}" for p in given if p.name not in arrays]
    optional = {p.name for p in given if p.default is None}

    def call(
        kinds: Mapping[str, str], given: str, out: str, result: str, *, by_name: bool = False
    ) -> str:
        """One overload, in which an operand is given, by position or by its name alone."""
        listed = ["self"]
        for one in arrays:
            needed = one not in optional or one == given
            by_default = not needed and (by_name or arrays.index(one) > arrays.index(given))
            listed += ["*"] * (by_name and one == given)
            listed.append(f"{one}: {kinds[one]}" + " | None" * (not needed))
            listed[-1] += " = None" * by_default
        layout = "None" if out == "OutT" else "Layout | None"
        ends = [*["*"] * (not by_name), f"out: {out}", f"out_layout: {layout} = None"]
        return textwrap.indent(
            _signature("__call__", [*listed, *rest, *ends], result, WIDTH - 4), "    "
        )

    def wherever(kind: str, result: str) -> list[str]:
        """The overloads in which one of the operands is of a kind."""
        found = []
        for one in arrays:
            kinds = {**dict.fromkeys(arrays, "ArrayLike"), one: kind}
            found.append(call(kinds, one, "None = None", result))
            if one in optional and arrays.index(one) > 1:
                found.append(call(kinds, one, "None = None", result, by_name=True))
        return found

    host = dict.fromkeys(arrays, "HostArrayLike")
    found = [
        *wherever("ArrayT", "ArrayT"),
        call(host, arrays[0], "None = None", "np.ndarray[Any, Any]"),
        *wherever("ForeignArray", "Any"),
        call(dict.fromkeys(arrays, "ArrayLike"), arrays[0], "OutT", "OutT"),
    ]
    kind = f"_{name.title().replace('_', '')}"
    body = "\n".join(f"    @overload\n{one}" for one in found)
    # The function's own parameters stand in place of those that any fused function has.
    body = body.replace("@overload", "@overload  # type: ignore[override]", 1)
    return f"\nclass {kind}(Fused[..., Any]):\n{body}\n\n{name}: {kind}\n"


def _signature(name: str, parameters: list[str], result: str, width: int = WIDTH) -> str:
    """A signature as the formatter writes it."""
    listed = ", ".join(parameters)
    line = f"def {name}({listed}) -> {result}: ..."
    if len(line) <= width:
        return line
    if len(listed) + 4 <= width:
        return f"def {name}(\n    {listed}\n) -> {result}: ..."
    return f"def {name}(\n" + "".join(f"    {one},\n" for one in parameters) + f") -> {result}: ..."


def function(row: Op) -> str:
    """The source of one public function."""
    passed = ["out", "out_layout", *(attribute.name for attribute in row.keywords)]
    if not row.arity:
        passed.append("device")
    lines = [f"def {row.name}("]
    kinds = row.arity * ["ArrayLike"]
    written = parameters(row, kinds)
    if row.reduction:
        # A call with one operand is refused by gpubcast, which names the reduction, and so are the
        # keywords of NumPy's.
        written[len(kinds) - 1] += " | None = None"
        written.append("**others: Any")
    lines += [f"    {text}," for text in written]
    lines.append(") -> Any:")
    lines += textwrap.indent(docstring(row), "    ").splitlines()
    if row.reduction:
        lines += ["    if others:", f'        raise reduction_keywords("{row.name}", others)']
    operands = ", ".join(row.operands) + ("," if row.arity == 1 else "")
    call = f'    return APPLY.call("{row.name}", ({operands}), {", ".join(passed)})'
    if len(call) > WIDTH:
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
    hlo = f"HLO: ``{row.opcode}``" if row.opcode else f"no HLO opcode; {row.decomposition}"
    parts = textwrap.wrap(f'"""{summary} ({hlo}).', 96, break_on_hyphens=False)
    parts.append("")
    accepted = type_groups.in_words(row.accepts)
    parts += textwrap.wrap(f"Element types: {accepted}. {row.result.doc}", 96)
    if row.edges:
        parts += textwrap.wrap(f"Edges: {row.edges}.", 96)
    if row.ulp != (0, 0):
        parts.append(f"Error: at most {row.ulp[0]} ulp (f32), {row.ulp[1]} ulp (f64).")
    parts += ["", "Args:"]
    if row.arity:
        parts += _argument(", ".join(row.operands), row.rule.doc)
    for attribute in row.keywords:
        parts += _argument(attribute.name, attribute.doc)
    parts += _argument(
        "out",
        "receives the result and is returned; exactly its dimensions and type, elements that do "
        "not overlap each other, and no ``out_layout`` with it.",
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
    call, shown = row.example
    parts += ["", "Example:", f"    >>> {call}", *textwrap.indent(shown, "    ").splitlines()]
    parts.append('"""')
    return "\n".join(parts)


# Whose error grows with the number of elements.
_LAW = "law of sums"
_NAMED = (ResultType.TO, ResultType.DTYPE)


def _argument(name: str, text: str) -> list[str]:
    return textwrap.wrap(f"{name}: {text}", 92, initial_indent="    ", subsequent_indent=" " * 8)


def rows() -> list[Op]:
    """The rows that become functions."""
    return [row for row in OPS.values() if row.public]


def names() -> str:
    """The names of the functions, as lines of a list."""
    return "".join(
        f'    "{name}",\n' for name in sorted((row.name for row in rows()), key=_by_number)
    )


def module() -> str:
    """The whole text of functions.py."""
    return "\n\n".join([f"{HEAD}\n__all__ = [\n{names()}]\n", *map(function, rows())])


def stub() -> str:
    """The whole text of functions.pyi."""
    return f"{STUB_HEAD}\n__all__ = [\n{names()}]\n\n" + "".join(map(overloads, rows()))


def nn_stub() -> str:
    """The whole text of nn.pyi."""
    found = {name: one for name, one in vars(nn).items() if isinstance(one, Fused)}
    return NN_HEAD + "".join(nn_overloads(name, one) for name, one in found.items())


def operation_names() -> str:
    """The whole text of operation_names.py."""
    return f"{NAMES_HEAD}{names()}]\n"


def table() -> str:
    """The whole text of docs/operations.md."""
    own = ", ".join(f"`{row.name}`" for row in rows() if row.halves)
    lines = [
        "# The operations",
        "",
        "Written by `make generate` from `gpubcast/hlo/rows`.",
        "Error: the largest allowed on either device, in units in the last place of f32 and f64;",
        "0 is correctly rounded. f16 and bf16 round the f32 result once; those of "
        f"{own} are correctly rounded.",
        "",
        type_groups.MEANING,
        "",
        "| function | HLO | element types | result | value | at the edges | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows():
        accepted = type_groups.in_words(row.accepts)
        error = "0" if row.ulp == (0, 0) else f"{row.ulp[0]}, {row.ulp[1]}"
        if _LAW in row.edges:
            error = f"of floats that of the [{_LAW}](rules.md#the-{_LAW.replace(' ', '-')})"
        hlo = f"`{row.opcode}`" if row.opcode else f"none: {row.decomposition}"
        result = f"`{row.result.value}`" if row.result in _NAMED else row.result.value
        cells = (f"`{row.name}`", hlo, accepted, result, row.doc, row.edges, error)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def package() -> str:
    """The whole text of __init__.py, with the names of the functions in ``__all__``."""
    before, _, rest = PACKAGE.read_text().partition(MARK)
    return before + MARK + names() + rest[rest.index("]") :]


def _current(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    made = {TARGET: module(), STUB: stub(), PACKAGE: package(), TABLE: table()}
    made |= {NN_STUB: nn_stub(), NAMES: operation_names()}
    made |= {KERNELS / name: text for name, text in headers().items()}
    if "--check" in sys.argv:
        stale = [path.name for path, text in made.items() if _current(path) != text]
        sys.exit(f"{', '.join(stale)}: run make generate" if stale else 0)
    for path, text in made.items():
        path.write_text(text)
