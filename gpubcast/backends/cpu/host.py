"""The processor as LLVM, which compiles for it, sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llvmlite import binding

# The extensions that decide how wide elementwise loops are and what f16 and bf16 cost.
_TELLING = (
    *("avx", "avx2", "avx512f", "avx512bf16", "avx512fp16", "f16c", "fma"),
    *("neon", "fullfp16", "bf16", "sve", "sve2"),
)


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor: its model in words, LLVM's name for it, and its telling features."""

    model: str
    llvm_name: str
    features: tuple[str, ...]


def processor() -> Processor:
    """The processor this process runs on."""
    llvm_name = str(binding.get_host_cpu_name())
    has = binding.get_host_cpu_features()
    return Processor(
        _model() or llvm_name, llvm_name, tuple(name for name in _TELLING if has.get(name))
    )


def _model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return ""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return ""
