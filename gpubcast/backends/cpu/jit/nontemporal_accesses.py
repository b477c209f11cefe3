"""Loops over streamed memory, after LLVM has made vectors of them.

Vector stores of ``line_<type>`` go past the caches where LLVM has found that they are aligned: the
scalar store that it begins with is not, so it would refuse to make vectors of one that says so.
Vector loads of ``far_<type>`` ask for the memory that a loop comes to later where it also writes
past the caches and the processor does not look ahead far enough by itself; those of
``far_run_<type>`` may go to several pages in turn.
"""

from __future__ import annotations

import re

from gpubcast.backends.cpu.jit import page_turns
from gpubcast.schedules.cpu.cost import AHEAD, VECTOR

# What marks the stores and the loads, and loads of a run: names of scopes.
STREAMED, RUN = "streamed", "run"
_SHORTEST = 16
_BYTES = {"float": 4, "double": 8, "i32": 4, "i64": 8}
_TYPES = "|".join(_BYTES)
_SCOPE = re.compile(rf'^!(\d+) = !\{{!"({STREAMED}|{RUN})", ', re.MULTILINE)
_LIST = re.compile(r"^!(\d+) = !\{(!\d+(?:, !\d+)*)\}$", re.MULTILINE)
_STORE = re.compile(rf"  store <(\d+) x ({_TYPES})> .*, align (\d+).*, !noalias !(\d+)")
_LOAD = re.compile(r"  %\S+ = load <\d+ x \w+>, ptr (\S+), .*, !alias\.scope !(\d+)")
_PREFETCH = "void @llvm.prefetch.p0(ptr"


def with_nontemporal_accesses(text: str, *, asks: bool, in_turn: bool = False) -> str:
    """LLVM assembly in which marked stores go past the caches, and marked loads may ask ahead, in a
    run for several pages in turn."""
    scopes = {name: f"!{number}" for number, name in _SCOPE.findall(text)}
    if STREAMED not in scopes:
        return text
    lists = [(name, of.split(", ")) for name, of in _LIST.findall(text)]
    marked = {name for name, of in lists if scopes[STREAMED] in of}
    runs = {name for name, of in lists if scopes.get(RUN) in of} if in_turn else set()
    one = 1 + max(int(name) for name in re.findall(r"^!(\d+) = ", text, re.MULTILINE))
    lines, asked = [], 0
    for line in text.splitlines():
        store, load = _STORE.match(line), _LOAD.match(line)
        if store and store[4] in marked:
            size = int(store[1]) * _BYTES[store[2]]
            if size >= _SHORTEST and int(store[3]) >= min(size, VECTOR):
                line += f", !nontemporal !{one}"
        lines.append(line)
        if load and (load[2] in runs or (asks and load[2] in marked)):
            asked += 1
            ahead = f"%ahead.{asked}"
            if load[2] in runs:
                lines += page_turns.assembly(ahead, load[1], AHEAD, VECTOR * page_turns.LEAST)
            else:
                lines.append(f"  {ahead} = getelementptr i8, ptr {load[1]}, i64 {AHEAD}")
            lines.append(f"  call {_PREFETCH} %ahead.{asked}, i32 0, i32 2, i32 1)")
    if asked and f"declare {_PREFETCH}" not in text:
        lines.append(f"declare {_PREFETCH}, i32, i32, i32)")
    return "\n".join([*lines, f"!{one} = !{{i32 1}}", ""])
