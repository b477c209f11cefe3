"""The bits of reductions on processors that can run here.

    python -m tests.support.reduction_bits haswell [LABEL ...]

prints a line of JSON for each of ``CALLS``, compiled for a processor: its label, and a digest of
its results in which every NaN is the same one.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gpubcast as gb
from tests.support import vector_kernels
from tests.support.processor_bits import digest
from tests.support.reduction_calls import values
from tests.support.reduction_programs import every_reduction

Array = np.ndarray[Any, Any]
# Lengths at which lanes are empty, chunks are full, and chunks have chunks.
LENGTHS = (3, 130, 512, 1_700)


def operand(kind: str, *dims: int) -> Array:
    """The same numbers on every processor."""
    return values(np.random.default_rng([18, *dims]), kind, dims)


def reduced(op: str, kind: str) -> Iterator[Array]:
    """A reduction of rows and of columns."""
    for length in LENGTHS:
        x = operand(kind, 5, length)
        for array, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
            if op in ("argmax", "argmin"):
                yield np.asarray(getattr(gb, op)(array, axis=axis))
            else:
                yield np.asarray(getattr(gb, op)(array, axes=(axis,)))


def _normalised(kind: str) -> Iterator[Array]:
    for length in LENGTHS:
        x = operand(kind, 5, length)
        for function in (gb.nn.softmax, gb.nn.layer_norm, gb.nn.logsumexp):
            yield np.asarray(function(x))
            yield np.asarray(function(np.ascontiguousarray(x.T), axis=0))


def _pairs(kind: str) -> Iterator[Array]:
    @gb.fuse("i d, j d, j -> i")
    def kernel_sum(x: Any, y: Any, w: Any) -> Any:
        return gb.reduce_sum(gb.exp(-gb.reduce_sum(gb.square(x - y), "d")) * w, "j")

    for depth, count in itertools.product((3, 140), (50, 700)):
        given = operand(kind, 7, depth), operand(kind, count, depth), operand(kind, count)
        yield np.asarray(kernel_sum(*given))


def _whole(kind: str) -> Iterator[Array]:
    yield np.asarray(gb.reduce_sum(operand(kind, 70_001), (0,)))
    yield np.asarray(gb.reduce_sum(operand(kind, 30, 40, 50), (0, 1, 2)))
    yield np.asarray(gb.reduce_sum(operand(kind, 3, 200, 4, 5), (1, 3)))


CALLS: dict[str, Callable[[], Iterator[Array]]] = {
    f"{op} {kind}": lambda op=op, kind=kind: reduced(op, kind)  # type: ignore[misc]
    for op, kind in every_reduction()
}
for _kind in ("f32", "f64"):
    CALLS |= {
        f"normalised {_kind}": lambda kind=_kind: _normalised(kind),  # type: ignore[misc]
        f"pairs {_kind}": lambda kind=_kind: _pairs(kind),  # type: ignore[misc]
        f"whole {_kind}": lambda kind=_kind: _whole(kind),  # type: ignore[misc]
    }


def main(target: str, *labels: str) -> int:
    """Print the digests of a processor."""
    vector_kernels.aim(target)
    for label in labels or CALLS:
        found = [digest(one) for one in CALLS[label]()]
        print(json.dumps([label, " ".join(found)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
