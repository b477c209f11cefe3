"""Four elements of a byte computed at a time, executed: every operation on every pair of bytes, and
every schedule around it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.codegen.cuda import kernel
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType
from tests.emulated import campaign
from tests.emulated.kernels import Array, Case, check
from tests.emulated.test_short_and_crossed import case
from tests.emulated.test_unaligned import running, short
from tests.support.emulator.backend import EmulatorBackend, NewDevice, altered

KINDS = ("pred", "u8", "s8")
BYTES = np.arange(256, dtype=np.uint8)


def with_words(made: Case, same: tuple[int, ...] = ()) -> Case:
    """The case computed by words; ``same``: of which reads how many neighbours are one element."""
    words = tuple(text.replace("sub(", "sub_words(") for text in made.expressions)
    reads = tuple(
        dataclasses.replace(slot, same=n)
        for slot, n in itertools.zip_longest(made.reads, same, fillvalue=1)
    )
    return dataclasses.replace(made, name=f"{made.name}_words", words=words, reads=reads)


def run(name: str, extents: tuple[int, ...], *reads: tuple[str, tuple[int, ...]], vector: int = 16,
        unroll: int = 2, head: int = 0) -> Case:  # fmt: skip
    return with_words(running(f"w_{name}", "u8", extents, list(reads), vector, unroll, head))


def filled(name: str, extents: tuple[int, int], sizes: tuple[int, int], vector: int = 8) -> Case:
    """Rows with padding, of two operands."""
    return with_words(
        short(f"w_{name}", "u8", extents, [("GATHERED", (sizes[1], 1)), ("PERIODIC", (0, 1))],
              (("LINEAR", (extents[1], 1)),), vector, 2, sizes=sizes, fills=(0xA5,))
    )  # fmt: skip


def phase(name: str, extents: tuple[int, ...], reads: list[tuple[str, tuple[int, ...]]],
          same: tuple[int, ...], **fields: object) -> Case:  # fmt: skip
    return with_words(case(f"w_{name}", "phase", "u8", extents, reads, 8, 2, **fields), same)


SIX = (3, 20, 3, 4, 4)  # a batch axis, rows, and three inner axes
CASES = [
    with_words(case("w", "flat", "u8", (9000,), [("LINEAR", (1,)), ("SCALAR", (0,))], 16, 2)),
    with_words(case("w", "rows", "u8", (70, 400), [("TILE", (416, 1)), ("ROW", (0, 1)),
               ("COLUMN", (1, 0)), ("VALUE", (0, 0))], 16, 2, (400, 1), block=(16, 16))),
    with_words(case("w_apart", "rows", "u8", (70, 400), [("GATHERED", (900, 2)), ("ROW", (0, 1))],
               4, 2, (400, 1), block=(16, 16))),
    with_words(case("w", "xpose", "u8", (512, 128), [("CROSSED", (1, 528)), ("TILE", (128, 1))],
               8, 8, (128, 1), block=(8, 32))),
    run("row", (40, 301), ("LINEAR", (301, 1)), ("ROW", (0, 1)), head=5),
    run("tile", (40, 301), ("TILE", (-303, 1)), ("COLUMN", (1, 0))),
    run("wide", (40, 301), ("TILE", (-303, 1)), ("COLUMN", (-1, 0)), vector=32, unroll=1),
    run("outer", (40, 301), ("ROW", (0, 1)), ("COLUMN", (-1, 0)), unroll=4, head=31),
    run("apart", (40, 301), ("GATHERED", (3, 2)), ("COLUMN", (2, 0)), vector=8),
    run("shortest", (900, 20), ("TILE", (21, 1)), ("COLUMN", (1, 0)), head=3),
    run("axes", (3, 5, 7, 31), ("TILE", (31, 0, 0, 1)), ("COLUMN", (0, 7, -1, 0)), head=1),
    phase("bias", (5000, 3), [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))], ()),
    phase("six", SIX, [("GATHERED", (400, 4, 0, 1, 0)), ("PERIODIC", (7, 0, 4, 0, 1))], (4, 1),
          group=3),
    phase("all", (3000, 8), [("GATHERED", (-2, 0)), ("LINEAR", (8, 1))], (8, 1)),
    phase("held", (3000, 3, 4), [("PERIODIC", (0, 5, 0)), ("GATHERED", (1, 0, 1))], (4, 1),
          group=2),
    filled("fill", (5000, 4), (2500, 3)),
    filled("fill_some", (700, 24), (690, 9)),
    filled("fill_fours", (1100, 8), (1100, 5), vector=4),
]  # fmt: skip


@pytest.fixture(scope="module")
def backend(new_device: NewDevice) -> EmulatorBackend:
    emulator = new_device(trace=True)
    emulator.load_many([case.source() for case in CASES])
    return emulator


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(backend: EmulatorBackend, case: Case) -> None:
    assert "words(" in case.source().text
    check(backend, case)
    assert not any(slot.misaligned for slot in backend.statistics[: len(case.slots)])


# --- operations -----------------------------------------------------------------------------------


def on_words() -> list[tuple[str, ElementType]]:
    """Every row and type with an expression on words."""
    return [
        (row.name, t)
        for row in OPS.values()
        for t in (ELEMENT_TYPES[kind] for kind in KINDS)
        if t in row.accepts and row.words_for(t)
    ]


def pairs(name: str, t: ElementType) -> list[Array]:
    """Operands that hold every pair of bytes; pred is any byte."""
    a, b = (x.reshape(-1) for x in np.broadcast_arrays(BYTES[:, None], BYTES))
    arity = OPS[name].arity
    chosen = [(a * 7 + b) % 5, a, b][3 - arity :] if arity > 2 else [a, b][:arity]
    return [x.astype(np.uint8) for x in chosen]


def reference(name: str, t: ElementType, operands: list[Array]) -> Array:
    """The row's reference on every element."""
    row = OPS[name]
    signs = [ELEMENT_TYPES["pred"] if row.rule.predicate and i == 0 else t
             for i in range(row.arity)]  # fmt: skip

    def scalar(byte: int, own: ElementType) -> int | bool:
        if own.category is Category.PRED:
            return byte != 0
        return byte - 256 if own.category is Category.SIGNED and byte > 127 else byte

    assert row.reference is not None
    results = [
        int(row.reference(t, *map(scalar, values, signs)))
        for values in zip(*(x.tolist() for x in operands), strict=True)
    ]
    values = np.array(results)
    return (values != 0 if t.category is Category.PRED else values % 256).astype(np.uint8)


def operation(name: str, t: ElementType) -> Case:
    """The row's own expressions in a kernel of FLAT."""
    row = OPS[name]
    reads = [t.storage] * row.arity
    if row.rule.predicate:
        reads[0] = "pred"
    names = [f"a{i}" for i in range(row.arity)]
    made = case(f"op_{name}_{t}", "flat", "u8", (65536,), [("LINEAR", (1,))] * row.arity, 16, 2)
    slots = tuple(
        dataclasses.replace(s, type=kind) for s, kind in zip(made.reads, reads, strict=True)
    )
    return dataclasses.replace(
        made,
        reads=slots,
        writes=(dataclasses.replace(made.writes[0], type=t.storage),),
        expressions=(row.cuda_for(t).format(*names),),
        words=(row.words_for(t).format(*names),),
    )


def computed(device: EmulatorBackend, made: Case, operands: list[Array]) -> Array:
    (loaded,) = device.load_many([made.source()])
    memory = [device.from_host(x) for x in operands]
    out = device.allocate(65536)
    addresses = [device.address(m) for m in (*memory, out)]
    device.launch(loaded, made.grid(), (256, 1), made.pack(addresses))
    return np.asarray(out).view(np.uint8)


@pytest.mark.parametrize(("name", "t"), on_words(), ids=str)
def test_every_pair_of_bytes(new_device: NewDevice, name: str, t: ElementType) -> None:
    operands = pairs(name, t)
    got = computed(new_device(), operation(name, t), operands)
    np.testing.assert_array_equal(got, reference(name, t, operands))


def test_some_rows_have_words() -> None:
    names = {name for name, _ in on_words()}
    assert {"add", "sub", "neg", "bitwise_and", "bitwise_not", "select"} <= names


# --- calls ----------------------------------------------------------------------------------------


@gb.fuse("row col, col, row -> row col")
def chain(x, y, z):  # type: ignore[no-untyped-def]
    return gb.bitwise_xor(x + y, gb.bitwise_not(z)) - x


@gb.fuse("row col, col, row -> row col")
def mixed(x, y, z):  # type: ignore[no-untyped-def]
    """A product has no words."""
    return x * y + z


def operands(kind: str, rows: int, columns: int) -> list[Array]:
    rng = np.random.default_rng(rows)
    dtype = ELEMENT_TYPES[kind].dtype
    shapes = ((rows, columns), (columns,), (rows,))
    return [rng.integers(0, 256, shape).astype(np.uint8).view(dtype) for shape in shapes]


@pytest.mark.parametrize("kind", ["u8", "s8"])
@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_fused_calls(new_device: NewDevice, kind: str, arch: str) -> None:
    def calls(compare: Callable[..., None] = np.testing.assert_array_equal) -> None:
        for rows, columns in ((64, 512), (40, 301), (2000, 3), (300, 8)):
            x, y, z = operands(kind, rows, columns)
            given = [gb.array(a, device="cuda") for a in (x, y, z)]
            wide = z[:, None]
            compare(chain(*given).numpy(), ((x + y) ^ ~wide) - x)
            compare(mixed(*given).numpy(), x * y + wide)

    found = campaign.run(new_device(arch=arch), calls, lambda: calls(lambda *_: None))
    assert found == 8


def words_of(text: str, *shapes: str) -> bool:
    """Whether the kernel of an operation computes words."""
    plan = gb.plan(text, *shapes)
    return "WORDS" in kernel.generate(plan.broadcast_plan, plan.schedule("sm_90")).text


def test_only_bytes_are_computed_by_words() -> None:
    assert words_of("add", "u8[64,512]", "u8[64,512]")
    assert words_of("bitwise_and", "pred[64,512]", "pred[64,512]")
    assert words_of("select", "pred[64,512]", "s8[64,512]", "s8[64,512]")
    assert not words_of("mul", "u8[64,512]", "u8[64,512]")
    assert not words_of("add", "u16[64,512]", "u16[64,512]")
    assert not words_of("add", "f8e4m3fn[64,512]", "f8e4m3fn[64,512]")
    assert not words_of("add", "s4[64,512]", "s4[64,512]")
    assert not words_of("lt", "u8[64,512]", "u8[64,512]")


# --- planted faults -------------------------------------------------------------------------------

ROWS_OF_RUNS = CASES[4:11]
FAULTS: list[tuple[str, str, str, Case, str]] = [
    ("words.cuh", "pair(v), pair(v + 2)", "pair(v + 2), pair(v)", CASES[2], "differs"),
    ("xpose.cuh", "r % 2 ? 0x7632 : 0x5410", "r % 2 ? 0x5410 : 0x7632", CASES[3], "differs"),
    ("xpose.cuh", "r % 4 < 2", "r % 4 < 1", CASES[3], "differs"),
    ("words.cuh", "v.data + k, 4", "v.data, 4", CASES[0], "differs"),
    ("operands.cuh", "Body::words(in, out, r, k);", "Body::words(in, out, r, 0);", CASES[0],
     "differs"),
    ("operands.cuh", "memcpy(v.data + k,", "memcpy(v.data,", CASES[0],
     "differs"),
    ("rows.cuh", "word(int r, int) const { return word_of(c[r])", "word(int r, int) const { "
     "return word_of(c[0])", CASES[1], "differs"),
    ("running.cuh", "low_bits(ld_keep<SLOT, 1>(moved(this->at, following)",
     "low_bits(ld_keep<SLOT, 1>(moved(this->at, row)", ROWS_OF_RUNS[1], "differs"),
    ("running.cuh", "others[u][i / 4] >> 16 * (i % 4)", "others[u][0] >> 16 * (i % 4)",
     ROWS_OF_RUNS[2], "differs"),
    ("running.cuh", "to.left - g * MANY", "to.left", ROWS_OF_RUNS[2], "differs"),
    ("running.cuh", "w[u][i + 1], shift[u]", "w[u][i], shift[u]", ROWS_OF_RUNS[0], "differs"),
    ("running.cuh", "crossing ^= 1u << u", "crossing = 0", CASES[9], "differs"),
    ("phase.cuh", "return v[k / SAME]", "return v[0]", CASES[12], "differs"),
    ("phase.cuh", "w[i] = fixed(c.word(4 * i))", "w[i] = fixed(c.word(0))", CASES[11], "differs"),
    ("phase.cuh", "(value & ~kept[i])", "(value | ~kept[i])", CASES[15], "differs"),
    ("phase.cuh", "(i * EACH + k) & 1", "k & 1", CASES[16], "differs"),
    ("phase.cuh", "* (0xffffffff / ONES)", "", CASES[15], "differs"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f[0]}: {f[1][:40]}")
def test_planted_faults_are_found(
    new_device: NewDevice, tmp_path: Path, fault: tuple[str, str, str, Case, str]
) -> None:
    file, old, new, wrong, complaint = fault
    with pytest.raises(AssertionError, match=complaint):
        check(altered(new_device, tmp_path, file, old, new), wrong)


OPERATION_FAULTS = [
    ("(b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080)", "b) ^ ((a ^ b) & 0x80808080)", "add", "u8"),
    ("(a ^ ~b) & 0x80808080", "(a ^ b) & 0x80808080", "sub", "s8"),
    ("p * 255", "p * 254", "select", "u8"),
    ("(word & 0x7f7f7f7f) + 0x7f7f7f7f", "(word & 0x7f7f7f7f) + 0x7f7f7f7e", "add", "pred"),
    ("+ 0x7f7f7f7f) | word)", "+ 0x7f7f7f7f))", "bitwise_and", "pred"),
]  # fmt: skip


@pytest.mark.parametrize("fault", OPERATION_FAULTS, ids=lambda f: f"{f[2]}: {f[1]}")
def test_a_wrong_operation_is_found(
    new_device: NewDevice, tmp_path: Path, fault: tuple[str, str, str, str]
) -> None:
    old, new, name, kind = fault
    t = ELEMENT_TYPES[kind]
    given = pairs(name, t)
    device = altered(new_device, tmp_path, "words.cuh", old, new)
    got = computed(device, operation(name, t), given)
    assert (got != reference(name, t, given)).any()
