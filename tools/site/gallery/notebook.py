"""A script as a notebook that runs by itself: jupytext cuts it into cells.

What the scripts share is written to a file beside the notebook by its first cell of code, and what
a script does when it is run, which reads a command line, is done by the last cells.
"""

from __future__ import annotations

from typing import Any

from tools.site.gallery.script import SHARED, Script

# What those do whose ``main`` has a command line of its own; without it, what it does without one.
ARGUMENTS = {"larger_than_memory": ["--size", "1GB", "--block", "64000kB", "--numpy"]}

_NEEDS = """Needs gpubcast in this environment{others}. Every cell below is a part of
`examples/{file}`; the last ones run it."""
_LIBRARIES = {
    "larger_than_memory": ", with its extra `dask`",
    "stablehlo_module": ", with its extra `jax`",
    "torch_operator": ", with its extra `torch`",
}
_SHARED = "The next cell writes `gallery.py`, which the examples share, beside this notebook."
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(script: Script, shared: str) -> Any:
    """A script as a notebook of nbformat 4.5, valid and the same every time.

    Args:
        script: the script.
        shared: the source of what the scripts share.
    """
    import jupytext
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    said = f"# {script.title}\n\n{script.sentence}\n\n{script.text}"
    needs = _NEEDS.format(file=script.path.name, others=_LIBRARIES.get(script.name, ""))
    cells = [new_markdown_cell(f"{said}\n\n{needs}")]
    if script.is_sharing:
        hidden = {"jupyter": {"source_hidden": True}}
        cells += [
            new_markdown_cell(_SHARED),
            new_code_cell(f"%%writefile {SHARED}\n{shared}", metadata=hidden),
        ]
    parts = jupytext.reads(script.code, fmt="py:light").cells
    for cell in parts:
        if cell.cell_type == "markdown":
            cell.source = f"## {cell.source.strip('- ').capitalize()}"
    imports = next(k for k, cell in enumerate(parts) if not _imports(cell.source))
    cells.append(new_code_cell("\n\n".join(cell.source for cell in parts[:imports])))
    cells += [cell for cell in parts[imports:] if not cell.source.startswith("if __name__ ==")]
    cells += map(new_code_cell, runs(script))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    made = new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})
    nbformat.validate(made)
    return made


def text(script: Script, shared: str) -> str:
    """The notebook's file."""
    import nbformat

    return f"{nbformat.writes(notebook(script, shared))}\n"


def runs(script: Script) -> list[str]:
    """What is run, a source for each cell."""
    if script.has_cases:
        return [
            "for case in CASES:\n    print(*case.check())",
            "CASES[0].explain()",
            "CASES[0].timed()  # seconds of each call, in turns",
        ]
    return [f"main({ARGUMENTS.get(script.name, [])!r})"]


def _imports(source: str) -> bool:
    return source.startswith(("from __future__", "import ", "from "))
