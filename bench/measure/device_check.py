"""Whether the device works at all, and how fast its memory is: seconds, before anything else.

    python -m bench.measure.device_check --device cuda

Each line is printed when it is known, so that a device that hangs leaves those before it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import config

from ..cases import CACHE_BYTES, MEMORY_BYTES
from ..timing import Contender, GpuMachine, Machine, take_turns
from . import ceilings
from .environment import environment

SAMPLES = 9


def check(kind: str, num_bytes: int | None = None) -> bool:
    """Print what the device is, whether a kernel's result is right, and what copies reach.

    Args:
        kind: cpu or cuda.
        num_bytes: of the memory that copies read and write; that of the report's cases unless told.

    Returns:
        Whether the result was right.
    """
    found = environment(gpu=kind == "cuda")
    for name in ("revision", "python", "processor", "cores", "packages", "gpu", "gpu_error"):
        value = found[name]
        if isinstance(value, dict):
            value = ", ".join(f"{key} {one}" for key, one in value.items() if one is not None)
        _say(name, value)
    x = np.arange(1 << 16, dtype=np.float32).reshape(256, 256)
    began = time.perf_counter()
    result = gb.add(gb.array(x, device=kind), 1.0).numpy()
    right = bool((result == x + np.float32(1)).all())
    _say("first kernel", f"{time.perf_counter() - began:.3f} s, {'right' if right else 'WRONG'}")
    _say("device", gb.array(x, device=kind).device)
    machine = GpuMachine() if kind == "cuda" else Machine()
    total = num_bytes or MEMORY_BYTES[kind]
    for level, size in (("L2", CACHE_BYTES[kind]), ("DRAM", total)):
        for one in ceilings.measure(machine, {level: (size, 1)}, config.threads(), SAMPLES):
            if one.median:
                on = f" on {one.threads} threads" if one.threads else ""
                _say(f"{one.name} {level}{on}", f"{one.bytes / one.median / 1e9:,.1f} GB/s")
    _say("gpubcast, copy of f32", f"{_own_copy(machine, total):,.1f} GB/s")
    return right


def _own_copy(machine: Machine, num_bytes: int) -> float:
    """Bytes read and written in a nanosecond by a kernel of ours that only copies."""
    size = num_bytes // 8
    source, target = (gb.full(f"f32[{size}]", 1, device=machine.kind) for _ in range(2))
    copy = gb.plan("broadcast_in_dim", f"f32[{size}]", shape=(size,), broadcast_dimensions=(0,))
    made = Contender("gpubcast", "bound", [copy.bind(source, out=target)])
    take_turns(machine, [made], samples=SAMPLES)
    return 8 * size / min(made.samples) / 1e9


def _say(name: str, value: Any) -> None:
    print(f"{name:24}  {value}", flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; its exit status: 1 where the result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.measure.device_check")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--bytes", type=int, help="of the memory that copies move")
    given = parser.parse_args(words)
    return 0 if check(given.device, given.bytes) else 1


if __name__ == "__main__":
    sys.exit(main())
