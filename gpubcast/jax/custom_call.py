"""``gpubcast.jax.call``: a fused function as a custom call of XLA's FFI."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import ShapeDtypeStruct

from gpubcast.arrays import Array
from gpubcast.backends.native_calls.ffi import CPU_CALLS, GPU_CALLS, FfiStep, code_of
from gpubcast.errors import DeviceError, ElementTypeError, brief
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo.labels import LabelPattern
from gpubcast.planning.plan import Operand
from gpubcast.plans import Plan
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.operands import is_scalar, scalar_view
from gpubcast.runtime.prepare import prepare
from gpubcast.schedules.schedule import CpuTarget
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

TARGET = "gpubcast"
"""The name of the custom call's target."""


def call(fused: Fused[..., Any], *args: Any, **keywords: Any) -> Any:
    """Run a fused function on JAX arrays, inside ``jax.jit`` and outside of it.

    Its kernels run as a custom call of XLA, on a GPU in XLA's stream, with the same bits as
    ``fused(...)``.
    ``jax.vmap`` adds an axis label; a function without labels is mapped over in sequence.

    Args:
        fused: made by ``gb.fuse``.
        args, keywords: its arguments: JAX and NumPy arrays, Python scalars, static values.

    Returns:
        A JAX array; a tuple for several results.

    Raises:
        Error: a rule refuses an operation; the text names its line.
        ElementTypeError: A3, an argument is no JAX array; J1, its type is stored otherwise.

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
    return _called(fused, list(fused._arguments.ordered(args, keywords)))


def _called(fused: Fused[..., Any], values: list[Any]) -> Any:
    """A call with its arguments in the order of the parameters."""
    where = [
        i for i, x in enumerate(values) if not (fused._arguments.is_static(i, x) or is_scalar(x))
    ]
    arrays = [_jax_array(fused, i, values[i]) for i in where]

    run = jax.custom_batching.custom_vmap(lambda *arrays: _run(fused, values, where, arrays))

    def mapped(size: int, batched: Sequence[bool], *arrays: Any) -> Any:
        made = _mapped(fused, values, where, batched, arrays)
        return made, jax.tree.map(lambda _: True, made)

    run.def_vmap(mapped)
    return run(*arrays)


def _jax_array(fused: Fused[..., Any], index: int, x: Any) -> Any:
    if isinstance(x, Array) or not (hasattr(x, "dtype") and hasattr(x, "shape")):
        raise ElementTypeError(
            f"{fused._arguments.named(index)} is {brief(x)}; gpubcast.jax.call takes JAX and NumPy "
            "arrays",
            rule="A3",
            kind="gpubcast:not an array",
        )
    return jnp.asarray(x)


def _run(fused: Fused[..., Any], values: list[Any], where: list[int], arrays: Sequence[Any]) -> Any:
    given, shapes = list(values), list(values)
    for i, x in zip(where, arrays, strict=True):
        given[i], shapes[i] = x, Shape(np.dtype(x.dtype), tuple(x.shape))
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
    key, results, scratch = _registered(plan)
    made = jax.ffi.ffi_call(TARGET, (*results, *scratch))(*operands, key=np.int64(key))
    return tuple(made[: len(results)]) if plan.expression.packed else made[0]


@functools.lru_cache(4096)
def _registered(plan: Plan) -> tuple[int, tuple[Any, ...], tuple[Any, ...]]:
    """The key of a plan's record, and the types of its results and of its temporaries.

    Raises:
        ElementTypeError: J1, XLA stores a type otherwise.
        DeviceError: J2, there is no code that XLA could call, or it is too large a call.
    """
    for shape in (*plan.shapes, *plan.output_shapes):
        if shape.element_type.bits < 8:
            raise ElementTypeError(
                f"{plan.name}: {shape.text(layout=False)}: XLA stores two {shape.element_type} in a"
                " byte; convert it inside of jax.jit",
                rule="J1",
                kind="gpubcast:packed elements",
            )
    operands = tuple(
        Operand.of(Shape(shape.element_type.name, shape.dimensions)) for shape in plan.shapes
    )
    layouts = tuple(Layout.default(shape.rank) for shape in plan.output_shapes)
    graph = plan.expression
    _register_handlers()
    launch = prepare(graph, operands, None, layouts, ("cpu", 0))
    said = [getattr(graph, one.name) for one in fields(graph) if one.compare]
    name = repr((said, [str(one) for one in plan.shapes], launch.target))
    scratch = tuple(ShapeDtypeStruct((one.byte_size,), np.uint8) for one in launch.temporaries)
    count = len(launch.outputs) + len(scratch)
    key = CPU_CALLS.add(name, len(operands), count, [_steps(launch)])
    gpus = gpu_devices()
    if gpus:
        launches = [prepare(graph, operands, None, layouts, ("cuda", i)) for i in gpus]
        if any(one.temporaries != launch.temporaries for one in launches):
            raise DeviceError(
                f"{plan.name}: it has other temporaries on a GPU than on the CPU",
                rule="J2",
                kind="gpubcast:custom call",
            )
        every = [_steps(one) for one in launches]
        GPU_CALLS.add(name, len(operands), count, every, driver_functions())
    results = tuple(
        ShapeDtypeStruct(shape.dimensions, shape.element_type.dtype) for shape in plan.output_shapes
    )
    return key, results, scratch


def _steps(launch: Launch) -> list[FfiStep]:
    """The kernels of a launch.

    Raises:
        DeviceError: J2, there is no code that XLA could call.
    """
    found = []
    threads = launch.target.threads if isinstance(launch.target, CpuTarget) else 0
    for step in launch.steps:
        if step.schedule is None:
            continue
        grid, block = step.schedule.launch_configuration
        code = code_of(step.kernel)
        if code is None:
            raise DeviceError(
                "XLA calls machine code, which this interpreter does not reach",
                rule="J2",
                kind="gpubcast:custom call",
            )
        found.append(FfiStep(code, grid, block, threads, step.parameters))
    return found


def gpu_devices() -> range:
    """The numbers of the GPUs that JAX uses; none where it has none."""
    try:
        return range(len(jax.local_devices(backend="cuda")))
    except RuntimeError:  # there is no such backend
        return range(0)


def driver_functions() -> tuple[int, int]:
    """The addresses of ``cuLaunchKernel`` and ``cuCtxGetDevice``."""
    driver = ctypes.CDLL("libcuda.so.1")
    launch, current = (
        ctypes.cast(function, ctypes.c_void_p).value or 0
        for function in (driver.cuLaunchKernel, driver.cuCtxGetDevice)
    )
    return launch, current


@functools.cache
def _register_handlers() -> None:
    """Tell XLA of the handlers."""
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    for calls, platform in ((CPU_CALLS, "cpu"), (GPU_CALLS, "CUDA")):
        if calls is CPU_CALLS or gpu_devices():
            capsule = jax.ffi.pycapsule(calls.handler(header))
            jax.ffi.register_ffi_target(TARGET, capsule, platform=platform)


# --- vmap ----------------------------------------------------------------------------------------


def _mapped(
    fused: Fused[..., Any],
    values: list[Any],
    where: list[int],
    batched: Sequence[bool],
    arrays: Sequence[Any],
) -> Any:
    """The function over a new first axis of some of its arrays."""
    if fused._pattern is None or fused._composition is not None:
        return _in_sequence(fused, values, where, batched, arrays)
    number = [i for i in range(len(values)) if i not in fused._arguments.static]
    wider = _with_label(
        fused, tuple(number.index(i) for i, one in zip(where, batched, strict=True) if one)
    )
    given = list(values)
    for i, x in zip(where, arrays, strict=True):
        given[i] = x
    return _called(wider, given)


@functools.lru_cache(4096)
def _with_label(fused: Fused[..., Any], operands: tuple[int, ...]) -> Fused[..., Any]:
    """A labelled function with one label more, in front: that of some operands and all results."""
    pattern = fused._pattern
    assert pattern is not None
    label = next(f"mapped{n}" for n in range(64) if f"mapped{n}" not in pattern.labels)
    wider = LabelPattern(
        tuple(
            (label, *group) if i in operands else group for i, group in enumerate(pattern.operands)
        ),
        tuple((label, *group) for group in pattern.outputs),
    )
    _, names, fast_math, valid, sizes = fused._told
    return Fused(fused._arguments.function, str(wider), names, fast_math, valid, sizes)


def _in_sequence(
    fused: Fused[..., Any],
    values: list[Any],
    where: list[int],
    batched: Sequence[bool],
    arrays: Sequence[Any],
) -> Any:
    moving = tuple(x for x, one in zip(arrays, batched, strict=True) if one)

    def one(parts: tuple[Any, ...]) -> Any:
        left = iter(parts)
        given = list(values)
        for i, x, moves in zip(where, arrays, batched, strict=True):
            given[i] = next(left) if moves else x
        return _called(fused, given)

    return jax.lax.map(one, moving)
