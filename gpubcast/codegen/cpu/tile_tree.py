"""The tree in which tiles of lanes or of chunks are combined, neighbours first.

Tiles are made in the order of their numbers' bits reversed, so that few of them wait: each is
combined with those before it as soon as a pair of the tree is complete.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def combined_runs(
    chosen: list[Combination], count: str, run: int, tile: int, rows: Sequence[list[str]]
) -> list[str]:
    """So many groups of lanes, a power of two, ``run`` at a time in the order of memory, and the
    tiles of each run combined with those of another one side by side: of ``joined`` runs that
    wait as it is read. ``ahead`` rows and ``beside`` columns on is what is read next; after all
    groups that is ``further`` and ``across``.

    Args:
        chosen: the reductions.
        count: how many groups there are.
        run: how many are taken in the order of memory.
        tile: the places of a tile.
        rows: makes tile ``top`` of the lanes of group ``l``. Of several, each combines one more of
            the runs that wait with them, as many as there may be.
    """
    made, most = rows[0], len(rows) - 1
    if most:
        made = ["if joined == 0:", *indented(made)]
        for number, one in enumerate(rows[1:], 1):
            made += ["else:" if number == most else f"elif joined == {number}:", *indented(one)]
    passes = [
        "    while pairs % 2 == 0:",
        *indented(_side_by_side(chosen, "run", "run * (waits - 1)", "run * waits", tile), 2),
        "        waits = waits - 1",
        "        pairs = pairs // 2",
    ]
    return [
        f"run = min({run}, {count})",
        f"runs = {count} // run",
        "waits = 0",
        "for k in range(runs):",
        *indented(reversed_bits("l", "k", "runs")),
        "    l = l * run",
        "    pairs = k + 1",
        "    joined = 0",
        f"    while (joined < {most}) & (pairs % 2 == 0):",
        "        joined = joined + 1",
        "        pairs = pairs // 2",
        "    waits = waits - joined",
        "    for side in range(run):",
        "        top = run * waits + side",
        "        ahead = 1",
        "        beside = 0",
        "        if side + 1 == run:",
        *indented(reversed_bits("other", "(k + 1)", "runs"), 3),
        "            ahead = other * run - l",
        "            if k + 1 == runs:",
        "                ahead = further - l",
        "                beside = across",
        *indented(made, 2),
        "        l = l + 1",
        *passes * (most == 0),
        "    waits = waits + 1",
        "apart = run // 2",
        "while apart > 0:",
        *indented(_side_by_side(chosen, "apart", "0", "apart", tile)),
        "    apart = apart // 2",
    ]


def _side_by_side(
    chosen: list[Combination], count: str, first: str, other: str, tile: int
) -> list[str]:
    """So many tiles from one on, each combined with one of as many others."""
    to, of = (f"({number} + side) * {tile} + c" for number in (first, other))
    body = [one.taken(to, one.load(of)) for one in chosen]
    return [f"for side in range({count}):", "    for c in range(width):", *indented(body, 2)]
