"""The reference: every public name, with its signature, its rules and an example.

Operations are written from their rows. Other names are written from their docstrings, with the
examples of ``examples.md`` where a docstring has none.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import functions
from gpubcast.hlo import rows
from gpubcast.hlo.op import Op
from tools import type_groups
from tools.site import docstrings

# The modules of rows, each a page, in the order of the site.
GROUPS = {
    "arithmetic": "Arithmetic, powers and roots, rounding",
    "exponential": "Exponentials, logarithms, error and gamma functions",
    "trigonometric": "Trigonometric and hyperbolic functions",
    "comparison": "Comparisons, select and clamp",
    "reductions": "Reductions",
    "movement": "Broadcasts, conversions, positions",
    "bits": "Bits and shifts",
    "floating_point": "Parts of floating point numbers",
    "complex_numbers": "Complex numbers",
}
# What a rule of rules.md says of an operation, by the name of the rule of its row; the anchor
# is that of its section.
RULES: dict[str, tuple[str, ...]] = {
    "unary": ("T0", "T2"),
    "binary": ("B1", "B2", "B3", "B4", "B5", "T0", "T2", "T3", "T5"),
    "select": ("C1", "C2", "C3", "T0"),
    "clamp": ("C4", "C5", "R2", "T0"),
    "convert": ("T0", "T1"),
    "bitcast": ("C6", "C7", "P3", "T0", "T1"),
    "broadcast": ("B1", "B2", "D6", "R3", "T0"),
    "broadcast_in_dim": ("B1", "B2", "D1", "D2", "D3", "D4", "D5", "R3", "T0"),
    "iota": ("A1", "C8", "R3", "T0", "T1", "T2"),
    "reduce": ("E1", "E2", "E4", "E5", "E6", "T0", "T2"),
    "choose": ("E1", "E3", "E4", "T0", "T2", "T7"),
    "size": ("E1", "E7", "T0"),
}
# Rules that stand beside those in a single row.
OWN_RULES: dict[str, tuple[str, ...]] = {
    "complex": ("T4",),
    "conj": ("T4",),
    "atan2": ("T7",),
    "integer_pow": ("T7",),
    **dict.fromkeys(("shift_left", "shift_right_logical", "shift_right_arithmetic"), ("T8",)),
    **dict.fromkeys(("lt", "le", "gt", "ge", "compare", "max", "min", "rem", "clamp"), ("T6",)),
}
_SECTIONS = {
    "A": "a-calls-on-arrays",
    "B": "b-binary-operations",
    "C": "c-select-clamp-and-conversions",
    "D": "d-broadcast-in-dim-and-broadcast",
    "E": "e-reductions",
    "P": "p-plans",
    "R": "r-the-layout-of-a-result",
    "T": "t-calls-and-element-types",
}
# Public names that are no operations, by page.
OBJECTS = {
    "arrays": (
        "gb.Array, and what makes one",
        ("Array", "array", "empty", "full", "from_dlpack", "trim_pool"),
    ),
    "shapes": (
        "Shapes, layouts and element types",
        (
            *("Shape", "Layout", "PaddingValue", "ElementType", "element_type"),
            *("infer_shape", "to_json", "from_json"),
        ),
    ),
    "functions": (
        "Fused functions and plans",
        (
            *("fuse", "Fused", "apply", "plan", "Plan", "BoundCall"),
            *("from_stablehlo", "StablehloFunction"),
        ),
    ),
    "errors": (
        "Errors and warnings",
        (
            *("Error", "ShapeError", "ElementTypeError", "LayoutError", "IndexingError"),
            *("ExportError", "DeviceError", "OutOfMemoryError", "CompileError"),
            *("UnknownNameError", "SplitWarning", "CacheWarning"),
        ),
    ),
}
# Functions of modules that need a library of their own, which is not there when the site is built:
# they are read from their source. What the package has by its own name, too, has that.
DOORS = {
    "torch": ("gpubcast.torch", "../torch.md"),
    "jax": ("gpubcast.jax", "../jax.md"),
    "xarray": ("gpubcast.xarray", "../xarray.md"),
}

INDEX = """# Reference

Every public name, with an example that the tests run. Operations are functions of the package,
`gb.add` and the like, by the names of `jax.lax`; what all of them share stands here once.

- Operands are arrays of one library or of several, lists, and Python scalars; the operands decide
  the device and the kind of the result ([rules A1 to A4](../rules.md#a-calls-on-arrays)).
- `out=` receives the result, and is returned: its dimensions and element type are exactly the
  result's (A2). `out_layout=` asks for a layout of a new result, which otherwise follows from the
  operands' ([rules R1 to R4](../rules.md#r-the-layout-of-a-result)).
- A call that is refused raises a `gb.Error` with the id of the rule as `e.rule`.
- An error bound is in units in the last place of f32 and of f64, on either device; f16 and bf16
  round the f32 result once.

TYPES

```{toctree}
:maxdepth: 2

LISTED
../operations
../nn
../arrays
../array_api
../env
```
"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    examples = sections(root)
    found = {f"reference/{group}.md": _group(group) for group in GROUPS}
    for name, (title, names) in OBJECTS.items():
        parts = [_object(one, getattr(gb, one), f"gb.{one}", examples) for one in names]
        found[f"reference/{name}.md"] = "\n\n".join([f"# {title}", *parts]) + "\n"
    nn = [_object(f"nn.{one}", f, f"gb.nn.{one}", examples) for one, f in nn_functions().items()]
    found["reference/neural-networks.md"] = "\n\n".join(["# gb.nn: functions of networks", *nn])
    for name, (module, guide) in DOORS.items():
        found[f"reference/{name}.md"] = _door(root, module, guide)
    listed = "\n".join(Path(path).stem for path in found)
    index = INDEX.replace("TYPES", textwrap.fill(type_groups.MEANING, 98))
    return {"reference/index.md": index.replace("LISTED", listed), **found}


def sections(root: Path) -> dict[str, str]:
    """What ``examples.md`` has for each name."""
    text = (root / "tools" / "site" / "examples.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def nn_functions() -> dict[str, gb.Fused[..., Any]]:
    """The functions of ``gb.nn``."""
    return {name: one for name, one in vars(gb.nn).items() if isinstance(one, gb.Fused)}


def rows_of(group: str) -> list[Op]:
    """The public rows of one module of rows."""
    listed = importlib.import_module(f"{rows.__name__}.{group}").ROWS
    return [row for row in listed if row.public]


def _group(group: str) -> str:
    found = rows_of(group)
    summary = ["| function | value | types |", "|---|---|---|"]
    for row in found:
        doc = row.doc.replace("``", "`").replace("|", "\\|")
        words = type_groups.in_words(row.accepts)
        summary.append(f"| [`{row.name}`](#{_anchor(row.name)}) | {doc} | {words} |")
    return "\n\n".join([f"# {GROUPS[group]}", "\n".join(summary), *map(operation, found)]) + "\n"


def _anchor(name: str) -> str:
    return f"gb-{name}".replace("_", "-")


def operation(row: Op) -> str:
    """One operation, from its row."""
    function = getattr(gb, row.name)
    hlo = f"`{row.opcode}`" if row.opcode else f"no opcode: {row.decomposition}"
    facts = [
        ("value", row.doc),
        ("types", f"{type_groups.in_words(row.accepts)}. {row.result.doc}"),
        ("edges", row.edges),
        ("error", "" if row.ulp == (0, 0) else "at most {} ulp (f32), {} (f64)".format(*row.ulp)),
        ("HLO", hlo),
        ("rules", _rules(rules_of(row))),
        ("known elsewhere as", ", ".join(f"`{name}`" for name in row.aliases)),
    ]
    listed = "\n".join(f"- *{name}*: {text.replace('``', '`')}" for name, text in facts if text)
    arguments = [(", ".join(row.operands), row.rule.doc)] if row.arity else []
    arguments += [(attribute.name, attribute.doc) for attribute in row.keywords]
    said = "\n".join(f"- `{name}`: {text.replace('``', '`')}" for name, text in arguments)
    call, shown = row.example
    return "\n\n".join(
        [
            f"({_anchor(row.name)})=\n## gb.{row.name}",
            f"```py\n{signature(f'gb.{row.name}', function)}\n```",
            f"{listed}\n{said}",
            f"```python\n>>> {call}\n{shown}\n```",
        ]
    )


def rules_of(row: Op) -> tuple[str, ...]:
    """The ids of the rules by which a call of an operation is refused, or its result laid out."""
    return (*RULES[row.rule.name], *OWN_RULES.get(row.name, ()))


def _rules(names: Sequence[str]) -> str:
    """Ids of rules, with a link for each section."""
    found = itertools.groupby(sorted(names), lambda name: name[0])
    return ", ".join(f"[{' '.join(ids)}](../rules.md#{_SECTIONS[key]})" for key, ids in found)


def signature(name: str, function: Any) -> str:
    """A signature as one reads it, without types; on several lines where it is long."""
    try:
        given = inspect.signature(function)
    except (TypeError, ValueError):
        return name
    parts, marked = [], False
    for one in given.parameters.values():
        if one.kind is one.VAR_KEYWORD and one.name == "others":
            continue
        if one.kind is one.KEYWORD_ONLY and not marked:
            parts.append("*")
            marked = True
        star = "*" * (one.kind is one.VAR_POSITIONAL) + "**" * (one.kind is one.VAR_KEYWORD)
        marked = marked or one.kind is one.VAR_POSITIONAL
        value = dict(one.default) if isinstance(one.default, Mapping) else one.default
        default = "" if one.default is one.empty else f"={value!r}"
        parts.append(f"{star}{one.name}{default}")
    line = f"{name}({', '.join(parts)})"
    return line if len(line) < 80 else f"{name}(\n    " + ",\n    ".join(parts) + ",\n)"


def _object(key: str, found: Any, name: str, examples: dict[str, str]) -> str:
    """A class or a function, from its docstring."""
    text = found.__doc__
    parts = [f"## {name}"]
    hidden = inspect.isclass(found) and (issubclass(found, Exception) or key in _MADE)
    if not hidden:
        parts.append(f"```py\n{signature(name, found)}\n```")
    parts.append(docstrings.markdown(text))
    if inspect.isclass(found) and not issubclass(found, Exception):
        parts.append(_members(found))
    parts.append(examples.get(key, ""))
    return "\n\n".join(part for part in parts if part)


# Classes that are made by functions, not by calling them.
_MADE = ("Array", "BoundCall", "ElementType", "Fused", "Plan", "PaddingValue", "StablehloFunction")


def _members(found: type) -> str:
    """The first line of every public method and property."""
    lines = []
    for name in dir(found):
        one = inspect.getattr_static(found, name)
        inner = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
        text = inspect.getdoc(inner) if inspect.isroutine(inner) else ""
        if name.startswith("_") or not text:
            continue
        shown = name if isinstance(one, property) else f"{signature(name, inner)}"
        shown = re.sub(r"\((\s*)(?:self|cls)(?:, |,\s*)?", r"(\1", " ".join(shown.split()))
        first = " ".join(text.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{shown}` | {first} |")
    return "\n".join(["| member | |", "|---|---|", *lines]) if lines else ""


def _door(root: Path, module: str, guide: str) -> str:
    """The public functions of a module, read and not imported."""
    folder = root.joinpath(*module.split("."))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}
    public = _public(trees[folder / "__init__.py"])
    ours = _names_of(module.partition(".")[2])
    parts = [f"# {module}", f"The guide, with examples, is [its page]({guide})."]
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in public:
                name = f"{'gb' if node.name in ours else module}.{node.name}"
                text = docstrings.markdown(ast.get_docstring(node))
                call = f"{name}({ast.unparse(node.args)})"
                parts.append(f"## {name}\n\n```py\n{call}\n```\n\n{text}")
    return "\n\n".join(parts) + "\n"


def documented(root: Path) -> dict[str, str]:
    """The docstrings of all public names that are no operations."""
    read = {
        node.name: ast.get_docstring(node) or ""
        for name in DOORS
        for path in (root / "gpubcast" / name).glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name in _names_of(name)
    }
    names = [name for name in gb.__all__ if name not in functions.__all__]
    found = {name: read.get(name) or inspect.getdoc(getattr(gb, name)) or "" for name in names}
    return found | {f"nn.{name}": one.__doc__ or "" for name, one in nn_functions().items()}


def _names_of(door: str) -> set[str]:
    """The names of the package that a door has."""
    homes = gb._HOMES.items()
    return {name for home, names in homes if home.split(".")[0] == door for name in names}


def _public(tree: ast.Module) -> tuple[str, ...]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    raise ValueError("a module without __all__")
