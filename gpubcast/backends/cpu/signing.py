"""The signature of a call, in machine code: what like calls have in common, and its look-up.

It is the same that ``known.signature`` makes. Compiled by numba, as part of ``whole``.
"""

from __future__ import annotations

from gpubcast.backends.cpu import words as w
from gpubcast.backends.cpu.raw import compiled, number, put, word
from gpubcast.streams import ALIGNED


@compiled
def of(at: int, place: int) -> int:
    """One of some words."""
    return word(at + 8 * place)


@compiled
def _array_signed(x: int, words: int, count: int) -> int:
    """An array's part of the signature; the new number of words."""
    rank = number(x + w.RANK)
    put(words + 8 * count, word(x + w.DESCRIPTOR))
    put(words + 8 * count + 8, rank)
    count += 2
    dimensions, strides = word(x + w.DIMENSIONS), word(x + w.STRIDES)
    for d in range(rank):
        put(words + 8 * count, word(dimensions + 8 * d))
        put(words + 8 * count + 8, word(strides + 8 * d))
        count += 2
    return count


@compiled
def _gpu_array_signed(x: int, words: int, count: int) -> int:
    """The same of an array on a GPU, whose launches depend on how its address is aligned."""
    dimensions, strides = word(x + w.GPU_DIMENSIONS), word(x + w.GPU_STRIDES)
    rank = (word(x + w.GPU_END) - dimensions) >> 3
    at = words + 8 * count
    put(at, word(x + w.GPU_DESCRIPTOR))
    put(at + 8, rank)
    put(at + 16, number(word(x + w.GPU_POINTER) + w.GPU_DEVICE))
    put(at + 24, word(word(x + w.GPU_POINTER) + w.GPU_ADDRESS) & (ALIGNED - 1))
    if count + 2 * rank + 4 > w.MOST_WORDS:
        return w.MOST_WORDS
    for d in range(rank):
        put(at + 32 + 16 * d, word(dimensions + 8 * d))
        put(at + 40 + 16 * d, word(strides + 8 * d))
    return count + 2 * rank + 4


@compiled
def signed(control: int, args: int, num_args: int, words: int, places: int) -> int:
    """Writes the call's signature and where its views are.

    Returns:
        The number of words; 0 where there are too many.
    """
    operands, out = word(args + 8), word(args + 16)
    arity, several = word(operands + w.LENGTH), word(out + w.TYPE) == of(control, w.TUPLE_TYPE)
    outs = word(out + w.LENGTH) if several else 1
    if arity + outs > w.MOST_VIEWS:
        return 0
    put(words, word(args))
    put(words + 8, arity)
    put(words + 16, word(out + w.TYPE))
    count = 3
    for i in range(arity + outs):
        if i < arity:
            x = word(operands + w.ITEMS + 8 * i)
        elif several:
            x = word(out + w.ITEMS + 8 * (i - arity))
        else:
            x = out
        if count > w.MOST_WORDS - w.LONGEST:
            return 0
        kind = word(x + w.TYPE)
        put(words + 8 * count, kind)
        count += 1
        place = places + 8 * w.PLACE_WORDS * i
        put(place + 16, x)
        if kind == of(control, w.ARRAY_TYPE):
            put(place, word(x + w.DATA))
            count = _array_signed(x, words, count)
        elif kind == of(control, w.GPU_TYPE):
            put(place, word(word(x + w.GPU_POINTER) + w.GPU_ADDRESS))
            count = _gpu_array_signed(x, words, count)
        else:
            put(place, x + w.VALUE)
    for i in range(3, num_args):
        x = word(args + 8 * i)
        if word(x + w.TYPE) != of(control, w.TUPLE_TYPE):
            if count >= w.MOST_WORDS:
                return 0
            put(words + 8 * count, x)
            count += 1
            continue
        length = word(x + w.LENGTH)
        if count + length + 2 > w.MOST_WORDS:
            return 0
        put(words + 8 * count, word(x + w.TYPE))
        put(words + 8 * count + 8, length)
        for k in range(length):
            put(words + 8 * (count + 2 + k), word(x + w.ITEMS + 8 * k))
        count += length + 2
    return count


@compiled
def found(control: int, words: int, count: int) -> int:
    """The known call with a signature, or 0; see ``known.mixed``."""
    mixed = 0
    for k in range(count):
        mixed = mixed * w.MULTIPLIER + word(words + 8 * k)
    mixed ^= (mixed >> 32) & 0xFFFFFFFF
    table, mask = of(control, w.TABLE), of(control, w.MASK)
    for probe in range(w.PROBES):
        entry = word(table + 8 * ((mixed + probe) & mask))
        if entry == 0:
            return 0
        if of(entry, w.HASH) != mixed or of(entry, w.COUNT) != count:
            continue
        other, difference = entry + 8 * w.SIGNATURE, 0
        for k in range(count):
            difference |= word(words + 8 * k) ^ word(other + 8 * k)
        if difference == 0:
            return entry
    return 0
