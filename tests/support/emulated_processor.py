"""The bits of results on AArch64, by qemu-user: kernels are linked into a program of C that runs
them on files.

    python -m tests.support.emulated_processor neoverse-n1 [LABEL ...]

prints what ``processor_bits`` prints. It takes ``qemu-aarch64`` and ``aarch64-linux-gnu-gcc`` (on
Debian the packages qemu-user and gcc-aarch64-linux-gnu).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import gpubcast as gb
from tests.support import processor_bits, vector_kernels

PROGRAMS = (
    "qemu-aarch64",
    "aarch64-linux-gnu-gcc",
    "aarch64-linux-gnu-objcopy",
)
HEAD = """#include <stdio.h>
#include <stdlib.h>
static long from(const char *name, long size) {
  void *data = aligned_alloc(64, (size + 127) / 64 * 64);
  FILE *file = fopen(name, "rb");
  if (!file || fread(data, 1, size, file) != size) exit(3);
  fclose(file);
  return (long)data;
}
static void to(const char *name, long data, long size) {
  FILE *file = fopen(name, "wb");
  if (fwrite((void *)data, 1, size, file) != size) exit(4);
  fclose(file);
}
"""


def missing() -> list[str]:
    """The programs that are not there."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def main(target: str, *labels: str) -> int:
    """Print the digests of a processor."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        kernels = list(vector_kernels.compiled(target, labels))
        declarations, calls = [], []
        for number, (kernel, symbol, image) in enumerate(kernels):
            unit = folder / f"{number}.o"
            unit.write_bytes(image)
            mine = f"kernel{number}"
            subprocess.run(
                [PROGRAMS[2], "--redefine-sym", f"{symbol}={mine}",
                 "--keep-global-symbol", mine, str(unit)],
                check=True,
            )  # fmt: skip
            declarations.append(f"int {mine}(void *, void *, long, long, long);")
            operands = processor_bits.operands_of(kernel)
            count = operands[0].size
            slots = []
            for slot, operand in enumerate(operands):
                name = folder / f"{number}.{slot}"
                np.ascontiguousarray(operand).tofile(name)
                slots.append(f'from("{name}", {operand.nbytes})')
            size = count * kernel.size
            slots.append(f"(long)aligned_alloc(64, {size // 64 * 64 + 128})")
            calls.append(
                f"{{ long table[] = {{{', '.join(slots)}}}; void *none[2];"
                f" {mine}(none, none + 1, (long)table, 0, {count});"
                f' to("{folder}/{number}", table[{len(operands)}], {size}); }}'
            )
        text = "\n".join([HEAD, *declarations, "int main() {", *calls, "return 0; }"])
        (folder / "main.c").write_text(text)
        units = [str(folder / f"{number}.o") for number in range(len(kernels))]
        program = str(folder / "main")
        source = str(folder / "main.c")
        subprocess.run([PROGRAMS[1], "-static", "-o", program, source, *units, "-lm"], check=True)
        subprocess.run([PROGRAMS[0], "-cpu", "max,sve256=on", program], check=True)
        for number, (kernel, _, _) in enumerate(kernels):
            found = np.fromfile(folder / str(number), gb.element_type(kernel.result).dtype)
            print(json.dumps([kernel.label, processor_bits.digest(found)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
