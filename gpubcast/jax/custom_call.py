"""The kernels of a plan as a custom call of XLA's FFI."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import ShapeDtypeStruct

from gpubcast.backends.native_calls.ffi import CPU_CALLS, GPU_CALLS, FfiStep, code_of
from gpubcast.errors import DeviceError, ElementTypeError
from gpubcast.planning.plan import Operand
from gpubcast.plans import Plan
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.prepare import prepare
from gpubcast.schedules.schedule import CpuTarget
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

TARGET = "gpubcast"
"""The name of the custom call's target."""


def run(plan: Plan, operands: Sequence[Any]) -> list[Any]:
    """The results of a plan of arrays, as a custom call of the program that is being made.

    Raises:
        ElementTypeError: J1, XLA stores a type otherwise.
        DeviceError: J2, there is no code that XLA could call, or it is too large a call.
    """
    key, results, scratch = _registered(plan)
    made = jax.ffi.ffi_call(TARGET, (*results, *scratch))(*operands, key=np.int64(key))
    return list(made[: len(results)])


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
