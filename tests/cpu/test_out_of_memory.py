"""Without memory: one error at every stage of a call, and the next call works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.codegen.source import KernelSource

# What is called while some memory is left, then almost none; each says which error it had.
SCRIPT = """
import os, resource, sys
import numpy as np, gpubcast as gb

NATIVE = sys.argv[1] == "machine code"
def used():
    return int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

def wide(*shape):
    return np.broadcast_to(np.float32(1), shape)

huge, middle, small = wide(60000, 60000), wide(400, 1000), np.ones((8, 8), "f4")
large = np.ones((1000, 1000), "f4")
mine = gb.array(middle)
chain = gb.fuse(lambda x, y: (x + y, x * y))
for _ in range(5000 if NATIVE else 3):
    gb.add(middle, middle), gb.add(mine, mine), chain(middle, middle)
gb.add(large, large), gb.add(small, small), gb.add(wide(9, 9), wide(9, 9)), chain(small, small)
gb.full("f32[60,60]", 1.0), gb.iota("s64", 9), gb.array([1.0]), gb.broadcast(middle, (2,))
gb.array(middle, layout=gb.Layout((0, 1)))
plan = gb.plan("add", "f32[60000,60000]", "f32[60000,60000]")
several = [[1.0] * 4096] * 4096
resource.setrlimit(resource.RLIMIT_AS, (used() + (60 << 20),) * 2)

CALLS = {
    "eager": lambda: gb.add(huge, huge),
    "plan": lambda: plan(huge, huge),
    "fused": lambda: chain(huge, huge),
    "empty": lambda: gb.empty("f32[60000,60000]"),
    "more than there can be": lambda: gb.empty("u8[9223372036854775807]"),
    "full": lambda: gb.full("f32[60000,60000]", 1.0),
    "iota": lambda: gb.iota("s64", 2**33),
    "array": lambda: gb.array(huge),
    "list": lambda: gb.neg(several),
    "to NumPy": lambda: gb.from_dlpack(huge).numpy(),
}
for name, call in CALLS.items():
    for _ in range(2):
        try:
            call()
            print(name, "worked")
        except BaseException as error:
            print(name, type(error).__name__)
for name, call in (
    ("new results", lambda: gb.add(middle, middle)),
    ("new Arrays", lambda: gb.add(mine, mine)),
    ("several", lambda: chain(middle, middle)),
    ("large", lambda: gb.add(large, large)),
):
    kept = []
    try:
        while True:
            kept.append(call())
    except BaseException as error:
        found = type(error).__name__
    del kept
    print(name, found)
    call()
assert gb.add(small, small)[0, 0] == 2 and gb.add(large, large)[5, 5] == 2
print("end")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize("stage", ["Python", pytest.param("machine code", marks=pytest.mark.long)])
def test_one_error_at_every_stage(stage: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, stage], capture_output=True, text=True, timeout=300
    )
    *told, end = ended.stdout.splitlines()
    assert ended.returncode == 0 and end == "end", ended.stderr
    assert len(told) == 24
    assert {line.rpartition(" ")[2] for line in told} == {"OutOfMemoryError"}, told


COMPILED = """
import resource, sys
import numpy as np, gpubcast as gb

x, before = np.ones((3, 4)), resource.getrlimit(resource.RLIMIT_AS)
if sys.argv[1] == "later kernel":
    gb.neg(x)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[2]) << 20), before[1]))
try:
    gb.lgamma(x)
except gb.OutOfMemoryError as error:
    print("MiB of addresses" in str(error))
resource.setrlimit(resource.RLIMIT_AS, before)
assert (gb.lgamma(x) == 0).all()
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize("stage", ["first kernel", "later kernel"])
@pytest.mark.parametrize("left", [40, 120])
def test_no_addresses_to_compile_with(stage: str, left: int, tmp_path: Path) -> None:
    """LLVM would end the process. Found by tests/campaigns/limits.py, seed 106422."""
    ended = subprocess.run(
        [sys.executable, "-c", COMPILED, stage, str(left)],
        env=os.environ | {"GPUBCAST_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr


def test_a_compiler_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(backend, "machine_code", fail)
    with pytest.raises(MemoryError):
        backend._compiled(KernelSource("k", "def k(table, low, high):\n    pass\n", "k"))
    monkeypatch.setattr(backend.object_cache, "load", fail)
    x = np.ones((3, 5, 7), "f4")
    with pytest.raises(gb.OutOfMemoryError):
        gb.sub(gb.exp(x), x[:, :1], out=np.empty_like(x[::-1]))
