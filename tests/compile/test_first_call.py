"""What a first call costs before the driver: a compilation, or a file that is found.

A compilation takes as long as what the compiler reads and what it writes, and both are counted:
bytes of CUDA, and machine instructions. Neither depends on the machine. The
budgets are those of a first call of 120 ms, where an empty kernel takes 18.5 ms.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cases import CASES
from gpubcast.backends.cuda import headers
from gpubcast.codegen.cuda import kernel
from gpubcast.codegen.source import KernelSource
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.schedule import CudaTarget
from tests.compile import sass

TARGET = CudaTarget("sm_90", 132)
# Of the benchmark's elementwise kernels the longest has 586 instructions, and the one that reads
# most 73,500 bytes of CUDA: it has the formula of exp. Reductions have up to 810 and read 95,100.
MOST_INSTRUCTIONS, MOST_BYTES = 700, 78_000
MOST_INSTRUCTIONS_OF_REDUCTIONS, MOST_BYTES_OF_REDUCTIONS = 900, 100_000
# To find a kernel takes 48,500 instructions of Python's; CPython 3.12's are 1.6 times as many.
MOST_FOUND = 87_000 if sys.version_info[:2] == (3, 12) else 54_000


@functools.cache
def source(name: str) -> KernelSource:
    """The kernel of a case of the benchmark."""
    (case,) = [case for case in CASES if case.name == name]
    plan = case.within(1 << 28).plan.broadcast_plans[0]
    return kernel.generate(plan, schedule(plan, TARGET, (256,) * len(plan.accesses)))


@functools.cache
def reports() -> dict[str, sass.KernelReport]:
    """The machine code of every case, compiled together."""
    texts = dict.fromkeys(source(case.name).text for case in CASES)
    made = sass.compiled("\n".join(texts), TARGET.arch)
    return sass.report(made.image, made.log)


def bytes_read(text: str) -> int:
    """Of a program and of every header that it includes, directly or not."""
    found, pending = {"": text}, [text]
    while pending:
        for name in re.findall(r'^#include "([^"]+)"', pending.pop(), re.MULTILINE):
            if name not in found:
                found[name] = headers.texts()[name]
                pending.append(found[name])
    return sum(len(part.encode()) for part in found.values())


@pytest.mark.skipif(sass.nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(case.name, marks=pytest.mark.long if number % 4 else ())
        for number, case in enumerate(CASES)
    ],
)
def test_compilation(name: str) -> None:
    made = source(name)
    reduces = "_REDUCTION" in made.key
    assert bytes_read(made.text) <= (MOST_BYTES_OF_REDUCTIONS if reduces else MOST_BYTES)
    most = MOST_INSTRUCTIONS_OF_REDUCTIONS if reduces else MOST_INSTRUCTIONS
    assert 0 < reports()[made.entry].instructions <= most


def test_bytes_are_those_of_headers_too() -> None:
    names = ("prelude", "words", "operands", "scalar", "flat")
    include = '#include "flat.cuh"\n'
    texts = (include, *(headers.texts()[f"{name}.cuh"] for name in names))
    assert bytes_read(include) == sum(len(text.encode()) for text in texts)


FOUND = """
import gpubcast as gb
import gpubcast.plans, gpubcast.runtime.execute, gpubcast.arrays
from gpubcast.backends.cuda import cubins, nvrtc
from gpubcast.codegen.cuda import kernel
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.schedule import CudaTarget
from tests.support.instructions import count

def machine_code():
    plan = gb.plan("add", "f32[4096,4096]", "f32[4096]", broadcast_dimensions=(1,)).broadcast_plan
    chosen = schedule(plan, CudaTarget("sm_90", 132), (256,) * len(plan.accesses))
    source = kernel.generate(plan, chosen)
    kernel.parameters(plan, chosen)
    cubins.cubin(source.text, "sm_90", nvrtc.options_of(source))

print(count(machine_code), nvrtc.library.cache_info().currsize)
"""


def test_a_kernel_that_is_on_disk(tmp_path: Path, repository: Path) -> None:
    """In a new process, after imports: from shapes to machine code."""
    environment = os.environ | {
        "GPUBCAST_CACHE_DIR": str(tmp_path), "GPUBCAST_CHECK": "0", "PYTHONPATH": str(repository),
    }  # fmt: skip
    told = [
        subprocess.run([sys.executable, "-c", FOUND], capture_output=True, text=True, timeout=120,
                       cwd=repository, env=environment, check=True).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    executed, loaded = zip(*(map(int, words) for words in told), strict=True)
    assert loaded == (1, 0), "the compiler is loaded to compile, and only then"
    assert 0 < executed[1] <= MOST_FOUND
