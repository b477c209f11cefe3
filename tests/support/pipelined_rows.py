"""Functions along rows whose results may wait for the next row, and whether they do."""

from __future__ import annotations

from typing import Any

import gpubcast as gb


@gb.fuse("row col -> row col")
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


def waits(function: Any, *operands: Any) -> str:
    """Whether results of a row are stored while the next one is computed with: beside passes over
    it, or while its last pass computes, on some processors or everywhere. They are stored past the
    caches."""
    source = str(function.explain(*operands, source=True))
    assert "line_" in source or "stream(" in source
    found = "passes" if "if place < later:" in source else ""
    found = "last pass" if "done = min(max(later - begin, 0), 512)" in source else found
    some = "later = whole & -32 if RESULTS_WAIT & " in source
    assert some == ("; on some processors results wait for the next row" in source)
    assert bool(found) == some | ("; results wait for the next row" in source)
    return found + ", on some" * some
