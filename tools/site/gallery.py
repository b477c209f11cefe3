"""The gallery: a page for each script of ``examples/``, with its text and its source."""

from __future__ import annotations

import ast
from pathlib import Path

SHARED = "gallery.py"

INDEX = """# Gallery

Programs that fuse a whole expression into one kernel. Each compares every element with NumPy's
and is run by the tests; `python examples/softmax.py` runs one from a checkout, with `--size
memory` on arrays larger than a cache, with `--html plan.html` with its plan as a page.

```{toctree}
:maxdepth: 1

"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    scripts = [path for path in sorted((root / "examples").glob("*.py")) if path.name != SHARED]
    found = {f"gallery/{path.stem}.md": page(path) for path in scripts}
    listed = "\n".join(path.stem for path in scripts)
    return {"gallery/index.md": f"{INDEX}{listed}\n```\n", **found}


def page(path: Path) -> str:
    """One script: what it says of itself, and its source without that."""
    source = path.read_text(encoding="utf-8")
    module = ast.parse(source)
    text = ast.get_docstring(module) or ""
    title, _, rest = text.partition("\n")
    name, _, formula = title.partition(":")
    code = "\n".join(source.splitlines()[module.body[0].end_lineno :]).strip("\n")
    said = f"{formula.strip()}\n{rest}".strip()
    return f"# {name}\n\n{said}\n\n```python\n{code}\n```\n\n`examples/{path.name}`\n"
