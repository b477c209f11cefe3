"""Every operation on every type in every family of kernels, against the CPU backend bit for bit.

The CPU's result is that of one flat call on the broadcast operands, so that its kernels are few and
what is compared is all that a family does: addresses, tiles, edges and masks as well as arithmetic.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.hlo import rules
from gpubcast.hlo.op import Op
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import accuracy, complex_numbers, scalars

Array = np.ndarray[Any, Any]
Attributes = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Family:
    """Operands for which a family of kernels is chosen: whole tiles, several of them, and edges.

    Attributes:
        shape: the result's.
        second: that of the second operand, where there are two.
        layouts: per operand, as text; "" is row-major.
        unary: the layout of a single operand.
        out: that of the result.
        several: whether ``select`` and ``clamp``, whose operands all have the result's shape, get
            it, too.
    """

    name: str
    shape: tuple[int, ...]
    second: tuple[int, ...]
    layouts: tuple[str, str] = ("", "")
    unary: str = ""
    out: str = ""
    several: bool = True


FAMILIES = (
    Family("flat", (12291,), (12291,)),
    Family("rows", (70, 1040), (1, 1040), unary="{1,0:pad(70,1056)}"),
    Family("phase", (4099, 3), (1, 3), unary="{1,0:pad(4099,4)}"),
    Family("running", (17, 1001), (1, 1001), unary="{1,0:pad(17,1003)}"),
    Family("xpose", (300, 96), (300, 96), layouts=("", "{0,1}"), unary="{0,1}"),
    Family("gather", (9616, 1), (9616, 1), out="{1,0:pad(9616,2)}"),
    Family("rows, gaps", (16, 601, 1), (1, 601, 1), out="{2,1,0:pad(16,603,2)}"),
    Family(
        "xpose, gaps", (96, 131, 1), (96, 131, 1), ("", "{0,1,2}"), "{0,1,2}",
        "{2,1,0:pad(96,133,2)}",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """One operation on one element type, with its keywords."""

    name: str
    element_type: str
    attributes: Attributes = ()

    def __str__(self) -> str:
        said = "".join(f" {key}={value}" for key, value in self.attributes)
        return f"{self.name} {self.element_type}{said}"

    @property
    def row(self) -> Op:
        return OPS[self.name]


KEYWORDS: dict[str, tuple[dict[str, Any], ...]] = {
    "round": ({"method": "away_from_zero"}, {"method": "even"}),
    "integer_pow": ({"y": 3}, {"y": -2}),
    "reduce_precision": ({"exponent_bits": 4, "mantissa_bits": 3},),
    "compare": tuple(
        {"direction": direction, "total_order": total}
        for direction in ("EQ", "LT", "GE")
        for total in (False, True)
    ),
}
# What has a test of its own, and kernels that are moves alone.
_OTHERS = ("iota", "broadcasted_iota", "broadcast", "total_order_key", "get_dimension_size")


def jobs() -> Iterator[Job]:
    """All of them."""
    for row, kind in itertools.product(OPS.values(), ELEMENT_TYPES.values()):
        if kind not in row.accepts or row.name in _OTHERS or row.rule.reduces is not None:
            continue
        if row.name == "convert_element_type":
            targets = [{"to": to.name} for to in ELEMENT_TYPES.values() if to is not kind]
        elif row.name == "bitcast_convert_type":
            alike = (
                to
                for to in ELEMENT_TYPES.values()
                if to.bits == kind.bits and to is not kind and to.is_complex == kind.is_complex
            )
            targets = [{"to": to.name} for to in alike]
        elif row.name == "compare" and not (kind.is_floating or kind.is_complex):
            continue  # lt and its like
        elif row.name == "compare" and kind.is_complex:
            targets = [{"direction": "EQ"}]
        else:
            targets = list(KEYWORDS.get(row.name, ({},)))
            if kind.is_integral:
                targets = [said for said in targets if said.get("y", 0) >= 0]
        for said in targets:
            yield Job(row.name, kind.name, tuple(said.items()))


def values(kind: ElementType, count: int, seed: int) -> Array:
    """A third random bits, a third special values, a third usual numbers."""
    rng = np.random.default_rng(seed)
    if kind.is_complex:
        word = f"u{kind.itemsize // 2}"
        raw = rng.integers(0, 256, (count, kind.itemsize), np.uint8).view(word)
        random = raw.view(kind.dtype)[:, 0]
        special = rng.choice(complex_numbers.special_values(kind), count)
        usual = complex_numbers.samples(kind, count, seed)
    elif kind.is_floating:
        random = accuracy.random_bits(rng, kind.dtype, count)
        special = rng.choice(scalars.special_values(kind), count)
        usual = (rng.standard_normal(count) * 4).astype(kind.dtype)
    else:
        special = rng.choice(scalars.special_values(kind), count)
        raw = rng.integers(0, 256, (count, kind.itemsize), np.uint8)
        random = _integers(kind, raw)
        usual = _integers(kind, raw % 8 * (np.arange(kind.itemsize) == 0).astype(np.uint8))
    way = rng.integers(0, 3, count)
    return np.where(way == 0, random, np.where(way == 1, special, usual)).astype(kind.dtype)


def _integers(kind: ElementType, raw: Array) -> Array:
    if kind.name == "pred":
        return raw[:, 0] % 2 == 1
    if kind.bits == 4:
        low = raw[:, 0].astype(np.int8) % 16
        return (low - 8 * (kind.name == "s4")).astype(kind.dtype)
    return raw.view(kind.dtype)[:, 0]


def shapes(job: Job, family: Family) -> list[tuple[tuple[int, ...], str]]:
    """Dimensions and layout of each operand."""
    row = job.row
    if row.rule is rules.BINARY:
        return [(family.shape, family.layouts[0]), (family.second, family.layouts[1])]
    if row.rule in (rules.SELECT, rules.CLAMP):
        first = family.layouts[1] or family.unary
        return [(family.shape, first), *[(family.shape, family.layouts[0])] * 2]
    if row.rule is rules.BROADCAST_IN_DIM:
        return [(family.second, family.layouts[1])]
    return [(family.shape, family.unary)]


def operands(job: Job, family: Family) -> list[Array]:
    """The same for every architecture."""
    kinds = [ELEMENT_TYPES[job.element_type]] * len(shapes(job, family))
    if job.row.rule is rules.SELECT:
        kinds[0] = ELEMENT_TYPES["pred"]
    return [
        values(kind, int(np.prod(shape)), 10 * i + len(shape)).reshape(shape)
        for i, (kind, (shape, _)) in enumerate(zip(kinds, shapes(job, family), strict=True))
    ]


def call(job: Job, family: Family, given: list[Array]) -> Any:
    """The job on the device; an ``Array``."""
    placed = []
    for x, (_, layout) in zip(given, shapes(job, family), strict=True):
        parsed = gb.Shape.parse(f"u8[{','.join(map(str, x.shape))}]{layout}").layout
        # Put into its layout by the host, so that no kernel does it.
        placed.append(gb.array(x, layout=parsed if layout else None).to_device("cuda"))
    said = dict(job.attributes)
    if job.row.rule is rules.BROADCAST_IN_DIM:
        said |= {"shape": family.shape, "broadcast_dimensions": tuple(range(len(family.shape)))}
    if family.out or (family.unary and len(given) == 1):
        text = family.out or "{1,0}"
        sizes = ",".join(map(str, family.shape))
        said["out_layout"] = gb.Shape.parse(f"u8[{sizes}]{text}").layout
    return getattr(gb, job.name)(*placed, **said)


@functools.lru_cache(maxsize=64)
def _flat(function: str, attributes: Attributes) -> Callable[..., Any]:
    return functools.partial(getattr(gb, function), **dict(attributes))


def expected(job: Job, family: Family, given: list[Array]) -> Array:
    """The CPU backend's result."""
    flat = [np.broadcast_to(x, family.shape).reshape(-1).copy() for x in given]
    if job.row.rule is rules.BROADCAST_IN_DIM:
        return flat[0].reshape(family.shape)
    found = _flat(job.name, job.attributes)(*(gb.array(x) for x in flat))
    return np.asarray(found.numpy()).reshape(family.shape)


_MOVES = (rules.SELECT, rules.BITCAST, rules.BROADCAST_IN_DIM)
# Of zeros of both signs either is right.
_EITHER_ZERO = ("max", "min", "clamp")


def differing(job: Job, found: Array, wanted: Array) -> Array:
    """Where results differ. Moves keep every bit; of a NaN that is computed any will do."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if found.dtype.kind == "c":
        parts = ((x.real.copy(), x.imag.copy()) for x in (found, wanted))
        (a, b), (c, d) = parts
        return differing(job, a, c) | differing(job, b, d)
    word = f"u{found.dtype.itemsize}"
    different = np.ascontiguousarray(found).view(word) != np.ascontiguousarray(wanted).view(word)
    if found.dtype.kind in "biu" or job.row.rule in _MOVES:
        return different
    with np.errstate(all="ignore"):
        x, y = found.astype(np.float64), wanted.astype(np.float64)
    if job.name in _EITHER_ZERO:
        different &= ~((x == 0) & (y == 0))
    return different & ~(np.isnan(x) & np.isnan(y))
