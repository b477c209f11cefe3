"""The built-in function that hands a call's arguments to machine code."""

from __future__ import annotations

from gpubcast.backends.cpu.jit.builtins import MethodDef, definition
from gpubcast.backends.cpu.ndarray_address import OFFSET_OF_DATA
from gpubcast.backends.native_calls.object_layout import BYTES, ITEMS

# `self` is a tuple whose first item holds the address of the code as its first word; see `replay`.
_TEXT = f"""
define ptr @gpubcast_call(ptr %self, ptr %args, i64 %count) {{
  %made = alloca i64
  %nothing = alloca ptr
  %error = alloca ptr
  %at.site = getelementptr i8, ptr %self, i64 {ITEMS}
  %site = load ptr, ptr %at.site
  %at.code = getelementptr i8, ptr %site, i64 {BYTES}
  %code = load ptr, ptr %at.code
  %given = ptrtoint ptr %self to i64
  %first = ptrtoint ptr %args to i64
  %result = ptrtoint ptr %made to i64
  %status = call i32 %code(ptr %nothing, ptr %error, i64 %given, i64 %first, i64 %count,
                        i64 %result)
  %address = load i64, ptr %made
  %found = inttoptr i64 %address to ptr
  ret ptr %found
}}
"""


def call_definition() -> MethodDef | None:
    """The function through which calls reach machine code; ``build`` tries it."""
    return definition(_TEXT, "gpubcast_call") if OFFSET_OF_DATA else None
