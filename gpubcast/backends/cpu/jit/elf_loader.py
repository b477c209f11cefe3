"""Object files of machine code: what one needs from elsewhere, and loading one without LLVM.

Its sections are copied into memory, one behind the other, and the addresses and distances that it
asks for are filled in. A function of another library may be further away than a distance of 32 bits
reaches: a jump to it lies behind the sections. An object that asks for more is left to LLVM's own
loader, which takes longer to import than all else before a first result. What an object says of
itself is checked when it is parsed: a damaged one is refused there, and only there.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
import struct
from typing import Any

# How a file begins, where it says for which processor it is, and the one known here.
_HEADER, _MACHINE, _X86_64 = b"\x7fELF\x02\x01", 18, 62
# Sorts of sections, and their flags.
_CONTENTS, _SYMBOLS, _ADDRESSES, _WITHOUT_CONTENTS, _UNWINDING = 1, 2, 4, 8, 0x70000001
_WRITABLE, _IN_MEMORY = 1, 2
# The section of symbols that are elsewhere; what asks for an address of 64 bits, and what for a
# distance of 32: to what is there, and to what may be a jump to it.
_ELSEWHERE, _ABSOLUTE, _DISTANCES = 0, 1, (2, 4)
# Numbers of sections from here on are no sections. Bytes of a section's description and of a
# relocation; the largest alignment that memory has; what an addend, and all memory, stay below.
_RESERVED, _SECTION, _RELOCATION, _PAGE, _ADDEND = 0xFF00, 64, 24, 4096, 1 << 30
# A jump to the address that follows, after two bytes that are not run.
_JUMP, _JUMP_BYTES = bytes.fromhex("ff25 0200 0000 cccc"), 16
_NO_FILE = -1
_READ, _RUN, _FAILED = mmap.PROT_READ, mmap.PROT_EXEC, ctypes.c_void_p(-1).value


def parsed(image: bytes) -> ElfObject | None:
    """An object file; None where it is no 64-bit little-endian ELF file, or a damaged one."""
    try:
        return ElfObject(image)
    except (ValueError, IndexError, struct.error):
        return None


class ElfObject:
    """An object file; see ``parsed``."""

    def __init__(self, image: bytes) -> None:
        if image[:6] != _HEADER:
            raise ValueError("no 64-bit little-endian ELF object")
        self._image = image
        offset, size, count = struct.unpack_from("<Q10xHH", image, 0x28)
        if size < _SECTION or offset + size * count > len(image):
            raise ValueError("the table of sections is cut off")
        # Sort, flags, place in the file, length, two numbers of other sections, alignment, step.
        self._sections = [
            struct.unpack_from("<4xIQ8xQQIIQQ", image, offset + i * size) for i in range(count)
        ]
        for section_type, _, start, length, link, _, alignment, _ in self._sections:
            inside = section_type == _WITHOUT_CONTENTS or start + length <= len(image)
            if not inside or link >= count or alignment > _PAGE or alignment & (alignment - 1):
                raise ValueError("a section is no part of the file")
        # Name, number of the section, place there.
        self._symbols: list[tuple[str, int, int]] = []
        for section_type, _, start, length, link, _, _, step in self._sections:
            if section_type == _SYMBOLS:
                names = self._sections[link][2]
                for at in range(start, start + length, step):
                    name, section, place = struct.unpack_from("<IxxHQ", image, at)
                    text = image[names + name : image.index(b"\0", names + name)]
                    self._symbols.append((text.decode(), section, place))
        for _, section, place in self._symbols:
            if section < _RESERVED and place > self._sections[section][3] > 0:
                raise ValueError("a symbol is outside of its section")
        for section_type, _, start, length, _, target, _, _ in self._sections:
            if section_type == _ADDRESSES:
                self._check_addresses(image[start : start + length], self._sections[target][3])

    def _check_addresses(self, table: bytes, length: int) -> None:
        """Refuse relocations of what is not there; the section that they are for has a length."""
        if len(table) % _RELOCATION:
            raise ValueError("a table of relocations is cut off")
        for offset, sort, symbol, add in struct.iter_unpack("<QIIq", table):
            # Other processors' are of four bytes, and of fewer.
            end = offset + (8 if sort == _ABSOLUTE else 4 if sort in _DISTANCES else 1)
            if end > length or symbol >= len(self._symbols) or abs(add) >= _ADDEND:
                raise ValueError("a relocation is outside of its section")

    def undefined(self) -> set[str]:
        """The symbols that it needs from elsewhere."""
        return {name for name, section, _ in self._symbols if section == _ELSEWHERE and name}

    def defines(self, function: str) -> bool:
        """Whether it has a function."""
        within = range(_ELSEWHERE + 1, len(self._sections))
        return any(name == function and section in within for name, section, _ in self._symbols)

    def load(self, function: str) -> int | None:
        """The address of one of its functions, whose code stays until the process ends.

        Returns:
            None where it asks for more than is done here, or the system refuses.

        Raises:
            MemoryError: there is no address space left. LLVM's loader would end the process.
        """
        places, size = {}, 0
        for number, (section_type, flags, _, length, _, _, alignment, _) in enumerate(
            self._sections
        ):
            if flags & _IN_MEMORY and length and section_type != _UNWINDING:
                if section_type != _CONTENTS or flags & _WRITABLE:
                    return None
                places[number] = -(-size // max(alignment, 1)) * max(alignment, 1)
                size = places[number] + length
        if not size or struct.unpack_from("<H", self._image, _MACHINE) != (_X86_64,):
            return None
        jumps = -(-size // _JUMP_BYTES) * _JUMP_BYTES
        size = jumps + _JUMP_BYTES * len(self._symbols)
        if size >= _ADDEND:
            return None
        try:
            file = os.memfd_create("gpubcast")
        except (AttributeError, OSError):  # another system, or one that does not want it
            file = _NO_FILE
        try:
            return self._mapped(file, places, size, jumps, function)
        except OSError:  # no memory left for a file
            return None
        finally:
            if file != _NO_FILE:
                os.close(file)

    def _mapped(
        self, file: int, places: dict[int, int], size: int, jumps: int, function: str
    ) -> int | None:
        """The same with a file of memory, or without one: then memory is written, and code after
        that, which systems refuse more often."""
        if file != _NO_FILE:
            os.ftruncate(file, size)
            how, flags = _READ | _RUN, mmap.MAP_PRIVATE
        else:
            how, flags = _READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        start = _system().mmap(None, size, how, flags, file, 0)
        if start == _FAILED:
            if ctypes.get_errno() == errno.ENOMEM:
                raise MemoryError("no address space is left for machine code")
            return None
        found = self._linked(places, start, size, jumps, function)
        if found is not None and file != _NO_FILE:
            # A page is looked up when it is first read, which is after it has been written.
            os.pwrite(file, found[0], 0)
        elif found is not None:
            ctypes.memmove(start, bytes(found[0]), size)
            if _system().mprotect(start, size, _READ | _RUN):
                found = None
        if found is None:
            _system().munmap(start, size)
            return None
        return found[1]

    def _linked(
        self, places: dict[int, int], start: int, size: int, jumps: int, function: str
    ) -> tuple[bytearray, int] | None:
        """What is to be in memory from ``start`` on, jumps to what is elsewhere from place
        ``jumps`` on, and where a function is; None where it asks for more."""
        addresses = [
            _address_of(name)
            if section == _ELSEWHERE
            else start + places[section] + place
            if section in places
            else None
            for name, section, place in self._symbols
        ]
        memory = bytearray(size)
        for number, at in places.items():
            _, _, begin, length, *_ = self._sections[number]
            memory[at : at + length] = self._image[begin : begin + length]
        near = list(addresses)
        for symbol, (name, section, _) in enumerate(self._symbols):
            if section == _ELSEWHERE and name:
                address, near[symbol] = addresses[symbol], start + jumps
                memory[jumps : jumps + _JUMP_BYTES] = _JUMP + struct.pack("<Q", address or 0)
                jumps += _JUMP_BYTES
        for section_type, _, begin, length, _, target, _, _ in self._sections:
            if section_type == _ADDRESSES and target in places:
                table = struct.iter_unpack("<QIIq", self._image[begin : begin + length])
                for offset, sort, symbol, add in table:
                    address, place = addresses[symbol], places[target] + offset
                    if address is None:
                        return None
                    if sort == _ABSOLUTE:
                        struct.pack_into("<Q", memory, place, address + add)
                    elif sort in _DISTANCES:
                        distance = (near[symbol] or 0) + add - (start + place)
                        struct.pack_into("<i", memory, place, distance)
                    else:
                        return None
        for (name, _, _), address in zip(self._symbols, addresses, strict=True):
            if name == function and address is not None:
                return memory, address
        return None


@functools.cache
def _system() -> Any:
    """C's functions, those for memory that outlives the interpreter: threads may run there."""
    library = ctypes.CDLL(None, use_errno=True)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = pointer
    library.mmap.argtypes = (pointer, size, number, number, number, ctypes.c_long)
    library.munmap.argtypes = (pointer, size)
    library.mprotect.argtypes = (pointer, size, number)
    return library


def _address_of(name: str) -> int | None:
    """Where this process has a function of C's or Python's."""
    try:
        return ctypes.cast(getattr(_system(), name), ctypes.c_void_p).value if name else None
    except AttributeError:
        return None
