"""``gb.from_jax``: a JAX function, lowered to StableHLO and run as gpubcast's kernels."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import ShapeDtypeStruct

from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, Error, ShapeError, brief, plain_text
from gpubcast.jax.primitives import element_type_of
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.shape import Shape, as_shape
from gpubcast.stablehlo.function import StablehloFunction, from_stablehlo

_SYMBOLIC = re.compile(r"(\w+)\[([^\]]*[A-Za-z_][^\]]*)\]")


def from_jax(function: Callable[..., Any], *shapes: Any) -> StablehloFunction:
    """A JAX function, lowered for some shapes and run as gpubcast's kernels.

    Args:
        function: what ``jax.jit`` takes, of arrays alone.
        shapes: one per argument: a ``gb.Shape`` or its text, a ``jax.ShapeDtypeStruct``, or an
            array. In a text a name stands for a size (``"f32[n,32]"``): then the function serves
            every size, and its kernels are compiled once.

    Returns:
        A function of arrays; several results, of whatever structure, are a tuple in the order of
        ``jax.tree.leaves``.

    Raises:
        Error: H1 to H9, what the function is lowered to is outside of what gpubcast runs.

    Example:
        >>> import gpubcast as gb, jax, numpy as np
        >>> f = gb.from_jax(jax.nn.softmax, "f32[n,3]")
        >>> f(np.zeros((2, 3), "f4"))
        array([[0.33333334, 0.33333334, 0.33333334],
               [0.33333334, 0.33333334, 0.33333334]], dtype=float32)
    """
    if not callable(function):
        raise Error(f"from_jax takes a function of arrays, not {brief(function)}", rule="H1")
    # An argument that is not used is an operand all the same.
    kept = functools.partial(jax.jit, keep_unused=True)
    matched = [_SYMBOLIC.fullmatch(plain_text(one) or "") for one in shapes]
    if any(matched):
        scope = jax.export.SymbolicScope()
        structs = [
            _struct(one) if found is None else _symbolic(found, scope)
            for one, found in zip(shapes, matched, strict=True)
        ]
        with jax.enable_x64(_is_wide(structs)):
            return from_stablehlo(jax.export.export(kept(function), platforms=("cpu",))(*structs))
    structs = [_struct(one) for one in shapes]
    with jax.enable_x64(_is_wide(structs)):
        return from_stablehlo(kept(function).lower(*structs))


def _symbolic(text: re.Match[str], scope: Any) -> Any:
    dtype = element_type(text[1]).dtype
    try:
        return ShapeDtypeStruct(jax.export.symbolic_shape(text[2], scope=scope), dtype)
    except ValueError as error:
        raise ShapeError(
            f"{text[0]}: JAX reads no sizes: {error}", rule="S8", kind="gpubcast:shape text"
        ) from None


def _is_wide(structs: list[Any]) -> bool:
    """Whether JAX has to have its 64-bit types on."""
    wide = any(np.dtype(one.dtype).itemsize == 8 and one.dtype != np.complex64 for one in structs)
    return bool(jax.config.jax_enable_x64) or wide or any(one.dtype == "c16" for one in structs)


def _struct(x: Any) -> Any:
    text = plain_text(x)
    if text is not None or isinstance(x, Shape):
        shape = as_shape(x)
    elif isinstance(x, Array):
        shape = x.xla_shape
    elif hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapeDtypeStruct(tuple(x.shape), element_type_of(x).dtype)
    else:
        raise ElementTypeError(
            f"from_jax takes shapes and arrays, not {type(x).__name__}; close over other values",
            rule="A3",
            kind="gpubcast:not an array",
        )
    return ShapeDtypeStruct(shape.dimensions, shape.element_type.dtype)
