"""Which threads run which basic block, and where they wait for each other.

All threads of some blocks run together. Of the basic blocks that threads are at, the first in the
text is run, so that threads that parted meet again. Before a barrier or a shuffle, threads wait
until all that take part are there; if they never come, that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.ptx.arithmetic import poison
from tests.support.ptx.faults import ExecutionFault, RefusedError
from tests.support.ptx.memory import Access, Memory, Site, space_of
from tests.support.ptx.program import Module
from tests.support.ptx.translation import FINISHED, Code, passed_name
from tests.support.ptx.warps import LANES

# A kernel that executes more basic blocks than this does not end.
MOST_BLOCKS = 2_000_000


class Registers:
    """Values by name: one number for all threads, or an array of one number for each."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.values: dict[str, Any] = {}
        self.own: set[str] = set()  # arrays that no other name has

    def read(self, chosen: Any, name: str, dtype: np.dtype) -> Any:
        """The value of the chosen threads; poison where nothing was written."""
        value = self.values.get(name)
        if value is None:
            return poison(dtype)
        if chosen is None:
            self.own.discard(name)
            return value
        return value[chosen] if value.ndim else value

    def write(self, chosen: Any, name: str, value: Any) -> None:
        """A new value for the chosen threads."""
        if chosen is None:
            self.values[name] = value
            self.own.discard(name)
            return
        if name not in self.own:
            old = self.values.get(name, poison(value.dtype))
            array = np.empty(self.total, value.dtype)
            array[:] = old
            self.values[name] = array
            self.own.add(name)
        self.values[name][chosen] = value


@dataclass
class Grid:
    """What all threads that run together share.

    Attributes:
        epochs: per block of the chunk how many barriers it passed, and per warp.
        stack: bytes of local memory in use.
        instructions: executed, one for each thread.
    """

    module: Module
    memory: Memory
    parameters: np.uint64
    threads: Any
    block_of: Any
    warp_of: Any
    lane_of: Any
    specials: dict[str, Any]
    block_epochs: Any
    warp_epochs: Any
    alive: Any
    logs: bool
    stack: int = 0
    instructions: int = 0


@dataclass
class Frame:
    """Threads in one call of a function; ``rows`` are their places among those of the grid."""

    grid: Grid
    code: Code
    rows: Any
    depot: int
    registers: Registers = field(init=False)

    def __post_init__(self) -> None:
        self.registers = Registers(len(self.rows))

    @property
    def parameters(self) -> np.uint64:
        """The address of the kernel's parameters."""
        return self.grid.parameters

    def of(self, chosen: Any) -> Any:
        """The rows of the chosen threads."""
        return self.rows if chosen is None else self.rows[chosen]

    def special(self, chosen: Any, name: str) -> Any:
        """A special register."""
        value = self.grid.specials[name]
        return value[self.of(chosen)] if value.ndim else value

    def lanes(self, chosen: Any) -> tuple[Any, Any]:
        """The warps and lanes of the chosen threads."""
        rows = self.of(chosen)
        return self.grid.warp_of[rows], self.grid.lane_of[rows]

    def stack(self, offset: Any) -> Any:
        """The address in local memory of a variable of this call."""
        return offset + type(offset)(self.depot)

    # --- memory ---

    def load(self, site: Site, addresses: Any, chosen: Any, count: int) -> list[Any]:
        """See ``Memory.load``; one number where all threads read one address."""
        addresses, rows = self._owned(site, addresses, chosen, count)
        self._log(site, addresses, chosen, stores=False)
        found = self.grid.memory.load(site, addresses, rows)
        return [x[0] for x in found] if np.ndim(addresses) == 0 else found

    def store(self, site: Site, addresses: Any, values: list[Any], chosen: Any, count: int) -> None:
        """See ``Memory.store``; every thread stores, also where all have one address."""
        addresses, rows = self._owned(site, addresses, chosen, count)
        addresses = np.broadcast_to(addresses, count)
        self._log(site, addresses, chosen, stores=True)
        self.grid.memory.store(site, addresses, values, rows)

    def _owned(self, site: Site, addresses: Any, chosen: Any, count: int) -> tuple[Any, Any]:
        """Addresses of shared and local memory differ by their owner, and who that is."""
        space = space_of(site, addresses)
        if space not in ("shared", "local"):
            return addresses, None
        rows = self.of(chosen)
        return np.broadcast_to(addresses, count), (
            self.grid.block_of[rows] if space == "shared" else rows
        )

    def _log(self, site: Site, addresses: Any, chosen: Any, *, stores: bool) -> None:
        grid, space = self.grid, space_of(site, addresses)
        if not grid.logs or space not in ("global", "shared"):
            return
        rows = self.of(chosen)
        where = np.atleast_1d(np.asarray(addresses, np.uint64)) & np.uint64(2**60 - 1)
        epochs = grid.block_epochs[grid.block_of[rows]], grid.warp_epochs[grid.warp_of[rows]]
        where = np.broadcast_to(where, rows.shape)
        grid.memory.accesses.append(Access(site, space, stores, where, grid.threads[rows], epochs))

    # --- calls and barriers ---

    def call(self, name: str, passed: dict[tuple[int, int], Any], chosen: Any) -> dict[Any, Any]:
        """Runs a function for the chosen threads; by position and offset, what it gives back."""
        grid, code = self.grid, self.grid.module.code(name)
        function, rows = code.function, self.of(chosen)
        frame = Frame(grid, code, rows, grid.stack)
        grid.stack += grid.module.local_bytes(name)
        if grid.stack > grid.module.most_local_bytes:
            raise RefusedError("recursion")
        for (position, offset), value in passed.items():
            parameter = function.parameters[position].name
            frame.registers.write(None, passed_name(parameter, offset), value)
        run(frame)
        grid.stack = frame.depot
        return {
            (position, int(key.rsplit("_", 1)[1])): value
            for position, result in enumerate(function.results)
            for key, value in frame.registers.values.items()
            if key.startswith(passed_name(result.name, ""))
        }

    def pass_barrier(self, chosen: Any) -> None:
        """The blocks of the chosen threads, all of whose threads are there, go on."""
        self.grid.block_epochs[np.unique(self.grid.block_of[self.of(chosen)])] += 1

    def pass_warp_barrier(self, chosen: Any) -> None:
        """The same for warps."""
        self.grid.warp_epochs[np.unique(self.grid.warp_of[self.of(chosen)])] += 1


def run(frame: Frame) -> None:
    """Run a function from its first block until no thread is left in it.

    Raises:
        ExecutionFault: it does not end, or threads wait for others that never come.
    """
    pending: dict[int, list[Any]] = {0: [np.arange(len(frame.rows))]}
    executed = 0
    while pending:
        number, chosen = _next(frame, pending)
        everyone = len(chosen) == len(frame.rows)
        index, count = None if everyone else chosen, len(chosen)
        executed += 1
        if executed > MOST_BLOCKS:
            raise ExecutionFault(f"{frame.code.function.name} does not end")
        frame.grid.instructions += count * frame.code.sizes[number]
        to = frame.code.blocks[number](frame.registers, index, count, frame)
        for block, threads in _targets(to, chosen):
            if block != FINISHED:
                pending.setdefault(block, []).append(threads)
            elif frame.code.function.entry:
                frame.grid.alive[frame.rows[threads]] = False


def _targets(to: Any, chosen: Any) -> Iterator[tuple[int, Any]]:
    """Where the threads go: to one block, by a predicate, or by a table of blocks."""
    if isinstance(to, int):
        yield to, chosen
    elif len(to) == 2:
        which, table = np.broadcast_to(to[0], chosen.shape), to[1]
        for value in np.unique(which):
            if int(value) >= len(table):
                raise ExecutionFault(f"a branch by index {value} of {len(table)} targets")
            yield table[int(value)], chosen[which == value]
    else:
        predicate = np.broadcast_to(to[0], chosen.shape)
        for block, here in ((to[1], predicate), (to[2], ~predicate)):
            if here.all():
                yield block, chosen
            elif here.any():
                yield block, chosen[here]


def _next(frame: Frame, pending: dict[int, list[Any]]) -> tuple[int, Any]:
    """Takes the first block that threads can enter, and those threads."""
    for number in sorted(pending):
        waiting = pending[number]
        chosen = waiting[0] if len(waiting) == 1 else np.sort(np.concatenate(waiting))
        ready = _ready(frame, number, chosen)
        if ready is None or ready.all():
            del pending[number]
            return number, chosen
        if ready.any():
            pending[number] = [chosen[~ready]]
            return number, chosen[ready]
    number = min(pending)
    instruction = frame.code.function.blocks[number][0]
    others = sum(len(threads) for parts in pending.values() for threads in parts)
    raise ExecutionFault(
        f"{frame.code.function.name}: {others} threads wait for ever, first at {instruction}"
    )


def _ready(frame: Frame, number: int, chosen: Any) -> Any:
    """Which threads need not wait; None: none has to."""
    kind, grid = frame.code.convergence[number], frame.grid
    if not kind:
        return None
    rows = frame.rows[chosen]
    if kind == "block":
        if not frame.code.function.entry:
            raise RefusedError("a barrier in a function")
        counts = np.bincount(grid.block_of[rows], minlength=len(grid.block_epochs))
        alive = np.bincount(grid.block_of, grid.alive, minlength=len(grid.block_epochs))
        return (counts == alive)[grid.block_of[rows]]
    everyone = len(chosen) == len(frame.rows)
    members = frame.code.members[number]
    assert members is not None
    index = None if everyone else chosen
    masks = np.broadcast_to(members(frame.registers, index, len(chosen), frame), chosen.shape)
    warps, lanes = grid.warp_of[rows], grid.lane_of[rows]
    shape = len(grid.warp_epochs), LANES
    here, alive = np.zeros(shape, bool), np.zeros(shape, bool)
    here[warps, lanes] = True
    alive[grid.warp_of[grid.alive], grid.lane_of[grid.alive]] = True
    named = (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & np.uint32(1)).astype(bool)
    if not named[np.arange(len(rows)), lanes].all():
        raise ExecutionFault(
            f"{frame.code.function.blocks[number][0]}: a thread that its mask does not name"
        )
    return ~(named & alive[warps] & ~here[warps]).any(axis=1)


def launch(
    module: Module,
    entry: str,
    grid: int,
    block: tuple[int, int],
    parameters: bytes,
    ranges: Any,
    *,
    blocks: Sequence[int] | None = None,
    shared_bytes: int = 0,
    chunk: int = 1 << 16,
    logs: bool = True,
) -> tuple[Memory, int]:
    """Run a kernel.

    Args:
        entry: its name in the module.
        grid, block: how many blocks, and threads in x and y of each.
        ranges: begin and end of the host memory that it may access.
        blocks: run these blocks only, in this order.
        shared_bytes: of dynamic shared memory.
        chunk: how many threads run together, a block at least.
        logs: whether accesses are kept, for checks of races and traffic.

    Returns:
        The state spaces, with the accesses and what was wrong with them; and how many instructions
        threads executed.

    Raises:
        ExecutionFault: the parameters have another size than the kernel's, or see ``run``.
    """
    code = module.code(entry)
    size = module.parameter_bytes(entry)
    if size != len(parameters):
        raise ExecutionFault(f"the kernel's parameters are not {len(parameters)} bytes")
    held = np.zeros(len(parameters) + 64, np.uint8)
    begin = -held.ctypes.data % 64
    held[begin : begin + size] = np.frombuffer(parameters, np.uint8)
    base = held.ctypes.data + begin
    memory = Memory([(int(a), int(b)) for a, b in ranges], [(base, base + size), *module.ranges])
    order = list(range(grid)) if blocks is None else list(blocks)
    threads = block[0] * block[1]
    step, executed = max(1, chunk // threads), 0
    with np.errstate(all="ignore"):
        for first in range(0, len(order), step):
            part = np.array(order[first : first + step], np.int64)
            memory.begin(
                len(part), len(part) * threads, module.shared_bytes + shared_bytes,
                module.most_local_bytes,
            )  # fmt: skip
            together = _grid(module, memory, base, grid, block, part, logs)
            together.stack = module.local_bytes(entry)
            run(Frame(together, code, np.arange(len(part) * threads), 0))
            executed += together.instructions
    return memory, executed


def _grid(
    module: Module, memory: Memory, base: int, grid: int, block: tuple[int, int], part: Any,
    logs: bool,
) -> Grid:  # fmt: skip
    threads = block[0] * block[1]
    place = np.tile(np.arange(threads), len(part))
    block_of = np.repeat(np.arange(len(part)), threads)
    warps = -(-threads // LANES)
    zero, one = np.uint32(0), np.uint32(1)
    specials = {
        "tid.x": (place % block[0]).astype(np.uint32),
        "tid.y": (place // block[0]).astype(np.uint32),
        "tid.z": zero,
        "ntid.x": np.uint32(block[0]),
        "ntid.y": np.uint32(block[1]),
        "ntid.z": one,
        "ctaid.x": part[block_of].astype(np.uint32) if len(part) > 1 else np.uint32(part[0]),
        "ctaid.y": zero,
        "ctaid.z": zero,
        "nctaid.x": np.uint32(grid),
        "nctaid.y": one,
        "nctaid.z": one,
        "laneid": (place % LANES).astype(np.uint32),
    }
    return Grid(
        module, memory, np.uint64(base), part[block_of] * threads + place, block_of,
        block_of * warps + place // LANES, place % LANES, specials,
        np.zeros(len(part), np.int64), np.zeros(len(part) * warps, np.int64),
        np.ones(len(place), bool), logs,
    )  # fmt: skip
