"""The scripts in ``examples`` that make up the gallery: those whose cases ``gallery.py`` checks."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(
    path.stem
    for path in EXAMPLES.glob("*.py")
    if "gallery.main(" in path.read_text(encoding="utf-8")
)
