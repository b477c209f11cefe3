"""The bits of results on processors that can run here.

    python -m tests.support.processor_bits haswell [LABEL ...]

runs the kernels of ``vector_kernels``, compiled for a processor, and prints a line of JSON for
each: its label, and a digest of its results in which every NaN is the same one.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from typing import Any

import numpy as np

import gpubcast as gb
from tests.support import vector_kernels
from tests.support.processor_targets import TARGETS

COUNT = 4_001
EDGES = (
    *(0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 7.0, 26.5, 88.7, 127.0, 128.0, 709.7, 2.0**15),
    *(2.0**31, 2.0**32, 2.0**52, 2.0**63, 2.0**64, 1e-3, 1e-8, 1e-30, 1e-310, 1e30, 1e300),
    *(np.pi, np.inf, np.nan),
)
Array = np.ndarray[Any, Any]


def sample(kind: str, seed: int) -> Array:
    """Numbers of a type: edges against edges in pairs, any bits, and numbers of usual size. The
    order of edges differs with the seed's lowest bit."""
    rng = np.random.default_rng(seed)
    row = gb.element_type(kind)
    if row.is_complex:
        real, imag = (sample(row.component.name, 2 * seed + part) for part in (0, 1))
        found = np.empty(real.shape, row.dtype)
        found.real, found.imag = real, imag
        return found
    word = np.dtype(f"u{row.itemsize}")
    whatever = rng.integers(0, 2 ** (8 * row.itemsize), COUNT, word, endpoint=False)
    if kind == "pred":
        return whatever % 2 == 1
    if row.is_integral:
        small = rng.integers(1 - (np.iinfo(row.dtype).min < 0) * 20, 20, COUNT).astype(row.dtype)
        return np.concatenate([whatever.view(row.dtype), small, whatever.view(row.dtype)[::-1]])
    both = np.array(list(itertools.product((*EDGES, *(-x for x in EDGES)), repeat=2)))
    usual = rng.uniform(-4, 4, COUNT), rng.uniform(-1, 1, COUNT), rng.uniform(0, 100, COUNT)
    with np.errstate(all="ignore"):
        numbers = np.concatenate([both[:, seed & 1], *usual]).astype(row.dtype)
    return np.concatenate([numbers, whatever.view(row.dtype)])


def operands_of(kernel: vector_kernels.Kernel) -> list[Array]:
    """Samples of one length."""
    samples = [sample(kind, number) for number, kind in enumerate(kernel.operands)]
    size = max(x.size for x in samples)
    return [np.resize(x, size) for x in samples]


def digest(result: Array) -> str:
    """Of the bits, where every NaN is the same one."""
    parts = result.view(result.real.dtype) if result.dtype.kind == "c" else result
    if (parts != parts).any():
        parts = np.where(parts != parts, parts.dtype.type(np.nan), parts)
    return hashlib.sha256(np.ascontiguousarray(parts).tobytes()).hexdigest()[:16]


def main(target: str, *labels: str) -> int:
    """Print the digests of a processor."""
    vector_kernels.aim(target)
    for kernel in vector_kernels.kernels():
        if not labels or kernel.label in labels:
            operands = operands_of(kernel)
            found = kernel.call(*operands)
            print(json.dumps([kernel.label, digest(np.asarray(found))]), flush=True)
    return 0


def runnable() -> list[str]:
    """The processors whose instructions this one has."""
    from llvmlite import binding

    here = binding.get_host_cpu_features()
    host = binding.get_process_triple().partition("-")[0]
    return [
        name
        for name, target in TARGETS.items()
        if target.triple.partition("-")[0] == host
        and all(here.get(feature.removeprefix("+")) for feature in target.features.split(","))
    ]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
