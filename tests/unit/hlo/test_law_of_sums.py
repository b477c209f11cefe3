"""The law of sums: its sequences, and how many additions lie between an element and the sum."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from gpubcast.hlo.sequences import CHUNK, LANES, PER_LANE, num_chunks, sequences
from tests.support import law_of_sums

# --- sequences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ((), ((),)),
        ((0,), ((0,),)),
        ((511,), ((0,),)),
        ((512,), ((0,),)),
        ((2, 511), ((0, 1),)),
        ((2, 512), ((1,), (0,))),
        ((512, 2), ((0, 1),)),
        ((512, 2, 256), ((1, 2), (0,))),
        ((3, 512, 2, 256), ((2, 3), (1,), (0,))),
        ((3, 511, 2, 256), ((2, 3), (0, 1))),
        ((8, 8, 8), ((0, 1, 2),)),
        ((4, 8, 8, 8), ((1, 2, 3), (0,))),
        ((0, 600), ((1,), (0,))),
        ((600, 0), ((0, 1),)),
        ((600, 1), ((0, 1),)),
        ((600, 1, 600, 1), ((2, 3), (0, 1))),
    ],
)
def test_the_shortest_runs_of_last_axes(
    sizes: tuple[int, ...], found: tuple[tuple[int, ...], ...]
) -> None:
    assert sequences(sizes) == found


def test_every_axis_is_in_one_sequence_in_order() -> None:
    for rank in range(5):
        for sizes in itertools.product((0, 1, 2, 30, 600), repeat=rank):
            found = sequences(sizes)
            joined = [axis for one in reversed(found) for axis in one]
            assert joined == list(range(rank))
            elements = [math.prod(sizes[axis] for axis in one) for one in found]
            assert all(n >= CHUNK for n in elements[:-1])
            for one, n in zip(found, elements, strict=True):
                # Without its first axis it would be too short.
                assert n < CHUNK or math.prod(sizes[axis] for axis in one[1:]) < CHUNK


def test_axes_of_size_1_do_not_change_the_bits() -> None:
    x = np.random.default_rng(0).standard_normal((600, 5, 130)).astype("f4")
    wanted = law_of_sums.reduction(x, (0, 1, 2), np.add, np.float32(0), begins=True)
    for place in itertools.combinations_with_replacement(range(4), 2):
        wide = np.expand_dims(x, [p + i for i, p in enumerate(place)])
        found = law_of_sums.reduction(wide, range(5), np.add, np.float32(0), begins=True)
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    ("elements", "chunks"), [(0, 0), (1, 1), (512, 1), (513, 2), (1024, 2), (262_145, 513)]
)
def test_chunks(elements: int, chunks: int) -> None:
    assert num_chunks(elements) == chunks


def test_the_numbers_of_the_law() -> None:
    assert (LANES, PER_LANE, CHUNK) == (128, 4, 512)


# --- additions -----------------------------------------------------------------------------------
#
# An element that no addition has met yet has depth 0; two values combined are one deeper than the
# deeper one.


def deeper(x: int, y: int) -> int:
    return 1 + max(x, y)


def simulated(count: int) -> int:
    """Additions on the longest path, counted in the oracle's loops; the +0.0 is exact."""
    return int(law_of_sums.sequence_result([0] * count, deeper, 0))


@cache
def of_chunk(count: int) -> int:
    """By formula: a lane's elements, then the tree of those lanes that there are."""
    per_lane = -(-count // LANES)
    return per_lane - 1 + math.ceil(math.log2(min(count, LANES)))


@cache
def ours(count: int) -> int:
    """By formula, for any number of elements."""
    if count <= CHUNK:
        return of_chunk(count) if count else 0
    return of_chunk(CHUNK) + ours(num_chunks(count))


@cache
def numpys(count: int) -> int:
    """NumPy's pairwise sum, as in ``numpy/_core/src/umath/loops_utils.h.src``: one after another
    below 8 elements; up to 128 in 8 accumulators and what is left over one by one; else the halves,
    of which the first has a multiple of 8."""
    if count < 8:
        # The sum begins with -0.0, which is exact.
        return max(count - 1, 0)
    if count <= 128:
        eighths = count // 8
        # r[i] has so many elements; ((r0+r1)+(r2+r3)) + ((r4+r5)+(r6+r7)); then the rest.
        return eighths - 1 + 3 + count % 8
    half = count // 2
    half -= half % 8
    return 1 + max(numpys(half), numpys(count - half))


def test_the_formula_is_the_oracle() -> None:
    for count in (*range(1, 1_100), 32_767, 32_768, 32_769, 262_144, 262_145):
        assert ours(count) == simulated(count), count


def test_the_formula_of_numpy_is_numpy() -> None:
    """Elements between which everything is lost: the sum of n powers 1 that meet one after another
    is exact only in the order that the formula follows."""
    for count in (1, 5, 7, 8, 9, 64, 127, 128, 129, 200, 256, 257, 1_000, 4_097):
        x = (np.random.default_rng(count).standard_normal(count) * 1e3).astype("f4")
        assert np.add.reduce(x) == _pairwise(x), count


def _pairwise(x: np.ndarray) -> np.float32:
    if x.size < 8:
        total = np.float32(-0.0)
        for value in x:
            total = total + value
        return total
    if x.size <= 128:
        whole = x.size - x.size % 8
        r = x[:8].copy()
        for k in range(8, whole, 8):
            r = r + x[k : k + 8]
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        for value in x[whole:]:
            total = total + value
        return total
    half = x.size // 2
    half -= half % 8
    return _pairwise(x[:half]) + _pairwise(x[half:])


def test_no_more_additions_than_numpys_one_by_one() -> None:
    for count in range(128, 20_000):
        assert ours(count) <= numpys(count), count


def test_no_more_additions_than_numpys_for_large_sums() -> None:
    """Around every power of two, three halves of it, and multiples of chunks of chunks."""
    counts = set()
    for power in range(14, 50):
        for factor in (2, 3, 5, 7):
            middle = factor << power - 1
            counts |= {middle + k for k in (-513, -8, -7, -1, 0, 1, 7, 8, 129, 512, 513)}
    for power in (1, 2, 3, 4):
        counts |= {k * CHUNK**power + d for k in (1, 2, 127, 128, 129, 511) for d in (-1, 0, 1)}
    for count in sorted(c for c in counts if c >= 128):
        assert ours(count) <= numpys(count), count


@pytest.mark.parametrize(("count", "most"), [(512, 10), (262_144, 20), (1 << 27, 30)])
def test_the_bounds_that_the_rules_state(count: int, most: int) -> None:
    assert ours(count) == most
    assert all(ours(n) <= most for n in (count // 2, count // 3, count - 1))


def test_several_sequences_have_the_additions_of_each() -> None:
    x = np.zeros((600, 3, 700), int)
    found = law_of_sums.reduction(x, (0, 1, 2), np.vectorize(deeper, otypes=[int]), 0, begins=False)
    assert found == ours(700) + ours(600 * 3)
