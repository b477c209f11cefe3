"""``stablehlo.reduce`` as gpubcast's reductions."""

from __future__ import annotations

import numpy as np

from gpubcast.errors import Error
from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Apply, Constant, Place
from gpubcast.shapes.element_types import ElementType
from gpubcast.stablehlo.graph import Graph
from gpubcast.stablehlo.module import Operation
from gpubcast.stablehlo.reducers import REDUCTIONS, chooser, reducers


def reduced(graph: Graph, operation: Operation, operands: list[int]) -> list[int]:
    """The results of a reduction.

    Raises:
        Error: H9, its body is none that is known.
    """
    count = len(operands) // 2
    arrays, inits = operands[:count], operands[count:]
    axes = tuple(operation.attributes["dimensions"])
    (body,) = operation.regions
    names = reducers(body)
    if names is not None:
        return [
            _reduced(graph, name, array, init, axes)
            for name, array, init in zip(names, arrays, inits, strict=True)
        ]
    name = chooser(body)
    if name is None:
        raise _refused(
            f"{operation.named}: its body is no known one: one of add, multiply, maximum, minimum, "
            "and, or and xor for each result, or JAX's argmax or argmin"
        )
    if len(axes) != 1 or positions(graph, arrays[1]) != axes[0]:
        raise _refused(f"{operation.named}: the indices that it chooses from are no iota")
    row = "reduce_max" if name == "argmax" else "reduce_min"
    if _constant(graph, inits[1]) != 0 or not _is_identity(graph, row, inits[0]):
        raise _refused(f"{operation.named}: it begins with a value of its own, not with the least")
    index = graph.shape(arrays[1]).element_type.name
    return [
        graph.apply(row, arrays[0], axes=axes),
        graph.apply(name, arrays[0], axis=axes[0], index_dtype=index),
    ]


def _refused(text: str) -> Error:
    return Error(f"{text}", rule="H9", kind="gpubcast:stablehlo reduction")


def _reduced(graph: Graph, name: str, array: int, init: int, axes: tuple[int, ...]) -> int:
    row, operation = REDUCTIONS[name]
    result = graph.apply(row, array, axes=axes)
    if _is_identity(graph, row, init):
        return result
    dimensions = graph.shape(result).dimensions
    first = graph.place(init, (), dimensions) if dimensions else init
    return graph.apply(operation, first, result)


def _constant(graph: Graph, node: int) -> complex | None:
    """A scalar that is part of the code."""
    found = graph.nodes[node]
    if not isinstance(found, Constant):
        return None
    of = graph.shape(node).element_type
    raw = int(found.bits).to_bytes(of.itemsize, "little")
    value = np.frombuffer(raw, of.dtype)[0]
    if of.is_complex:
        return complex(value)
    return float(value) if of.is_floating else int(value)


def _is_identity(graph: Graph, row: str, init: int) -> bool:
    """Whether combining a value with a scalar leaves it as it is."""
    of, value = graph.shape(init).element_type, _constant(graph, init)
    if value is None:
        return False
    if row in ("reduce_sum", "reduce_or", "reduce_xor"):
        return value == 0
    if row == "reduce_prod":
        return value == 1
    if row == "reduce_and":
        return value in ((1,) if of.name == "pred" else (-1, (1 << of.bits) - 1))
    return value == _extreme(of, lowest=row == "reduce_max")


def _extreme(of: ElementType, *, lowest: bool) -> float:
    """The least value of a type, or the largest."""
    if of.is_floating:
        return float("-inf" if lowest else "inf")
    if of.name == "pred":
        return 0 if lowest else 1
    signed = of.name.startswith("s")
    if lowest:
        return -(1 << of.bits - 1) if signed else 0
    return (1 << of.bits - signed) - 1


def positions(graph: Graph, node: int) -> int | None:
    """The dimension whose positions a node holds; None where it holds something else."""
    found = graph.nodes[node]
    if isinstance(found, Apply) and ops.OPS[found.op].rule is rules.IOTA:
        dimension = dict(found.attributes)["dimension"]
        assert isinstance(dimension, int)
        return dimension
    if isinstance(found, Place) or (
        isinstance(found, Apply) and ops.OPS[found.op].rule is rules.BROADCAST_IN_DIM
    ):
        arg = found.arg if isinstance(found, Place) else found.args[0]
        inner = positions(graph, arg)
        (place,) = graph.inferred[node].maps
        to = None if inner is None else place[inner]
        whole = to is not None and inner is not None
        if whole and graph.shape(arg).dimensions[inner] == graph.shape(node).dimensions[to]:  # type: ignore[index]
            return to
    return None
