"""What loops along rows ask memory for before they need it, and which of their results wait."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.codegen.generator import generate
from gpubcast.hlo import expression
from gpubcast.planning.planner import plan_for
from gpubcast.runtime.operands import view_of
from gpubcast.schedules.schedule import CpuTarget
from tests.support.pipelined_rows import shares, thrice, twice_shared, waits


@pytest.fixture(autouse=True)
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's threshold is, results of 128 MiB are stored past the caches."""
    monkeypatch.setenv("GPUBCAST_STREAMING", str(16 << 20))


def asked(explanation: object) -> list[str]:
    """The operand of each request in a kernel's source, in order."""
    return re.findall(r"fetch(?:_run)?_lines\((p\d+)", str(explanation))


def test_what_every_row_reads_is_not_asked_for() -> None:
    rows, scale = np.empty((8192, 4096), np.float32), np.ones(4096, np.float32)
    found = gb.nn.layer_norm.explain(rows, scale, scale, source=True)
    # A row that follows, or its first part, in chunks and in the last, shorter one, with masks and
    # without them; and what is further from it than the part, by turns and at their end. Where
    # results wait a share of the row in the chunks of each pass.
    places = re.findall(r"fetch_run_lines\(p0 .*", str(found))
    assert asked(found) == ["p0"] * len(places)
    shares = [place for place in places if "rows * s0_0 + place)" in place]
    assert len(shares) == 2 and shares[0] == places[0]
    places = [place for place in places if place not in shares]
    assert [place.count(") // 4)") for place in places] == [0, 1] * 4 + [0, 0]
    assert all(place.endswith(", dense0)") for place in places)
    assert "dense0 = (length <= s0_0) & (s0_0 <= length + length // 8)" in str(found)
    assert all("+ part + head + " in place for place in places[-2:])
    assert "if head + turns < n1:" in str(found)  # nothing where the turns are all


def test_a_row_that_follows_is_asked_for_twice() -> None:
    """Of rows that are read twice before, for either cache; of others for the second one."""
    rows, scale = np.empty((8192, 4096), np.float32), np.ones(4096, np.float32)

    @gb.fuse("row col -> row col")
    def costly_before(x: Any) -> Any:
        e = gb.exp(x)
        d = gb.exp(e - gb.reduce_sum(e, "col"))
        return d / gb.reduce_max(d, "col")

    parts = "part = length if FETCHES_TWICE else "
    for function, operands, near, requests in (
        (gb.nn.layer_norm, (rows, scale, scale), "0 if FETCHES_SECOND else length // 4", 4),
        (gb.nn.standardize, (rows,), "0 if FETCHES_SECOND else length // 4", 4),
        (gb.nn.rms_norm, (rows, scale), "0", 4),
        (gb.nn.softmax, (rows,), "0", 1),  # in the chunks of the first pass
        (gb.nn.log_softmax, (rows,), None, 0),
        (gb.nn.logsumexp, (rows,), None, 0),
        (shares, (rows,), None, 0),
        (costly_before, (rows,), None, 0),  # the pass before asks for nothing
    ):
        source = str(function.explain(*operands, source=True))
        assert re.findall(f"{parts}(.*)", source) == ([near] if near else []), function
        again = re.findall(r"if FETCHES_TWICE:\n +fetch_run_lines\(p0 .*rows \* s0_0 \+ ", source)
        assert len(again) == requests, function


def test_a_line_that_two_rows_share() -> None:
    """Past the caches it is stored as others are, or, where rows of results are apart, in part, and
    asked for before."""
    rows = np.empty((1 << 15, 1000), np.float32)
    for function in (gb.nn.standardize, gb.nn.softmax):
        stored = str(function.explain(rows, source=True))
        assert "stream_line(ready, " in stored
        (slot,) = {*re.findall(r"line = \(to .*\n +if s(\d)_0 != length:", stored)}
        ends = rf"if s{slot}_0 != length:\n +to = .*\n +behind = .*\n +if to & 63:\n +"
        ends += r"fetch_lines\(to, 1\)\n +if behind & 63:\n +fetch_lines\(behind, 1\)"
        assert re.search(ends, stored)
    for other in (
        gb.nn.standardize.explain(np.empty(rows.shape, np.float16), source=True),
        gb.nn.logsumexp.explain(rows, source=True),
    ):
        assert not {"behind", "ready"} & {*re.findall(r"\w+", str(other))}


def test_chunks_of_one_long_row_are_asked_for_ahead() -> None:
    plan = gb.plan("reduce_sum", gb.Shape("f32", (1 << 25,)), axes=(0,))
    # Two lines of 128 elements at a time, or all; the rest of its last chunk with masks, and twice
    # without them.
    found = str(plan.explain(source=True))
    assert asked(found) == ["p0"] * (4 + 4)
    # Where processors do not read ahead, or sooner what is asked for in turn.
    condition = r"if dense0 if FETCHES_IN_TURN else FETCHES_AHEAD:"
    request = r"fetch_run_lines\(.* \+ BYTES_AHEAD_OF_4, 8, dense0\)"
    assert len(re.findall(rf"{condition}\n +{request}", found)) == 4
    assert "dense0 = True" in found


def test_each_operand_is_asked_for_where_it_has_no_holes() -> None:

    @gb.fuse("row col, row col -> row")
    def products(x: Any, y: Any) -> Any:
        return gb.reduce_sum(x * y, "col")

    rows = np.empty((8192, 4096), np.float32)
    found = str(products.explain(rows, rows, source=True))
    assert asked(found) == ["p0", "p1"] * (4 + 4)
    for slot in (0, 1):
        condition = f"if dense{slot} if FETCHES_IN_TURN else FETCHES_AHEAD:"
        request = rf"fetch_run_lines\(p{slot} .*, dense{slot}\)"
        assert len(re.findall(rf"{condition}\n +{request}", found)) == 4
        assert f"dense{slot} = (length <= s{slot}_0) & " in found


@pytest.mark.parametrize(
    ("types", "lanes"),
    [
        *(("f32", 32), ("f64", 16), ("s8", 128), ("s16 s16", 64), ("c64", 16)),
        *((types, 0) for types in ("f16", "bf16", "f32 f64", "f32 f16")),
    ],
)
def test_two_lines_of_each_operand_are_asked_for_between_vectors(types: str, lanes: int) -> None:
    """In order, as far ahead as others; not where operands' lines differ, or are converted."""
    names = types.split()
    labels = f"{', '.join(['row col'] * len(names))} -> row"
    wide = "f32" if "c64" not in names else "c64"

    def total(*given: Any) -> Any:
        terms = [gb.convert_element_type(x, wide) for x in given]
        return gb.reduce_sum(functools.reduce(gb.add, terms), "col")

    function = gb.fuse(labels)(total)
    plan = function.plan(*(gb.Shape(name, (65536, 2048)) for name in names))
    source = plan.cpu_source()
    between = source.partition("if FETCHES_BETWEEN:")[2].partition("else:")[0]
    assert bool(between) is bool(lanes)
    ends = re.findall(r"for l in range\((\d+), (\d+)\):", between)
    assert ends == [(str(k), str(k + lanes)) for k in range(0, 128 if lanes else 0, lanes or 1)]
    for slot, name in enumerate(names if lanes else ()):
        size = gb.Shape(name, ()).element_type.itemsize
        request = rf"if dense{slot}:\n +fetch_lines\(p{slot} \+ {size} \* \(.* \+ step \+ (\d+)\)"
        found = re.findall(rf"{request} \+ BYTES_AHEAD_OF_{size}, 2\)\n", between)
        assert found == [first for first, _ in ends]


def test_whether_rows_follow_each_other_without_holes_is_asked_at_run_time() -> None:
    x = np.empty((8192, 8192), np.float32)
    summed = expression.single("reduce_sum", {"axes": (1,)})

    def source(rows: Any) -> str:
        (one,) = plan_for(summed, (view_of(rows).operand,)).kernels
        return generate(one.plan, CpuTarget(1, 0), (0, 0))[1].text

    found = source(x)
    assert found == source(x[:, :4096]) == source(x[:, :8000])
    assert "dense0 = (length <= s0_0) & (s0_0 <= length + length // 8)" in found


def test_the_next_row_is_asked_for_while_one_pass_computes_much() -> None:
    @gb.fuse("row col -> row")
    def total(x: Any) -> Any:
        return gb.reduce_sum(gb.exp(x), "col")

    rows = np.empty((8192, 4096), np.float32)
    source = str(shares.explain(rows, source=True))
    # While exp is computed, with results of the row before and without them, and at the end.
    assert asked(source) == ["p0"] * 3
    assert "if length >= 512 else done" in source and "if 512 <= n1" not in source
    found = total.explain(rows, source=True)
    assert " far" in str(found) and asked(found) == []
    source = str(gb.nn.softmax.explain(rows, source=True))
    # In the pass before once more, or a part of it first.
    assert asked(source) == ["p0"] * 5 and "before = length // 4 if FETCHES_IN_TURN" in source
    assert len(re.findall(r"if begin \+ t >= before:\n +fetch_run_lines", source)) == 3
    assert "if length >= 512 else done" in source and "FETCHES_AHEAD" not in source


def test_short_rows_are_asked_for_several_rows_ahead() -> None:
    source = str(gb.nn.softmax.explain(np.empty((65536, 512), np.float32), source=True))
    assert "rows = 1 + 4095 // max(length, 1)" in source
    wider = gb.nn.softmax.explain(np.empty((65536, 512)), source=True)
    assert "rows = 1 + 2047 // max(length, 1)" in str(wider)
    assert "o0_0 + rows * s0_0 + part + begin + t" in source


def test_results_of_stored_values_wait_for_the_next_row() -> None:
    def rows(columns: int, dtype: Any = np.float32) -> Any:
        return np.empty(((1 << 25) // columns, columns), dtype)

    @gb.fuse("row col, col, row -> row col")
    def weighted(x: Any, by: Any, of: Any) -> Any:
        e = gb.exp(x)
        return e / gb.reduce_sum(e, "col") * by + of

    @gb.fuse("row, col -> row col")
    def pairs(x: Any, y: Any) -> Any:
        e = gb.exp(x * y)
        return e / gb.reduce_sum(e, "col")

    for one in (rows(1024), rows(4096, np.float64), rows(8192)):
        assert waits(gb.nn.softmax, one) == "last pass"
    others = np.empty(1024, np.float32), np.empty(1 << 15, np.float32)
    assert waits(weighted, rows(1024), *others) == "last pass"
    assert not waits(gb.nn.softmax, rows(1024, np.float16))  # not stored element by element
    assert waits(twice_shared, rows(4096))
    assert not waits(twice_shared, rows(8192))  # there is no memory for two rows of so many
    # Results take turns with requests for a row that follows, of which there are none here.
    assert not waits(pairs, np.empty(1 << 15, np.float32), np.empty(1024, np.float32))


def test_results_of_rows_of_operands_wait_on_some_processors() -> None:
    """While the last pass computes, or beside passes over the next row that compute little."""
    rows, scale = np.empty((1 << 13, 4096), np.float32), np.empty(4096, np.float32)

    @gb.fuse("row col, row col -> row col")
    def masked(x: Any, by: Any) -> Any:
        e = gb.exp(x)
        return e / gb.reduce_sum(e, "col") * by

    # Elements that are combined are written as the kernel's own.
    own = r"write_own_f32\(t\d+, \d+ \+ e, "
    assert re.search(own, str(gb.nn.log_softmax.explain(rows, source=True)))
    assert waits(gb.nn.log_softmax, rows) == waits(masked, rows, rows) == "last pass, on some"
    assert waits(gb.nn.standardize, rows) == "passes, on some"
    assert not waits(gb.nn.standardize, rows.astype(np.float16))
    for function, operands, passes in (
        (gb.nn.rms_norm, (rows, scale), ["1 * share"]),
        (gb.nn.layer_norm, (rows, scale, scale), ["1 * share", "2 * share"]),
        (thrice, (rows,), ["1 * share", "2 * share"]),  # the third pass has no part of it
    ):
        assert waits(function, *operands) == "passes, on some"
        source = str(function.explain(*operands, source=True))
        assert re.findall(r"range\(start, min\(start \+ each, (.*)\), 32\)", source) == passes
        assert f"share = -(-length // {32 * len(passes)}) * 32" in source


def test_values_of_a_row_take_the_memory_of_those_before() -> None:
    """Which are read first. Those that an earlier pass stores have memory for two rows."""
    rows = np.empty((1 << 13, 4096), np.float32)
    source = str(gb.nn.softmax.explain(rows, source=True))
    assert "t3 = scratch_f32()" in source and "t3_before" not in source
    loop = source[source.index("done = min(max(later") :]
    first, own = "store_f32(x3, l, load_f32(t3, head + begin + t + l))", "write_own_f32(t3, j, v3)"
    assert loop.index(first) < loop.index(own) < loop.index("read_f32(x3, l)")

    assert waits(twice_shared, rows)
    source = str(twice_shared.explain(rows, source=True))
    assert "t1, t1_before = t1_before, t1" in source and "x1 = lanes" not in source
    assert "t3 = " not in source  # one pass reduces it, and no result needs it
