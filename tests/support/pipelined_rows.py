"""Functions along rows whose results may wait for the next row, and whether they do."""

from __future__ import annotations

from typing import Any

import gpubcast as gb


@gb.fuse("... col -> ... col")
def centred(x: Any) -> Any:
    """One pass that computes little, and one more over the operand."""
    return x - gb.reduce_sum(x, "col")


@gb.fuse("... col -> ... col")
def shares(x: Any) -> Any:
    """One pass, and one more over what it stored."""
    e = gb.exp(x)
    return e / gb.reduce_sum(e, "col")


@gb.fuse("row col -> row col")
def twice_shared(x: Any) -> Any:
    """Stores values in its first pass, and reads those of the row before in its second one."""
    e = gb.exp(x)
    shared = gb.exp(e / gb.reduce_sum(e, "col"))
    return e / gb.reduce_sum(shared, "col")


@gb.fuse("row col -> row col")
def thrice(x: Any) -> Any:
    """Three passes that compute little."""
    y = x - gb.reduce_max(x, "col")
    z = y * gb.reduce_sum(y, "col")
    return z - gb.reduce_min(gb.square(z), "col")


def waits(function: Any, *operands: Any) -> str:
    """What results of a row are stored during, if they wait for the next one: its ``passes``, or
    its ``last pass``, with ``, on some`` where only some processors do so; else nothing. They are
    stored past the caches."""
    source = str(function.explain(*operands, source=True))
    assert "line_" in source or "stream(" in source
    found = "passes" if "if place < later:" in source else ""
    found = "last pass" if "done = min(max(later - begin, 0), 512)" in source else found
    some = "later = whole & -32 if RESULTS_WAIT & " in source
    assert some == ("; on some processors results wait for the next row" in source)
    assert bool(found) == some | ("; results wait for the next row" in source)
    return found + ", on some" * some
