"""A repeated call in machine code: arguments in, result out. Compiled by numba.

``replay(given, args, ...)`` is given a Python call's arguments: what is computed, the tuple of
operands, ``out``, and keywords. It makes the call's signature and looks it up. Where like calls are
recorded, it does what ``record.RecordedCall.run`` does: it checks what may differ (addresses,
overlap, whether ``out`` may be written), makes new results, and runs the kernel. In every other
case it calls the Python function that it stands for. It runs with the interpreter's lock held, and
releases it only while the kernel runs; by then it needs nothing but its own memory and the
arguments.
"""

from __future__ import annotations

from gpubcast.backends.cpu.intrinsics.c_memory import (
    bits_of_double,
    bits_of_float,
    call0,
    call1,
    call2,
    call4,
    call8,
    f64,
    put,
    run_kernel,
    s32,
    stack,
    u8,
    u16,
    u32,
    word,
)
from gpubcast.backends.cpu.ndarray_address import ALIGNMENT
from gpubcast.backends.cpu.threads.team_state import WORKERS
from gpubcast.backends.native_calls import object_layout
from gpubcast.backends.native_calls import record_layout as w
from gpubcast.backends.native_calls.lookup import (
    address_of,
    looked_up,
    memory_of,
    of,
    write_signature,
)

_words = stack(w.MOST_WORDS)
_values = stack(w.VALUE_WORDS * w.MOST_ARGUMENTS + 1)
_parameters = stack(w.MOST_PARAMETERS)
_overflow = stack(1)
_length = stack(1)
_job = stack(7)
_given = stack(3)
_NEVER = 1 << 53
_ON = int.from_bytes(b"on", "little")


def _integer_bits(control: int, value: int, argument: int, conversion: int) -> bool:
    """A Python integer's bits; whether it has them."""
    overflow = _overflow()
    given = call2(of(control, w.AS_LONG_LONG), word(value + 16), overflow)
    if s32(overflow) != 0:
        return False
    if conversion == w.INTEGER:
        if given < of(argument, w.LOW) or given > of(argument, w.HIGH):
            return False
        size = of(argument, w.MISALIGNED)
        put(value, given if size == 8 else given & ((1 << 8 * size) - 1))
        return True
    if not -_NEVER <= given <= _NEVER:
        return False
    # Exact as a double, so a float is rounded once.
    put(
        value,
        bits_of_double(float(given))
        if conversion == w.INTEGER_F64
        else bits_of_float(float(given)),
    )
    return True


def _scalar_bits(control: int, value: int, argument: int, conversion: int) -> bool:
    """A scalar operand's bits, in place of its address; whether it has them."""
    at = word(value)
    if conversion == w.COPIED:
        size = of(argument, w.MISALIGNED)
        if size == 4:
            put(value, u32(at))
        elif size == 8:
            put(value, word(at))
        elif size == 2:
            put(value, u16(at))
        elif size == 1:
            put(value, u8(at))
        else:
            put(value, word(at))
            put(value + 8, word(at + 8))
    elif conversion == w.FLOAT_F32:
        put(value, bits_of_float(f64(at)))
    elif conversion == w.FLOAT_F64:
        put(value, word(at))
    elif conversion == w.BOOLEAN:
        put(value, 1 if word(value + 16) == of(control, w.TRUE) else 0)
    else:
        return _integer_bits(control, value, argument, conversion)
    return True


def _apart(one: int, argument: int, other: int, behind: int) -> bool:
    """Whether two arrays at addresses touch no byte of each other."""
    low, high = one + of(argument, w.LOW), one + of(argument, w.HIGH)
    return high <= other + of(behind, w.LOW) or other + of(behind, w.HIGH) <= low


def _conflicts(record: int, values: int, k: int) -> bool:
    """Whether the result number ``k`` meets an argument before it other than in place."""
    arity, arguments = of(record, w.ARITY), of(record, w.AT_ARGUMENTS)
    argument = arguments + 8 * w.ARGUMENT_WORDS * (arity + k)
    out = word(values + 8 * w.VALUE_WORDS * (arity + k))
    for i in range(arity + k):
        other = arguments + 8 * w.ARGUMENT_WORDS * i
        at = word(values + 8 * w.VALUE_WORDS * i)
        if of(other, w.CONVERSION) != w.MEMORY or _apart(out, argument, at, other):
            continue
        if i >= arity or at != out or not (of(other, w.IN_PLACE) >> k) & 1:
            return True
    return False


def _given_ready(record: int, values: int) -> bool:
    """Whether results may be written where the caller wants them."""
    arity = of(record, w.ARITY)
    for k in range(of(record, w.OUTS)):
        value = values + 8 * w.VALUE_WORDS * (arity + k)
        argument = of(record, w.AT_ARGUMENTS) + 8 * w.ARGUMENT_WORDS * (arity + k)
        if word(value) & of(argument, w.MISALIGNED):
            return False
        if (
            of(record, w.HOW) != w.BY_DRIVER
            and not s32(word(value + 16) + object_layout.FLAGS) & object_layout.WRITEABLE
        ):
            return False
        if _conflicts(record, values, k):
            return False
    return True


def _device_is_current(control: int, record: int) -> bool:
    """Whether the process and its current device are those of the record."""
    if call0(of(control, w.GETPID)) & 0xFFFFFFFF != of(record, w.KERNEL):
        return False
    current = call4(of(control, w.VECTORCALL), of(control, w.CURRENT_DEVICE), 0, 0, 0)
    if current == 0:
        call0(of(control, w.CLEAR_ERROR))
        return False
    call1(of(control, w.DECREF), current)
    return bool(current == of(record, w.DEVICE))


def _plain(control: int) -> bool:
    """Whether no variable is set that restricts, tells, waits or wants Python."""
    environment, get_item = of(control, w.ENVIRONMENT), of(control, w.GET_ITEM)
    version = word(environment + object_layout.DICT_VERSION)
    if of(control, w.VERSIONED) and version == of(control, w.VERSION):
        return True
    for name in (w.BACKEND, w.DEBUG, w.SYNC):
        if call2(get_item, environment, of(control, name)) != 0:
            return False
    text = call2(get_item, environment, of(control, w.NATIVE_CALLS))
    if text != 0 and (
        word(text + object_layout.LENGTH) != 2 or u16(text + object_layout.BYTES) != _ON
    ):
        return False
    put(control + 8 * w.VERSION, version)
    return True


def _has_workers(record: int) -> bool:
    """Whether every kernel that a team runs has one: after a fork there is none."""
    kernel = record
    while kernel:
        if of(kernel, w.HOW) == w.BY_TEAM and word(of(kernel, w.TEAM) + WORKERS) == 0:
            return False
        kernel = of(kernel, w.NEXT)
    return True


def _ready(control: int, record: int, values: int) -> bool:
    """Whether the arguments are as the record's, the scalars among them turned into bits."""
    if not _plain(control):
        return False
    environment, get_item = of(control, w.ENVIRONMENT), of(control, w.GET_ITEM)
    if of(record, w.THREADED) != 0:
        if call2(get_item, environment, of(control, w.STREAMING)) != 0:
            return False
        if call2(get_item, environment, of(control, w.THREADS)) != of(record, w.THREADS_TEXT):
            return False
    if not _has_workers(record):
        return False
    if of(record, w.HOW) == w.BY_DRIVER and not _device_is_current(control, record):
        return False
    arguments = of(record, w.AT_ARGUMENTS)
    for i in range(of(record, w.ARITY)):
        argument, value = arguments + 8 * w.ARGUMENT_WORDS * i, values + 8 * w.VALUE_WORDS * i
        conversion = of(argument, w.CONVERSION)
        if conversion == w.MEMORY:
            if word(value) & of(argument, w.MISALIGNED):
                return False
        elif not _scalar_bits(control, value, argument, conversion):
            return False
    return of(record, w.NEW) != w.GIVEN or _given_ready(record, values)


def _new_array(control: int, dtype: int, rank: int, dimensions: int, strides: int) -> int:
    """A new NumPy array, or 0."""
    call1(of(control, w.INCREF), dtype)
    made: int = call8(
        of(control, w.NEW_ARRAY), of(control, w.ARRAY_TYPE), dtype, rank, dimensions, strides,
        0, 0, 0,
    )  # fmt: skip
    return made


def _new_buffer(control: int, num_bytes: int) -> int:
    """New flat memory, aligned as ``CpuBackend.allocate`` does it, or 0."""
    length, uint8 = _length(), of(control, w.UINT8)
    put(length, num_bytes + ALIGNMENT)
    memory = _new_array(control, uint8, 1, length, 0)
    if memory == 0:
        return 0
    start = (word(memory + object_layout.DATA) + ALIGNMENT - 1) & -ALIGNMENT
    put(length, num_bytes)
    call1(of(control, w.INCREF), uint8)
    made: int = call8(
        of(control, w.NEW_ARRAY), of(control, w.ARRAY_TYPE), uint8, 1, length, 0,
        start, object_layout.NEW_FLAGS, 0,
    )  # fmt: skip
    if made == 0:
        call1(of(control, w.DECREF), memory)
        return 0
    call2(of(control, w.SET_BASE), made, memory)
    return made


def _new_device_array(control: int, argument: int) -> int:
    """A new DeviceArray over flat memory, or 0."""
    buffer = _new_buffer(control, of(argument, w.RESULT_BYTES))
    if buffer == 0:
        return 0
    made: int = call2(of(control, w.ALLOCATE), of(control, w.DEVICE_ARRAY_TYPE), 0)
    if made == 0:
        call1(of(control, w.DECREF), buffer)
        return 0
    put(made + of(control, w.AT_BUFFER), buffer)
    call1(of(control, w.INCREF), of(control, w.NONE))
    put(made + of(control, w.AT_STRIDED), of(control, w.NONE))
    call1(of(control, w.INCREF), of(argument, w.RESULT_OPERAND))
    put(made + of(control, w.AT_OPERAND), of(argument, w.RESULT_OPERAND))
    call1(of(control, w.INCREF), of(argument, w.RESULT_DEVICE))
    put(made + of(control, w.AT_DEVICE), of(argument, w.RESULT_DEVICE))
    return made


def _new(control: int, argument: int) -> int:
    """A new result, or 0."""
    how = of(argument, w.RESULT)
    if how == w.MADE_BY_PYTHON:
        made: int = call4(of(control, w.VECTORCALL), of(argument, w.RESULT_TYPE), 0, 0, 0)
        return made
    if how == w.FLAT:
        return _new_device_array(control, argument)
    return _new_array(
        control, of(argument, w.RESULT_TYPE), of(argument, w.RESULT_RANK),
        of(argument, w.RESULT_DIMENSIONS), of(argument, w.RESULT_STRIDES),
    )  # fmt: skip


def _results(control: int, record: int, values: int, out: int) -> int:
    """What the call returns: new arrays, or what was given; 0 where there is no memory, RAISED
    where Python says so."""
    if of(record, w.NEW) == w.GIVEN:
        call1(of(control, w.INCREF), out)
        return out
    arity, outs = of(record, w.ARITY), of(record, w.OUTS)
    packed = 0
    if of(record, w.NEW) == w.SEVERAL:  # in a tuple, which owns them
        packed = call1(of(control, w.NEW_TUPLE), outs)
        if packed == 0:
            call0(of(control, w.CLEAR_ERROR))
            return 0
    for k in range(outs):
        argument = of(record, w.AT_ARGUMENTS) + 8 * w.ARGUMENT_WORDS * (arity + k)
        x = _new(control, argument)
        if x == 0:
            if packed:
                call1(of(control, w.DECREF), packed)
            if of(argument, w.RESULT) == w.MADE_BY_PYTHON:
                return w.RAISED
            call0(of(control, w.CLEAR_ERROR))
            return 0
        put(values + 8 * w.VALUE_WORDS * (arity + k), address_of(control, memory_of(control, x)))
        if not packed:
            return x
        put(packed + object_layout.ITEMS + 8 * k, x)
    return packed


def _fill(record: int, values: int, table: int) -> None:
    """Fill the slots of a parameter table in."""
    slots = of(record, w.AT_SLOTS)
    put(values + 8 * w.NOWHERE, 0)
    for k in range(of(record, w.SLOTS)):
        put(table + 8 * k, word(values + 8 * word(slots + 16 * k)) + word(slots + 16 * k + 8))


def _launch(control: int, record: int, values: int) -> bool:
    """Have the driver run a kernel, with a parameter table that no other thread uses; whether it
    was done."""
    lane = of(record, w.AT_TEMPLATE)
    for _ in range(w.LANES - 1):
        if of(lane, w.BUSY) == 0:
            break
        lane += 8 * w.LANE_WORDS
    if of(lane, w.BUSY) != 0:
        return False
    put(lane + 8 * w.BUSY, 1)
    _fill(record, values, of(lane, w.LANE_TABLE))
    given = _given()
    put(given, of(record, w.GRID_OBJECT))
    put(given + 8, of(record, w.BLOCK_OBJECT))
    put(given + 16, of(lane, w.LANE_ARGUMENTS))
    nothing = call4(of(control, w.VECTORCALL), of(record, w.FUNCTION), given, 3, 0)
    put(lane + 8 * w.BUSY, 0)
    if nothing == 0:
        call0(of(control, w.CLEAR_ERROR))  # Python tries again, and says what is wrong
        return False
    call1(of(control, w.DECREF), nothing)
    return True


def _run(control: int, record: int, values: int) -> None:
    """Run one kernel on this processor."""
    table, template = _parameters(), of(record, w.AT_TEMPLATE)
    for k in range(of(record, w.TEMPLATE_WORDS)):
        put(table + 8 * k, word(template + 8 * k))
    _fill(record, values, table)
    kernel, grid, how = of(record, w.KERNEL), of(record, w.GRID), of(record, w.HOW)
    if how == w.LOCK_HELD:
        run_kernel(kernel, table, 0, grid)
        return
    job, run = _job(), of(record, w.TEAM_RUN)
    put(job, of(record, w.TEAM))
    put(job + 8, kernel)
    put(job + 16, table)
    put(job + 24, grid)
    put(job + 32, of(record, w.PARTS))
    put(job + 40, of(record, w.UNIT))
    put(job + 48, of(record, w.MOST_THREADS))
    thread = call0(of(control, w.SAVE_THREAD))
    # Another thread may forget the record now.
    if how == w.BY_TEAM:
        run_kernel(run, job, 0, 0)
    else:
        run_kernel(kernel, table, 0, grid)
    call1(of(control, w.RESTORE_THREAD), thread)


def _temporaries(control: int, record: int, values: int) -> int:
    """Memory for what only the kernels see, whose addresses join ``values``; 0 where there is none
    to be had."""
    memory: int
    if of(record, w.SCRATCH):
        memory = call4(of(control, w.VECTORCALL), of(record, w.SCRATCH), 0, 0, 0)
    else:
        memory = _new_buffer(control, of(record, w.TEMPORARY_BYTES))
    if memory == 0:
        call0(of(control, w.CLEAR_ERROR))
        return 0
    value = values + 8 * w.VALUE_WORDS * (of(record, w.ARITY) + of(record, w.OUTS))
    begin = address_of(control, memory)
    for k in range(of(record, w.TEMPORARIES)):
        offset = word(of(record, w.AT_TEMPORARIES) + 8 * k)
        put(value + 8 * w.VALUE_WORDS * k, begin + offset)
    return memory


def _start(control: int, record: int, values: int) -> bool:
    """Run the kernels; whether it was done."""
    memory, done = 0, True
    if of(record, w.TEMPORARIES):
        memory = _temporaries(control, record, values)
        if memory == 0:
            return False
    kernel = record
    while kernel and done:
        following = of(kernel, w.NEXT)  # while this may be read: without an owner, no longer
        if of(kernel, w.GRID):
            if of(kernel, w.HOW) == w.BY_DRIVER:
                done = _launch(control, kernel, values)
            else:
                _run(control, kernel, values)
        kernel = following
    if memory:
        call1(of(control, w.DECREF), memory)
    return done


def _replayed(control: int, record: int, values: int, out: int) -> int:
    """The result of a call that is like a recorded one, or 0, or RAISED."""
    owner = of(record, w.OWNER)
    if owner:
        call1(of(control, w.INCREF), owner)  # Python runs meanwhile, and may forget the record
    result = 0
    if _ready(control, record, values):
        result = _results(control, record, values, out)
    if result > 0 and not _start(control, record, values):
        call1(of(control, w.DECREF), result)
        result = 0
    if owner:
        call1(of(control, w.DECREF), owner)
    return result


def replay(given: int, args: int, num_args: int, made: int) -> None:
    """A call.

    Args:
        given: a tuple: the site (code, control words) as bytes, and the function that it stands
            for.
        args: address of the addresses of the arguments.
        num_args: how many there are.
        made: where the address of the result goes.
    """
    control = word(word(given + object_layout.ITEMS) + object_layout.BYTES + 8)
    result = 0
    if num_args >= 3 and word(word(args + 8) + object_layout.TYPE) == of(control, w.TUPLE_TYPE):
        words, values = _words(), _values()
        count = write_signature(control, args, num_args, words, values)
        if count:
            record = looked_up(control, words, count)
            if record:
                result = _replayed(control, record, values, word(args + 16))
    if result == 0:
        result = call4(
            of(control, w.VECTORCALL), word(given + object_layout.ITEMS + 8), args, num_args, 0
        )
    put(made, 0 if result == w.RAISED else result)
