"""Stores of a run of results past the caches, element by element.

They are vectors where whole lines of memory are written. Memory takes a line at a time: what lies
before and behind them goes through the caches, or waits for the run that has the rest of its line.
That comes first: it would wait for the others, and loads that seem to read it (processors compare
the lowest 12 bits) would wait for it.
What is needed next may be asked for meanwhile: memory that is read and written by turns moves more
than one that is read, then written.
"""

from __future__ import annotations

from collections.abc import Callable

from gpubcast.codegen.cpu.common_line import CommonLine
from gpubcast.codegen.cpu.parameter_table import INDENT
from gpubcast.schedules.cpu.cost import BY_STORES, VECTOR
from gpubcast.shapes.element_types import ElementType


def nontemporal_stores(
    element_type: ElementType,
    to: str,
    length: str,
    index: str,
    body: list[str],
    value: str,
    ahead: Callable[[str], list[str]] | None = None,
    later: str = "",
    common: CommonLine | None = None,
    apart: str = "",
) -> list[str]:
    """The loops over ``length`` elements from the address ``to`` on: ``body`` computes ``value`` of
    the element whose number ``index`` names. ``ahead`` is what is asked for before ``BY_STORES``
    elements from one on are stored, or the fewer that are left. ``later`` is how many elements,
    from the first whole line on, are not stored here: an expression of ``whole``, how many lie in
    whole lines. ``common`` is the line that the run has in common with the one before, and
    ``apart`` the condition under which that one lies elsewhere."""
    name, size = element_type.name, element_type.itemsize
    lines = [*body, f"line_{name}(line, {index} - head, {value})"]
    edges = [
        f"for first, stop in ((0, head), (head + whole, {length})):",
        f"{INDENT}for {index} in range(first, stop):",
        *(2 * INDENT + line for line in [*body, f"write_{name}(to, {index}, {value})"]),
    ]
    if common:
        shared = common.edges(length, index, body, value)
        edges = [
            *(f"if {apart}:", *(INDENT + line for line in edges)),
            *("else:", *(INDENT + line for line in shared)),
        ]
    loops = [f"for {index} in range(head, head + whole):", *(INDENT + line for line in lines)]
    # Counted from the first whole line on, so that LLVM sees that these stores are aligned.
    placed = [
        *("place = begin + l", f"{index} = head + place", *body),
        *(f"line_{name}(line, place, {value})", "rolled()"),
    ]

    def by_lines(first: str) -> list[str]:
        """Line by line: what vectors leave over at the end of a loop goes through the caches. LLVM
        makes no vectors of so few complex elements."""
        if element_type.is_complex:
            return [
                f"for {index} in range(head + {first}, head + whole):",
                *map(INDENT.__add__, lines),
            ]
        return [
            f"for begin in range({first}, whole, {VECTOR // size}):",
            f"{INDENT}for l in range({VECTOR // size}):",
            *(2 * INDENT + line for line in placed),
        ]

    if later:
        loops = [f"later = {later}", *by_lines("later")]
    elif ahead:
        loops = [
            f"turns = whole & {-BY_STORES}",
            f"for begin in range(0, turns, {BY_STORES}):",
            *(INDENT + line for line in ahead("head + begin")),
            f"{INDENT}for l in range({BY_STORES}):",
            *(2 * INDENT + line for line in placed),
            f"if head + turns < {length}:",
            *(INDENT + line for line in ahead("head + turns")),
            *by_lines("turns"),
        ]
    return [
        f"to = {to}",
        f"head = min((-to & {VECTOR - 1}) // {size}, {length})",
        f"whole = ({length} - head) & {-VECTOR // size}",
        f"line = (to + {size} * head) & {-VECTOR}",
        *edges,
        *loops,
    ]
