"""The first use in a process, and forks."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import gpubcast as gb
from gpubcast.shapes.layout import PaddingValue


def padded(sizes: tuple[int, ...], value: str) -> gb.Layout:
    return gb.Layout(tuple(reversed(range(len(sizes)))), sizes, PaddingValue[value.upper()])


def python(code: str, repository: Path, *, given: bytes = b"") -> str:
    """What a new interpreter prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=repository, input=given, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_an_operator_may_be_the_first_use(repository: Path) -> None:
    code = "import gpubcast as gb; a = gb.array([1.0, 2.0]); print((a + a).numpy())"
    assert python(code, repository) == "[2. 4.]\n"


def test_an_operator_may_follow_unpickling(repository: Path) -> None:
    code = "import pickle, sys; a = pickle.load(sys.stdin.buffer); print((a * a).numpy())"
    array = gb.array([1.5, -2.0], layout=padded((4,), "one"))
    assert python(code, repository, given=pickle.dumps(array)) == "[2.25 4.  ]\n"


# Another thread compiles, or looks a plan up, when the process forks. The child may use what was
# compiled before and what was being compiled, and may compile; so may the parent.
FORK = """
import os, signal, sys, threading, time
import numpy as np
import gpubcast as gb
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.runtime import state

busy = threading.Event()

class Slow(CpuBackend):
    delay = 0.0
    def load(self, source):
        busy.set()
        time.sleep(self.delay)
        return super().load(source)

def look_up():
    with state.STATE.lock:
        busy.set()
        time.sleep(0.3)

def check(*operations):
    for operation in operations:
        assert operation(x).tolist() == WANTED[operation]

def fork_during(task, *arguments):
    busy.clear()
    thread = threading.Thread(target=task, args=arguments)
    thread.start()
    assert busy.wait(90)
    child = os.fork()
    if child == 0:
        slow.delay = 0.0
        signal.alarm(90)
        try:
            check(gb.neg, gb.abs, gb.sign)
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    _, status = os.waitpid(child, 0)
    thread.join(90)
    print("child", os.waitstatus_to_exitcode(status))
    caller = threading.Thread(target=check, args=(gb.neg, gb.abs), daemon=True)
    caller.start()
    caller.join(90)
    assert not caller.is_alive(), "the parent's locks are held"

x = np.array([-2.0, 3.0], "f4")
WANTED = {gb.neg: [2.0, -3.0], gb.abs: [2.0, 3.0], gb.sign: [-1.0, 1.0]}
slow = Slow()
signal.alarm(200)
with state.use_backend(slow):
    check(gb.neg)
    slow.delay = 0.7
    fork_during(gb.abs, x)
    fork_during(look_up)
    slow.delay = 0.0
    check(gb.neg, gb.abs, gb.sign)
"""


def test_a_fork_waits_for_other_threads(repository: Path) -> None:
    assert python(FORK, repository) == "child 0\nchild 0\n"


def test_formulas_are_recorded_beside_a_profiler(repository: Path) -> None:
    """Python 3.11's cProfile is written in C: what ``sys.getprofile`` gives cannot be put back."""
    code = (
        "import cProfile, pstats, sys\n"
        "from gpubcast.hlo.elementary import FORMULAS, formula_code\n"
        "formula = next(one for one in FORMULAS.values() if one.name == 'exp')\n"
        "plain = formula_code(formula)\n"
        "profiler = cProfile.Profile()\n"
        "def seen(): return 3\n"
        "with profiler:\n"
        "    beside = formula_code(formula)\n"
        "    seen()\n"
        "profiled = {name for _, _, name in pstats.Stats(profiler).stats}\n"
        "print(beside == plain and bool(plain.names), 'seen' in profiled)\n"
        "def mine(*event): pass\n"
        "sys.setprofile(mine)\n"
        "again = formula_code(formula)\n"
        "print(sys.getprofile() is mine, again == plain)"
    )
    assert python(code, repository) == "True True\nTrue True\n"
