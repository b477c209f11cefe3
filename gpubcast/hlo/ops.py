"""The operation table: one row per operation, and nothing about an operation anywhere else.

A row (``rows/``) says what an operation accepts and returns, its HLO opcode, its CUDA and CPU
expressions and a scalar reference. Public functions, documentation, tests, CUDA code, CPU code and
benchmarks are made from the rows.

Expressions use ``{0}``, ``{1}``, ... for the operands, which have the compute type of their element
type, ``{bits}`` and ``{type}`` for the width and the name of that element type, and a keyword's
name for its value. The result is converted to the compute type of the row's result type; f8, f16
and bf16 results are rounded after each operation, s4 and u4 results wrapped. CUDA expressions may
call the prelude (``cuda_kernels/scalar.cuh``), CPU expressions
``gpubcast/backends/cpu/intrinsics/scalar.py``. An expression is one text for all types or one text
per category of the first operand.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from gpubcast import locks
from gpubcast.errors import Error, brief, plain_text
from gpubcast.hlo import foreign_names
from gpubcast.hlo.op import Op
from gpubcast.hlo.rows import (
    arithmetic,
    bits,
    comparison,
    complex_numbers,
    exponential,
    floating_point,
    movement,
    reductions,
    trigonometric,
)

OPS: dict[str, Op] = {
    row.name: row
    for row in chain(
        arithmetic.ROWS,
        exponential.ROWS,
        trigonometric.ROWS,
        complex_numbers.ROWS,
        floating_point.ROWS,
        bits.ROWS,
        comparison.ROWS,
        movement.ROWS,
        reductions.ROWS,
    )
}
# The functions of ``gpubcast.nn``, and what others call them.
NN = (
    *("gelu", "layer_norm", "log_softmax", "logsumexp", "mean", "relu", "rms_norm", "sigmoid"),
    *("silu", "softmax", "softplus", "standardize", "var"),
)
NN_ALIASES = {
    "average": "mean",
    "layernorm": "layer_norm",
    "rmsnorm": "rms_norm",
    "swish": "silu",
    "variance": "var",
}
# How near a near miss is: nearer than ``log2`` and ``exp2`` are.
_NEAR = 0.7
ALIASES: dict[str, str] = {alias: row.name for row in OPS.values() for alias in row.aliases}


def op(name: str, *, internal: bool = False) -> Op:
    """The row of an operation that users may name, or with ``internal`` of any.

    Raises:
        Error: no such operation; the text names ours for a NumPy or HLO name, or the nearest.
    """
    text = plain_text(name) or ""
    row = OPS.get(text)
    if row is not None and (row.public or internal):
        return row
    hint = suggestion(text) if text else ""
    raise Error(f"no operation {brief(name)}{hint}", rule="T0", kind="gpubcast:unknown operation")


def counterpart(name: str) -> str:
    """What gpubcast calls a foreign name, below the package; empty where nothing is like it."""
    nn = NN_ALIASES.get(name, name)
    return ALIASES.get(name) or (f"gb.nn.{nn}" if nn in NN else "")


def reduction(name: str) -> str:
    """What gpubcast calls a reduction that NumPy has by this name; empty where it is none."""
    ours = counterpart(name) or name
    row = OPS.get(ours)
    if row is None:
        return ours if ours.startswith("gb.nn.") else ""
    return row.reduction or (row.name if row.rule.reduces is not None else "")


def of_method(name: str) -> str:
    """What an array is told that has no such method; empty where gpubcast has nothing like it."""
    row, ours = OPS.get(name), reduction(name) or counterpart(name)
    if row is not None and row.public and ours in ("", name):
        return f"; call gb.{name}(x)"
    return called(name, ours) if ours else foreign_names.answer(name)


def called(name: str, ours: str) -> str:
    """What is said of a foreign name that is one of ours."""
    return f"; gpubcast calls it {ours!r}{foreign_names.NOTES.get(name, '')}"


def suggestion(name: str) -> str:
    """``"; gpubcast calls it 'sub'"`` for a foreign name, what is written for one, or a near miss;
    else an empty text. A name that NumPy has is no slip of the pen."""
    ours = counterpart(name)
    if ours:
        return called(name, ours)
    answer = foreign_names.answer(name)
    if answer or name in vars(np):
        return answer
    public = [row.name for row in OPS.values() if row.public and row.name != name]
    with locks.compiling():
        from difflib import get_close_matches

    near = get_close_matches(name, public, n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]!r}?" if near else ""
