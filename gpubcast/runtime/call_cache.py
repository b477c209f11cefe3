"""A call like one before: from arrays to a launch with one look-up.

What a call needs to know about an array is its dtype, its shape, its strides and its address. Where
the first three have been seen with the same operation, everything else is ready in a
``RecordedCall``. It is replayed in Python at first; a call that is repeated often is handed over to
machine code, which reads the same record and comes first at every ``EntryPoint``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from gpubcast.backends.array_types import DeviceArray
from gpubcast.backends.native_calls.record import RecordedCall, RecordedKernel
from gpubcast.backends.native_calls.signature import signature
from gpubcast.runtime import native_handover, state
from gpubcast.runtime.entry_point import Call
from gpubcast.runtime.launch import Launch, LaunchStep
from gpubcast.runtime.results import results_of
from gpubcast.runtime.view import View
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES, work
from gpubcast.schedules.schedule import CpuTarget

# So often a call is repeated before machine code has it, if there is any; before that code is made
# in the background, once on a machine; and before it is waited for. Tried at powers of two; early,
# since what a call in Python reads is in no cache after a pause: it takes 100 us then, and machine
# code 10.
REPEATS, BACKGROUND_REPEATS, MANY_REPEATS = 8, 64, 4096


@dataclass(slots=True, eq=False)
class CachedCall:
    """A record, and how often it was replayed in Python."""

    record: RecordedCall
    repeats: int = 0


def again(prefix: Hashable, call: Call) -> Any:
    """The result of a call, or None where no like one is recorded; ``prefix`` says what it computes
    and with which keywords."""
    found = signature(call[1], call[2])
    if found is None:
        return None
    signed, values = found
    cached: CachedCall | None = state.cached_call((prefix, signed))
    if cached is None:
        return None
    result = cached.record.run(call[2], values)
    if result is not None and cached.repeats < MANY_REPEATS:
        cached.repeats += 1
        repeats = cached.repeats
        if repeats >= REPEATS and repeats.bit_count() == 1:
            if repeats == BACKGROUND_REPEATS:
                native_handover.compile_in_background(call, signed, cached.record)
            wait = repeats == MANY_REPEATS
            native_handover.hand_over(call, signed, cached.record, wait=wait)
    return result


def remember(
    prefix: Hashable,
    call: Call,
    views: tuple[View, ...],
    launch: Launch,
    array_type: type[DeviceArray] | None,
    *,
    packed: bool,
) -> None:
    """Record a call's launch for calls like it, when there has been one.

    Calls of which an operand was copied are not recorded.

    Args:
        prefix: what is computed, and keywords.
        call: the call.
        views: its operands, as the launch was made for.
        launch: the launch.
        array_type: what new results are; see ``results_of``.
        packed: whether the results are in a tuple.
    """
    if not state.repeated(launch):
        return
    found = signature(call[1], call[2])
    if found is None:
        return
    signed, values = found
    for i, (value, argument) in enumerate(zip(values, launch.arguments, strict=False)):
        # Another address: a copy stands in for an operand.
        if argument.scalar is None and (
            value & argument.misaligned or (i < len(views) and views[i].slot != value)
        ):
            return
    state.cache_call((prefix, signed), CachedCall(_record(call, launch, array_type, packed)))


def _record(
    call: Call, launch: Launch, array_type: type[DeviceArray] | None, packed: bool
) -> RecordedCall:
    _, operands, out, *_ = call
    target = launch.backend.target()
    threaded = isinstance(target, CpuTarget) and any(
        work(step.plan) >= PARALLEL_BYTES for step in launch.steps
    )
    return RecordedCall(
        launch.backend,
        launch.device,
        launch.arguments,
        len(operands),
        tuple(map(_kernel, launch.steps)),
        tuple(shape.byte_size for shape in launch.temporaries),
        target if threaded else None,
        results_of(launch, array_type) if out is None else (),
        packed,
    )


def _kernel(step: LaunchStep) -> RecordedKernel:
    configuration = (0, (1, 1)) if step.schedule is None else step.schedule.launch_configuration
    return RecordedKernel(step.parameters, step.kernel, *configuration, step.plan.num_bytes)
