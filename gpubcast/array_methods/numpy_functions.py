"""What NumPy's functions and ufuncs are told that meet an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpubcast.errors import ElementTypeError, brief
from gpubcast.hlo import ops

# The ufuncs of Python's operators, as ``hlo.operators`` spells these.
OPERATORS: Mapping[np.ufunc, str] = {
    np.absolute: "abs",
    np.add: "add",
    np.bitwise_and: "bitwise_and",
    np.bitwise_or: "bitwise_or",
    np.bitwise_xor: "bitwise_xor",
    np.divide: "/",
    np.equal: "eq",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.invert: "bitwise_not",
    np.left_shift: "shift_left",
    np.less: "lt",
    np.less_equal: "le",
    np.multiply: "mul",
    np.negative: "neg",
    np.not_equal: "ne",
    np.power: "pow",
    np.remainder: "%",
    np.right_shift: ">>",
    np.subtract: "sub",
}
# Functions of which no result is an array: they compare, describe, print or fill NumPy's own.
_LOOK = frozenset(
    (
        *("allclose", "array2string", "array_equal", "array_equiv", "array_repr", "array_str"),
        *("can_cast", "common_type", "copyto", "iscomplexobj", "isrealobj", "may_share_memory"),
        *("min_scalar_type", "ndim", "result_type", "save", "savetxt", "savez"),
        *("savez_compressed", "shape", "shares_memory", "size"),
    )
)


def only_looks(function: Callable[..., Any]) -> bool:
    """Whether a function of NumPy gives no array for the ones that it is given."""
    module = getattr(function, "__module__", "") or ""
    return getattr(function, "__name__", "") in _LOOK and module.partition(".")[0] == "numpy"


def ufunc_refusal(ufunc: Any, method: str, keywords: Mapping[str, Any]) -> ElementTypeError:
    """The refusal of a ufunc, or of a way to call one."""
    name = getattr(ufunc, "__name__", "ufunc")
    if method != "__call__":
        text = f"numpy.{name}.{method} does not take a gpubcast Array"
        ours = {"add": "reduce_sum", "multiply": "reduce_prod", "maximum": "reduce_max"} | {
            "minimum": "reduce_min", "logical_and": "reduce_and", "logical_or": "reduce_or"
        }  # fmt: skip
        if method == "reduce" and name in ours:
            text += f"; gpubcast calls it {ours[name]!r}"
    elif keywords:
        ours_here = name if name in ops.OPS else ops.counterpart(name)
        call = f"gb.{ours_here}(x, y, out=...)" if ours_here in ops.OPS else "gpubcast's functions"
        named = ", ".join(f"{key}={brief(value)}" for key, value in keywords.items())
        text = f"numpy.{name} with {named} does not take a gpubcast Array; call {call}"
    else:
        text = f"numpy.{name} does not take a gpubcast Array{_instead(name)}"
    return ElementTypeError(text, rule="A3", kind="gpubcast:foreign ufunc")


def function_refusal(function: Callable[..., Any]) -> ElementTypeError:
    """The refusal of a function of NumPy, or of a library that offers it for others."""
    name = getattr(function, "__name__", "function")
    ours = ops.reduction(name)
    if ours:
        return ElementTypeError(
            f"numpy.{name} does not take a gpubcast Array{ops.called(name, ours)}",
            rule="A3",
            kind="gpubcast:foreign reduction",
        )
    return ElementTypeError(
        f"numpy.{name} does not take a gpubcast Array{_instead(name)}; hand NumPy, and libraries "
        "that call it as xarray and Dask do, a.view() or a.numpy()",
        rule="A3",
        kind="gpubcast:foreign function",
    )


def _instead(name: str) -> str:
    row = ops.OPS.get(name)
    if row is not None and row.public:
        return f"; call gb.{name}(x)" if row.arity == 1 else f"; call gb.{name}"
    return ops.suggestion(name)
