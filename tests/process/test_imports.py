"""What is imported only when it is used, seen from a new process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


COMPILES = """
import sys
import numpy as np, gpubcast as gb
x = np.ones((40, 50), np.float32)
gb.add(x, x[0], broadcast_dimensions=(1,)), gb.add(x, np.ones((50, 40), np.float32).T), gb.exp(x)
gb.select(x > 0, x, x), gb.sqrt(x), gb.rem(x, x), gb.pow(x.astype(np.int32), 2), gb.nextafter(x, x)
gb.add(*[np.ones((1000, 1000), np.float32)] * 2)
heavy = "scipy.linalg", "numba.np.arraymath", "numba.typed.typedlist"
print([m for m in heavy if m in sys.modules])
print("numba" in sys.modules)
"""


def test_compiling_imports_a_part_of_numba(tmp_path: Path) -> None:
    """numba's own target imports its containers and NumPy's functions, and through them SciPy,
    which takes longer than all else before a first result."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILES], env=os.environ | {"GPUBCAST_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "True"]


LOCKING = """
import sys, threading
import numpy as np, gpubcast as gb
x = np.ones((2, 3), np.float32)
imported = []

def trace(frame, event, _):
    # As a finalizer may come while CPython takes a module's lock.
    taken = frame.f_globals.get("_blocking_on", {})
    if frame.f_code.co_name == "acquire" and taken.get(frame.f_locals.get("tid")):
        sys.settrace(None)
        import colorsys
        imported.append(colorsys)
    return trace

sys.settrace(trace)
assert (gb.add(x, x) == 2).all()
assert imported
thread = threading.Thread(target=lambda: imported.append(gb.mul(x, 3.0)), daemon=True)
thread.start()
thread.join(60)
assert len(imported) == 2
"""


def test_an_import_while_the_lock_of_another_is_taken() -> None:
    """Found by tests/campaigns on CPython 3.11, which raises KeyError then."""
    done = subprocess.run([sys.executable, "-c", LOCKING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
