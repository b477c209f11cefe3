"""What is imported only when it is used, seen from a new process."""

from __future__ import annotations

import subprocess
import sys


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
