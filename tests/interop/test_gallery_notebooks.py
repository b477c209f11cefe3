"""The gallery's notebooks: valid, the same every time, and their cells run in order."""

from __future__ import annotations

import codeop
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support import doors
from tests.support.gallery_scripts import EXAMPLES, NAMES
from tools.site import gallery as site_gallery
from tools.site.gallery import notebook
from tools.site.gallery.script import SHARED, Script, read, scripts

doors.library("jupytext")
EVERY = {script.name: script for script in scripts(EXAMPLES.parent)}
# The extra library that a script needs.
DOORS = {
    "larger_than_memory": "dask.array",
    "stablehlo_module": "jaxlib",
    "torch_operator": "torch",
}
SMALL = ["--size", "3.1MB", "--block", "1MB", "--workers", "2"]


def made(script: Script) -> Any:
    return notebook.notebook(script, (EXAMPLES / SHARED).read_text(encoding="utf-8"))


def sources(found: Any) -> list[str]:
    return [cell.source for cell in found.cells if cell.cell_type == "code"]


def run(
    found: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, **names: Any
) -> tuple[dict[str, Any], Any]:
    """Run the cells as a kernel in a folder does.

    Args:
        found: the notebook.
        folder: where it lies.
        monkeypatch: takes back what is changed of this process.
        names: bound before the last cell.

    Returns:
        the names that they leave behind, and the value of the last cell.
    """
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "gallery", raising=False)
    module = ModuleType("notebook_cells")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    compiled = codeop.Compile()  # what is imported from __future__ holds for later cells
    *cells, last = sources(found)
    for source in cells:
        if source.startswith("%%writefile "):
            name, _, text = source.removeprefix("%%writefile ").partition("\n")
            (folder / name).write_text(text, encoding="utf-8")
        else:
            exec(compiled(source, module.__name__, "exec"), vars(module))
    vars(module).update(names)
    return vars(module), eval(compiled(last, module.__name__, "eval"), vars(module))


def test_every_script_is_a_notebook() -> None:
    assert set(EVERY) == {*NAMES, *DOORS}
    assert all(EVERY[name].has_cases == (name in NAMES) for name in EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_it_is_valid_has_all_of_the_script_and_is_the_same_again(name: str) -> None:
    nbformat = doors.library("nbformat")
    found = made(EVERY[name])
    nbformat.validate(found)
    again = notebook.text(EVERY[name], (EXAMPLES / SHARED).read_text(encoding="utf-8"))
    assert again == nbformat.writes(found) + "\n"
    text = "\n".join(cell.source for cell in found.cells)
    lines = EVERY[name].code.partition("\nif __name__ == ")[0].splitlines()
    for line in lines:
        assert line.startswith("# ---") or line in text, line
    assert "__name__ ==" not in text


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_cases_run_and_are_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names, times = run(made(EVERY[name]), tmp_path, monkeypatch)
    assert capsys.readouterr().out.count(" True\n") == len(names["CASES"])
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {SHARED}
    assert len(times["gpubcast"]) == 7


@pytest.mark.parametrize("name", DOORS)
def test_the_cells_beside_another_library_run_and_are_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doors.library(DOORS[name])
    names: dict[str, Any] = {}
    if name == "larger_than_memory":
        monkeypatch.setitem(notebook.ARGUMENTS, name, [*SMALL, "--folder", str(tmp_path)])
        names = {"file_system": lambda folder: "ext4"}  # a folder in memory is refused
    _, exit_status = run(made(EVERY[name]), tmp_path, monkeypatch, **names)
    assert exit_status == 0


def test_a_wrong_result_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "softmax.py"
    text = (EXAMPLES / "softmax.py").read_text(encoding="utf-8")
    path.write_text(text.replace('reduce_max(x, "col")', 'reduce_min(x, "col")'), encoding="utf-8")
    run(made(read(path)), tmp_path, monkeypatch)
    printed = capsys.readouterr().out
    assert "WRONG" in printed and printed.endswith(" False\n")


def test_every_page_has_its_files_a_picture_and_the_source() -> None:
    root = EXAMPLES.parent
    found = site_gallery.pages(root)
    index = found["gallery/index.md"]
    for name, script in EVERY.items():
        page = found[f"gallery/{name}.md"]
        for file in (f"{name}.ipynb", f"{name}.py"):
            assert f"<{file}>`" in page and f"gallery/{file}" in found
        assert script.code in page and script.text in page
        assert "<svg" in page
        assert f"[{script.title}]({name}.md)" in index and f"{name}.html" in index
        for picture in re.findall(r"{image} (\S+)", page):
            assert f"gallery/{picture}" in found
    assert found["gallery/gallery.py"] == (EXAMPLES / SHARED).read_text(encoding="utf-8")


def test_jupyter_runs_one(tmp_path: Path) -> None:
    doors.library("ipykernel")
    client = doors.library("nbclient")
    found = made(EVERY["softmax"])
    resources = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(found, timeout=300, resources=resources).execute()
    printed, drawn, times = (cell.outputs[0] for cell in found.cells[-3:])
    assert printed.text == "softmax: float32[256, 4096] within 14 ulp of NumPy's True\n"
    assert "<svg" in drawn.data["text/html"]
    assert "'gpubcast': [" in times.data["text/plain"]
