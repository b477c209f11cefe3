"""The lanes of a reduction, combined by halves as vectors; and floats as integers in their order.

``lanes_<operation>_<type>(address)`` combines the elements at an address, one per lane of the law
of sums, and returns what they come to. Extremes of floats are those of keys (``key_above``,
``key_below``), for which processors have instructions that know no NaN. Types that are not combined
as they lie in memory (complex numbers, integers of 4 bits) have none: there are loops instead.

``LANES_OF_<n>`` is how many lanes of n bytes are combined at a time, ``KEYS_OF_<n>`` how many where
some are keys, whose bytes count twice, and ``MASKS`` whether some of a vector's elements can be
left out, of every size, at no cost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from gpubcast.backends.cpu.intrinsics.memory import NUMBA_TYPES, from_memory, memory_type
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.llvm_passes import HALF, ROLLED
from gpubcast.backends.cpu.processor import (
    has_avx2,
    has_avx512,
    has_room_for_keys,
    vector_bytes,
    vector_registers,
)
from gpubcast.hlo.sequences import LANES, has_lanes
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType


def _key(nan_above: bool, *, back: bool) -> Any:
    """A float as an unsigned integer in the order of floats, -0.0 below +0.0, and NaN above all
    others or below; or such an integer as a float again."""

    def key(typing_context: Any, x: Any) -> Any:
        if x not in _KEYS.values() if back else x not in _KEYS:
            return None
        result = next(k for k, v in _KEYS.items() if v == x) if back else _KEYS[x]
        bits = x.bitwidth
        word = ir.IntType(bits)
        infinity = (0x7F800000 if bits == 32 else 0x7FF0000000000000) + 1
        # What is 0 afterwards: -infinity, or the NaN that follows +infinity.
        zero = word(-infinity if nan_above else infinity)

        def folded(builder: Any, value: Any) -> Any:
            sign = builder.ashr(value, word(bits - 1))
            return builder.xor(value, builder.and_(sign, word((1 << bits - 1) - 1)))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if back:
                found = folded(builder, builder.add(args[0], zero))
                return builder.bitcast(found, ir.FloatType() if bits == 32 else ir.DoubleType())
            return builder.sub(folded(builder, builder.bitcast(args[0], word)), zero)

        return result(x), codegen

    return Intrinsic(key)


_KEYS = {types.float32: types.uint32, types.float64: types.uint64}


def _by_order(predicate: str) -> Callable[..., Any]:
    def chosen(builder: Any, element_type: ElementType, first: Any, second: Any) -> Any:
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


@Intrinsic
def _rolled(typing_context: Any) -> Any:
    """Nothing; a mark in the body of a loop, see ``llvm_passes``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        typed = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, typed, ROLLED), [])
        return context.get_dummy_value()

    return types.void(), codegen


@Intrinsic
def _opaque(typing_context: Any, number: Any) -> Any:
    """The same number, of which LLVM knows nothing; and a loop in which it stands is not unrolled
    but where that leaves no rest."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        found = builder.asm(ir.FunctionType(word, [word]), "", "=r,0", args, False)
        for name in ("convergent", "readnone", "nounwind"):
            found.attributes.add(name)
        return found

    return types.int64(types.int64), codegen


def _lanes_at_once(size: int, share: int = 2) -> int:
    """How many lanes of so many bytes are kept in vector registers, of which they fill one of
    ``share``: a power of two, and a few where many reductions share a pass."""
    return min(max(vector_registers() * vector_bytes() // share // size, 8), LANES)


def _lanes(operation: str, element_type: ElementType) -> Any:
    memory = memory_type(element_type)

    def lanes(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at = builder.inttoptr(args[0], ir.PointerType())
            # Vectors as they were stored, so that LLVM finds them in registers.
            size = vector_bytes() // (2 if HALF in builder.function.attributes else 1)
            vector = ir.VectorType(memory, min(size // element_type.itemsize, LANES))
            vectors = [
                builder.load(
                    builder.gep(at, [ir.IntType(64)(first)], source_etype=memory),
                    typ=vector, align=element_type.itemsize,
                )
                for first in range(0, LANES, vector.count)
            ]  # fmt: skip
            combine = functools.partial(_COMBINATIONS[operation], builder, element_type)
            while len(vectors) > 1:
                half = len(vectors) // 2
                vectors = [*map(combine, vectors[:half], vectors[half:])]
            found, count = vectors[0], vector.count
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
                found = combine(*halves)
            one = builder.extract_element(found, ir.IntType(32)(0))
            return from_memory(builder, element_type, one)

        return NUMBA_TYPES[element_type.compute](types.int64), codegen

    return Intrinsic(lanes)


def functions() -> dict[str, Any]:
    """The intrinsics under the names generated code uses."""
    keys = {
        name: _key(above, back=back)
        for name, above, back in (
            ("key_above", True, False),
            ("key_below", False, False),
            ("of_key_above", True, True),
            ("of_key_below", False, True),
        )
    }
    spare = 2 if has_room_for_keys() else 1
    at_once = {f"LANES_OF_{1 << n}": _lanes_at_once(1 << n) for n in range(13)}
    # All of AVX2's 16 registers where they hold all lanes: elements are operands in memory then.
    full = 4 if has_avx2() and not has_avx512() else 0
    at_once |= {
        f"READS_OF_{1 << n}": _lanes_at_once(1 << n, 1 + (1 << n > full)) for n in range(13)
    }
    at_once |= {f"KEYS_OF_{1 << n}": _lanes_at_once((1 << n) // spare) for n in range(1, 13)}
    return (
        {"opaque": _opaque, "rolled": _rolled}
        | {"MASKS": has_avx512()}
        | at_once
        | keys
        | {
            f"lanes_{operation}_{row.name}": _lanes(operation, row)
            for row in ELEMENT_TYPES.values()
            for operation in _COMBINATIONS
            if has_lanes(row) and not (row.is_floating and row.rounds)
        }
    )
