"""Requests for memory that go to several pages in turn.

Memory answers some processors sooner where they ask for four pages at a time. So the request for a
piece of memory that is walked from end to end is made for a piece of the four pages that follow
those which it lies in, another one each time: when all of four pages have been walked, all of the
next four have been asked for.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from llvmlite import ir

# How many pages and bytes of a page there are, as bits of an address; and the lines of one that are
# asked for before those of the next, at least and at most.
_TURN, _PAGE = 2, 12
LEAST, MOST = 2, 8

_WORD = ir.IntType(64)


class _Bits(NamedTuple):
    """Some bits of an address, from one on up to another one, and where the first one goes."""

    first: int
    last: int
    to: int

    @property
    def mask(self) -> int:
        return (1 << self.last) - (1 << self.first)


def _moved(size: int) -> tuple[_Bits, ...]:
    """Where the bits of an address go, by the bytes of a piece, a power of two: those of a place in
    a piece and of the four pages stay, those that follow the first ones are the page's number, and
    the others say which piece of it."""
    piece = size.bit_length() - 1
    turn = piece + _TURN
    return (
        _Bits(0, piece, 0), _Bits(piece, turn, _PAGE), _Bits(turn, _PAGE + _TURN, piece),
        _Bits(_PAGE + _TURN, 63, _PAGE + _TURN),
    )  # fmt: skip


def asked(address: int, size: int) -> int:
    """The address that is asked for in the place of another one, by the bytes of a piece."""
    parts = [(address & one.mask) >> one.first << one.to for one in _moved(size)]
    return sum(parts) + (1 << _PAGE + _TURN)


def asked_for(builder: Any, address: Any, size: int) -> Any:
    """The same of an address that generated code computes."""

    def part(one: _Bits) -> Any:
        found, by = builder.and_(address, _WORD(one.mask)), one.to - one.first
        if by > 0:
            return builder.shl(found, _WORD(by))
        return builder.lshr(found, _WORD(-by)) if by else found

    together = functools.reduce(builder.or_, map(part, _moved(size)))
    return builder.add(together, _WORD(1 << _PAGE + _TURN))


def assembly(name: str, pointer: str, ahead: int, size: int) -> list[str]:
    """LLVM assembly that makes ``name`` the address that is asked for so many bytes behind a
    pointer."""
    lines = [
        f"  {name}.a = ptrtoint ptr {pointer} to i64",
        f"  {name}.b = add i64 {name}.a, {ahead}",
    ]
    parts = []
    for number, one in enumerate(_moved(size)):
        found, by = f"{name}.p{number}", one.to - one.first
        lines.append(f"  {found} = and i64 {name}.b, {one.mask}")
        if by:
            verb = "shl" if by > 0 else "lshr"
            lines.append(f"  {found}.s = {verb} i64 {found}, {abs(by)}")
        parts.append(found + ".s" * bool(by))
    together = parts[0]
    for number, part in enumerate(parts[1:]):
        lines.append(f"  {name}.o{number} = or i64 {together}, {part}")
        together = f"{name}.o{number}"
    lines.append(f"  {name}.n = add i64 {together}, {1 << _PAGE + _TURN}")
    return [*lines, f"  {name} = inttoptr i64 {name}.n to ptr"]
