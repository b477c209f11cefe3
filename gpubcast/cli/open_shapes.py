"""Shapes with sizes left open, ``f32[?,?]``: plans of every choice that a kernel depends on.

No size is in a kernel's code, but sizes decide which kernel it is: whether rows are short, whether
an operand is transposed in tiles, whether results are written past the caches.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence

from gpubcast.errors import Error
from gpubcast.plans import Plan
from gpubcast.schedules.cpu.cost import STRETCH
from gpubcast.shapes.shape import Shape

Make = Callable[..., Plan]
OPEN = "?"
# Below, at and above what schedules tell apart: the shortest rows and crossed axes, short rows
# that have the bytes to be transposed (by type from 4, 8 or 16 elements on), the shortest run that
# is streamed, the longest stretch.
_SIZES = (3, 4, 8, 16, 24, 300, STRETCH + 904)
# Sizes that tell axes apart; no more open ones than these.
_TELLING = (11, 13, 17, 19, 23, 29)
_MOST_TRIALS = 4096


def plans(make: Make, texts: Sequence[str], streaming_bytes: int) -> Iterator[Plan]:
    """Plans of operands in some sizes of each sort.

    Args:
        make: plans operands, of texts of shapes and of numbers.
        texts: of the operands; a size may be ``?``, and a number stands for a Python scalar.
        streaming_bytes: from how many bytes on kernels write past the caches.

    Raises:
        Error: no sizes fit together, or the operands are refused.
    """
    if not any(OPEN in text for text in texts):
        yield make(*map(_operand, texts))
        return
    axes = _axes(make, texts)
    for sizes in itertools.product(_SIZES, repeat=max(axes) + 1):
        plan = make(*_filled(texts, [sizes[axis] for axis in axes]))
        yield plan
        moved = max(sum(shape.byte_size for shape in plan.output_shapes), 1)
        if moved < streaming_bytes:
            grown = (sizes[0] * math.ceil(2 * streaming_bytes / moved), *sizes[1:])
            yield make(*_filled(texts, [grown[axis] for axis in axes]))


def _axes(make: Make, texts: Sequence[str]) -> list[int]:
    """Which open sizes are one: for each the axis of the operand that has most of them."""
    counts = [text.count(OPEN) for text in texts]
    most = max(counts)
    if most > len(_TELLING):
        raise Error(f"at most {len(_TELLING)} sizes of an operand may be open, got {most}")
    main = counts.index(most)
    others = sum(counts) - most
    before = sum(counts[:main])
    refused: Error | None = None
    for found in itertools.islice(itertools.product(range(most), repeat=others), _MOST_TRIALS):
        axes = [*found[:before], *range(most), *found[before:]]
        try:
            make(*_filled(texts, [_TELLING[axis] for axis in axes]))
        except Error as error:
            refused = error
        else:
            return axes
    raise Error(f"no sizes for {OPEN} fit together; of the last ones tried: {refused}")


def _filled(texts: Sequence[str], sizes: Sequence[int]) -> list[object]:
    left = iter(sizes)
    return [_operand(re.sub(r"\?", lambda _: str(next(left)), text)) for text in texts]


def _operand(text: str) -> object:
    """A shape, or a number."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return Shape.parse(text)
