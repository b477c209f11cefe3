"""Python's instructions as they are executed: what a call costs on any machine, and a callback
before each."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

# Before an instruction: its code, and its place there in bytes. False: of no interest from now on.
Callback = Callable[[CodeType, int], bool]


def count(call: Callable[[], Any]) -> int:
    """Instructions that this thread executes in a call, of every Python function under it."""
    executed = 0

    def add(code: CodeType, place: int) -> bool:
        nonlocal executed
        executed += 1
        return True

    with before_each(add):
        call()
    return executed


def before_each(callback: Callback) -> contextlib.AbstractContextManager[None]:
    """Call back before each instruction of this thread, but for those of the callback."""
    # From CPython 3.12 on a trace function sees only some of a code's first instructions.
    return _traced(callback) if sys.version_info < (3, 12) else _monitored(callback)


@contextlib.contextmanager
def _traced(callback: Callback) -> Iterator[None]:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        wanted = event != "opcode" or callback(frame.f_code, frame.f_lasti)
        return trace if wanted else None

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


@contextlib.contextmanager
def _monitored(callback: Callback) -> Iterator[None]:
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009  # mypy reads this as 3.11
    tool, event = monitoring.DEBUGGER_ID, monitoring.events.INSTRUCTION

    def executed(code: CodeType, place: int) -> object:
        return None if callback(code, place) else monitoring.DISABLE

    monitoring.use_tool_id(tool, __name__)
    try:
        monitoring.register_callback(tool, event, executed)
        monitoring.set_events(tool, event)
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
        monitoring.restart_events()
