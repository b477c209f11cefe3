"""The lanes of a reduction, combined by halves as vectors; and the extremes of floats.

``lanes_<operation>_<type>(address)`` combines the elements at an address, one per lane of the law
of sums, and returns what they come to. Types that are not combined as they lie in memory (complex
numbers, integers of 4 bits) have none: generated code then has loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.intrinsics.memory import NUMBA_TYPES, from_memory, memory_type
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.hlo.sequences import LANES
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType


def greatest(builder: Any, first: Any, second: Any) -> Any:
    """The greater of two floats, or of each pair of two vectors: NaN where one is, and +0.0 above
    -0.0."""
    return _extreme(builder, first, second, ">", builder.and_)


def least(builder: Any, first: Any, second: Any) -> Any:
    """The lesser, -0.0 below +0.0."""
    return _extreme(builder, first, second, "<", builder.or_)


def _extreme(
    builder: Any, first: Any, second: Any, predicate: str, both: Callable[[Any, Any], Any]
) -> Any:
    scalar = getattr(first.type, "element", first.type)
    word: Any = ir.IntType(64 if isinstance(scalar, ir.DoubleType) else 32)
    if scalar is not first.type:
        word = ir.VectorType(word, first.type.count)
    # Equal numbers that differ are zeros, of which one has no sign.
    zero = both(builder.bitcast(first, word), builder.bitcast(second, word))
    wins = builder.fcmp_unordered(predicate, first, second)
    found = builder.select(wins, first, second)
    same = builder.fcmp_ordered("==", first, second)
    found = builder.select(same, builder.bitcast(zero, first.type), found)
    return builder.select(builder.fcmp_unordered("uno", second, second), second, found)


def _by_order(predicate: str) -> Callable[..., Any]:
    def chosen(builder: Any, element_type: ElementType, first: Any, second: Any) -> Any:
        if element_type.is_floating:
            return (greatest if predicate == ">" else least)(builder, first, second)
        signed = element_type.category is Category.SIGNED
        compare = builder.icmp_signed if signed else builder.icmp_unsigned
        return builder.select(compare(predicate, first, second), first, second)

    return chosen


def _by(floating: str, integral: str, pred: str) -> Callable[..., Any]:
    def combined(builder: Any, element_type: ElementType, first: Any, second: Any) -> Any:
        name = floating if element_type.is_floating else integral
        if element_type.category is Category.PRED:
            name = pred
        return getattr(builder, name)(first, second)

    return combined


_COMBINATIONS = {
    "reduce_sum": _by("fadd", "add", "or_"),
    "reduce_prod": _by("fmul", "mul", "and_"),
    "reduce_max": _by_order(">"),
    "reduce_min": _by_order("<"),
    "reduce_and": _by("", "and_", "and_"),
    "reduce_or": _by("", "or_", "or_"),
    "reduce_xor": _by("", "xor", "xor"),
}


def has_lanes(element_type: ElementType) -> bool:
    """Whether a type's lanes are combined as vectors."""
    return not element_type.is_complex and element_type.bits != 4


def _lanes(operation: str, element_type: ElementType) -> Any:
    memory = memory_type(element_type)

    def lanes(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at = builder.inttoptr(args[0], ir.PointerType())
            found = builder.load(at, typ=ir.VectorType(memory, LANES), align=element_type.itemsize)
            count = LANES
            while count > 1:
                count //= 2
                halves = [
                    builder.shuffle_vector(
                        found,
                        ir.Constant(found.type, ir.Undefined),
                        ir.Constant(
                            ir.VectorType(ir.IntType(32), count),
                            [first + i for i in range(count)],
                        ),
                    )
                    for first in (0, count)
                ]
                found = _COMBINATIONS[operation](builder, element_type, *halves)
            one = builder.extract_element(found, ir.IntType(32)(0))
            return from_memory(builder, element_type, one)

        return NUMBA_TYPES[element_type.compute](types.int64), codegen

    return Intrinsic(lanes)


def functions() -> dict[str, Any]:
    """The intrinsics under the names generated code uses."""
    return {
        f"lanes_{operation}_{row.name}": _lanes(operation, row)
        for row in ELEMENT_TYPES.values()
        for operation in _COMBINATIONS
        if has_lanes(row) and not (row.is_floating and row.rounds)
    }
