"""The examples of the reference, one for each public name that is no operation."""

from __future__ import annotations

from pathlib import Path

from tests.support import documents
from tools.site import reference

ROOT = Path(__file__).resolve().parents[2]
SETUP = "```python\nimport gpubcast as gb\nimport numpy as np\n```\n"


def example(name: str, docstring: str) -> documents.Document | None:
    """The example of a name: its section, or the session of its docstring."""
    written = reference.sections(ROOT).get(name)
    if written is None:
        if ">>>" not in docstring:
            return None
        written = f"```python\n{docstring[docstring.index('>>>') :]}\n```"
    page = documents.parsed(name, f"{SETUP}{written}\n")
    return page if len(page.code) > 1 else None


EXAMPLES = {name: example(name, text) for name, text in reference.documented(ROOT).items()}
