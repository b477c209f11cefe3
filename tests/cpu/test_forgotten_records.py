"""Machine code goes on with a record that is forgotten while it is in use.

Until Python 3.11 any allocation may collect garbage and so run finalizers, which may make gpubcast
forget its calls; from 3.12 on what runs in the middle of a call is the result pool, written in
Python.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import gc, sys
import numpy as np, gpubcast as gb
from gpubcast.fusion import fused_function
from gpubcast.backends.native_calls import build
from gpubcast.runtime import state

build.make()

def ready(call):
    for _ in range(20):
        call()
    assert fused_function._CALLED.state == "native"

f = gb.fuse(lambda x, y: (x + y, x * y, x - y))
operand = np.ones(WHERE, np.float32)
x = gb.array(operand) if ARRAY else operand
ready(lambda: f(x, x))
forgotten, junk, armed = 0, [], False

def forget(phase=None, info=None):
    global forgotten
    if armed and phase in (None, "start"):
        forgotten += 1
        state.clear()
        # Freed memory gets other contents.
        junk[:-2] = []
        junk.append([b"\\xff" * n for n in range(200, 4000, 40)])

POOLED = WHERE[0] > 1000
if POOLED:
    from gpubcast.backends.cpu.result_pool import POOL
    lease = type(POOL).lease
    type(POOL).lease = lambda self, size: (forget(), lease(self, size))[1]
else:
    gc.callbacks.append(forget)
wrong = 0
for _ in range(ROUNDS):
    armed = False
    ready(lambda: f(x, x))
    before = gc.get_threshold()
    if not POOLED:
        gc.set_threshold(3)
    armed = True
    found = [f(x, x) for _ in range(6)]
    armed = False
    gc.set_threshold(*before)
    for one in found:
        for result, value in zip(one, (2, 1, 0)):
            wrong += not (np.asarray(result) == value).all()
print(forgotten > ROUNDS, wrong)
"""


@pytest.mark.parametrize("array", [False, True], ids=["ndarray", "Array"])
@pytest.mark.parametrize(
    ("sizes", "rounds"), [pytest.param((4, 4), 40, marks=pytest.mark.long), ((1024, 1024), 3)]
)
def test_a_record_that_is_forgotten_meanwhile(
    array: bool, sizes: tuple[int, int], rounds: int, repository: object
) -> None:
    code = f"ARRAY, WHERE, ROUNDS = {array}, {sizes}, {rounds}\n{CODE}"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], cwd=str(repository),
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True 0\n"), done.stderr[-2000:]
