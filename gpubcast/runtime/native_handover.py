"""Handing recorded calls over to machine code (``backends.native_calls``), which replays them from
then on, and having that code made."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gpubcast import config, locks
from gpubcast.backends.native_calls.record import RecordedCall
from gpubcast.runtime import state
from gpubcast.runtime.debug import say
from gpubcast.runtime.entry_point import Call

if TYPE_CHECKING:
    from gpubcast.backends.native_calls.call_table import CallTable, NativeCall


def process_table() -> CallTable | None:
    """The calls that machine code replays, which stands in front of every entry point from then on;
    None where there is none."""
    if not state.STATE.tables:
        with locks.compiling():
            from gpubcast.backends.native_calls import build

            made = build.new_call_table()
        # The first stays, if an interruption has made one, too.
        if state.STATE.tables.setdefault("calls", made) is made and made is not None:
            state.forget_with(made.clear)
            _stand_in_front(made)
    found: CallTable | None = state.STATE.tables["calls"]
    return found


def _stand_in_front(table: CallTable) -> None:
    for entry in state.entry_points():
        entry.to_native(table.callable)


def _servable(call: Call, signed: tuple[Any, ...], record: RecordedCall) -> NativeCall | None:
    """A record in the words of machine code; None where that cannot or may not do such calls."""
    if call[0] is None or not config.native_calls():
        return None
    with locks.compiling():
        from gpubcast.backends.native_calls.call_table import native_call

    return native_call(call, signed, record)


@functools.cache
def _begin_compiling() -> None:
    with locks.compiling():
        from gpubcast.backends.cpu.jit import object_cache
        from gpubcast.backends.native_calls import build

    if not build.is_compiled() and object_cache.is_shared():
        build.COMPILER.begin()


def compile_in_background(call: Call, signed: tuple[Any, ...], record: RecordedCall) -> None:
    """Have the machine code of calls made by another process, if there is none yet and it can do
    calls like this one; see ``hand_over``."""
    if _servable(call, signed, record) is not None:
        _begin_compiling()


def _tell(failure: str) -> None:
    if failure:
        say(f"the machine code of calls was not made in the background: {failure}")


def hand_over(call: Call, signed: tuple[Any, ...], record: RecordedCall, *, wait: bool) -> None:
    """Have machine code replay a recorded call, if it can.

    Args:
        call: a call like the recorded one.
        signed: its signature.
        record: the record.
        wait: whether the code is waited for, and made here if need be, where it is on no disk yet.
    """
    native = _servable(call, signed, record)
    if native is None:
        return
    with locks.compiling():
        from gpubcast.backends.native_calls import build

    if not wait and not build.is_compiled():
        _tell(build.COMPILER.failure())
        return
    _tell(build.COMPILER.wait("gpubcast makes the machine code of calls, once"))
    table = process_table()
    if table is None:
        return
    _stand_in_front(table)  # the module of the entry point may be younger than the table
    state.alone(lambda: table.add(native))
