"""How users of gpubcast write the cases."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import gpubcast as gb

from ..cases import Sized
from ..timing import WARM, Call
from .base import Library, Ready, Views


class Gpubcast(Library):
    """gpubcast itself."""

    name = "gpubcast"
    devices = ("cpu", "cuda")
    entries = ("call", "out", "bound")
    compiles = True

    def set_up(self, kind: str, threads: int) -> None:
        """It takes its threads from GPUBCAST_THREADS, else all.

        Once on a machine, a process beside this one makes the code of repeated calls; it must not
        run while something is measured, so it is waited for.
        """
        x = np.ones(1, np.float32)
        for _ in range(WARM):
            gb.add(x, x)

    def ready(self, sized: Sized) -> Ready:
        function = sized.function()

        def calls(views: Views, out: Any) -> dict[str, Call]:
            # A NumPy array of rank 0 cannot be bound, a NumPy scalar can.
            bound = [x if x.ndim or not isinstance(x, np.ndarray) else x[()] for x in views]
            return {
                "call": functools.partial(function, *views),
                "out": functools.partial(function, *views, out=out),
                "bound": sized.plan.bind(*bound, out=out),
            }

        return calls
