"""The line of memory in which the results of one row end and those of the next one begin.

Results go past the caches a line at a time. What a row has of a line waits in memory of the
kernel's own for the rest, which the next row has. If both wrote their parts through the caches, the
line would be read first, and changed twice: a layernorm whose rows begin 16 bytes behind a line, as
those of NumPy's large arrays do, took 1.1 (4,096 columns) to 2 times as long (704 columns, Zen 5).
"""

from __future__ import annotations

from gpubcast.codegen.cpu.parameter_table import INDENT
from gpubcast.schedules.cpu.cost import VECTOR
from gpubcast.shapes.element_types import ElementType


class CommonLine:
    """Names: ``held`` is how many elements wait, all from the beginning of a line on, ``side``
    where they are in ``common``, which has room for two lines, and ``end`` the address behind the
    row that they are of; ``ready`` is the address of the line whose elements are all there, on the
    other side, or 0. A row's results begin at the address ``to``, ``skew`` elements behind the
    beginning of a line; ``head`` of them lie before its first whole line, ``whole`` in such lines.
    """

    def __init__(self, element_type: ElementType) -> None:
        self._name, self._size = element_type.name, element_type.itemsize
        self._elements = VECTOR // self._size

    def prologue(self) -> list[str]:
        """Nothing waits before the first row."""
        zeros = [f"{name} = 0" for name in ("held", "side", "end", "ready")]
        return [f"common = lanes_{self._name}()", *zeros]

    def edges(self, length: str, index: str, body: list[str], value: str) -> list[str]:
        """What of a row is not in whole lines. The parameters are those of ``nontemporal_stores``.

        A line that is ready is stored when the next row is: a vector of elements that have just
        been stored one by one is read when they are in the cache, behind all stores before them.
        """
        other = f"{self._elements} - side"
        before, behind = "(0, head, side + skew)", f"(tail, {length}, {other} - tail)"
        return [
            "if end != to:",
            *(INDENT + line for line in self.rest()),
            *self._store_ready(),
            f"skew = (to & {VECTOR - 1}) // {self._size}",
            "tail = head + whole",
            f"for first, stop, shift in ({before}, {behind}):",
            f"{INDENT}for {index} in range(first, stop):",
            *(2 * INDENT + line for line in body),
            f"{2 * INDENT}store_{self._name}(common, {index} + shift, {value})",
            "if held == skew:",
            f"{INDENT}held += head",
            f"{INDENT}if held == {self._elements}:",
            f"{2 * INDENT}ready, held = to - {self._size} * skew, 0",
            "else:",
            f"{INDENT}for l in range(head):",
            f"{2 * INDENT}write_{self._name}(to, l, load_{self._name}(common, side + skew + l))",
            f"if tail < {length}:",
            f"{INDENT}held = {length} - tail",
            f"if (ready != 0) | (tail < {length}):",
            f"{INDENT}side = {other}",
            f"end = to + {self._size} * {length}",
        ]

    def rest(self) -> list[str]:
        """Writes what waits, where no row follows that has the rest of the line."""
        return [
            *self._store_ready(),
            f"begin = end - {self._size} * held",
            "for l in range(held):",
            f"{INDENT}write_{self._name}(begin, l, load_{self._name}(common, side + l))",
            "held = 0",
        ]

    def _store_ready(self) -> list[str]:
        """Stores the line that is ready."""
        at = f"common + {self._size} * ({self._elements} - side)"
        return ["if ready != 0:", f"{INDENT}stream_line(ready, {at})", f"{INDENT}ready = 0"]
