"""Whether numbers of valid elements are such numbers, where that can be seen."""

from __future__ import annotations

import numpy as np

from gpubcast.errors import ShapeError
from gpubcast.hlo.expression import Expression
from gpubcast.runtime.device import Device
from gpubcast.runtime.overlap import host_elements
from gpubcast.runtime.view import View
from gpubcast.shapes.scalar_bits import integer_of


def check_lengths(graph: Expression, views: tuple[View, ...], device: Device) -> None:
    """Refuse lengths below 0 or above the size of their label, on the CPU.

    On a GPU they are not looked at, as that would wait for it: its kernels take the nearer of the
    two, 0 or the size.

    Raises:
        ShapeError: X9, with the first length that is wrong.
    """
    if device[0] != "cpu":
        return
    for number, owner, dimension in graph.lengths:
        view, size = views[number], views[owner].operand.shape.dimensions[dimension]
        element_type = view.operand.shape.element_type
        if view.operand.by_value:
            lengths = np.array(integer_of(view.slot, element_type), object)
        else:
            lengths = host_elements(view)
        wrong = np.asarray((lengths < 0) | (lengths > size))
        if wrong.any():
            where = tuple(int(index) for index in np.argwhere(wrong)[0])
            entry = f"[{', '.join(map(str, where))}]" if where else ""
            raise ShapeError(
                f"{graph.names.operand(number)}{entry} is {int(lengths[where])}, and a number of "
                f"valid elements is from 0 to {size} [X9]",
                rule="X9",
                kind="gpubcast:valid elements",
                operands=(view.operand.shape, views[owner].operand.shape),
            )
