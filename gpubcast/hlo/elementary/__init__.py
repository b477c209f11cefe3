"""Elementary functions, each written once for both devices.

A formula is a Python function over abstract values (``values.FormulaValue``). Calling it writes
down what it computes; ``codegen/cuda/elementary.py`` writes that as CUDA
(``cuda_kernels/elementary``, made by ``make generate``), ``backends/cpu/intrinsics/elementary.py``
as LLVM instructions. Both run the same IEEE 754 operations in the same order, so both devices give
the same bits, and a bound that was measured on one holds on the other.

How to write one::

    @formula("exp", F32)
    def exp(x: FormulaValue) -> FormulaValue:
        n = rint(x * 1.442695)             # Python numbers take the value's machine type
        r = fma(n, -0.693359375, x)        # fused only where fma says so
        y = polynomial(r, COEFFICIENTS)    # Horner, lowest power first
        return select(x > 88.7, inf, y)    # no branches: both sides are computed

* Straight-line code only, so that the CPU's loops become vector loops: ``select`` instead of
  ``if``, no loop that depends on a value (loops of Python over constants are unrolled).
* Values are F32, F64, U32, U64 or BOOL; unsigned integers wrap. Signed arithmetic is spelt out:
  ``ashr``, ``to_float`` (reads its operand as signed), ``to_integer``.
* ``to_integer`` out of range gives any integer, and so does a shift by the width or more: mask
  shift amounts that are not constant, and never select such a value.
* ``rarely`` is the one branch: a helper for a few operands (huge angles, denormal numbers).
* ``step`` calls what some processors have an instruction for (``native``), ``lookup`` reads a
  short table, which a vector unit permutes; ``table`` reads a long one from memory.
* A formula called inside another one is a call in CUDA; plain Python functions are inlined.
* A complex formula takes and returns pairs: ``@formula("exp", F32, complex=True)``.
* f16 and bf16 round the result of the F32 formula, or of one of their own (``half_exponential``),
  which computes in F32, too.
"""

from __future__ import annotations

from gpubcast.hlo.elementary import (
    complex_arithmetic,
    complex_functions,
    complex_inverses,
    exponential,
    gamma,
    half_exponential,
    half_logarithm,
    hyperbolic,
    inverse_hyperbolic,
    logarithm,
    logarithm_bases,
    native,
    power,
    special,
    trigonometric,
)
from gpubcast.hlo.elementary.formula import FORMULAS, Formula, formula_code

__all__ = [
    "FORMULAS",
    "Formula",
    "complex_arithmetic",
    "complex_functions",
    "complex_inverses",
    "exponential",
    "formula_code",
    "gamma",
    "half_exponential",
    "half_logarithm",
    "hyperbolic",
    "inverse_hyperbolic",
    "logarithm",
    "logarithm_bases",
    "native",
    "power",
    "special",
    "trigonometric",
]
