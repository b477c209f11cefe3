"""What is done to a kernel before and after LLVM makes vector loops of it.

Loops that compute much run over several vectors at a time: one vector's chain of operations leaves
most of a processor idle. Functions that have forms on vectors (``elementary``) must be calls until
loops are made of them; then they are inlined, and those that nothing calls any more are dropped.
"""

from __future__ import annotations

import re
from typing import Any

from gpubcast.backends.cpu.jit.nontemporal_accesses import STREAMED, with_nontemporal_accesses
from gpubcast.backends.cpu.processor import (
    asks_in_turn,
    has_avx2,
    has_avx512,
    has_sve,
    reads_ahead,
)

# What ``wide_vectors`` says of a kernel that computes much, reads rows again or reduces columns,
# and ``reading_vectors`` of one that reads memory, where half of a register is to be read at a
# time.
WIDE, HALF = '"prefer-vector-width"="512"', '"prefer-vector-width"="256"'
# What marks the innermost loop that it is called in (``intrinsics.lanes``).
ROLLED = "gpubcast.rolled"
_INTERLEAVED = '!"llvm.loop.interleave.count", i32 {}'
# Functions that loops call have no forms on vectors of a length that code does not know, and loads
# under a mask are taken apart on others. Nor are such vectors kept in registers from loop to loop,
# as lanes are.
_FIXED = (
    '!"llvm.loop.vectorize.scalable.enable", i1 false',
    '!"llvm.loop.vectorize.predicate.enable", i1 false',
)
# Loops whose code is not repeated before they are vector loops: else LLVM keeps short memory in
# registers element by element, and makes no vectors of them.
_ROLLED = (
    '!"llvm.loop.unroll.disable"',
    '!"llvm.loop.vectorize.followup_vectorized", !{!"llvm.loop.isvectorized", i32 1}, '
    '!{!"llvm.loop.unroll.runtime.disable"}',
)
# LLVM's level of optimisation, and that of kernels with lanes, whose loops are unrolled there until
# lanes are registers. Of others it would make the same inner loops, in more copies of those around
# them: conditions that do not change are taken out of nests.
_LEVEL, _LEVEL_OF_LANES = 2, 3
_VARIANTS = '"vector-function-abi-variant"'
_USED = re.compile(r"^@llvm\.compiler\.used = .*\n", re.MULTILINE)
_LABEL = re.compile(r"^([\w.$]+):")
_TARGET = re.compile(r"label %([\w.$]+)")


def optimised(text: str, linked: list[Any], codegen: Any, *, is_simple: bool) -> Any:
    """The module of LLVM assembly, optimised for the processor of a code generator of numba's.

    Args:
        text: the assembly.
        linked: modules of functions that it calls, optimised.
        codegen: numba's code generator.
        is_simple: whether it has few loops, and no calls. LLVM then makes the same code if only
            memory becomes registers first; others it simplifies twice, since it takes nests of
            loops apart once each time.
    """
    from llvmlite import binding

    module = binding.parse_assembly(text)
    module.verify()
    if ROLLED in text:
        module = binding.parse_assembly(rolled(str(module)))
    builder = codegen._pass_builder(opt=_LEVEL_OF_LANES if ROLLED in text else _LEVEL)
    if is_simple:
        passes = binding.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    else:
        passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    for other in linked:
        module.link_in(other, preserve=True)
        text += str(other)
    # What is marked is marked from the beginning: most kernels are never written as text again.
    hints = [_INTERLEAVED.format(_vectors())] if WIDE in text else []
    if _VARIANTS in text and has_sve():
        hints += _FIXED
    if hints:
        module = binding.parse_assembly(hinted(str(module), *hints))
    builder.getModulePassManager().run(module, builder)
    if STREAMED in text:
        # What computes much comes to memory too late where it has not asked for it.
        asks = WIDE in text or not reads_ahead()
        in_turn = asks_in_turn()
        made = with_nontemporal_accesses(str(module), asks=asks, in_turn=in_turn)
        module = binding.parse_assembly(made)
    if _VARIANTS in text:
        module = binding.parse_assembly(inlining(str(module)))
        passes, builder = codegen._module_pass_manager(opt=0)
        passes.add_always_inliner_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_new_gvn_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(module, builder)
    return module


def _vectors() -> int:
    """How many vectors a loop that computes much runs over at a time. Many instructions are between
    those of one chain that wait for each other, so that a processor that looks ahead finds others;
    with AVX2 this is worth more than that all values fit the registers. With AVX-512 it is not."""
    return 4 if has_avx2() and not has_avx512() else 2


def rolled(text: str) -> str:
    """LLVM assembly in which loops that are marked have the hints of rolled ones, and no marks."""
    lines, marks, keeps = list[str](), list[int](), set[int]()
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if line.startswith("define "):
            labels, marks = {}, []
        if ROLLED in line:
            if not line.startswith("declare "):
                marks.append(len(lines))
            continue
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = len(lines)
        begins = [labels[name] for name in _TARGET.findall(line) if name in labels]
        if line.startswith("  br ") and begins and marks and marks[-1] >= min(begins):
            marks.clear()
            keeps.add(len(lines))
        lines.append(line)
    return _with_hints(text, lines, keeps, (*_ROLLED, *(_FIXED if has_sve() else ())))


def hinted(text: str, *hints: str) -> str:
    """LLVM assembly whose loops have hints."""
    lines = text.splitlines()
    labels: set[str] = set()
    found = set[int]()
    for number, line in enumerate(lines):
        if line.startswith("define "):
            labels = set()
        label = _LABEL.match(line)
        if label:
            labels.add(label[1])
        again = line.startswith("  br ") and labels.intersection(_TARGET.findall(line))
        if again and "!llvm.loop" not in line:
            found.add(number)
    return _with_hints(text, lines, found, hints)


def _with_hints(text: str, lines: list[str], loops: set[int], hints: tuple[str, ...]) -> str:
    """Lines of LLVM assembly, those among them that end loops with hints."""
    first = 1 + max((int(n) for n in re.findall(r"^!(\d+) = ", text, re.MULTILINE)), default=-1)
    named = range(first, first + len(hints))
    every = ", ".join(f"!{n}" for n in named)
    ids = {line: named.stop + k for k, line in enumerate(sorted(loops))}
    found = [
        f"{line}, !llvm.loop !{ids[number]}" if number in ids else line
        for number, line in enumerate(lines)
    ]
    found += [f"!{n} = !{{{hint}}}" for n, hint in zip(named, hints, strict=True)]
    return "\n".join(found + [f"!{n} = distinct !{{!{n}, {every}}}" for n in ids.values()])


def inlining(text: str) -> str:
    """LLVM assembly in which functions with forms on vectors are to be inlined, but for cold ones,
    and nothing is kept that is not used."""
    lines = (
        line.replace(" noinline ", " alwaysinline ")
        if line.startswith("attributes ") and _VARIANTS in line and " cold " not in line
        else line
        for line in _USED.sub("", text).splitlines()
    )
    return "\n".join(lines)
