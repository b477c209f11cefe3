"""Mistakes in PTX text, each of which the tests of this tier must find.

A mutant changes the code that NVRTC made of a call, at one place: what a compiler that is wrong
would do. The headers' own planted faults are in ``tests/emulated``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpubcast as gb

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of the PTX of a call.

    Attributes:
        call: the call, by its name in ``CALLS``.
        old: a pattern; the ``place``-th match is replaced by ``new``. The first one is often on the
            way of elements before the first whole vector, of which these calls have none.
    """

    name: str
    call: str
    old: str
    new: str
    place: int = -1

    def of(self, text: str) -> str:
        """The changed text."""
        found = [*re.finditer(self.old, text)]
        assert found, f"{self.name}: no {self.old}"
        at = found[self.place]
        return text[: at.start()] + at.expand(self.new) + text[at.end() :]


def _numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8).view(dtype)[
            ..., 0
        ]
    return (rng.standard_normal(shape) * 4).astype(dtype)


def _call(function: Callable[..., Any], *operands: Array) -> Callable[[str], Any]:
    return lambda device: function(*(gb.array(x, device=device) for x in operands))


@gb.fuse
def _sum_of_product(x: Any, y: Any, z: Any) -> Any:
    return gb.add(gb.mul(x, y), z)


@gb.fuse
def _nothing_left(x: Any, y: Any) -> Any:
    return gb.sub(gb.add(x, y), y)


MATRIX, ROW, COLUMN = (_numbers(s, "f4", i) for i, s in enumerate(((300, 83), (83,), (300,))))
PIXELS = _numbers((4099, 3), "f4", 4)
LONG, OTHER, THIRD = (_numbers((12291,), "f4", seed) for seed in (5, 6, 7))
DENORMAL = (LONG.view("u4") & np.uint32(0x807FFFFF)).view("f4")
WORDS, DIVISORS = _numbers((12291,), "i4", 8), _numbers((12291,), "i4", 9) >> 20
WIDE, WIDE_ROW = _numbers((70, 1040), "f4", 10), _numbers((1040,), "f4", 11)

CALLS: dict[str, Callable[[str], Any]] = {
    "add": _call(gb.add, LONG, OTHER),
    "small": _call(gb.add, DENORMAL, -DENORMAL[::-1].copy()),
    "exp": _call(gb.exp, LONG),
    "sin": _call(gb.sin, LONG * np.float32(1e6)),
    "tanh": _call(gb.tanh, LONG.astype("f2")),
    "sqrt": _call(gb.sqrt, abs(LONG)),
    "product": _call(_sum_of_product, LONG, OTHER, THIRD),
    "rounded": _call(_nothing_left, LONG, OTHER),
    "divide": _call(gb.div, WORDS, DIVISORS),
    "shift": _call(gb.shift_right_arithmetic, WORDS, abs(DIVISORS) % 40),
    "floor": _call(lambda x: gb.convert_element_type(x, "s8"), LONG * 40),
    "rows": _call(lambda x, v: gb.add(x, v, broadcast_dimensions=(1,)), WIDE, WIDE_ROW),
    "column": _call(lambda x, v: gb.sub(x, v, broadcast_dimensions=(0,)), MATRIX, COLUMN),
    "short": _call(lambda x, v: gb.add(x, v, broadcast_dimensions=(1,)), PIXELS, PIXELS[0].copy()),
    "turned": _call(lambda x: gb.add(x, x.T), _numbers((300, 300), "f4", 3)),
    "gather": _call(lambda x: gb.neg(x[::2, ::-3]), MATRIX),
    "less": _call(gb.lt, LONG.round(), OTHER.round()),
}  # fmt: skip

MUTANTS = [
    Mutant("an add in place of a sub", "rounded", r"sub\.rn\.f32", "add.rn.f32"),
    Mutant("an operand twice", "add", r"add\.rn\.f32 (\S+) (\S+), (\S+);",
           r"add.rn.f32 \1 \2, \2;"),
    Mutant("no rounding mode", "add", r"add\.rn\.f32", "add.f32"),
    Mutant("denormals flushed", "small", r"add\.rn\.f32", "add.rn.ftz.f32"),
    Mutant("rounded towards zero", "exp", r"fma\.rn\.f32", "fma.rz.f32"),
    Mutant("the last bit of a coefficient", "exp", r"0f3E2AAA49", "0f3E2AAA4A"),
    Mutant("a coefficient of sin", "sin", r"0fBE2AAA\w\w", "0fBE2AAB00"),
    Mutant("the sign of a fused summand", "tanh", r"fma\.rn\.f32 (\S+) (\S+), (\S+), (\S+);",
           r"fma.rn.f32 \1 \2, \3, \3;"),
    Mutant("an approximate root", "sqrt", r"sqrt\.rn\.f32", "sqrt.approx.f32"),
    Mutant("a contraction", "product",
           r"mul\.rn\.f32 \s*(%\w+), (\S+), (\S+);(\s+)add\.rn\.f32 \s*(%\w+), \1, (\S+);",
           r"fma.rn.f32 \5, \2, \3, \6;"),
    Mutant("a sum that cancels", "rounded", r"sub\.rn\.f32 \s*(%\w+), (\S+), (\S+);",
           r"mov.b32 \1, \2;"),
    Mutant("unsigned division", "divide", r"div\.s32", "div.u32"),
    Mutant("a logical shift", "shift", r"shr\.s32(?=[^;]*%r\w+, %r\w+;)", "shr.u32"),
    Mutant("a comparison with its border", "less", r"setp\.lt\.f32", "setp.le.f32"),
    Mutant("a conversion rounded to nearest", "floor", r"cvt\.rzi\.s32\.f32", "cvt.rni.s32.f32"),
    Mutant("lanes of a vector exchanged", "add",
           r"st\.global\.(v4\.\w32) \[(\S+)\], \{(\S+), (\S+),",
           r"st.global.\1 [\2], {\4, \3,"),
    Mutant("a shorter load", "rows",
           r"ld\.global\.L1::no_allocate\.v4\.(\w32) \{(\S+), \S+ \S+ \S+\},",
           r"ld.global.L1::no_allocate.\1 \2,", 0),
    Mutant("a vector one element on", "add", r"\.v(\d)\.(\w32) (\{[^}]*\}), \[(%rd\d+)\]",
           r".v\1.\2 \3, [\4+4]"),
    Mutant("the width of the block", "rows", r"mov\.u32 \s*(%r\d+), %ntid\.x", r"mov.u32 \1, 1"),
    Mutant("the thread's row", "rows", r"%tid\.y", "%tid.x"),
    Mutant("the wrong block", "short", r"%ctaid\.x", "%ctaid.y"),
    Mutant("the border of a tile", "turned", r"setp\.(gt|ge|lt|le)\.([su])(64|32)",
           r"setp.ne.\2\3", 4),
    Mutant("a mask of lanes", "turned", r"setp\.(gt|ge|lt|le)\.([su])(64|32)", r"setp.ne.\2\3", 3),
    Mutant("an offset of a parameter", "gather", r"_param_0\+(\d+)0\]", r"_param_0+\g<1>8]"),
    Mutant("the high half of a product", "gather", r"mul\.hi\.u32", "mul.lo.u32"),
    Mutant("a missing store", "add", r"st\.global\.v4[^;]*;", ""),
    Mutant("a neighbour's elements stored, too", "add",
           r"(st\.global\.v4\.\w32) \[(%rd\d+)\], (\{[^}]*\});", r"\1 [\2], \3; \1 [\2+16], \3;"),
]  # fmt: skip
