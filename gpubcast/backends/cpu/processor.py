"""The processor: as LLVM, which compiles for it, sees it, and as the system names it."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

# The extensions that decide how wide elementwise loops are and what f16 and bf16 cost.
_TELLING = (
    *("avx", "avx2", "avx512f", "avx512bf16", "avx512fp16", "f16c", "fma"),
    *("neon", "fullfp16", "bf16", "sve", "sve2"),
)
# What Linux says of a processor that decides which instructions it has, on x86 and on Arm.
_DECIDING = (
    *("vendor_id", "cpu family", "model", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
)


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


@functools.cache
def _target() -> tuple[str, frozenset[str]]:
    """The processor that kernels are compiled for: its triple, and what it has."""
    from numba.core.registry import cpu_target

    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return triple, frozenset(features.split(","))


def architecture() -> str:
    """The architecture that kernels are compiled for: x86_64, aarch64, or another one."""
    name = _target()[0].partition("-")[0]
    return "aarch64" if name == "arm64" else name


def has_avx512() -> bool:
    """Whether kernels are compiled for a processor that has these instructions."""
    return "+avx512f" in _target()[1]


def has_avx2() -> bool:
    """Whether kernels are compiled for a processor that has these instructions."""
    return "+avx2" in _target()[1]


def has_fma() -> bool:
    """Whether kernels are compiled for a processor that multiplies and adds with one rounding."""
    return architecture() != "x86_64" or not _target()[1].isdisjoint(("+fma", "+avx512f"))


def has_sve() -> bool:
    """Whether kernels are compiled for a processor whose vector unit divides integers."""
    return "+sve" in _target()[1]


def converts_halves() -> bool:
    """Whether kernels are compiled for a processor that converts f16 itself."""
    return architecture() == "aarch64" or "+f16c" in _target()[1]
