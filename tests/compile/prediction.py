"""What kernels ask of four GPUs while these copy at full speed: a model, no measurement.

    python -m tests.compile.prediction            # the tables
    python -m tests.compile.prediction --write    # into docs/kernels.md

A share is that of all instructions that a GPU issues in the time in which its memory, at 90 % of
its rate, moves the bytes of the operands and results. Where a pipe is busier than the issue slots
its share is given. From some 60 % on a kernel is expected to fall behind a copy. What is not in it:
caches, the order of accesses, launches, latencies.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import gpubcast as gb
from gpubcast.codegen.cuda import kernel
from gpubcast.hlo.ops import OPS
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.choose import CudaSchedule
from gpubcast.schedules.cuda.row_reduction import LANES_OF_THREAD, CudaRowReduction
from gpubcast.schedules.schedule import AccessPattern
from gpubcast.shapes.element_types import element_type
from tests.compile import compiled_reductions, gates, sass
from tests.support import accuracy

BEGIN, END = "<!-- predicted: begin -->", "<!-- predicted: end -->"
LANES, THREADS, FILE = 128, 2048, 65536
SUSTAINED = 0.9
KINDS = ("u8", "bf16", "f32", "f64")
# The pipes of a multiprocessor by the opcodes that they run; what is not listed is integer, logic
# and comparison. Uniform instructions are issued once for a warp and have a pipe of their own.
FMA = ("FFMA", "FMUL", "FADD", "IMAD")
LSU = ("LDG", "STG", "LDC", "LDS", "STS")
XU = ("MUFU", "I2F", "F2I", "FRND", "F2F")
DOUBLE = ("DFMA", "DMUL", "DADD", "DSETP")
CONTROL = ("BRA", "EXIT", "BSSY", "BSYNC", "NOP", "CALL")


@dataclass(frozen=True)
class Card:
    """A GPU: what its maker says, the clock that it keeps (B200: that of its maker's rate of f64,
    148 x 64 fused operations at 37 TFLOPS), and the KiB per multiprocessor that must
    be under way for the memory to be busy (CUB's ``tuning_transform.cuh``)."""

    name: str
    arch: str
    multiprocessors: int
    gigahertz: float
    gigabytes: float
    fma: int
    double: int
    kib_in_flight: int

    def lanes(self) -> dict[str, int]:
        """Lanes of each pipe."""
        return {"FMA": self.fma, "ALU": 64, "LSU": 32, "XU": 16, "FP64": self.double}


CARDS = (
    Card("A100", "sm_80", 108, 1.41, 2039, 64, 32, 16),
    Card("H100", "sm_90", 132, 1.755, 3350, 128, 64, 32),
    Card("H200", "sm_90", 132, 1.755, 4800, 128, 64, 48),
    Card("B200", "sm_100", 148, 1.96, 8000, 128, 64, 64),
)


@dataclass(frozen=True)
class Load:
    """What a kernel does for an element: instructions, those of each pipe, bytes moved; the bytes
    that a thread has under way, and its registers."""

    instructions: float
    pipes: dict[str, float]
    bytes: float
    thread_bytes: float
    registers: int

    def share(self, card: Card) -> tuple[float, str]:
        """The busiest of issue slots and pipes at the speed of a copy, and its name; "" for the
        slots."""
        elements = SUSTAINED * card.gigabytes / self.bytes
        rate = card.multiprocessors * card.gigahertz
        found = {"": self.instructions / LANES}
        found |= {name: self.pipes.get(name, 0) / n for name, n in card.lanes().items()}
        busiest = max(found, key=lambda name: found[name])
        return elements * found[busiest] / rate, busiest

    def issued(self, card: Card) -> float:
        """The share of the issue slots alone."""
        elements = SUSTAINED * card.gigabytes / self.bytes
        return elements * self.instructions / (LANES * card.multiprocessors * card.gigahertz)

    def in_flight(self, card: Card) -> float:
        """The bytes under way over those that are wanted."""
        registers = 8 * math.ceil(max(self.registers, 1) / 8)
        threads = min(FILE // (registers * 256) * 256, THREADS)
        return threads * self.thread_bytes / (1024 * card.kib_in_flight)


def pipe(opcode: str) -> str:
    """Which pipe runs an opcode; "" for none that counts."""
    name = opcode.split(".")[0]
    for found, names in (("FMA", FMA), ("LSU", LSU), ("XU", XU), ("FP64", DOUBLE)):
        if name in names:
            return found
    return "" if name.startswith("U") or name in CONTROL else "ALU"


def load(
    plan: BroadcastPlan, schedule: CudaSchedule, report: sass.KernelReport, *, usual: bool = False
) -> Load:
    """What a kernel does for an element in a launch that fills the GPU many times."""
    elements = math.prod(gates.in_registers(schedule))
    counted = Counter(report.usual if usual else report.path)
    pipes: dict[str, float] = {}
    for opcode, count in counted.items():
        pipes[pipe(opcode)] = pipes.get(pipe(opcode), 0) + count / elements
    streamed = (*gates.STREAMS, AccessPattern.GATHERED)
    sizes = [
        access.element_type.itemsize
        for access, own in zip(plan.reads, schedule.reads, strict=True)
        if own in streamed
    ]
    return Load(
        counted.total() / elements,
        pipes,
        plan.num_bytes / math.prod(axis.extent for axis in plan.axes),
        elements * sum(sizes),
        report.registers,
    )


def cell(shares: Sequence[tuple[float, str]]) -> str:
    """The shares of the cards, in their order; bold from 60 % on."""
    texts = []
    for share, name in shares:
        text = f"{100 * share:.0f}{f' {name}' if name else ''}"
        texts.append(f"**{text}**" if share > 0.6 else text)
    return " / ".join(texts)


def patterns() -> list[str]:
    """The table of the schedules."""
    loads: dict[tuple[str, str, str], Load] = {}
    for arch in dict.fromkeys(card.arch for card in CARDS):
        chosen = [
            gates.gate(p, kind, arch) for p in gates.PATTERNS for kind in KINDS if p.fits(kind)
        ]
        made = sass.compiled("\n".join(dict.fromkeys(g.source.text for g in chosen)), arch)
        reports = sass.report(made.image, made.log)
        for g in chosen:
            loads[g.pattern.name, g.type, arch] = load(g.plan, g.schedule, reports[g.source.entry])
    cards = " / ".join(card.name for card in CARDS)
    lines = [
        f"| schedule and reads ({cards}) | " + " | ".join(KINDS) + " | in flight, f32 |",
        "|---|" + "--:|" * (len(KINDS) + 1),
    ]
    for pattern in gates.PATTERNS:
        cells = [
            cell([loads[pattern.name, kind, card.arch].share(card) for card in CARDS])
            if pattern.fits(kind)
            else ""
            for kind in KINDS
        ]
        flight = [loads[pattern.name, "f32", card.arch].in_flight(card) for card in CARDS]
        texts = [f"{n:.1f}" if n else "-" for n in flight]
        lines.append(f"| {pattern.name} | {' | '.join(cells)} | {' / '.join(texts)} |")
    return lines


def function_load(name: str, kind: str, arch: str) -> Load:
    """What a function of FLAT operands does for an element that is none of the few that a branch is
    for."""
    plan = gb.plan(name, *[f"{kind}[256,512]"] * accuracy.arity(name))
    chosen = plan.schedule(arch)
    source = kernel.generate(plan.broadcast_plan, chosen)
    made = sass.compiled(source.text, arch)
    report = sass.report(made.image, made.log)[source.entry]
    return load(plan.broadcast_plan, chosen, report, usual=True)


def functions() -> list[str]:
    """The table of the elementary functions; the A100's code of divisions is not read."""
    cards = [card for card in CARDS if card.arch != "sm_80"]
    names = sorted({name for name, _ in accuracy.measurable()})
    kinds = ("f16", "bf16", "f32")
    lines = [
        f"| function ({' / '.join(card.name for card in cards)}) | " + " | ".join(kinds) + " |",
        "|---|" + "--:|" * len(kinds),
    ]
    for name in names:
        cells = []
        for kind in kinds:
            loads = {arch: function_load(name, kind, arch) for arch in {c.arch for c in cards}}
            text = cell([loads[card.arch].share(card) for card in cards])
            cells.append(text + (" own" if OPS[name].halved(element_type(kind)) else ""))
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def reduction_load(name: str, columns: int, arch: str) -> Load:
    """What a reduction of whole rows, held in registers, does for an element."""
    function, shapes = compiled_reductions.call(name, columns)
    chosen, report = compiled_reductions.made(arch, function, *shapes)
    assert isinstance(chosen, CudaRowReduction)
    lanes = chosen.steps * LANES_OF_THREAD
    plan = function.plan(*shapes).broadcast_plan
    size = plan.reads[0].element_type.itemsize
    moved = (1 + bool(plan.along_sequence())) * size
    return Load(report.tile / lanes, {}, moved, lanes * size, report.registers)


def reductions() -> list[str]:
    """The table of the reductions whose budgets are stated: all instructions are counted, those of
    each pipe are not told apart."""
    cells = ["8,192 columns", "in flight", "32,768 columns", "in flight"]
    cards = " / ".join(card.name for card in CARDS)
    lines = [f"| rows of f32 ({cards}) | {' | '.join(cells)} |", "|---|" + "--:|" * len(cells)]
    for name in compiled_reductions.BUDGETS:
        cells = []
        for columns in (8192, 32768):
            loads = {c.arch: reduction_load(name, columns, c.arch) for c in CARDS}
            cells.append(cell([loads[card.arch].share(card) for card in CARDS]))
            cells.append(" / ".join(f"{loads[c.arch].in_flight(c):.1f}" for c in CARDS))
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def main(arguments: list[str]) -> int:
    """Prints the tables; with ``--write`` puts them into the document."""
    made = "\n".join([*patterns(), "", *reductions(), "", *functions()])
    if "--write" not in arguments:
        print(made)
        return 0
    text = gates.DOCUMENT.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    gates.DOCUMENT.write_text(f"{head}{BEGIN}\n\n{made}\n\n{END}{tail}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
