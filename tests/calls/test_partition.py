"""Which kernels a fused expression becomes, at every limit, and that its results do not tell."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.codegen.cuda import kernel
from gpubcast.planning.partition import MAX_CODE, MAX_READS, MAX_WRITES
from gpubcast.planning.plan import MAX_RANK, Access, Axis, BroadcastPlan, Instruction, Program
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.schedule import CudaTarget
from gpubcast.shapes.element_types import ELEMENT_TYPES
from gpubcast.shapes.layout import PaddingValue
from tests.support import cases
from tests.support.fused_functions import many, random, summed

PARAMETER_BYTES = 4096


def steps(x: Any, y: Any, count: int) -> Any:
    """A chain of ``count`` operations; the last of them is an addition."""
    for i in range(count):
        x = gb.mul(x, y) if i % 2 else gb.add(x, y)
    return x


# --- too many operands, too much code ------------------------------------------------------------


def kernels(fused: Any, *operands: Any) -> list[BroadcastPlan]:
    """The kernels of a call; each keeps to the limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gb.SplitWarning)
        plans = list(fused.plan(*operands).broadcast_plans)
    for plan in plans:
        assert len(plan.reads) <= MAX_READS and len(plan.writes) <= MAX_WRITES
        assert len(plan.program.code) <= MAX_CODE
    return plans


@pytest.mark.parametrize(("count", "number"), [(1, 1), (15, 1), (16, 1), (17, 2), (40, 3)])
def test_number_of_operands(count: int, number: int) -> None:
    fused = gb.fuse(lambda *xs: summed(*xs) * 1.0)
    operands = many(count, 5, 7)
    assert len(kernels(fused, *operands)) == number
    if number == 1:
        found = fused(*operands)
    else:
        with pytest.warns(gb.SplitWarning, match=f"{number} kernels and temporaries of"):
            found = fused(*operands)
    np.testing.assert_array_equal(found, summed(*operands))


@pytest.mark.parametrize("count", [17, 40])
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
def test_many_operands_of_two_ranks_and_layouts(count: int) -> None:
    def body(*xs: Any) -> Any:
        total = xs[0]
        for i, x in enumerate(xs[1:]):
            total = gb.add(total, x) if i % 3 else gb.mul(total, x, broadcast_dimensions=(i % 2,))
        return total

    operands: list[Any] = [random(6, 6)]
    for i, x in enumerate(many(count - 1, 6, 6)):
        turned = x.T if i % 2 else gb.array(x, layout=gb.Layout((0, 1), (7, 9)))
        operands.append(turned if i % 3 else x[i % 5])
    fused = gb.fuse(body)
    assert len(kernels(fused, *operands)) > 1
    found, wanted = fused(*operands), body(*operands)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    assert found.layout == wanted.layout


@pytest.mark.parametrize(("count", "number"), [(255, 1), (256, 1), (257, 2), (300, 2), (600, 3)])
def test_number_of_operations(count: int, number: int) -> None:
    fused = gb.fuse(lambda x, y: steps(x, y, count))
    x, y = random(4, 5), 1 + random(4, 5, seed=1) / 1000
    assert len(kernels(fused, x, y)) == number
    if number == 1:
        found = fused(x, y)
    else:
        with pytest.warns(gb.SplitWarning, match=f"{number} kernels"):
            found = fused(x, y)
    np.testing.assert_array_equal(found, steps(x, y, count))


@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
def test_narrow_floats_are_rounded_at_a_cut_as_anywhere() -> None:
    fused = gb.fuse(summed)
    operands = [gb.convert_element_type(x, "bf16") for x in many(20, 9)]
    assert len(kernels(fused, *operands)) == 2
    np.testing.assert_array_equal(fused(*operands).view("u2"), summed(*operands).view("u2"))


def squares(*xs: Any) -> Any:
    """Every operand as it is and turned."""
    shape = (5, 5)
    return summed(*xs, *(gb.broadcast_in_dim(x, shape, broadcast_dimensions=(1, 0)) for x in xs))


@pytest.mark.parametrize(("count", "number"), [(7, 1), (8, 1), (9, 2), (20, 3)])
def test_operands_that_are_read_in_two_ways(count: int, number: int) -> None:
    operands = many(count, 5, 5)
    plans = kernels(gb.fuse(squares), *operands)
    assert len(plans) >= number and (len(plans) == 1) == (number == 1)
    if number == 1:
        found = gb.fuse(squares)(*operands)
    else:
        with pytest.warns(gb.SplitWarning):
            found = gb.fuse(squares)(*operands)
    np.testing.assert_array_equal(found, squares(*operands))


@pytest.mark.parametrize(("rank", "number"), [(3, 1), (4, 2), (5, 8)])
def test_one_operand_that_is_read_in_many_ways(rank: int, number: int) -> None:
    """All permutations of the axes of a cube: 6, 24, 120."""
    shape = (2,) * rank

    def body(x: Any) -> Any:
        orders = itertools.permutations(range(rank))
        return summed(*(gb.broadcast_in_dim(x, shape, order) for order in orders))

    x, fused = random(*shape), gb.fuse(body)
    assert len(kernels(fused, x)) >= number
    if number == 1:
        found = fused(x)
    else:
        with pytest.warns(gb.SplitWarning):
            found = fused(x)
    np.testing.assert_array_equal(found, body(x))


def test_scalars_count_as_operands() -> None:
    """Constants do not."""
    fused = gb.fuse(lambda x, *s: functools.reduce(gb.add, s, x))
    scalars = [float(i) for i in range(1, 17)]
    assert len(kernels(fused, random(3), *scalars[:15])) == 1
    assert len(kernels(fused, random(3), *scalars)) == 2
    constants = gb.fuse(lambda x: functools.reduce(gb.add, scalars * 2, x))
    assert len(kernels(constants, random(3))) == 1


@pytest.mark.filterwarnings("error::gpubcast.SplitWarning")
def test_what_nothing_needs_counts_for_nothing() -> None:
    def body(*xs: Any) -> Any:
        steps(xs[0], xs[1], 400)
        summed(*xs)
        return xs[0] - xs[1]

    operands = many(30, 3)
    fused = gb.fuse(body)
    assert len(kernels(fused, *operands)) == 1
    np.testing.assert_array_equal(fused(*operands), operands[0] - operands[1])


# --- several outputs -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("error::gpubcast.SplitWarning")
@pytest.mark.parametrize(("count", "number"), [(2, 1), (8, 1), (9, 2), (12, 2), (16, 2), (17, 3)])
def test_number_of_outputs(count: int, number: int) -> None:
    """Kernels that only stand beside each other need no temporaries: no warning."""
    fused = gb.fuse(lambda x: tuple(gb.add(x, float(i)) for i in range(count)))
    x = random(4, 5)
    assert len(kernels(fused, x)) == number
    for i, found in enumerate(fused(x)):
        np.testing.assert_array_equal(found, x + np.float32(i))


@pytest.mark.parametrize(("count", "number"), [(8, 1), (9, 2), (24, 3)])
@pytest.mark.filterwarnings("error::gpubcast.SplitWarning")
def test_outputs_with_operands_of_their_own(count: int, number: int) -> None:
    fused = gb.fuse(lambda *xs: tuple(x + y for x, y in zip(xs[::2], xs[1::2], strict=True)))
    operands = many(2 * count, 4, 5)
    assert len(kernels(fused, *operands)) == number
    for i, found in enumerate(fused(*operands)):
        np.testing.assert_array_equal(found, operands[2 * i] + operands[2 * i + 1])


def test_many_outputs_of_too_many_operands() -> None:
    def body(*xs: Any) -> Any:
        total = summed(*xs)
        return total, gb.neg(total), *(gb.add(total, x) for x in xs)

    operands = many(20, 3, 4)
    fused = gb.fuse(body)
    kernels(fused, *operands)
    with pytest.warns(gb.SplitWarning):
        results = fused(*operands)
    for found, wanted in zip(results, body(*operands), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("shapes", "number"),
    [
        (((4, 5), (4, 5)), 1),
        (((4, 5), (5, 4)), 2),
        (((4, 5), (6, 7)), 2),
        (((4, 5), (4,)), 2),
        (((4, 5), ()), 1),
        (((4, 5), (1, 1)), 1),
        (((), ()), 1),
        (((4, 5), (4, 5), (3,), (3,)), 2),
    ],
)
def test_independent_outputs(shapes: tuple[tuple[int, ...], ...], number: int) -> None:
    """Nothing says that a dimension is another's, unless all of them are equal."""
    fused = gb.fuse(lambda *xs: tuple(gb.mul(x, x) for x in xs))
    operands = [random(*shape, seed=i) for i, shape in enumerate(shapes)]
    assert len(kernels(fused, *operands)) == number
    for x, found in zip(operands, fused(*operands), strict=True):
        np.testing.assert_array_equal(found, x * x)


@gb.fuse("a r c, r, -> a r c, r, r a, , 1 c")
def ranks(x: Any, m: Any, s: Any) -> Any:
    return x + m * s, gb.exp(m), m - s, s * 2, s - 1


SIZES = [0, 1, 2, 5]


@pytest.mark.long
@pytest.mark.parametrize("sizes", list(itertools.product(SIZES, SIZES, SIZES)), ids=str)
def test_sizes_0_and_1_beside_others(sizes: tuple[int, int, int]) -> None:
    a, r, c = sizes
    x, m, s = random(a, r, c), random(r, seed=1), np.float32(3)
    outs = ranks(x, m, s)
    wanted = (
        x + (m * s)[:, None],
        gb.exp(m),
        np.repeat((m - s)[:, None], a, axis=1),
        np.float32(6),
        np.full((1, c), 2, "f4"),
    )
    for found, expected in zip(outs, wanted, strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


PROMISES = [
    (PaddingValue.ZERO, PaddingValue.ZERO),
    (PaddingValue.ZERO, PaddingValue.ONE),
    (PaddingValue.LOWEST, PaddingValue.HIGHEST),
    (PaddingValue.ONE, PaddingValue.INVALID),
    (PaddingValue.UNKNOWN, PaddingValue.HIGHEST),
    (PaddingValue.INVALID, PaddingValue.INVALID),
]


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(3, 4), (1, 4), (3, 1), (0, 4), (3, 0)], ids=str)
@pytest.mark.parametrize("values", PROMISES, ids=str)
def test_padding_of_each_output(
    sizes: tuple[int, int], values: tuple[PaddingValue, PaddingValue]
) -> None:
    """Outputs of one shape in different layouts, one of fewer dimensions; all promises hold."""
    fused = gb.fuse("r c, r -> r c, r c, r, c r")(lambda x, m: (x + m, x * m, -m, x - m))
    x, m = random(*sizes), random(sizes[0], seed=1)
    r, c = sizes
    layouts = (
        gb.Layout((1, 0), (r + 1, c + 2), values[0]),
        gb.Layout((0, 1), (r + 1, c + 2), values[1]),
        gb.Layout((0,), (r + 3,), values[0]),
        gb.Layout((1, 0), (c, r + 1), values[1]),
    )
    arrays = gb.array(x), gb.array(m)
    n = m[:, None]
    results = fused(*arrays, out_layout=layouts)
    for found, layout, wanted in zip(results, layouts, (x + n, x * n, -m, (x - n).T), strict=True):
        assert found.layout == layout
        np.testing.assert_array_equal(found.numpy(), wanted)
        if layout.padding_value.written:
            cases.assert_padding(found)


# --- the parameter struct ------------------------------------------------------------------------


def largest(
    strides: tuple[int, ...], sizes: tuple[int, ...], *, lacking: bool = False
) -> BroadcastPlan:
    """As many reads and writes as a kernel has, padding written; ``lacking``: without the outermost
    axis."""
    kind = ELEMENT_TYPES["f64"]
    reads = tuple(Access(i, kind, strides, 0, sizes) for i in range(MAX_READS))
    written = (0, *strides[1:]) if lacking else strides
    writes = tuple(Access(i, kind, written, 0, sizes) for i in range(MAX_WRITES))
    code = tuple(Instruction("neg", (i,), kind) for i in range(MAX_WRITES))
    program = Program((kind,) * MAX_READS, code, tuple(range(MAX_READS, MAX_READS + MAX_WRITES)))
    axes = tuple(Axis(n, n) for n in sizes)
    return BroadcastPlan(program, axes, reads, writes, (PaddingValue.ZERO,) * MAX_WRITES)


def plans() -> Iterator[tuple[type[Schedule], int, BroadcastPlan]]:
    rank = MAX_RANK
    packed = (*(2 ** (k + 8) for k in reversed(range(rank - 1))), 1)
    yield Rows, 64, largest(packed, (2,) * (rank - 1) + (64,))
    apart = tuple(2 ** (k + 1) for k in reversed(range(rank)))
    yield Phase, 32, largest(apart, (2,) * rank)
    yield Phase, 32, largest(apart, (2**17, *(2,) * (rank - 1)))
    far = (*(2 ** (k + 10) for k in reversed(range(rank - 1))), 2)
    yield Rows, 64, largest(far, (2,) * (rank - 1) + (300,))
    yield Gather, 32, largest(far, (2,) * (rank - 1) + (300,), lacking=True)
    yield Gather, 64, largest(far, (2**10, *(2,) * (rank - 2), 300), lacking=True)
    flat = largest((1,), (1000,))
    yield (
        Flat,
        64,
        BroadcastPlan(flat.program, flat.axes, flat.reads, flat.writes, (None,) * MAX_WRITES),
    )


@pytest.mark.parametrize(("family", "bits", "plan"), list(plans()), ids=lambda x: str(x)[:12])
def test_the_largest_parameter_struct(
    family: type[Schedule], bits: int, plan: BroadcastPlan
) -> None:
    """A launch takes 4,096 bytes of parameters, on every architecture."""
    chosen = schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))
    assert (type(chosen), chosen.offset_bits) == (family, bits)
    assert len(kernel.parameters(plan, chosen)) <= PARAMETER_BYTES
