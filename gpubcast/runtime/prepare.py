"""From a graph and its operands to a launch: plan, schedule, kernel and parameters, cached."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from gpubcast import config, locks
from gpubcast.backends import kernel_store
from gpubcast.backends.base import Backend
from gpubcast.backends.native_calls.record import PackedParameters
from gpubcast.codegen.generator import generate, parameters
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import DeviceError
from gpubcast.hlo.expression import Expression, keeps
from gpubcast.planning.partition import Kernel
from gpubcast.planning.plan import WORD, Operand
from gpubcast.planning.planner import OutLayouts, plan_for
from gpubcast.planning.valid_elements import apart
from gpubcast.runtime import streaming_threshold
from gpubcast.runtime.debug import dump, say
from gpubcast.runtime.device import Device, device_name
from gpubcast.runtime.launch import Launch, LaunchStep, launch_arguments
from gpubcast.runtime.state import MAX_PLANS, STATE, backend, cache_launch
from gpubcast.runtime.target import target_architecture
from gpubcast.schedules.choose import Schedule
from gpubcast.schedules.schedule import Target

if TYPE_CHECKING:
    from gpubcast.backends.cpu.backend import CpuBackend


def prepare(
    graph: Expression,
    operands: tuple[Operand, ...],
    outs: tuple[Operand, ...] | None,
    out_layouts: OutLayouts,
    device: Device,
    alignment: tuple[int, ...] = (),
) -> Launch:
    """The launch for a call, from the cache or made now.

    Args:
        graph: what to compute.
        operands: the operands.
        outs: the outputs' memory; None for new arrays with the inferred layouts.
        out_layouts: replace the inferred layouts, where not None; only without ``outs``.
        device: where to run.
        alignment: per operand and given output, the address modulo ``ALIGNED``; missing ones are
            aligned.

    Raises:
        Error: a rule refuses the operands, ``outs`` or ``out_layouts``.
        DeviceError: GPUBCAST_BACKEND forbids the device.
    """
    allowed = config.allowed_device_type()
    if allowed not in (None, device[0]):
        raise DeviceError(f"the call runs on {device[0]!r}, but GPUBCAST_BACKEND={allowed}")
    host = backend(device[0])
    with host.on(device[1]):
        target = host.target()
        key = (graph, operands, outs, out_layouts, device, alignment, host, target)
        found = STATE.launches.get(key)
        hit = found is not None
        if found is None:
            found = _make(host, target, graph, operands, outs, out_layouts, device, alignment)
    # Which plan was used last matters only once there are many.
    if hit and len(STATE.launches) < MAX_PLANS // 2:
        return found
    cache_launch(key, found)
    return found


def _make(
    host: Backend,
    target: Target,
    graph: Expression,
    operands: tuple[Operand, ...],
    outs: tuple[Operand, ...] | None,
    out_layouts: OutLayouts,
    device: Device,
    alignment: tuple[int, ...],
) -> Launch:
    call_plan = plan_for(graph, operands, outs, out_layouts)
    steps = tuple(_step(host, target, one, device, alignment) for one in call_plan.kernels)
    outputs = outs or tuple(map(Operand.of, call_plan.outputs))
    sizes = tuple(shape.byte_size for shape in call_plan.outputs)
    arguments = launch_arguments(operands, outputs, steps)
    # Other graphs' kernels read only what earlier ones wrote.
    read = keeps(graph) and any(
        apart(one, len(operands), len(outputs)) for one in call_plan.kernels
    )
    temporaries = call_plan.temporaries
    return Launch(host, steps, outputs, sizes, temporaries, device, target, arguments, read)


def generated(
    one: Kernel, target: Target, alignment: tuple[int, ...] = ()
) -> tuple[Schedule, KernelSource] | None:
    """How a kernel of a call runs on a target, and its source; None where nothing is visited.

    Args:
        one: the kernel, normalised.
        target: where it runs; see ``runtime.target``.
        alignment: as for ``prepare``.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    if one.plan.num_visited == 0:
        return None
    addresses = [
        (alignment[number] if 0 <= number < len(alignment) else 0) + add
        for number, add in _offsets(one)
    ]
    return generate(one.plan, target, tuple(addresses))


def _offsets(one: Kernel) -> tuple[tuple[int, int], ...]:
    """Per access, the number of its array, and how far behind its address the first element is."""
    return tuple(
        (number, 0 if access.by_value else access.offset * access.element_type.itemsize)
        for number, access in zip(one.arguments, one.plan.accesses, strict=True)
    )


def _step(
    host: Backend, target: Target, one: Kernel, device: Device, alignment: tuple[int, ...]
) -> LaunchStep:
    plan, offsets = one.plan, _offsets(one)
    found = generated(one, target, alignment)
    if found is None:
        return LaunchStep(plan, None, None, None, PackedParameters(b"", offsets))
    long = {access.operand for access in plan.reads if access.by_value and access.offset}
    parts = tuple(
        (slot, 8 * WORD * access.offset)
        for slot, access in enumerate(plan.reads)
        if access.by_value and access.operand in long
    )
    chosen, source = found
    if config.debug() >= 3:
        say(f"{plan}\n{chosen}")
    kernel = _loaded(host, device, target, source)
    calibrate(host, chosen)
    packed = PackedParameters(parameters(plan, chosen), offsets, parts)
    return LaunchStep(plan, chosen, source, kernel, packed)


def calibrate(host: Backend, chosen: Schedule) -> None:
    """Measure from how many bytes on streaming pays, unless it is known or set, before anything
    streams a second time."""
    if chosen.streams:
        with locks.compiling():
            streaming_threshold.calibrate(cast("CpuBackend", host))


def _loaded(host: Backend, device: Device, target: Target, source: KernelSource) -> Any:
    """The loaded kernel of a source: one compilation per key and device."""
    key = (host, device, target_architecture(target), source.key)
    kernel = STATE.kernels.get(key)
    if kernel is not None:
        return kernel
    # Compilers hold global locks, so waiting for another kernel's compilation costs nothing.
    with locks.compiling():
        kernel = STATE.kernels.get(key)
        if kernel is not None:
            return kernel
        if host.capturing(device[1]):
            raise DeviceError(
                "a graph is being captured, in which no kernel can be loaded, and this call needs "
                "one that was not used before; make the same call once before the capture begins, "
                "or bind its plan there (plan.bind(...)) and call that while capturing"
            )
        began = time.perf_counter()
        dump(source, host.device_type)
        kernel = host.load(source)
        STATE.kernels[key] = kernel
    kernel_store.warn()
    if config.debug() >= 1:
        seconds = time.perf_counter() - began
        say(f"{device_name(device)}: kernel {source.key} ready in {seconds:.3f} s")
    if config.debug() >= 4:
        say(source.text)
    return kernel
