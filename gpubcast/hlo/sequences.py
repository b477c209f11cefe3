"""The law of sums: in which order the elements of a reduction are combined.

It speaks of logical indices along the reduced axes alone, so that a result does not depend on the
device, threads, tiles, strides, alignment, or on what else is computed beside it.

1. The reduced axes, in the operand's order, are cut into *sequences*: the shortest run of last axes
   with at least ``CHUNK`` elements is one (all of them, where they have fewer), then the axes
   before it likewise. The elements of a sequence are numbered row-major. A sequence is reduced, and
   its results are the elements of the sequence before it.
2. A sequence is cut into *chunks* of ``CHUNK`` elements; the last may be shorter. The results of
   its chunks are a sequence again, until there is one.
3. Element e of a chunk goes to *lane* e mod ``LANES``; a lane combines its elements in their order.
   Then lane l is combined with lane l + 64, where there is one, then lane l with lane l + 32, and
   so on to lane 0 with lane 1.
4. A sum begins at +0.0, which is added to the result of each sequence.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.shapes.element_types import ElementType

LANES = 128
PER_LANE = 4
CHUNK = PER_LANE * LANES


def has_lanes(element_type: ElementType) -> bool:
    """Whether lanes of a type are numbers as they lie in memory, so that vectors of them can be
    combined."""
    return not element_type.is_complex and element_type.bits != 4


def sequences(sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The reduced axes as sequences, the innermost first; by their numbers among the axes."""
    found: list[tuple[int, ...]] = []
    run: list[int] = []
    elements = 1
    for axis in reversed(range(len(sizes))):
        run.insert(0, axis)
        elements *= sizes[axis]
        if elements >= CHUNK:
            found.append(tuple(run))
            run, elements = [], 1
    if run or not found:
        found.append(tuple(run))
    return tuple(found)


def num_chunks(elements: int) -> int:
    """Of how many chunks a sequence consists."""
    return -(-elements // CHUNK)
