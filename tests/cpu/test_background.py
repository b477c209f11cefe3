"""What takes seconds is done by a process in the background, and found on disk."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpubcast.backends.native_calls import background
from gpubcast.backends.native_calls.background import BackgroundProcess

CALLS = """
import os
import ml_dtypes, numpy as np
import gpubcast as gb
from gpubcast.backends.native_calls import build
assert not build.is_compiled()
x = np.ones(4, np.float32)
for _ in range({calls}):
    {call}
print(build.is_compiled(), build.COMPILER.begun)
"""


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module whose function notes who called it."""
    text = "import os\ndef note():\n    open(os.environ['NOTE'], 'a').write(f'{os.getpid()} ')\n"
    text += "def fail():\n    note()\n    raise ValueError('there')\n"
    text += "def stay():\n    note()\n    import time\n    time.sleep(600)\n"
    (tmp_path / "noted.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NOTE", str(tmp_path / "note"))
    monkeypatch.delitem(sys.modules, "noted", raising=False)
    return importlib.import_module("noted")


def test_a_process_calls_the_function_once(noted: ModuleType, tmp_path: Path) -> None:
    process = BackgroundProcess(noted.note)
    process.begin()
    process.wait("it")
    (number,) = (tmp_path / "note").read_text().split()
    assert int(number) != os.getpid()
    process.wait("it")  # for nothing
    with pytest.raises(ChildProcessError):  # nobody is left to be waited for
        os.waitpid(int(number), 0)


def test_what_fails_there_is_told_to_who_waits(
    noted: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    # What says that something takes long is not what is tested.
    monkeypatch.setattr(background, "announced", lambda what: contextlib.nullcontext())
    process = BackgroundProcess(noted.fail)
    process.begin()
    assert process.wait("it") == "ValueError: there"
    assert process.wait("it") == process.failure() == ""  # told once
    assert (tmp_path / "note").exists()
    assert capfd.readouterr() == ("", "")


def test_a_failure_is_told_once_it_is_there(noted: ModuleType) -> None:
    process = BackgroundProcess(noted.fail)
    process.begin()
    told = ""
    while process.begun:
        told = process.failure()
    assert told == "ValueError: there"


CHILD = """
import os, sys, time
from gpubcast.backends.native_calls.background import BackgroundProcess
from noted import stay
BackgroundProcess(stay).begin()
while not os.path.exists(os.environ["NOTE"]):
    time.sleep(0.01)
{end}
"""


@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_its_parent(noted: ModuleType, tmp_path: Path, end: str) -> None:
    subprocess.run(
        [sys.executable, "-c", CHILD.format(end=end)], check=False, timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    (number,) = (tmp_path / "note").read_text().split()
    while os.path.exists(f"/proc/{number}") and _state(int(number)) != "Z":
        time.sleep(0.05)  # the time limit of a test is what fails this


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def test_it_ends_after_a_limit(
    noted: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LIMIT", 1)
    process = BackgroundProcess(noted.stay)
    process.begin()
    assert process.wait("it") == ""


@pytest.mark.parametrize("flags", [("-I",), ("-E", "-s"), ("-P", "-X", "utf8=0")])
def test_it_has_the_interpreters_flags(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """What ``-I`` keeps out, as a module in PYTHONPATH, does not run there either."""
    (tmp_path / "sitecustomize.py").write_text("import os; open(os.environ['NOTE'], 'a').close()")
    (tmp_path / "flags.py").write_text(
        "import os, sys\ndef tell():\n    raise ValueError(repr(sys.flags))\n"
    )
    code = (
        f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}\n"
        "from gpubcast.backends.native_calls.background import BackgroundProcess\n"
        "import flags; one = BackgroundProcess(flags.tell); one.begin()\n"
        "print(one.wait('it') == f'ValueError: {sys.flags!r}')"
    )
    told = subprocess.run(
        [sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "NOTE": str(tmp_path / "note")},
    )  # fmt: skip
    isolated = {"-I", "-E"} & set(flags)
    assert (told.stdout, (tmp_path / "note").exists()) == ("True\n", not isolated)


def test_a_fork_does_not_wait_for_its_parents_process(noted: ModuleType, tmp_path: Path) -> None:
    process = BackgroundProcess(noted.note)
    process.begin()
    child = os.fork()
    if not child:
        process.wait("it")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    process.wait("it")
    assert (tmp_path / "note").exists()


@pytest.mark.parametrize("python", ["", "/bin/true", "/nowhere/python"])
def test_no_process_without_python(
    noted: ModuleType, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    process = BackgroundProcess(noted.note)
    process.begin()
    process.wait("it")
    assert not (tmp_path / "note").exists()


def _run(calls: int, folder: Path, call: str = "gb.add(x, x)") -> str:
    """Whether a process that calls so often has machine code in the end, and waits for it."""
    variables = os.environ | {"GPUBCAST_CACHE_DIR": str(folder)}
    code = CALLS.format(calls=calls, call=call)
    ran = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.mark.long
def test_a_repeated_call_has_its_machine_code_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = "gb.add(x, x)\n    while build.COMPILER.begun and not build.is_compiled(): pass"
    assert _run(70, tmp_path, loop) == "True True"


@pytest.mark.long
def test_it_is_waited_for_in_the_end(tmp_path: Path) -> None:
    assert _run(4_200, tmp_path) == "True False"


def test_a_call_that_is_hardly_repeated_has_nothing_made(tmp_path: Path) -> None:
    assert _run(60, tmp_path) == "False False"


def test_nothing_is_made_where_nothing_is_kept(tmp_path: Path) -> None:
    """A folder that cannot be written, since it would lie in a file."""
    (tmp_path / "file").touch()
    assert _run(70, tmp_path / "file") == "False False"


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "begun"),
    [
        ("gb.add(gb.from_dlpack(x), gb.from_dlpack(x))", True),
        ("gb.mul(x, 0.5, out=x)", True),
        # A scalar that is rounded in software, and what is no NumPy array itself.
        ("gb.add(x.astype(ml_dtypes.bfloat16), 0.5)", False),
        ("gb.add(x.view(type('Sub', (np.ndarray,), dict())), x)", False),
        ("gb.add([1.0], [2.0])", False),
    ],
)
def test_only_what_can_be_replayed_has_it_made(call: str, begun: bool, tmp_path: Path) -> None:
    assert _run(70, tmp_path, call) == f"False {begun}"


@pytest.mark.long
@pytest.mark.parametrize("calls", [70, 4_200])
def test_nothing_is_made_where_it_is_turned_off(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "off")
    assert _run(calls, tmp_path) == "False False"
