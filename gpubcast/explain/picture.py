"""The parts of an explanation as plain data: what is said, not how it looks."""

from __future__ import annotations

from dataclasses import dataclass

from gpubcast.hlo.alignment import AlignmentGrid
from gpubcast.pictures.memory import Memory
from gpubcast.pictures.schedule import Touched
from gpubcast.pictures.stages import Stage


@dataclass(frozen=True, slots=True)
class TitledTable:
    """A titled table; every row has as many cells as there are columns; a title alone has none."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class MemorySlot:
    """One element slot of memory.

    Attributes:
        text: the one character that it is drawn as.
        offset: distance from the array's first slot, in elements.
        index: the logical index of the element that lies there; None for padding.
    """

    text: str
    offset: int
    index: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Strip:
    """The memory of one array, in address order.

    Attributes:
        label: which array.
        shape: its shape as HLO text.
        groups: the slots, one group per run of the most minor dimension; empty where there are
            too many to draw.
        note: what is said instead, or about the padding.
        memory: the same as a grid.
    """

    label: str
    shape: str
    groups: tuple[tuple[MemorySlot, ...], ...]
    note: str
    memory: Memory


@dataclass(frozen=True, slots=True)
class Card:
    """How the plan is launched on one target: names and values, in reading order.

    Attributes:
        title: the target in words.
        device: ``"cpu"`` or ``"cuda"``.
        facts: the names and values.
        touched: what blocks and threads touch; None where nothing runs.
    """

    title: str
    device: str
    facts: tuple[tuple[str, str], ...]
    touched: Touched | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Generated source; ``language`` is a highlighter's name for it."""

    title: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All parts, in the order in which they are shown.

    Attributes:
        header: the operation in HLO's notation; one more line per node of a fused expression.
        grid: where the operands' dimensions go; None where the output has no dimensions.
        legend: what the cells of the grid mean.
        tables: the axes before and after merging.
        strips: the memory of each operand, then of each output.
        cards: one per target.
        listings: one per target that runs a kernel.
        stages: the kernels of the call and the bytes that each moves.
        source: whether text and terminal show the listings (HTML always folds them in).
    """

    header: tuple[str, ...]
    grid: AlignmentGrid | None
    legend: str
    tables: tuple[TitledTable, ...]
    strips: tuple[Strip, ...]
    cards: tuple[Card, ...]
    listings: tuple[Listing, ...]
    stages: tuple[Stage, ...]
    source: bool = False
