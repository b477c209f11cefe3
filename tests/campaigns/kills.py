"""Processes that are killed while they store kernels, beside others that store the same."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time

from gpubcast.backends import kernel_files
from tests.campaigns import calls
from tests.campaigns.log import Log
from tests.campaigns.worlds import World, visit

ROUNDS, WRITERS = 2, 3
LONGEST = 6.0
"""Seconds until a process is killed, at most: some kernels are stored, others not."""


def run(log: Log, rng: random.Random) -> None:
    """Rounds on one cache, which gets fuller with each; then everything is right."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPUBCAST_CACHE_DIR"] = f"{folder}/cache"
        # Every kernel is evicted soon, so that all are stored again and again.
        os.environ["GPUBCAST_CACHE_SIZE"] = str(rng.choice((1 << 30, 30_000, 0)))
        for number in range(ROUNDS):
            log.at(f"round {number} with a cache of {os.environ['GPUBCAST_CACHE_SIZE']} bytes")
            seeds = [rng.getrandbits(32) for _ in range(WRITERS)]
            worlds = [
                World(log, lambda seed=seed: calls.right(log, calls.some(random.Random(seed), 5)))
                for seed in seeds
            ]
            delays = sorted(LONGEST * rng.random() ** 2 for _ in worlds[:-1])
            began = time.monotonic()
            for world, delay in zip(worlds, delays, strict=False):
                time.sleep(max(0.0, began + delay - time.monotonic()))
                os.kill(world.pid, signal.SIGKILL)
            for world in worlds:
                world.end(-signal.SIGKILL)
        visit(log, lambda: calls.right(log, calls.made()))
        os.environ["GPUBCAST_CACHE_SIZE"] = str(1 << 30)
        visit(log, lambda: calls.right(log, calls.made()))
        log.at("what is left in the cache")
        strange = kernel_files.others(f"{folder}/cache")
        if strange:
            log.fault("wrong value", f"left in the cache: {strange}")
