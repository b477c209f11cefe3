"""Transposing in registers: rows of memory written as columns, for generated code.

Memory is read in pieces of 16 bytes, put beside each other until they fill a vector, and
interleaved until neighbours of a column are neighbours in a vector. Where memory is far it is read
by whole vectors, so that no line is asked for twice; the pieces of several are exchanged first. A
block is as wide as the processor's vectors; the last block of a row overlaps the one before it, so
that no byte is read or written beside the elements that are asked for.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types

from gpubcast.backends.cpu.intrinsics.memory import namespace
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.lowering import Called
from gpubcast.schedules.cpu.cost import VECTOR
from gpubcast.schedules.cpu.tiles import TILE_BYTES

# Bytes read from one place at a time.
PIECE = 16
SIZES = (1, 2, 4, 8, 16)
# Elements that are read by whole lines, where memory is far: a block of smaller ones fills more
# than all registers.
LEAST_BY_LINES = 2
_WORD, _HALF = ir.IntType(64), ir.IntType(32)


def _vector_bytes() -> int:
    """Bytes of the vectors that this processor can interleave."""
    features = binding.get_host_cpu_features()
    if features.get("avx512bw"):
        return 64
    return 32 if features.get("avx2") else PIECE


def _places(builder: Any, address: Any, step: Any, count: int) -> list[Any]:
    """So many pointers, each a step behind the one before it."""
    found = [builder.inttoptr(address, ir.PointerType())]
    while len(found) < count:
        found.append(builder.gep(found[-1], [step], source_etype=ir.IntType(8)))
    return found


def _shuffled(builder: Any, one: Any, other: Any, lanes: list[int]) -> Any:
    llvm_type = ir.VectorType(_HALF, len(lanes))
    return builder.shuffle_vector(one, other, ir.Constant(llvm_type, lanes))


def _concatenated(builder: Any, pieces: list[Any]) -> Any:
    """One vector of all pieces, in order."""
    while len(pieces) > 1:
        lanes = list(range(2 * pieces[0].type.count))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [_shuffled(builder, one, other, lanes) for one, other in pairs]
    return pieces[0]


def _interleaved(builder: Any, rows: list[Any], unit: int = 1) -> list[Any]:
    """Transposes every square of as many units as there are rows: in each vector, one beside the
    other. A unit is so many elements. A step moves one bit of the number of a row into that of a
    column."""
    side = len(rows)
    if side == 1:
        return rows
    count = rows[0].type.count
    low, high = (
        [k * unit + part + lane
         for first in range(begin, count // unit, side) for k in range(first, first + side // 2)
         for part in (0, count) for lane in range(unit)]
        for begin in (0, side // 2)
    )  # fmt: skip
    for _ in range(side.bit_length() - 1):
        pairs = zip(rows[: side // 2], rows[side // 2 :], strict=True)
        rows = [_shuffled(builder, *pair, lanes) for pair in pairs for lanes in (low, high)]
    return rows


def _block(size: int, vector: int, piece: int) -> Any:
    """An intrinsic that transposes one block: so many bytes from each of ``vector // size`` places
    to a vector at each of ``piece // size`` places. Addresses and steps are in bytes."""
    side, word = PIECE // size, ir.IntType(8 * size)

    def block(typing_context: Any, source: Any, step: Any, target: Any, pitch: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source, step, target, pitch = args
            llvm_type = ir.VectorType(word, piece // size)
            pieces = [
                builder.load(place, typ=llvm_type, align=1)
                for place in _places(builder, source, step, vector // size)
            ]
            # Of every place, the first 16 bytes; of every place, the next ones.
            if piece == PIECE:
                joined = [[_concatenated(builder, pieces[k::side])] for k in range(side)]
            else:
                joined = [_interleaved(builder, pieces[k::side], side) for k in range(side)]
            rows = [row for few in zip(*joined, strict=True) for row in few]
            done = [
                row
                for first in range(0, len(rows), side)
                for row in _interleaved(builder, rows[first : first + side])
            ]
            for row, place in zip(done, _places(builder, target, pitch, len(done)), strict=True):
                builder.store(row, place, align=1)
            return context.get_dummy_value()

        return types.void(*(types.int64,) * 4), codegen

    return Intrinsic(block)


def _transpose(size: int, *, by_lines: bool) -> Any:
    """``transpose_<size>``: element (row, column) goes from ``source + column * step + along * row
    * size`` to ``target + row * pitch + column * size``, where ``along`` is 1 or -1; ``step`` and
    ``pitch`` are in bytes. ``transpose_lines_<size>`` is the same."""
    vector = _vector_bytes()
    piece = vector if by_lines else PIECE
    wide, narrow = _block(size, vector, piece), _block(size, PIECE, PIECE)
    side, down, across = PIECE // size, piece // size, vector // size
    word = f"u{8 * size}" if size < PIECE else "c128"
    load, store = (namespace()[f"{name}_{word}"] for name in ("load", "store"))

    @Called
    def transpose(
        source: Any, along: Any, step: Any, target: Any, pitch: Any, rows: Any, columns: Any
    ) -> None:
        if along < 0:
            # The rows from the last one on.
            source -= (rows - 1) * size
            target += (rows - 1) * pitch
            pitch = -pitch
        if rows < side or columns < side:
            for column in range(columns):
                for row in range(rows):
                    found = load(source + column * step, row)
                    store(target + row * pitch, column, found)
            return
        is_wide = rows >= down and columns >= across
        width, height = (across, down) if is_wide else (side, side)
        for begin in range(0, columns, width):
            column = min(begin, columns - width)
            for first in range(0, rows, height):
                row = min(first, rows - height)
                begun = source + column * step + row * size
                place = target + row * pitch + column * size
                if is_wide:
                    wide(begun, step, place, pitch)
                else:
                    narrow(begun, step, place, pitch)

    return transpose


@Intrinsic
def _tile(typing_context: Any) -> Any:
    """The address of memory of the kernel's own, on the stack: one tile."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            tile = builder.alloca(ir.ArrayType(ir.IntType(8), TILE_BYTES))
        tile.align = VECTOR
        return builder.ptrtoint(tile, _WORD)

    return types.int64(), codegen


def functions() -> dict[str, Any]:
    """The functions under the names that generated code uses."""
    found = {"tile": _tile}
    for size in SIZES:
        found[f"transpose_{size}"] = _transpose(size, by_lines=False)
        found[f"transpose_lines_{size}"] = _transpose(size, by_lines=size >= LEAST_BY_LINES)
    return found
