"""A whole call in machine code: arguments in, result out. Compiled by numba.

``whole(given, args, ...)`` is given a Python call's arguments: what is computed, the tuple of
operands, ``out``, and keywords. From their types, dtypes, shapes and strides it makes a signature
and looks it up. Where a like call is known, it checks what may differ (addresses, overlap, whether
``out`` may be written), makes new results through NumPy, and runs the kernel. In every other case
it calls the function that it stands for. It runs with the interpreter's lock held, and lets go of
it only while the kernel runs; by then it needs nothing but its own memory and the arguments.
"""

from __future__ import annotations

from gpubcast.backends.cpu import words as w
from gpubcast.backends.cpu.raw import (
    bits_of_double,
    bits_of_float,
    byte,
    call0,
    call1,
    call2,
    call4,
    call8,
    compiled,
    number,
    pair,
    put,
    quad,
    real,
    run_kernel,
    stack,
    word,
)
from gpubcast.backends.cpu.signing import found, of, signed
from gpubcast.backends.cpu.state import WORKERS

_words = stack(w.MOST_WORDS)
_places = stack(w.PLACE_WORDS * w.MOST_VIEWS + 1)
_parameters = stack(w.MOST_PARAMETERS)
_overflow = stack(1)
_job = stack(7)
_given = stack(3)
_NEVER = 1 << 53


@compiled
def _integer(control: int, place: int, view: int, kind: int) -> bool:
    """A Python integer's bits; whether it has them."""
    overflow = _overflow()
    value = call2(of(control, w.AS_INTEGER), word(place + 16), overflow)
    if number(overflow) != 0:
        return False
    if kind == w.INTEGER:
        if value < of(view, w.LOW) or value > of(view, w.HIGH):
            return False
        size = of(view, w.CROOKED)
        put(place, value if size == 8 else value & ((1 << 8 * size) - 1))
        return True
    if not -_NEVER <= value <= _NEVER:
        return False
    # Exact as a double, so a float is rounded once.
    put(
        place,
        bits_of_double(float(value)) if kind == w.INTEGER_F64 else bits_of_float(float(value)),
    )
    return True


@compiled
def _value(control: int, place: int, view: int, kind: int) -> bool:
    """A scalar operand's bits, in place of its address; whether it has them."""
    at = word(place)
    if kind == w.COPIED:
        size = of(view, w.CROOKED)
        if size == 4:
            put(place, quad(at))
        elif size == 8:
            put(place, word(at))
        elif size == 2:
            put(place, pair(at))
        elif size == 1:
            put(place, byte(at))
        else:
            put(place, word(at))
            put(place + 8, word(at + 8))
    elif kind == w.FLOAT_F32:
        put(place, bits_of_float(real(at)))
    elif kind == w.FLOAT_F64:
        put(place, word(at))
    elif kind == w.BOOLEAN:
        put(place, 1 if word(place + 16) == of(control, w.TRUE) else 0)
    else:
        return _integer(control, place, view, kind)
    return True


@compiled
def _apart(one: int, view: int, other: int, behind: int) -> bool:
    """Whether two arrays at addresses touch no byte of each other."""
    low, high = one + of(view, w.LOW), one + of(view, w.HIGH)
    return high <= other + of(behind, w.LOW) or other + of(behind, w.HIGH) <= low


@compiled
def _given_ready(entry: int, places: int) -> bool:
    """Whether results may be written where the caller wants them."""
    arity, views = of(entry, w.ARITY), of(entry, w.AT_VIEWS)
    for k in range(of(entry, w.OUTS)):
        place, view = (
            places + 8 * w.PLACE_WORDS * (arity + k),
            views + 8 * w.VIEW_WORDS * (arity + k),
        )
        out = word(place)
        if out & of(view, w.CROOKED):
            return False
        if of(entry, w.HOW) != w.DRIVEN and not number(word(place + 16) + w.FLAGS) & w.WRITEABLE:
            return False
        for i in range(arity + k):
            other = views + 8 * w.VIEW_WORDS * i
            at = word(places + 8 * w.PLACE_WORDS * i)
            if of(other, w.KIND) != w.MEMORY or _apart(out, view, at, other):
                continue
            if i >= arity or at != out or not (of(other, w.PLACES) >> k) & 1:
                return False
    return True


@compiled
def _at_home(control: int, entry: int) -> bool:
    """Whether the process and its current device are those of the known call."""
    if call0(of(control, w.PROCESS)) & 0xFFFFFFFF != of(entry, w.KERNEL):
        return False
    current = call4(of(control, w.VECTORCALL), of(control, w.CURRENT_DEVICE), 0, 0, 0)
    if current == 0:
        call0(of(control, w.FORGIVE))
        return False
    call1(of(control, w.DROP), current)
    return bool(current == of(entry, w.DEVICE))


@compiled
def _plain(control: int) -> bool:
    """Whether no variable is set that restricts, tells or waits."""
    environment, look_up = of(control, w.ENVIRONMENT), of(control, w.LOOK_UP)
    version = word(environment + w.DICT_VERSION)
    if of(control, w.VERSIONED) and version == of(control, w.VERSION):
        return True
    for name in (w.BACKEND, w.DEBUG, w.SYNC):
        if call2(look_up, environment, of(control, name)) != 0:
            return False
    put(control + 8 * w.VERSION, version)
    return True


@compiled
def _ready(control: int, entry: int, places: int) -> bool:
    """Whether the operands are as the known call's, the scalars among them turned into bits."""
    if not _plain(control):
        return False
    environment, look_up = of(control, w.ENVIRONMENT), of(control, w.LOOK_UP)
    if of(entry, w.THREADED) != 0:
        if call2(look_up, environment, of(control, w.STREAMING)) != 0:
            return False
        if call2(look_up, environment, of(control, w.THREADS)) != of(entry, w.THREADS_TEXT):
            return False
    if of(entry, w.HOW) == w.SHARED and word(of(entry, w.CREW) + WORKERS) == 0:
        return False  # after a fork
    if of(entry, w.HOW) == w.DRIVEN and not _at_home(control, entry):
        return False
    views = of(entry, w.AT_VIEWS)
    for i in range(of(entry, w.ARITY)):
        view, place = views + 8 * w.VIEW_WORDS * i, places + 8 * w.PLACE_WORDS * i
        kind = of(view, w.KIND)
        if kind == w.MEMORY:
            if word(place) & of(view, w.CROOKED):
                return False
        elif not _value(control, place, view, kind):
            return False
    return of(entry, w.NEW) != w.GIVEN or _given_ready(entry, places)


@compiled
def _new(control: int, view: int) -> int:
    """A new array as a result, or 0."""
    if of(view, w.RESULT_RANK) == w.MADE_BY_PYTHON:
        found: int = call4(of(control, w.VECTORCALL), of(view, w.RESULT_TYPE), 0, 0, 0)
        return found
    call1(of(control, w.HOLD), of(view, w.RESULT_TYPE))
    made: int = call8(
        of(control, w.NEW_ARRAY), of(control, w.ARRAY_TYPE), of(view, w.RESULT_TYPE),
        of(view, w.RESULT_RANK), of(view, w.RESULT_DIMENSIONS), of(view, w.RESULT_STRIDES),
        0, 0, 0,
    )  # fmt: skip
    return made


@compiled
def _results(control: int, entry: int, places: int, out: int) -> int:
    """What the call returns: new arrays, or what was given; 0 where there is no memory, RAISED
    where Python says so."""
    if of(entry, w.NEW) == w.GIVEN:
        call1(of(control, w.HOLD), out)
        return out
    arity, outs, how = of(entry, w.ARITY), of(entry, w.OUTS), of(entry, w.HOW)
    views = of(entry, w.AT_VIEWS)
    made = 0
    if of(entry, w.NEW) == w.SEVERAL:  # in a tuple, which owns them
        made = call1(of(control, w.NEW_TUPLE), outs)
        if made == 0:
            call0(of(control, w.FORGIVE))
            return 0
    for k in range(outs):
        x = _new(control, views + 8 * w.VIEW_WORDS * (arity + k))
        if x == 0:
            if made:
                call1(of(control, w.DROP), made)
            if of(views + 8 * w.VIEW_WORDS * (arity + k), w.RESULT_RANK) == w.MADE_BY_PYTHON:
                return w.RAISED
            call0(of(control, w.FORGIVE))
            return 0
        data = (
            word(word(x + w.GPU_POINTER) + w.GPU_ADDRESS) if how == w.DRIVEN else word(x + w.DATA)
        )
        put(places + 8 * w.PLACE_WORDS * (arity + k), data)
        if made:
            put(made + w.ITEMS + 8 * k, x)
        else:
            return x
    return made


@compiled
def _filled(entry: int, places: int, table: int) -> None:
    """Fill the slots of a parameter table in."""
    slots = of(entry, w.AT_SLOTS)
    put(places + 8 * w.NOWHERE, 0)
    for k in range(of(entry, w.SLOTS)):
        put(table + 8 * k, word(places + 8 * word(slots + 16 * k)) + word(slots + 16 * k + 8))


@compiled
def _driven(control: int, entry: int, places: int) -> bool:
    """Have the driver run a kernel, with a parameter table that no other thread uses; whether it
    was done."""
    lane = of(entry, w.AT_TEMPLATE)
    for _ in range(w.LANES - 1):
        if of(lane, w.BUSY) == 0:
            break
        lane += 8 * w.LANE_WORDS
    if of(lane, w.BUSY) != 0:
        return False
    put(lane + 8 * w.BUSY, 1)
    _filled(entry, places, of(lane, w.LANE_TABLE))
    given = _given()
    put(given, of(entry, w.GRID_OBJECT))
    put(given + 8, of(entry, w.BLOCK_OBJECT))
    put(given + 16, of(lane, w.LANE_ARGUMENTS))
    nothing = call4(of(control, w.VECTORCALL), of(entry, w.FUNCTION), given, 3, 0)
    put(lane + 8 * w.BUSY, 0)
    if nothing == 0:
        call0(of(control, w.FORGIVE))  # Python tries again, and says what is wrong
        return False
    call1(of(control, w.DROP), nothing)
    return True


@compiled
def _start(control: int, entry: int, places: int) -> None:
    """Run the kernel."""
    table, template = _parameters(), of(entry, w.AT_TEMPLATE)
    for k in range(of(entry, w.TEMPLATE_WORDS)):
        put(table + 8 * k, word(template + 8 * k))
    _filled(entry, places, table)
    kernel, grid, how = of(entry, w.KERNEL), of(entry, w.GRID), of(entry, w.HOW)
    if grid == 0:
        return
    if how == w.KEPT:
        run_kernel(kernel, table, 0, grid)
        return
    job, run = _job(), of(entry, w.CREW_RUN)
    put(job, of(entry, w.CREW))
    put(job + 8, kernel)
    put(job + 16, table)
    put(job + 24, grid)
    put(job + 32, of(entry, w.PARTS))
    put(job + 40, of(entry, w.UNIT))
    put(job + 48, of(entry, w.MOST_THREADS))
    thread = call0(of(control, w.LET_GO))
    # Another thread may forget the known call now.
    if how == w.SHARED:
        run_kernel(run, job, 0, 0)
    else:
        run_kernel(kernel, table, 0, grid)
    call1(of(control, w.TAKE), thread)


@compiled
def _done(control: int, entry: int, places: int, out: int) -> int:
    """The result of a call that is like a known one, or 0, or RAISED."""
    driven, owner = of(entry, w.HOW) == w.DRIVEN, of(entry, w.OWNER)
    if owner:
        call1(of(control, w.HOLD), owner)  # Python runs meanwhile, and may forget it
    result = 0
    if _ready(control, entry, places):
        result = _results(control, entry, places, out)
    if result > 0:
        if not driven:
            _start(control, entry, places)
        elif of(entry, w.GRID) and not _driven(control, entry, places):
            call1(of(control, w.DROP), result)
            result = 0
    if owner:
        call1(of(control, w.DROP), owner)
    return result


def whole(given: int, args: int, num_args: int, made: int) -> None:
    """A call.

    Args:
        given: a tuple: the site (code, control words) as bytes, and the function that it stands
            for.
        args: address of the addresses of the arguments.
        num_args: how many there are.
        made: where the address of the result goes.
    """
    control = word(word(given + w.ITEMS) + w.BYTES + 8)
    result = 0
    if num_args >= 3 and word(word(args + 8) + w.TYPE) == of(control, w.TUPLE_TYPE):
        words, places = _words(), _places()
        count = signed(control, args, num_args, words, places)
        if count:
            entry = found(control, words, count)
            if entry:
                result = _done(control, entry, places, word(args + 16))
    if result == 0:
        result = call4(of(control, w.VECTORCALL), word(given + w.ITEMS + 8), args, num_args, 0)
    put(made, 0 if result == w.RAISED else result)
