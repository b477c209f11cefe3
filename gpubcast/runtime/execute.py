"""Running an expression on views of arrays: alignment, overlap, memory, and the launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpubcast.backends.array_types import memory_of
from gpubcast.errors import DeviceError
from gpubcast.hlo import expression
from gpubcast.hlo.expression import Expression, keeps
from gpubcast.planning.planner import OutLayouts
from gpubcast.planning.valid_elements import with_former_outputs
from gpubcast.runtime.device import Device
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.overlap import check_apart
from gpubcast.runtime.prepare import prepare
from gpubcast.runtime.results import flat_buffers
from gpubcast.runtime.state import backend
from gpubcast.runtime.valid_lengths import check_lengths
from gpubcast.runtime.view import View, aligned, devices_of
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape


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
    make: Callable[[Launch], list[Any]] = flat_buffers,
) -> tuple[Launch, list[Any]]:
    """Compute an expression, without arrays on the device that is ``wanted``.

    Returns:
        The launch, which says what the results are, and what ``make`` made for them; nothing
        where ``outs`` were given.

    Raises:
        Error: a rule refuses the call; DeviceError: mixed devices.
    """
    every = views if outs is None else (*views, *outs)
    device = devices_of(every, wanted)
    operands = tuple([view.operand for view in views])
    targets = None if outs is None else tuple([out.operand for out in outs])
    launch = prepare(graph, operands, targets, out_layouts, device, aligned(every, device))
    misaligned = launch.misaligned(views)
    if misaligned:
        moved = list(views)
        for number in misaligned:
            why = "an operand is not aligned for the type as which it is read"
            refuse_temporary(device, why)
            order = Layout(views[number].operand.shape.layout.minor_to_major)
            moved[number] = _copied(views[number], device, order)
        return run(graph, tuple(moved), outs, out_layouts, make=make)
    if graph.lengths:
        check_lengths(graph, views, device)
    if outs is not None:
        if len(outs) > 1:
            check_apart(outs)
        overlaps = launch.overlaps(views, outs)
        if launch.former_outputs or (overlaps and keeps(graph)):
            return _with_former_outputs(graph, views, outs, device)
        if overlaps:
            _run_apart(graph, views, outs, device)
            return launch, []
    host = launch.backend
    slots = [view.slot for view in every]
    made: list[Any] = []
    with host.on(device[1]):
        if outs is None:
            made = make(launch)
            slots += [host.address(memory_of(x)) for x in made]
        held = temporaries(launch, slots)
        launch.start(launch.parameters(slots))
    del held
    return launch, made


def _copied(view: View, device: Device, layout: Layout) -> View:
    """An aligned copy of an array."""
    host = backend(device[0])
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
    refuse_temporary(
        launch.device, "the expression needs more than one kernel and temporaries between"
    )
    held = [host.allocate(shape.byte_size) for shape in launch.temporaries]
    slots += [host.address(buffer) for buffer in held]
    return held


def refuse_temporary(device: Device, why: str) -> None:
    """Refuse what has to allocate while a graph is being captured.

    Raises:
        DeviceError: the current stream of the device is capturing.
    """
    if backend(device[0]).capturing(device[1]):
        raise DeviceError(
            f"{why}, and a graph being captured must not allocate",
            rule="A2",
            kind="gpubcast:temporary during capture",
        )


def _run_apart(
    graph: Expression, views: tuple[View, ...], outs: tuple[View, ...], device: Device
) -> None:
    """Compute into temporaries, then copy: the results are as if nothing overlapped."""
    host = backend(device[0])
    refuse_temporary(
        device, "out shares memory with an operand in another order, which needs a temporary"
    )
    compact = tuple(Layout(out.operand.shape.layout.minor_to_major) for out in outs)
    launch, buffers = run(graph, views, None, compact)
    for made, buffer, out in zip(launch.outputs, buffers, outs, strict=True):
        run(COPY, (View(made, host.address(buffer), device, buffer),), (out,))


def _with_former_outputs(
    graph: Expression, views: tuple[View, ...], outs: tuple[View, ...], device: Device
) -> tuple[Launch, list[Any]]:
    """Compute where outputs keep some of what they hold, which is read from copies."""
    refuse_temporary(device, "out keeps what it holds, and is copied first")
    orders = [Layout(out.operand.shape.layout.minor_to_major) for out in outs]
    copies = [_copied(out, device, order) for out, order in zip(outs, orders, strict=True)]
    return run(with_former_outputs(graph), (*views, *copies), outs)


COPY = expression.single("broadcast", {"sizes": ()})
