"""Processors that kernels are compiled for in tests, as numba is told of them."""

from __future__ import annotations

from typing import NamedTuple

_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
_V2 = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


class ProcessorTarget(NamedTuple):
    """A processor: LLVM's triple, its name there, and what numba is told that it has."""

    triple: str
    name: str
    features: str


def _target(triple: str, name: str, has: tuple[str, ...]) -> ProcessorTarget:
    return ProcessorTarget(triple, name, ",".join(f"+{feature}" for feature in has))


TARGETS = {
    "x86-64-v2": _target(_X86, "x86-64-v2", _V2),
    "haswell": _target(_X86, "haswell", _V3),
    "znver3": _target(_X86, "znver3", _V3),
    "znver4": _target(_X86, "znver4", _V4),
    "skylake-avx512": _target(_X86, "skylake-avx512", _V4),
    "neoverse-n1": _target(_ARM, "neoverse-n1", ("neon",)),
    "neoverse-v1": _target(_ARM, "neoverse-v1", ("neon", "sve")),
    "apple-m1": _target(_ARM, "apple-m1", ("neon",)),
}
