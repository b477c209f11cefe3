"""Functions with reductions over arrays that are cut at random, beside the same in memory."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support import doors

da = doors.library("dask.array")

import dask  # noqa: E402

import gpubcast as gb  # noqa: E402
import gpubcast.dask  # noqa: E402


@gb.fuse("a b c, c, b a -> a b c, a, b c, c")
def independent(x, y, z):
    last, both = gb.reduce_sum(x, ("b", "c")), gb.reduce_sum(x, ("a", "b"))
    return x * y + z, last, gb.reduce_min(x + y, "a"), both


@gb.fuse("a b c, c, b a -> a b c, b")
def normalised(x, y, z):
    mean = gb.reduce_sum(x, ("a", "c"))
    variance = gb.reduce_sum((x - mean) * (x - mean), ("a", "c"))
    return (x - mean) * gb.rsqrt(variance + 1.0) * y + z, variance


@gb.fuse("a b c, c, b a -> c a, a b, ")
def mixed(x, y, z):
    index = gb.convert_element_type(gb.argmax(x + z, "b"), "f32")
    size = gb.convert_element_type(gb.get_dimension_size(x, "a"), "f32")
    return index * y, gb.reduce_sum(x, "c") + z, gb.reduce_sum(x * y, ("a", "b", "c")) / size


FUNCTIONS = (independent, normalised, mixed)


def _cut(x, choice):
    sizes = ((n, -(-n // 2), -(-n // 3), min(n, 512)) for n in x.shape)
    return da.from_array(x, chunks=tuple(choice.choice(options) for options in sizes))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_random_cuts(seed):
    choice, numbers = random.Random(seed), np.random.default_rng(seed)
    calls = 0
    while calls < 20:
        a, b, c = (choice.choice([1, 2, 7, 30, 600, 1100]) for _ in range(3))
        if a * b * c > 3_000_000:
            continue
        calls += 1
        arrays = [numbers.standard_normal(s).astype("f4") for s in ((a, b, c), (c,), (b, a))]
        cut = [_cut(arrays[0], choice)]
        cut += [x if choice.random() < 0.2 else _cut(x, choice) for x in arrays[1:]]
        function = choice.choice(FUNCTIONS)
        with dask.config.set({"array.chunk-size": choice.choice(["1B", "128MiB"])}):
            made = function(*cut)
        scheduler = choice.choice(["synchronous", "threads"])
        found = dask.compute(*made, scheduler=scheduler)
        for lazy, one, expected in zip(made, found, function(*arrays), strict=True):
            what = (function, [x.shape for x in arrays], cut)
            assert lazy.shape == np.shape(one) == expected.shape, what
            assert np.asarray(one).tobytes() == np.asarray(expected).tobytes(), what
