"""What is imported only when it is used, seen from a new process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_rich_loads_when_something_is_printed() -> None:
    code = (
        "import sys, gpubcast as gb\n"
        "e = gb.plan('add', 'f32[2]', 'f32[2]').explain()\n"
        "str(e), e.html()\n"
        "print([m for m in ('rich', 'numba', 'cupy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


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
