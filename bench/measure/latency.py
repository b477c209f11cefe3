"""What no ratio of medians says: how soon a process has its first kernel, what a call costs on few
elements, and what one after a pause costs."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb

from ..schema import OURS, Latency, percentile
from ..timing import WARM, Call, Contender, GpuMachine, Machine, take_turns, undisturbed

STARTS, PAUSES, PAUSE = 7, 100, 0.01
ROUNDS, ROUND_SECONDS = 25, 2e-3
SHAPE = (8, 8)
_CALL = " call on "

Calls = Mapping[tuple[str, str], Call]  # What is called, by way and library

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


def start(kind: str = "cpu", starts: int = STARTS) -> list[Latency]:
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
    first, *others = (list(taken) for taken in zip(*runs, strict=True))
    further = max(others, key=statistics.median)
    named = {"first kernel of a process": first, "each further kernel": further}
    return [
        _latency("start", name, "ms", {"ours": taken}, statistics.median(taken))
        for name, taken in named.items()
    ]


def _child(variables: Mapping[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], env=dict(variables), capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


def pause(kind: str = "cpu", pauses: int = PAUSES, seconds: float = PAUSE) -> list[Latency]:
    """The 90th percentile of an addition of 256 Ki elements after a pause, beside NumPy's."""
    x, y = (np.full(1 << 18, k, np.float32) for k in (1, 2))
    functions: dict[str, Callable[..., Any]] = {"ours": gb.add, "NumPy": np.add}
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        for _ in range(WARM):
            function(x, y)
    with undisturbed():
        for _ in range(pauses):
            for name, function in functions.items():
                time.sleep(seconds)
                began = time.perf_counter()
                function(x, y)
                taken[name].append(time.perf_counter() - began)
    ours, theirs = (percentile(samples, 0.9) for samples in taken.values())
    name = f"256Ki elements after {1e3 * seconds:.0f} ms of nothing, p90"
    return [_latency("pause", name, "x NumPy's", taken, ours / theirs)]


def calls(kind: str) -> list[Latency]:
    """What calls cost the host, beside NumPy's, or beside CuPy's on a GPU."""
    if kind == "cuda":
        import cupy

        arrays = [cupy.ones(SHAPE, cupy.float32) for _ in range(3)]
        return call_costs({**our_calls(*arrays), **_cupy(cupy, *arrays)}, GpuMachine())
    x, y, z = (np.ones(SHAPE, np.float32) for _ in range(3))
    owned = {**_arrays(gb.from_dlpack(x), gb.from_dlpack(y)), **_made(x)}
    costs = call_costs({**our_calls(x, y, z), **owned, **_their_calls(np, "NumPy", x, y, z)})
    return [*costs, *beside_eager(costs, [way for way, _ in owned])]


def _arrays(a: Any, b: Any) -> Calls:
    """Ways to compute with two gpubcast arrays."""
    return {
        ("gb.Array", OURS): lambda: gb.add(a, b),
        ("operator", OURS): lambda: a + b,
        ("in-place operator", OURS): lambda: a.__iadd__(b),
    }


def _made(x: Any) -> Calls:
    """Ways to make a gpubcast array."""
    text = _text()
    return {
        ("gb.array", OURS): lambda: gb.array(x),
        ("gb.full", OURS): lambda: gb.full(text, 1.0),
        ("gb.full, new Shape", OURS): lambda: gb.full(gb.Shape("f32", SHAPE), 1.0),
    }


def tensors(kind: str = "cpu") -> list[Latency]:
    """What calls on PyTorch's tensors cost beside the same calls on their NumPy views, of the
    same run; nothing where PyTorch is not installed."""
    if find_spec("torch") is None:
        return []
    import torch

    import gpubcast.torch  # noqa: F401

    x, y = torch.ones(SHAPE), torch.ones(SHAPE)
    pairs: dict[str, tuple[Call, Call]] = {
        "two tensors": (lambda: gb.add(x, y), lambda: gb.add(x.numpy(), y.numpy())),
        "a tensor and a scalar": (lambda: gb.mul(x, 2.0), lambda: gb.mul(x.numpy(), 2.0)),
        "one tensor": (lambda: gb.exp(x), lambda: gb.exp(x.numpy())),
    }
    ways: dict[tuple[str, str], Call] = {}
    for name, (ours, views) in pairs.items():
        ways[name, OURS], ways[f"{name}, as NumPy views", OURS] = ours, views
    costs = call_costs(ways)
    measured = {one.name.partition(_CALL)[0]: one.measured for one in costs}
    ratios = [
        _latency("tensors", f"{name}, beside NumPy views", "x", {},
                 measured[name] / measured[f"{name}, as NumPy views"])
        for name in pairs
    ]  # fmt: skip
    return [*(replace(one, of="tensors") for one in costs), *ratios]


def beside_eager(costs: Sequence[Latency], ways: Sequence[str]) -> list[Latency]:
    """What calls of some ways cost in eager calls on NumPy arrays, of the same run."""
    measured = {one.name.partition(_CALL)[0]: one.measured for one in costs}
    return [
        _latency("calls", f"{way}, beside eager", "x", {}, measured[way] / measured["eager"])
        for way in ways
    ]


def our_calls(x: Any, y: Any, z: Any) -> Calls:
    """The ways to call gpubcast on three arrays of ``SHAPE``."""
    text = _text()
    plan = gb.plan("add", text, text)
    return {
        ("eager", OURS): lambda: gb.add(x, y),
        ("out", OURS): lambda: gb.add(x, y, out=z),
        ("scalar", OURS): lambda: gb.add(x, 2.0),
        ("plan", OURS): lambda: plan(x, y),
        ("plan out", OURS): lambda: plan(x, y, out=z),
        ("bound", OURS): plan.bind(x, y, out=z),
        ("fused", OURS): lambda: _scaled(x, y, z),
    }


def _text() -> str:
    return f"f32[{','.join(map(str, SHAPE))}]"


def _their_calls(xp: Any, name: str, x: Any, y: Any, z: Any) -> Calls:
    return {
        ("eager", name): lambda: xp.add(x, y),
        ("out", name): lambda: xp.add(x, y, out=z),
        ("scalar", name): lambda: xp.add(x, 2.0),
        ("fused", name): lambda: x * y + z,
    }


def _cupy(cupy: Any, x: Any, y: Any, z: Any) -> Calls:
    text = 'extern "C" __global__ void k(const float* x, const float* y, float* z) {}'
    kernel = cupy.RawKernel(text, "k")
    launch: Calls = {("bound", "CuPy RawKernel"): lambda: kernel((1,), (64,), (x, y, z))}
    return {**_their_calls(cupy, "CuPy", x, y, z), **launch}


@gb.fuse
def _scaled(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def call_costs(given: Calls, machine: Machine | None = None) -> list[Latency]:
    """Microseconds of a call of ours by each way, with those of the other libraries in samples.

    All take turns, round by round. A round is so many calls that it takes some milliseconds; the
    median of the rounds counts. The loop's own time is in it, a few hundredths of a microsecond.
    """
    machine = machine or Machine()
    gpu = machine.kind == "cuda"
    contenders = [Contender(library, way, [call], on_host=gpu) for (way, library), call
                  in given.items()]  # fmt: skip
    for one in contenders:
        for _ in range(WARM):
            one.calls[0]()
        machine.synchronize()
    if failed := take_turns(machine, contenders, samples=ROUNDS, sample_seconds=ROUND_SECONDS):
        raise gb.Error(f"calls on few elements failed: {', '.join(failed.values())}")
    samples: dict[str, dict[str, list[float]]] = {}
    for one in contenders:
        of_way = samples.setdefault(one.entry, {})
        of_way[one.library] = [1e6 * seconds for seconds in one.samples]
    name = f"{_CALL}{SHAPE[0] * SHAPE[1]} elements{', GPU' * gpu}"
    return [
        _latency("calls", f"{way}{name}", "us", found, statistics.median(found[OURS]))
        for way, found in samples.items()
    ]


def _latency(
    of: str, name: str, unit: str, samples: dict[str, list[float]], measured: float
) -> Latency:
    return Latency(of=of, name=name, unit=unit, samples=samples, measured=measured)


MEASURES: dict[str, Callable[[str], list[Latency]]] = {
    "start": start, "calls": calls, "pause": pause, "tensors": tensors
}  # fmt: skip
"""By the name that ``--cases`` knows; each takes the kind of device, which only calls depend on."""
