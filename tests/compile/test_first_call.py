"""What a first call costs before the driver: a compilation, or a file that is found.

Times are of this process's own CPU, and a compilation is measured against that of an empty kernel,
taken in turns: a machine that is slow or busy is so for both. An empty kernel takes 18.5 ms where
the budget of a first call is 120 ms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.cases import CASES
from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen import cuda as cuda_code
from gpubcast.families import CudaTarget
from gpubcast.schedule import schedule

EMPTY = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'
TARGET = CudaTarget("sm_90", 132)
MOST_COMPILATION, MOST_FOUND = 6.5, 10e-3


def compilation(text: str) -> float:
    began = time.process_time()
    nvrtc.compile_cubin(text, TARGET.arch)
    return time.process_time() - began


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_compilation(name: str) -> None:
    (case,) = [case for case in CASES if case.name == name]
    plan = case.within(1 << 28).plan.broadcast_plan
    chosen = schedule(plan, TARGET, (256,) * len(plan.accesses))
    text = cuda_code.generate(plan, chosen).text
    compilation(EMPTY)
    for turn in range(4):
        empty, ours = compilation(EMPTY), compilation(text)
        if ours <= MOST_COMPILATION * empty:
            return
        told = f"{1e3 * ours:.0f} ms, {ours / empty:.1f} times an empty kernel's ({turn + 1} turns)"
    pytest.fail(told)


FOUND = """
import time
import gpubcast as gb
import gpubcast.bound, gpubcast.runtime, gpubcast.arrays, gpubcast.codegen.cuda
from gpubcast.backends.cuda import cache, nvrtc
from gpubcast.codegen import cuda as cuda_code
from gpubcast.families import CudaTarget
from gpubcast.schedule import schedule
began = time.process_time()
plan = gb.plan("add", "f32[4096,4096]", "f32[4096]", broadcast_dimensions=(1,)).broadcast_plan
chosen = schedule(plan, CudaTarget("sm_90", 132), (256,) * len(plan.accesses))
source = cuda_code.generate(plan, chosen)
cuda_code.parameters(plan, chosen)
cache.cubin_path(source.text, "sm_90", nvrtc.options_of(source)).read_bytes()
print(time.process_time() - began, nvrtc.library.cache_info().currsize)
"""


def test_a_kernel_that_is_on_disk(tmp_path: Path, repository: Path) -> None:
    """In a new process, after imports: from shapes to machine code."""
    environment = os.environ | {
        "GPUBCAST_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(repository),
    }  # fmt: skip
    taken, loaded = [], []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", FOUND], capture_output=True, text=True,
                              timeout=120, env=environment, check=True)  # fmt: skip
        seconds, compilers = done.stdout.split()
        taken.append(float(seconds))
        loaded.append(int(compilers))
    assert loaded == [1, 0, 0, 0, 0], "the compiler is loaded to compile, and only then"
    assert min(taken[1:]) < MOST_FOUND < taken[0]
