"""The examples of the reference, one for each public name that is no operation."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import functions
from tests.support import documents
from tools.site import reference

ROOT = Path(__file__).resolve().parents[2]
SETUP = "```python\nimport gpubcast as gb\nimport numpy as np\n```\n"


def names() -> dict[str, Any]:
    """Every public name that is no operation, and what it is."""
    found = {name: getattr(gb, name) for name in gb.__all__ if name not in functions.__all__}
    return found | {f"nn.{name}": one for name, one in reference.nn_functions().items()}


def example(name: str, one: Any) -> documents.Document | None:
    """The example of a name: its section, or the session of its docstring."""
    written = reference.sections(ROOT).get(name)
    if written is None:
        text = inspect.getdoc(one) or ""
        if ">>>" not in text:
            return None
        written = f"```python\n{text[text.index('>>>') :]}\n```"
    page = documents.parsed(name, f"{SETUP}{written}\n")
    return page if len(page.code) > 1 else None


EXAMPLES = {name: example(name, one) for name, one in names().items()}
