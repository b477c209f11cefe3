"""Reads what NVRTC and ptxas made of a kernel, from a cubin and its log; no GPU is involved.

Run as a program it compiles a file: ``python -m tests.compile.sass kernel.cu sm_80 sm_90``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gpubcast.backends.cuda import cubins, nvrtc
from tests.support.once import COMPILED, once


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel's machine code.

    Attributes:
        name: the entry function.
        registers: registers per thread.
        spill_bytes: bytes spilled, stores and loads together.
        stack_bytes: stack frame.
        instructions: all instructions of the function but the padding at its end.
        path: opcodes, with modifiers, of the instructions that a thread of a whole tile executes:
            of the paths without a guarded store, loops not repeated, the shortest with the most
            wide accesses, else one that ends under its stores' guard; empty if there is none. Of a
            kernel that loops around wide stores, one pass of an innermost such loop, its branch
            back included, or a path beside all of them. Where no access has 16 bytes those of 8 are
            wide, and where none has 8, all are.
        usual: of a kernel without such loops the longest of these paths that calls nothing and
            stores no element by itself: what is computed where no element is one of the few that a
            branch is for.
        opcodes: how often each opcode occurs, by its name without modifiers.
        wide_loads, wide_stores: 16-byte (or wider) accesses to global memory.
        half_loads, half_stores: those of 8 bytes.
        long_loads, long_stores: those of 32 bytes, which are wide, too.
        divisions: hidden integer divisions and calls: MUFU.RCP, I2F, F2I, CALL.
        order: ``L`` and ``S`` for the global loads and stores, in the order of the text.
    """

    name: str
    registers: int
    spill_bytes: int
    stack_bytes: int
    instructions: int
    path: tuple[str, ...]
    usual: tuple[str, ...]
    opcodes: tuple[tuple[str, int], ...]
    wide_loads: int
    wide_stores: int
    divisions: tuple[str, ...]
    order: str
    half_loads: int = 0
    half_stores: int = 0
    long_loads: int = 0
    long_stores: int = 0

    @property
    def tile(self) -> int:
        """How many instructions ``path`` has."""
        return len(self.path)

    def count(self, opcode: str) -> int:
        """How often an opcode occurs, e.g. ``"LDL"``."""
        return dict(self.opcodes).get(opcode, 0)


def compiled(text: str, arch: str, options: tuple[str, ...] = ()) -> nvrtc.Cubin:
    """A program's machine code and log, compiled once for all tests, workers and runs.

    Raises:
        CompileError: no NVRTC, an unknown architecture, or refused source.
    """

    def make(folder: Path) -> None:
        made = nvrtc.compile_cubin(text, arch, options)
        (folder / "cubin").write_bytes(made.image)
        (folder / "log").write_text(made.log)

    if COMPILED not in os.environ:
        return nvrtc.compile_cubin(text, arch, options)
    folder = once(Path(os.environ[COMPILED], "cubins", cubins.key(text, arch, options)), make)
    return nvrtc.Cubin((folder / "cubin").read_bytes(), (folder / "log").read_text())


def nvdisasm() -> Path | None:
    """The disassembler of the nvidia-cuda-nvdisasm wheel, or None."""
    root = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    return next(iter(sorted(root.glob("**/bin/nvdisasm"))), None)


def report(image: bytes, log: str) -> dict[str, KernelReport]:
    """A report per kernel of a cubin.

    Args:
        image: the cubin.
        log: NVRTC's log of the compilation, made with ``-Xptxas=-v``.

    Raises:
        FileNotFoundError: nvdisasm is not installed.
    """
    resources = _resources(log)
    return {
        name: _read(name, lines, *resources.get(name, (0, 0, 0)))
        for name, lines in _functions(_disassembled(image)).items()
    }


def opcodes(image: bytes) -> dict[str, Counter[str]]:
    """How often each opcode, with its modifiers, occurs in each function of a cubin.

    Raises:
        FileNotFoundError: nvdisasm is not installed.
    """
    return {
        name: Counter(_opcode(line) for line in lines if not line.endswith(":"))
        for name, lines in _functions(_disassembled(image)).items()
    }


def _disassembled(image: bytes) -> str:
    tool = nvdisasm()
    if tool is None:
        raise FileNotFoundError("nvdisasm: install nvidia-cuda-nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        return subprocess.run(
            [tool, "-c", file.name], capture_output=True, text=True, check=True
        ).stdout


def _resources(log: str) -> dict[str, tuple[int, int, int]]:
    """Registers, spilled bytes and stack per entry function, from ptxas's own words."""
    found = {}
    for chunk in re.split(r"Compiling entry function '", log)[1:]:
        name = chunk.split("'", 1)[0]
        numbers = [
            sum(map(int, re.findall(pattern, chunk)))
            for pattern in (
                r"Used (\d+) registers",
                r"(\d+) bytes spill (?:stores|loads)",
                r"(\d+) bytes stack frame",
            )
        ]
        found[name] = (numbers[0], numbers[1], numbers[2])
    return found


def _functions(text: str) -> dict[str, list[str]]:
    """The instructions (``@P0 EXIT``) and labels (``.L_x_1:``) of each function, in order."""
    functions: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$]+)", line)
        if section:
            current = functions.setdefault(section[1], [])
        word = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;|(\.L_x_\d+:)", line)
        if word:
            current.append(word[1] or word[2])
    return {name: lines for name, lines in functions.items() if lines}


def _opcode(instruction: str) -> str:
    """The opcode with its modifiers: ``LDG.E.128``."""
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def _jumps(line: str, lines: list[str]) -> bool:
    """Whether a call is a jump: to a label of a function in which nothing returns.

    ptxas ends long and nested loops so.
    """
    if not re.search(r"CALL\.REL\.NOINC `\(\.L_x_\d+\)", line):
        return False
    return not any(_opcode(other).startswith("RET") for other in lines if not other.endswith(":"))


def _target(line: str, lines: list[str]) -> str | None:
    """The label that an instruction branches to, if it does."""
    found = re.search(r"`\((\.L_x_\d+)\)", line)
    if found is None or not (_opcode(line).startswith("BRA") or _jumps(line, lines)):
        return None
    return found[1]


WIDE = frozenset(("128", "256"))
HALF = frozenset(("64",))
LONG = frozenset(("256",))
EVERY = frozenset(("LDG", "STG"))
# In place of a branch: where a path ends well, and where it ends otherwise.
END, NOWHERE = -1, -2


class Passed(NamedTuple):
    """Of a path: its wide accesses, its wide stores, and its instructions' opcodes, piece by piece
    from its end to its beginning."""

    wide: int
    stores: int
    length: int
    opcodes: tuple[Any, ...] | None

    def listed(self) -> list[str]:
        """The opcodes, in order."""
        found: list[str] = []
        rest = self.opcodes
        while rest is not None:
            piece, rest = rest
            found += piece
        return found


NO_PATH = Passed(-1, 0, 0, None)
EMPTY = Passed(0, 0, 0, None)


def _wide(opcode: str, widths: frozenset[str] = WIDE) -> bool:
    """Whether it accesses global memory with one of the widths, else with 16 bytes or more."""
    return opcode.startswith(("LDG", "STG")) and bool(widths & set(opcode.split(".")))


def _stored_bits(opcode: str) -> int:
    """How many bits a store writes; 0 for another instruction."""
    if not opcode.startswith("STG"):
        return 0
    said = {part.lstrip("US") for part in opcode.split(".")} & {"8", "16", "64", "128", "256"}
    return int(said.pop()) if said else 32


def _inner_loops(lines: list[str], widths: frozenset[str]) -> list[tuple[int, int]]:
    """The loops around wide stores without a smaller one inside: from a label to behind the branch
    back to it."""
    places = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    stores = [
        i
        for i, line in enumerate(lines)
        if not line.endswith(":")
        and (name := _opcode(line)).startswith("STG")
        and _wide(name, widths)
    ]
    loops = {
        (start, i + 1)
        for i, line in enumerate(lines)
        if (start := places.get(_target(line, lines) or "", i)) < i
        and any(start < store < i for store in stores)
    }
    return [
        (start, end)
        for start, end in loops
        if not any(start <= low and high <= end for low, high in loops - {(start, end)})
    ]


def _widths(lines: list[str]) -> frozenset[str]:
    """The widths of accesses that are wide in a kernel."""
    names = [_opcode(line) for line in lines if not line.endswith(":")]
    return next((w for w in (WIDE, HALF) if any(_wide(n, w) for n in names)), EVERY)


def _tile(lines: list[str]) -> Passed:
    """See ``KernelReport.path``."""
    widths = _widths(lines)
    passes, inside = [], set[int]()
    for start, end in _inner_loops(lines, widths):
        found = _best_path(lines[start:end], lines[start][:-1], widths)
        # Where nothing comes back, the branch is the end of code that was put behind the rest.
        if found.wide >= 0:
            passes.append(found)
            inside.update(range(start, end))
    if not passes:
        # A whole tile that was made a predicate ends under the guard of its stores.
        guards = sorted({s.split()[0] for s in lines if s.startswith("@") and " STG" in s})
        paths = (_best_path(lines, None, widths, under=guard) for guard in ("", *guards))
        return next((path for path in paths if path.wide >= 0), NO_PATH)
    # What a loop keeps is loaded beside it, so that only stores tell how much a path computes.
    paths = [*passes, _best_path(lines, None, widths, frozenset(inside))]
    found = max(paths, key=lambda path: (path.stores, -path.length))
    return found if found.stores else NO_PATH


def _best_path(
    lines: list[str],
    back: str | None,
    widths: frozenset[str],
    never: frozenset[int] = frozenset(),
    *,
    longest: bool = False,
    under: str = "",
) -> Passed:
    """The path of a whole tile from the first instruction to a branch back, or to an EXIT.

    A path passes no branch twice. Loops have one way in, so that what can follow a branch does not
    depend on how it was reached, and is searched once.

    Args:
        lines: instructions and labels; a path does not leave them.
        back: the label that the path ends with a branch to; None: it ends with an EXIT.
        widths: of wide accesses.
        never: lines that the path does not touch.
        longest: whether of paths with as many wide accesses the longest that calls nothing and
            stores no element by itself is taken, not the shortest.
        under: a guard of stores that are on the path; it ends with an EXIT under it.

    Returns:
        The path; ``NO_PATH`` if there is none.
    """
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    # A narrower store with a guard is that of an element beside the vectors, on the way.
    widest = max(
        (_stored_bits(_opcode(line)) for line in lines if not line.endswith(":")), default=0
    )

    def straight(at: int) -> tuple[Passed, int]:
        """What is passed from a line to the end of a path or to a branch, and that branch."""
        passed: list[str] = []
        wide, stores = 0, 0

        def so_far() -> Passed:
            return Passed(wide, stores, len(passed), (passed, None))

        while at < len(lines) and at not in never:
            line = lines[at]
            at += 1
            if line.endswith(":"):
                continue
            guard, name = line.split()[0] if line.startswith("@") else "", _opcode(line)
            passed.append(name)
            if name.startswith(("LDG", "STG")):
                if guard not in ("", under) and _stored_bits(name) == widest:
                    break
                if longest and name.startswith("STG") and not _wide(name, widths):
                    break
                wide += _wide(name, widths)
                stores += name.startswith("STG") and _wide(name, widths)
            elif name == "EXIT" and guard == under and (stores or not under):
                return so_far(), END if back is None else NOWHERE
            elif _target(line, lines) is not None:
                return so_far(), at - 1
            elif name.startswith("BRA") or (longest and not guard and name.startswith("CALL")):
                break
        return EMPTY, NOWHERE

    def ways(branch: int) -> list[tuple[Passed, int]]:
        """What can follow a branch."""
        line = lines[branch]
        target = _target(line, lines)
        conditional = line.startswith("@") or re.search(r"BRA\S*\s+!?U?P", line)
        ahead = [straight(branch + 1)] if conditional else []
        if target == back:
            return [*ahead, (EMPTY, END)]
        return [*ahead, straight(labels.get(target or "", len(lines)))]

    def merit(path: Passed) -> tuple[int, int, int]:
        return path.wide, path.length if longest else -path.length, path.stores

    # The best way on from a branch; none while it is searched: to come back to it is to go round.
    best: dict[int, Passed] = {END: EMPTY, NOWHERE: NO_PATH}
    first = straight(0)
    pending, searched = [first[1]], {END, NOWHERE}
    while pending:
        branch = pending[-1]
        if branch in searched:
            pending.pop()
            continue
        following = ways(branch)
        if branch not in best:
            best[branch] = NO_PATH
            pending += [other for _, other in following if other not in best]
            continue
        pending.pop()
        searched.add(branch)
        found = (_joined(passed, best[other]) for passed, other in following)
        best[branch] = max(found, key=merit)
    return _joined(first[0], best[first[1]])


def _joined(passed: Passed, rest: Passed) -> Passed:
    """A path and what follows it, if there is something."""
    if rest.wide < 0:
        return rest
    piece = None if passed.opcodes is None else passed.opcodes[0]
    return Passed(
        passed.wide + rest.wide,
        passed.stores + rest.stores,
        passed.length + rest.length,
        rest.opcodes if piece is None else (piece, rest.opcodes),
    )


def _read(name: str, lines: list[str], registers: int, spills: int, stack: int) -> KernelReport:
    names = [_opcode(line) for line in lines if not line.endswith(":")]
    # The function ends in a jump to itself and NOPs up to a multiple of the cache line.
    while names and names[-1] in ("NOP", "BRA"):
        names.pop()
    widths = _widths(lines)
    access = [(n[0], _wide(n)) for n in names if n.startswith(("LDG", "STG"))]
    wide = Counter(kind for kind, is_wide in access if is_wide)
    half, long = (Counter(n[0] for n in names if _wide(n, w)) for w in (HALF, LONG))
    hidden = ("MUFU.RCP", "I2F", "F2I", "CALL")
    jumps = [_opcode(line) for line in lines if _jumps(line, lines)]
    counted = Counter(n for n in names if n.startswith(hidden)) - Counter(jumps)
    return KernelReport(
        name,
        registers,
        spills,
        stack,
        len(names),
        tuple(_tile(lines).listed()),
        tuple(_best_path(lines, None, widths, longest=True).listed()),
        tuple(sorted(Counter(n.split(".")[0] for n in names).items())),
        wide["L"],
        wide["S"],
        tuple(counted.elements()),
        "".join(kind for kind, _ in access),
        half["L"],
        half["S"],
        long["L"],
        long["S"],
    )


def main(arguments: list[str]) -> int:
    """Compiles a CUDA file for the given architectures and prints the reports."""
    text = Path(arguments[0]).read_text()
    for arch in arguments[1:] or ["sm_90"]:
        cubin = compiled(text, arch)
        for r in report(cubin.image, cubin.log).values():
            print(
                f"{arch} {r.name}: {r.registers} registers, {r.spill_bytes} B spilled, "
                f"{r.stack_bytes} B stack, {r.instructions} instructions ({r.tile} in a tile), "
                f"wide {r.wide_loads} L {r.wide_stores} S, hidden {','.join(r.divisions) or '-'}, "
                f"LDL {r.count('LDL')} STL {r.count('STL')}, {r.order}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
