"""Small kernels in PTX, and their execution on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support.ptx.execution import launch
from tests.support.ptx.memory import Memory
from tests.support.ptx.program import Module

REGISTERS = """
  .reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>;
  .reg .f32 %f<20>; .reg .f64 %fd<20>;
"""
# %rd1: the first parameter; %r1: the thread in its block; %r2: in the grid; %rd2: four bytes for
# each before it.
PROLOGUE = """
  ld.param.u64 %rd1, [k_param_0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r2, %r3, %r4, %r1;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd2, %rd1, %rd3;
"""


def kernel(body: str, parameters: int = 1, variables: str = "", before: str = "") -> str:
    """A kernel ``k`` of addresses around some instructions."""
    listed = ", ".join(f".param .u64 k_param_{i}" for i in range(parameters))
    return (
        f".version 8.0\n.target sm_90\n.address_size 64\n{before}\n"
        f".visible .entry k({listed})\n{{{REGISTERS}{variables}{PROLOGUE}{body}\n}}\n"
    )


def run(
    text: str, *arrays: Any, grid: int = 1, block: tuple[int, int] = (32, 1), **keywords: Any
) -> Memory:
    """Runs ``k`` on the addresses of arrays, which are also the memory that it may access."""
    parameters = np.array([a.ctypes.data for a in arrays], np.uint64).tobytes()
    ranges = [np.lib.array_utils.byte_bounds(a) for a in arrays]
    memory, _ = launch(Module(text), "k", grid, block, parameters, ranges, **keywords)
    return memory


def aligned(count: int, dtype: Any = np.uint32) -> Any:
    """Zeros that begin at a multiple of 256."""
    dtype = np.dtype(dtype)
    raw = np.zeros(count * dtype.itemsize + 256, np.uint8)
    begin = -raw.ctypes.data % 256
    return raw[begin : begin + count * dtype.itemsize].view(dtype)


def computed(opcode: str, result: str, given: Sequence[tuple[str, Any]], tail: str = "") -> Any:
    """One instruction on arrays of operands: what it gives for each element.

    Args:
        result: the type that is stored.
        given: type and values of each operand.
        tail: further operands, as text.
    """
    count = len(given[0][1])
    memory = []
    lines = []
    for i, (kind, values) in enumerate(given):
        held = aligned(count, values.dtype)
        held[:] = values
        memory.append(held)
        width = held.dtype.itemsize
        lines.append(f"ld.param.u64 %rd1{i}, [k_param_{i}];")
        lines.append(f"mul.wide.u32 %rd2{i}, %r2, {width}; add.s64 %rd2{i}, %rd2{i}, %rd1{i};")
        lines.append(f".reg .{kind} in{i}; ld.global.{kind} in{i}, [%rd2{i}];")
    size = int(result.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8
    out = aligned(count, f"u{size}")
    names = ", ".join(f"in{i}" for i in range(len(given)))
    lines += [
        f".reg .{result} out; {opcode} out, {names}{tail};",
        f"ld.param.u64 %rd30, [k_param_{len(given)}];",
        f"mul.wide.u32 %rd31, %r2, {size}; add.s64 %rd31, %rd31, %rd30;",
        f"st.global.{result} [%rd31], out; ret;",
    ]
    text = kernel("\n".join(lines), len(given) + 1)
    run(text, *memory, out, block=(count, 1))
    return out
