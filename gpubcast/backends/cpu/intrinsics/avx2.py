"""Instructions on 256-bit vectors that stand for native steps of formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics.short_tables import called
from gpubcast.hlo.elementary.values import MachineType


def _root_domain(builder: Any, x: Any, y: Any, rest: Any) -> Any:
    # VRSQRTPS gives infinities, 0 and NaN where y is none of them.
    edge = called(builder, "llvm.x86.avx.rsqrt.ps.256", x.type, [x])
    distance = called(builder, "llvm.fabs.v8f32", x.type, [rest])
    half = ir.Constant(x.type, [x.type.element(0.5)] * x.type.count)
    return builder.select(builder.fcmp_ordered("<", distance, half), y, edge)


INSTRUCTIONS: dict[tuple[str, MachineType], Callable[..., Any]] = {
    ("root_domain", MachineType.F32): _root_domain,
}
