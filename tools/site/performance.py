"""The committed reports of ``bench/results``, a page for each."""

from __future__ import annotations

from pathlib import Path

INDEX = """# Performance

What `gpubcast bench` measured, in the reports that are part of the repository. Each names its
machine, its revision, the versions of the libraries, and the command that repeats it. Two GPUs were
measured, an H100 and an H200. What was expected, written down beforehand, is the page of
predictions, beside what came.

Times are medians, and depend on the machine; a ratio is another library's time to ours, measured
in turns in one run. Your own machine answers with `gpubcast bench`.

```{toctree}
:maxdepth: 1

"""


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    results = root / "bench" / "results"
    reports = sorted(path for path in results.glob("*.md") if path.name != "README.md")
    found = {f"performance/{path.stem.lower()}.md": page(path) for path in reports}
    # Reports of one machine have one title; what they are of is in their names.
    listed = "\n".join(
        f"{text.splitlines()[0].removeprefix('# ')} ({Path(name).stem}) <{Path(name).stem}>"
        for name, text in found.items()
    )
    return {"performance/index.md": f"{INDEX}{listed}\n```\n", **found}


def page(path: Path) -> str:
    """One report, as it was committed."""
    return f"{path.read_text(encoding='utf-8').rstrip()}\n\n`bench/results/{path.name}`\n"
