"""Objects of other libraries that hold numbers and are no operands, and what to pass instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpubcast.errors import ElementTypeError

# Their arrays carry names, indices or tasks, which a conversion would lose, or compute, silently.
_INSTEAD = {
    "dask": "import gpubcast.dask, and operations and fused functions take it, lazily; elsewhere "
    "nothing is computed silently: pass x.compute()",
    "dask_array": "import gpubcast.dask, and operations and fused functions take it, lazily; "
    "elsewhere nothing is computed silently: pass x.compute()",
    "pandas": "its index and its missing values would be lost: pass x.to_numpy()",
    "polars": "its missing values would be lost: pass x.to_numpy()",
    "xarray": "its names and coordinates would be lost: call gpubcast.xarray.apply(f, x), which "
    "goes by the names, or pass x.data",
}


def library(x: Any) -> str:
    """The library that an object's type is of."""
    return (getattr(type(x), "__module__", None) or "").partition(".")[0]


def is_foreign(x: Any) -> bool:
    """Whether an object is of a library whose arrays are more than numbers."""
    return library(x) in _INSTEAD and hasattr(type(x), "__array__")


def refusal(x: Any) -> ElementTypeError:
    """The refusal of such an object."""
    name = library(x)
    return ElementTypeError(
        f"{type(x).__name__} of {name} is no operand: {_INSTEAD[name]}",
        rule="A3",
        kind="gpubcast:foreign kind",
    )


def is_tracer(x: Any) -> bool:
    """Whether an object stands for an array that JAX has yet to compute."""
    return library(x) == "jax" and type(x).__name__.endswith("Tracer")


def buffer_of(x: Any) -> memoryview | None:
    """The memory of an object that exports a buffer of numbers; None where it exports none. Bytes
    are text as often as numbers: what they are, ``memoryview(x)`` says."""
    if isinstance(x, (bytes, str, type)):
        return None
    try:
        return memoryview(x)
    except Exception:  # a TypeError, or whatever a foreign object raises
        return None


def holds_elements(x: Any) -> bool:
    """Whether an object is like an array, so that a comparison with it is no plain False."""
    if isinstance(x, (str, type, Mapping)):
        return False
    cls = type(x)
    return hasattr(cls, "__array__") or all(hasattr(cls, f"__{n}__") for n in ("len", "getitem"))
