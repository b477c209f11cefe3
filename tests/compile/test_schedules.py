"""What the schedules become: registers, spills, access widths, instructions; no GPU needed."""

from __future__ import annotations

import pytest

from gpubcast.backends.cuda.nvrtc import compile_cubin
from gpubcast.errors import CompileError
from tests.compile.sass import KernelReport, nvdisasm, report
from tests.emulated.kernels import kernel

ARCHES = ("sm_80", "sm_90", "sm_100")
ADD, COPY = ("a0 + a1",), ("a0",)

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
    "rows_column": (ADD, "rows<4, 4, false, 0", "RowsParams<3, 0>", ("TILE", "COLUMN"), "float",
                    4, 4, 16, 12),
    "rows_outer": (ADD, "rows<4, 4, false, 0", "RowsParams<3, 0>", ("ROW", "COLUMN"), "float",
                   1, 4, 16, 12),
    "rows_batch": (ADD, "rows<4, 4, false, 4", "RowsParams<3, 4>", ("TILE", "ROW"), "float",
                   5, 4, 16, 18),
    "rows_bf16": (ADD, "rows<8, 4, false, 0", "RowsParams<3, 0>", ("TILE", "ROW"), "bf16",
                  5, 4, 32, 12),
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
    assert (found.wide_loads, found.wide_stores, found.divisions) == (1, 2, ("MUFU.RCP",))
    log = (
        "ptxas info : Compiling entry function 'a' for 'sm_90'\nptxas info : Function properties "
        "for a\n 24 bytes stack frame, 36 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info : Used 40 registers, used 0 barriers, 24 bytes cumulative stack size\n"
    )
    assert sass._resources(log) == {"a": (40, 48, 24)}


@pytest.fixture(scope="module", params=ARCHES)
def reports(request: pytest.FixtureRequest) -> dict[str, KernelReport]:
    if nvdisasm() is None:
        pytest.skip("needs the nvidia-cuda-nvdisasm package")
    text = "\n".join(
        kernel(name, body, call, params, [f"{t} {kind}" for kind in kinds], [t]).text
        for name, (body, call, params, kinds, t, *_) in KERNELS.items()
    )
    try:
        cubin = compile_cubin(text, request.param)
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
    streams = 1 if name.startswith("flat") else 2  # ROWS: the whole tile, and rows at an edge
    assert (r.wide_loads, r.wide_stores) == (streams * loads, streams * stores)
    # All loads of a tile come before its first store.
    assert r.order.count("SL") <= (1 if streams == 1 else 2)
    assert r.tile <= per_element * elements


def test_every_float_function_stays_in_its_precision() -> None:
    if nvdisasm() is None:
        pytest.skip("needs the nvidia-cuda-nvdisasm package")
    calls = ("exp(a0)", "log(a0)", "tanh(a0)", "erf(a0)", "sqrt(a0)", "floor(a0)", "fabs(a0)",
             "fmod(a0, a0)", "pow(a0, a0)", "atan2(a0, a0)", "max(a0, a0)", "sign(a0)")  # fmt: skip
    checks = "".join(f"static_assert(same<decltype({call}), float>); " for call in calls)
    text = kernel("functions", [f"{' + '.join(calls)}; {checks}"], "flat<1, 1", "FlatParams<2>",
                  ["float LINEAR"], ["float"]).text  # fmt: skip
    try:
        cubin = compile_cubin(text, "sm_90")
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC: {error}")
    (found,) = report(cubin.image, cubin.log).values()
    doubles = [op for op, _ in found.opcodes if op in ("DADD", "DMUL", "DFMA", "DSETP")]
    assert doubles == []
