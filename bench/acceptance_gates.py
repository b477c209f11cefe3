"""What a ratio does not say: how soon a process has its first kernel, what a call costs, and what
one after a pause does."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb

from . import host_cost
from .timing import WARM, percentile, undisturbed

Gate = dict[str, Any]
"""``name``, ``unit``, ``measured``, ``wanted`` (at most), and ``samples`` by what they are of."""

STARTS, PAUSES, PAUSE = 7, 100, 0.01
_FIRST, _FURTHER, _LATE = 80.0, 1.0, 1.2
# A process that has NumPy; what it then does first and second, in milliseconds.
_CHILD = """
import json, time
import numpy as np
began = time.perf_counter()
import gpubcast as gb
x = np.full((256, 256), 0.5, np.float32)
gb.add(x, x)
found = [time.perf_counter() - began]
row, column, mask = x[0].copy(), x[:, :1].copy(), x > 1
calls = [
    lambda: gb.mul(x, row, broadcast_dimensions=(1,)), lambda: gb.sub(x, column),
    lambda: gb.add(x, x.T), lambda: gb.mul(column, row[None]), lambda: gb.exp(x),
    lambda: gb.select(mask, x, x), lambda: gb.convert_element_type(x, "s32"),
    lambda: gb.mul(x, 2.0),
]
for call in calls:
    began = time.perf_counter()
    call()
    found.append(time.perf_counter() - began)
print(json.dumps([1e3 * seconds for seconds in found]))
"""


def start(starts: int = STARTS) -> list[Gate]:
    """Milliseconds from the end of ``import numpy`` to the first result of a process that finds
    its kernels on disk, and to that of each further kernel (of several, the slowest)."""
    root = str(Path(gb.__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory(prefix="gpubcast-bench-") as folder:
        variables = {"PYTHONPATH": os.pathsep.join(paths), "GPUBCAST_CACHE_DIR": folder}
        # As installed packages do, what is imported lies there compiled.
        variables["PYTHONPYCACHEPREFIX"] = str(Path(folder, "bytecode"))
        variables["PYTHONDONTWRITEBYTECODE"] = ""
        # The first of them compiles.
        runs = [_child(os.environ | variables) for _ in range(starts + 1)][1:]
    each = list(zip(*runs, strict=True))
    further = max(each[1:], key=statistics.median)
    return [
        _gate("first kernel of a process", "ms", _FIRST, statistics.median(each[0]), ours=each[0]),
        _gate("each further kernel", "ms", _FURTHER, statistics.median(further), ours=further),
    ]


def _child(variables: Mapping[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], env=dict(variables), capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


def pause(pauses: int = PAUSES, seconds: float = PAUSE) -> list[Gate]:
    """The 90th percentile of an addition of 256 Ki elements after a pause, beside NumPy's."""
    x, y = (np.full(1 << 18, k, np.float32) for k in (1, 2))
    calls: dict[str, Callable[..., Any]] = {"ours": gb.add, "NumPy": np.add}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(WARM):
            call(x, y)
    with undisturbed():
        for _ in range(pauses):
            for name, call in calls.items():
                time.sleep(seconds)
                began = time.perf_counter()
                call(x, y)
                taken[name].append(time.perf_counter() - began)
    ours, theirs = (percentile(samples, 0.9) for samples in taken.values())
    name = f"256Ki elements after {1e3 * seconds:.0f} ms of nothing, p90"
    return [_gate(name, "x NumPy's", _LATE, ours / theirs, **taken)]


def _gate(name: str, unit: str, wanted: float, measured: float, **samples: Any) -> Gate:
    return {
        "name": name, "unit": unit, "wanted": wanted, "measured": measured,
        "samples": {of: list(values) for of, values in samples.items()},
    }  # fmt: skip


def calls() -> list[Gate]:
    """What a call costs on few elements, where something is asked of it (see ``host_cost.py``)."""
    rows = host_cost.measure("cpu")
    beside = {row.way: [row.microseconds] for row in rows if row.library == "NumPy"}
    return [
        _gate(
            f"{row.way} call on {math.prod(host_cost.SHAPE)} elements", "us", row.asked,
            row.microseconds, NumPy=beside.get(row.way, ()),
        )
        for row in rows
        if row.asked is not None
    ]  # fmt: skip


GATES: dict[str, Callable[[], list[Gate]]] = {"start": start, "calls": calls, "pause": pause}
"""By the name that ``--only`` knows."""
