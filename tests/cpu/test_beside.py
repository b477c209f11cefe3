"""What takes seconds is done by a process beside this one, and found on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpubcast.backends.cpu import direct
from gpubcast.backends.cpu.beside import Beside

CALLS = """
import os
import numpy as np
import gpubcast as gb
from gpubcast.backends.cpu import direct
assert not direct.is_compiled()
x = np.ones(4, np.float32)
for _ in range({calls}):
    gb.add(x, x)
print(direct.is_compiled(), direct.MAKER._child != 0)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module beside this process's own, whose function notes who called it."""
    text = "import os\ndef note():\n    open(os.environ['NOTE'], 'a').write(f'{os.getpid()} ')\n"
    (tmp_path / "noted.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NOTE", str(tmp_path / "note"))
    return "noted"


def test_a_process_calls_the_function_once(module: str, tmp_path: Path) -> None:
    beside = Beside(module, "note")
    beside.begin()
    beside.wait("it")
    (number,) = (tmp_path / "note").read_text().split()
    assert int(number) != os.getpid()
    beside.wait("it")  # for nothing
    with pytest.raises(ChildProcessError):  # nobody is left to be waited for
        os.waitpid(int(number), 0)


def test_what_fails_there_is_not_told(module: str, capfd: pytest.CaptureFixture[str]) -> None:
    beside = Beside(module, "nothing_of_that_name")
    beside.begin()
    beside.wait("it")
    assert capfd.readouterr() == ("", "")


def test_a_fork_does_not_wait_for_its_parents_process(module: str, tmp_path: Path) -> None:
    beside = Beside(module, "note")
    beside.begin()
    child = os.fork()
    if not child:
        beside.wait("it")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    beside.wait("it")
    assert (tmp_path / "note").exists()


@pytest.mark.parametrize("python", ["", "/bin/true", "/nowhere/python"])
def test_no_process_without_python(
    module: str, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    beside = Beside(module, "note")
    beside.begin()
    beside.wait("it")
    assert not (tmp_path / "note").exists()


def _run(calls: int, folder: Path) -> str:
    variables = os.environ | {"GPUBCAST_CACHE_DIR": str(folder)}
    code = CALLS.format(calls=calls)
    ran = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_a_repeated_call_has_its_machine_code_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(3, tmp_path) == "False True"
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    until = time.monotonic() + 120
    while not direct.is_compiled():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_it_is_waited_for_in_the_end(tmp_path: Path) -> None:
    assert _run(4_200, tmp_path) == "True False"


def test_a_call_that_is_hardly_repeated_has_nothing_made(tmp_path: Path) -> None:
    assert _run(2, tmp_path) == "False False"


def test_nothing_is_made_where_nothing_is_kept(tmp_path: Path) -> None:
    """A folder that cannot be written, since it would lie in a file."""
    (tmp_path / "file").touch()
    assert _run(3, tmp_path / "file") == "False False"
