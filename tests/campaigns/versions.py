"""Two versions of gpubcast on one cache: code of one is never run by the other.

The second is a copy in which a formula is another: a kernel's source says the same in both, and
becomes other code.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.campaigns.log import Log
from tests.campaigns.runner import ROOT

ROUNDS = 4
_CALLS = """
import sys, numpy as np, gpubcast as gb
assert gb.__file__.startswith(sys.argv[1]), gb.__file__
x = np.arange(12, dtype="f4").reshape(3, 4)
print(float(gb.cbrt(x + 1)[0, 0]), float(gb.add(x, x)[2, 3]), float(gb.mul(x, x)[2, 3]))
"""
# The line of the formula of ``cbrt`` after which the second version's result is one more.
_FILE = "gpubcast/hlo/elementary/special.py"
_LINE = "    t = signed(select(small, t * back, t), x)\n"


def run(log: Log, rng: random.Random) -> None:
    """Both in turn, and at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        other = folder / "other"
        shutil.copytree(ROOT / "gpubcast", other / "gpubcast", ignore=_ignored)
        shutil.copytree(ROOT / "cuda_kernels", other / "cuda_kernels")
        _change(other)
        homes = {ROOT: "1.0 22.0 121.0", other: "2.0 22.0 121.0"}
        cache = {
            "GPUBCAST_CACHE_DIR": str(folder / "cache"),
            "GPUBCAST_CACHE_SIZE": str(rng.choice((1 << 30, 20_000, 0))),
        }
        for number in range(ROUNDS):
            order = rng.choices(tuple(homes), k=2) if number % 2 else list(homes)
            log.at(f"round {number}: {[home.name for home in order]} at once, {cache}")
            running = [
                subprocess.Popen(
                    [sys.executable, "-c", _CALLS, str(home)], cwd=home, text=True,
                    env=os.environ | cache | {"PYTHONPATH": str(home)}, stdout=subprocess.PIPE,
                )
                for home in order
            ]  # fmt: skip
            for home, process in zip(order, running, strict=True):
                said = process.communicate(timeout=170)[0].strip()
                log.counts["values"] += 3
                if process.returncode or said != homes[home]:
                    log.fault("wrong value", f"{said} for {homes[home]}, exit {process.returncode}")


def _ignored(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


def _change(home: Path) -> None:
    """``cbrt`` of 1 is 2 in the copy."""
    path = home / _FILE
    text = path.read_text()
    assert text.count(_LINE) == 1
    path.write_text(text.replace(_LINE, f"{_LINE}    t = t + 1.0\n"))
