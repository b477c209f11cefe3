"""New results of a launch: the one definition of how they are made."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpubcast.backends.array_types import DeviceArray, byte_span
from gpubcast.backends.cpu.result_pool import LEAST
from gpubcast.backends.native_calls.record import FlatResult, NewResult, StridedResult
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.strides import byte_strides, no_such_array

# Results of so many bytes come from the backend, which keeps what they leave behind.
LARGE_RESULT = LEAST


def flat_buffers(launch: Launch) -> list[Any]:
    """The memory of new results alone."""
    return [launch.backend.allocate(size) for size in launch.sizes]


def new_results(array_type: type[DeviceArray] | None, launch: Launch) -> list[Any]:
    """New results: arrays of ``array_type``; for None, NumPy's or CuPy's, by the device.

    Raises:
        ShapeError: NumPy or CuPy has no such arrays.
        DeviceError: there is no memory.
    """
    made = []
    for number, new in enumerate(results_of(launch, array_type)):
        try:
            made.append(new.make())
        except ValueError as error:
            raise no_such_array(launch.outputs[number].shape, error) from None
    return made


def results_of(launch: Launch, array_type: type[DeviceArray] | None) -> tuple[NewResult, ...]:
    """How the results of a launch are made."""
    found = launch.results.get(array_type)
    if found is None:
        one = _strided if array_type is None else functools.partial(_flat, array_type)
        found = tuple([one(launch, number) for number in range(len(launch.sizes))])
        launch.results[array_type] = found
    return found


def _strided(launch: Launch, number: int) -> NewResult:
    """How a NumPy or CuPy array is made."""
    operand, size = launch.outputs[number], launch.sizes[number]
    dtype, dimensions = operand.shape.element_type.dtype, operand.shape.dimensions
    strides = byte_strides(operand)
    make = functools.partial(launch.backend.empty, size, dtype, dimensions, strides)
    if launch.device[0] != "cpu" or size >= LARGE_RESULT:
        return NewResult(make)
    try:
        plain = np.empty(dimensions, dtype)
    except ValueError as error:
        raise no_such_array(operand.shape, error) from None
    if not size:
        strides = plain.strides
    elif not plain.size or byte_span(dimensions, strides, dtype.itemsize) != (0, size):
        return NewResult(make)  # there are gaps, or padding without an element
    if strides == plain.strides:
        make = functools.partial(np.empty, dimensions, dtype)
    return NewResult(make, StridedResult(dtype, dimensions, strides))


def _flat(array_type: type[DeviceArray], launch: Launch, number: int) -> NewResult:
    """How an array over a flat buffer is made."""
    operand, size, device = launch.outputs[number], launch.sizes[number], launch.device

    def make() -> DeviceArray:
        return array_type(operand, launch.backend.allocate(size), None, device)

    if device[0] != "cpu" or size >= LARGE_RESULT:
        return NewResult(make)
    like = DeviceArray(operand, None, None, device)  # whose operand and device are the common ones
    return NewResult(make, FlatResult(array_type, like._operand, like._device, size))
