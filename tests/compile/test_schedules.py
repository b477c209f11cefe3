"""What the schedules become: registers, spills, access widths, instructions; no GPU needed."""

from __future__ import annotations

import itertools

import pytest

from gpubcast.errors import CompileError
from tests.compile.sass import KernelReport, compiled, nvdisasm, report
from tests.compile.test_operations import EVERY_ARCHITECTURE
from tests.emulated.kernels import kernel

ADD, COPY = ("a0 + a1",), ("a0",)
STREAMS = {"T": "TILE", "R": "ROW", "C": "COLUMN"}

# Entry: functor, template, parameters, reads, type, then the budget of the whole-tile path: wide
# loads and stores, elements of a thread, instructions per element.
KERNELS = {
    "flat_copy": (COPY, "flat<4, 2", "FlatParams<2>", ("LINEAR",), "float", 2, 2, 8, 5),
    "flat_add": (ADD, "flat<4, 2", "FlatParams<3>", ("LINEAR", "LINEAR"), "float", 4, 2, 8, 7),
    "flat_scalar": (ADD, "flat<4, 2", "FlatParams<3>", ("LINEAR", "SCALAR"), "float", 2, 2, 8, 7),
    "flat_value": (ADD, "flat<4, 2", "FlatParams<3>", ("LINEAR", "VALUE"), "float", 2, 2, 8, 6),
    "flat_bf16": (ADD, "flat<8, 2", "FlatParams<3>", ("LINEAR", "LINEAR"), "bf16", 4, 2, 16, 9),
    "flat_s8": (("sub(a0, a1)",), "flat<16, 2", "FlatParams<3>", ("LINEAR", "LINEAR"), "i8",
                4, 2, 32, 5),
    "rows_copy": (COPY, "rows<4, 4, false, 0", "RowsParams<2, 0>", ("TILE",), "float",
                  4, 4, 16, 10),
    "rows_add": (ADD, "rows<4, 2, false, 0", "RowsParams<3, 0>", ("TILE", "TILE"), "float",
                 4, 2, 8, 20),
    "rows_row": (ADD, "rows<4, 4, false, 0", "RowsParams<3, 0>", ("TILE", "ROW"), "float",
                 5, 4, 16, 12),
    "rows_column": (ADD, "rows<4, 4, false, 0", "RowsParams<3, 0>", ("TILE", "COLUMN"),
                    "float", 4, 4, 16, 12),
    "rows_outer": (ADD, "rows<4, 4, false, 0", "RowsParams<3, 0>", ("ROW", "COLUMN"),
                   "float", 1, 4, 16, 12),
    "rows_batch": (ADD, "rows<4, 4, false, 4", "RowsParams<3, 4>", ("TILE", "ROW"), "float",
                   5, 4, 16, 18),
    "rows_bf16": (ADD, "rows<8, 4, false, 0", "RowsParams<3, 0>", ("TILE", "ROW"), "bf16",
                  5, 4, 32, 12),
    "rows_layernorm": (("(a0 - a1) * a2 * a3 + a4",), "rows<4, 4, false, 0", "RowsParams<6, 0>",
                       ("TILE", "COLUMN", "COLUMN", "ROW", "ROW"), "float", 6, 4, 16, 16),
}  # fmt: skip

ONE = ("float",)
MOVING = ("float TILE", "float COLUMN", "float ROW", "float SCALAR")
# Entry: functor, template, parameters, reads, writes, what is computed beforehand (per thread, per
# row, per column), and how many copies of exp are in the code. A row's values are computed for each
# of four rows; a column's on three paths: whole tile, edge, and a vector that crosses an edge.
# GATHER has two elements per thread, and one after the other in the last block.
HOISTED = {
    "per_element": (("exp(a0)",), "rows<4, 4, false, 0", "RowsParams<2, 0>", MOVING[:1],
                    ONE, ("", "", ""), 16 + 16 + 4),
    "per_row": (("a0 * c.v",), "rows<4, 4, false, 0", "RowsParams<3, 0>", MOVING[:2], ONE,
                ("", "exp(a1)", ""), 4),
    "per_column": (("a0 * w.v + a1",), "rows<4, 4, false, 0", "RowsParams<4, 0>",
                   MOVING[:3], ONE, ("", "", "exp(a2)"), 4 + 4 + 1),
    "per_thread": (("a0 * s.v + a1 * a2",), "rows<4, 4, false, 0", "RowsParams<5, 0>",
                   MOVING, ONE, ("exp(a3)", "", ""), 1),
    "per_thread_flat": (("a0 * s.v",), "flat<4, 2", "FlatParams<3>",
                        ("float LINEAR", "float SCALAR"), ONE, ("exp(a1)", "", ""), 3),
    "every_write": (("a0 * c.v + w.v", "s.v", "c.v", "w.v", "a0 - w.v"),
                    "rows<4, 2, false, 2", "RowsParams<9, 2, 5>", MOVING,
                    ("bf16", "float SCALAR", "float COLUMN", "bf16 ROW", "float PARTIAL"),
                    ("exp(a3)", "exp(a1 * s.v)", "exp(a2 - s.v)"), 1 + 2 + 9),
    "gather": (("exp(a0) * s.v", "s.v"), "gather32<4, 2, false", "GatherParams32<4, 4, 2>",
               ("float GATHERED", "float SCALAR"), ("float LINEAR", "float PARTIAL"),
               ("exp(a1)", "", ""), 5),
}  # fmt: skip


def test_parser_reads_a_listing() -> None:
    """Without a compiler: the words that the budgets rest on."""
    from tests.compile import sass

    assert sass._opcode("@!P0 LDG.E.128 R4, desc[UR4][R2.64]") == "LDG.E.128"
    assert sass._opcode("@!UP0 UIADD3 UR4, UR5, UR6, URZ") == "UIADD3"
    edge = ["@!P1 LDG.E R4, [R2]", "STG.E.128 [R2], R4", "EXIT"]
    whole = [".L_x_7:", "LDG.E.NA.128 R4, [R2]", "MUFU.RCP R1, R2", "@P0 EXIT", "FADD R4, R4, R5",
             "STG.E.128 [R2], R4", "EXIT", ".L_x_9:", "BRA `(.L_x_9)", "NOP"]  # fmt: skip
    found = sass._read("k", ["S2R R1, SR_TID.X", "@!P0 BRA P2, `(.L_x_7)", *edge, *whole], 20, 8, 4)
    assert (found.instructions, found.tile, found.order) == (11, 8, "LSLS")
    loop = [".L_x_1:", "LDG.E.128 R4, [R2]", "STG.E.128 [R2], R4", "@P1 CALL.REL.NOINC `(.L_x_2)",
            "BRA `(.L_x_1)", ".L_x_2:", "EXIT"]  # fmt: skip
    found = sass._read("k", loop, 20, 0, 0)
    assert (found.tile, found.divisions) == (4, ())
    function = [*loop, "FADD R4, R4, R5", "RET.REL.NODEC R2 `(k)"]
    assert sass._read("k", function, 20, 0, 0).divisions == ("CALL.REL.NOINC",)
    helper = [line.replace(".L_x_2", "$__internal_0_$__div") for line in loop]
    assert sass._read("k", helper, 20, 0, 0).divisions == ("CALL.REL.NOINC",)
    found = sass._read("k", ["S2R R1, SR_TID.X", "@!P0 BRA P2, `(.L_x_7)", *edge, *whole], 20, 8, 4)
    assert (found.wide_loads, found.wide_stores, found.divisions) == (1, 2, ("MUFU.RCP",))
    log = (
        "ptxas info : Compiling entry function 'a' for 'sm_90'\nptxas info : Function properties "
        "for a\n 24 bytes stack frame, 36 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info : Used 40 registers, used 0 barriers, 24 bytes cumulative stack size\n"
    )
    assert sass._resources(log) == {"a": (40, 48, 24)}


def test_tile_is_one_pass_of_the_innermost_loop() -> None:
    """A loop with two in it, of whole vectors and of others; then a loop of narrow stores."""
    from tests.compile import sass

    step = ["FADD R1, R2, R3", "LDG.E.128 R4, [R2]", "@P0 BRA `(.L_x_3)", "FADD R4, R4, R5",
            ".L_x_3:", "STG.E.128 [R2], R4"]  # fmt: skip
    edge = [".L_x_4:", "@!P0 LDG.E.128 R4, [R2]", "@!P0 STG.E.128 [R2], R4", "@P1 BRA `(.L_x_4)"]
    whole = [".L_x_2:", *step, "BRA.U UP0, `(.L_x_2)"]
    narrow = [".L_x_5:", "STG.E [R2], R4", "@P1 BRA `(.L_x_5)"]

    def tile(*inner: str) -> int:
        outer = ["S2R R1, SR_TID.X", ".L_x_1:", "LDG.E R4, [R2]", *inner, "@P2 BRA `(.L_x_1)"]
        return sass._read("k", [*outer, *narrow, "EXIT"], 20, 0, 0).tile

    assert tile(*whole, *edge) == tile(*edge, *whole) == 5
    assert tile("BRA `(.L_x_7)", ".L_x_7:", *whole, *edge, "FADD R4, R4, R5") == 5
    # Without a loop of its own a pass is part of the outer one; a guarded one is no whole tile.
    assert tile(*step) == 6
    assert tile(*edge) == 0
    assert tile(".L_x_4:", "@P0 BRA `(.L_x_6)", *edge[1:3], ".L_x_6:", edge[3]) == 0
    # It is one that was made a predicate where the thread then ends under it.
    guarded = [*edge[1:3], "FADD R1, R2, R3", "@P0 EXIT", "@!P0 EXIT", *narrow, "EXIT"]
    assert sass._read("k", ["@!P0 EXIT", *guarded], 20, 0, 0).tile == 6
    # What is around it counts where nothing wide is in a loop.
    assert sass._read("k", [*step, *narrow, "EXIT"], 20, 0, 0).tile == 7


def test_a_loop_that_is_entered_in_its_middle_is_passed_once() -> None:
    from tests.compile import sass

    lines = ["@P1 BRA `(.L_x_2)", ".L_x_1:", "FADD R1, R2, R3", ".L_x_2:", "LDG.E.128 R4, [R2]",
             "STG.E.128 [R2], R4", "@P0 BRA `(.L_x_1)", "EXIT"]  # fmt: skip
    found = sass._best_path(lines, None, sass.WIDE)
    assert (found.wide, found.length, found.stores) == (2, 5, 1)


@pytest.fixture(scope="module", params=EVERY_ARCHITECTURE)
def reports(request: pytest.FixtureRequest) -> dict[str, KernelReport]:
    if nvdisasm() is None:
        pytest.skip("needs the nvidia-cuda-nvdisasm package")
    texts = [
        kernel(name, body, call, params, [f"{t} {kind}" for kind in kinds], [t]).text
        for name, (body, call, params, kinds, t, *_) in KERNELS.items()
    ]
    texts += [kernel(name, *arguments).text for name, (*arguments, _) in HOISTED.items()]
    text = "\n".join(texts)
    try:
        cubin = compiled(text, request.param)
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for {request.param}: {error}")
    return report(cubin.image, cubin.log)


@pytest.mark.parametrize("name", KERNELS)
def test_budget(reports: dict[str, KernelReport], name: str) -> None:
    *_, loads, stores, elements, per_element = KERNELS[name]
    r = reports[name]
    assert (r.spill_bytes, r.stack_bytes, r.count("LDL"), r.count("STL")) == (0, 0, 0, 0)
    assert r.divisions == ()
    assert r.registers <= 64
    # The whole tile, and: in ROWS rows at an edge, in FLAT one vector of two of the last block.
    times = 1.5 if name.startswith("flat") else 2
    assert (r.wide_loads, r.wide_stores) == (times * loads, times * stores)
    # All loads of a tile come before its first store.
    assert r.order.count("SL") <= 2
    assert 0 < r.tile <= per_element * elements


@pytest.mark.parametrize("name", HOISTED)
def test_what_is_shared_is_computed_once(reports: dict[str, KernelReport], name: str) -> None:
    r = reports[name]
    assert (r.spill_bytes, r.stack_bytes, r.count("LDL"), r.count("STL")) == (0, 0, 0, 0)
    assert r.divisions == ()
    assert r.count("MUFU") == HOISTED[name][-1]


@pytest.mark.long
@pytest.mark.skipif(nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")
@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
def test_rows_keep_everything_in_registers(arch: str) -> None:
    """What a thread holds, over types, rows, padding and kinds."""
    widths = {"u8": 16, "bf16": 8, "float": 4, "double": 2}
    texts = {}
    for (t, v), rows, fill, kinds in itertools.product(
        widths.items(), (1, 2, 4), ("false", "true"), ("TC", "CTR", "TTC", "TCCRR")
    ):
        if rows == 4 and kinds == "TTC":
            continue  # two vectors for each of four rows are too many
        name = f"rows_{t}_{rows}_{fill}_{kinds}"
        reads = [f"{t} {STREAMS[kind]}" for kind in kinds]
        sums = " + ".join(f"a{i}" for i in range(len(kinds)))
        texts[name] = kernel(
            name, [f"static_cast<decltype(a0)>({sums})"], f"rows<{v}, {rows}, {fill}, 1",
            f"RowsParams<{len(kinds) + 1}, 1>", reads, [t],
        ).text  # fmt: skip
    try:
        cubin = compiled("\n".join(texts.values()), arch)
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for {arch}: {error}")
    found = report(cubin.image, cubin.log)
    assert len(found) == len(texts) == 88
    for r in found.values():
        assert (r.spill_bytes, r.stack_bytes, r.count("LDL"), r.count("STL")) == (0, 0, 0, 0), r
        assert r.divisions == (), r
        assert r.registers <= 80, r


def test_every_float_function_stays_in_its_precision() -> None:
    if nvdisasm() is None:
        pytest.skip("needs the nvidia-cuda-nvdisasm package")
    calls = ("exp(a0)", "log(a0)", "tanh(a0)", "erf(a0)", "sqrt(a0)", "floor(a0)", "fabs(a0)",
             "fmod(a0, a0)", "pow(a0, a0)", "atan2(a0, a0)", "max(a0, a0)", "sign(a0)")  # fmt: skip
    checks = "".join(f"static_assert(same<decltype({call}), float>); " for call in calls)
    text = kernel("functions", [f"{' + '.join(calls)}; {checks}"], "flat<1, 1", "FlatParams<2>",
                  ["float LINEAR"], ["float"]).text  # fmt: skip
    try:
        cubin = compiled(text, "sm_90")
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC: {error}")
    (found,) = report(cubin.image, cubin.log).values()
    doubles = [op for op, _ in found.opcodes if op in ("DADD", "DMUL", "DFMA", "DSETP")]
    assert doubles == []
