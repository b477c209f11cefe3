"""A custom call of XLA's FFI in machine code: buffers in, kernels run. Compiled by numba.

A handler finds the record that the call's only attribute names, fills the addresses of its
buffers into each kernel's parameters, and runs the kernels one after the other. It runs on XLA's
threads and needs no lock of the interpreter. Offsets are those of XLA's ``xla/ffi/api/c_api.h``,
which only adds fields at the end.
"""

from __future__ import annotations

from gpubcast.backends.cpu.intrinsics.c_memory import (
    call1,
    call11,
    put,
    run_kernel,
    s32,
    stack,
    word,
)
from gpubcast.backends.native_calls import ffi_layout as w

_values = stack(w.MOST_BUFFERS + 1)
_parameters = stack(w.MOST_PARAMETERS)
_job = stack(7)
_given = stack(4)
_number = stack(1)


def _record(frame: int, control: int) -> int:
    """The record of a call, or 0."""
    attribute = word(word(frame + w.FRAME_ATTRIBUTES))
    key = word(word(attribute + w.SCALAR_VALUE))
    table = word(control)
    mask = word(table)
    place = key & mask
    while word(table + 8 + 16 * place) != 0:
        if word(table + 8 + 16 * place) == key:
            found: int = word(table + 16 + 16 * place)
            arity, outs = word(frame + w.FRAME_ARGUMENTS), word(frame + w.FRAME_RESULTS)
            same = arity == word(found + 8 * w.ARITY) and outs == word(found + 8 * w.OUTS)
            return found if same else 0
        place = (place + 1) & mask
    return 0


def _write_data(values: int, buffers: int, count: int) -> None:
    """The addresses of some buffers of a call."""
    for i in range(count):
        put(values + 8 * i, word(word(buffers + 8 * i) + w.BUFFER_DATA))


def _write_values(frame: int, values: int) -> None:
    """The addresses of all buffers of a call, and the nowhere that positions begin at."""
    arity, outs = word(frame + w.FRAME_ARGUMENTS), word(frame + w.FRAME_RESULTS)
    _write_data(values, word(frame + w.FRAME_ARGUMENTS + 16), arity)
    _write_data(values + 8 * arity, word(frame + w.FRAME_RESULTS + 16), outs)
    put(values + 8 * (arity + outs), 0)


def _fill(step: int, values: int, table: int) -> None:
    """The parameters of a kernel."""
    template, words = step + 8 * w.STEP_WORDS, word(step + 8 * w.TEMPLATE_WORDS)
    slots = template + 8 * words
    for k in range(words):
        put(table + 8 * k, word(template + 8 * k))
    for k in range(word(step + 8 * w.SLOTS)):
        put(table + 8 * k, word(values + 8 * word(slots + 16 * k)) + word(slots + 16 * k + 8))


def handle_on_cpu(frame: int, control: int, status: int) -> None:
    """A call on this processor.

    Args:
        frame: XLA's ``XLA_FFI_CallFrame``.
        control: where the address of the table of records is.
        status: where DONE goes, or what is wrong.
    """
    record = _record(frame, control)
    if record == 0:
        put(status, w.MISSING)
        return
    values, table, job = _values(), _parameters(), _job()
    _write_values(frame, values)
    for k in range(word(record + 8 * w.STEPS)):
        step = word(record + 8 * (w.RECORD_WORDS + k))
        _fill(step, values, table)
        kernel, grid, parts = (
            word(step + 8 * w.KERNEL),
            word(step + 8 * w.GRID),
            word(step + 8 * w.PARTS),
        )
        run = word(step + 8 * w.TEAM_RUN)
        if parts == 1 or run == 0:
            run_kernel(kernel, table, 0, grid)
        else:
            put(job, word(step + 8 * w.TEAM))
            put(job + 8, kernel)
            put(job + 16, table)
            put(job + 24, grid)
            put(job + 32, parts)
            put(job + 40, word(step + 8 * w.UNIT))
            put(job + 48, word(step + 8 * w.THREADS))
            run_kernel(run, job, 0, 0)
    put(status, w.DONE)


def handle_on_gpu(frame: int, control: int, status: int) -> None:
    """A call on the current GPU, in the stream of XLA's context; arguments as above."""
    record = _record(frame, control)
    if record == 0:
        put(status, w.MISSING)
        return
    put(status, w.REFUSED)
    number, given = _number(), _given()
    put(number, 0)
    if call1(word(record + 8 * w.CURRENT_DEVICE), number) & 0xFFFFFFFF != 0:
        return
    device, steps = s32(number), word(record + 8 * w.STEPS)
    if device >= word(record + 8 * w.DEVICES):
        return
    put(given, w.ARGUMENTS_BYTES)
    put(given + 8, 0)
    put(given + 16, word(frame + w.FRAME_CONTEXT))
    put(given + 24, 0)
    if call1(word(word(frame + w.FRAME_API) + w.API_STREAM_GET), given) != 0:
        return
    stream, values, table = word(given + 24), _values(), _parameters()
    _write_values(frame, values)
    for k in range(steps):
        step = word(record + 8 * (w.RECORD_WORDS + device * steps + k))
        if step == 0:
            return
        _fill(step, values, table)
        put(number, table)
        # The driver copies the parameters before it returns.
        failed = call11(
            word(record + 8 * w.LAUNCH), word(step + 8 * w.KERNEL), word(step + 8 * w.GRID), 1, 1,
            word(step + 8 * w.PARTS), word(step + 8 * w.UNIT), 1, 0, stream, number, 0,
        )  # fmt: skip
        if failed & 0xFFFFFFFF != 0:
            return
    put(status, w.DONE)
