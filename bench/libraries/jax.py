"""How users of JAX write the cases: compiled as a whole.

JAX has no strides, so it gets compact copies in the same axis order, transposes inside ``jit`` and
allocates its result.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

import numpy as np

from ..cases import Sized, check
from ..cases.formula import REDUCTIONS
from ..timing import Call
from .base import Library, Ready, Views


class Jax(Library):
    """``jax.jit``."""

    name = "jax.jit"
    module = "jax"
    devices = ("cpu", "cuda")
    entries = ("call",)
    compiles = recompiles = True
    effort = 1
    on_host = True

    def set_up(self, kind: str, threads: int) -> None:
        # JAX would take most of a device's memory for itself; on a CPU it uses every thread.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        jax = self.library
        jax.config.update("jax_enable_x64", True)
        if kind == "cpu":
            jax.config.update("jax_platforms", "cpu")
        if jax.default_backend() != {"cpu": "cpu", "cuda": "gpu"}[kind]:
            raise RuntimeError(f"this JAX computes on {jax.default_backend()}")

    def ready(self, sized: Sized) -> Ready:
        jax = self.library
        jnp: Any = importlib.import_module("jax.numpy")
        formula, dimensions = sized.case.computes, sized.output.dimensions
        names = {name: getattr(jnp, name) for name in ("where", "tanh", "exp", "log", "sqrt")}
        names |= {name: sized.by_label(getattr(jnp, name), keepdims=True) for name in REDUCTIONS}
        names["sum"] = sized.by_label(jnp.sum, keepdims=True, **check.sum_type(sized))
        function = formula.function(names)
        orders = [tuple(reversed(shape.layout.minor_to_major)) for shape in sized.shapes]
        logical = [tuple(order.index(d) for d in range(len(order))) for order in orders]

        def compute(*compact: Any) -> Any:
            turned = (jnp.transpose(x, axes) for x, axes in zip(compact, logical, strict=True))
            aligned = sized.aligned(tuple(turned))
            found = function(*aligned)
            return jnp.broadcast_to(sized.closed(found), dimensions)

        def held(x: Any, order: tuple[int, ...]) -> Any:
            if isinstance(x, np.ndarray):
                # What begins at a cache line is not copied.
                return jax.device_put(np.asarray(x.transpose(order), order="C"))
            return _from_cupy(jax, x.transpose(order).copy(order="C"))

        compiled = jax.jit(compute)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            compact = [held(x, order) for x, order in zip(views, orders, strict=True)]
            call = functools.partial(compiled, *compact)
            return {"call": call if not isinstance(out, np.ndarray) else _waited(call)}

        return calls

    def array(self, result: Any) -> Any:
        if result.device.platform == "cpu":
            return np.asarray(result)
        cupy: Any = importlib.import_module("cupy")
        if result.dtype.name != "bfloat16":
            return cupy.from_dlpack(result)
        raw = self.library.lax.bitcast_convert_type(result, np.int16)
        return cupy.from_dlpack(raw).view(result.dtype)

    def wait(self, result: Any) -> Any:
        return result.block_until_ready()


def _from_cupy(jax: Any, packed: Any) -> Any:
    if packed.dtype.name != "bfloat16":
        return jax.dlpack.from_dlpack(packed)
    raw = jax.dlpack.from_dlpack(packed.view(np.int16))
    return jax.lax.bitcast_convert_type(raw, packed.dtype)


def _waited(call: Call) -> Call:
    # On a CPU, calls that are not waited for one by one would run beside each other.
    return lambda: call().block_until_ready()
