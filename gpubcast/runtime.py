"""From a call to a launch: plan cache, kernel cache, parameters, overlap, tracing.

The only module with mutable state. Everything it keeps is bounded (4,096 plans, least recently
used out) or grows with the number of distinct kernels.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpubcast import config, expression
from gpubcast.backends.base import Backend, KernelSource
from gpubcast.codegen import cpu as cpu_code
from gpubcast.codegen import cuda as cuda_code
from gpubcast.errors import DeviceError, Error, LayoutError, ShapeError
from gpubcast.expression import Expression
from gpubcast.launch import (
    Device,
    Launch,
    View,
    aligned,
    device_name,
    devices_of,
    say,
)
from gpubcast.layout import Layout
from gpubcast.planning import BroadcastPlan, Operand, build
from gpubcast.schedule import CudaTarget, Target, schedule
from gpubcast.shape import Shape
from gpubcast.simplify import normalise

MAX_PLANS = 4096
FORK_SECONDS = 5


@dataclass(slots=True)
class _State:
    lock: Any
    compiling: Any
    backends: dict[str, Backend]
    launches: OrderedDict[Any, Launch]
    kernels: dict[Any, Any]
    forking: bool = False


_STATE = _State(threading.Lock(), threading.RLock(), {}, OrderedDict(), {})


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
        # Making one imports its libraries, which a fork must not cut in half.
        with _STATE.compiling:
            found = _STATE.backends.get(kind) or _make_backend(kind)
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
    try:
        yield
    finally:
        with _STATE.lock:
            if before is None:
                del _STATE.backends[kind]
            else:
                _STATE.backends[kind] = before


def clear() -> None:
    """Forget every plan and kernel of this process; files on disk stay."""
    with _STATE.lock:
        _STATE.launches.clear()
        _STATE.kernels.clear()


def kernels() -> tuple[str, ...]:
    """Keys of the kernels compiled or loaded by this process."""
    with _STATE.lock:
        return tuple(key for _, _, key in _STATE.kernels)


def prepare(
    graph: Expression,
    operands: tuple[Operand, ...],
    out: Operand | None,
    out_layout: Layout | None,
    device: Device,
    alignment: tuple[int, ...] = (),
) -> Launch:
    """The launch for a call, from the cache or made now.

    Args:
        graph: what to compute.
        operands: the operands.
        out: the output's memory; None for a new array with the inferred layout.
        out_layout: replaces the inferred layout; only without ``out``.
        device: where to run.
        alignment: per operand and given output, the address modulo 16; missing ones are aligned.

    Raises:
        Error: a rule refuses the operands, ``out`` or ``out_layout``.
        DeviceError: GPUBCAST_BACKEND forbids the device.
    """
    allowed = config.backend()
    if allowed not in (None, device[0]):
        raise DeviceError(f"the call runs on {device[0]!r}, but GPUBCAST_BACKEND={allowed}")
    host = backend(device[0])
    with host.on(device[1]):
        target = host.target()
    key = (graph, operands, out, out_layout, device, alignment, host, target)
    with _STATE.lock:
        found = _STATE.launches.get(key)
        if found is not None:
            _STATE.launches.move_to_end(key)
            return found
    with host.on(device[1]):
        made = _make(host, target, graph, operands, out, out_layout, device, alignment)
    with _STATE.lock:
        _STATE.launches[key] = made
        if len(_STATE.launches) > MAX_PLANS:
            _STATE.launches.popitem(last=False)
    return made


def plan_for(
    graph: Expression,
    operands: tuple[Operand, ...],
    out: Operand | None = None,
    out_layout: Layout | None = None,
) -> tuple[BroadcastPlan, Shape]:
    """The normalised plan of a call and the shape of its result; nothing is compiled.

    Raises:
        Error: a rule refuses the operands, ``out`` or ``out_layout``.
    """
    nodes = expression.typed(graph, tuple(o.shape for o in operands))
    inferred = nodes[graph.outputs[0]].shape
    if out is not None:
        _check_out(inferred, out, out_layout)
    elif out_layout is not None:
        inferred = inferred.with_layout(out_layout)
    output = out if out is not None else Operand.of(inferred)
    built = build(graph, nodes, operands, (output,))
    return normalise(built), output.shape


def _check_out(inferred: Shape, out: Operand, out_layout: Layout | None) -> None:
    if out_layout is not None:
        raise LayoutError(
            "out_layout together with out: the layout of out is that of its memory",
            rule="A2",
            kind="gpubcast:out and out_layout",
        )
    wanted = (inferred.element_type, inferred.dimensions)
    if wanted != (out.shape.element_type, out.shape.dimensions):
        raise ShapeError(
            f"out is {out.shape.text(layout=False)}, but the result is "
            f"{inferred.text(layout=False)}; out has exactly the result's dimensions and type",
            rule="A2",
            kind="gpubcast:out",
            operands=(out.shape,),
        )


def _make(
    host: Backend,
    target: Target,
    graph: Expression,
    operands: tuple[Operand, ...],
    out: Operand | None,
    out_layout: Layout | None,
    device: Device,
    alignment: tuple[int, ...],
) -> Launch:
    plan, output = plan_for(graph, operands, out, out_layout)
    first_output = len(operands)
    views = [a.operand for a in plan.reads] + [first_output + a.operand for a in plan.writes]
    offsets = tuple(
        (view, access.offset * access.element_type.itemsize)
        for view, access in zip(views, plan.accesses, strict=True)
    )
    if plan.num_visited == 0:
        return Launch(host, plan, None, None, None, output, b"", offsets, device)
    addresses = [(alignment[view] if view < len(alignment) else 0) + add for view, add in offsets]
    chosen = schedule(plan, target, tuple(math.gcd(address, 16) for address in addresses))
    code = cuda_code if isinstance(target, CudaTarget) else cpu_code
    source = code.generate(plan, chosen)
    if config.debug() >= 3:
        say(f"{plan}\n{chosen}")
    kernel = _kernel(host, device, source)
    packed = code.parameters(plan, chosen)
    return Launch(host, plan, chosen, source, kernel, output, packed, offsets, device)


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
        _dump(source, host.kind)
        kernel = host.load(source)
        with _STATE.lock:
            _STATE.kernels[key] = kernel
    if config.debug() >= 1:
        seconds = time.perf_counter() - began
        say(f"{device_name(device)}: kernel {source.key} ready in {seconds:.3f} s")
    if config.debug() >= 4:
        say(source.text)
    return kernel


def _dump(source: KernelSource, kind: str) -> None:
    folder = config.dump_dir()
    if folder is None:
        return
    suffix = "cu" if kind == "cuda" else "py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{source.entry}.{suffix}").write_text(source.text)
    except OSError as error:
        raise Error(f"GPUBCAST_DUMP={folder}: {error}") from error


def allocate(shape: Shape, device: Device) -> Any:
    """A flat buffer for an array of a shape."""
    host = backend(device[0])
    with host.on(device[1]):
        return host.allocate(shape.byte_size)


def run(
    graph: Expression,
    views: tuple[View, ...],
    out: View | None = None,
    out_layout: Layout | None = None,
) -> tuple[Shape, Any, Device]:
    """Compute an expression.

    Returns:
        The result's shape, its new flat buffer (None when ``out`` was given) and the device.

    Raises:
        Error: a rule refuses the call; DeviceError: mixed devices.
    """
    known = views if out is None else (*views, out)
    device = devices_of(known)
    operands = tuple([view.operand for view in views])
    target = None if out is None else out.operand
    launch = prepare(graph, operands, target, out_layout, device, aligned(known, device))
    if out is not None and launch.overlaps(views, out):
        return _run_beside(graph, views, out, device)
    host = launch.backend
    buffer = None
    with host.on(device[1]):
        if out is None:
            buffer = host.allocate(launch.output.byte_size)
            last = host.address(buffer)
        else:
            last = out.slot
        launch.start(launch.parameters([view.slot for view in views] + [last]))
    return launch.output, buffer, device


def _run_beside(
    graph: Expression, views: tuple[View, ...], out: View, device: Device
) -> tuple[Shape, Any, Device]:
    """Compute into a temporary, then copy: the result is as if nothing overlapped."""
    host = backend(device[0])
    if host.capturing():
        raise DeviceError(
            "out shares memory with an operand in another order, which needs a temporary, and "
            "a graph being captured must not allocate",
            rule="A2",
            kind="gpubcast:temporary during capture",
        )
    compact = Layout(out.operand.shape.layout.minor_to_major)
    shape, buffer, _ = run(graph, views, None, compact)
    temporary = View(Operand.of(shape), host.address(buffer), device, buffer)
    return run(COPY, (temporary,), out)


COPY = expression.single("broadcast", {"sizes": ()})
