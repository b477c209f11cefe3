"""A custom call of XLA's FFI in machine code: buffers in, kernels run. Compiled by numba.

``handle(frame, control, status)`` finds the record that the call's only attribute names, fills the
addresses of its buffers into each kernel's parameters, and runs the kernels one after the other. It
runs on XLA's threads and needs no lock of the interpreter. Offsets are those of XLA's
``xla/ffi/api/c_api.h``, versions 0.1 and later, which only adds fields at the end.
"""

from __future__ import annotations

from gpubcast.backends.cpu.intrinsics.c_memory import put, run_kernel, stack, word
from gpubcast.backends.native_calls import ffi_layout as w

_values = stack(w.MOST_BUFFERS + 1)
_parameters = stack(w.MOST_PARAMETERS)
_job = stack(7)


def _record(control: int, key: int) -> int:
    """The record of a key, or 0."""
    table = word(control)
    mask = word(table)
    place = key & mask
    while word(table + 8 + 16 * place) != 0:
        if word(table + 8 + 16 * place) == key:
            found: int = word(table + 16 + 16 * place)
            return found
        place = (place + 1) & mask
    return 0


def _data(values: int, buffers: int, count: int) -> None:
    """The addresses of the buffers of a call."""
    for i in range(count):
        put(values + 8 * i, word(word(buffers + 8 * i) + w.BUFFER_DATA))


def _run(step: int, values: int) -> None:
    """Run a kernel."""
    table, job = _parameters(), _job()
    template, slots = step + 8 * w.STEP_WORDS, step + 8 * w.STEP_WORDS
    slots += 8 * word(step + 8 * w.TEMPLATE_WORDS)
    for k in range(word(step + 8 * w.TEMPLATE_WORDS)):
        put(table + 8 * k, word(template + 8 * k))
    for k in range(word(step + 8 * w.SLOTS)):
        put(table + 8 * k, word(values + 8 * word(slots + 16 * k)) + word(slots + 16 * k + 8))
    kernel, grid, parts = (
        word(step + 8 * w.KERNEL),
        word(step + 8 * w.GRID),
        word(step + 8 * w.PARTS),
    )
    run = word(step + 8 * w.TEAM_RUN)
    if parts == 1 or run == 0:
        run_kernel(kernel, table, 0, grid)
        return
    put(job, word(step + 8 * w.TEAM))
    put(job + 8, kernel)
    put(job + 16, table)
    put(job + 24, grid)
    put(job + 32, parts)
    put(job + 40, word(step + 8 * w.UNIT))
    put(job + 48, word(step + 8 * w.THREADS))
    run_kernel(run, job, 0, 0)


def handle(frame: int, control: int, status: int) -> None:
    """A call.

    Args:
        frame: XLA's ``XLA_FFI_CallFrame``.
        control: where the address of the table of records is.
        status: where 0 goes, 1 where there is no such record, 2 where it has other buffers.
    """
    attribute = word(word(frame + w.FRAME_ATTRIBUTES))
    record = _record(control, word(word(attribute + w.SCALAR_VALUE)))
    if record == 0:
        put(status, 1)
        return
    arity, outs = word(frame + w.FRAME_ARGUMENTS), word(frame + w.FRAME_RESULTS)
    if arity != word(record + 8 * w.ARITY) or outs != word(record + 8 * w.OUTS):
        put(status, 2)
        return
    values = _values()
    _data(values, word(frame + w.FRAME_ARGUMENTS + 16), arity)
    _data(values + 8 * arity, word(frame + w.FRAME_RESULTS + 16), outs)
    put(values + 8 * (arity + outs), 0)
    for k in range(word(record + 8 * w.STEPS)):
        _run(word(record + 8 * (w.RECORD_WORDS + k)), values)
    put(status, 0)
