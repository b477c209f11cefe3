"""The documentation site, as Sphinx reads it: ``make docs``.

What follows from tables (the reference, coming from other libraries, the gallery, the measurements)
is written by ``tools.site`` into folders of its own, which git ignores.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools import site  # noqa: E402
from tools.site import links  # noqa: E402

project = "gpubcast"
author = "the gpubcast project"
copyright = "the gpubcast project, Apache-2.0"
version = release = re.search(  # type: ignore[union-attr]
    r'^__version__ = "(.+)"', (ROOT / "gpubcast/__init__.py").read_text(), re.MULTILINE
).group(1)

extensions = ["myst_parser"]
templates_path: list[str] = []
exclude_patterns: list[str] = []
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Reports and tables begin where they like.
suppress_warnings = ["myst.header"]

# Prose has code without marks, as errors do.
smartquotes = False

html_theme = "pydata_sphinx_theme"
html_title = f"gpubcast {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Pages that no section has.
html_sidebars: dict[str, list[str]] = {"start": [], "questions": []}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "gpubcast"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
# Only sites that answer programs; the rest is checked by hand.
linkcheck_timeout = 20
linkcheck_retries = 2

site.write(ROOT)


def _links(app: Any, page: str, text: list[str]) -> None:
    name = f"{page}.md"
    if name.split("/")[0] not in site.FOLDERS:
        text[0] = links.on_site(text[0], f"docs/{name}", name)


def setup(app: Any) -> None:
    """What Sphinx calls with itself."""
    app.connect("source-read", _links)
