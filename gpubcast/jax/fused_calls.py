"""``gpubcast.jax.call``: a fused function inside of JAX's programs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, ShapeError, brief
from gpubcast.fusion.fused_function import Fused
from gpubcast.jax.primitives import NamedGraph, apply, element_type_of, shape_of
from gpubcast.runtime.foreign_libraries import is_foreign, refusal
from gpubcast.runtime.operands import is_masked, is_scalar, scalar_view

_ARRAYS = (jax.Array, np.ndarray, np.generic)


def call(fused: Fused[..., Any], *args: Any, **keywords: Any) -> Any:
    """Run a fused function on JAX arrays, inside ``jax.jit`` and outside of it.

    Its kernels run as a custom call of XLA, on a GPU in XLA's stream, with the same bits as
    ``fused(...)``. ``jax.vmap`` adds an axis, in the same kernel; ``jax.grad``, ``jax.vjp`` and
    ``jax.jvp`` differentiate it, to any order, by graphs that are made from its own.

    Args:
        fused: made by ``gb.fuse``.
        args, keywords: its arguments: JAX and NumPy arrays, Python scalars, static values.

    Returns:
        A JAX array; a tuple for several results.

    Raises:
        Error: a rule refuses an operation; the text names its line.
        ElementTypeError: A3, an argument is no JAX array; J1, its type is stored otherwise; G1, an
            operation that is differentiated has no derivative.

    Example:
        >>> import gpubcast as gb, gpubcast.jax, jax, numpy as np
        >>> @gb.fuse("i, j -> i j")
        ... def outer(x, y):
        ...     return x * y
        >>> f = jax.jit(lambda x, y: gpubcast.jax.call(outer, x, y))
        >>> f(np.float32([1, 2]), np.float32([3]))
        Array([[3.],
               [6.]], dtype=float32)
    """
    if not isinstance(fused, Fused):
        raise ElementTypeError(
            f"gpubcast.jax.call takes a function made by gb.fuse, not {brief(fused)}",
            rule="F5",
            kind="gpubcast:arguments",
        )
    given, shapes = list(fused._arguments.ordered(args, keywords)), []
    for i, x in enumerate(given):
        if fused._arguments.is_static(i, x) or is_scalar(x):
            shapes.append(x)
        else:
            given[i] = _jax_array(fused, i, x)
            shapes.append(shape_of(given[i]))
    taken, named = fused._arguments.apart(shapes)
    plan = fused.plan(*taken, **named)
    passed = [x for i, x in enumerate(given) if not fused._arguments.is_static(i, x)]
    operands = []
    for k, argument in enumerate(plan.arguments):
        x, element_type = passed[argument], plan.shapes[k].element_type
        if k in plan.scalars:
            raw = int(scalar_view(x, element_type).slot).to_bytes(element_type.itemsize, "little")
            x = jnp.asarray(np.frombuffer(raw, element_type.dtype)[0])
        operands.append(x)
    made = apply(NamedGraph(plan.expression, plan.name), operands)
    return tuple(made) if plan.expression.packed else made[0]


def _jax_array(fused: Fused[..., Any], index: int, x: Any) -> Any:
    if is_foreign(x):
        raise refusal(x)
    # A variable of a JAX library (flax.nnx.Param) says by __jax_array__ what array it is.
    taken = isinstance(x, _ARRAYS) or hasattr(type(x), "__jax_array__")
    if not taken or isinstance(x, Array) or is_masked(x):
        raise ElementTypeError(
            f"{fused._arguments.named(index)} is {brief(x)}; gpubcast.jax.call takes JAX and NumPy "
            "arrays",
            rule="A3",
            kind="gpubcast:not an array",
        )
    element_type_of(x)
    if not all(type(size) is int for size in x.shape):
        raise ShapeError(
            f"{fused._arguments.named(index)} has the sizes {tuple(x.shape)}: the kernels of "
            "gpubcast.jax.call are made for sizes that are numbers; export a program for each",
            rule="S1",
            kind="gpubcast:not integers",
        )
    return jnp.asarray(x)
