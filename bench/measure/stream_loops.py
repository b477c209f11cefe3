"""Read, fill, copy and triad in machine code or the C library's: what ceilings are made of.

The loops are LLVM assembly, one cache line a turn. They take as long to compile as a call of a
case, and while they run no other thread waits for them.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from gpubcast.backends.cpu.jit import page_turns

STREAMS = {"read": 1, "fill": 1, "copy": 2, "triad": 3}  # Arrays that are read and written, by name
LINE = 64  # Bytes of a cache line

# repeats, target, source, other, lines: addresses, and cache lines.
Loop = Callable[[int, int, int, int, int], object]

_TEXT = """
define void @{symbol}(i64 %repeats, ptr %target, ptr %source, ptr %other, i64 %lines) {{
entry:
  br label %pass
pass:
  %left = phi i64 [ %repeats, %entry ], [ %less, %passed ]
  br label %line
line:
  %k = phi i64 [ 0, %pass ], [ %next, %line ]
  %at = shl i64 %k, 6
  {step}
  %target.p = getelementptr i8, ptr %target, i64 %at
  store <16 x float> {value}, ptr %target.p, align 64{hint}
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %lines
  br i1 %more, label %line, label %passed
passed:
  %less = sub i64 %left, 1
  %again = icmp ne i64 %less, 0
  br i1 %again, label %pass, label %done
done:
  ret void
}}
!0 = !{{i32 1}}
"""
_PREFETCH = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
# What is read is combined into the result, so that no compiler leaves a load out.
_READ = """
declare i64 @llvm.vector.reduce.or.v8i64(<8 x i64>)
define i64 @{symbol}(i64 %repeats, ptr %target, ptr %source, ptr %other, i64 %lines) {{
entry:
  br label %pass
pass:
  %left = phi i64 [ %repeats, %entry ], [ %less, %passed ]
  %before = phi <8 x i64> [ zeroinitializer, %entry ], [ %both, %passed ]
  br label %line
line:
  %k = phi i64 [ 0, %pass ], [ %next, %line ]
  %seen = phi <8 x i64> [ %before, %pass ], [ %both, %line ]
  %at = shl i64 %k, 6
  %source.p = getelementptr i8, ptr %source, i64 %at
  {step}
  %source.v = load <8 x i64>, ptr %source.p, align 64
  %both = or <8 x i64> %seen, %source.v
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %lines
  br i1 %more, label %line, label %passed
passed:
  %less = sub i64 %left, 1
  %again = icmp ne i64 %less, 0
  br i1 %again, label %pass, label %done
done:
  %found = call i64 @llvm.vector.reduce.or.v8i64(<8 x i64> %both)
  ret i64 %found
}}
"""
_AHEAD = f"""
  %ahead.p = getelementptr i8, ptr %source.p, i64 {32 * LINE}
  call void @llvm.prefetch.p0(ptr %ahead.p, i32 0, i32 3, i32 1)
"""
# Of several pages in turn.
_IN_TURN = "\n".join(
    [
        *page_turns.assembly("%turn", "%source.p", 0, 2 * LINE),
        "  call void @llvm.prefetch.p0(ptr %turn, i32 0, i32 2, i32 1)",
    ]
)
_REQUESTS = {"plain": "", "ahead": _AHEAD, "in_turn": _IN_TURN}
_LOAD = """
  %{name}.p = getelementptr i8, ptr %{name}, i64 %at
  %{name}.v = load <16 x float>, ptr %{name}.p, align 64
"""
_SUM = f"""
  %scaled = fmul <16 x float> %other.v, <{", ".join(["float 3.0"] * 16)}>
  %sum = fadd <16 x float> %source.v, %scaled
"""
# The step before the store of a cache line of 16 floats, and the value that is stored.
_STEPS = {
    "fill": ("", f"<{', '.join(['float 1.5'] * 16)}>"),
    "copy": (_LOAD.format(name="source"), "%source.v"),
    "triad": (_LOAD.format(name="source") + _LOAD.format(name="other") + _SUM, "%sum"),
}


def loops(name: str) -> tuple[Loop, ...]:
    """All forms of one of them: plain stores, non-temporal ones, the C library; plain loads, and,
    of reads and copies, those of lines that are asked for ahead, in order or of several pages in
    turn."""
    if name == "read":
        return tuple(map(read_loop, _REQUESTS))
    plain, nontemporal = loop(name), loop(name, nontemporal=True)
    if name == "copy":
        asked = (loop(name, nontemporal=True, requests=one) for one in ("ahead", "in_turn"))
        return plain, nontemporal, *asked, _library_copy
    return (plain, nontemporal, *([_library_fill] if name == "fill" else []))


@functools.cache
def loop(name: str, *, nontemporal: bool = False, requests: str = "plain") -> Loop:
    """One of those that store as machine code."""
    symbol = f"{name}_{'nontemporal' if nontemporal else 'plain'}_{requests}"
    (step, value), hint = _STEPS[name], ", !nontemporal !0" if nontemporal else ""
    step += _REQUESTS[requests]
    text = _PREFETCH + _TEXT.format(symbol=symbol, step=step, value=value, hint=hint)
    return _compiled(symbol, text, None)


@functools.cache
def read_loop(requests: str) -> Loop:
    """Reading as machine code; it returns the bits that are set in any word of eight bytes."""
    symbol = f"read_{requests}"
    text = _PREFETCH + _READ.format(symbol=symbol, step=_REQUESTS[requests])
    return _compiled(symbol, text, ctypes.c_uint64)


def _compiled(symbol: str, text: str, result: Any) -> Loop:
    from llvmlite import binding

    engine = _engine()
    engine.add_module(binding.parse_assembly(text))
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(result, *[ctypes.c_int64] * 5)
    return signature(engine.get_function_address(symbol))


@functools.cache
def _engine() -> Any:
    """Owns the code until the process ends."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=3, jit=True
    )
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


def _library_fill(repeats: int, target: int, source: int, other: int, lines: int) -> None:
    for _ in range(repeats):
        ctypes.memset(target, 1, lines * LINE)


def _library_copy(repeats: int, target: int, source: int, other: int, lines: int) -> None:
    for _ in range(repeats):
        ctypes.memmove(target, source, lines * LINE)
