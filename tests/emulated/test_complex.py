"""Complex numbers as CUDA source on the emulator: the same bits as on the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import rules
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.emulated import campaign
from tests.support import complex_numbers, operations
from tests.support.complex_numbers import KINDS, assert_same
from tests.support.emulator.backend import NewDevice

REAL = [
    ELEMENT_TYPES[name] for name in ("pred", "s8", "u64", "f8e5m2", "bf16", "f16", "f32", "f64")
]


def run(new_device: NewDevice, *calls: Callable[[], None]) -> int:
    def every() -> None:
        for call in calls:
            call()

    def rehearse() -> None:
        # A rehearsal runs nothing, so its results are poison and only the kernels count.
        for call in calls:
            with contextlib.suppress(AssertionError):
                call()

    return campaign.run(new_device(), every, rehearse)


def arrays(function: Callable[..., Any], operands: tuple[Any, ...], device: str) -> Any:
    """A function of operands on a device; scalars are passed on as they are."""
    placed = [gb.array(x, device=device) if isinstance(x, np.ndarray) else x for x in operands]
    return function(*placed)


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.long)])
def test_operations_have_the_cpus_bits(part: int, new_device: NewDevice) -> None:
    """Bit for bit, so that the CPU's errors, which are measured, are CUDA's too."""

    def call(row: Any, kind: Any) -> Callable[[], None]:
        values = np.concatenate(
            [complex_numbers.special_values(kind), complex_numbers.samples(kind, 300, row.arity)]
        )
        operands: tuple[Any, ...] = (values,)
        if row.rule is rules.SELECT:
            operands = (np.arange(values.size) % 3 == 0, values, values[::-1].copy())
        elif row.arity == 2:
            rng = np.random.default_rng(3)
            operands = (rng.choice(values, 3000), rng.choice(values, 3000))

        def compare() -> None:
            function = getattr(gb, row.name)
            found, wanted = (arrays(function, operands, d).numpy() for d in ("cuda", "cpu"))
            assert_same(found, wanted, f"{row.name} on {kind}")

        return compare

    chosen = complex_numbers.rows()[part::2]
    kernels = run(new_device, *(call(row, kind) for row, kind in chosen))
    assert kernels == len(chosen) > 30


def test_conversions(new_device: NewDevice) -> None:
    pairs = [(a, b) for a in KINDS for b in (*REAL, *KINDS) if a is not b]
    pairs += [(b, a) for a in KINDS for b in REAL]
    calls = [
        lambda a=a, b=b: operations.check_conversion(a, b, "cuda")  # type: ignore[misc]
        for a, b in pairs
    ]
    assert run(new_device, *calls) == len(pairs)


@pytest.mark.long
def test_every_schedule(new_device: NewDevice) -> None:
    """FLAT, ROWS, GATHER and what else is chosen; padding; scalars of two words; fused code."""

    @gb.fuse
    def body(x, s, t):  # type: ignore[no-untyped-def]
        return (x * s - t) * 2.5j + np.complex64(1 - 2j) if x.dtype == "c8" else x * s - t

    def same(label: str, function: Callable[..., Any], *operands: Any) -> Callable[[], None]:
        def compare() -> None:
            found, wanted = (arrays(function, operands, d) for d in ("cuda", "cpu"))
            assert_same(found.numpy().reshape(-1), wanted.numpy().reshape(-1), label)
            if wanted.layout.padded_dimensions:
                assert found.buffer.tobytes() == wanted.buffer.tobytes(), label

        return compare

    calls = []
    layout = gb.Layout((0, 1), (66, 97), gb.PaddingValue.ONE)
    for kind in KINDS:
        x = complex_numbers.samples(kind, 64 * 96).reshape(64, 96)
        row, column = x[0].copy(), x[:, 0].copy()
        calls += [
            same("flat", gb.mul, x, x[::-1].copy()),
            same("row", lambda a, b: gb.div(a, b, broadcast_dimensions=(1,)), x, row),
            same("column", lambda a, b: gb.add(a, b, broadcast_dimensions=(0,)), x, column),
            same("transposed", lambda a: gb.add(a[:, :64], a[:, :64].T), x),
            same("short rows", lambda a, b: gb.sub(a, b), x[:, :3].copy(), x[:1, :3].copy()),
            same("steps", lambda a: gb.neg(a[::2, ::-3]), x),
            same("padded", lambda a: gb.mul(a, 2 - 1j, out_layout=layout), x),
            same("scalar", lambda a: gb.sub(1e3 + 2j, a), x),
            same("full", lambda a: gb.add(gb.full(a.xla_shape, 1 + 2j, device=a.device), a), x),
            same("fused", body, x, 3j, 1 - 1j),
        ]
    assert run(new_device, *calls) >= 18
