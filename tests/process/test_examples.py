"""The gallery: every script runs, agrees with NumPy, takes one kernel, and notices a fault."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support.gallery_scripts import EXAMPLES, NAMES


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A script as a module, found as the scripts find one another."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


@pytest.fixture(params=NAMES)
def script(request: pytest.FixtureRequest, load: Any) -> ModuleType:
    return load(request.param)


@pytest.fixture
def gallery(load: Any) -> ModuleType:
    return load("gallery")


def test_it_agrees_with_numpy_and_draws_its_plan(
    script: ModuleType, gallery: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gallery.main(script.__doc__, script.CASES, []) == 0
    printed = capsys.readouterr().out
    for case in script.CASES:
        # What follows says whether a kernel is compiled, which the run itself changes.
        explanation = str(case.function.explain(*case.shapes, out_layout=case.layout))
        assert explanation.partition("launch on")[0] in printed
        assert f"\n{case.title}: " in printed
    assert printed.count(" of NumPy's") + printed.count("bit for bit NumPy's") == len(script.CASES)


def test_it_takes_one_kernel(script: ModuleType) -> None:
    for case in script.CASES:
        assert len(case.function.plan(*case.shapes).broadcast_plans) == 1


def test_a_wrong_result_fails(
    script: ModuleType, gallery: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """One element of the last result is off: by one bit where bits are compared."""
    for case in script.CASES:
        operands = case.make("small")

        def planted(*operands: Any, case: Any = case) -> Any:
            results = case.run(operands, "cpu")
            one = results[-1].reshape(-1)
            if case.ulp:
                one[-1] += (case.ulp + 2) * np.spacing(max(abs(one[-1]), np.float32(case.least)))
            else:
                one.view(np.uint8)[-1] ^= 1
            return results

        assert case.wrong(planted(*operands), case.expected(operands)) is not None
        changed = dataclasses.replace(case, call=planted)
        assert gallery.main(None, (*script.CASES, changed), []) == 1
        assert "WRONG" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["layernorm", "batch_norm"])
def test_it_runs_as_a_script_from_anywhere(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--html", "page.html"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    pages = {path.name for path in tmp_path.iterdir()}
    several = {"page-nchw.html", "page-nhwc.html"}
    assert pages == (several if name == "batch_norm" else {"page.html"})
    for page in pages:
        assert (tmp_path / page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_list_names_every_script() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted({path.name for path in EXAMPLES.glob("*.py")} - {"gallery.py"})
    others = {f"{name}.py" for name in ("larger_than_memory", "stablehlo_module", "torch_operator")}
    assert set(listed) - {f"{name}.py" for name in NAMES} == others


def test_calls_that_take_turns_are_timed_after_one_of_each(gallery: ModuleType) -> None:
    called: list[str] = []
    found = gallery.in_turns({name: lambda x=name: called.append(x) for name in "ab"}, rounds=3)
    assert "".join(called) == "abababab"
    assert {name: len(seconds) for name, seconds in found.items()} == {"a": 3, "b": 3}
    assert min(found["a"] + found["b"]) >= 0


def test_turns_go_on_for_so_long(gallery: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(100)  # a second passes whenever it is looked at
    monkeypatch.setattr(gallery.time, "perf_counter", lambda: next(clock))
    # A turn looks three times: whether to go on, and before and after the call.
    assert gallery.in_turns({"a": int}, rounds=1, seconds=8) == {"a": [1, 1, 1]}


# A module that is None in the table of modules cannot be imported.
_WITHOUT = """
import runpy, sys
sys.path.insert(0, "")
sys.modules["{library}"] = None
sys.argv = ["{name}.py"]
runpy.run_path("{name}.py", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("name", "library", "needs"),
    [
        ("larger_than_memory", "dask", "this example needs Dask: pip install 'gpubcast[dask]'"),
        ("stablehlo_module", "jaxlib", 'pip install "gpubcast[jax]"'),
        ("torch_operator", "torch", "this example needs PyTorch: pip install 'gpubcast[torch]'"),
    ],
)
def test_a_library_that_is_missing_is_named(name: str, library: str, needs: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(library=library, name=name)],
        cwd=EXAMPLES, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert needs in run.stderr and "Traceback" not in run.stderr


# --- the check itself -------------------------------------------------------------------------


def test_distance_counts_units_in_the_last_place(gallery: ModuleType) -> None:
    wanted = np.float32([1, -4, 1e-10, np.inf, np.nan, 0])
    assert gallery.distance(wanted[:4], wanted[:4]) == 0
    assert gallery.distance(np.nextafter(wanted[:2], np.float32(9)), wanted[:2]) == 1
    assert gallery.distance(np.float32([1 + 3 * 2.0**-23]), wanted[:1]) == 3
    assert gallery.distance(np.float32([2e-10]), wanted[2:3]) > 1e6
    assert gallery.distance(np.float32([2e-10]), wanted[2:3], least=1.0) < 0.01
    for found in (np.nan, 1.0, -np.inf):
        assert gallery.distance(np.float32([found]), wanted[3:4]) == np.inf
    assert gallery.distance(np.float32([1]), wanted[4:5]) == np.inf


@pytest.mark.parametrize(
    ("found", "what"),
    [
        ((np.float32([1, 2]), np.float32([3])), "2 results, not 1"),
        ((np.float64([1, 2]),), "result 0 is float64(2,), not float32(2,)"),
        ((np.float32([[1, 2]]),), "result 0 is float32(1, 2), not float32(2,)"),
        ((np.float32([1, 3]),), "1 elements of result 0 have other bits than NumPy's"),
    ],
)
def test_what_is_wrong_is_said(
    load: Any, found: tuple[np.ndarray[Any, Any], ...], what: str
) -> None:
    case = load("batch_norm").CASES[0]
    assert case.wrong(found, (np.float32([1, 2]),)) == what
    near = dataclasses.replace(case, ulp=2)
    assert near.wrong((np.float32([1, 3]),), (np.float32([1, 2]),)) is not None
    assert near.wrong((np.float32([1, 2 + 2.0**-22]),), (np.float32([1, 2]),)) is None
