"""Files of the repository outside of ``docs/`` that are pages of the site."""

from __future__ import annotations

from pathlib import Path

from tools.site import links

INDEX = """# The project

```{toctree}
:maxdepth: 1

changelog
contributing
measuring
cuda-sources
security
```
"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    found = {
        page: links.on_site((root / source).read_text(encoding="utf-8"), source, page)
        for source, page in links.PAGES.items()
        if page.startswith("project/")
    }
    return {"project/index.md": INDEX, **found}
