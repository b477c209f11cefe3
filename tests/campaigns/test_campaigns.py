"""The short form of every campaign, with fixed seeds, and faults that they find.

What a new seed has found is mended where it arises, has a test there, and its seed is one of
``runner.CAMPAIGNS``.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns import guarded_memory, planted_faults, runner
from tests.campaigns.log import FAULTS, Log, read

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc and limits are Linux's")
SHORT = [(one.name, seed) for one in runner.CAMPAIGNS.values() for seed in one.short]


@pytest.mark.long
@pytest.mark.parametrize(("name", "seed"), SHORT)
def test_nothing_is_found(name: str, seed: int, tmp_path: Path) -> None:
    outcome = runner.run_seed(name, seed, tmp_path)
    assert outcome.is_right, str(outcome)
    assert outcome.told.is_ended and outcome.told.counts["cases"]


@pytest.mark.long
@pytest.mark.parametrize("fault", planted_faults.PLANTED)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    """By one of the first seeds: which one depends on what is drawn, hence on the operations."""
    planted, outcomes = planted_faults.PLANTED[fault], []
    for seed in range(1, 5):
        (folder := tmp_path / str(seed)).mkdir()
        outcome = runner.run_seed(planted.campaign, seed, folder, fault=fault, limit=90.0)
        if any(outcome.told.counts[kind] for kind in planted.found):
            return
        outcomes.append(str(outcome))
    pytest.fail("\n".join(outcomes))


# --- the runner ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("os.kill(os.getpid(), 11)", "crash"),
        ("time.sleep(600)", "hang"),
        ("sys.exit(0)", "foreign exception"),
        ("raise ValueError", "foreign exception"),
        ("log.same(1, log_module.np.ones(2))", "wrong value"),
        ("log.call(lambda: [][1])", "foreign exception"),
        ("worlds.visit(log, lambda: os.abort())", "crash"),
        ("worlds.visit(log, lambda: log.fault('memory', 'in a world'))", "memory"),
    ],
)
def test_an_end_of_each_kind_is_told(
    code: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", _instead(code))
    outcome = runner.run_seed("texts", 7, tmp_path, limit=20.0 if kind == "hang" else 120.0)
    assert {one for one in FAULTS if outcome.told.counts[one]} == {kind}
    assert "make campaign CAMPAIGN=texts SEED=7" in str(outcome)
    assert f"{kind}: " in str(outcome) and "a case" in str(outcome)


def _instead(code: str) -> object:
    """``Popen`` of a process that does something else than a seed."""
    popen = subprocess.Popen
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from tests.campaigns import log as log_module, worlds\n"
        "log = log_module.Log(Path(sys.argv[1])); log.at('a case')\n"
        f"{code}\nlog.end()"
    )

    def run(command: list[str], **keywords: object) -> object:
        return popen([sys.executable, "-c", script, command[7]], **keywords)

    return run


def test_counts_of_forked_processes_are_added(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    for number in range(250):
        log.at(f"case {number}")
    child = os.fork()
    if not child:
        log.counts = dict.fromkeys(log.counts, 0)
        log.at("the child's")
        log.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    log.end()
    told = read(tmp_path / "log")
    assert (told.counts["cases"], told.at, told.is_ended) == (251, "the child's", True)


# --- guarded memory -----------------------------------------------------------------------------


def test_a_write_beside_an_array_is_seen() -> None:
    with guarded_memory.installed() as memory:
        x = np.zeros(9, np.uint8)
        ctypes.memset(x.ctypes.data + 9, 1, 1)
        memory.check()
        assert memory.damaged == ["bytes after an array of 9 bytes were written"]
        ctypes.memset(x.ctypes.data - 1, 1, 1)
        del x
        np.zeros(1)
        assert memory.damaged[1:] == ["bytes before an array of 9 bytes were written"]
        y = np.arange(7)
        y.resize(3000, refcheck=False)
        assert y[:7].tolist() == list(range(7))
        del y


@pytest.mark.parametrize("what", ["x[16]", "x[-1]", "y[0]"])
def test_a_read_beyond_an_array_or_after_it_ends_the_process(what: str) -> None:
    code = f"""if True:
        import ctypes, os, numpy as np
        from tests.campaigns import guarded_memory
        with guarded_memory.installed(at_begin={"-1" in what}):
            made = np.zeros(16, np.uint8)
            x = (ctypes.c_char * 16).from_address(made.ctypes.data)
            gone = np.ones(16, np.uint8)
            y = ctypes.cast(gone.ctypes.data, ctypes.POINTER(ctypes.c_char))
            x = ctypes.cast(made.ctypes.data, ctypes.POINTER(ctypes.c_char))
            assert x[0] == b"\\0" and x[15] == b"\\0" and y[0] == b"\\1"
            del gone
            np.ones(3)
            print({what})
            os._exit(0)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=runner.ROOT, capture_output=True)
    assert done.returncode == -11, done
