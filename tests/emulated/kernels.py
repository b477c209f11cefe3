"""Hand-written instances of the kernel templates, hand-packed parameters, and an index-loop oracle.

Nothing here uses the code generator or its packer: they are tested against the same headers
elsewhere, and this file is what both are held against.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from gpubcast.codegen.source import KernelSource
from tests.support.emulator.backend import EmulatorBackend

Array = np.ndarray[Any, Any]

DTYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.uint8),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "s4": np.dtype(ml_dtypes.int4),
    "u4": np.dtype(ml_dtypes.uint4),
    **{
        f"f8{name}": np.dtype(getattr(ml_dtypes, f"float8_{name}"))
        for name in ("e5m2", "e4m3fn", "e4m3b11fnuz", "e4m3fnuz", "e5m2fnuz")
    },
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}
COMPUTE = {"pred": "bool", "f16": "float", "bf16": "float", "s4": "i8", "u4": "u8"} | {
    name: "float" for name in DTYPES if name.startswith("f8")
}


# The functor's members: what each keeps for the next, its parameters, the indices of its operands'
# values and of its results, and which operands it may read.
PARTS = {
    "scalars": ("Scalars", "Scalars& s", "0, 0", "0", ("SCALAR", "VALUE")),
    "columns": ("Columns", "const Scalars& s, Columns& c, int r", "r, 0", "r",
                ("SCALAR", "VALUE", "COLUMN")),
    "rows": ("Rows", "const Scalars& s, Rows& w, int k", "0, k", "k",
             ("SCALAR", "VALUE", "ROW", "PERIODIC")),
    "run": ("", "const Scalars& s, const Columns& c, const Rows& w, int r, int k", "r, k", "k", ()),
}  # fmt: skip
# The member that computes a write, by its kind; ``run`` computes the others.
PART_OF = {"SCALAR": "scalars", "COLUMN": "columns", "ROW": "rows"}  # of writes
KEPT = {"scalars": "s", "columns": "c", "rows": "w"}


def kernel(
    entry: str, expressions: Sequence[str], call: str, params: str, reads: Sequence[str],
    writes: Sequence[str], hoisted: Sequence[str] = ("", "", ""), words: Sequence[str] = (),
) -> KernelSource:  # fmt: skip
    """A kernel around a functor of compute values ``a0, a1, ...``, one expression per write.

    ``call`` is the template up to the functor (``"flat<4, 2"``), reads are ``"float TILE"``,
    writes ``"float"`` or ``"float GATHERED"``. ``hoisted`` are float expressions computed once per
    thread, per row and per column; the rest knows them as ``s.v``, ``c.v`` and ``w.v``. ``words``
    are the expressions on words of four elements, one per write; none where it is empty.
    """
    header = call.split("<")[0].rstrip("3264")
    slots = [
        ", ".join(f"{name}<{', '.join(slot.split())}>" for slot in group)
        for name, group in (("Read", reads), ("Write", writes))
    ]
    body = "\n".join(
        f"  {line}"
        for part, early in zip(PARTS, (*hoisted, ""), strict=True)
        for line in _member(part, early, expressions, reads, writes)
    ) + (_words(words, len(reads)) if words else "")
    text = f"""// {entry}
#include "{header}.cuh"
namespace gb {{
struct Body_{entry} : Body {{
{body}
}};
}}
using namespace gb;
extern "C" __global__ void __launch_bounds__(256) {entry}(const __grid_constant__ {params} p) {{
  {call}, Body_{entry}, List<{slots[0]}>, List<{slots[1]}>>(p);
}}
"""
    return KernelSource(entry, text, entry)


def _member(
    part: str, early: str, expressions: Sequence[str], reads: Sequence[str], writes: Sequence[str]
) -> list[str]:
    """One member function of a functor, and the struct it fills."""
    struct, given, at, to, kinds = PARTS[part]
    operands = [
        f"const {COMPUTE.get(t, t)} a{i} = get<{i}>(in).value({at});"
        for i, (t, kind, *_) in enumerate(read.split() for read in reads)
        if not kinds or kind in kinds
    ]
    results = [
        f"const {COMPUTE.get(t, t)} r{o} = {text}; get<{o}>(out).keep({to}, r{o});"
        for o, (text, (t, *kind)) in enumerate(
            zip(expressions, map(str.split, writes), strict=True)
        )
        if PART_OF.get("".join(kind), "run") == part
    ]
    if part != "run" and not early and not results:
        return []
    kept = [f"struct {struct} {{ float v; }};"] if early else []
    if early:
        operands.append(f"{KEPT[part]}.v = {early};")
    return [
        *kept,
        f"template <class In, class Out> static GB_FN void {part}(const In& in, Out& out, {given})",
        f"{{ {' '.join(operands + results)} }}",
    ]


def _words(words: Sequence[str], reads: int) -> str:
    """The member that computes four elements."""
    taken = [f"const u32 a{i} = get<{i}>(in).word(r, k);" for i in range(reads)]
    taken += [f"get<{o}>(out).keep_word(k, {text});" for o, text in enumerate(words)]
    return f"""
  static constexpr bool WORDS = true;
  template <class In, class Out> static GB_FN void words(const In& in, Out& out, int r, int k)
  {{ {" ".join(taken)} }}"""


def fast_div(d: int, bits: int = 32) -> tuple[int, int, int]:
    """(d, m, s) with n // d == (mulhi(n, m) + n) >> s for n < 2**(bits - 1)."""
    s = math.ceil(math.log2(d)) if d < 2**40 else (d - 1).bit_length()
    return d, (2**bits * (2**s - d)) // d + 1, s


def short_div(d: int) -> tuple[int, int, int]:
    """(-d, m, s) with n // d == n * m >> s for n < 2**12."""
    s = 12 + math.ceil(math.log2(d))
    return 2**32 - d, math.ceil(2**s / d), s


@dataclass(frozen=True)
class Slot:
    """One operand: its type, its kind, and where its elements are.

    ``strides`` are in elements, per axis, major to minor; ``start`` is the offset of the element
    at index 0 in a buffer of ``length`` elements. A vector is loaded ``part`` elements at a time,
    where that is not 0; ``same`` neighbours in it are one element.
    """

    type: str
    kind: str
    strides: tuple[int, ...]
    start: int = 0
    length: int = 0
    part: int = 0
    same: int = 1

    @property
    def text(self) -> str:
        """What the kernel calls it."""
        said = f" {self.part or 64} {self.same}" if self.part or self.same > 1 else ""
        return f"{self.type} {self.kind}{said}"

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.type]


@dataclass(frozen=True)
class Case:
    """One launch of one kernel."""

    name: str
    family: str  # flat, rows, xpose, phase, running, gather32, gather64
    extents: tuple[int, ...]  # rows, xpose: batch axes, ny, nx; phase: batch axes, rows, inner axes
    reads: tuple[Slot, ...]
    writes: tuple[Slot, ...]
    expressions: tuple[str, ...]
    function: Callable[..., tuple[Array, ...]]  # of compute values
    vector: int = 1
    unroll: int = 1
    block: tuple[int, int] = (256, 1)
    sizes: tuple[int, ...] = ()  # logical sizes; empty: no padding is filled
    fills: tuple[float, ...] = ()
    down: int = 32  # xpose: patches of a block along the rows
    hoisted: tuple[str, str, str] = ("", "", "")
    group: int = 1  # phase: inner axes
    head: int = 0  # flat, running: elements before the first vector
    offset: str = "i32"  # phase: type of the offsets in a tile
    words: tuple[str, ...] = ()  # expressions on four elements of a byte

    @property
    def slots(self) -> tuple[Slot, ...]:
        return self.reads + self.writes

    def source(self) -> KernelSource:
        n, m, rank = len(self.slots), len(self.writes), len(self.extents)
        fill = "true" if self.sizes else "false"
        call, params = {
            "flat": (f"flat<{self.vector}, {self.unroll}", f"FlatParams<{n}>"),
            "rows": (
                f"rows<{self.vector}, {self.unroll}, {fill}, {rank - 2}",
                f"RowsParams<{n}, {rank - 2}, {m}>",
            ),
            "xpose": (
                f"xpose<{self.vector}, {self.unroll}, {self.down}, {fill}, {rank - 2}",
                f"RowsParams<{n}, {rank - 2}, {m}>",
            ),
            "phase": (
                f"phase<{self.vector}, {self.unroll}, {self.group}, {rank - 1 - self.group}, "
                f"{fill}, {self.offset}",
                f"PhaseParams<{n}, {self.group}, {rank - 1 - self.group}, {m}>",
            ),
            "running": (
                f"running<{self.vector}, {self.unroll}, {rank - 1}",
                f"RunningParams<{n}, {rank - 1}>",
            ),
            **{
                f"gather{bits}": (
                    f"gather{bits}<{rank}, {self.unroll}, {fill}",
                    f"GatherParams{bits}<{n}, {rank}, {m}>",
                )
                for bits in (32, 64)
            },
        }[self.family]
        return kernel(
            self.name,
            self.expressions,
            call,
            params,
            [s.text for s in self.reads],
            [f"{s.type} {s.kind}" for s in self.writes],
            self.hoisted,
            self.words,
        )

    def threads(self) -> tuple[int, int]:
        """The threads of a block: in GATHER they have 256 elements together."""
        return (256 // self.unroll, 1) if self.family.startswith("gather") else self.block

    def grid(self) -> int:
        if self.family == "phase":
            rows = self.extents[-1 - self.group]
            return self._blocks_below(rows) * math.prod(self.extents[: -1 - self.group])
        if self.family.startswith("gather"):
            return -(-math.prod(self.extents) // 256)
        if self.family not in ("rows", "xpose"):
            elements = math.prod(self.extents) - self.head
            return max(-(-elements // (256 * self.vector * self.unroll)), 1)
        return math.prod((*self._tiles(), *self.extents[:-2]))

    def _tiles(self) -> tuple[int, int]:
        *_, ny, nx = self.extents
        across, down = (256 // self.down, self.down) if self.family == "xpose" else self.block
        width, height = across * self.vector, down * self.unroll
        return -(-nx // width), -(-ny // height)

    def _height(self) -> int:
        """PHASE: rows of a tile, the most that 256 threads have vectors for; of four or two vectors
        unless 17 threads or more idle for it."""
        period = math.prod(self.extents[-self.group :])
        fitting = range(256 * self.vector // period + 1)
        four, two, one = (
            max(h for h in fitting if h * period % (n * self.vector) == 0) for n in (4, 2, 1)
        )
        return next(h for h in (four, two, one) if (one - h) * period <= 16 * self.vector)

    def _blocks_below(self, rows: int) -> int:
        return -(-rows // (self._height() * self.unroll))

    def pack(self, addresses: Sequence[int]) -> bytearray:
        n, rank = len(self.slots), len(self.extents)
        slots = [address % 2**64 for address in addresses]
        sizes = self.sizes or self.extents
        fills = [_bits(v, s.dtype) for v, s in zip(self.fills, self.writes, strict=False)]
        fills = fills or [0] * len(self.writes)
        if self.family == "flat":
            return bytearray(struct.pack(f"@{n}Q2q", *slots, *self.extents, self.head))
        if self.family == "running":
            strides = [s.strides[k] for k in (-1, *range(rank - 1)) for s in self.slots]
            *outer, length = self.extents
            divisors = (length, *outer)
            return bytearray(
                struct.pack(
                    f"@{n}Q2q{len(strides)}q3Q{3 * len(divisors)}I0q",
                    *slots,
                    *(math.prod(self.extents), self.head),
                    *strides,
                    *fast_div(length, 64),
                    *(value for d in divisors for value in fast_div(d)),
                )
            )
        if self.family == "phase":
            first = rank - self.group
            *batch, rows = self.extents[:first]
            inner = self.extents[first:]
            period = math.prod(inner)
            strides = [s.strides[first - 1] for s in self.slots]
            strides += [s.strides[k] for k in range(first, rank) for s in self.slots]
            strides += [s.strides[k] for k in range(first - 1) for s in self.slots] or [0] * n
            below, around = self._blocks_below(rows), batch or [1]
            divisions = (short_div(period), fast_div(below), *map(short_div, inner))
            divisions += tuple(map(fast_div, around))
            logical = (*sizes[first:], *(sizes[: first - 1] or [1]))
            return bytearray(
                struct.pack(
                    f"@{n}Q{len(strides)}q2q2I{3 * len(divisions)}I{len(logical)}I{len(fills)}Q",
                    *slots,
                    *strides,
                    *(rows, sizes[first - 1]),
                    *(period * self._height(), self._height()),
                    *(value for three in divisions for value in three),
                    *logical,
                    *fills,
                )
            )
        if self.family in ("rows", "xpose"):
            batch = self.extents[:-2]
            b = max(1, len(batch))
            strides = [s.strides[k] for k in range(rank - 2) for s in self.slots]
            return bytearray(
                struct.pack(
                    f"@{n}Q{2 * n}q{b * n}q4q6I{3 * b}I{b}i{len(fills)}Q",
                    *slots,
                    *(s.strides[-2] for s in self.slots),
                    *(s.strides[-1] for s in self.slots),
                    *(strides or [0] * n),
                    *(self.extents[-1], self.extents[-2], sizes[-1], sizes[-2]),
                    *(value for tiles in self._tiles() for value in fast_div(tiles)),
                    *(value for d in batch or (1,) for value in fast_div(d)),
                    *(sizes[:-2] or (1,)),
                    *fills,
                )
            )
        bits = 32 if self.family == "gather32" else 64
        return bytearray(
            struct.pack(
                f"@{n}Q{rank * n}qq{rank}q{3 * rank}{'I' if bits == 32 else 'Q'}{len(fills)}Q",
                *slots,
                *(s.strides[k] for k in range(rank) for s in self.slots),
                math.prod(self.extents),
                *sizes,
                *(value for d in self.extents for value in fast_div(d, bits)),
                *fills,
            )
        )

    def expected(self, buffers: Sequence[Array]) -> list[Array]:
        """What the buffers of the writes must hold: nothing but the elements visited changes."""
        place, inside = self._places()
        values = [
            _compute(buffer[where[inside]], slot.type)
            for buffer, where, slot in zip(buffers, place, self.reads, strict=False)
        ]
        with np.errstate(all="ignore"):
            results = self.function(*values)
        after = []
        for i, slot in enumerate(self.writes):
            buffer, where = buffers[len(self.reads) + i].copy(), place[len(self.reads) + i]
            buffer[where[inside]] = np.asarray(results[i]).astype(slot.dtype)
            if self.fills:
                buffer[where[~inside]] = self.fills[i]
            after.append(buffer)
        return after

    def _places(self) -> tuple[list[Array], Array]:
        """Per slot, the element of every index visited; and which of them are not padding."""
        index = np.indices(self.extents).reshape(len(self.extents), -1)
        sizes = np.array(self.sizes or self.extents).reshape(-1, 1)
        place = [s.start + np.array(s.strides) @ index for s in self.slots]
        return place, (index < sizes).all(axis=0)

    def written(self) -> list[int]:
        """Per write, the bytes of its distinct elements."""
        places = self._places()[0][len(self.reads) :]
        return [
            len(np.unique(p)) * s.dtype.itemsize for p, s in zip(places, self.writes, strict=True)
        ]


def _bits(value: float, dtype: np.dtype[Any]) -> int:
    return int.from_bytes(np.array(value).astype(dtype).tobytes(), "little")


def _compute(values: Array, type_: str) -> Array:
    if type_ == "pred":
        return np.not_equal(values, 0)
    return values.astype(np.float32) if type_ in ("f16", "bf16") else values


def data(slot: Slot, rng: np.random.Generator) -> Array:
    """Random elements of a slot's type; floats are exact in bf16 before any operation."""
    if slot.dtype.kind in "iu" or slot.type == "pred":
        raw = rng.integers(0, 256, (slot.length, slot.dtype.itemsize), np.uint8)
        if slot.type == "pred":  # bytes other than 0 and 1 read as true
            raw *= raw % 3 > 0
        return np.frombuffer(raw.tobytes(), slot.dtype)
    eighths = np.arange(-127, 128) / 8
    return rng.choice(eighths, slot.length).astype(slot.dtype)


def check(backend: EmulatorBackend, case: Case, seed: int = 0) -> None:
    """Launches a case and compares every byte of every written buffer with the oracle.

    A backend that traces also shows whether each element was written once.

    Raises:
        AssertionError: any byte differs, or the emulator saw a forbidden access.
    """
    (run,) = backend.load_many([case.source()])
    rng = np.random.default_rng(seed)
    memory: list[Array] = []
    buffers: list[Array] = []
    addresses: list[int] = []
    for slot in case.slots:
        flat = backend.allocate(slot.length * slot.dtype.itemsize)
        if len(memory) < len(case.reads):
            flat[:] = data(slot, rng).view(np.uint8)
        values = backend.view(flat, 0, slot.dtype, (slot.length,), (slot.dtype.itemsize,))
        memory.append(flat)
        buffers.append(values)
        if slot.kind == "VALUE":
            addresses.append(int.from_bytes(flat[: slot.dtype.itemsize].tobytes(), "little"))
        else:
            addresses.append(backend.address(flat) + slot.start * slot.dtype.itemsize)
    expected = case.expected(buffers)
    backend.launch(run, case.grid(), case.threads(), case.pack(addresses))
    for i, want in enumerate(expected):
        got = buffers[len(case.reads) + i]
        wrong = np.flatnonzero(got.view(np.uint8) != want.view(np.uint8))
        assert not wrong.size, (
            f"{case.name}: write {i} differs in {wrong.size} bytes, first in element "
            f"{wrong[0] // got.dtype.itemsize}"
        )
    if backend.trace:
        stored = [slot.useful_bytes for slot in backend.statistics[len(case.reads) :]]
        for i, wanted in enumerate(case.written()):
            assert stored[i] == wanted, (
                f"{case.name}: write {i} stored {stored[i]} bytes in {wanted} bytes of memory"
            )
