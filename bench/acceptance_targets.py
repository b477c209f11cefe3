"""What the CPU has to reach: cases, and how many times as fast as each library at each size.

Shapes are those of the measurements that the targets follow from: where a case of the bench has
another shape, the one here is its own. Ratios are times of a library to ours by the kind of call
that a case has; the share is of this machine's copy, fill or triad, with stores past the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .cases import CASES, Case
from .settings import Unit

SIZES: Mapping[str, int] = {"64Ki": 1 << 16, "4Mi": 1 << 22, "64Mi": 1 << 26}
"""Elements of the result; of 8 bytes each, half as many at the last."""
PEERS = ("NumPy", "PyTorch", "jax.jit")
OTHER_TYPES = 0.85
"""What f64 and s32 reach of the ratios of f32."""
_ALL, _FLOATS = ("f32", "f64", "s32"), ("f32", "f64")


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what it has to reach.

    Attributes:
        case: which.
        ratios: for each size of ``SIZES`` in order, the ratios to ``PEERS`` in order.
        share: of the ceiling, at the largest size in f32; 0 where computing is what limits it.
        entry: the kind of call.
        dtypes: types that it is measured in.
    """

    case: Case
    ratios: tuple[tuple[float, ...], ...]
    share: float = 0.0
    entry: str = "call"
    dtypes: tuple[str, ...] = _ALL

    def wanted(self, dtype: str, size: str) -> dict[str, float]:
        """The least ratio to each library at a size."""
        part = OTHER_TYPES if dtype in ("f64", "s32") else 1.0
        of_size = dict(zip(SIZES, self.ratios, strict=False)).get(size, ())
        return {name: part * ratio for name, ratio in zip(PEERS, of_size, strict=False)}

    def units(self) -> Iterator[Unit]:
        """What is measured for it."""
        for dtype in self.dtypes:
            for size in tuple(SIZES)[: len(self.ratios)]:
                halved = size == "64Mi" and dtype == "f64"
                peers = tuple(self.wanted(dtype, size))
                elements = SIZES[size] >> halved
                yield Unit(self.case, dtype, size, False, elements, peers, (self.entry,))


def _blocks(elements: int) -> Mapping[str, int]:
    return {"b": max(1, elements // 4096), "m": 16, "n": 256}


_BENCH = {case.name: case for case in CASES}
_SAME = _BENCH["same shape"]


_MIDDLE = Case(
    "middle axis (expanded)", "b 1 n, b m n -> b m n", ("$t[$b,1,$n]", "$t[$b,$m,$n]"),
    _SAME.formula, _SAME.steps, _blocks, "add",
)  # fmt: skip
_SIX = Case(
    "rank 6 alternating (both)", "a 1 c 1 e 1, 1 b 1 d 1 f -> a b c d e f",
    ("$t[$a,1,$a,1,$a,1]", "$t[1,$b,1,$b,1,$b]"),
    _SAME.formula, _SAME.steps, _BENCH["rank-6 alternating"].dimensions, "add",
)  # fmt: skip
_PADDED = Case(
    "padded rows (both)", "m n, m n -> m n",
    ("$t[$m,$n]{1,0:pad($m,$pitch)}", "$t[$m,$n]{1,0:pad($m,$pitch)}"),
    _SAME.formula, _SAME.steps, _BENCH["padded rows"].dimensions, "add",
)  # fmt: skip
_SELECT = Case(
    "masked select (chain)", "m n, m n -> m n", _SAME.operands,
    "x, y: where(x > y, x, 2 * y)", "copyto(out, where(x > y, x, 2 * y))", _SAME.dimensions,
)  # fmt: skip
_EXP, _TANH = (
    Case(
        name, "m n -> m n", ("$t[$m,$n]",), f"x: {name}(x)", f"{name}(x, out=out)",
        _SAME.dimensions, name, dtypes=_FLOATS, ulps=8,
    )
    for name in ("exp", "tanh")
)  # fmt: skip


def _row(
    case: Case | str,
    small: float,
    medium: tuple[float, float],
    large: tuple[float, ...],
    share: float = 0.0,
    *,
    entry: str = "call",
    dtypes: tuple[str, ...] = _ALL,
) -> Row:
    """A line of the table: 64 Ki beside NumPy; 4 Mi beside NumPy and PyTorch; 64 Mi beside all."""
    known = _BENCH[case] if isinstance(case, str) else case
    return Row(known, ((small,), medium, large), share, entry, dtypes)


ROWS: tuple[Row, ...] = (
    _row("same shape", 1.2, (2.5, 1.5), (3.8, 3.7, 3.7), 0.90),
    _row("scalar", 1.4, (2.8, 1.8), (5, 5, 5), 0.88),
    _row("row bias", 2.5, (3.5, 1.8), (5, 5, 5), 0.88),
    _row("column", 2.5, (3.5, 1.8), (5, 5, 5), 0.88),
    _row("outer product", 4, (3, 1.4), (7, 8, 8), 0.93),
    _row(_MIDDLE, 2.5, (3.5, 1.8), (4.5, 4, 3.5), 0.70),
    _row("(N,3)+(3)", 6, (10, 2.5), (11, 7, 4.5), 0.72),
    _row("transposed operand", 4, (12, 8), (15, 9, 3.5), 0.45),
    _row(_SIX, 4, (4, 1.6), (6, 5, 4.5), 0.45),
    _row(_PADDED, 1.6, (3, 1.4), (2.6, 1.2), 0.80, entry="out"),
    _row("layernorm apply", 8, (11, 5), (20, 16, 5), 0.82, dtypes=_FLOATS),
    _row("gelu", 5, (10, 2.5), (50, 6, 6), dtypes=_FLOATS),
    _row(_SELECT, 30, (15, 9), (18, 15, 4), 0.90),
    _row(_EXP, 2.5, (2.5, 1.4), (8, 5.5, 8), 0.85, dtypes=("f32",)),
    _row(_TANH, 1.4, (2.5, 1.4), (6, 5.5, 8), 0.85, dtypes=("f32",)),
    Row(_SAME, ((20,),), dtypes=("f16",)),
    Row(_SAME, ((7,),), dtypes=("bf16",)),
)


def units() -> tuple[Unit, ...]:
    """Everything that is measured: f32 first, and each type from the smallest size on."""
    every = [unit for row in ROWS for unit in row.units()]
    types, sizes = ("f32", "f16", "bf16", "f64", "s32"), list(SIZES)
    return tuple(sorted(every, key=lambda u: (types.index(u.dtype), sizes.index(u.size))))
