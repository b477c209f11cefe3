"""Which values of a plan with reductions are computed where: in which pass, for which element."""

from __future__ import annotations

from collections.abc import Iterator

from gpubcast.planning.plan import CONSTANT, BroadcastPlan

# Bytes of a register.
REGISTER = 4


class Passes:
    """The passes of a plan over its first sequence.

    Attributes:
        after: per value, after how many passes it can be computed.
        depth: per value, in how many sequences it lies: 0 for one per row.
        count: how many passes there are; the walk after the last one has the next number.
        every: all reductions.
        inner: those within the elements of the first sequence.
        inner_reads: the reads that move along these.
        full: the outputs that have an axis of the sequence.
    """

    def __init__(self, plan: BroadcastPlan) -> None:
        self.program = plan.program
        base = len(plan.reads)
        self.after = plan.passes()
        self.depth = plan.depths()
        code = list(enumerate(plan.program.code, base))
        self.every = tuple(v for v, own in code if own.sequence)
        self.inner = [v for v, own in code if own.sequence == 2]
        self.count = max(self.after, default=0)
        self.full = plan.along_sequence()
        self.inner_reads = tuple(r for r in range(base) if self.depth[r] == 2)
        self._base = base
        self._generated = [access.generated for access in plan.reads]

    def operand(self, value: int) -> int:
        """What a reduction reduces."""
        (operand,) = self.program.code[value - self._base].args
        return operand

    def reductions(self, number: int) -> list[int]:
        """The reductions of a pass."""
        return [v for v in self.every if v not in self.inner and self.after[v] == number]

    def lacks_identity(self, value: int) -> bool:
        """Whether a reduction has no value that changes no other."""
        return self.program.code[value - self._base].lacks_identity

    def ends(self, number: int) -> tuple[int, ...]:
        """What a pass is for: the operands of its reductions, or the results of elements."""
        if number > self.count:
            return tuple(self.program.results[o] for o in self.full)
        return tuple(self.operand(v) for v in self.reductions(number))

    def values(self, number: int, cached: tuple[int, ...], depth: int = 1) -> list[int]:
        """The values that a pass computes for each element, in their order, where the first pass
        that has some of them leaves these for later ones."""
        available = tuple(
            v for v in cached if any(v in self._reached(n, ()) for n in range(1, number))
        )
        return [v for v in self._reached(number, available) if self.depth[v] == depth]

    def taken(self, number: int, cached: tuple[int, ...]) -> list[int]:
        """The cached values that a pass needs of an earlier one."""
        own = self.values(number, cached)
        direct = {a for v in own if v >= self._base for a in self.program.code[v - self._base].args}
        direct.update(self.ends(number))
        return [v for v in cached if v in direct and v not in own]

    def _reached(self, number: int, available: tuple[int, ...]) -> list[int]:
        needed = self.program.needed(self.ends(number), stop=(*available, *self.every))
        return [
            v
            for v in needed
            if v not in available
            and not (v >= self._base and self.program.code[v - self._base].op == CONSTANT)
        ]

    def shared(self) -> tuple[int, ...]:
        """Expensive values of an element that two passes need."""
        found = []
        for value in range(self._base, len(self.after)):
            instruction = self.program.code[value - self._base]
            if self.depth[value] != 1 or not self.program.expensive(instruction):
                continue
            users = [n for n in range(1, self.count + 2) if value in self._reached(n, ())]
            if len(users) > 1:
                found.append(value)
        return tuple(found)

    def held(self, cached: tuple[int, ...]) -> tuple[int, ...]:
        """The reads of memory along the sequence that two passes need."""
        return tuple(
            r
            for r in range(self._base)
            if self.depth[r] == 1
            and not self._generated[r]
            and sum(r in self.values(n, cached) for n in range(1, self.count + 2)) > 1
        )


def reading(walks: int, *, held: bool) -> str:
    """How often the elements of a sequence are read, in words."""
    if walks == 1:
        return "read once"
    if held:
        return "held in registers and read once"
    return f"read {walks} times: too much for registers"


def cached_values(plan: BroadcastPlan, passes: Passes) -> tuple[tuple[int, ...], int]:
    """The values of an element that a pass leaves for later ones, and the most registers that an
    element then takes between passes: what is expensive is computed once, and one value more is
    kept in place of the reads that it is made of, where that takes less."""
    expensive = passes.shared()
    best = expensive, _registers(plan, passes, expensive)
    for value in _candidates(plan, passes):
        if value not in expensive:
            chosen = tuple(sorted((*expensive, value)))
            needed = _registers(plan, passes, chosen)
            if needed < best[1]:
                best = chosen, needed
    return best


def _candidates(plan: BroadcastPlan, passes: Passes) -> Iterator[int]:
    """Computed values that two passes need."""
    for value in range(len(plan.reads), len(passes.depth)):
        users = [n for n in range(1, passes.count + 2) if value in passes.values(n, ())]
        if len(users) > 1 and value not in passes.every:
            yield value


def _registers(plan: BroadcastPlan, passes: Passes, cached: tuple[int, ...]) -> int:
    """Registers that an element takes at most between passes: of what later ones need."""
    last = passes.count + 1
    needs = {n: set(passes.values(n, cached)) for n in range(1, last + 1)}
    uses = {n: needs[n] | set(passes.taken(n, cached)) for n in needs}
    reads = [r for r, own in enumerate(plan.reads) if not own.generated]

    def size(value: int) -> int:
        return -(-plan.program.type_of(value).itemsize // REGISTER)

    most = 0
    for after in range(1, last):
        left = {
            v
            for v in (*reads, *cached)
            if any(v in needs[n] for n in range(1, after + 1))
            and any(v in uses[n] for n in range(after + 1, last + 1))
        }
        most = max(most, sum(map(size, left)))
    return most
