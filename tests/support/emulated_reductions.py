"""The bits of reductions on AArch64, by qemu-user: kernels and their parameters are linked into a
program of C that runs them on files.

    python -m tests.support.emulated_reductions neoverse-n1 LABEL ...

prints what ``reduction_bits`` prints.
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
    from gpubcast.backends.cpu.jit import llvm_passes, lowering

    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=3, reloc="static", codemodel="small"
    )
    modules: list[Any] = []

    def optimised(text: str, linked: list[Any], codegen: Any, *, is_simple: bool) -> Any:
        modules.append(llvm_passes.optimised(text, linked, codegen, is_simple=is_simple))
        return modules[-1]

    lowering.optimised = optimised

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
        declarations, calls, told, units = [], [], [], []
        for label in labels:
            for plan, operands in reduction_bits.CALLS[label]():
                number, result = len(told), plan.output_shape
                call = plan._call_plan()
                memory = [
                    f'from("{folder}/{number}.{k}", {x.nbytes})' for k, x in enumerate(operands)
                ]
                for shape in (result, *call.temporaries):
                    memory.append(f"(long)aligned_alloc(64, {shape.byte_size + 127} / 64 * 64)")
                for slot, x in enumerate(operands):
                    x.tofile(folder / f"{number}.{slot}")
                lines = [f"long memory[] = {{{', '.join(memory)}}}; void *none[2]; long *table;"]
                for step, one in enumerate(call.kernels):
                    only = one.plan
                    chosen = schedule(only, CpuTarget(1, 1 << 62), (0,) * len(only.accesses))
                    symbol, image = made(kernel_source(only, chosen))
                    mine = f"kernel{number}_{step}"
                    unit, table = folder / f"{mine}.o", folder / f"{mine}.p"
                    unit.write_bytes(image)
                    units.append(str(unit))
                    subprocess.run(
                        [PROGRAMS[2], "--redefine-sym", f"{symbol}={mine}",
                         "--keep-global-symbol", mine, str(unit)],
                        check=True,
                    )  # fmt: skip
                    packed = parameters(only, chosen)
                    table.write_bytes(packed)
                    lines.append(f'table = (long *)from("{table}", {len(packed)});')
                    for slot, (place, access) in enumerate(
                        zip(one.arguments, only.accesses, strict=True)
                    ):
                        first = access.offset * access.element_type.itemsize
                        base = "0" if access.generated else f"memory[{place}]"
                        lines.append(f"table[{slot}] = {base} + {first};")
                    lines.append(f"{mine}(none, none + 1, (long)table, 0, {chosen.iterations});")
                    declarations.append(f"int {mine}(void *, void *, long, long, long);")
                lines.append(
                    f'to("{folder}/{number}", memory[{len(operands)}], {result.byte_size});'
                )
                calls.append(f"{{ {' '.join(lines)} }}")
                told.append((label, result))
        text = "\n".join([HEAD, *declarations, "int main() {", *calls, "return 0; }"])
        (folder / "main.c").write_text(text)
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
