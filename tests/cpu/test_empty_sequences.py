"""Results beside reductions of nothing."""

from __future__ import annotations

import pytest

from tests.support.empty_sequences import EmptyCase, cases


@pytest.mark.parametrize("case", sorted(cases(), key=str), ids=str)
def test_a_result_that_lacks_the_empty_axis(streaming: str, case: EmptyCase) -> None:
    found = case.call("cpu")
    assert found.size and (found == 1).all()
