"""Code that comes between any two steps of a call: signal handlers and finalizers that call
gpubcast, and handlers that raise, as Ctrl-C does."""

from __future__ import annotations

import gc
import random
import signal
import sys
import time
import weakref
from types import FrameType
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import config
from gpubcast.runtime import state
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES
from tests.campaigns import operands
from tests.campaigns.log import Log
from tests.campaigns.worlds import visit

CALLS, INTERRUPTS = 700, 40
LONGEST = 2e-3
"""Seconds from one signal to the next, at most."""


def run(log: Log, rng: random.Random) -> None:
    """Worlds for each of the three."""
    for work in (_lines, _handlers, _finalizers, _raised):
        for cold in (False, True):
            seed = rng.getrandbits(32)
            log.at(f"{work.__name__[1:]}, {'from the first call on' if cold else 'warm'}")

            def world(work: Any = work, cold: bool = cold, seed: int = seed) -> None:
                drawn = random.Random(seed)
                if not cold:
                    operands.begin(drawn)
                    _call(log, 3)
                work(log, drawn)

            visit(log, world)


def _call(log: Log, size: int) -> None:
    x = np.ones((3, size), np.float32)
    for _ in range(2):
        try:
            found = gb.add(x, x)
        except gb.Error as error:
            # What comes while this thread loads a module cannot have it.
            if "cannot be loaded now" not in str(error):
                raise
            log.counts["refusals"] += 1
            return
        if found[-1, -1] != 2:
            log.fault("wrong value", f"{found[-1, -1]} for 2")
        log.counts["values"] += 1


def _soon(rng: random.Random) -> None:
    signal.setitimer(signal.ITIMER_REAL, 1e-5 * (LONGEST / 1e-5) ** rng.random())


def _handlers(log: Log, rng: random.Random) -> None:
    """A handler calls, and sets its timer again; no handler interrupts another."""

    def handler(*_: Any) -> None:
        _call(log, rng.randint(1, 4000))
        if rng.random() < 0.05:
            state.clear()
        _soon(rng)

    signal.signal(signal.SIGALRM, handler)
    _soon(rng)
    for _ in range(CALLS):
        log.at("a handler calls")
        _call(log, rng.randint(1, 5000))
    signal.setitimer(signal.ITIMER_REAL, 0)


def _lines(log: Log, rng: random.Random) -> None:
    """A call in the middle of a call, at lines that the seed draws: under a lock as well."""
    busy = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal busy
        if not frame.f_code.co_filename.startswith(config.PACKAGE_ROOT):
            return None
        if event == "line" and not busy and rng.random() < 0.01:
            busy = True
            log.at(f"a call at {frame.f_code.co_qualname}:{frame.f_lineno}")
            _call(log, rng.randint(1, 400))
            busy = False
        return trace

    for _ in range(CALLS // 10):
        sys.settrace(trace)
        _call(log, rng.randint(1, 500))
        sys.settrace(None)


class _Dying:
    pass


def _finalizers(log: Log, rng: random.Random) -> None:
    """A finalizer calls wherever the collector comes, which is often."""
    busy = False

    def finalizer() -> None:
        nonlocal busy
        if not busy:
            busy = True
            _call(log, rng.randint(1, 4000))
            if rng.random() < 0.1:
                state.clear()
            busy = False

    gc.set_threshold(rng.randint(5, 60))
    for _ in range(CALLS // 3):
        log.at("a finalizer calls")
        dying = _Dying()
        dying.itself = dying
        weakref.finalize(dying, finalizer)
        del dying
        _call(log, rng.randint(1, 5000))


class _Interrupt(BaseException):
    """What a handler raises."""


def _raised(log: Log, rng: random.Random) -> None:
    """Every interrupt arrives where the call was made, once, and the next call is right."""
    raised = lost = 0

    def handler(*_: Any) -> None:
        nonlocal raised
        raised += 1
        raise _Interrupt

    def ignored(what: Any) -> None:
        """Python itself has nobody to hand on what is raised in a callback of a weak reference."""
        nonlocal lost
        lost += what.exc_type is _Interrupt

    sys.unraisablehook = ignored

    signal.signal(signal.SIGALRM, handler)
    large = np.ones(2 * PARALLEL_BYTES, np.uint8)
    for number in range(INTERRUPTS):
        log.at(f"interrupt {number}")
        before = raised
        until = time.monotonic() + 60
        try:
            _soon(rng)
            while raised == before and time.monotonic() < until:
                _call(log, rng.randint(1, 3000))
                if rng.random() < 0.3:
                    gb.add(large, large)
            if not lost:
                log.fault("wrong value", "an interrupt was swallowed")
            lost = 0
        except _Interrupt:
            pass
        _call(log, rng.randint(1, 3000))
        log.same(log.call(lambda: gb.add(large, large)), large + large, "after an interrupt")
