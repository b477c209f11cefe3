"""What a value of a function is while its sizes are known: a node of the graph, numbers, or both.

Shapes that a module computes (``get_dimension_size``, arithmetic, ``concatenate``) are integers,
which are followed as numbers. Such a number is no part of a kernel: where a kernel needs it, it is
an operand. So a kernel serves every size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.hlo import ops
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.stablehlo.module import Operation

Numbers = np.ndarray[Any, Any]

MOST = 64
"""Integers that are followed as numbers: more of them are no shape."""


class Value:
    """A value of a function.

    Attributes:
        sized: whether its numbers follow from sizes of the call.
    """

    def __init__(
        self,
        node: Callable[[], int],
        numbers: Callable[[], Numbers] | None = None,
        *,
        sized: bool = False,
    ) -> None:
        self._make = node
        self._node: int | None = None
        self._numbers = numbers
        self.sized = sized

    @property
    def node(self) -> int:
        """The node of the graph, made when it is first needed."""
        if self._node is None:
            self._node = self._make()
        return self._node

    @property
    def is_made(self) -> bool:
        """Whether the graph has a node for it."""
        return self._node is not None

    @property
    def numbers(self) -> Numbers | None:
        """Its numbers, where they are known."""
        return None if self._numbers is None else self._numbers()


def computed(node: int) -> Value:
    """The value of a node."""
    value = Value(lambda: node)
    assert value.node == node  # it is made
    return value


def followed(
    operation: Operation, row: str | None, operands: list[Numbers], dimensions: tuple[int, ...]
) -> Callable[[Any], Numbers] | None:
    """How the numbers of an operation's result follow from those of its operands.

    Args:
        operation: the operation.
        row: what gpubcast calls it.
        operands: their numbers.
        dimensions: the result's; empty where they are not stated.

    Returns:
        A function of the result's element type; None for an operation that no shape needs.
    """
    name, given = operation.name, operation.attributes
    if name == "stablehlo.concatenate":
        axis = given["dimension"]
        return lambda _: np.concatenate(operands, axis)
    if name == "stablehlo.slice":
        cut = tuple(
            slice(*three)
            for three in zip(
                given["start_indices"], given["limit_indices"], given["strides"], strict=True
            )
        )
        return lambda _: operands[0][cut]
    if name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim") and operands[0].size == 1:
        return lambda _: np.full(dimensions, operands[0].reshape(-1)[0])
    if name == "stablehlo.reshape":
        return lambda _: operands[0].reshape(dimensions)
    if name == "stablehlo.convert":
        return lambda of: operands[0].astype(of.dtype)
    if row is None:
        return None
    if row == "compare":
        row = str(given["comparison_direction"]).lower()
    return lambda of: _elementwise(row, operands, of)


def _elementwise(row: str, operands: list[Numbers], of: ElementType) -> Numbers:
    """An operation by the reference of its row, element by element."""
    every = np.broadcast_arrays(*operands)
    made = np.empty(every[0].shape, of.dtype)
    reference, source = ops.OPS[row].reference, element_type(every[-1].dtype)
    assert reference is not None
    for index in np.ndindex(made.shape):
        scalars = [x[index].item() for x in every]
        made[index] = np.asarray(reference(source, *scalars)).astype(of.dtype)
    return made
