"""What every schedule costs: instructions per element from the machine code, sectors from the
emulator; neither needs a GPU.

``python -m tests.compile.gates`` prints the table, ``--write`` puts it into ``docs/kernels.md``.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import numpy as np

from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen.cuda import kernel
from gpubcast.codegen.source import KernelSource
from gpubcast.hlo import expression, graph_inference
from gpubcast.planning import simplify
from gpubcast.planning.build import build
from gpubcast.planning.plan import Access, BroadcastPlan, Operand
from gpubcast.schedules.choose import CudaSchedule, schedule
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import AccessPattern, CudaTarget
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.shape import Shape
from tests.compile import sass
from tests.support.emulator.backend import EmulatorBackend

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
# One type of each size.
TYPES = ("u8", "bf16", "f32", "f64", "c128")
NARROW = ("u8", "bf16", "f32")
# Instructions per element of up to 4 bytes. Larger ones move as many more bytes, with as many more
# accesses, so they may take as many more instructions: they are no further from the memory's speed.
BUDGETS = {
    Flat: 8, Rows: 12, Phase: 20, Running: 16, Xpose: 8, Gather: 18,
}  # fmt: skip
REGISTERS = dict.fromkeys(BUDGETS, 64) | {Xpose: 80, Flat: 40, Phase: 72}
SECTOR = 32
# Sectors moved over sectors that must move: of operands that no block reads twice, and of all; the
# others are read once per block, from the L2 cache.
MOST_STREAMED, MOST_MOVED = 1.05, 1.15
MOST_APART = 2.3  # of elements with gaps between them, of a byte each
STREAMS = (AccessPattern.LINEAR, AccessPattern.TILE, AccessPattern.CROSSED)
DOCUMENT = Path(__file__).parents[2] / "docs" / "kernels.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# Shapes of 2^15 to 2^17 elements. All bases, pitches and batch strides are multiples of 16
# elements, and tiles are whole.
DENSE = "[256,512]"
TURNED = "[256,512]{0,1}"
PITCH, OTHER = "[256,512]{1,0:pad(256,528)}", "[256,512]{1,0:pad(256,544)}"
LINE, STRIDED = "[256,512,1]", "[256,512,1]{2,1,0:pad(256,512,2)}"
TURNED_LINE = "[256,512,1]{0,1,2}"
SHORT, SEVEN = "[21760,3]", "[9344,7]"
# Written with a gap before each element: rows, and one axis.
APART_ROWS = "[256,512,1]{2,1,0:pad(256,528,2)}"
RUN, APART = "[131072,1]", "[131072,1]{1,0:pad(131072,2)}"
ODD, ODD_PITCH = "[256,511]", "[256,512]{1,0:pad(256,513)}"
ODD_STRIDED = "[256,511,1]{2,1,0:pad(256,512,2)}"
GAPS, FILLED = "[21760,3]{1,0:pad(21760,8)}", "[21760,3]{1,0:pad(21760,4,zero)}"
SIX = "[16,16,16,4,4,4]"


@dataclass(frozen=True)
class Pattern:
    """One combination of kinds in one schedule: a copy of one operand, or the sum of two.

    ``operands`` are shapes without a type; ``VALUE`` is a scalar among the launch parameters.
    ``starts`` says of the first operands, and of the output behind them, how many elements after an
    aligned address they begin.
    ``byte`` is the budget for elements of a byte, where it is smaller.
    ``extra`` are instructions per element beyond the family's budget. PHASE has more to compute per
    thread with more axes, and of elements that are written or padded one by one. In ROWS and XPOSE
    a GATHERED operand takes an address and a load per element, and registers, so patches are
    smaller; so they are with two CROSSED operands, or one that is read in parts. An element with a
    gap before it takes an address and a store. Padding in short rows is told apart element by
    element. A batch axis and a column count more where a thread has few elements, of 16 bytes.
    """

    family: type[CudaSchedule]
    kinds: str
    operands: tuple[str, ...]
    output: str
    remark: str = ""
    extra: int = 0
    starts: tuple[int, ...] = ()
    types: tuple[str, ...] = TYPES
    byte: int = 0

    def start(self, slot: int) -> int:
        """Elements from an aligned address to the first one of a slot."""
        return self.starts[slot] if slot < len(self.starts) else 0

    @property
    def name(self) -> str:
        """What the table calls it."""
        kinds = " + ".join(self.kinds.split())
        return f"{self.family.name} {kinds}" + (f" ({self.remark})" if self.remark else "")

    def fits(self, kind: str) -> bool:
        """Whether the type has these kinds: a launch parameter has 8 bytes, and where rows begin
        anywhere, accesses of 8 bytes are wide enough for ROWS."""
        return kind in self.types and (
            "VALUE" not in self.kinds or element_type(kind).itemsize <= 8
        )


PATTERNS = (
    Pattern(Flat, "LINEAR", (DENSE,), DENSE, byte=2),
    Pattern(Flat, "LINEAR LINEAR", (DENSE, DENSE), DENSE, byte=3),
    Pattern(Flat, "LINEAR SCALAR", (DENSE, "[]"), DENSE, byte=3),
    Pattern(Flat, "LINEAR VALUE", (DENSE, "VALUE"), DENSE, byte=3),
    Pattern(Rows, "TILE", (PITCH,), OTHER, byte=2),
    Pattern(Rows, "TILE TILE", (PITCH, DENSE), DENSE, byte=5),
    Pattern(Rows, "TILE ROW", (DENSE, "[1,512]"), DENSE, byte=3),
    Pattern(Rows, "TILE COLUMN", (DENSE, "[256,1]"), DENSE, byte=3),
    Pattern(Rows, "ROW COLUMN", ("[1,512]", "[256,1]"), DENSE, byte=3),
    Pattern(Rows, "TILE SCALAR", (PITCH, "[]"), DENSE, byte=3),
    Pattern(Rows, "TILE VALUE", (PITCH, "VALUE"), DENSE, byte=3),
    Pattern(Rows, "TILE ROW", ("[8,64,512]", "[8,1,512]"), "[8,64,512]", "middle axis", byte=4),
    Pattern(Rows, "TILE COLUMN", ("[8,64,512]", "[1,64,1]"), "[8,64,512]", "channels", extra=2,
            byte=4 ),
    Pattern(Rows, "TILE GATHERED", (LINE, STRIDED), LINE, extra=2, byte=11),
    Pattern(Phase, "LINEAR PERIODIC", (SHORT, "[1,3]"), SHORT, extra=-7, byte=11),
    Pattern(Phase, "PERIODIC", ("[1,3]",), SHORT, extra=-9, byte=9),
    Pattern(Phase, "LINEAR GATHERED", (SHORT, "[21760,1]"), SHORT, extra=-2, byte=15),
    Pattern(Phase, "GATHERED", ("[9344,7]{1,0:pad(9344,8)}",), SEVEN, extra=-5),
    Pattern(Phase, "GATHERED PERIODIC", ("[16,1,16,1,4,1]", "[1,16,1,4,1,4]"), SIX, "rank 6",
            extra=7, byte=24),
    Pattern(Xpose, "CROSSED", (TURNED,), DENSE, byte=3),
    Pattern(Xpose, "CROSSED TILE", (TURNED, DENSE), DENSE, byte=5),
    Pattern(Xpose, "CROSSED CROSSED", (TURNED, TURNED), DENSE, extra=4, byte=5),
    Pattern(Xpose, "CROSSED ROW", (TURNED, "[1,512]"), DENSE, byte=4),
    Pattern(Xpose, "CROSSED COLUMN", (TURNED, "[256,1]"), DENSE, byte=4),
    Pattern(Xpose, "CROSSED SCALAR", (TURNED, "[]"), DENSE, byte=4),
    Pattern(Xpose, "CROSSED VALUE", (TURNED, "VALUE"), DENSE, byte=4),
    Pattern(Xpose, "CROSSED GATHERED", (TURNED_LINE, STRIDED), LINE, extra=6, byte=10),
    Pattern(Xpose, "CROSSED TILE", ("[4,256,256]{1,2,0}", "[4,256,256]"), "[4,256,256]", "batch",
            byte=5 ),
    Pattern(Flat, "LINEAR LINEAR", (DENSE, DENSE), DENSE, "one unaligned", starts=(1,), byte=5),
    Pattern(Flat, "LINEAR LINEAR", (DENSE, DENSE), DENSE, "all alike", starts=(1, 1, 1), byte=3),
    Pattern(Rows, "TILE ROW", (DENSE, "[1,512]"), DENSE, "row unaligned", starts=(0, 1)),
    Pattern(Rows, "TILE TILE", (ODD_PITCH, DENSE), DENSE, "odd pitch", byte=9),
    Pattern(Xpose, "CROSSED TILE", (TURNED, DENSE), DENSE, "one unaligned", extra=3, starts=(1,),
            byte=8 ),
    Pattern(Running, "LINEAR ROW", (ODD, "[1,511]"), ODD, extra=-3, types=NARROW, byte=5),
    Pattern(Running, "LINEAR COLUMN", (ODD, "[256,1]"), ODD, extra=-3, types=NARROW, byte=4),
    Pattern(Running, "ROW COLUMN", ("[1,511]", "[256,1]"), ODD, extra=-6, types=NARROW, byte=4),
    Pattern(Running, "TILE", ("[256,511]{1,0:pad(256,512)}",), ODD, extra=-6, types=NARROW, byte=3),
    Pattern(Running, "GATHERED", (ODD_STRIDED,), "[256,511,1]", extra=-4, types=NARROW, byte=7),
    Pattern(Phase, "LINEAR PERIODIC", (SHORT, "[1,3]"), GAPS, "gaps", extra=10, byte=27),
    Pattern(Phase, "GATHERED PERIODIC", (SHORT, "[1,3]"), FILLED, "padding", extra=9,
            byte=25),
    Pattern(Rows, "TILE", (LINE,), APART_ROWS, "gaps", extra=9, byte=16),
    Pattern(Rows, "TILE GATHERED", (LINE, STRIDED), APART_ROWS, "gaps", extra=20, byte=24),
    Pattern(Xpose, "CROSSED", (TURNED_LINE,), APART_ROWS, "gaps", extra=6, byte=9),
    Pattern(Xpose, "CROSSED TILE", (TURNED_LINE, LINE), APART_ROWS, "gaps", extra=14, byte=13),
    Pattern(Xpose, "CROSSED GATHERED", (TURNED_LINE, STRIDED), APART_ROWS, "gaps", extra=15,
            byte=14 ),
    Pattern(Gather, "LINEAR", (RUN,), APART, byte=7),
    Pattern(Gather, "GATHERED", (APART,), APART, byte=9),
    Pattern(Gather, "LINEAR GATHERED", (RUN, APART), APART, byte=12),
    Pattern(Gather, "LINEAR SCALAR", (RUN, "[]"), APART, byte=9),
    Pattern(Gather, "LINEAR VALUE", (RUN, "VALUE"), APART, byte=9),
)  # fmt: skip


def in_registers(chosen: CudaSchedule) -> tuple[int, int]:
    """Elements of a vector, and how many vectors a thread has at a time."""
    match chosen:
        case Flat() | Running():
            return chosen.vector_width, chosen.vectors_per_thread
        case Rows() | Xpose():
            return chosen.vector_width, chosen.rows_per_thread
        case Phase():
            return chosen.vector_width, chosen.tiles_in_flight
        case Gather():
            return 1, chosen.elements_per_thread
    assert_never(chosen)


@dataclass(frozen=True)
class Gate:
    """A pattern in one type: its plan, schedule and kernel."""

    pattern: Pattern
    type: str
    shapes: tuple[Shape, ...]
    plan: BroadcastPlan
    schedule: CudaSchedule
    source: KernelSource

    @property
    def elements(self) -> int:
        """How many a thread computes in a tile."""
        return math.prod(in_registers(self.schedule))

    @property
    def budget(self) -> float:
        """Instructions per element."""
        pattern, size = self.pattern, element_type(self.type).itemsize
        if pattern.byte and size == 1:
            return pattern.byte
        return (BUDGETS[pattern.family] + pattern.extra) * max(1, size / 4)

    def spent(self, report: sass.KernelReport) -> float:
        """Instructions per element."""
        return report.tile / self.elements

    def runs(self) -> tuple[int, int]:
        """Bytes beside each other that a thread moves at a time: along x, and of CROSSED operands
        along y."""
        size = element_type(self.type).itemsize
        width, count = in_registers(self.schedule)
        return width * size, count * size

    def vectors(self) -> dict[tuple[str, int], int]:
        """Accesses of 16 and of 8 bytes that a whole tile has at least, by ``L`` or ``S``."""
        chosen, (along, across) = self.schedule, self.runs()
        found: dict[tuple[str, int], int] = {}
        if isinstance(chosen, Gather):
            return found
        width, count = in_registers(chosen)
        moved = []
        for slot, kind in enumerate(chosen.reads):
            # Not what is read one element at a time, or in a row that begins anywhere.
            alone = isinstance(chosen, (Phase, Running)) and kind is not AccessPattern.LINEAR
            if chosen.narrow_load(slot) or alone:
                continue
            if kind in (AccessPattern.LINEAR, AccessPattern.TILE):
                moved.append(("L", along, count))
            elif kind is AccessPattern.ROW:
                moved.append(("L", along, 1))
            elif kind is AccessPattern.CROSSED:
                moved.append(("L", across, width))
        for way, run, times in (*moved, ("S", along, count)):
            size = min(run, 16)
            found[way, size] = found.get((way, size), 0) + times * run // size
        return found


@functools.cache
def gate(pattern: Pattern, kind: str, arch: str = "sm_90") -> Gate:
    """A pattern's kernel in one type, scheduled for an architecture."""
    operands = tuple(
        Operand(Shape(kind, ()), (), (), by_value=True)
        if text == "VALUE"
        else Operand.of(Shape.parse(kind + text))
        for text in pattern.operands
    )
    shapes = tuple(operand.shape for operand in operands)
    output = Shape.parse(kind + pattern.output)
    name, attributes = "add", {}
    if len(shapes) == 1:
        dimensions = tuple(range(output.rank))
        name = "broadcast_in_dim"
        attributes = {"shape": output.dimensions, "broadcast_dimensions": dimensions}
    graph = expression.single(name, attributes)
    nodes = graph_inference.infer_nodes(graph, shapes)
    plan = simplify.normalise(build(graph, nodes, operands, (Operand.of(output),)))
    size = element_type(kind).itemsize
    places = tuple(size * pattern.start(slot) for slot in range(len(plan.accesses)))
    chosen = schedule(plan, CudaTarget(arch, 132), places)
    return Gate(pattern, kind, (*shapes, output), plan, chosen, kernel.generate(plan, chosen))


def gates() -> list[Gate]:
    """Every pattern in every type that has it."""
    return [gate(pattern, kind) for pattern in PATTERNS for kind in TYPES if pattern.fits(kind)]


def measure(arch: str) -> dict[tuple[str, str], sass.KernelReport]:
    """The machine code of every gate, by the pattern's name and the type.

    Raises:
        CompileError: no NVRTC, or one that does not know the architecture.
        FileNotFoundError: nvdisasm is not installed.
    """
    texts = dict.fromkeys(g.source.text for g in gates())  # some patterns are one kernel
    made = sass.compiled("\n".join(texts), arch)
    found = sass.report(made.image, made.log)
    return {(g.pattern.name, g.type): found[g.source.entry] for g in gates()}


@dataclass(frozen=True)
class Traffic:
    """What a launch moves: sectors, over those that hold an element that is read or written, of
    the operands that are read once and the output, and of all; and accesses that are not aligned.
    A sector of a reused operand counts once per block."""

    streamed: float
    moved: float
    misaligned: int


def _sectors(plan: BroadcastPlan) -> Callable[[Access, int], int]:
    """Counts the sectors that hold what is read or written of an access; it starts some bytes after
    an aligned address."""
    index = np.indices([axis.extent for axis in plan.axes]).reshape(plan.rank, -1)

    def count(access: Access, start: int) -> int:
        size = access.element_type.itemsize
        places = start + size * (np.array(access.strides, np.int64).reshape(1, -1) @ index)
        return 0 if access.by_value else len(np.unique(places // SECTOR))

    return count


def traffic(folder: Path) -> dict[tuple[str, str], Traffic]:
    """Every gate, executed in the emulator."""
    emulator = EmulatorBackend(folder, trace=True)
    runs = emulator.load_many([g.source for g in gates()])
    found = {}
    for g, run in zip(gates(), runs, strict=True):
        packed = bytearray(kernel.parameters(g.plan, g.schedule))
        size = element_type(g.type).itemsize
        starts = [size * g.pattern.start(slot) for slot in range(len(g.plan.accesses))]
        memory = [emulator.allocate(shape.byte_size + max(starts)) for shape in g.shapes]
        for buffer in memory[:-1]:
            buffer[:] = 1
        for slot, access in enumerate(g.plan.accesses):
            which = len(memory) - 1 if slot == len(g.plan.reads) else access.operand
            if not access.by_value:
                word = (emulator.address(memory[which]) + starts[slot]).to_bytes(8, "little")
                packed[8 * slot : 8 * slot + 8] = word
        emulator.launch(run, g.schedule.grid, g.schedule.block, packed)
        slots = emulator.statistics[: len(g.plan.accesses)]
        fetched = [slot.fetched for slot in slots]
        floor = list(map(_sectors(g.plan), g.plan.accesses, starts))
        once = [k in STREAMS for k in g.schedule.reads] + [True] * len(g.plan.writes)
        found[g.pattern.name, g.type] = Traffic(
            sum(itertools.compress(fetched, once)) / sum(itertools.compress(floor, once)),
            sum(fetched) / sum(floor),
            sum(slot.misaligned for slot in slots),
        )
    return found


def table(reports: dict[str, dict[tuple[str, str], sass.KernelReport]]) -> str:
    """Per pattern and type the most instructions per element of the architectures, the most
    registers, and the traffic, as a Markdown table."""
    with tempfile.TemporaryDirectory() as folder:
        moved = traffic(Path(folder))
    lines = [
        "| schedule and reads | budget | " + " | ".join(TYPES) + " | registers | sectors |",
        "|---|--:|" + "--:|" * (len(TYPES) + 2),
    ]
    for pattern in PATTERNS:
        cells, registers = [], 0
        for kind in TYPES:
            if not pattern.fits(kind):
                cells.append("")
                continue
            found = [by_name[pattern.name, kind] for by_name in reports.values()]
            cells.append(f"{max(map(gate(pattern, kind).spent, found)):.1f}")
            registers = max(registers, *(r.registers for r in found))
        most = max(moved[pattern.name, kind].moved for kind in TYPES if pattern.fits(kind))
        lines.append(
            f"| {pattern.name} | {_budgets(pattern)} | {' | '.join(cells)} | "
            f"{registers} | {most:.2f} |"
        )
    return "\n".join(lines)


def _budgets(pattern: Pattern) -> str:
    """What the table says; that of a byte where it is smaller."""
    byte = f", {pattern.byte}" if pattern.byte else ""
    return f"{gate(pattern, 'f32').budget:.0f}{byte}"


def document() -> str:
    """What stands between the marks of the document."""
    reports = {arch: measure(arch) for arch in ARCHITECTURES}
    compiler = ".".join(map(str, nvrtc.version()))
    return (
        f"Measured with NVRTC {compiler} for {', '.join(ARCHITECTURES)}; each figure is the worst "
        f"of them.\n\n{table(reports)}"
    )


def main(arguments: list[str]) -> int:
    """Prints the measured part of the document; with ``--write`` puts it there."""
    made = document()
    if "--write" not in arguments:
        print(made)
        return 0
    text = DOCUMENT.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    DOCUMENT.write_text(f"{head}{BEGIN}\n\n{made}\n\n{END}{tail}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
