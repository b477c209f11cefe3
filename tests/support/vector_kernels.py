"""Loops of elementwise kernels on processors that need not be here: vectors, and instructions per
element.

    python -m tests.support.vector_kernels            # the table
    python -m tests.support.vector_kernels --write    # into docs/cpu-loops.md
    python -m tests.support.vector_kernels --cycles   # llvm-mca's cycles per element, into it, too

numba is told what it compiles for before it starts, so each processor is a process of its own::

    python -m tests.support.vector_kernels --target znver3 [LABEL ...]

prints a line of JSON per kernel: its label, the sort of its loop, instructions per element.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gpubcast as gb
from gpubcast.hlo.elementary.formula import FORMULAS
from gpubcast.hlo.ops import OPS
from tests.support import vector_loops
from tests.support.processor_targets import TARGETS, ProcessorTarget

DOCUMENT = Path(__file__).parents[2] / "docs" / "cpu-loops.md"
COUNT = 9_999
# On f16 and bf16 a function is a formula of their own, or that of f32, between two conversions: a
# rare branch and two operands stand for the latter.
HALF = ("add", *(name for name, row in OPS.items() if row.halves), "sin", "pow")


class Kernel(NamedTuple):
    """A call that one kernel serves: its label, the function, its operands' types and that of the
    result."""

    label: str
    call: Callable[..., Any]
    operands: tuple[str, ...]
    result: str

    @property
    def size(self) -> int:
        """Bytes of an element of the result."""
        return gb.element_type(self.result).itemsize


def _kernel(name: str, kind: str) -> Kernel:
    return Kernel(f"{name} {kind}", getattr(gb, name), (kind,) * OPS[name].arity, kind)


def kernels() -> Iterator[Kernel]:
    """Every elementary function on every type that has a formula or is computed by one, and what
    else has no instruction on some processor."""
    reals = sorted({name for name, _, is_complex in FORMULAS if not is_complex and name in OPS})
    complexes = sorted({name for name, _, is_complex in FORMULAS if is_complex and name in OPS})
    yield from (_kernel(name, kind) for name in reals for kind in ("f32", "f64"))
    yield from (_kernel(name, kind) for name in HALF for kind in ("f16", "bf16"))
    yield from (_kernel(name, kind) for name in complexes for kind in ("c64", "c128"))
    integers = [f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64)]
    for name in ("div", "rem"):
        yield from (_kernel(name, kind) for kind in ("f32", "f64", *integers))
    for kind in ("f16", "bf16", "f32", "f64", "s8", "s64"):
        yield Kernel(f"select {kind}", gb.select, ("pred", kind, kind), kind)
    for source in ("f16", "bf16", "f32", "f64"):
        for to in ("f16", "bf16", "f32", "f64", *integers):
            if source != to:
                yield _converted(source, to)
    for source in ("s8", "s32", "s64", "u64"):
        yield from (_converted(source, to) for to in ("bf16", "f32", "f64"))


def _converted(source: str, to: str) -> Kernel:
    convert = functools.partial(gb.convert_element_type, to=to)
    return Kernel(f"{source} to {to}", convert, (source,), to)


# Loops that are no vector loops: labels, processors, and why (``docs/cpu-loops.md``).
_TABLES = (
    r"(log|log1p|log2|log10|logaddexp|erf_inv) f(32|64)|(tanh|erf) f32"
    r"|(asinh|acosh|atanh|pow) (f\d+|bf16)|a?(cos|sin|tan)h? c\d+"
)
EXCEPTIONS = (
    (r"(div|rem) [su]64", tuple(t for t in TARGETS if t != "neoverse-v1")),
    (_TABLES + r"|(log|log1p|log2|log10|pow|atan2) c\d+", ("x86-64-v2",)),
    (r"s64 to f(32|64)", ("x86-64-v2",)),
)


def excepted(target: str, label: str) -> bool:
    """Whether a loop need not be a vector loop."""
    return any(target in where and re.fullmatch(labels, label) for labels, where in EXCEPTIONS)


class _Compiled(Exception):
    """A kernel has been compiled, and is not run."""


def aim(target: str, features: str | None = None) -> ProcessorTarget:
    """Have numba, which is not imported yet, compile for a processor; with other features than are
    listed where some are given."""
    triple, name, listed = found = TARGETS[target]
    features = listed if features is None else features
    os.environ |= {
        "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features, "GPUBCAST_THREADS": "1",
        "GPUBCAST_STREAMING": "off", "GPUBCAST_PROGRESS": "0",
    }  # fmt: skip
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    binding.get_process_triple = lambda: triple
    return found


def _modules(
    target: str, labels: Sequence[str], known: Iterable[Kernel] | None = None
) -> Iterator[tuple[Kernel, str, Any, Any]]:
    """Each kernel, or those that are named, for a processor: the name of its function, its module,
    and what makes code of that."""
    triple, name, features = aim(target)
    from llvmlite import binding

    from gpubcast.backends.cpu import backend
    from gpubcast.backends.cpu.jit import llvm_passes, lowering

    # With short addresses calls have names; the loops are the same.
    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=3, reloc="static", codemodel="small"
    )
    modules: list[Any] = []

    def optimised(text: str, linked: list[Any], codegen: Any, *, is_simple: bool) -> Any:
        modules.append(llvm_passes.optimised(text, linked, codegen, is_simple=is_simple))
        return modules[-1]

    def load(_: object, source: Any) -> None:
        raise _Compiled(backend._compiled(source)[1])

    lowering.optimised = optimised
    backend.CpuBackend.load = load  # type: ignore[method-assign, assignment]
    for kernel in kernels() if known is None else known:
        if labels and kernel.label not in labels:
            continue
        zeros = (np.zeros(COUNT, gb.element_type(kind).dtype) for kind in kernel.operands)
        try:
            kernel.call(*zeros)
        except _Compiled as found:
            yield kernel, str(found), modules[-1], machine


def assemblies(
    target: str, labels: Sequence[str], known: Iterable[Kernel] | None = None
) -> Iterator[tuple[Kernel, str]]:
    """The assembly of each kernel, or of those that are named, for a processor."""
    for kernel, _, module, machine in _modules(target, labels, known):
        yield kernel, machine.emit_assembly(module)


def compiled(target: str, labels: Sequence[str]) -> Iterator[tuple[Kernel, str, bytes]]:
    """The same as object files, and the names of their functions."""
    for kernel, symbol, module, machine in _modules(target, labels):
        yield kernel, symbol, machine.emit_object(module)


def tell(target: str, labels: list[str], listing: bool) -> None:
    """Print what the loops of a processor are."""
    for kernel, assembly in assemblies(target, labels):
        loop = vector_loops.loop_of(assembly)
        found = [kernel.label, loop.sort(kernel.size), round(loop.per_element(kernel.size), 2)]
        print(json.dumps([*found, loop.text] if listing else found), flush=True)


def told(target: str, *arguments: str) -> dict[str, tuple[Any, ...]]:
    """What a process for a processor prints, by label."""
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--target", target, *arguments],
        capture_output=True, text=True, check=False, timeout=1700,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    lines = map(json.loads, done.stdout.splitlines())
    return {label: tuple(rest) for label, *rest in lines}


def all_told(*arguments: str) -> dict[str, dict[str, tuple[Any, ...]]]:
    """The same of every processor."""
    return {target: told(target, *arguments) for target in TARGETS}


_MARKS = {"vector": "", "lanes": " l", "scalar": " s"}
_SORTS = {mark.strip(): sort for sort, mark in _MARKS.items()}


def documented(section: str = "loops") -> dict[str, dict[str, tuple[str, float]]]:
    """The sort and the instructions per element in the documentation, by target and label."""
    text = DOCUMENT.read_text().split(f"<!-- {section} -->")[1].split(f"<!-- {section} end -->")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    head, *rest = ([cell.strip() for cell in row] for row in rows)
    found: dict[str, dict[str, tuple[str, float]]] = {target: {} for target in head[1:]}
    for label, *cells in rest:
        for target, cell in zip(head[1:], cells, strict=True):
            number, _, mark = cell.partition(" ")
            found[target][label] = (_SORTS[mark], float(number))
    return found


def _written(section: str, cells: dict[str, dict[str, str]]) -> None:
    """Put a table into the documentation: its columns by target, rows by label."""
    begin, end = f"<!-- {section} -->", f"<!-- {section} end -->"
    before, rest = DOCUMENT.read_text().split(begin)
    labels = next(iter(cells.values()))
    lines = ["| | " + " | ".join(cells) + " |", "|---" + "|--:" * len(cells) + "|"]
    lines += [f"| {k} | " + " | ".join(c[k] for c in cells.values()) + " |" for k in labels]
    after = rest.split(end)[1]
    DOCUMENT.write_text("\n".join([before + begin, "", *lines, "", end + after]))


def _cycles(target: str, text: list[str]) -> float:
    """llvm-mca's cycles for a turn of a loop."""
    names = [f"llvm-mca-{version}" for version in range(30, 16, -1)] + ["llvm-mca"]
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        raise SystemExit("llvm-mca 17 or newer is not there")
    triple, name, features = TARGETS[target]
    # Where a branch goes does not matter.
    code = "\n".join(re.sub(r"\.L\w+", "0b", line) for line in ["0:", *text])
    done = subprocess.run(
        [program, f"-mtriple={triple}", f"-mcpu={name}", f"-mattr={features}", "-iterations=200"],
        input=code, capture_output=True, text=True, check=False,
    )  # fmt: skip
    total = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if done.returncode or not total:
        raise SystemExit(done.stderr)
    return int(total[1]) / 200


def main(arguments: list[str]) -> int:
    """Print or write the tables, or what one processor's loops are."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.vector_kernels")
    parser.add_argument("--target", choices=TARGETS)
    parser.add_argument("--listing", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cycles", action="store_true")
    parser.add_argument("labels", nargs="*")
    given = parser.parse_args(arguments)
    if given.target:
        tell(given.target, given.labels, given.listing)
        return 0
    if given.cycles:
        labels = [k.label for k in kernels() if k.label.endswith((" f32", " f64"))]
        found = all_told("--listing", *labels)
        _written(
            "cycles",
            {
                target: {
                    label: f"{_cycles(target, text) * each / len(text):.1f}"
                    for label, (_, each, text) in rows.items()
                }
                for target, rows in found.items()
            },
        )
        return 0
    cells = {
        target: {label: f"{each:.2f}{_MARKS[sort]}" for label, (sort, each) in rows.items()}
        for target, rows in all_told(*given.labels).items()
    }
    if given.write:
        _written("loops", cells)
    for label in next(iter(cells.values())):
        print(f"{label:16}", *(f"{column[label]:>9}" for column in cells.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
