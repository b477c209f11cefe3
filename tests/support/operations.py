"""Every row of the operation table on every type, against the row's scalar reference.

Shared by the CPU tier and the emulated tier: the same calls, the same truth.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.hlo import rules
from gpubcast.hlo.op import Op
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import scalars

TYPES = list(ELEMENT_TYPES.values())
# The types that a first release promises; the emulator compiles these.
CORE = [ELEMENT_TYPES[n] for n in ("pred", "s32", "s64", "u8", "u32", "f16", "bf16", "f32", "f64")]

# The keywords with which operations that need some are tried.
KEYWORDS: dict[str, tuple[dict[str, Any], ...]] = {
    "round": ({"method": "away_from_zero"}, {"method": "even"}),
    "integer_pow": ({"y": 3}, {"y": 0}, {"y": 1}, {"y": 22}, {"y": -2}),
}


def keywords(row: Op, kind: ElementType) -> list[dict[str, Any]]:
    """The keywords with which an operation is tried on a type: an empty set where it has none."""
    tried = KEYWORDS.get(row.name, ({},))
    return [k for k in tried if not kind.is_integral or k.get("y", 0) >= 0]


def rows() -> list[tuple[Op, ElementType]]:
    """Every elementwise operation with a reference, on every real type it accepts and kernels know;
    complex ones are in ``complex_numbers``, reductions in ``reduced_values``."""
    return [
        (row, kind)
        for row in OPS.values()
        if row.public and row.reference is not None and row.rule.reduces is None
        for kind in TYPES
        if kind in row.accepts and not kind.is_complex
    ]


def arguments(row: Op, kind: ElementType) -> tuple[np.ndarray[Any, Any], ...]:
    """Special values in all pairs, or in many triples."""
    values = scalars.special_values(kind)
    if row.arity == 1:
        every = np.arange(256, dtype=np.uint8).view(kind.dtype)
        return (every if kind.is_floating and kind.bits == 8 else values,)
    if row.rule is rules.BINARY:
        left, right = np.meshgrid(values, values, indexing="ij")
        return left.reshape(-1), right.reshape(-1)
    rng = np.random.default_rng(7)
    triples = rng.choice(values, (3, 400))
    if row.rule is rules.SELECT:
        return rng.random(400) < 0.5, triples[1], triples[2]
    return tuple(triples)


def expected(
    row: Op, kind: ElementType, operands: tuple[np.ndarray[Any, Any], ...], **said: Any
) -> Any:
    """What the reference says, element by element; f64 where an error bound applies."""
    assert row.reference is not None
    exact = row.ulp == (0, 0) or not kind.is_floating
    out = scalars.result_type(row, kind)
    results = []
    for scalars_in in zip(*operands, strict=True):
        if exact:
            results.append(scalars.reference(row.name, kind, **said)(*scalars_in))
        else:
            wide = [np.float64(scalars.lift(kind, a)) for a in scalars_in]
            results.append(row.reference(kind, *wide))
    return np.array(results, out.dtype if exact else np.float64)


def check(row: Op, kind: ElementType, device: str) -> None:
    """Assert that an operation agrees with its reference on a device."""
    for said in keywords(row, kind):
        _check(row, kind, device, said)


def _check(row: Op, kind: ElementType, device: str, said: dict[str, Any]) -> None:
    operands = arguments(row, kind)
    given = (gb.array(x, device=device) for x in operands)
    result = getattr(gb, row.name)(*given, **said).numpy()
    wanted = expected(row, kind, operands, **said)
    label = " ".join([row.name, *map(str, said.values()), f"on {kind}"])
    if result.dtype == wanted.dtype and not (kind.is_floating and row.ulp != (0, 0)):
        assert_same(result, wanted, label, signed_zeros=row.name not in EITHER_ZERO)
        return
    bound = {64: row.ulp[1], 32: row.ulp[0]}.get(kind.bits, 1)
    with np.errstate(invalid="ignore"):
        floor = np.where(operands[0] < 0, row.floor, 0)
    distance = scalars.ulp_distance(result, wanted, floor)
    worst = int(np.argmax(distance))
    values = [x[worst] for x in operands]
    assert distance.max() <= bound, f"{label}{values} = {result[worst]}, {distance.max()} ulp"


# Of zeros of both signs either is right, and of NaN any.
EITHER_ZERO = ("max", "min", "clamp")


def check_agreement(row: Op, kind: ElementType) -> None:
    """Assert that both devices give the same bits: functions of an error bound too, since both
    compute them by one formula."""
    operands = arguments(row, kind)
    for said in keywords(row, kind):
        cpu, cuda = (
            getattr(gb, row.name)(*(gb.array(x, device=d) for x in operands), **said).numpy()
            for d in ("cpu", "cuda")
        )
        label = " ".join([row.name, *map(str, said.values()), f"on {kind}, cpu and cuda"])
        assert_same(cuda, cpu, label, signed_zeros=row.name not in EITHER_ZERO)


def assert_same(found: Any, wanted: Any, label: str, *, signed_zeros: bool = True) -> None:
    """Assert that two arrays have the same elements: NaN equals NaN, -0.0 differs from 0.0."""
    assert found.dtype == wanted.dtype, f"{label}: {found.dtype} is not {wanted.dtype}"
    same = found == wanted
    if found.dtype.kind == "c":
        same = scalars.same(found, wanted)
    elif found.dtype.kind not in "biu":
        nan = np.isnan(found.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
        if signed_zeros:
            same &= np.signbit(found.astype(np.float64)) == np.signbit(wanted.astype(np.float64))
        same |= nan
    bad = np.flatnonzero(~same)
    assert not bad.size, (
        f"{label}: {bad.size} of {found.size} differ, first at {bad[0]}: "
        f"{found.reshape(-1)[bad[0]]!r} is not {wanted.reshape(-1)[bad[0]]!r}"
    )


def conversion_values(kind: ElementType) -> np.ndarray[Any, Any]:
    """Special values, and values that round differently once and twice."""
    values = list(scalars.special_values(kind))
    if kind.is_floating:
        tricky = [
            2049.0,
            2049.0000001,
            257.0,
            257.00000001,
            65519.999,
            65520.0,
            1e20,
            -1e20,
            2.0**-25,
        ]
        tricky += [2.0**31, -(2.0**31), 2.0**63, 255.9, -0.9, 1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40]
        with np.errstate(all="ignore"):
            values += list(np.array(tricky).astype(kind.dtype))
    elif kind.is_integral and kind.bits >= 32:
        low, high = scalars.limits(kind)
        tricky_integers = [257, 2049, 2**24 + 1, 2**31 - 65, 2**40 + 2**32 + 1, 2**54 + 2**46 + 1]
        tricky_integers += [
            2**62 + 2**54,
            2**62 + 2**54 + 1,
            -(2**40) - 2**32 - 1,
            2**63 + 2**55 + 1,
        ]
        inside = [v for v in tricky_integers if low <= v <= high]
        values += list(np.array(inside, kind.dtype))
    return np.array(values, kind.dtype)


def check_conversion(source: ElementType, to: ElementType, device: str) -> None:
    """Assert that a conversion is XLA's."""
    values = conversion_values(source)
    found = gb.convert_element_type(gb.array(values, device=device), to.name).numpy()
    wanted = np.array([scalars.convert(v, source, to) for v in values], to.dtype)
    assert_same(found, wanted, f"{source} -> {to}")


def conversions(types: list[ElementType]) -> list[tuple[ElementType, ElementType]]:
    """All ordered pairs."""
    return list(itertools.product(types, types))


def check_total_order(device: str) -> None:
    """The total order of floats: -NaN < -inf < ... < -0.0 < 0.0 < ... < inf < NaN."""
    for name in ("f16", "f32", "f64"):
        dtype = gb.element_type(name).dtype
        ordered = [-np.nan, -np.inf, -2.0, -0.0, 0.0, 1.0, np.inf, np.nan]
        values = np.array(ordered, dtype)
        values[0] = np.copysign(np.array(np.nan, dtype), -1)
        left, right = np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
        x, y = gb.array(values[left], device=device), gb.array(values[right], device=device)
        found = gb.compare(x, y, direction="LT", total_order=True).numpy()
        assert (found == (left < right)).all(), name
