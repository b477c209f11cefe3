"""Forks and new processes at every stage of a first call."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from types import FrameType
from typing import Any

from gpubcast import config
from tests.campaigns import calls
from tests.campaigns.log import Log
from tests.campaigns.runner import ROOT
from tests.campaigns.worlds import World, visit

WORLDS = 24
_STAGES = 6000
"""Lines of gpubcast that some first calls execute, at most."""
_SPAWNED = """
import sys, numpy as np, gpubcast as gb
x = np.arange(12, dtype="f4").reshape(3, 4)
sys.exit(0 if (gb.add(x, x) == x + x).all() else 3)
"""


def run(log: Log, rng: random.Random) -> None:
    """Worlds that fork in the middle of their own call, or beside other threads' calls."""
    for number in range(WORLDS):
        seed = rng.getrandbits(32)
        log.at(f"world {number}")
        work = (_inside, _beside)[number % 2]
        visit(log, lambda work=work, seed=seed: work(log, random.Random(seed)))


def _inside(log: Log, rng: random.Random) -> None:
    """At a line of a first call the process forks, or starts another; both go on."""
    at, count, spawns = int(_STAGES ** rng.uniform(0.2, 1)), 0, rng.random() < 0.15
    drawn = calls.some(rng, 3)
    children: list[World] = []

    def stop(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(config.PACKAGE_ROOT):
            return None
        count += event == "line"
        if count == at:
            count += 1
            sys.settrace(None)
            log.note(f"line {at}: {frame.f_code.co_qualname}:{frame.f_lineno}")
            if spawns:
                _spawn(log)
            else:
                children.append(_Fork(log))
        return stop

    sys.settrace(stop)
    try:
        calls.right(log, drawn)
    finally:
        sys.settrace(None)
    calls.right(log, calls.made())
    if children and children[0].pid:
        children[0].end()


class _Fork(World):
    """A fork that goes on where it was made: the world's own end is the child's, too."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.pid = os.fork()
        if not self.pid:
            log.counts = dict.fromkeys(log.counts, 0)


def _spawn(log: Log) -> None:
    done = subprocess.run([sys.executable, "-c", _SPAWNED], cwd=ROOT, timeout=170, check=False)
    if done.returncode:
        log.fault("crash", f"a new process ended with {done.returncode}")


def _beside(log: Log, rng: random.Random) -> None:
    """Threads make first calls; the process forks meanwhile."""
    sys.setswitchinterval(10 ** rng.uniform(-6, -2.5))
    threads = [
        threading.Thread(target=calls.right, args=(log, calls.some(rng, 3))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(3):
        time.sleep(rng.choice((0, 0, 0.001, 0.01, 0.03)))
        children.append(World(log, lambda: calls.right(log, calls.some(rng, 4))))
    for thread in threads:
        thread.join()
    for child in children:
        child.end()
    calls.right(log, calls.made())
