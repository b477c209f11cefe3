"""A call's signature and its look-up, in machine code: the twin of ``signature``.

Compiled by numba, as part of ``replay``.
"""

from __future__ import annotations

from gpubcast.backends.cpu.intrinsics.c_memory import put, s32, word
from gpubcast.backends.native_calls import object_layout
from gpubcast.backends.native_calls import record_layout as w
from gpubcast.schedules.cuda.vectors import ALIGNED


def of(at: int, place: int) -> int:
    """One of some words."""
    return word(at + 8 * place)


def memory_of(control: int, x: int) -> int:
    """The NumPy or CuPy array that holds an array's first element; 0 for what is no such array."""
    if word(x + object_layout.TYPE) == of(control, w.DEVICE_ARRAY_TYPE):
        memory = word(x + of(control, w.AT_BUFFER))
        if memory == of(control, w.NONE):
            memory = word(x + of(control, w.AT_STRIDED))
        if memory == 0:
            return 0
        x = memory
    cls = word(x + object_layout.TYPE)
    return x if cls == of(control, w.ARRAY_TYPE) or cls == of(control, w.GPU_TYPE) else 0


def address_of(control: int, memory: int) -> int:
    """The address of the first element of a NumPy or CuPy array."""
    if word(memory + object_layout.TYPE) == of(control, w.ARRAY_TYPE):
        return word(memory + object_layout.DATA)
    return word(word(memory + object_layout.GPU_POINTER) + object_layout.GPU_ADDRESS)


def _vectors_signed(rank: int, dimensions: int, strides: int, at: int) -> int:
    """Rank, dimensions and strides; where the next word goes."""
    put(at, rank)
    for d in range(rank):
        put(at + 8 * (d + 1), word(dimensions + 8 * d))
        put(at + 8 * (d + 1 + rank), word(strides + 8 * d))
    return at + 8 * (2 * rank + 1)


def _gpu_array_signed(x: int, words: int, count: int) -> int:
    """A CuPy array's part behind its type; the new number of words."""
    dimensions, strides = (
        word(x + object_layout.GPU_DIMENSIONS),
        word(x + object_layout.GPU_STRIDES),
    )
    rank = (word(x + object_layout.GPU_END) - dimensions) >> 3
    if count + 2 * rank + 4 > w.MOST_WORDS:
        return w.MOST_WORDS
    put(words + 8 * count, word(x + object_layout.GPU_DESCRIPTOR))
    at = _vectors_signed(rank, dimensions, strides, words + 8 * count + 8)
    pointer = word(x + object_layout.GPU_POINTER)
    put(at, s32(pointer + object_layout.GPU_DEVICE))
    put(at + 8, word(pointer + object_layout.GPU_ADDRESS) & (ALIGNED - 1))
    return count + 2 * rank + 4


def write_signature(control: int, args: int, num_args: int, words: int, values: int) -> int:
    """Writes the call's signature, and of each argument its address and the object that has it; of
    a scalar, the address of its value and the scalar.

    Returns:
        The number of words; 0 where there are too many.
    """
    operands, out = word(args + 8), word(args + 16)
    arity, several = (
        word(operands + object_layout.LENGTH),
        word(out + object_layout.TYPE) == of(control, w.TUPLE_TYPE),
    )
    outs = 0 if out == of(control, w.NONE) else 1
    if several:
        outs = word(out + object_layout.LENGTH)
    if arity + outs > w.MOST_ARGUMENTS:
        return 0
    put(words, word(args))
    put(words + 8, arity)
    put(words + 16, word(out + object_layout.TYPE))
    count = 3
    for i in range(arity + outs):
        if i < arity:
            x = word(operands + object_layout.ITEMS + 8 * i)
        elif several:
            x = word(out + object_layout.ITEMS + 8 * (i - arity))
        else:
            x = out
        if count > w.MOST_WORDS - w.LONGEST:
            return 0
        cls = word(x + object_layout.TYPE)
        put(words + 8 * count, cls)
        count += 1
        value, memory = values + 8 * w.VALUE_WORDS * i, memory_of(control, x)
        if memory == 0:
            put(value, x + object_layout.VALUE)
            put(value + 16, x)
            continue
        put(value, address_of(control, memory))
        put(value + 16, memory)
        at = words + 8 * count
        if cls == of(control, w.ARRAY_TYPE):
            rank = s32(x + object_layout.RANK)
            put(at, word(x + object_layout.DESCRIPTOR))
            dimensions = word(x + object_layout.DIMENSIONS)
            _vectors_signed(rank, dimensions, word(x + object_layout.STRIDES), at + 8)
            count += 2 * rank + 2
        elif cls == of(control, w.GPU_TYPE):
            count = _gpu_array_signed(x, words, count)
        else:
            put(at, word(x + of(control, w.AT_OPERAND)))
            put(at + 8, word(x + of(control, w.AT_DEVICE)))
            put(at + 16, word(value) & (ALIGNED - 1))
            count += 3
    for i in range(3, num_args):
        x = word(args + 8 * i)
        if word(x + object_layout.TYPE) != of(control, w.TUPLE_TYPE):
            if count >= w.MOST_WORDS:
                return 0
            put(words + 8 * count, x)
            count += 1
            continue
        length = word(x + object_layout.LENGTH)
        if count + length + 2 > w.MOST_WORDS:
            return 0
        put(words + 8 * count, word(x + object_layout.TYPE))
        put(words + 8 * count + 8, length)
        for k in range(length):
            put(words + 8 * (count + 2 + k), word(x + object_layout.ITEMS + 8 * k))
        count += length + 2
    return count


def looked_up(control: int, words: int, count: int) -> int:
    """The record with a signature, or 0; see ``signature.mixed``."""
    mixed = 0
    for k in range(count):
        mixed = mixed * w.MULTIPLIER + word(words + 8 * k)
    mixed ^= (mixed >> 32) & 0xFFFFFFFF
    table, mask = of(control, w.TABLE), of(control, w.MASK)
    for probe in range(w.PROBES):
        record = word(table + 8 * ((mixed + probe) & mask))
        if record == 0:
            return 0
        if of(record, w.HASH) != mixed or of(record, w.COUNT) != count:
            continue
        other, difference = record + 8 * w.SIGNATURE, 0
        for k in range(count):
            difference |= word(words + 8 * k) ^ word(other + 8 * k)
        if difference == 0:
            return record
    return 0
