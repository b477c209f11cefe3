"""The bits of reductions on AArch64, by qemu-user: kernels and their parameters are linked into a
program of C that runs them on files.

    python -m tests.support.emulated_reductions neoverse-n1 LABEL ...

prints what ``reduction_bits`` prints, of calls of one kernel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import reduction_bits, vector_kernels
from tests.support.emulated_processor import HEAD, PROGRAMS
from tests.support.processor_bits import digest


def _objects(target: str) -> Any:
    """A function that makes the object file of a kernel's source: the name of its function, and
    the file."""
    triple, name, features = vector_kernels.aim(target)
    from llvmlite import binding

    from gpubcast.backends.cpu import backend
    from gpubcast.backends.cpu.jit import llvm_passes, numba_target

    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=3, reloc="static", codemodel="small"
    )
    modules: list[Any] = []

    def optimised(text: str, linked: list[Any], codegen: Any) -> Any:
        modules.append(llvm_passes.optimised(text, linked, codegen))
        return modules[-1]

    numba_target.optimised = optimised

    def made(source: Any) -> tuple[str, bytes]:
        symbol = backend._compiled(source)[1]
        return symbol, machine.emit_object(modules[-1])

    return made


def main(target: str, *labels: str) -> int:
    """Print the digests of a processor."""
    made = _objects(target)
    from gpubcast.codegen.generator import kernel_source, parameters
    from gpubcast.schedules.choose import schedule
    from gpubcast.schedules.schedule import CpuTarget

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        declarations, calls, told = [], [], []
        for label in labels:
            for plan, operands in reduction_bits.CALLS[label]():
                number = len(told)
                only = plan.broadcast_plan
                chosen = schedule(only, CpuTarget(1, 1 << 62), (0,) * len(only.accesses))
                symbol, image = made(kernel_source(only, chosen))
                unit, mine = folder / f"{number}.o", f"kernel{number}"
                unit.write_bytes(image)
                subprocess.run(
                    [PROGRAMS[2], "--redefine-sym", f"{symbol}={mine}",
                     "--keep-global-symbol", mine, str(unit)],
                    check=True,
                )  # fmt: skip
                packed = parameters(only, chosen)
                (folder / f"{number}.p").write_bytes(packed)
                for slot, x in enumerate(operands):
                    x.tofile(folder / f"{number}.{slot}")
                result = plan.output_shape
                lines = [
                    f'long *table = (long *)from("{folder}/{number}.p", {len(packed)});',
                    f"long out = (long)aligned_alloc(64, {result.byte_size + 127} / 64 * 64);",
                ]
                for slot, read in enumerate(only.reads):
                    if not read.generated:
                        name = f"{folder}/{number}.{read.operand}"
                        size = operands[read.operand].nbytes
                        lines.append(f'table[{slot}] = from("{name}", {size});')
                lines.append(f"table[{len(only.reads)}] = out;")
                declarations.append(f"int {mine}(void *, void *, long, long, long);")
                calls.append(
                    f"{{ {' '.join(lines)} void *none[2];"
                    f" {mine}(none, none + 1, (long)table, 0, {chosen.iterations});"
                    f' to("{folder}/{number}", out, {result.byte_size}); }}'
                )
                told.append((label, result))
        text = "\n".join([HEAD, *declarations, "int main() {", *calls, "return 0; }"])
        (folder / "main.c").write_text(text)
        units = [str(folder / f"{number}.o") for number in range(len(told))]
        program = str(folder / "main")
        source = str(folder / "main.c")
        subprocess.run([PROGRAMS[1], "-static", "-o", program, source, *units, "-lm"], check=True)
        subprocess.run([PROGRAMS[0], "-cpu", "max,sve256=on", program], check=True)
        found: dict[str, list[str]] = {label: [] for label in labels}
        for number, (label, result) in enumerate(told):
            x = np.fromfile(folder / str(number), result.element_type.dtype)
            found[label].append(digest(x.reshape(result.dimensions)))
        for label in labels:
            print(json.dumps([label, " ".join(found[label])]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
