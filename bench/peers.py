"""How users of gpubcast and of other libraries write the cases: the contenders of a benchmark.

Each library is one small class that turns a case into calls, in the form that is idiomatic and
fastest there. Memory is shared where the library can: NumPy, numexpr, numba, CuPy and PyTorch read
and write the very buffers that gpubcast does. JAX has no strides, so it gets compact copies in the
same axis order, transposes inside ``jit`` and allocates its result.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpubcast as gb

from . import checks
from .cases import Sized
from .library import Library, Ready, Views, direct_call
from .peers_torch import Torch, TorchCompiled
from .timing import LONG_CALL, WARM, Call


class Gpubcast(Library):
    """gpubcast itself."""

    name = "gpubcast"
    devices = ("cpu", "cuda")
    entries = ("call", "out", "bound")
    compiles = True

    def set_up(self, kind: str, threads: int) -> None:
        """It takes its threads from GPUBCAST_THREADS, else all.

        Once on a machine, a process beside this one makes the code of repeated calls; it must not
        run while something is measured, so it is waited for.
        """
        x = np.ones(1, np.float32)
        for _ in range(WARM):
            gb.add(x, x)

    def ready(self, sized: Sized) -> Ready:
        function = sized.function()

        def calls(views: Views, out: Any) -> dict[str, Call]:
            # A NumPy array of rank 0 cannot be bound, a NumPy scalar can.
            bound = [x if x.ndim or not isinstance(x, np.ndarray) else x[()] for x in views]
            return {
                "call": functools.partial(function, *views),
                "out": functools.partial(function, *views, out=out),
                "bound": sized.plan.bind(*bound, out=out),
            }

        return calls


class NumPy(Library):
    """NumPy, one ufunc after the other; in place where ``out`` is given."""

    name = module = "NumPy"
    xp = "numpy"

    def set_up(self, kind: str, threads: int) -> None:
        importlib.import_module(self.xp)

    def entries_of(self, sized: Sized) -> tuple[str, ...]:
        # ``where`` is the only one without out=.
        return ("call",) if direct_call(sized) == "where" else self.entries

    def ready(self, sized: Sized) -> Ready:
        xp = importlib.import_module(self.xp)
        names, constant = checks.namespace(xp), checks.constant(sized)
        formula, direct = sized.case.computes, direct_call(sized)
        function = formula.function(names, constant)
        in_place = formula.in_place(sized.case.steps, names, constant)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(views)
            if formula.moves:
                source = xp.broadcast_to(aligned[0], out.shape)
                return {
                    "call": source.copy,
                    "out": functools.partial(_first, xp.copyto, out, source),
                }
            if direct == "where":
                return {"call": functools.partial(xp.where, *aligned)}
            if direct is not None:
                return {
                    "call": functools.partial(names[direct], *aligned),
                    "out": functools.partial(names[direct], *aligned, out=out),
                }
            return {
                "call": functools.partial(function, *aligned),
                "out": functools.partial(in_place, *aligned, out),
            }

        return calls


def _first(function: Callable[..., Any], target: Any, source: Any) -> Any:
    function(target, source)
    return target


class CuPy(NumPy):
    """CuPy, one kernel after the other."""

    name = module = "CuPy"
    devices = ("cuda",)
    xp = "cupy"

    def release(self) -> None:
        importlib.import_module("cupy").get_default_memory_pool().free_all_blocks()


class CupyFuse(Library):
    """``cupy.fuse``: a chain as one kernel."""

    name = "cupy.fuse"
    module = "cupy"
    devices = ("cuda",)
    entries = ("call",)
    compiles = True
    effort = 1

    def unsupported(self, sized: Sized) -> str | None:
        return "there is nothing to fuse in a copy" if sized.case.computes.moves else None

    def ready(self, sized: Sized) -> Ready:
        cupy: Any = importlib.import_module("cupy")
        names = checks.namespace(cupy)
        fused = cupy.fuse(sized.case.computes.function(names, checks.constant(sized)))
        return lambda views, out: {"call": functools.partial(fused, *sized.aligned(views))}


class Numexpr(Library):
    """numexpr: one pass over blocks that fit the cache, on all threads."""

    name = module = "numexpr"
    compiles = True

    def set_up(self, kind: str, threads: int) -> None:
        os.environ.setdefault("NUMEXPR_MAX_THREADS", str(threads))
        importlib.import_module("numexpr").set_num_threads(threads)

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.moves:
            return "its results have the operands' dimensions"
        return None if sized.dtype in ("f32", "f64", "s32") else f"it has no {sized.dtype}"

    def ready(self, sized: Sized) -> Ready:
        numexpr: Any = importlib.import_module("numexpr")
        text, numbers = sized.case.computes.expression()
        dtype: Any = sized.output.element_type.dtype
        constants = {name: dtype.type(number) for name, number in numbers.items()}

        def calls(views: Views, out: Any) -> dict[str, Call]:
            named = dict(zip(sized.case.computes.names, sized.aligned(views), strict=True))
            call = functools.partial(
                numexpr.evaluate, text, local_dict=named | constants, global_dict={}
            )
            return {"call": call, "out": functools.partial(call, out=out)}

        return calls


class Numba(Library):
    """``numba.vectorize`` with one signature.

    Where every operand is a scalar or has the result's shape, for one thread or for all, whichever
    is faster in a trial; otherwise for one: the parallel target starts anew for every row of a
    broadcast operand.
    """

    name = module = "numba"
    compiles = True
    effort = 1

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, tuple[str, ...]], list[Any]] = {}

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.moves:
            return "a ufunc's results have the operands' dimensions"
        return "it has no bf16" if sized.dtype == "bf16" else None

    def ready(self, sized: Sized) -> Ready:
        result = (sized.output.dimensions, sized.output.layout)
        rows = any(x.rank and (x.dimensions, x.layout) != result for x in sized.shapes)
        targets = ("cpu",) if rows else ("cpu", "parallel")
        # What is compiled serves every size; a first call has nothing here yet.
        known = (sized.case.name, sized.dtype, targets)
        if known not in self._made:
            self._made[known] = self._compiled(sized, targets)
        ufuncs = list(self._made[known])

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(views)
            if len(ufuncs) > 1:
                ufuncs[:] = [min(ufuncs, key=lambda ufunc: _trial(ufunc, (*aligned, out)))]
            return {
                "call": functools.partial(ufuncs[0], *aligned),
                "out": functools.partial(ufuncs[0], *aligned, out),
            }

        return calls

    def _compiled(self, sized: Sized, targets: tuple[str, ...]) -> list[Any]:
        numba: Any = importlib.import_module("numba")
        where = numba.njit(lambda mask, x, y: x if mask else y)
        names = {"where": where, "tanh": math.tanh, "exp": math.exp}
        dtype: Any = sized.output.element_type.dtype
        formula = sized.case.computes.function(names, dtype.type)
        kinds = [numba.from_dtype(shape.element_type.dtype) for shape in sized.shapes]
        signature = numba.from_dtype(dtype)(*kinds)
        return [numba.vectorize([signature], target=target)(formula) for target in targets]


def _trial(function: Callable[..., Any], given: Views) -> float:
    """Seconds of the best of three calls; one that is long is enough."""
    taken: list[float] = []
    while len(taken) < 3 and sum(taken) < LONG_CALL:
        began = time.perf_counter()
        function(*given)
        taken.append(time.perf_counter() - began)
    return min(taken)


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
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        if kind == "cpu":
            jax.config.update("jax_platforms", "cpu")
        if jax.default_backend() != {"cpu": "cpu", "cuda": "gpu"}[kind]:
            raise RuntimeError(f"this JAX computes on {jax.default_backend()}")

    def ready(self, sized: Sized) -> Ready:
        jax: Any = importlib.import_module("jax")
        jnp: Any = importlib.import_module("jax.numpy")
        formula, dimensions = sized.case.computes, sized.output.dimensions
        function = formula.function({"where": jnp.where, "tanh": jnp.tanh, "exp": jnp.exp})
        orders = [tuple(reversed(shape.layout.minor_to_major)) for shape in sized.shapes]
        logical = [tuple(order.index(d) for d in range(len(order))) for order in orders]

        def compute(*compact: Any) -> Any:
            turned = (jnp.transpose(x, axes) for x, axes in zip(compact, logical, strict=True))
            aligned = sized.aligned(tuple(turned))
            return jnp.broadcast_to(function(*aligned), dimensions)

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
        jax: Any = importlib.import_module("jax")
        raw = jax.lax.bitcast_convert_type(result, np.int16)
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


GPUBCAST = Gpubcast()
PEERS: tuple[Library, ...] = (
    NumPy(),
    Numexpr(),
    Numba(),
    CuPy(),
    CupyFuse(),
    Torch(),
    TorchCompiled(),
    Jax(),
)


def named(names: tuple[str, ...]) -> tuple[Library, ...]:
    """The peers with the given names, whatever their case; ``none`` alone for none.

    Raises:
        ValueError: there is no such peer.
    """
    wanted = {name.lower(): name for name in names}
    if list(wanted) == ["none"]:
        return ()
    known = {peer.name.lower(): peer for peer in PEERS}
    for lower, name in wanted.items():
        if lower not in known:
            raise ValueError(
                f"no peer {name!r}; there are {', '.join(peer.name for peer in PEERS)}"
            )
    return tuple(known[lower] for lower in wanted)
