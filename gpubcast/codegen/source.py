"""One generated kernel, as the code generators hand it to the backends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelSource:
    """One generated kernel.

    Attributes:
        entry: name of its entry function.
        text: the complete source.
        key: the kernel key in words, the first line of the source.
        fast_math: whether the compiler may reassociate and contract operations.
    """

    entry: str
    text: str
    key: str
    fast_math: bool = False
