"""What all families' kernels have: a template instance, and members of parameter structs."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from gpubcast.hlo.literals import padding_bits
from gpubcast.planning.plan import BroadcastPlan


@dataclass(frozen=True, slots=True)
class Template:
    """An instance of a kernel template in ``cuda_kernels/``.

    Attributes:
        header: the file that it is in, without ``.cuh``.
        function: its name.
        arguments: the template arguments before the functor and the operands.
        parameters: the type of its parameter struct.
        tiled: whether it has the functor compute once what its rows and columns share.
        cached: of reductions, the values of an element that a pass leaves for later ones.
    """

    header: str
    function: str
    arguments: tuple[object, ...]
    parameters: str
    tiled: bool = False
    cached: tuple[int, ...] = ()


def flag(value: bool) -> str:
    """A C++ bool."""
    return "true" if value else "false"


def fill_members(plan: BroadcastPlan) -> bytes:
    """The storage bits of the padding value of every write."""
    return b"".join(
        struct.pack("<Q", padding_bits(value, access.element_type) if value else 0)
        for value, access in zip(plan.fill, plan.writes, strict=True)
    )


# Bits of a dividend of ShortDiv.
SHORT_BITS = 12


def fast_div(divisor: int) -> bytes:
    """FastDiv: n // d as (umulhi(n, m) + n) >> s, for n < 2**31."""
    shift = (divisor - 1).bit_length()
    multiplier = ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1
    return struct.pack("<3I", divisor, multiplier, shift)


def short_div(divisor: int) -> bytes:
    """ShortDiv: n // d as n * m >> s, and n % d as n less a multiple of d, for n < 2**12."""
    shift = SHORT_BITS + (divisor - 1).bit_length()
    return struct.pack("<3I", -divisor % 2**32, -(-(1 << shift) // divisor), shift)


def fast_div64(divisor: int) -> bytes:
    """FastDiv64: the same with 64-bit numbers, for n < 2**63."""
    shift = (divisor - 1).bit_length()
    multiplier = ((1 << 64) * ((1 << shift) - divisor)) // divisor + 1
    return struct.pack("<3Q", divisor, multiplier, shift)
