"""From a call to a launch: plan cache, kernel cache, parameters, overlap, tracing.

The only module with mutable state. Everything it keeps is bounded (4,096 plans, least recently
used out) or grows with the number of distinct kernels.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gpubcast import config, expression
from gpubcast.backends.base import Backend, KernelSource
from gpubcast.codegen import generator
from gpubcast.errors import DeviceError
from gpubcast.expression import Expression
from gpubcast.families import Target
from gpubcast.launch import (
    Device,
    Launch,
    Step,
    View,
    aligned,
    check_apart,
    device_name,
    devices_of,
    dump,
    say,
)
from gpubcast.layout import Layout
from gpubcast.partition import Kernel
from gpubcast.planned import OutLayouts, plan_for
from gpubcast.planning import WORD, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape

MAX_PLANS = 4096
FORK_SECONDS = 5


@dataclass(slots=True)
class _State:
    lock: Any
    compiling: Any
    backends: dict[str, Backend]
    launches: OrderedDict[Any, Launch]
    kernels: dict[Any, Any]
    calls: dict[Any, Any]
    begun: set[Launch] = field(default_factory=set)
    doors: list[Any] = field(default_factory=list)
    forget: list[Callable[[], object]] = field(default_factory=list)
    forking: bool = False


_TRACE: ContextVar[Any] = ContextVar("gpubcast_trace", default=None)
_STATE = _State(threading.Lock(), threading.RLock(), {}, OrderedDict(), {}, {})


def before_fork() -> None:
    """Hold the locks over a fork (the package registers this).

    A child inherits the locks as they are, but not the threads that would release them; so the
    forking thread holds them. It waits a few seconds only: a compiling thread may itself wait for
    a lock that another library's fork hook holds.
    """
    _STATE.forking = _STATE.compiling.acquire(timeout=FORK_SECONDS)
    if _STATE.forking:
        _STATE.lock.acquire()


def after_fork(*, child: bool) -> None:
    """Release what ``before_fork`` holds; a child gets new locks where it held none."""
    if _STATE.forking:
        _STATE.forking = False
        _STATE.lock.release()
        _STATE.compiling.release()
    elif child:
        _STATE.lock, _STATE.compiling = threading.Lock(), threading.RLock()


def backend(kind: str) -> Backend:
    """The backend of a device kind, made on first use.

    Raises:
        DeviceError: no such kind, no device, or CuPy missing.
    """
    found = _STATE.backends.get(kind)
    if found is None:
        # Making one imports its libraries and the generator of its code, which a fork must not cut
        # in half.
        with _STATE.compiling:
            found = _STATE.backends.get(kind) or _make_backend(kind)
            generator(found.target())
            _STATE.backends[kind] = found
    return found


def _make_backend(kind: str) -> Backend:
    if kind == "cpu":
        from gpubcast.backends.cpu import CpuBackend

        return CpuBackend()
    if kind != "cuda":
        raise DeviceError(f"no device {kind!r}; devices are 'cpu' and 'cuda'")
    try:
        from gpubcast.backends.cuda.launch import CupyBackend
    except ImportError as error:
        raise DeviceError(
            "device 'cuda' needs CuPy: pip install 'gpubcast[cuda13]' (or cuda12)"
        ) from error
    return CupyBackend()


@contextlib.contextmanager
def use_backend(substitute: Backend) -> Iterator[None]:
    """Replace the backend of a kind for a while (the tests run CUDA source in an emulator)."""
    kind = substitute.kind
    with _STATE.lock:
        before = _STATE.backends.get(kind)
        _STATE.backends[kind] = substitute
        _forget_calls()
    try:
        yield
    finally:
        with _STATE.lock:
            _forget_calls()
            if before is None:
                del _STATE.backends[kind]
            else:
                _STATE.backends[kind] = before


def clear() -> None:
    """Forget every plan and kernel of this process; files on disk stay."""
    with _STATE.lock:
        _STATE.launches.clear()
        _STATE.kernels.clear()
        _forget_calls()


def _forget_calls() -> None:
    _STATE.calls.clear()
    _STATE.begun.clear()
    for forget in _STATE.forget:
        forget()


def forget_with(action: Callable[[], object]) -> None:
    """Have an action done whenever known calls are forgotten."""
    with _STATE.lock:
        _STATE.forget.append(action)


def compiling() -> AbstractContextManager[Any]:
    """The lock under which code is made, which a fork waits for."""
    lock: AbstractContextManager[Any] = _STATE.compiling
    return lock


def alone(action: Callable[[], object]) -> None:
    """Do something while no other thread changes what is known."""
    with _STATE.lock:
        action()


def doors() -> list[Any]:
    """The functions that may be replaced by machine code; see ``calls.Door``."""
    return _STATE.doors


def known_call(key: Any) -> Any:
    """What ``keep_call`` kept, or None."""
    return _STATE.calls.get(key)


def repeated(launch: Launch) -> bool:
    """Whether a launch is one that this was asked of before."""
    with _STATE.lock:
        known = launch in _STATE.begun
        if len(_STATE.begun) >= MAX_PLANS:
            _STATE.begun.clear()
        _STATE.begun.add(launch)
    return known


def keep_call(key: Any, call: Any) -> None:
    """Keep what is ready for calls with a key; the oldest of too many goes."""
    with _STATE.lock:
        _STATE.calls[key] = call
        if len(_STATE.calls) > MAX_PLANS:
            del _STATE.calls[next(iter(_STATE.calls))]


@contextlib.contextmanager
def tracing(trace: Any) -> Iterator[None]:
    """Say which trace an operation without operands belongs to, in this thread for a while."""
    token = _TRACE.set(trace)
    try:
        yield
    finally:
        _TRACE.reset(token)


def current_trace() -> Any:
    """The trace that ``tracing`` has named, or None."""
    return _TRACE.get()


def kernels() -> tuple[str, ...]:
    """Keys of the kernels compiled or loaded by this process."""
    with _STATE.lock:
        return tuple(key for _, _, key in _STATE.kernels)


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
    allowed = config.backend()
    if allowed not in (None, device[0]):
        raise DeviceError(f"the call runs on {device[0]!r}, but GPUBCAST_BACKEND={allowed}")
    host = backend(device[0])
    with host.on(device[1]):
        target = host.target()
        key = (graph, operands, outs, out_layouts, device, alignment, host, target)
        found = _STATE.launches.get(key)
        hit = found is not None
        if found is None:
            found = _make(host, target, graph, operands, outs, out_layouts, device, alignment)
    # Which plan was used last matters only once there are many.
    if hit and len(_STATE.launches) < MAX_PLANS // 2:
        return found
    with _STATE.lock:
        _STATE.launches[key] = found
        _STATE.launches.move_to_end(key)
        if len(_STATE.launches) > MAX_PLANS:
            _STATE.launches.popitem(last=False)
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
    planned = plan_for(graph, operands, outs, out_layouts)
    steps = tuple(_step(host, target, one, device, alignment) for one in planned.kernels)
    outputs = outs or tuple(map(Operand.of, planned.outputs))
    sizes = tuple(shape.byte_size for shape in planned.outputs)
    wider = {
        (view, read.element_type.itemsize)
        for step in steps
        for (view, _), read in zip(step.offsets, step.plan.reads, strict=False)
        if 0 <= view < len(operands)
        and not read.by_value
        and read.element_type.itemsize > operands[view].shape.element_type.itemsize
    }
    temporaries = planned.temporaries
    return Launch(host, steps, outputs, sizes, temporaries, device, tuple(sorted(wider)))


def _step(
    host: Backend, target: Target, one: Kernel, device: Device, alignment: tuple[int, ...]
) -> Step:
    plan = one.plan
    offsets = tuple(
        (view, 0 if access.by_value else access.offset * access.element_type.itemsize)
        for view, access in zip(one.views, plan.accesses, strict=True)
    )
    long = {access.operand for access in plan.reads if access.by_value and access.offset}
    parts = tuple(
        (slot, 8 * WORD * access.offset)
        for slot, access in enumerate(plan.reads)
        if access.by_value and access.operand in long
    )
    if plan.num_visited == 0:
        return Step(plan, None, None, None, b"", offsets)
    addresses = [
        (alignment[view] if 0 <= view < len(alignment) else 0) + add for view, add in offsets
    ]
    chosen = schedule(plan, target, tuple(addresses))
    code = generator(target)
    source = code.generate(plan, chosen)
    if config.debug() >= 3:
        say(f"{plan}\n{chosen}")
    kernel = _kernel(host, device, source)
    return Step(plan, chosen, source, kernel, code.parameters(plan, chosen), offsets, parts)


def _kernel(host: Backend, device: Device, source: KernelSource) -> Any:
    """The loaded kernel of a source: one compilation per key and device."""
    key = (host, device, source.key)
    kernel = _STATE.kernels.get(key)
    if kernel is not None:
        return kernel
    # Compilers hold global locks, so waiting for another kernel's compilation costs nothing.
    with _STATE.compiling:
        kernel = _STATE.kernels.get(key)
        if kernel is not None:
            return kernel
        began = time.perf_counter()
        dump(source, host.kind)
        kernel = host.load(source)
        with _STATE.lock:
            _STATE.kernels[key] = kernel
    if config.debug() >= 1:
        seconds = time.perf_counter() - began
        say(f"{device_name(device)}: kernel {source.key} ready in {seconds:.3f} s")
    if config.debug() >= 4:
        say(source.text)
    return kernel


def allocate(shape: Shape, device: Device) -> Any:
    """A flat buffer for an array of a shape."""
    host = backend(device[0])
    with host.on(device[1]):
        return host.allocate(shape.byte_size)


def run(
    graph: Expression,
    views: tuple[View, ...],
    outs: tuple[View, ...] | None = None,
    out_layouts: OutLayouts = None,
    wanted: Device | None = None,
) -> tuple[Launch, tuple[Any, ...]]:
    """Compute an expression, without arrays on the device that is ``wanted``.

    Returns:
        The launch, which says what the results are, and their new flat buffers; no buffers when
        ``outs`` were given.

    Raises:
        Error: a rule refuses the call; DeviceError: mixed devices.
    """
    known = views if outs is None else (*views, *outs)
    device = devices_of(known, wanted)
    operands = tuple([view.operand for view in views])
    targets = None if outs is None else tuple([out.operand for out in outs])
    launch = prepare(graph, operands, targets, out_layouts, device, aligned(known, device))
    if launch.wider and launch.crooked(views):
        straight = list(views)
        for number in launch.crooked(views):
            straight[number] = _copied(views[number], device)
        return run(graph, tuple(straight), outs, out_layouts)
    if outs is not None:
        if len(outs) > 1:
            check_apart(outs)
        if launch.overlaps(views, outs):
            _run_beside(graph, views, outs, device)
            return launch, ()
    host = launch.backend
    slots = [view.slot for view in known]
    buffers: tuple[Any, ...] = ()
    with host.on(device[1]):
        if outs is None:
            buffers = tuple([host.allocate(size) for size in launch.sizes])
            slots += [host.address(buffer) for buffer in buffers]
        held = temporaries(launch, slots)
        launch.start(launch.parameters(slots))
    del held
    return launch, buffers


def _copied(view: View, device: Device) -> View:
    """An aligned copy of an operand."""
    host = backend(device[0])
    if host.capturing():
        raise _no_temporary("an operand is not aligned for the type as which it is read")
    layout = Layout(view.operand.shape.layout.minor_to_major)
    launch, (buffer,) = run(COPY, (view,), None, (layout,))
    return View(launch.outputs[0], host.address(buffer), device, buffer)


def temporaries(launch: Launch, slots: list[int]) -> list[Any]:
    """Memory for a launch's temporaries, on the current device; their addresses join ``slots``.

    Raises:
        DeviceError: a graph is being captured, where nothing may be allocated.
    """
    if not launch.temporaries:
        return []
    host = launch.backend
    if host.capturing():
        raise _no_temporary("the expression needs more than one kernel and temporaries between")
    held = [host.allocate(shape.byte_size) for shape in launch.temporaries]
    slots += [host.address(buffer) for buffer in held]
    return held


def _no_temporary(why: str) -> DeviceError:
    return DeviceError(
        f"{why}, and a graph being captured must not allocate",
        rule="A2",
        kind="gpubcast:temporary during capture",
    )


def _run_beside(
    graph: Expression, views: tuple[View, ...], outs: tuple[View, ...], device: Device
) -> None:
    """Compute into temporaries, then copy: the results are as if nothing overlapped."""
    host = backend(device[0])
    if host.capturing():
        raise _no_temporary(
            "out shares memory with an operand in another order, which needs a temporary"
        )
    compact = tuple(Layout(out.operand.shape.layout.minor_to_major) for out in outs)
    launch, buffers = run(graph, views, None, compact)
    for made, buffer, out in zip(launch.outputs, buffers, outs, strict=True):
        run(COPY, (View(made, host.address(buffer), device, buffer),), (out,))


COPY = expression.single("broadcast", {"sizes": ()})
