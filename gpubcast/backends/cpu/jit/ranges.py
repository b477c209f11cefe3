"""Loops over ranges of 64-bit integers, and the least and the largest of two, in few instructions.

numba has them in Python, or by way of memory, which is most of what LLVM would be given for a
kernel of few operations.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic

_WORD = ir.IntType(64)


def _extreme(order: str) -> Intrinsic:
    """The first or the last of two integers, which numba would find by a loop over a tuple."""

    def definition(context: Any, x: Any, y: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            compare = builder.icmp_signed if x.signed else builder.icmp_unsigned
            return builder.select(compare(order, *args), *args)

        return (x(x, y), emit) if x == y and isinstance(x, types.Integer) else None

    return Intrinsic(definition)


def range_of(builder: Any, bounds: list[Any]) -> Any:
    """numba's range of 64-bit integers, as one value; a step is above 0."""
    start, stop = (_WORD(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    return _packed(builder, [start, stop, bounds[2] if len(bounds) == 3 else _WORD(1)])


def _packed(builder: Any, values: list[Any]) -> Any:
    """A structure of values."""
    found = ir.Constant(ir.LiteralStructType([v.type for v in values]), ir.Undefined)
    for position, value in enumerate(values):
        found = builder.insert_value(found, value, position)
    return found


def extracted(builder: Any, structure: Any, position: int) -> Any:
    """A value of a structure."""
    at = structure
    while isinstance(at, ir.instructions.InsertValue):
        if list(at.indices) == [position]:
            return at.value
        at = at.aggregate
    return builder.extract_value(structure, position)


def begun(builder: Any, given: Any) -> Any:
    """numba's iterator over a range: where the next value and the number of values are, the end and
    the step. numba's own code does the same by way of memory, which takes longer to compile."""
    start, stop, step = (extracted(builder, given, k) for k in range(3))
    with builder.goto_entry_block():
        value, left = builder.alloca(_WORD), builder.alloca(_WORD)
    builder.store(start, value)
    distance = builder.sub(stop, start)
    if isinstance(step, ir.Constant) and step.constant == 1:
        # LLVM makes simpler loops of a count that is never negative.
        some = builder.icmp_signed(">", distance, _WORD(0))
        builder.store(builder.select(some, distance, _WORD(0)), left)
    else:
        builder.store(_WORD(0), left)
        with builder.if_then(builder.icmp_signed(">", distance, _WORD(0))):
            rest = builder.icmp_signed(">", builder.srem(distance, step), _WORD(0))
            count = builder.add(builder.sdiv(distance, step), builder.zext(rest, _WORD))
            builder.store(count, left)
    return _packed(builder, [value, stop, step, left])


def turned(builder: Any, loop: Any) -> Any:
    """The next value of an iterator over a range, and whether there is one."""
    value, _, step, left = (extracted(builder, loop, k) for k in range(4))
    count, found = builder.load(left), builder.load(value)
    valid = builder.icmp_signed(">", count, _WORD(0))
    # Not on the way out: LLVM would count further than the loop goes, in one more register.
    with builder.if_then(valid):
        builder.store(builder.sub(count, _WORD(1), flags=["nsw"]), left)
        builder.store(builder.add(found, step), value)
    return _packed(builder, [found, valid])


EXTREMES = {min: _extreme("<"), max: _extreme(">")}
