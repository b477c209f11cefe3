"""The loops of reductions in which lanes take one element after another, on processors that need
not be here.

    python -m tests.support.lane_loops znver3

prints a line of JSON per kernel: its label; for each such loop, how many instructions compute with
vectors, how many with one number, and how many touch the stack.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpubcast as gb
from tests.support import vector_kernels
from tests.support.vector_kernels import Kernel

_LABEL = re.compile(r"^(\.LBB\w+):")
_BRANCH = re.compile(r"^\s+(?:j\w+|b\.\w+|cbn?z|tbn?z)\s.*?(\.LBB\w+)$")
_OPERATIONS = r"(?:add|sub|mul|max|min|fmadd\d+|fmla|and|or|xor)"
_X86 = (
    re.compile(rf"^\s+v?{_OPERATIONS}p[sd]\s|^\s+v?p(?:add|mull|max|min)[su]?[bwdq]\s"),
    re.compile(rf"^\s+v?{_OPERATIONS}s[sd]\s"),
    re.compile(r"\(%rsp"),
)
_ARM = (
    re.compile(r"^\s+(?:f?(?:add|mul|mla)|[us]max|[us]min|fmla)\s+v"),
    re.compile(r"^\s+f(?:add|mul|madd)\s+[sd]\d"),
    re.compile(r"\[sp"),
)


def kernels() -> Iterator[Kernel]:
    """Reductions whose elements are read, converted and multiplied."""

    def reduced(name: str, kind: str) -> Kernel:
        return Kernel(f"{name} {kind}", lambda x: getattr(gb, name)(x, axes=(0,)), (kind,), kind)

    for kind in ("f32", "f64", "bf16", "s32", "u8"):
        yield reduced("reduce_sum", kind)
    for name, kind in (("reduce_max", "f32"), ("reduce_max", "f64"), ("reduce_prod", "f32")):
        yield reduced(name, kind)
    dot = gb.fuse("n, n -> ")(lambda x, y: gb.reduce_sum(x * y, "n"))
    sums = gb.fuse("n -> , ")(lambda x: (gb.reduce_sum(x, "n"), gb.reduce_sum(x * x, "n")))
    yield Kernel("dot f64", dot, ("f64", "f64"), "f64")
    yield Kernel("sum and sum of squares f32", sums, ("f32",), "f32")


def from_memory(kernel: Kernel) -> Kernel:
    """The same of operands that are taken to come from memory."""

    def call(*operands: Any) -> Any:
        os.environ["GPUBCAST_STREAMING"] = "on"
        return kernel.call(*operands)

    return kernel._replace(label=f"{kernel.label}, from memory", call=call)


def loops(assembly: str) -> list[tuple[int, int, int]]:
    """Of each innermost loop with a number that LLVM does not know: vector operations, scalar ones,
    and accesses of the stack."""
    found, label, body = [], "", list[str]()
    for line in assembly.splitlines():
        name, branch = _LABEL.match(line), _BRANCH.match(line)
        if name:
            label, body = name[1], []
            continue
        body.append(line)
        if branch and branch[1] == label and any("APP" in one for one in body):
            patterns = _X86 if any("%r" in one for one in body) else _ARM
            counts = [sum(bool(p.search(one)) for one in body) for p in patterns]
            found.append((counts[0], counts[1], counts[2]))
    return found


def told(target: str) -> dict[str, list[list[int]]]:
    """What a process for a processor prints, by label."""
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, target], capture_output=True, text=True, check=False,
        timeout=1700, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(map(json.loads, done.stdout.splitlines()))


def main(target: str) -> None:
    """Print what the loops of a processor are."""
    near = list(kernels())
    every: list[Any] = [*near, *map(from_memory, near)]
    for kernel, assembly in vector_kernels.assemblies(target, (), every):
        print(json.dumps([kernel.label, loops(assembly)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
