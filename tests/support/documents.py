"""The code of a page of documentation, run in order as one program, and what it prints.

A block of ``python`` is run; it may be a session with ``>>>``, whose answers are compared one by
one. A line of a block of ``text`` is one that the program printed. Blocks of other languages are
not run, and ``python`` is written above nothing that cannot be.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Lines that name a file are those of a reader's own.
_OWN_FILE = re.compile(r"  in \w+ \(\w+\.py:|  <ipython-input-\d+>:")
OPTIONAL = ("cupy", "dask", "jax", "jaxlib", "numexpr", "onnx", "torch", "xarray")


@dataclass(frozen=True)
class Document:
    """A page: its path from the repository's root, and its blocks."""

    path: str
    blocks: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def code(self) -> list[str]:
        """The blocks that are run."""
        return [block for language, block in self.blocks if language == "python"]

    @property
    def libraries(self) -> tuple[str, ...]:
        """Optional libraries that the page imports, or that what it calls needs."""
        imported = re.findall(
            r"^(?:>>> )?(?:import|from) +([^\n#]+)", "".join(self.code), re.MULTILINE
        )
        words = set(re.findall(r"[a-z_]+", " ".join(imported)))
        if "gb.from_stablehlo(" in "".join(self.code):
            words.add("jaxlib")  # has the parser
        return tuple(name for name in OPTIONAL if name in words)


def read(root: Path, path: str) -> Document:
    """A page of the repository."""
    return parsed(path, (root / path).read_text(encoding="utf-8"))


def parsed(path: str, text: str) -> Document:
    """A text as a page."""
    return Document(path, tuple(_BLOCK.findall(text)))


def every(root: Path) -> list[Document]:
    """The first page of the repository and every page of ``docs/`` that has code, but those that
    ``make docs`` writes, whose code has tests of its own."""
    written = re.findall(r"^/docs/([a-z-]+)/$", (root / ".gitignore").read_text(), re.MULTILINE)
    paths = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    kept = [path for path in paths if path.split("/")[1] not in written]
    return [page for path in ("README.md", *kept) if (page := read(root, path)).code]


def run(page: Document) -> list[str]:
    """Run a page's code; the lines that it shows and does not print, and wrong answers."""
    names: dict[str, Any] = {"__name__": "document"}
    out, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out):
        for number, block in enumerate(page.code):
            name = f"{page.path}:{number}"
            if not block.startswith(">>>"):
                exec(compile(ast.parse(block, name), name, "exec"), names)
                continue
            session = doctest.DocTestParser().get_doctest(block, names, name, page.path, 0)
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(session, out=wrong.write, clear_globs=False)
            names.update(session.globs)
    printed = set(out.getvalue().splitlines())
    shown = [x for kind, block in page.blocks if kind == "text" for x in block.splitlines()]
    missing = [x for x in shown if x and x not in printed and not _OWN_FILE.match(x)]
    return [*wrong.getvalue().splitlines(), *missing]
