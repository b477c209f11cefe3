"""Handing calls to machine code (``backends.cpu.whole``), which does them whole from then on."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gpubcast import runtime
from gpubcast.backends.cpu.pool import LEAST
from gpubcast.families import CpuTarget
from gpubcast.launch import byte_span
from gpubcast.operands import SCALARS, cupy_array
from gpubcast.planning import INDEX, WORD

if TYPE_CHECKING:
    from gpubcast.calls import Call

# Results of so many bytes come from the backend, which keeps what they leave behind.
LARGE = LEAST
# Kernels that move more bytes let other threads run meanwhile.
_BYTES_TO_RELEASE = 1 << 16


@functools.cache
def table() -> Any:
    """The calls that machine code knows, with every door open to it; None where there is none."""
    from gpubcast.backends.cpu import direct

    with runtime.compiling():
        found = direct.table()
    if found is not None:
        runtime.forget_with(found.clear)
        _open(found)
    return found


def _open(known: Any) -> None:
    """Have every function that machine code stands in front of so far begin there."""
    for door in runtime.doors():
        if door.call is door.slow:
            door.call = known.callable(door.slow)


@functools.cache
def prepare() -> None:
    """Have the machine code of calls made beside this process, if there is none yet."""
    from gpubcast.backends.cpu import direct, objects

    if not direct.is_compiled() and objects.are_kept():
        direct.MAKER.begin()


def hand_over(call: Call, arguments: tuple[Any, ...], result: Any, *, wait: bool) -> None:
    """Make a call known to machine code, if its operands are NumPy's or CuPy's, or scalars.

    Args:
        call: the launch that is ready for it.
        arguments: the call.
        result: what it returned.
        wait: whether the code is waited for, and made here if need be, where it is on no disk yet.
    """
    results = tuple(result) if call.packed else (result,)
    every = (*arguments[1], *results)
    known_types = (np.ndarray, *SCALARS, cupy_array())
    simple = all([type(x) in known_types or isinstance(x, np.generic) for x in every])
    if arguments[0] is None or not simple:
        return
    from gpubcast.backends.cpu import direct

    if not wait and not direct.is_compiled():
        return
    direct.MAKER.wait("gpubcast makes the machine code of calls, once")
    known = table()
    task = _work(call, results if arguments[2] is None else ()) if known is not None else None
    if known is None or task is None or (task.driven is not None and not known.admit(task.driven)):
        return
    _open(known)  # the module of the one that was called may be younger than the table
    runtime.alone(
        lambda: known.add(arguments, _views(call, every), results, packed=call.packed, work=task)
    )


def _views(call: Call, every: tuple[Any, ...]) -> list[Any]:
    """What machine code knows of operands and results."""
    from gpubcast.backends.cpu import known

    memory, scalars = dict(call.memory), dict(call.scalars)
    places = dict(enumerate(call.places))
    return [
        known.View(scalar=scalars[i])
        if i in scalars
        else known.View(memory.get(i, 0), call.spans[i], places.get(i, 0))
        for i in range(len(every))
    ]


def _work(call: Call, fresh: tuple[Any, ...]) -> Any:
    """A call's kernel as machine code starts it, with the new results that it makes; None where it
    cannot."""
    from gpubcast.backends.cpu import known, workers
    from gpubcast.backends.cpu.words import LANES

    launch, step = call.launch, call.step
    chosen, parts = step.schedule, dict(step.parts)
    slots = tuple(
        [
            (len(call.spans) if view == INDEX else view, parts.get(slot, 0) // (8 * WORD), add)
            for slot, (view, add) in enumerate(step.offsets)
        ]
    )
    grid = 0 if chosen is None else chosen.grid
    in_python = launch.device[0] == "cuda" or any(map(is_large, fresh))
    makers = call.makers if in_python else ()
    if launch.device[0] == "cuda":
        block = (1, 1) if chosen is None else chosen.block
        host, index = launch.backend, launch.device[1]
        driven = host.driven(step.kernel, grid, block, step.template, index, LANES)
        if driven is None:
            return None
        return known.Work(0, grid, b"", slots, driven=driven, makers=makers)
    kernel = 0 if chosen is None else getattr(step.kernel, "__self__", None)
    if not isinstance(kernel, int):
        return None
    crew = None
    if chosen is not None and chosen.block[0] > 1:
        assert isinstance(call.target, CpuTarget)
        found = workers.crew(call.target.threads)
        if found is None:
            return None
        crew = (found.state, found.run, *chosen.block, call.target.threads)
    release, threaded = step.plan.num_bytes > _BYTES_TO_RELEASE, call.target is not None
    work = known.Work(kernel, grid, step.template, slots, release, threaded, crew)
    return dataclasses.replace(work, makers=makers)


def is_large(x: np.ndarray[Any, Any]) -> bool:
    """Whether new arrays like one come from the backend: large ones, and those with gaps."""
    gaps = x.size > 0 and byte_span(x.shape, x.strides, x.itemsize) != (0, x.nbytes)
    return gaps or x.nbytes >= LARGE
