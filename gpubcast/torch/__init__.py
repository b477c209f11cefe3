"""PyTorch: tensors as operands and results of every gpubcast function.

Importing this module has tensors recognised; see ``docs/torch.md``.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch._dynamo import trace_rules

from gpubcast.runtime import array_libraries
from gpubcast.runtime.array_libraries import ArrayLibrary
from gpubcast.torch import tensors
from gpubcast.torch.operator import gradient_plan, op

__all__ = ["asarray", "gradient_plan", "op"]


def asarray(x: Any) -> Tensor:
    """An array as a tensor over the same memory.

    Args:
        x: a gpubcast, NumPy or CuPy array; a tensor is returned as it is.

    Raises:
        Error: T1, PyTorch lacks the element type; A2, the memory is read-only; A9, no tensor has
            such strides.
    """
    return x if isinstance(x, Tensor) else tensors.tensor_over(x)


array_libraries.join(ArrayLibrary(Tensor, tensors.strided, tensors.call, tensors.before))
for _package in ("gpubcast", "numba", "llvmlite"):
    # torch.compile breaks its graph at a call into these, and compiles none of their frames.
    trace_rules.add(_package)
