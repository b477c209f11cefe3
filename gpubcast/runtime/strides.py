"""Operands in a flat buffer as NumPy and CuPy see them: strides in bytes."""

from __future__ import annotations

import functools
from typing import Any

from gpubcast.errors import ShapeError, shortened
from gpubcast.planning.plan import Operand
from gpubcast.runtime import state
from gpubcast.runtime.device import Device
from gpubcast.shapes.shape import Shape


def strided_over(operand: Operand, buffer: Any, device: Device) -> Any:
    """The NumPy or CuPy array of the elements that an operand has in a flat buffer.

    Raises:
        ShapeError: NumPy or CuPy has no such arrays.
    """
    shape = operand.shape
    try:
        return state.backend(device[0]).view(
            buffer, 0, shape.element_type.dtype, shape.dimensions, byte_strides(operand)
        )
    except ValueError as error:
        raise no_such_array(shape, error) from None


def no_such_array(shape: Shape, error: ValueError) -> ShapeError:
    """The refusal of a shape that no NumPy or CuPy array can have."""
    return ShapeError(
        f"no NumPy or CuPy array can have the shape {shortened(str(shape))}: {error}",
        rule="A9",
        kind="gpubcast:view",
        operands=(shape,),
    )


@functools.lru_cache(4096)
def byte_strides(operand: Operand) -> tuple[int, ...]:
    """The strides of an operand as NumPy counts them."""
    size = operand.shape.element_type.itemsize
    return tuple([stride * size for stride in operand.strides])
