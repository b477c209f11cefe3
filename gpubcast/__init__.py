"""gpubcast: elementwise operations with XLA's broadcasting semantics, on NVIDIA GPUs and CPUs.

>>> import gpubcast as gb, numpy as np
>>> gb.add(np.ones((2, 3), "f4"), np.arange(3, dtype="f4"), broadcast_dimensions=(1,))
array([[1., 2., 3.],
       [1., 2., 3.]], dtype=float32)
"""

from __future__ import annotations

from typing import NoReturn

from gpubcast.array import Array, array, empty, from_dlpack, full
from gpubcast.bound import BoundCall, Plan, plan
from gpubcast.element_types import ElementType, element_type
from gpubcast.errors import (
    CompileError,
    DeviceError,
    ElementTypeError,
    Error,
    LayoutError,
    ShapeError,
    UnknownNameError,
)
from gpubcast.functions import *
from gpubcast.functions import __all__ as _functions
from gpubcast.inference import infer_shape
from gpubcast.layout import Layout, PaddingValue
from gpubcast.ops import suggestion as _suggestion
from gpubcast.shape import Shape

__version__ = "0.1.0"

__all__ = [
    "Array",
    "BoundCall",
    "CompileError",
    "DeviceError",
    "ElementType",
    "ElementTypeError",
    "Error",
    "Layout",
    "LayoutError",
    "PaddingValue",
    "Plan",
    "Shape",
    "ShapeError",
    "UnknownNameError",
    "array",
    "element_type",
    "empty",
    "from_dlpack",
    "full",
    "infer_shape",
    "plan",
    *_functions,
]


def __getattr__(name: str) -> NoReturn:
    raise UnknownNameError(f"gpubcast has no {name!r}{_suggestion(name)}")
