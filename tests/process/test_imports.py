"""What is imported only when it is used, seen from a new process."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_rich_loads_when_something_is_printed() -> None:
    code = (
        "import sys, gpubcast as gb\n"
        "e = gb.plan('add', 'f32[2]', 'f32[2]').explain()\n"
        "str(e), e.html()\n"
        "print([m for m in ('rich', 'numba', 'cupy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_free_threaded_build_is_refused() -> None:
    code = "import sys\nsys.abiflags = 't'\nimport gpubcast"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith(
        "ImportError: gpubcast does not run on a free-threaded build of CPython: "
    )


FIRST_NAME = """
import contextlib, os, resource, sys
import numpy as np, gpubcast as gb
x = np.ones((2, 3), np.float32)
said = []

def call():
    try:
        gb.add(x, x)
    except gb.Error as error:
        said.append("cannot be loaded now" in str(error))
{code}
assert said == [True], said
assert (gb.add(x, x) == 2).all() and (gb.mul(x, 3.0) == 3).all()
"""
INTERRUPTED = """
class Finder:
    def find_spec(self, name, path, target=None):
        # As a signal handler or a finalizer may come while modules are loaded.
        if name == "gpubcast.runtime.eager_call":
            sys.meta_path.remove(self)
            call()
sys.meta_path.insert(0, Finder())
gb.add(x, x)
"""
NO_DESCRIPTORS = """
before = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
held = []
with contextlib.suppress(OSError):
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
call()
for one in held:
    os.close(one)
"""
LATER = """
gb.add
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "gpubcast.codegen.cpu":
            sys.meta_path.remove(self)
            raise OSError(24, "Too many open files")
sys.meta_path.insert(0, Finder())
call()
"""


@pytest.mark.parametrize(
    "code", [INTERRUPTED, NO_DESCRIPTORS, LATER], ids=["interrupted", "descriptors", "later"]
)
def test_a_name_whose_module_cannot_be_loaded(code: str) -> None:
    """An error of gpubcast, and the next use of the name works. Found by tests/campaigns."""
    program = FIRST_NAME.format(code=code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
