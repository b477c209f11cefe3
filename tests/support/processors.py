"""Kernels compiled for another processor than the one that compiles, and what their code needs.

numba is told what it compiles for before it starts, so this is a process of its own::

    python -m tests.support.processors aarch64-unknown-linux-gnu neoverse-v1

prints, for each kernel of ``calls`` and for the native code of the thread team and of replayed
calls, a line of JSON: what it is, whether it is ELF code of the architecture, and the symbols that
it lacks. LLVM ends the process where an instruction is not one of the processor's.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.codegen.source import KernelSource

MACHINES = {"x86_64": 62, "aarch64": 183}
"""What ELF files call architectures."""

# A call: what it shows, the function, operands, keywords.
Call = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def _of(kind: str, *shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, gb.element_type(kind).dtype)


def calls() -> Iterator[Call]:
    """One of every sort of kernel, by how operands lie and by what is computed."""
    yield from _placed()
    yield from _computed()


def _placed() -> Iterator[Call]:
    x, y, z = _of("f32", 200, 300), _of("f32", 300, 200), _of("f32", 200, 400)[:, :300]
    triples, six = _of("f32", 999, 3), _of("f32", 4, 1, 5, 1, 6, 1)
    row = {"broadcast_dimensions": (1,)}
    yield "same", gb.add, (x, x), {}
    yield "row", gb.add, (x, x[0]), row
    yield "column", gb.add, (x, y[0]), {"broadcast_dimensions": (0,)}
    yield "transposed", gb.add, (x, y.T), {}
    yield "padded", gb.add, (z, z), {"out": z}
    yield "backwards", gb.add, (x[::-1, ::-1], x), {}
    yield "every second", gb.add, (x[:, ::2], x[:, 1::2]), {}
    yield "short rows", gb.add, (triples, triples[0]), row
    yield "rank 6", gb.add, (six, six.reshape(1, 4, 1, 5, 1, 6)), {}
    for kind in ("f16", "u8", "f64", "c64", "c128"):
        turned = {"shape": (90, 5, 70), "broadcast_dimensions": (2, 0)}
        yield f"turned {kind}", gb.broadcast_in_dim, (_of(kind, 70, 90),), turned
    chain = gb.fuse("m n, m, m, n, n -> m n")(lambda x, u, r, g, b: (x - u) * r * g + b)
    yield "fused", chain, (x, y[0], y[0], x[0], x[0]), {}


def _computed() -> Iterator[Call]:
    x = _of("f32", 999)
    for kind in ("u8", "s4", "s32", "u64", "f8e4m3fn", "f16", "bf16", "f64", "c64", "c128"):
        yield f"mul {kind}", gb.mul, (_of(kind, 999),) * 2, {}
    for kind in ("s8", "u32", "s64"):
        yield f"div {kind}", gb.div, (_of(kind, 999),) * 2, {}
        yield f"to {kind}", gb.convert_element_type, (x, kind), {}
        yield f"{kind} to bf16", gb.convert_element_type, (_of(kind, 999), "bf16"), {}
    for kind in ("s32", "f16", "f32", "f64", "c64"):
        yield f"pow {kind}", gb.pow, (_of(kind, 999),) * 2, {}
    yield "select", gb.select, (x > 0, x, x), {}
    yield "clamp", gb.clamp, (-1.0, x, 1.0), {}
    yield "rem", gb.rem, (x, x), {}
    yield "round", gb.round, (x,), {"method": "away_from_zero"}
    yield "nextafter", gb.nextafter, (x, x), {}
    yield "clz", gb.clz, (_of("u8", 999),), {}
    for name in ("exp", "log", "tanh", "sin", "tan", "erf", "lgamma", "cbrt", "asinh", "logistic"):
        for kind in ("f32", "f64"):
            yield f"{name} {kind}", getattr(gb, name), (_of(kind, 999),), {}


def main(triple: str, processor: str, features: str = "") -> int:
    """Compile everything for a processor."""
    os.environ |= {
        "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features, "GPUBCAST_THREADS": "1",
    }  # fmt: skip
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    binding.get_process_triple = lambda: triple
    from gpubcast.backends.cpu import backend
    from gpubcast.backends.cpu.backend import CpuBackend
    from gpubcast.backends.cpu.jit import compile, object_cache
    from gpubcast.backends.cpu.threads import team_loop
    from gpubcast.backends.native_calls import replay

    label = ""

    def tell(what: str, image: bytes) -> None:
        (machine,) = struct.unpack_from("<H", image, 18)
        alike = machine == MACHINES[triple.partition("-")[0]]
        code = object_cache.Unit(image, what).object
        assert code is not None
        print(json.dumps([what, alike, sorted(code.undefined() - object_cache.ALLOWED)]))

    def load(_: object, source: KernelSource) -> Callable[..., None]:
        tell(f"{label}, {source.key}", backend._compiled(source)[0])
        return lambda *_: None

    CpuBackend.load = load  # type: ignore[method-assign, assignment]
    for streaming in ("off", "on"):
        os.environ["GPUBCAST_STREAMING"] = streaming
        for call in calls():
            label, function, operands, keywords = call
            function(*operands, **keywords)
    for native, arguments in (
        (team_loop.worker_loop, 3),
        (team_loop.run_parts, 3),
        (replay.replay, 4),
    ):
        tell(native.__name__, compile.machine_code(native, arguments)[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
