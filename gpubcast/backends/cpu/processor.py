"""The processor: as LLVM, which compiles for it, sees it, and as the system names it."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from gpubcast.schedules.cpu.cost import AHEAD

# The extensions that decide how wide elementwise loops are and what f16 and bf16 cost.
_TELLING = (
    *("avx", "avx2", "avx512f", "avx512bf16", "avx512fp16", "f16c", "fma"),
    *("neon", "fullfp16", "bf16", "sve", "sve2"),
)
# What Linux says of a processor that decides which instructions it has and which requests for
# memory it is best served by, on x86 and on Arm.
_DECIDING = (
    *("vendor_id", "cpu family", "model", "stepping", "cache size", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
)
# KiB of the last cache: 480 MiB on the Granite Rapids that was measured, before it 320 at most.
_LARGE_CACHE = 400 << 10

_ADD = """define void @f(ptr %p) {} {{
  %x = load <{} x i32>, ptr %p
  %y = add <{} x i32> %x, %x
  store <{} x i32> %y, ptr %p
  ret void
}}"""
_FMA = """define float @f(float %x) {
  %y = call float @llvm.fma.f32(float %x, float %x, float %x)
  ret float %y
}
declare float @llvm.fma.f32(float, float, float)"""
_HALF = """define float @f(half %x) {
  %y = fpext half %x to float
  ret float %y
}"""
# Features: the architecture, LLVM assembly, and what stands in its code where they are there.
_SHOWN = {
    "+avx2": ("x86", _ADD.format("", *[8] * 3), "%ymm"),
    "+avx512f": ("x86", _ADD.format('"prefer-vector-width"="512"', *[16] * 3), "%zmm"),
    "+fma": ("x86", _FMA, "vfmadd"),
    "+f16c": ("x86", _HALF, "vcvtph2ps"),
    "+sve": ("arm", _ADD.format("vscale_range(2,2)", *[8] * 3), "z0.s"),
}


class Processor(NamedTuple):
    """A processor: its model in words, LLVM's name for it, and its telling features."""

    model: str
    llvm_name: str
    features: tuple[str, ...]


def processor() -> Processor:
    """The processor this process runs on."""
    llvm_name, has = _as_llvm_sees_it()
    return Processor(
        _facts().get("model name", llvm_name),
        llvm_name,
        tuple(name for name in _TELLING if has.get(name)),
    )


@functools.cache
def identity() -> tuple[str, ...]:
    """What tells this processor from those that have other instructions. LLVM, which would say it
    in its own words, takes long to import."""
    facts = _facts()
    known = tuple(f"{name}: {facts[name]}" for name in _DECIDING if name in facts)
    if "flags" in facts or "Features" in facts:
        return known
    name, features = _as_llvm_sees_it()
    return name, str(features.flatten())


def _as_llvm_sees_it() -> tuple[str, Any]:
    from llvmlite import binding  # a process that compiles nothing does not need it

    return str(binding.get_host_cpu_name()), binding.get_host_cpu_features()


def _facts() -> dict[str, str]:
    """What the system says of its first processor."""
    found: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if found and not name.strip():
                    break
                found[name.strip()] = value.strip()
    except OSError:
        pass
    return found


class _Target(NamedTuple):
    """The processor that kernels are compiled for: its triple, LLVM's name, and what it has."""

    triple: str
    llvm_name: str
    features: frozenset[str]


@functools.cache
def _target() -> _Target:
    from numba.core import config
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    triple, llvm_name, features = codegen.magic_tuple()
    if config.CPU_NAME is None:
        return _Target(triple, llvm_name, frozenset(features.split(",")))
    return _Target(triple, llvm_name, _compiled_features(triple, codegen._tm))


def _compiled_features(triple: str, machine: Any) -> frozenset[str]:
    """What LLVM compiles for, of what is asked here, where a processor is named: it has features
    that need not be listed, and llvmlite does not say which. Code shows them."""
    from llvmlite import binding

    side = "x86" if triple.startswith("x86_64") else "arm"
    return frozenset(
        feature
        for feature, (where, text, shown) in _SHOWN.items()
        if where == side and shown in machine.emit_assembly(binding.parse_assembly(text))
    )


def architecture() -> str:
    """The architecture that kernels are compiled for: x86_64, aarch64, or another one."""
    name = _target().triple.partition("-")[0]
    return "aarch64" if name == "arm64" else name


def has_avx512() -> bool:
    """Whether kernels are compiled for a processor that has these instructions."""
    return "+avx512f" in _target().features


def has_avx2() -> bool:
    """Whether kernels are compiled for a processor that has these instructions."""
    return "+avx2" in _target().features


def has_fma() -> bool:
    """Whether kernels are compiled for a processor that multiplies and adds with one rounding."""
    return architecture() != "x86_64" or not _target().features.isdisjoint(("+fma", "+avx512f"))


def has_sve() -> bool:
    """Whether kernels are compiled for a processor whose vector unit divides integers."""
    return "+sve" in _target().features


def reads_ahead() -> bool:
    """Whether kernels are compiled for a processor whose own prefetches are taken to be enough
    for loops that compute little, so that requests only take time: x86-64 without AVX-512. So it is
    on a Zen 3; others like it were not measured."""
    return architecture() == "x86_64" and not has_avx512()


def prefetches_into_l1() -> bool:
    """Whether memory that is asked for ahead goes into the nearest cache, and not into the second
    one: where that was measured to take less time. One of 32 KiB, as a Zen 4's, has no room for a
    row and the one that follows; a Zen 5's has 48 KiB."""
    return _target().llvm_name == "znver5"


def asks_in_turn() -> bool:
    """Whether memory that is asked for ahead comes sooner where requests go to several pages in
    turn, and none need be made twice: on Intel's processors, of which a Sapphire Rapids was
    measured."""
    name = _target().llvm_name
    others = ("znver", "bdver", "btver", "amdfam", "athlon", "opteron", "k8", "x86-64", "generic")
    return architecture() == "x86_64" and not name.startswith(others)


def asks_between() -> bool:
    """Whether memory that is only read comes sooner where requests are in order, between the
    vectors that are read, though others go to several pages in turn: on a Granite Rapids, which a
    hypervisor may call what it calls a Sapphire Rapids. None of that line has so large a cache."""
    size = _facts().get("cache size", "").partition(" ")[0]
    return asks_in_turn() and size.isdigit() and int(size) >= _LARGE_CACHE


def lets_results_wait() -> bool:
    """Whether rows take less time where results for which rows of operands are read once more are
    stored while passes over the next one are walked: on Intel's processors; others were not
    measured."""
    return asks_in_turn()


def asks_for_columns(size: int) -> bool:
    """Whether parts of rows are asked for that are next among columns, by the bytes of an element:
    where that was measured to take less time. A Zen 5 reads ahead in time there, and a Sapphire
    Rapids but for narrow elements."""
    if reads_ahead() or prefetches_into_l1():
        return False
    return size < 4 or not asks_in_turn()


def reads_by_half_vectors() -> bool:
    """Whether kernels are compiled for a processor that reads memory in less time by vectors half
    as long as its registers: a Zen 4, which also computes them by halves."""
    return has_avx512() and _target().llvm_name == "znver4"


def bytes_ahead(size: int) -> int:
    """How far ahead reductions ask for memory that they only read, in order, by the bytes of an
    element. A Zen 4 loses up to two fifths of its time to what loops that convert narrow elements
    ask for 2 KiB ahead or more."""
    return 512 if size < 4 and _target().llvm_name == "znver4" else AHEAD


def has_room_for_keys() -> bool:
    """Whether elements are made keys in those registers that lanes do not fill: with AVX-512 on
    processors of AMD's, where LLVM makes loops of all 64 bytes of 32 registers. For Intel's, which
    may lower their clock for these, it takes half of each, and others have 16 or shorter ones."""
    return has_avx512() and _target().llvm_name.startswith("znver")


def vector_bytes() -> int:
    """Bytes of a vector register; of SVE's, as many as each has."""
    return 64 if has_avx512() else 32 if has_avx2() else 16


def vector_registers() -> int:
    """How many vector registers there are."""
    return 16 if architecture() == "x86_64" and not has_avx512() else 32


def converts_halves() -> bool:
    """Whether kernels are compiled for a processor that converts f16 itself."""
    return architecture() == "aarch64" or "+f16c" in _target().features
