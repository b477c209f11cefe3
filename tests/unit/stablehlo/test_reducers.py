"""Which reduction the body of a reduce is, from plain data."""

from __future__ import annotations

from typing import Any

import pytest

from gpubcast.stablehlo.module import Function, Operation
from gpubcast.stablehlo.reducers import chooser, reducers


def body(count: int, results: tuple[int, ...], *operations: tuple[Any, ...]) -> Function:
    """A body of ``count`` arguments, numbered first; each operation makes the next value."""
    made = tuple(
        Operation(f"stablehlo.{name}", operands, (count + k,), (), attributes, (), "")
        for k, (name, operands, attributes) in enumerate(operations)
    )
    return Function("body", tuple(range(count)), (), made, results)


def compare(direction: str, a: int, b: int, kind: str = "FLOAT") -> tuple[Any, ...]:
    return ("compare", (a, b), {"comparison_direction": direction, "compare_type": kind})


@pytest.mark.parametrize("operands", [(0, 1), (1, 0)])
def test_operands_of_what_commutes_stand_in_any_order(operands: tuple[int, int]) -> None:
    assert reducers(body(2, (2,), ("add", operands, {}))) == ("stablehlo.add",)
    assert reducers(body(2, (2,), ("subtract", operands, {}))) is None
    assert reducers(body(2, (2,), ("add", (0, 0), {}))) is None


def test_each_result_has_its_own_pair() -> None:
    two = (("maximum", (2, 0), {}), ("add", (1, 3), {}))
    assert reducers(body(4, (4, 5), *two)) == ("stablehlo.maximum", "stablehlo.add")
    assert reducers(body(4, (5, 4), *two)) is None


def extremes(direction: str = "GT", nan: bool = True, tie: str = "LT", kind: str = "FLOAT") -> Any:
    """JAX's argmax: values 0 and 2, indices 1 and 3."""
    pick = 6 if nan else 4
    steps: list[tuple[Any, ...]] = [compare(direction, 0, 2, kind)]
    if nan:
        steps += [compare("NE", 0, 0, kind), ("or", (5, 4), {})]
    first = 4 + len(steps)
    steps += [compare("EQ", 2, 0, kind), compare(tie, 1, 3, "SIGNED")]
    steps += [("and", (first, first + 1), {}), ("or", (first + 2, pick), {})]
    steps += [("select", (pick, 0, 2), {}), ("select", (first + 3, 1, 3), {})]
    return body(4, (first + 4, first + 5), *steps)


def test_the_first_extreme_of_pairs() -> None:
    assert chooser(extremes()) == chooser(extremes(nan=False)) == "argmax"
    assert chooser(extremes("LT")) == chooser(extremes("LT", nan=False)) == "argmin"


def test_other_choices_are_none() -> None:
    assert chooser(extremes("GE")) is None
    assert chooser(extremes(tie="GT")) is None  # the last of equal ones
    assert chooser(extremes(kind="TOTALORDER")) is None
    assert reducers(extremes()) is None and chooser(body(2, (2,), ("add", (0, 1), {}))) is None
