"""What a call costs the host, on 64 elements: ``python -m bench.host_cost``.

All ways of calling take turns, round by round, with NumPy beside them on the CPU and CuPy on a GPU.
Where there is no GPU the driver and CuPy's launch function are left out (``pretended``); CuPy's
own times need them. A round is so many calls that it takes some milliseconds; the median of the
rounds counts. The loop's own time is in it, a few hundredths of a microsecond.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import statistics
import sys
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb

from . import environment, pretended
from .timing import WARM

SCHEMA = 1
ROUNDS, ROUND_SECONDS = 25, 2e-3
SHAPE = (8, 8)
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One way to call.

    Attributes:
        device: ``cpu`` or ``cuda``.
        driver: ``real`` or ``stubbed`` on a GPU, else empty.
        way: what is called.
        library: whose call it is.
        microseconds: the median time of a call.
        asked: the most that it may take; None where nothing is asked.
    """

    device: str
    driver: str
    way: str
    library: str
    microseconds: float
    asked: float | None = None


ASKED = {
    "cpu": {"eager": 2.0, "plan out": 1.3, "bound": 0.4},
    "cuda": {"eager": 3.5, "plan out": 1.5, "bound": 0.6},
}


@gb.fuse
def _scaled(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _ways(make: Callable[[], Any]) -> dict[str, Call]:
    """The ways to call gpubcast, on new arrays."""
    x, y, z = make(), make(), make()
    text = f"f32[{','.join(map(str, SHAPE))}]"
    plan = gb.plan("add", text, text)
    bound = plan.bind(x, y, out=z)
    a, b = (gb.from_dlpack(v) if isinstance(v, np.ndarray) else None for v in (x, y))
    ways: dict[str, Call] = {
        "eager": lambda: gb.add(x, y),
        "out": lambda: gb.add(x, y, out=z),
        "scalar": lambda: gb.add(x, 2.0),
        "plan": lambda: plan(x, y),
        "plan out": lambda: plan(x, y, out=z),
        "bound": bound,
        "fused": lambda: _scaled(x, y, z),
    }
    if a is not None:
        ways["gb.Array"] = lambda: gb.add(a, b)
    return ways


def _numpy() -> dict[tuple[str, str], Call]:
    x, y, z = (np.ones(SHAPE, np.float32) for _ in range(3))
    return {
        ("eager", "NumPy"): lambda: np.add(x, y),
        ("out", "NumPy"): lambda: np.add(x, y, out=z),
        ("scalar", "NumPy"): lambda: np.add(x, 2.0),
        ("fused", "NumPy"): lambda: x * y + z,
    }


def _cupy(cupy: Any) -> dict[tuple[str, str], Call]:
    x, y, z = (cupy.ones(SHAPE, cupy.float32) for _ in range(3))
    text = 'extern "C" __global__ void k(const float* x, const float* y, float* z) {}'
    kernel = cupy.RawKernel(text, "k")
    return {
        ("eager", "CuPy"): lambda: cupy.add(x, y),
        ("out", "CuPy"): lambda: cupy.add(x, y, out=z),
        ("scalar", "CuPy"): lambda: cupy.add(x, 2.0),
        ("fused", "CuPy"): lambda: x * y + z,
        ("bound", "CuPy RawKernel"): lambda: kernel((1,), (64,), (x, y, z)),
    }


def measure(device: str) -> list[Row]:
    """Every way to call on a device: ``cpu`` or ``cuda``."""
    if device == "cpu":
        ours = _ways(lambda: np.ones(SHAPE, np.float32))
        return _rows("cpu", "", ours, _numpy(), lambda: None)
    with _gpu() as (driver, make, others, wait):
        return _rows("cuda", driver, _ways(make), others, wait)


@contextlib.contextmanager
def _gpu() -> Iterator[tuple[str, Callable[[], Any], dict[tuple[str, str], Call], Call]]:
    """The real GPU, or what stands for one."""
    import cupy

    try:
        real = cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        real = False
    if real:
        wait = cupy.cuda.runtime.deviceSynchronize
        yield "real", lambda: cupy.ones(SHAPE, cupy.float32), _cupy(cupy), wait
        return
    with pretended.gpu() as stand_in:
        yield "stubbed", lambda: stand_in.array(SHAPE), {}, lambda: None


def _rows(
    device: str, driver: str, ours: dict[str, Call], others: dict[tuple[str, str], Call], wait: Call
) -> list[Row]:
    calls = {(way, "gpubcast"): call for way, call in ours.items()} | others
    found = _medians(list(calls.values()), wait)
    asked = ASKED[device]
    return [
        Row(
            device, driver, way, library, seconds * 1e6,
            asked.get(way) if library == "gpubcast" else None,
        )
        for (way, library), seconds in zip(calls, found, strict=True)
    ]  # fmt: skip


def _medians(calls: Sequence[Call], wait: Call) -> list[float]:
    """The median seconds of each call, in turns."""
    timers = [timeit.Timer(call) for call in calls]
    counts = []
    for call, timer in zip(calls, timers, strict=True):
        for _ in range(WARM):
            call()
        wait()
        counts.append(max(int(ROUND_SECONDS / max(timer.timeit(WARM) / WARM, 1e-9)), 1))
        wait()
    samples: list[list[float]] = [[] for _ in calls]
    gc.collect()
    for _ in range(ROUNDS):
        for timer, count, found in zip(timers, counts, samples, strict=True):
            # No more than a device queues, so that no launch waits for another.
            many = min(count, 500)
            found.append(timer.timeit(many) / many)
            wait()
    return [statistics.median(found) for found in samples]


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    lines = [f"{'device':<6} {'way':<9} {'library':<14} {'us':>7}  asked"]
    for row in rows:
        asked = "" if row.asked is None else f"{row.asked:.1f}"
        if row.asked is not None and row.microseconds > row.asked:
            asked += "  missed"
        named = f"{row.device:<6} {row.way:<9} {row.library:<14}"
        lines.append(f"{named} {row.microseconds:7.3f}  {asked}".rstrip())
    if any(row.driver == "stubbed" for row in rows):
        lines.append("cuda: without a driver and without CuPy's own launch function")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.host_cost", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda", "all"), default="all")
    parser.add_argument("--json", type=Path, help="write the rows to a file")
    given = parser.parse_args(arguments)
    devices = ("cpu", "cuda") if given.device == "all" else (given.device,)
    rows: list[Row] = []
    for device in devices:
        try:
            rows += measure(device)
        except ImportError as error:
            print(f"{device}: left out, {error}", file=sys.stderr)
    print(table(rows))
    if given.json is not None:
        report = {
            "schema": SCHEMA,
            "elements": int(np.prod(SHAPE)),
            "environment": environment.environment(),
            "rows": [asdict(row) for row in rows],
        }
        given.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
