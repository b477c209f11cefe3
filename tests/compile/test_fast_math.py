"""Contraction happens where the user asks for it, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen.cuda import kernel as cuda_code
from gpubcast.errors import CompileError
from tests.compile.sass import compiled, nvdisasm, report


def polynomial(x: Any, y: Any) -> Any:
    return x * y + x / y


def opcodes(*, fast_math: bool) -> set[str]:
    plan = gb.fuse(fast_math=fast_math)(polynomial).plan("f32[4096]", "f32[4096]")
    source = cuda_code.generate(plan.broadcast_plan, plan.schedule("sm_90"))
    try:
        cubin = compiled(source.text, "sm_90", nvrtc.options_of(source))
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC: {error}")
    (kernel,) = report(cubin.image, cubin.log).values()
    return {name.split(".")[0] for name, _ in kernel.opcodes}


@pytest.mark.skipif(nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")
def test_the_sum_of_a_product_is_contracted_on_demand() -> None:
    assert "FADD" in opcodes(fast_math=False)
    assert "FADD" not in opcodes(fast_math=True)


def test_fast_math_is_another_kernel() -> None:
    plans = [gb.fuse(fast_math=fast)(polynomial).plan("f32[8]", "f32[8]") for fast in (0, 1)]
    sources = [cuda_code.generate(p.broadcast_plan, p.schedule("sm_90")) for p in plans]
    assert [source.fast_math for source in sources] == [False, True]
    assert sources[0].key != sources[1].key
    assert plans[0] != plans[1]


def test_the_cpu_rounds_once_where_it_may() -> None:
    # 1 - 2**-24 is lost when the product is rounded first.
    x = np.full(64, 1 + 2.0**-12, np.float32)
    y = np.full(64, -(1 + 2.0**-11), np.float32)

    def residue(x: Any, y: Any) -> Any:
        return x * x + y

    exact = gb.fuse(residue)(x, y)
    np.testing.assert_array_equal(exact, x * x + y)
    assert float(exact[0]) == 0
    fast = gb.fuse(fast_math=True)(residue)(x, y)
    assert set(fast.tolist()) <= {0.0, 2.0**-24}
