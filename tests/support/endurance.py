"""Calls without end: from many threads, with forks among them, and in loops; NumPy says what is
right, and the kernel says how much memory is left over.

``tests/cpu/test_endurance.py`` runs a short form in a process of its own. The long one::

    python -m tests.support.endurance threads --calls 20000 --forks 50
    python -m tests.support.endurance loops --calls 1000000
    python -m tests.support.endurance results --calls 100000
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.runtime import state

Values = np.ndarray[Any, Any]

MOST = 3 << 19
"""Elements of the largest operand: 6 MiB in f32."""
SMALL_GROWTH, LARGE_GROWTH = 4 << 20, 48 << 20
"""Bytes that may be left over after a loop: of small results, and of 2 MiB each."""
_WAIT = 240.0
_PLACES = 64  # where in the common memory an operand may begin
# Loops of calls that are planned or refused anew each time are shorter.
_LONG_WAY = ("scalar", "array", "plan, other strides", "binding", "refused")


# --- random calls -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """How two operands share the axes ``m`` and ``n`` of the result.

    Attributes:
        labels: as ``gb.fuse`` spells them.
        sizes: dimensions of the second operand, of m and n.
        keywords: of the operation.
        align: the second operand as NumPy broadcasts it.
    """

    labels: str
    sizes: Callable[[int, int], tuple[int, ...]]
    keywords: dict[str, Any]
    align: Callable[[Values], Values]


PATTERNS = {
    "same": Pattern("m n, m n -> m n", lambda m, n: (m, n), {}, lambda y: y),
    "row": Pattern("m n, n -> m n", lambda m, n: (n,), {"broadcast_dimensions": (1,)},
                   lambda y: y),
    "column": Pattern("m n, m -> m n", lambda m, n: (m,), {"broadcast_dimensions": (0,)},
                      lambda y: y[:, None]),
    "expanded": Pattern("m n, m 1 -> m n", lambda m, n: (m, 1), {}, lambda y: y),
    "scalar": Pattern("m n, -> m n", lambda m, n: (), {}, lambda y: y),
}  # fmt: skip

# What is computed, of which type, on which pattern: few enough to compile in seconds.
RECIPES: tuple[tuple[str, str, str], ...] = (
    *(("add", "f32", name) for name in PATTERNS),
    *(("mul", "f64", name) for name in ("same", "row", "column")),
    *(("sub", "s32", name) for name in ("same", "row", "expanded")),
    *(("add", "u8", name) for name in ("same", "column")),
    *(("mul", "f16", name) for name in ("same", "row")),
    *(("lt", "f32", name) for name in ("same", "scalar")),
)
_NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "lt": np.less,
}  # fmt: skip
WAYS = ("eager", "out", "plan", "bound", "fused", "scalar", "array", "in place", "refused")


def _chain(x: Any, y: Any) -> Any:
    return (x - y) * x + y


FUSED = {name: gb.fuse(pattern.labels)(_chain) for name, pattern in PATTERNS.items()}


class Calls:
    """Random calls whose operands lie in memory that all threads share and none writes."""

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self._memory = {}
        for kind in ("f32", "f64", "s32", "u8", "f16"):
            dtype: Any = gb.element_type(kind).dtype
            made = generator.integers(0, 200, MOST + _PLACES + 1).astype(dtype)
            if dtype.kind == "f":
                made = (made - dtype.type(100)) / dtype.type(7)
            made.flags.writeable = False
            self._memory[kind] = made
        drawn = random.Random(seed)
        self._sizes = [_sizes(drawn) for _ in range(16)]

    def check(self, drawn: random.Random) -> int:
        """One call, and whether its result is NumPy's, bit for bit; how many values it has."""
        way = drawn.choice(WAYS)
        operation, kind, name = drawn.choice(RECIPES)
        m, n = drawn.choice(self._sizes) if drawn.random() < 0.9 else _sizes(drawn)
        pattern = PATTERNS[name]
        x = self._operand(drawn, kind, (m, n))
        y = self._operand(drawn, kind, pattern.sizes(m, n))
        said = f"{way} {operation} {kind} {name} {m}x{n}, strides {x.strides} {y.strides}"
        if way == "refused":
            try:
                gb.add(x, self._operand(drawn, kind, (n,)))
            except gb.ShapeError:
                return 0
            raise AssertionError(f"{said}: not refused")
        if way == "fused":
            kind, operation = "f32", "chain"
            x, y = (self._operand(drawn, kind, one.shape) for one in (x, y))
        wanted = _wanted(operation, pattern, x, y, way)
        found = _found(way, operation, pattern, name, x, y, wanted)
        if found.dtype != wanted.dtype or found.shape != wanted.shape:
            raise AssertionError(f"{said}: {found.dtype}{found.shape}")
        wrong = int((_bits(found) != _bits(wanted)).sum())
        if wrong:
            raise AssertionError(f"{said}: {wrong} of {wanted.size} elements are wrong")
        return int(wanted.size)

    def _operand(self, drawn: random.Random, kind: str, shape: tuple[int, ...]) -> Values:
        """A view somewhere in the memory: compact, transposed, or backwards."""
        count = int(np.prod(shape, dtype=np.int64))
        start = drawn.randrange(_PLACES)
        flat = self._memory[kind][start : start + count]
        way = drawn.random()
        if way < 0.1 and len(shape) == 2:
            return flat.reshape(shape[::-1]).T
        return flat[::-1].reshape(shape) if way > 0.95 else flat.reshape(shape)


def _sizes(drawn: random.Random) -> tuple[int, int]:
    """Sizes from one element to the most, every order of magnitude as often."""
    total = int(MOST ** drawn.random())
    n = max(1, min(total, int(total ** drawn.random())))
    return max(1, total // n), n - (n == MOST)


def _wanted(operation: str, pattern: Pattern, x: Values, y: Values, way: str) -> Values:
    other: Any = x.dtype.type(2) if way == "scalar" else pattern.align(y)
    with np.errstate(all="ignore"):
        made: Values = _chain(x, other) if operation == "chain" else _NUMPY[operation](x, other)
    return made


def _found(
    way: str, operation: str, pattern: Pattern, name: str, x: Values, y: Values, wanted: Values
) -> Values:
    found: Any
    if way == "fused":
        found = FUSED[name](x, y)
        return np.asarray(found)
    function: Any = getattr(gb, operation)
    if way == "eager":
        found = function(x, y, **pattern.keywords)
    elif way == "scalar":
        found = function(x, 2)
    elif way == "array":
        found = function(gb.array(x), gb.array(y), **pattern.keywords).numpy()
    elif way == "in place" and wanted.dtype == x.dtype:
        found = x.copy()
        assert function(found, y, **pattern.keywords, out=found) is found
    elif way in ("out", "in place"):
        found = np.zeros_like(wanted)
        assert function(x, y, **pattern.keywords, out=found) is found
    else:
        kind = gb.element_type(x.dtype)
        plan = gb.plan(operation, *(gb.Shape(kind, v.shape) for v in (x, y)), **pattern.keywords)
        if way == "plan" or not y.ndim:
            found = plan(x, y)
        else:
            found = np.zeros_like(wanted)
            plan.bind(x, y, out=found)()
    return np.asarray(found)


def _bits(x: Values) -> Values:
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def threads(count: int, calls: int, forks: int, seed: int, interval: float = 1e-4) -> int:
    """Random calls on many threads, and forks meanwhile whose children compute too.

    Args:
        interval: seconds after which threads change places, also where they hold a lock.

    Returns:
        How many values were compared.

    Raises:
        AssertionError: a result is wrong, a call was not refused, or a child did not end well.
    """
    work = Calls(seed)
    errors: list[BaseException] = []
    done, values = [0] * count, [0] * count

    def run(k: int) -> None:
        drawn = random.Random(seed * 1000 + k)
        try:
            while done[k] < calls and not errors:
                values[k] += work.check(drawn)
                done[k] += 1
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    started = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    try:
        for thread in started:
            thread.start()
        for k in range(forks):
            while sum(done) < count * calls * (k + 1) // (forks + 1) and not errors:
                time.sleep(0.002)
            _fork(work, seed + k)
    finally:
        for thread in started:
            thread.join()
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    print(f"{sum(done)} calls on {count} threads and {forks} forks: all right")
    return sum(values)


def _fork(work: Calls, seed: int) -> None:
    """A child that calls as its parent does, then with nothing known; it must end by itself."""
    child = os.fork()
    if not child:
        faulthandler.dump_traceback_later(_WAIT, exit=True)
        try:
            drawn = random.Random(seed)
            for k in range(60):
                if k == 40:
                    state.clear()
                work.check(drawn)
            _large()
        except BaseException as error:
            os.write(2, f"child: {error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"a forked child ended with {status}"


def _large() -> None:
    """A result that several threads make."""
    x = np.ones(4 << 20, np.float32)
    assert (gb.add(x, x) == 2).all()


# --- loops --------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def loops() -> Iterator[tuple[str, Callable[[], object]]]:
    """Calls on few elements, in every way that a user may repeat them."""
    x, y = (np.arange(64, dtype=np.float32).reshape(8, 8) + k for k in range(2))
    row, z, turned = y[0].copy(), np.empty_like(x), y.T
    shape = gb.Shape("f32", x.shape)
    plan = gb.plan("add", shape, shape)
    chain = FUSED["row"]
    made, other = gb.array(x), gb.array(y)

    def refused() -> None:
        try:
            gb.add(x, row)
        except gb.ShapeError:
            return
        raise AssertionError("not refused")

    yield "eager", lambda: gb.add(x, y)
    yield "a row", lambda: gb.add(x, row, broadcast_dimensions=(1,))
    yield "out", lambda: gb.add(x, y, out=z)
    yield "plan", lambda: plan(x, y)
    yield "plan, other strides", lambda: plan(x, turned, out=z)
    yield "bound", plan.bind(x, y, out=z)
    yield "binding", lambda: plan.bind(x, y, out=z)()
    yield "fused", lambda: chain(x, row)
    yield "scalar", lambda: gb.mul(x, 2.0)
    yield "array", lambda: gb.add(made, other)
    yield "refused", refused


def loop(calls: int, name: str, call: Callable[[], object]) -> int:
    """Bytes that are left over after so many calls, beyond those after the first hundredth."""
    for _ in range(max(200, calls // 100)):
        call()
    before = resident()
    for _ in range(calls):
        call()
    left = resident() - before
    print(f"{calls} x {name}: {left / 1024:+.0f} KiB")
    return left


def all_loops(calls: int) -> None:
    """Every loop.

    Raises:
        AssertionError: memory is left over.
    """
    for name, call in loops():
        count = calls // 10 if name in _LONG_WAY else calls
        left = loop(count, name, call)
        if left >= SMALL_GROWTH:
            # What is taken once, e.g. by a compiler beside the calls, is no leak: that goes on.
            left = loop(count, name, call)
        assert left < SMALL_GROWTH, f"{name}: {left:,} bytes are left over after {count} calls"


def results(calls: int, seed: int) -> None:
    """Results of 2 MiB, of which some live longer, some as views: memory is used again, but never
    what a view still needs.

    Raises:
        AssertionError: memory is left over, or an array that lives was overwritten.
    """
    drawn = random.Random(seed)
    x = np.zeros(1 << 19, np.float32)
    kept: deque[tuple[Values, float]] = deque()

    def step(k: int) -> None:
        value = float(k % 1000)
        made = np.asarray(gb.add(x, value) if k % 2 else gb.add(x, np.full_like(x, value)))
        if drawn.random() < 0.3:
            at = drawn.randrange(len(made))
            kept.append((drawn.choice((made, made[at:], made[::-7])), value))
        if len(kept) > 12:
            view, wanted = kept.popleft()
            assert (view == wanted).all(), f"call {k} wrote where an array still lives"

    for k in range(100):
        step(k)
    before = resident()
    for k in range(calls):
        step(k)
    left = resident() - before
    print(f"{calls} results of 2 MiB: {left / 1024:+.0f} KiB")
    assert left < LARGE_GROWTH, f"{left:,} bytes are left over after {calls} results of 2 MiB"


def main(arguments: Sequence[str] | None = None) -> int:
    """One of the three; an assertion that fails ends it with a traceback."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.endurance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("threads", "loops", "results"))
    parser.add_argument("--calls", type=int, default=1000, help="of each thread or loop")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--forks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    faulthandler.enable()
    if given.what == "threads":
        threads(given.threads, given.calls, given.forks, given.seed)
    elif given.what == "loops":
        all_loops(given.calls)
    else:
        results(given.calls, given.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
