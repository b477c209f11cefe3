"""What is done to a kernel before and after LLVM makes vector loops of it.

Loops that compute much run over two vectors at a time: one vector's chain of operations leaves half
of a processor idle. Functions that have forms on vectors (``elementary``) must be calls until loops
are made of them; then they are inlined, and those that nothing calls any more are dropped.
"""

from __future__ import annotations

import re
from typing import Any

from gpubcast.backends.cpu.jit.nontemporal_accesses import STREAMED, with_nontemporal_accesses

# What ``wide_vectors`` says of a kernel that computes much.
WIDE = '"prefer-vector-width"="512"'
_VARIANTS = '"vector-function-abi-variant"'
_USED = re.compile(r"^@llvm\.compiler\.used = .*\n", re.MULTILINE)
_LABEL = re.compile(r"^([\w.$]+):")
_TARGET = re.compile(r"label %([\w.$]+)")


def optimised(text: str, linked: list[Any], codegen: Any) -> Any:
    """The module of LLVM assembly, optimised for the processor of a code generator of numba's.

    Args:
        text: the assembly.
        linked: modules of functions that it calls, optimised.
        codegen: numba's code generator.
    """
    from llvmlite import binding

    module = binding.parse_assembly(text)
    module.verify()
    for function in module.functions:
        passes, builder = codegen._function_pass_manager()
        passes.run(function, builder)
    for other in linked:
        module.link_in(other, preserve=True)
    text = str(module)
    if WIDE in text:
        module = binding.parse_assembly(interleaved(text))
    passes, builder = codegen._module_pass_manager()
    passes.run(module, builder)
    text = str(module)
    if STREAMED in text:
        module = binding.parse_assembly(with_nontemporal_accesses(text))
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


def interleaved(text: str) -> str:
    """LLVM assembly whose loops are said to run over two vectors at a time."""
    first = 1 + max((int(n) for n in re.findall(r"^!(\d+) = ", text, re.MULTILINE)), default=-1)
    lines, loops = [], 0
    labels: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define "):
            labels = set()
        label = _LABEL.match(line)
        if label:
            labels.add(label[1])
        again = line.startswith("  br ") and labels.intersection(_TARGET.findall(line))
        if again and "!llvm.loop" not in line:
            loops += 1
            line += f", !llvm.loop !{first + loops}"
        lines.append(line)
    lines.append(f'!{first} = !{{!"llvm.loop.interleave.count", i32 2}}')
    lines += [f"!{n} = distinct !{{!{n}, !{first}}}" for n in range(first + 1, first + loops + 1)]
    return "\n".join(lines)


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
