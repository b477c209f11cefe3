"""The vocabulary of schedules: targets, access patterns, and what every schedule has.

Each family of kernels is a dataclass of its own, in the module that chooses it; ``choose`` lists
them.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self


class AccessPattern(enum.Enum):
    """How a kernel walks one operand. The names are those of the CUDA headers."""

    VALUE = "VALUE"  # a launch parameter
    SCALAR = "SCALAR"  # one element for the whole tile
    LINEAR = "LINEAR"  # neighbours in the iteration space are neighbours in memory
    TILE = "TILE"  # ROWS, XPOSE: unit stride along the inner axis, any along the row axis
    ROW = "ROW"  # ROWS, XPOSE: unit stride along the inner axis, repeated along the row axis
    COLUMN = "COLUMN"  # ROWS, XPOSE: repeated along the inner axis
    GATHERED = "GATHERED"  # any strides
    PERIODIC = "PERIODIC"  # PHASE: any strides in the inner axes, the same in every row
    CROSSED = "CROSSED"  # unit stride along another axis than vectors go along
    REVERSED = "REVERSED"  # NEST, RUNS: neighbours along the inner axis in opposite order
    SECOND = "SECOND"  # NEST, RUNS: every second element along the inner axis
    PARTIAL = "PARTIAL"  # GATHER, NEST: a write that lacks axes; done at their first index only


Patterns = tuple[AccessPattern, ...]

# Threads of a block.
BLOCK_THREADS = 256


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """A GPU as the scheduler sees it: its architecture (``"sm_90"``) and number of SMs."""

    arch: str
    multiprocessors: int

    @property
    def vector_bytes(self) -> int:
        """Bytes of the widest access to memory."""
        return 32 if int(self.arch[3:].rstrip("af")) >= 100 else 16


# The footprint from which on kernels write past the caches, where it has not been measured.
STREAMING_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A processor as the scheduler sees it.

    Attributes:
        threads: how many threads a kernel may use.
        streaming_bytes: the least footprint of a kernel that writes past the caches.
    """

    threads: int = 1
    streaming_bytes: int = STREAMING_BYTES


Target = CudaTarget | CpuTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleBase(ABC):
    """What every schedule says.

    Attributes:
        reads, writes: the pattern of each access.
        reason: the choice in words.
    """

    name: ClassVar[str]
    """The family, as keys and messages call it."""
    values: ClassVar[str] = ""
    """The attribute that holds numbers of values of the program, where there is one."""

    reads: Patterns
    writes: Patterns
    reason: str

    @property
    @abstractmethod
    def key_part(self) -> str:
        """What the source depends on apart from program and accesses: no size and no stride."""

    def access_key(self, slot: int, element_type: str) -> str:
        """What the source says of an access, whose elements have a type."""
        return f"{self.patterns[slot].value}:{element_type}"

    @property
    def patterns(self) -> Patterns:
        """Those of the reads, then of the writes: the order of a kernel's slots."""
        return self.reads + self.writes

    def renumbered(self, numbers: Sequence[int]) -> Self:
        """The same for a program in which each value has another number."""
        if not self.values:
            return self
        own: tuple[int, ...] = getattr(self, self.values)
        changed: dict[str, Any] = {self.values: tuple(numbers[value] for value in own)}
        return replace(self, **changed)

    @property
    def offset_bits(self) -> int:
        """Width of the offsets that are computed for each element."""
        return 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaScheduleBase(ScheduleBase):
    """What every launch on a GPU needs.

    Attributes:
        grid: number of blocks.
        block: threads of a block along the inner axis and along the rows.
    """

    grid: int
    block: tuple[int, int]

    @property
    def launch_configuration(self) -> tuple[int, tuple[int, int]]:
        """What a backend's ``launch`` is told."""
        return self.grid, self.block

    @property
    def most_threads(self) -> int:
        """The most threads of a block that the kernel may be launched with."""
        return BLOCK_THREADS

    @property
    def launch_bounds(self) -> str:
        """What the compiler is told of blocks, in CUDA's words."""
        return str(self.most_threads)

    @property
    def streams(self) -> bool:
        """Whether the results are written past the caches of a CPU."""
        return False

    def narrow_load(self, read: int) -> int:
        """Elements of a load of a read that takes several for a vector; 0 where one is enough."""
        return 0

    def shared_by(self, read: int) -> int:
        """How many neighbours in a vector always are one element of a read."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorScheduleBase(CudaScheduleBase):
    """What every launch has whose threads move vectors.

    Attributes:
        vector_width: elements per vector access.
        loads: per read, how many elements of a vector are read at a time; empty where each vector
            is one load.
    """

    vector_width: int
    loads: tuple[int, ...]

    def narrow_load(self, read: int) -> int:
        if not self.loads:
            return 0
        return self.loads[read] if self.loads[read] < self.elements_along(read) else 0

    def elements_along(self, read: int) -> int:
        """Elements of a read that a thread has beside each other."""
        return self.vector_width

    def access_key(self, slot: int, element_type: str) -> str:
        narrow, same = 0, 1
        if slot < len(self.reads):
            narrow, same = self.narrow_load(slot), self.shared_by(slot)
        said = (f"/{narrow}" if narrow else "") + (f"*{same}" if same > 1 else "")
        return f"{self.patterns[slot].value}{said}:{element_type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuScheduleBase(ScheduleBase):
    """What every kernel of the CPU has: loops, one of which threads share.

    Attributes:
        rank: number of axes that are walked.
        moved_axes: per access, the axes along which it moves, where that is not said by its
            pattern; else None.
        split_axis: the axis whose indices are divided among threads.
        iterations: how many indices that axis has.
        parts: into how many parts it is cut.
        granularity: of how many indices parts should be multiples.
    """

    rank: int
    moved_axes: tuple[tuple[int, ...] | None, ...]
    split_axis: int
    iterations: int
    parts: int
    granularity: int

    @property
    def launch_configuration(self) -> tuple[int, tuple[int, int]]:
        """What a backend's ``launch`` is told in place of a grid and blocks: the iterations, and
        how they are divided."""
        return self.iterations, (self.parts, self.granularity)

    def access_key(self, slot: int, element_type: str) -> str:
        moved = self.moved_axes[slot]
        along = "" if moved is None else "@" + ".".join(map(str, moved))
        return f"{self.patterns[slot].value}:{element_type}{along}"

    @property
    def split_key(self) -> tuple[str, ...]:
        """What the source depends on of how threads share the work."""
        return (f"split {self.split_axis}",) if self.split_axis else ()

    @property
    def joined_axes(self) -> int:
        """How many inner axes are walked as one with the axis around them, by what is linear or
        stands still."""
        return 0

    @property
    def asks_for_size(self) -> bool:
        """Whether a kernel is told the size of the axis that is divided, beside its part of it."""
        return False

    @property
    def pattern_axes(self) -> range:
        """The axes along which an access moves as its pattern says."""
        return range(self.rank - 1 - self.joined_axes, self.rank)

    @property
    def lengths(self) -> dict[str, int]:
        """The sizes that a kernel is told apart from those of the plan, by the names that it gives
        them."""
        return {}
