"""Threads that change places after every bytecode, some of which fork or make gpubcast forget."""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time

import numpy as np

import gpubcast as gb
from gpubcast.runtime import state
from tests.campaigns import operands
from tests.campaigns.log import Log
from tests.campaigns.worlds import visit
from tests.support import endurance

INTERVAL = 1e-6
THREADS, CALLS = 8, 60


def run(log: Log, rng: random.Random) -> None:
    """The first calls of a process, by all threads at once; then calls without end."""
    for number in range(6):
        seed = rng.getrandbits(32)
        log.at(f"first calls at once, world {number}")
        visit(log, lambda seed=seed: _first(log, random.Random(seed)))
    operands.begin(rng)
    seed = rng.getrandbits(20)
    log.at(f"endurance.threads with seed {seed}")
    log.counts["cases"] += THREADS * CALLS
    ended = threading.Event()

    def forget() -> None:
        while not ended.wait(0.01):
            state.clear()

    forgetting = threading.Thread(target=forget)
    if rng.random() < 0.5:
        forgetting.start()
    try:
        with tempfile.TemporaryFile("w") as told:
            sys.stdout = told
            log.counts["values"] += endurance.threads(THREADS, CALLS, 2, seed, INTERVAL)
    except AssertionError as error:
        log.fault("wrong value", str(error))
    finally:
        sys.stdout = sys.__stdout__
        ended.set()
        if forgetting.is_alive():
            forgetting.join()


def _first(log: Log, rng: random.Random) -> None:
    """All threads begin together."""
    sys.setswitchinterval(INTERVAL)
    # Threads that call one operation share its launch, and each has values of its own.
    some = rng.sample(tuple(operands.NUMPY), rng.choice((1, 2, len(operands.NUMPY))))
    names = [rng.choice(some) for _ in range(THREADS)]
    values = [np.arange(12, dtype="f4").reshape(3, 4) + k for k in range(THREADS)]
    found = [[] for _ in names]
    ready = threading.Barrier(THREADS)

    def work(k: int) -> None:
        ready.wait()
        time.sleep(rng.choice((0, 0, 0.001)))
        for _ in range(4):
            # A list's append is one bytecode, so that no lock orders the threads.
            found[k].append(log.call(lambda: getattr(gb, names[k])(values[k], values[k])))

    started = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    for name, x, results in zip(names, values, found, strict=True):
        for result in results:
            log.same(result, operands.NUMPY[name](x, x), name)
