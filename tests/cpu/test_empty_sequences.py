"""Results beside reductions of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.empty_sequences import EmptyCase, cases


@pytest.mark.parametrize("case", sorted(cases(), key=str), ids=str)
def test_a_result_that_lacks_the_empty_axis(streaming: str, case: EmptyCase) -> None:
    found = case.call("cpu")
    assert found.size and (found == 1).all()


def test_results_without_elements_in_arrays_of_numpy(streaming: str) -> None:
    """Their strides may be 0, which is not what says that an axis is repeated."""

    @gb.fuse("a b -> a b, a")
    def rows(x: Any) -> Any:
        q = gb.reduce_sum(x, "a")
        return x - q, gb.reduce_max(x - q, "b")

    @gb.fuse("a b -> , a b")
    def every(x: Any) -> Any:
        d = x - gb.reduce_max(x, "b")
        return gb.reduce_sum(d, ("a", "b")), d

    x = np.ones((4, 5), np.float32)
    out = np.empty((0, 2), np.float32), np.empty(0, np.float32)
    assert rows(x[:0, :2], out=out)[0] is out[0]
    out = np.full((), 7, np.float32), np.empty((4, 0), np.float32)
    assert every(x[:, :0], out=out)[0] == 0
