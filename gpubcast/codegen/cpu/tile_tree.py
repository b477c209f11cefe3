"""The tree in which tiles of lanes or of chunks are combined, neighbours first.

Tiles are made in the order of their numbers' bits reversed, so that few of them wait: each is
combined with those before it as soon as a pair of the tree is complete.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import Combination, indented


def reversed_bits(name: str, number: str, count: str) -> list[str]:
    """The number whose bits are those of another one in opposite order, below a power of two."""
    return [
        f"{name} = 0",
        f"left = {number}",
        f"bit = {count} // 2",
        "while bit > 0:",
        f"    {name} = {name} + bit * (left & 1)",
        "    left = left // 2",
        "    bit = bit // 2",
    ]


def combined_neighbours(
    chosen: list[Combination], top: str, number: str, first: int, tile: int
) -> list[str]:
    """The topmost tiles combined, as often as pairs are complete."""
    at = f"({first} + {top})" if first else top
    body = [one.taken(f"({at} - 1) * {tile} + c", one.load(f"{at} * {tile} + c")) for one in chosen]
    return [
        f"pairs = {number} + 1",
        "while pairs % 2 == 0:",
        "    for c in range(width):",
        *indented(body, 2),
        f"    {top} = {top} - 1",
        "    pairs = pairs // 2",
        f"{top} = {top} + 1",
    ]
