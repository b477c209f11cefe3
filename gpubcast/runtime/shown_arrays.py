"""What notebooks show of an array: its values as NumPy prints them, and its memory."""

from __future__ import annotations

from typing import Any

from gpubcast.pictures.shown import Shown, shown_memory


class ShownArray(Shown):
    """What arrays have of it."""

    __slots__ = ()

    def _shown(self: Any) -> dict[str, str]:
        shape, operand = self.xla_shape, self._operand
        owner = "a slice of another array" if self._buffer is None else f"{shape.byte_size:,} bytes"
        head = f"gpubcast.Array {shape} on {self.device}, {owner}"
        lies = shape.dimensions, operand.extents, operand.strides
        return shown_memory(repr(self), head, str(shape), *lies, body=str(self.numpy()))
