"""The gallery: a page for each script of ``examples/``, to be downloaded as a notebook, too."""

from __future__ import annotations

from pathlib import Path

from tools.site.gallery import notebook
from tools.site.gallery.script import SHARED, Script, scripts

INDEX = """# Gallery

Programs that fuse a whole expression into one kernel. Each compares every element with NumPy's
and is run by the tests; `python examples/softmax.py` runs one from a checkout, with `--size
memory` on arrays larger than a cache, with `--html plan.html` with its plan as a page.

```{toctree}
:maxdepth: 1

"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    shared = (root / "examples" / SHARED).read_text(encoding="utf-8")
    every = scripts(root)
    found = {f"gallery/{one.name}.md": page(one) for one in every}
    found |= {f"gallery/{one.path.name}": one.path.read_text(encoding="utf-8") for one in every}
    found |= {f"gallery/{one.name}.ipynb": notebook.text(one, shared) for one in every}
    listed = "\n".join(one.name for one in every)
    return {"gallery/index.md": f"{INDEX}{listed}\n```\n", f"gallery/{SHARED}": shared, **found}


def page(script: Script) -> str:
    """One script: what it says of itself, its files, and its source."""
    said = f"{script.summary}\n\n{script.text}".strip()
    files = f"{{download}}`{script.name}.ipynb`, {{download}}`{script.path.name}`"
    if script.is_sharing:
        files += f" and what it imports, {{download}}`{SHARED}`"
    return (
        f"# {script.title}\n\n{said}\n\n```python\n{script.code}```\n\n"
        f"Download the notebook, which has all in it, or the script: {files}.\n"
    )
