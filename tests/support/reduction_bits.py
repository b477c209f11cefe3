"""The bits of reductions on processors that can run here.

    python -m tests.support.reduction_bits haswell [LABEL ...]

prints a line of JSON for each of ``CALLS``, compiled for a processor: its label, and a digest of
its results in which every NaN is the same one.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
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
# Rows, and lengths at which lanes are empty, chunks are full, and chunks have chunks; and short
# ones, which are transposed.
SIZES = ((5, 3), (5, 130), (5, 512), (5, 1_700))
SHORT = ((70, 13), (40, 50))


def operand(kind: str, *dims: int) -> Array:
    """The same numbers on every processor."""
    return values(np.random.default_rng([18, *dims]), kind, dims)


Made = tuple[gb.Plan, tuple[Array, ...]]


def planned(labels: str | None, function: Callable[..., Any], *operands: Array) -> Made:
    """The plan of a function, and operands for it."""
    shapes = [gb.Shape(x.dtype, x.shape) for x in operands]
    return gb.fuse(labels)(function).plan(*shapes), operands


def reduced(op: str, kind: str) -> Iterator[Made]:
    """A reduction of rows and of columns."""
    for sizes in SIZES + SHORT * (op == "reduce_sum"):
        x = operand(kind, *sizes)
        for array, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
            said = {"axis": axis} if op in ("argmax", "argmin") else {"axes": (axis,)}
            yield gb.plan(op, gb.Shape(array.dtype, array.shape), **said), (array,)
    if op == "reduce_sum":  # rows that are too long to be reduced as one
        x = operand(kind, 600, 600)
        yield gb.plan(op, gb.Shape(x.dtype, x.shape), axes=(0,)), (x,)


def _normalised(kind: str) -> Iterator[Made]:
    functions = (gb.nn.softmax, gb.nn.layer_norm, gb.nn.logsumexp)[: 3 if kind == "f32" else 1]
    for sizes, function in itertools.product(SIZES + SHORT, functions):
        x, kept = operand(kind, *sizes), "" if function is gb.nn.logsumexp else " c"
        yield planned(f"r c -> r{kept}", _along_c(function), x)
        column = f"{kept} r".strip()
        yield planned(f"c r -> {column}", _along_c(function), np.ascontiguousarray(x.T))


def _along_c(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: function(x, axis="c")


def _kernel_sum(x: Any, y: Any, w: Any) -> Any:
    return gb.reduce_sum(gb.exp(-gb.reduce_sum(gb.square(x - y), "d")) * w, "j")


def _pairs(kind: str) -> Iterator[Made]:
    for depth, count in itertools.product((3, 140), (50, 700)):
        given = operand(kind, 7, depth), operand(kind, count, depth), operand(kind, count)
        yield planned("i d, j d, j -> i", _kernel_sum, *given)


def _whole(kind: str) -> Iterator[Made]:
    for dims, axes in (((70_001,), (0,)), ((30, 40, 50), (0, 1, 2)), ((3, 200, 4, 5), (1, 3))):
        x = operand(kind, *dims)
        yield gb.plan("reduce_sum", gb.Shape(x.dtype, dims), axes=axes), (x,)


def _from_memory(kind: str) -> Iterator[Made]:
    """Of operands that are taken to come from memory, which processors read by vectors of their
    own; of results along rows that wait for the next one; and of long rows that do not begin at a
    line."""
    os.environ["GPUBCAST_STREAMING"] = "on"
    try:
        yield from reduced("reduce_sum", kind)
        yield from reduced("reduce_max", kind)
        waiting = (gb.nn.softmax, gb.nn.layer_norm, gb.nn.log_softmax)[: 3 * (kind != "f16")]
        for function, columns in itertools.product(waiting, (1100, 4603)):
            yield planned("r c -> r c", _along_c(function), operand(kind, 5, columns))
        columns = 16384 // gb.element_type(kind).itemsize
        x = operand(kind, 600 * columns + 1)[1:].reshape(600, columns)
        yield gb.plan("reduce_sum", gb.Shape(x.dtype, x.shape), axes=(0,)), (x,)
    finally:
        os.environ["GPUBCAST_STREAMING"] = "off"


CALLS: dict[str, Callable[[], Iterator[Made]]] = {
    f"{op} {kind}": lambda op=op, kind=kind: reduced(op, kind)  # type: ignore[misc]
    for op, kind in every_reduction()
}
for _kind in ("f32", "f64"):
    CALLS |= {
        f"normalised {_kind}": lambda kind=_kind: _normalised(kind),  # type: ignore[misc]
        f"pairs {_kind}": lambda kind=_kind: _pairs(kind),  # type: ignore[misc]
        f"whole {_kind}": lambda kind=_kind: _whole(kind),  # type: ignore[misc]
    }


CALLS |= {f"far {kind}": functools.partial(_from_memory, kind) for kind in ("f16", "f32", "f64")}


def main(target: str, *labels: str) -> int:
    """Print the digests of a processor."""
    vector_kernels.aim(target)
    for label in labels or CALLS:
        found = [digest(np.asarray(plan(*operands))) for plan, operands in CALLS[label]()]
        print(json.dumps([label, " ".join(found)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
