"""a b + c rounded once, made of other instructions: the bits of the instruction."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gpubcast.backends.cpu import backend
from gpubcast.backends.cpu.intrinsics import multiply_add
from gpubcast.backends.cpu.jit import builtins, object_cache
from gpubcast.backends.cpu.jit.compile import machine_code
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic

COUNT = 300_000
Array = np.ndarray[Any, Any]


def kernel(kind: str, name: str) -> object_cache.Unit:
    """The code of a loop over a b + c, compiled as the processor is said to be."""

    @Intrinsic
    def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return multiply_add.fma(builder, *args)

        return a(a, a, a), codegen

    lines = [
        f"def {name}(table, low, high):",
        *(f"    p{slot} = load_s64(table, {slot})" for slot in range(4)),
        "    for i in range(low, high):",
        *(f"        v{slot} = read_{kind}(p{slot}, i)" for slot in range(3)),
        f"        write_{kind}(p3, i, fma(v0, v1, v2))",
    ]
    scope = dict(backend._namespace()) | {"fma": fma}
    exec("\n".join(lines), scope)
    return object_cache.Unit(*machine_code(scope[name], 3))


def run(code: object_cache.Unit, operands: tuple[Array, ...]) -> Array:
    out = np.empty_like(operands[0])
    table = np.array([x.ctypes.data for x in (*operands, out)], np.int64)
    builtins.callable_at(object_cache._load(code))(table.ctypes.data, 0, out.size)
    return out


def samples(dtype: np.dtype[Any]) -> tuple[Array, ...]:
    """Sums that cancel, ties, edges, and any bits at all."""
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    word = np.dtype(f"u{dtype.itemsize}")

    def whatever() -> Array:
        return rng.integers(0, 2 ** (8 * dtype.itemsize), COUNT, word, endpoint=False).view(dtype)

    near = [rng.uniform(1, 2, COUNT) * 2.0 ** rng.integers(-20, 20, COUNT) for _ in range(3)]
    a, b, c = (x.astype(dtype) for x in near)
    ulp = np.spacing(a * b)
    # Products of few bits with a summand far below: ties, and almost ties.
    few = [rng.integers(1, 2**info.nmant // 4, COUNT).astype(dtype) for _ in range(2)]
    tie = (0.5 * np.spacing(few[0])).astype(dtype) * rng.choice([-1, 1], COUNT).astype(dtype)
    pool = np.array(
        [0.0, 1.0, 3.0, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan, info.eps],
        dtype,
    )
    every = np.array(list(itertools.product(np.concatenate([pool, -pool]), repeat=3)), dtype).T
    sets = [
        (a, b, c),
        (a, b, -(a * b)),
        (a, b, -(a * b) + ulp * rng.integers(-3, 4, COUNT).astype(dtype)),
        (few[0], np.ones(COUNT, dtype), tie),
        (few[0], np.ones(COUNT, dtype) + info.eps, tie),
        (whatever(), whatever(), whatever()),
        (*((x * info.tiny**0.5).astype(dtype) for x in (a, b)), c * info.tiny),
        tuple(every),
    ]
    columns = zip(*sets, strict=True)
    return tuple(np.ascontiguousarray(np.concatenate(column)) for column in columns)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_emulated_bits_are_those_of_the_instruction(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.errstate(all="ignore"):
        operands = samples(np.dtype(np.float32 if kind == "f32" else np.float64))
    wanted = run(kernel(kind, "instruction"), operands)
    monkeypatch.setattr(multiply_add, "has_fma", lambda: False)
    found = run(kernel(kind, "emulated"), operands)
    word = np.dtype(f"u{wanted.dtype.itemsize}")
    apart = (found.view(word) != wanted.view(word)) & ~(np.isnan(found) & np.isnan(wanted))
    assert not apart.any(), [x[apart][:3] for x in (*operands, found, wanted)]


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_second_rounding_would_be_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiply_add, "has_fma", lambda: False)
    monkeypatch.setattr(multiply_add, "_odd", lambda builder, total, lost: total)
    with np.errstate(all="ignore"):
        operands = samples(np.dtype(np.float32 if kind == "f32" else np.float64))
    wrong = run(kernel(kind, "twice"), operands)
    monkeypatch.undo()
    assert (wrong != run(kernel(kind, "once"), operands)).sum() > 1000
