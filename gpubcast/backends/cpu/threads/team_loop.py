"""What a team of worker threads and its callers run: numba source over a few atomic instructions.

A caller publishes its launch in the team's state as one word: how often that has happened, and the
parts that nobody has claimed, ``low`` to ``high``. It claims parts from the front, the workers
claim from the back, each by one compare and exchange; so who works on what changes little from one
launch to the next, and data stays in its processor's cache. The caller waits only for parts that
were claimed. A worker without work looks for some for a while, then sleeps until it is woken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.processor import architecture
from gpubcast.backends.cpu.threads.team_state import (
    AVOIDED,
    CLAIM,
    ENDED,
    FINISHED,
    FOUND,
    GIVEN,
    GRANULARITY,
    KERNEL,
    LIMIT,
    MASK,
    MASK_BYTES,
    NUMBERS,
    OWNER,
    PARTS,
    PLACES,
    SLEEPERS,
    STREAK,
    TABLE,
    TOTAL,
    WAITING,
    WORKERS,
)

# Nanoseconds that a worker looks for work before it sleeps, and a caller waits before it does;
# and of work in small launches in close succession that are worth waking the workers.
SPIN, PATIENCE, WORTH = 45_000, 100_000, 100_000
_WORD, _NUMBER = ir.IntType(64), ir.IntType(32)
_POINTER = _WORD.as_pointer()
_PAUSE = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}
# Numbers of system calls: futex, sched_setaffinity, sched_getaffinity, gettid.
_FUTEX = {"x86_64": 202, "aarch64": 98}
_AFFINITY = {"x86_64": 203, "aarch64": 122}
_ALLOWED = {"x86_64": 204, "aarch64": 123}
_THREAD = {"x86_64": 186, "aarch64": 178}
_WAIT_PRIVATE, _WAKE_PRIVATE, _MONOTONIC = 128, 129, 1


def _instruction(emit: Callable[..., Any], arguments: int) -> Any:
    """An intrinsic of so many 64-bit integers, whose result is one, too."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return emit(builder, *given)

    typed = types.int64(*[types.int64] * arguments), codegen

    def definition(context: Any, *given: Any) -> Any:
        return typed

    return Intrinsic(definition)


def _load(builder: Any, address: Any) -> Any:
    return builder.load_atomic(builder.inttoptr(address, _POINTER), "seq_cst", 8, typ=_WORD)


def _store(builder: Any, address: Any, value: Any) -> Any:
    builder.store_atomic(value, builder.inttoptr(address, _POINTER), "release", 8)
    return value


def _swap(builder: Any, address: Any, value: Any) -> Any:
    return builder.atomic_rmw("xchg", builder.inttoptr(address, _POINTER), value, "seq_cst")


def _add(builder: Any, address: Any, value: Any) -> Any:
    return builder.atomic_rmw("add", builder.inttoptr(address, _POINTER), value, "seq_cst")


def _exchanged(builder: Any, address: Any, expected: Any, new: Any) -> Any:
    pointer = builder.inttoptr(address, _POINTER)
    pair = builder.cmpxchg(pointer, expected, new, "seq_cst", "seq_cst")
    return builder.zext(builder.extract_value(pair, 1), _WORD)


def _pause(builder: Any) -> Any:
    name, hints = _PAUSE[architecture()]
    function_type = ir.FunctionType(ir.VoidType(), [_NUMBER] * len(hints))
    builder.call(
        cgutils.get_or_insert_function(builder.module, function_type, name), map(_NUMBER, hints)
    )
    return _WORD(0)


def _now(builder: Any) -> Any:
    with builder.goto_entry_block():
        time = builder.alloca(_WORD, size=_WORD(2))
    function_type = ir.FunctionType(_NUMBER, [_NUMBER, _POINTER])
    clock = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
    builder.call(clock, [_NUMBER(_MONOTONIC), time])
    seconds, rest = [builder.load(builder.gep(time, [_WORD(k)])) for k in (0, 1)]
    return builder.add(builder.mul(seconds, _WORD(10**9)), rest)


def _here(builder: Any) -> Any:
    function_type = ir.FunctionType(_NUMBER, [])
    found = cgutils.get_or_insert_function(builder.module, function_type, "sched_getcpu")
    return builder.sext(builder.call(found, []), _WORD)


def _system(numbers: dict[str, int], *before: int) -> Callable[..., Any]:
    """A system call of some numbers, the first arguments fixed ones."""

    def emit(builder: Any, address: Any, value: Any) -> Any:
        function_type = ir.FunctionType(_WORD, [_WORD], var_arg=True)
        syscall = cgutils.get_or_insert_function(builder.module, function_type, "syscall")
        number = _WORD(numbers[architecture()])
        fixed = map(_WORD, before)
        return builder.call(syscall, [number, address, *fixed, value, _WORD(0)])

    return emit


def _call(builder: Any, kernel: Any, table: Any, low: Any, high: Any) -> Any:
    with builder.goto_entry_block():
        unused = builder.alloca(_WORD)
    function_type = ir.FunctionType(_NUMBER, [_POINTER, _POINTER, _WORD, _WORD, _WORD])
    code = builder.inttoptr(kernel, function_type.as_pointer())
    builder.call(code, [unused, unused, table, low, high])
    return _WORD(0)


load, store, swap = _instruction(_load, 1), _instruction(_store, 2), _instruction(_swap, 2)
add, exchanged = _instruction(_add, 2), _instruction(_exchanged, 3)
pause, now, call = _instruction(_pause, 0), _instruction(_now, 0), _instruction(_call, 4)
here = _instruction(_here, 0)
# Sleep while 32 bits have a value; wake so many who do.
sleep = _instruction(_system(_FUTEX, _WAIT_PRIVATE), 2)
wake = _instruction(_system(_FUTEX, _WAKE_PRIVATE), 2)
# On which processors a thread may run, to set it and to ask: its number (0 for the own one), the
# address of as many bits. Below 0 where the system refuses.
place = _instruction(_system(_AFFINITY, MASK_BYTES), 2)
allowed = _instruction(_system(_ALLOWED, MASK_BYTES), 2)
thread_number = _instruction(_system(_THREAD), 2)


def _work_on(state: int, part: int) -> None:
    """One part of the launch that is published, which begins at a multiple of its granularity."""
    total, parts, unit = load(state + TOTAL), load(state + PARTS), load(state + GRANULARITY)
    low = total * part // parts // unit * unit
    high = total if part + 1 == parts else total * (part + 1) // parts // unit * unit
    if low < high:
        call(load(state + KERNEL), load(state + TABLE), low, high)


def _processors(number: int, mask: int) -> bool:
    """Note on which processors a thread may run; whether the system says so."""
    for at in range(0, MASK_BYTES, 8):
        store(mask + at, 0)
    known: int = allowed(number, mask)
    return known > 0


def worker_loop(state: int, index: int, _unused: int) -> None:
    """A worker's life, which ends when the team has no place for its index."""
    if index < PLACES:
        _processors(0, state + GIVEN + MASK_BYTES * index)
        store(state + NUMBERS + 8 * index, thread_number(0, 0))
    add(state + WORKERS, 1)
    seen, until, turns = 0, 0, 0
    while index < load(state + LIMIT):
        word = load(state + CLAIM)
        if (word >> 16) & 0xFFFF < word & 0xFFFF:
            if exchanged(state + CLAIM, word, word - 1):
                _work_on(state, (word & 0xFFFF) - 1)
                add(state + FINISHED, 1)
                if load(state + WAITING):
                    wake(state + FINISHED, 1)
            continue
        if word >> 32 != seen:
            seen, until = word >> 32, now() + SPIN
        pause()
        turns += 1
        if turns & 31 == 0 and now() > until:
            add(state + SLEEPERS, 1)
            # Another launch changes the word first and counts the sleepers then.
            sleep(state + CLAIM + 4, seen & 0xFFFFFFFF)
            add(state + SLEEPERS, -1)
            until = now() + SPIN
    add(state + WORKERS, -1)
    if index < PLACES:
        store(state + NUMBERS + 8 * index, 0)


def _alone(state: int, kernel: int, table: int, total: int, streak: int, began: int) -> None:
    """A small launch while the workers sleep; how long such ones took is noted."""
    call(kernel, table, 0, total)
    ended = now()
    store(state + STREAK, streak + ended - began)
    store(state + ENDED, ended)
    store(state + OWNER, 0)


def _is_ours(state: int, given: int) -> bool:
    """Whether a worker is where it was put last, as far as it may still be there: on what it was
    given, on what of that the caller may use, or on all of this. Otherwise somebody else, whom
    this must not undo, chose the worker's processors."""
    same, narrowed, every = True, True, True
    for at in range(0, MASK_BYTES, 8):
        found, last, usable = load(state + FOUND + at), load(given + at), load(state + MASK + at)
        same = same and found == last
        narrowed = narrowed and found == last & usable
        every = every and found == usable
    return same or narrowed or every


def _keep_off(state: int, processor: int) -> None:
    """Let the workers run on every processor of the caller's but one; on every one where it is
    negative. Which those are may have changed since: the system is asked each time.

    Where processors are few, the system's scheduler does not look for an idle one; it wakes a
    worker on the caller's, where it gets its turn after the launch.
    """
    if load(state + AVOIDED) == processor + 1 or load(state + LIMIT) > PLACES:
        return
    store(state + AVOIDED, processor + 1)
    if not _processors(0, state + MASK):
        return  # there are more processors than bits
    word, bit = state + MASK, 0
    if 0 <= processor < 8 * MASK_BYTES:
        word, bit = state + MASK + processor // 64 * 8, 1 << (processor & 63)
    for index in range(load(state + LIMIT)):
        number, given = load(state + NUMBERS + 8 * index), state + GIVEN + MASK_BYTES * index
        # The number 0 would be the caller.
        if number <= 0 or not _processors(number, state + FOUND) or not _is_ours(state, given):
            continue
        mask = load(word)
        store(word, mask & ~bit)
        if place(number, state + MASK) == 0:  # there is a processor left
            for at in range(0, MASK_BYTES, 8):
                store(given + at, load(state + MASK + at))
        store(word, mask)


def _wait(state: int, owed: int) -> None:
    """Until the workers have ended so many parts."""
    turns, until = 0, 0
    while load(state + FINISHED) != owed:
        pause()
        turns += 1
        if turns & 31 == 0:
            if until == 0:
                until = now() + PATIENCE
            if now() > until:
                # A worker that has lost its processor may have this one.
                _keep_off(state, -1)
                swap(state + WAITING, 1)
                ended = load(state + FINISHED)
                if ended != owed:
                    sleep(state + FINISHED, ended)
    store(state + WAITING, 0)


def _together(
    state: int, kernel: int, table: int, total: int, parts: int, unit: int, woken: int
) -> None:
    """A launch in parts, on the caller's thread and those workers' who come."""
    store(state + KERNEL, kernel)
    store(state + TABLE, table)
    store(state + TOTAL, total)
    store(state + PARTS, parts)
    store(state + GRANULARITY, unit)
    store(state + FINISHED, 0)
    times = (load(state + CLAIM) >> 32) + 1
    swap(state + CLAIM, (times << 32) | parts)
    if woken:
        wake(state + CLAIM + 4, woken)
    own = 0
    while True:
        word = load(state + CLAIM)
        part = (word >> 16) & 0xFFFF
        if part >= word & 0xFFFF:
            break
        if exchanged(state + CLAIM, word, word + 0x10000):
            _work_on(state, part)
            own += 1
    _wait(state, parts - own)
    store(state + OWNER, 0)


def run_parts(job: int, _low: int, _high: int) -> None:
    """``kernel(table, low, high)`` over ``range(total)``, by as many threads as are at hand.

    ``job`` is the address of seven words: the team's state (without workers, or while another
    thread has a launch, the caller does all by itself); the address of the kernel's code; its
    parameter table; ``total``, the iterations of its outermost loop; into how many parts these
    are cut; of what those begin at multiples; and the number of threads. More parts than threads
    say that it is worth waking workers; no parts, that they shall wake and see to ``LIMIT``.
    """
    state, kernel, table, total = load(job), load(job + 8), load(job + 16), load(job + 24)
    parts, unit, threads = load(job + 32), load(job + 40), load(job + 48)
    workers = load(state + WORKERS)
    if parts == 0:
        add(state + CLAIM, 1 << 32)
        wake(state + CLAIM + 4, workers)
        return
    if parts == 1 or workers == 0 or not exchanged(state + OWNER, 0, 1):
        call(kernel, table, 0, total)
        return
    asleep, woken = load(state + SLEEPERS), 0
    if asleep > 0:
        began = now()
        streak = 0
        if began - load(state + ENDED) < SPIN // 2:
            streak = load(state + STREAK)
        if parts > threads or streak > WORTH:
            woken = min(asleep, parts - 1)
            store(state + STREAK, 0)
            _keep_off(state, here())
        elif asleep >= workers:
            _alone(state, kernel, table, total, streak, began)
            return
    _together(state, kernel, table, total, parts, unit, woken)


def count(table: int, low: int, high: int) -> None:
    """The trial's kernel: each word in a range is one larger."""
    for k in range(low, high):
        add(table + 8 * k, 1)
