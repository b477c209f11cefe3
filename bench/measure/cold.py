"""First calls of processes that find no compiled kernel: what a newcomer waits for.

Each process begins with an empty kernel cache, after ``import numpy``, with everything that is
imported compiled to bytecode, as installed packages are. What counts is the processor's time of the
process, user and system, of all its threads: other programs change it little. Two checkouts take
turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gpubcast as gb

from .environment import environment, revision_of

STARTS = 5
# The head of another checkout's column.
EARLIER = "earlier"
FIRST, THREADS = "first call, with import gpubcast", "first large launch: threads"
# Single operations, no two alike, on operands that one thread or two compute.
_CHILD = """
import json, time
import numpy as np
clocks = time.process_time, time.perf_counter
def timed(call):
    began = [clock() for clock in clocks]
    call()
    return [1e3 * (clock() - at) for clock, at in zip(clocks, began)]
def first():
    global gb
    import gpubcast as gb
    gb.add(x, x)
x = np.full((256, 256), 0.5, np.float32)
row, column, mask = x[0].copy(), x[:, :1].copy(), x > 1
wide, whole = row.astype("f8"), x.astype("i4")
large = np.ones((768, 768), np.float32)
found = {FIRST: timed(first)}
for name, call in {
    "row": lambda: gb.mul(x, row, broadcast_dimensions=(1,)), "column": lambda: gb.sub(x, column),
    "outer product": lambda: gb.mul(column, row[None]), "scalar": lambda: gb.mul(x, 2.0),
    "exp": lambda: gb.exp(x), "select": lambda: gb.select(mask, x, x),
    "to s32": lambda: gb.convert_element_type(x, "s32"), "max of s32": lambda: gb.max(whole, whole),
    "sqrt of f64": lambda: gb.sqrt(wide), "compare": lambda: gb.lt(x, x),
    "transposed": lambda: gb.add(x, x.T),
}.items():
    found[name] = timed(call)
# A pattern that is known by now, on more elements: the code of the thread team.
for name, call in {THREADS: lambda: gb.add(large, large, out=large)}.items():
    found[name] = timed(call)
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Cold:
    """Milliseconds of one call in each process.

    Attributes:
        name: what is called.
        processor, wall: the processor's time and the clock's, of this checkout.
        beside: the processor's time of the other checkout, where there is one.
    """

    name: str
    processor: tuple[float, ...]
    wall: tuple[float, ...]
    beside: tuple[float, ...] = ()


def measure(beside: Path | None = None, starts: int = STARTS) -> tuple[Cold, ...]:
    """First calls of this checkout's processes, and of another's in turns.

    Raises:
        Error: a process failed.
    """
    roots = [Path(gb.__file__).resolve().parents[1], *([] if beside is None else [beside])]
    runs: list[list[dict[str, list[float]]]] = [[] for _ in roots]
    with tempfile.TemporaryDirectory(prefix="gpubcast-bench-") as folder:
        for turn in range(starts + 1):
            for number, root in enumerate(roots):
                variables = {
                    "PYTHONPATH": str(root.resolve()), "PYTHONDONTWRITEBYTECODE": "",
                    "PYTHONPYCACHEPREFIX": str(Path(folder, f"bytecode-{number}")),
                    "GPUBCAST_CACHE_DIR": str(Path(folder, f"kernels-{number}-{turn}")),
                    "GPUBCAST_PROGRESS": "0",
                }  # fmt: skip
                found = _child(os.environ | variables)
                if turn:  # the one before made the bytecode
                    runs[number].append(found)
    ours, *other = runs
    return tuple(
        Cold(
            name,
            tuple(run[name][0] for run in ours),
            tuple(run[name][1] for run in ours),
            tuple(run[name][0] for run in other[0]) if other else (),
        )
        for name in ours[0]
    )


def _child(variables: Mapping[str, str]) -> dict[str, list[float]]:
    code = f"FIRST, THREADS = {FIRST!r}, {THREADS!r}\n{_CHILD}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=dict(variables), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    if done.returncode:
        raise gb.Error(f"a first call failed:\n{done.stderr}")
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _summed(rows: list[tuple[float, ...]], by: int) -> tuple[float, ...]:
    return tuple(sum(column) / by for column in zip(*rows, strict=True))


def _least(found: tuple[Cold, ...]) -> dict[str, tuple[float, ...]]:
    """The least times in milliseconds, of the processor, the clock and another checkout's
    processor: what comes on top is other programs'. Then their mean and their sum."""
    least: dict[str, tuple[float, ...]] = {
        one.name: tuple(min(x, default=0.0) for x in (one.processor, one.wall, one.beside))
        for one in found
    }
    further = [taken for name, taken in least.items() if name not in (FIRST, THREADS)]
    least["a further pattern, mean"] = _summed(further, len(further))
    least["all of it"] = _summed([least[FIRST], least[THREADS], *further], 1)
    return least


def text(found: tuple[Cold, ...]) -> str:
    """A table of the least times, in milliseconds."""
    least = _least(found)
    width = max(map(len, least))
    lines = [f"{'ms, no kernel on disk':{width}}  processor  clock  beside  ratio"]
    for name, (processor, wall, beside) in least.items():
        ratio = f"{beside:8.0f} {processor / beside:6.2f}" if beside else ""
        lines.append(f"{name:{width}} {processor:10.0f} {wall:6.0f}{ratio}")
    return "\n".join(lines)


def page(found: tuple[Cold, ...], command: str, beside: Path | None = None) -> str:
    """The same as Markdown, with what it was measured on, and beside which checkout."""
    made = environment(gpu=False)
    versions = (f"{name} {version}" for name, version in made["packages"].items() if version)
    lines = [
        f"# First calls: {made['processor']}", "",
        f"gpubcast {made['gpubcast']}, revision {made['revision']}, {made['time']}  ",
        f"Python {made['python']}, {', '.join(versions)}  ", "", f"    {command}", "",
        f"Milliseconds, the least of {len(found[0].processor)} processes that find no compiled "
        "kernel, after `import numpy`.", "",
    ]  # fmt: skip
    heads = ["processor (user and system)", "clock"]
    if beside is not None:
        other = revision_of(beside) or "unknown"
        lines += [f"{EARLIER} is revision {other}, in turns with this one; its processor time.", ""]
        heads += [EARLIER, "of that"]
    lines += [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name, (processor, clock, other_processor) in _least(found).items():
        cells = [f"{processor:.0f}", f"{clock:.0f}"]
        if beside is not None:
            cells += [f"{other_processor:.0f}", f"{processor / other_processor:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
