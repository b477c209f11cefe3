"""The pages *Coming from*: lines of other libraries beside ours, and the package's own answers to
names that it does not have."""

from __future__ import annotations

from pathlib import Path

from gpubcast.hlo import foreign_names
from gpubcast.hlo.ops import ALIASES, NN_ALIASES
from tools.site import foreign_lines

INDEX = """# Coming from

What you write elsewhere, and what you write here. The tests compute both sides of every line and
compare them. [Every name](names.md) of other libraries that gpubcast knows of is listed with the
answer that an error gives.

```{toctree}
:maxdepth: 1

LISTED
names
```
"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    found = {f"coming-from/{key}.md": page(key) for key in foreign_lines.LIBRARIES}
    index = INDEX.replace("LISTED", "\n".join(foreign_lines.LIBRARIES))
    return {"coming-from/index.md": index, **found, "coming-from/names.md": names()}


def page(key: str) -> str:
    """One library."""
    library = foreign_lines.LIBRARIES[key]
    title = library.title
    parts = [
        f"# Coming from {title}",
        "\n".join(f"- {text}" for text in library.differs),
        f"## {title} beside gpubcast",
        f"After `{library.imports}` and `import gpubcast as gb`; {foreign_lines.OPERANDS}.",
    ]
    for line, theirs in foreign_lines.of(key):
        note = f" ({line.note})" if line.note else ""
        what = f"{line.what[0].upper()}{line.what[1:]}"
        parts.append(f"**{what}**{note}")
        parts.append(f"```py\n{theirs}  # {title}\n{line.ours}  # gpubcast\n```")
    parts.append("Other names are in [the table of names](names.md), and in the errors themselves.")
    return "\n\n".join(parts) + "\n"


def names() -> str:
    """Every name that errors answer, from the tables that the errors read."""
    answers = {name: f"`gb.{ours}`" for name, ours in ALIASES.items()}
    answers |= {name: f"`gb.nn.{ours}`" for name, ours in NN_ALIASES.items()}
    answers |= foreign_names.INSTEAD
    absent = [
        f"| {', '.join(f'`{name}`' for name in group)} | {text} |"
        for group, text in foreign_names.ABSENT.items()
    ]
    groups: dict[str, list[str]] = {}
    for name in sorted(answers):
        groups.setdefault(answers[name], []).append(f"`{name}`")
    listed = [f"| {', '.join(found)} | {text} |" for text, found in groups.items()]
    return (
        "\n\n".join(
            [
                "# Names of other libraries",
                "Where a name of NumPy, CuPy, JAX, PyTorch or HLO is tried, as `gb.name` or as a "
                "method of an array, the error says what is written here. The two are one table.",
                "\n".join(["| elsewhere | here |", "|---|---|", *listed]),
                "## What gpubcast does not have",
                "\n".join(["| elsewhere | why, and what instead |", "|---|---|", *absent]),
            ]
        )
        + "\n"
    )
