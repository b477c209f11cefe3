"""A script of ``examples/``, taken apart: its name, what it says of itself, and its code."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

SHARED = "gallery.py"


@dataclass(frozen=True, slots=True)
class Script:
    """One script.

    Attributes:
        path: where it lies.
        title: its name in words.
        summary: the rest of its docstring's first line.
        text: the rest of its docstring.
        code: its source without the docstring.
    """

    path: Path
    title: str
    summary: str
    text: str
    code: str

    @property
    def sentence(self) -> str:
        """The summary with a capital, unless it begins with a formula."""
        is_prose = re.match(r"(a|[a-z]{2,}),? [^=/]", self.summary)
        return self.summary[:1].upper() + self.summary[1:] if is_prose else self.summary

    @property
    def name(self) -> str:
        """The module's name."""
        return self.path.stem

    @property
    def is_sharing(self) -> bool:
        """Whether it imports what the scripts share."""
        return "import gallery\n" in self.code

    @property
    def has_cases(self) -> bool:
        """Whether it is a list of cases that the shared code runs."""
        return "gallery.main(" in self.code


def read(path: Path) -> Script:
    """A script, from its file."""
    source = path.read_text(encoding="utf-8")
    module = ast.parse(source)
    first, _, text = (ast.get_docstring(module) or "").partition("\n")
    title, _, summary = first.partition(":")
    code = "\n".join(source.splitlines()[module.body[0].end_lineno :]).strip("\n")
    return Script(path, title, summary.strip(), text.strip(), f"{code}\n")


def scripts(root: Path) -> list[Script]:
    """Those of a checkout, by name; what they share is none."""
    paths = sorted((root / "examples").glob("*.py"))
    return [read(path) for path in paths if path.name != SHARED]


def load(script: Script) -> ModuleType:
    """A script as a module, found as the scripts find one another."""
    folder = str(script.path.parent)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(script.name)
    finally:
        sys.path.remove(folder)
