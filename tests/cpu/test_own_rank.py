"""Work where it belongs: an operation runs as often as its own operands have elements.

The generated kernel is run as plain Python, with loads and stores on real memory, and its calls of
``exp`` are counted.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.codegen.cpu import kernel as cpu_code
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.cost import STRETCH
from gpubcast.schedules.schedule import CpuTarget
from tests.support import instructions

DTYPES = {"f32": np.float32, "s64": np.int64}


class Interpreter:
    """What a generated kernel calls, in Python; ``calls`` counts ``exp``."""

    def __init__(self) -> None:
        self.calls = 0
        self.kept: list[Any] = []

    def exp(self, x: Any) -> Any:
        self.calls += 1
        return np.exp(x)

    def scratch_f32(self) -> int:
        self.kept.append(np.full(STRETCH + 16, np.nan, np.float32))
        return int(self.kept[-1].ctypes.data)

    def names(self) -> dict[str, Any]:
        found: dict[str, Any] = {"exp": self.exp, "float32": np.float32}
        found["scratch_f32"] = self.scratch_f32
        found["wide_vectors"] = lambda: None
        for name, dtype in DTYPES.items():
            for verb in ("load", "read"):
                found[f"{verb}_{name}"] = lambda at, i, dtype=dtype: _memory(at, i, dtype)[0]
            for verb in ("store", "write"):
                found[f"{verb}_{name}"] = lambda at, i, x, dtype=dtype: _memory(at, i, dtype).fill(
                    x
                )
        found["fill_f32"] = lambda to, count, x: _bytes(to, 4 * count).view(np.float32).fill(x)
        found["repeat"] = _repeat
        return found


def _memory(address: int, index: int, dtype: Any) -> Any:
    size = np.dtype(dtype).itemsize
    raw = (ctypes.c_char * size).from_address(int(address) + int(index) * size)
    return np.frombuffer(raw, dtype)


def _bytes(address: int, size: int) -> Any:
    return np.frombuffer((ctypes.c_char * int(size)).from_address(int(address)), np.uint8)


def _repeat(to: int, period: int, size: int) -> None:
    memory = _bytes(to, size)
    memory[:] = np.resize(memory[:period].copy(), size)


def run(function: Any, operands: list[Any], parts: int = 1) -> tuple[list[Any], int]:
    """The results of a fused function's only kernel, and how often it called ``exp``."""
    plan = function.plan(*operands)
    one = plan.broadcast_plan
    outs = [np.full(s.dimensions, np.nan, np.float32) for s in plan.output_shapes]
    (kernel,) = plan._call_plan().kernels
    memory = [*operands, *outs]
    slots = b"".join(
        (memory[number].ctypes.data + access.offset * 4).to_bytes(8, "little")
        for number, access in zip(kernel.arguments, one.accesses, strict=True)
    )
    chosen = schedule(one, CpuTarget(), (16,) * len(one.accesses))
    packed = bytearray(cpu_code.parameters(one, chosen))
    packed[: len(slots)] = slots
    interpreter = Interpreter()
    scope = interpreter.names()
    source = cpu_code.generate(one, chosen)
    exec(source.text, scope)
    table = ctypes.addressof(ctypes.c_char.from_buffer(packed))
    edges = [chosen.iterations * k // parts for k in range(parts + 1)]
    for low, high in itertools.pairwise(edges):
        scope[source.entry](table, low, high)
    return outs, interpreter.calls


def array(*dimensions: int) -> Any:
    return np.random.default_rng(len(dimensions)).standard_normal(dimensions, np.float32)


@gb.fuse("r c, r -> r c")
def column(x: Any, m: Any) -> Any:
    return x - gb.exp(m)


@gb.fuse("r c, c -> r c")
def row(x: Any, g: Any) -> Any:
    return x * gb.exp(g)


@gb.fuse("r c, r, c -> r c")
def both(x: Any, m: Any, g: Any) -> Any:
    return x * gb.exp(g) - gb.exp(m)


@gb.fuse("r c,  -> r c")
def scalar(x: Any, s: Any) -> Any:
    return x * gb.exp(s)


@gb.fuse("a b c, a, b -> a b c")
def outer(x: Any, p: Any, q: Any) -> Any:
    return x * gb.exp(p) * q


@gb.fuse("a b c, a c -> a b c")
def around(x: Any, p: Any) -> Any:
    return x * gb.exp(p)


@gb.fuse("r c, r, c -> r c, r, c")
def several(x: Any, m: Any, g: Any) -> Any:
    e = gb.exp(m)
    return x * e + g, e, g * 2


@gb.fuse("r c, r -> r c")
def twice(x: Any, m: Any) -> Any:
    return x * gb.exp(m) + gb.exp(m)


M, N = 6, 40
CASES: dict[str, tuple[Any, list[Any], Callable[..., Any], int]] = {
    "column": (column, [array(M, N), array(M)], lambda x, m: x - np.exp(m)[:, None], M),
    "row": (row, [array(M, N), array(N)], lambda x, g: x * np.exp(g), N),
    "both": (
        both,
        [array(M, N), array(M), array(N)],
        lambda x, m, g: x * np.exp(g) - np.exp(m)[:, None],
        M + N,
    ),
    "scalar": (scalar, [array(M, N), array(1)[0:1].reshape(())], lambda x, s: x * np.exp(s), 1),
    "outermost of three": (
        outer,
        [array(3, 4, 5), array(3), array(4)],
        lambda x, p, q: x * np.exp(p)[:, None, None] * q[:, None],
        3,
    ),
    "outermost and innermost": (
        around,
        [array(3, 4, 5), array(3, 5)],
        lambda x, p: x * np.exp(p)[:, None],
        15,
    ),
    "several outputs": (
        several,
        [array(M, N), array(M), array(N)],
        lambda x, m, g: (x * np.exp(m)[:, None] + g, np.exp(m), g * 2),
        M,
    ),
    "a common sub-expression": (
        twice,
        [array(M, N), array(M)],
        lambda x, m: x * np.exp(m)[:, None] + np.exp(m)[:, None],
        M,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("parts", [1, 3])
def test_exp_runs_at_its_own_rank(name: str, parts: int) -> None:
    function, operands, expected, count = CASES[name]
    outs, calls = run(function, operands, parts)
    wanted = expected(*operands)
    for out, want in zip(outs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_array_equal(out, want)
    # Parts of the outermost axis share no memory: each computes what that axis does not change.
    shared = {"row": N, "both": N, "scalar": 1}.get(name, 0)
    assert calls == count + (parts - 1) * shared


def test_a_kept_value_is_computed_once_per_stretch() -> None:
    columns = 2 * STRETCH + 5
    outs, calls = run(both, [array(3, columns), array(3), array(columns)])
    assert calls == columns + 3 * 3
    assert not np.isnan(outs[0]).any()


def test_a_fused_call_costs_little_more_than_an_operation() -> None:
    # In instructions of Python's: at most 1.5 times a single operation, and 60 for each operand
    # beyond its two.
    x, m = array(8, 8), array(8)

    @gb.fuse("r c, r, r, c, c -> r c")
    def normalised(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
        return (x - mean) * rstd * gamma + beta

    def repeated(call: Callable[[], Any]) -> int:
        for _ in range(20):
            call()
        return instructions.count(call)

    single = repeated(lambda: gb.add(x, x))
    assert 0 < repeated(lambda: normalised(x, m, m, m, m)) <= 1.5 * single + 3 * 60
