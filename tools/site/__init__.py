"""The parts of the documentation site that follow from tables, examples and committed reports.

``write`` puts them into folders of ``docs/`` that git ignores; ``docs/conf.py`` calls it at the
start of each build. Every part is a module with a function ``pages(root)``, which gives texts by
their paths in ``docs/``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.site import coming_from, gallery, performance, project, reference

PARTS = (coming_from, gallery, performance, project, reference)
FOLDERS = ("coming-from", "gallery", "performance", "project", "reference")


def pages(root: Path) -> dict[str, str]:
    """Every page that is written, by its path in ``docs/``."""
    return {path: text for part in PARTS for path, text in part.pages(root).items()}


def write(root: Path) -> None:
    """Write the pages; those that are as they were are left alone, so that they are not built
    again, and those that are no longer made go."""
    made = pages(root)
    for folder in FOLDERS:
        for path in (root / "docs" / folder).rglob("*"):
            if path.is_file() and path.relative_to(root / "docs").as_posix() not in made:
                path.unlink()
    for name, text in made.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def clean(root: Path) -> None:
    """Remove every page that is written."""
    for folder in FOLDERS:
        shutil.rmtree(root / "docs" / folder, ignore_errors=True)
