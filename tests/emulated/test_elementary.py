"""The CUDA text of every elementary function gives the bits of its CPU form."""

from __future__ import annotations

import ctypes
import shutil
from typing import Any

import numpy as np
import pytest

from gpubcast.codegen.cuda.elementary import file_name, value_type
from gpubcast.hlo.elementary.formula import FORMULAS, Formula
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import accuracy
from tests.support.emulator.backend import HEADERS, shared_library

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulator needs g++")

Array = np.ndarray[Any, Any]
COUNT = 100_000
CASES = [formula for formula in FORMULAS.values() if formula.name in OPS]


def entry(formula: Formula) -> str:
    return f"{formula.name}_{element_type(formula)}"


def element_type(formula: Formula) -> ElementType:
    bits = formula.machine_type.bits
    return ELEMENT_TYPES[f"c{2 * bits}" if formula.complex else f"f{bits}"]


def loop(formula: Formula) -> str:
    """A function that applies the CUDA function to arrays."""
    names = "xyz"[: formula.arity]
    given = ", ".join(f"const {value_type(formula)}* {name}" for name in names)
    applied = f"{formula.name}({', '.join(f'{name}[i]' for name in names)})"
    return (
        f'extern "C" void loop_{entry(formula)}'
        f"(long n, {value_type(formula, result=True)}* out, {given}) {{\n"
        f"  for (long i = 0; i < n; ++i) out[i] = {applied};\n}}"
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("elementary")
    modules = sorted({formula.module for formula in FORMULAS.values()})
    lines = ['#include "prelude.cuh"', *(f'#include "{file_name(m)}"' for m in modules)]
    text = "\n".join([*lines, "namespace gb {", *map(loop, CASES), "}"])
    return ctypes.CDLL(str(shared_library(text, HEADERS, folder)))


def arguments(formula: Formula, count: int = COUNT) -> tuple[Array, ...]:
    """Random bits, values at the edges in all pairs, and where the function lives."""
    rng = np.random.default_rng(3)
    dtype = ELEMENT_TYPES[formula.machine_type.value].dtype
    parts = formula.arity * (2 if formula.complex else 1)
    bits = [accuracy.random_bits(rng, dtype, count) for _ in range(parts)]
    if not formula.complex:
        kind = ELEMENT_TYPES[formula.machine_type.value]
        lived = accuracy.samples(formula.name, kind, count // 2, seed=3)
        return tuple(map(np.concatenate, zip(bits, lived, strict=True)))
    edges = rng.choice(accuracy.special(dtype), (parts, count))
    near = rng.uniform(-4, 4, (parts, count)).astype(dtype)
    reals = [np.concatenate(part) for part in zip(bits, edges, near, strict=True)]
    joined = [np.stack(reals[i : i + 2], axis=-1) for i in range(0, parts, 2)]
    return tuple(np.ascontiguousarray(x).view(element_type(formula).dtype)[:, 0] for x in joined)


def differs(a: Array, b: Array) -> Array:
    """Which results have other bits, in a part if they are complex; NaN equals NaN."""
    if a.dtype.kind == "c":
        return differs(a.real.copy(), b.real.copy()) | differs(a.imag.copy(), b.imag.copy())
    words = (x.view(f"u{x.itemsize}") for x in (a, b))
    return np.not_equal(*words) & ~(np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("formula", CASES, ids=entry)
def test_same_bits_on_both_devices(formula: Formula, library: ctypes.CDLL) -> None:
    operands = arguments(formula)
    cpu = np.ascontiguousarray(accuracy.through_kernel(formula.name, *operands))
    cuda = np.empty_like(cpu)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (cuda, *operands)]
    getattr(library, f"loop_{entry(formula)}")(ctypes.c_long(cpu.size), *pointers)
    bad = np.flatnonzero(differs(cpu, cuda))
    at = bad[:1]
    assert not bad.size, (
        f"{bad.size} results differ, first {formula.name}"
        f"({', '.join(repr(x[at]) for x in operands)}): CPU {cpu[at]}, CUDA {cuda[at]}"
    )
