"""What the sweep asks of a GPU: questions, cases of the benchmark's kind, and variants of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpubcast.families import Family

from .cases import CASES, Case, Dimensions, Sized
from .sweep_variants import (
    PICKED,
    Variant,
    blocks_go_on,
    family,
    flat,
    hints,
    patches,
    persistent,
    shared_tile,
    stay,
    tiles,
)

BYTES = 512 << 20
"""Of operands and result: several times what an L2 cache holds."""
DRY_BYTES = 48 << 10

_BY_NAME = {case.name: case for case in CASES}
_VECTOR = ("$t[$n]", "$t[$n]")


@dataclass(frozen=True, slots=True)
class Trial:
    """One case of a question.

    Attributes:
        case: shapes and arithmetic.
        dtype: the element type.
        offsets: per operand and for the result, how many elements are left out at the begin of
            each row, so that addresses are not aligned; shorter ones are 0.
        note: what tells it from the same case in another trial.
    """

    case: Case
    dtype: str = "f32"
    offsets: tuple[int, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.case.name, self.dtype, self.note)))

    def sized(self, num_bytes: int) -> Sized:
        """At about so many bytes."""
        return self.case.within(num_bytes, self.dtype)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which cases, by which variants; the scheduler's own is always one."""

    name: str
    text: str
    trials: tuple[Trial, ...]
    variants: tuple[Variant, ...]


def _square(elements: int) -> Mapping[str, int]:
    n = max(64, math.isqrt(elements) // 64 * 64)
    return {"m": n, "n": n}


def _narrow(elements: int) -> Mapping[str, int]:
    return {"m": max(64, elements // 64 // 64 * 64), "n": 64}


def _even(elements: int) -> Mapping[str, int]:
    n = min(8192, 1 << max(6, (elements.bit_length() - 1) // 2))
    return {"m": max(8, elements // n // 8 * 8), "n": n}


def _line(elements: int) -> Mapping[str, int]:
    return {"n": max(64, elements // 64 * 64)}


def _own(name: str, like: str, dimensions: Dimensions, **more: Any) -> Case:
    """A case of the benchmark with other sizes, and other fields where told."""
    return replace(_BY_NAME[like], name=name, dimensions=dimensions, **more)


ADD = _own("add", "same shape", _line, labels="n, n -> n", operands=_VECTOR)
COPY = _own(
    "negative", "same shape", _line, labels="n -> n", operands=_VECTOR[:1], formula="x: -x",
    operation="neg",
)  # fmt: skip
ROW, COLUMN = _own("row", "row bias", _even), _own("column", "column", _even)
OUTER = _own("outer product", "outer product", _even)
MIDDLE = _BY_NAME["middle axis"]
SQUARE = _own("transposed square", "transposed operand", _square)
NARROW = _own("transposed (N,64)", "transposed operand", _narrow)
TURNED = _BY_NAME["3-D permutation"]
POINTS = _BY_NAME["(N,3)+(3)"]
PER_POINT = _own(
    "(N,3)*(N,1)", "(N,3)+(3)", _BY_NAME["(N,3)+(3)"].dimensions, labels="m xyz, m 1 -> m xyz",
    operands=("$t[$m,3]", "$t[$m,1]"), formula="x, y: x * y", operation="mul", keywords={},
)  # fmt: skip
SIX = _BY_NAME["rank-6 alternating"]
NARROW_TYPES = ("f32", "bf16", "u8")

FLAT_VARIANTS = (
    *(Variant(f"U{n}", flat(unroll=n)) for n in (1, 2, 4, 8)),
    *(Variant(f"V{v} U{n}", flat(vector=v, unroll=n)) for v, n in ((2, 4), (1, 8))),
)
HINT_VARIANTS = (
    Variant("plain", edit=hints("")),
    Variant("no L1", edit=hints(".L1::no_allocate")),
    Variant("no L1, stores cs", edit=hints(".L1::no_allocate", ".cs")),
    Variant("cs", edit=hints(".cs")),
    Variant("cs, stores cs", edit=hints(".cs", ".cs")),
    Variant("read-only, no L1", edit=hints(".nc.L1::no_allocate")),
)
ROW_VARIANTS = (
    *(Variant(f"R{n}", tiles(unroll=n)) for n in (1, 2, 4, 8)),
    *(Variant(f"TX{n}", tiles(lanes=n)) for n in (8, 16, 32, 64, 128)),
)
CROSSED_VARIANTS = (
    *(
        Variant(f"{v}x{r}", tiles(vector=v, unroll=r))
        for v, r in ((2, 4), (2, 8), (4, 4), (4, 8), (8, 4), (8, 8))
    ),
    *(Variant(f"TX{n}", tiles(lanes=n), patches(n)) for n in (4, 16)),
    Variant("shared tile", edit=shared_tile),
    Variant("GATHER", family(Family.GATHER)),
)
PHASE_VARIANTS = (
    *(Variant(f"steps {n}", blocks_go_on(n)) for n in (1, 4, 16)),
    Variant("ROWS", family(Family.ROWS)),
    Variant("GATHER", family(Family.GATHER)),
)
STAYING_VARIANTS = tuple(Variant(f"{n} waves", stay(n), persistent) for n in (1, 2, 4))

QUESTIONS = (
    Question(
        "flat", "FLAT: how many vectors of what width has a thread?",
        tuple(Trial(case, dtype) for dtype in NARROW_TYPES for case in (ADD, COPY)), FLAT_VARIANTS,
    ),
    Question(
        "hints", "Which cache hints on loads and stores?",
        (Trial(ADD), Trial(COPY), Trial(ROW)), HINT_VARIANTS,
    ),
    Question(
        "rows", "ROWS: how many rows has a thread, how many threads a row?",
        (Trial(ROW), Trial(COLUMN), Trial(OUTER), Trial(MIDDLE), Trial(ROW, "bf16"),
         Trial(ROW, "u8")),
        ROW_VARIANTS,
    ),
    Question(
        "transpose", "XPOSE: patches in registers of which form, or a tile in shared memory?",
        (*(Trial(SQUARE, dtype) for dtype in NARROW_TYPES), Trial(NARROW), Trial(TURNED)),
        CROSSED_VARIANTS,
    ),
    Question(
        "phase", "PHASE: how long does a block stay, and is it better than its rivals?",
        (Trial(POINTS), Trial(PER_POINT), Trial(POINTS, "bf16")), PHASE_VARIANTS,
    ),
    Question(
        "rank 6", "Many short axes: which family?", (Trial(SIX), Trial(SIX, "bf16")),
        tuple(Variant(one.name, family(one)) for one in (Family.ROWS, Family.PHASE, Family.GATHER)),
    ),
    Question(
        "misaligned", "What do addresses cost that are no multiples of 16?",
        tuple(
            Trial(case, dtype, offsets, note)
            for case in (ADD, ROW)
            for dtype in ("f32", "bf16")
            for note, offsets in (
                ("aligned", ()), ("all off by one", (1, 1, 1)), ("one off by one", (1,)),
                ("result off by one", (0, 0, 1)),
            )
        ),
        (),
    ),
    Question(
        "persistent", "FLAT: a block for each tile, or blocks that stay?",
        (Trial(ADD), Trial(COPY), Trial(ADD, "u8")), STAYING_VARIANTS,
    ),
)  # fmt: skip

__all__ = ["BYTES", "DRY_BYTES", "PICKED", "QUESTIONS", "Question", "Trial"]
