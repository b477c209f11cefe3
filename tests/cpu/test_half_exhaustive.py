"""Unary operations on all 65,536 values of f16 and of bf16, binary ones on pairs of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import rules
from gpubcast.hlo.op import Op, Rule
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import accuracy, halves, operations, scalars

HALVES = [ELEMENT_TYPES[name] for name in ("f16", "bf16")]
FORMULAS = {name for name, _ in accuracy.measurable()}
DEVELOPERS = (("exp", "f16"), ("exp2", "f16"), ("tanh", "bf16"))
# A formula's few units of f32 are at most this much of a unit of f16.
SHARE = 4 * 2.0**-13

Array = np.ndarray[Any, Any]

pytestmark = [
    # What NumPy says about NaN that becomes NaN of another type.
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]


def rows(rule: Rule) -> list[tuple[Op, ElementType]]:
    return [
        (row, kind)
        for row in OPS.values()
        if row.public and row.rule is rule and row.reference is not None
        for kind in HALVES
        if kind in row.accepts
    ]


def edges(kind: ElementType) -> Array:
    """The first, second and last value of chosen binades, with both signs, NaN among them."""
    mantissa = {"f16": 10, "bf16": 7}[kind.name]
    top = (1 << 15 - mantissa) - 1
    exponents = [0, 1, 2, *range(top // 2 - 2, top // 2 + 4), top - 2, top - 1, top]
    fractions = [0, 1, (1 << mantissa) - 1]
    words = [e << mantissa | f for e in exponents for f in fractions]
    return np.array([*words, *(w | 1 << 15 for w in words)], np.uint16).view(kind.dtype)


def check(row: Op, kind: ElementType, *operands: Array) -> None:
    """Assert that results are the rows' references, those of formulas within one rounding."""
    for said in operations.keywords(row, kind):
        given = (gb.array(x, device="cpu") for x in operands)
        found = getattr(gb, row.name)(*given, **said).numpy()
        if row.halved(kind):
            continue  # below: correctly rounded
        if row.name in FORMULAS:
            check_formula(row.name, kind, found, *operands)
            continue
        reference, dtype = scalars.reference(row.name, kind, **said), found.dtype
        wanted = np.array([reference(*x) for x in zip(*operands, strict=True)], dtype)
        label = " ".join([row.name, *map(str, said.values()), f"on {kind}"])
        signed_zeros = row.name not in ("max", "min")
        operations.assert_same(found, wanted, label, signed_zeros=signed_zeros)


def check_formula(name: str, kind: ElementType, found: Array, *operands: Array) -> None:
    if accuracy.FUNCTIONS[name].slow:
        # The f64 formula, measured elsewhere, is exact beside a half.
        true = accuracy.through_kernel(name, *(x.astype(np.float64) for x in operands))
        true = true.astype(np.longdouble)
    else:
        true = accuracy.true_values(name, *operands)
    error = accuracy.errors(found, true)
    worst = int(np.argmax(error))
    values = [x[worst] for x in operands]
    assert error[worst] <= 0.5 + SHARE, (
        f"{name}{values} = {found[worst]} on {kind}: {error[worst]} ulp"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(*case, marks=() if case in DEVELOPERS else pytest.mark.long)
        for case in halves.CASES
    ],
)
def test_formulas_of_their_own_are_correctly_rounded(name: str, kind: str) -> None:
    """Of every number; a sign of zero is part of a result."""
    x = halves.every(kind)
    found, wanted = getattr(gb, name)(x), halves.correctly_rounded(name, kind)
    bad = halves.differing(found, wanted)
    assert not bad.size, (bad.size, x[bad[:5]], found[bad[:5]], wanted[bad[:5]])


def test_a_result_on_the_wrong_side_of_a_middle_is_seen() -> None:
    """2^-25 is the middle of 0 and the smallest f16, and e^x has no number so near to one."""
    assert halves.correctly_rounded("exp2", "f16")[halves.every("f16") == -25] == 0
    exact = np.longdouble(1) + np.longdouble(2) ** -11
    assert [halves.nearest(exact * s, "f16") for s in (1 - 2e-13, 1, 1 + 2e-13)] == [
        0x3C00, -1, 0x3C01,
    ]  # fmt: skip
    wanted = halves.correctly_rounded("exp", "f16")
    planted = wanted.copy()
    planted.view(np.uint16)[0x3400] ^= 1
    assert halves.differing(planted, wanted).tolist() == [0x3400]


@pytest.mark.long
@pytest.mark.parametrize(("row", "kind"), rows(rules.UNARY), ids=lambda x: x.name)
def test_every_value(row: Op, kind: ElementType) -> None:
    check(row, kind, np.arange(1 << 16, dtype=np.uint16).view(kind.dtype))


@pytest.mark.parametrize(("row", "kind"), rows(rules.BINARY), ids=lambda x: x.name)
def test_every_pair_of_edges(row: Op, kind: ElementType) -> None:
    values = edges(kind)
    left, right = (x.reshape(-1) for x in np.meshgrid(values, values, indexing="ij"))
    check(row, kind, left, right)
