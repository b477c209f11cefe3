"""What the schedules of GPUs share: threads, vectors, and how much a program asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.schedule import BLOCK_THREADS as BLOCK_THREADS
from gpubcast.schedules.schedule import CudaTarget, Patterns

VECTOR_BYTES = 16
# Addresses matter modulo this: bytes of the widest access of any GPU, and of a sector of memory.
ALIGNED = 32
# Blocks along x; along y and z a grid has 65,535 only, so they are not used.
MAX_GRID = 2**31 - 1
REGISTER = 4
# Registers of a thread for elements that are loaded one at a time.
MANY_ELEMENTS = 32
# Blocks of a multiprocessor that leave a thread the registers that a tile in flight takes.
FEWEST_BLOCKS = 3
# Vectors that a thread holds for each of its rows before registers are short.
MANY_VECTOR_ACCESSES = 4


@dataclass(frozen=True, slots=True)
class VectorAccess:
    """An access along which vectors run.

    Attributes:
        slot: its number among the plan's accesses.
        access: what is moved.
        address: where its first element lies, or the remainder of that modulo ``ALIGNED``.
        strides: what moves its first element, in elements.
        written: whether it is a write.
    """

    slot: int
    access: Access
    address: int
    strides: tuple[int, ...]
    written: bool

    def aligned(self, head: int) -> int:
        """The bytes that the address of every vector is a multiple of, where the first vector
        begins ``head`` elements from the first element."""
        size = self.access.element_type.itemsize
        steps = (abs(stride) * size for stride in self.strides)
        return math.gcd(self.address + head * size, *steps, ALIGNED)


@dataclass(frozen=True, slots=True)
class Vectors:
    """How vectors run along accesses.

    Attributes:
        width: elements of a vector.
        head: elements before the first vector.
        single: by slot, the elements of a load, of accesses that are read by less than a vector.
        long: whether they have more than 16 bytes.
        reason: what is not at its best; empty where everything is.
    """

    width: int
    head: int
    single: dict[int, int]
    long: bool
    reason: str

    def loads(self, reads: int) -> tuple[int, ...]:
        """Per read, the elements of a load; empty where each vector is one."""
        if not self.single:
            return ()
        return tuple(self.single.get(slot, self.width) for slot in range(reads))

    def elements(self, accesses: list[VectorAccess]) -> int:
        """How many accesses have a register for each element: a load has less than one of them."""
        return sum(
            self.single[vector_access.slot] * vector_access.access.element_type.itemsize < REGISTER
            for vector_access in accesses
            if vector_access.slot in self.single
        )


def vector_accesses(
    plan: BroadcastPlan, addresses: tuple[int, ...], patterns: Patterns,
    wanted: Patterns, steps: Sequence[int] = (),
) -> list[VectorAccess]:  # fmt: skip
    """The accesses of some patterns, along which vectors run.

    Args:
        patterns: of every access.
        wanted: the patterns that are meant.
        steps: the axes along which a vector's first element moves.
    """
    return [
        VectorAccess(
            slot, access, place, tuple(access.strides[k] for k in steps), slot >= len(plan.reads)
        )
        for slot, (access, place, pattern) in enumerate(
            zip(plan.accesses, addresses, patterns, strict=True)
        )
        if pattern in wanted
    ]


def vectors(
    accesses: list[VectorAccess],
    most: int = VECTOR_BYTES,
    *,
    peels: bool = False,
    widest: int = ALIGNED,
) -> Vectors:
    """The widest vectors that every write may take; a read that may not is read by less.

    Args:
        accesses: what is moved; those that read no memory limit nothing.
        most: bytes of the widest access.
        peels: whether elements before the first vector may be done one by one.
        widest: elements of a vector at most.
    """
    moved = [vector_access for vector_access in accesses if not vector_access.access.generated]
    sizes = [vector_access.access.element_type.itemsize for vector_access in moved]
    size = max(sizes, default=1)
    best = min(most // size, widest)
    written = [vector_access for vector_access in moved if vector_access.written]
    for width in _halves(best):
        heads = [
            head
            for head in range(2 * width if peels else 1)
            if width == 1 or all(load_width(w, head, width, most) == width for w in written)
        ]
        if heads:
            break
    # Of those that suit the writes: where most is read by whole vectors, then where the writes
    # begin at a sector of memory.
    head = max(
        heads,
        key=lambda h: (
            sum(load_width(s, h, width, most) for s in moved),
            sum(w.aligned(h) == ALIGNED for w in written),
            -h,
        ),
    )
    single = {s.slot: n for s in moved if (n := load_width(s, head, width, most)) < width}
    said = []
    if width < best:
        narrow = min(written, key=lambda w: w.aligned(0))
        said.append(
            f"V{width} of {best}: output {narrow.access.operand} is aligned to "
            f"{narrow.aligned(0)} bytes only"
        )
    if head:
        said.append(f"vectors begin after {head} element{'s' * (head > 1)}")
    for vector_access in moved:
        if vector_access.slot in single:
            many = single[vector_access.slot]
            said.append(
                f"operand {vector_access.access.operand} is read {many} "
                f"element{'s' * (many > 1)} at a time: it is aligned to "
                f"{vector_access.aligned(head)} bytes only"
            )
    reason = "".join(f"; {one}" for one in said)
    return Vectors(width, head, single, width * size > VECTOR_BYTES, reason)


def load_width(vector_access: VectorAccess, head: int, width: int, most: int) -> int:
    """Elements of a vector that one access may move.

    Args:
        head: elements before the first vector.
        width: of the vector.
        most: bytes of the widest access.
    """
    size = vector_access.access.element_type.itemsize
    aligned = vector_access.aligned(head)
    return next((n for n in _halves(width) if min(n * size, most) <= aligned), 1)


def _halves(width: int) -> Iterator[int]:
    while width:
        yield width
        width //= 2


def run_vectors(
    plan: BroadcastPlan, accesses: list[VectorAccess], target: CudaTarget, singles: float = 0
) -> tuple[Vectors, int]:
    """Vectors of a run without a gap, and how many of them a thread has.

    Args:
        singles: registers for each element of what is no vector in memory.
    """
    widest = ALIGNED
    while True:
        found = vectors(accesses, target.vector_bytes, peels=True, widest=widest)
        count = 1 if found.long or expensive(plan) or len(accesses) > MANY_VECTOR_ACCESSES else 2
        if singles and count > 1 and all(vector_access.written for vector_access in accesses):
            count = 4  # what is done once per thread counts more where no vector is read
        registers = (singles + found.elements(accesses)) * found.width
        while count > 1 and registers * count > MANY_ELEMENTS:
            count //= 2
        if registers <= MANY_ELEMENTS or found.width == 1:
            return found, count
        widest = found.width // 2


def run_blocks(elements: int, found: Vectors, count: int) -> int:
    """Blocks of such a run; the first also has the elements before its vectors."""
    return max(-(-(elements - found.head) // (BLOCK_THREADS * found.width * count)), 1)


def expensive(plan: BroadcastPlan) -> bool:
    """Whether an operation on single elements takes many registers; others are done beforehand."""
    every = frozenset(range(plan.rank))
    varies = plan.varies()[len(plan.reads) :]
    return any(
        plan.program.expensive(instruction) and (axes == every or not every)
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )
