"""What every benchmark of gpubcast measures: the cases, their operands, and what is right."""

from .case import CACHE_BYTES, HUGE_ELEMENTS, MEMORY_BYTES, SMALL_ELEMENTS, Case, Dimensions, Sized
from .operands import bits, values
from .table import CASES, TARGET_CASES

__all__ = [
    "CACHE_BYTES", "CASES", "HUGE_ELEMENTS", "MEMORY_BYTES", "SMALL_ELEMENTS", "TARGET_CASES",
    "Case", "Dimensions", "Sized", "bits", "values",
]  # fmt: skip
