"""gpubcast: elementwise operations with XLA's broadcasting semantics, on NVIDIA GPUs and CPUs.

>>> import gpubcast as gb, numpy as np
>>> gb.add(np.ones((2, 3), "f4"), np.arange(3, dtype="f4"), broadcast_dimensions=(1,))
array([[1., 2., 3.],
       [1., 2., 3.]], dtype=float32)
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpubcast import pickles

# What is raised where nothing else can be loaded any more, and what callers catch then.
from gpubcast.errors import (
    CacheWarning,
    CompileError,
    DeviceError,
    ElementTypeError,
    Error,
    ExportError,
    IndexingError,
    LayoutError,
    OutOfMemoryError,
    ShapeError,
    SplitWarning,
    UnknownNameError,
)

# Machine code reads the fields of CPython's objects, which lie otherwise in a build without the
# global lock, and what is shared relies on the lock. CPython says "t" in the names of such builds.
if "t" in getattr(sys, "abiflags", ""):
    raise ImportError(
        "gpubcast does not run on a free-threaded build of CPython: use one with the global"
        " interpreter lock (docs/env.md says why)"
    )

if TYPE_CHECKING:
    from gpubcast import nn as nn
    from gpubcast.arrays import Array, array, empty, from_dlpack, full, trim_pool
    from gpubcast.functions import *
    from gpubcast.fusion.application import apply
    from gpubcast.fusion.decorator import fuse
    from gpubcast.fusion.fused_function import Fused
    from gpubcast.hlo.inference import infer_shape
    from gpubcast.jax.conversion import from_jax
    from gpubcast.json_text import from_json, to_json
    from gpubcast.plans import BoundCall, Plan, plan
    from gpubcast.shapes.element_types import ElementType, element_type
    from gpubcast.shapes.layout import Layout, PaddingValue
    from gpubcast.shapes.shape import Shape
    from gpubcast.stablehlo.function import StablehloFunction, from_stablehlo

__version__ = "0.2.0"

__all__ = [
    "Array",
    "BoundCall",
    "CacheWarning",
    "CompileError",
    "DeviceError",
    "ElementType",
    "ElementTypeError",
    "Error",
    "ExportError",
    "Fused",
    "IndexingError",
    "Layout",
    "LayoutError",
    "OutOfMemoryError",
    "PaddingValue",
    "Plan",
    "Shape",
    "ShapeError",
    "SplitWarning",
    "StablehloFunction",
    "UnknownNameError",
    "apply",
    "array",
    "element_type",
    "empty",
    "from_dlpack",
    "from_jax",
    "from_json",
    "from_stablehlo",
    "full",
    "fuse",
    "infer_shape",
    "plan",
    "to_json",
    "trim_pool",
    # Operations, written by make generate:
    "abs",
    "acos",
    "acosh",
    "add",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "broadcasted_iota",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "compare",
    "complex",
    "conj",
    "convert_element_type",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "get_dimension_size",
    "gt",
    "hypot",
    "imag",
    "integer_pow",
    "iota",
    "is_finite",
    "isinf",
    "isnan",
    "le",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "population_count",
    "pow",
    "real",
    "reciprocal",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_precision",
    "reduce_prod",
    "reduce_sum",
    "reduce_xor",
    "rem",
    "round",
    "rsqrt",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "trunc",
]

# A name loads its module when it is first used, so that importing gpubcast costs next to nothing.
_HOMES = {
    "arrays": ("Array", "array", "empty", "from_dlpack", "full", "trim_pool"),
    "errors": (
        *(
            "CacheWarning",
            "CompileError",
            "DeviceError",
            "ElementTypeError",
            "Error",
            "ExportError",
            "IndexingError",
            "LayoutError",
        ),
        *("OutOfMemoryError", "ShapeError", "SplitWarning", "UnknownNameError"),
    ),
    "fusion.decorator": ("fuse",),
    "fusion.fused_function": ("Fused",),
    "fusion.application": ("apply",),
    "hlo.inference": ("infer_shape",),
    "jax.conversion": ("from_jax",),
    "json_text": ("from_json", "to_json"),
    "plans": ("BoundCall", "Plan", "plan"),
    "shapes.element_types": ("ElementType", "element_type"),
    "shapes.layout": ("Layout", "PaddingValue"),
    "shapes.shape": ("Shape",),
    "stablehlo.function": ("StablehloFunction", "from_stablehlo"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def _before_fork() -> None:
    # A child inherits the locks that other threads hold, those of imports too, but not the threads
    # that would release them: what is being loaded is loaded to its end first.
    is_held = _loaded("gpubcast.locks").before_fork()
    if is_held and "gpubcast.functions" in sys.modules:
        _loaded("gpubcast.functions")
        _loaded("gpubcast.runtime.state").before_fork()
        hold = getattr(
            sys.modules.get("gpubcast.backends.cpu.jit.object_cache"), "before_fork", None
        )
        if hold is not None:
            hold()


def _after_fork(*, child: bool) -> None:
    # Nothing is imported here: a child must not wait for a lock that nobody releases.
    release = getattr(sys.modules.get("gpubcast.backends.cpu.jit.object_cache"), "after_fork", None)
    if release is not None:
        release(child=child)
    release = getattr(sys.modules.get("gpubcast.runtime.state"), "after_fork", None)
    if release is not None:
        release(child=child)
    sys.modules["gpubcast.locks"].after_fork(child=child)


os.register_at_fork(
    before=_before_fork,
    after_in_parent=lambda: _after_fork(child=False),
    after_in_child=lambda: _after_fork(child=True),
)

pickles.install()


# A type checker that saw it would take every name for one of the package's.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        home = _HOME_OF.get(name) or ("functions" if name in __all__ else None)
        if home is None:
            return globals().setdefault(name, _module(name))
        # With one of its names, a module has loaded them all.
        names = _HOMES.get(home) or [one for one in __all__ if one not in _HOME_OF]
        try:
            with _loaded("gpubcast.locks").compiling():
                module = _loaded(f"gpubcast.{home}")
            globals().update({one: getattr(module, one) for one in names})
        except (AttributeError, ImportError, MemoryError, OSError) as error:
            raise _unloaded(home, error) from error
        return globals()[name]


def _loaded(path: str) -> ModuleType:
    """The module, once it is loaded.

    CPython 3.11 loses count of an import's lock, with a KeyError, where a finalizer comes while it
    takes the lock and imports something itself. The lock is then this thread's, which takes it
    again and loads the module, so that no other thread waits for it.
    """
    try:
        return import_module(path)
    except KeyError:
        return import_module(path)


def _unloaded(home: str, error: Exception) -> Exception:
    """The refusal of a name whose module cannot be loaded now: there are no descriptors left, or a
    signal handler or a finalizer came while this very thread was loading it. The next time may
    have it."""
    if isinstance(error, Error):
        return error
    refusal = OutOfMemoryError if isinstance(error, MemoryError) else Error
    return refusal(f"the module gpubcast.{home} cannot be loaded now: {error}")


def _module(name: str) -> Any:
    """A module of the package.

    Raises:
        UnknownNameError: gpubcast has no such name; the text names ours for a foreign one.
    """
    path = f"gpubcast.{name}"
    try:
        return _loaded(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
    from gpubcast.errors import quoted
    from gpubcast.hlo.ops import suggestion

    raise UnknownNameError(f"gpubcast has no {quoted(name)}{suggestion(name)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
