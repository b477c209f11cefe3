"""The gates of the schedules: instructions, vectors, registers and sectors of every kind and type.

No GPU is involved: machine code is read for three architectures, sectors are counted in the
emulator.
"""

from __future__ import annotations

import dataclasses
import shutil
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.codegen.cuda import kernel
from gpubcast.errors import CompileError
from gpubcast.schedules.choose import CudaSchedule
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import AccessPattern
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.layout import Layout
from tests.compile import gates, prediction
from tests.compile.gates import Gate
from tests.compile.sass import KernelReport, compiled, nvdisasm, report
from tests.compile.test_operations import EVERY_ARCHITECTURE

Reports = dict[tuple[str, str], KernelReport]


@pytest.fixture(scope="module", params=EVERY_ARCHITECTURE)
def reports(request: pytest.FixtureRequest) -> Reports:
    if nvdisasm() is None:
        pytest.skip("needs the nvidia-cuda-nvdisasm package")
    try:
        return gates.measure(request.param)
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for {request.param}: {error}")


def test_every_gate_has_its_schedule_and_patterns() -> None:
    for gate in gates.gates():
        found = type(gate.schedule), " ".join(kind.value for kind in gate.schedule.reads)
        assert found == (gate.pattern.family, gate.pattern.kinds), (gate.pattern.name, gate.type)


def test_every_pattern_of_every_schedule_is_measured() -> None:
    streams = "SCALAR VALUE"
    every = {
        Flat: f"LINEAR {streams}",
        Rows: f"TILE ROW COLUMN GATHERED {streams}",
        Phase: "LINEAR PERIODIC GATHERED",
        Running: "LINEAR TILE ROW COLUMN GATHERED",
        Xpose: f"TILE ROW COLUMN GATHERED CROSSED {streams}",
        Gather: f"LINEAR GATHERED {streams}",
    }
    found: dict[type[CudaSchedule], set[AccessPattern]] = {}
    for pattern in gates.PATTERNS:
        own = {AccessPattern(word) for word in pattern.kinds.split()}
        found[pattern.family] = found.get(pattern.family, set()) | own
    assert found == {
        family: {AccessPattern(word) for word in words.split()} for family, words in every.items()
    }


def complaints(gate: Gate, report: KernelReport) -> list[str]:
    """What is wrong with a kernel."""
    found = []
    spent = gate.spent(report)
    if not 0 < spent <= gate.budget:
        found.append(f"{spent:.1f} instructions per element, not at most {gate.budget:.0f}")
    if report.divisions:
        found.append(f"calls or divides: {report.divisions}")
    if report.spill_bytes or report.stack_bytes or report.count("LDL") or report.count("STL"):
        found.append("uses local memory")
    if report.registers > gates.REGISTERS[gate.pattern.family]:
        found.append(f"{report.registers} registers")
    have = {
        ("L", 16): report.wide_loads, ("S", 16): report.wide_stores,
        ("L", 8): report.half_loads, ("S", 8): report.half_stores,
    }  # fmt: skip
    for (way, width), count in gate.vectors().items():
        if width >= 8 and have[way, width] < count:
            found.append(f"{have[way, width]} accesses {way} of {width} bytes, not {count}")
    return [f"{gate.pattern.name} {gate.type}: {complaint}" for complaint in found]


@pytest.mark.long
def test_gates(reports: Reports) -> None:
    wrong = [c for g in gates.gates() for c in complaints(g, reports[g.pattern.name, g.type])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.skipif(nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")
def test_vectors_have_32_bytes_where_the_architecture_has_them() -> None:
    """FLAT, long rows and short ones: as many bytes in half the accesses, within the budgets."""
    names = ("FLAT LINEAR", "FLAT LINEAR + LINEAR", "FLAT LINEAR + SCALAR", "ROWS TILE",
             "ROWS TILE + ROW", "ROWS TILE + COLUMN", "ROWS TILE + ROW (middle axis)",
             "PHASE LINEAR + PERIODIC", "RUNNING LINEAR + ROW")  # fmt: skip
    chosen = [
        gates.gate(pattern, kind, "sm_100")
        for pattern in gates.PATTERNS
        for kind in pattern.types
        if pattern.name in names
    ]
    try:
        made = compiled("\n".join(g.source.text for g in chosen), "sm_100")
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for sm_100: {error}")
    found = report(made.image, made.log)
    for gate in chosen:
        own, size = found[gate.source.entry], element_type(gate.type).itemsize
        if gates.in_registers(gate.schedule)[0] * size < 32:
            # Elements with a register of their own, and rows that are too short.
            assert gate.pattern.family in (Phase, Running) or size == 1, gate
            continue
        assert own.long_stores > 0 and own.long_loads > 0, gate.pattern.name
        wrong = [c for c in complaints(gate, own) if "accesses" not in c]
        assert not wrong, wrong


# Types of several widths in one kernel: the operation, its operands and keywords, the family, and
# what is added to the budget, which is that of a copy or a sum: a comparison puts its answers, of a
# byte each, into words, which in PHASE all have registers of their own; of 8-byte elements a thread
# has one vector only; a select has a third operand.
MIXED: list[tuple[Any, ...]] = [
    ("convert_element_type", ("f16[256,512]",), {"to": "f32"}, Flat),
    ("convert_element_type", ("f64[256,512]",), {"to": "f32"}, Flat),
    ("select", ("pred[256,512]", "f32[256,512]", "f32[256,512]"), {}, Flat),
    ("select", ("pred[256,512]", "bf16[256,512]", "bf16[256,512]"), {}, Flat),
    ("lt", ("f64[256,512]", "f64[256,512]"), {}, Flat, 4),
    ("lt", ("f32[256,512]", "f32[1,512]"), {}, Rows),
    ("lt", ("bf16[256,512]", "bf16[256,1]"), {}, Rows),
    ("convert_element_type", ("bf16[256,512]{1,0:pad(256,1056)}",), {"to": "f32"}, Rows),
    ("lt", ("f32[21760,3]", "f32[1,3]"), {}, Phase, 13),
    ("convert_element_type", ("f16[9344,7]{1,0:pad(9344,8)}",), {"to": "f32"}, Phase),
    ("lt", ("f32[256,511]", "f32[1,511]"), {}, Running),
    ("select", ("pred[256,512]{0,1}", "f32[256,512]", "f32[256,512]"), {}, Xpose, 3),
    ("convert_element_type", ("f16[256,512]{0,1}",), {"to": "f32"}, Xpose),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")
@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
def test_mixed_widths(arch: str) -> None:
    """The widest type has vectors of 16 bytes at least, and the budget is that of its size."""
    chosen = []
    for name, operands, said, family, *_ in MIXED:
        plan = gb.plan(name, *operands, **said, out_layout=Layout((1, 0)))
        picked = plan.schedule(arch)
        assert type(picked) is family, (name, operands, picked)
        chosen.append((plan.broadcast_plan, picked))
    sources = [kernel.generate(*one) for one in chosen]
    try:
        made = compiled("\n".join(s.text for s in sources), arch)
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for {arch}: {error}")
    found = report(made.image, made.log)
    for (plan, picked), source, row in zip(chosen, sources, MIXED, strict=True):
        name, operands, _, _, *extra = row
        own, what = found[source.entry], (name, operands, arch)
        sizes = [access.element_type.itemsize for access in plan.accesses]
        width, count = gates.in_registers(picked)
        per_element = own.tile / (width * count)
        # A vector holds as many elements of every type, and one of 8 bytes has few of them.
        budget = gates.BUDGETS[type(picked)] * max(1, max(sizes) / 4) + sum(extra)
        assert 0 < per_element <= budget, (what, per_element)
        assert width * max(sizes) >= 16, what
        assert own.wide_loads + own.wide_stores > 0, what
        assert (own.spill_bytes, own.stack_bytes, own.divisions) == (0, 0, ()), what


def test_vectors_have_16_bytes() -> None:
    """Exceptions: an element with a register of its own. In PHASE and XPOSE that are all, so that
    8 elements of a byte are a vector; bf16 has 4 where two operands, or one read one at a time,
    share the registers. Rows with gaps are written by neighbouring threads, one element each."""
    narrow = set()
    for gate in gates.gates():
        for (_, width), _count in gate.vectors().items():
            if width < 16 and gate.pattern.remark != "gaps":
                narrow.add((gate.pattern.family, gate.type, width))
                single = gate.pattern.kinds == "CROSSED GATHERED" or bool(gate.pattern.starts)
                lone = gate.pattern.kinds == "CROSSED CROSSED" or single
                assert gate.type == "u8" or lone, gate.pattern.name
                assert width == 8 or single
    assert narrow == {
        (Phase, "u8", 8), (Xpose, "u8", 8), (Xpose, "u8", 4),
        (Xpose, "bf16", 8),
    }  # fmt: skip


PATH = ("FADD",) * 27


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"path": ("FADD",) * 66}, "8.2 instructions per element,"),
        ({"path": ()}, "0.0 instructions per element"),
        ({"registers": 41}, "41 registers"),
        ({"wide_stores": 1, "half_stores": 2}, "accesses S of 16 bytes"),
        ({"wide_loads": 0}, "accesses L of 16 bytes"),
        ({"divisions": ("CALL.REL.NOINC",)}, "calls"),
        ({"spill_bytes": 4}, "local memory"),
        ({"opcodes": (("LDL", 1),)}, "local memory"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_a_worse_kernel_is_noticed(change: dict[str, Any], complaint: str) -> None:
    gate = next(g for g in gates.gates() if g.pattern.name == "FLAT LINEAR" and g.type == "f32")
    good = KernelReport("k", 20, 0, 0, 40, PATH, PATH, (), 2, 2, (), "LLSS")
    assert complaints(gate, good) == []
    (found,) = complaints(gate, dataclasses.replace(good, **change))
    assert complaint in found


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulator needs g++")
def test_sectors(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Aligned operands: every sector moves once, and what is reused once per block. Where rows have
    gaps, the elements that threads write together begin and end inside sectors."""
    for (name, kind), found in gates.traffic(tmp_path_factory.mktemp("traffic")).items():
        assert not found.misaligned, (name, kind)
        apart = name.endswith("(gaps)")
        assert found.streamed <= (gates.MOST_APART if apart else gates.MOST_STREAMED), (name, kind)
        assert found.moved <= (gates.MOST_APART if apart else gates.MOST_MOVED), (name, kind)


def test_the_document_shows_every_pattern() -> None:
    measured = [pattern.name for pattern in gates.PATTERNS]
    for begin, end in ((gates.BEGIN, gates.END), (prediction.BEGIN, prediction.END)):
        lines = gates.DOCUMENT.read_text().partition(begin)[2].partition(end)[0].splitlines()
        shown = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
        assert [name for name in shown if name in measured] == measured
