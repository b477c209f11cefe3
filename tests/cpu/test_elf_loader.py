"""Object files loaded without LLVM: what is done, and what is left to LLVM."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import random
import struct
from collections.abc import Callable

import numpy as np
import pytest
from llvmlite import binding

import gpubcast as gb
from gpubcast.backends.cpu.jit import elf_loader, object_cache
from gpubcast.runtime import state

TEXT = """
@table = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
@pointers = internal constant [2 x ptr] [ptr @table, ptr getelementptr (i8, ptr @table, i64 16)]
declare double @exp2(double)

define double @twice(double %x) noinline {
  %y = fmul double %x, 2.0
  ret double %y
}
define double @f(double %x, i64 %k, i64 %which) {
  %at.table = getelementptr ptr, ptr @pointers, i64 %which
  %chosen = load ptr, ptr %at.table
  %at = getelementptr double, ptr %chosen, i64 %k
  %entry = load double, ptr %at
  %power = call double @exp2(double %x)
  %doubled = call double @twice(double %power)
  %result = fmul double %entry, %doubled
  ret double %result
}
"""
here = pytest.mark.skipif(platform.machine() != "x86_64", reason="LLVM loads all code here")


def function(address: int | None) -> Callable[[float, int, int], float]:
    assert address is not None
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, *[ctypes.c_int64] * 2)(address)


def parsed(image: bytes) -> elf_loader.ElfObject:
    found = elf_loader.parsed(image)
    assert found is not None
    return found


def sections(image: bytes) -> tuple[int, int, int]:
    """Where the table of sections is, how long a row is, and how many there are."""
    found: tuple[int, int, int] = struct.unpack_from("<Q10xHH", image, 0x28)
    return found


def permissions(address: int) -> str:
    with open("/proc/self/maps") as file:
        for line in file:
            area, how, *_ = line.split()
            low, high = (int(word, 16) for word in area.split("-"))
            if low <= address < high:
                return how
    raise AssertionError("no memory there")


@here
def test_code_data_and_functions_of_others_are_found() -> None:
    code = parsed(object_cache.compiled_ir(TEXT))
    assert code.undefined() == {"exp2"}
    for _ in range(2):
        f = function(code.load("f"))
        assert [f(3.0, k, which) for k, which in ((0, 0), (1, 0), (3, 0), (1, 1))] == [
            16.0, 32.0, 128.0, 128.0
        ]  # fmt: skip


@here
def test_distances_reach_what_lies_beside_and_jumps_what_is_elsewhere() -> None:
    """Where all lies together, constants are operands; C's functions are called by a jump."""
    line = "%chosen = getelementptr double, ptr @table, i64 %which"
    text = TEXT.replace("%chosen = load ptr, ptr %at.table", line)
    text = "\n".join(row for row in text.splitlines() if "@pointers" not in row)
    object_cache._llvm()
    near = binding.Target.from_default_triple().create_target_machine(
        jit=True, reloc="pic", codemodel="small"
    )
    image = near.emit_object(binding.parse_assembly(text))
    sorts = {
        sort
        for kind, _, start, length, *_ in parsed(image)._sections
        if kind == elf_loader._ADDRESSES
        for _, sort, _, _ in struct.iter_unpack("<QIIq", image[start : start + length])
    }
    assert sorts.issuperset(elf_loader._DISTANCES)
    f = function(parsed(image).load("f"))
    assert [f(3.0, k, which) for k, which in ((0, 0), (3, 0), (1, 1))] == [16.0, 128.0, 64.0]


@here
def test_code_cannot_be_written() -> None:
    address = parsed(object_cache.compiled_ir(TEXT)).load("f")
    assert address is not None and permissions(address) == "r-xp"


@here
def test_what_llvm_has_to_load() -> None:
    """An unknown function, data that are written, addresses of 32 bits, another processor, a
    symbol that is not there."""
    unknown = TEXT.replace("@exp2", "@gpubcast_nobody")
    assert parsed(object_cache.compiled_ir(unknown)).load("f") is None
    written = TEXT.replace("internal constant [4", "internal global [4")
    written = written.replace("%doubled = call", "store double %x, ptr @table\n  %doubled = call")
    assert parsed(object_cache.compiled_ir(written)).load("f") is None
    low = binding.Target.from_default_triple().create_target_machine(jit=True, codemodel="default")
    assert parsed(low.emit_object(binding.parse_assembly(TEXT))).load("f") is None
    image = bytearray(object_cache.compiled_ir(TEXT))
    assert parsed(bytes(image)).load("g") is None
    struct.pack_into("<H", image, 18, 183)  # AArch64
    assert parsed(bytes(image)).load("f") is None


@here
def test_what_the_system_refuses_is_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    code, before = parsed(object_cache.compiled_ir(TEXT)), len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(elf_loader._system(), "mmap", lambda *_: elf_loader._FAILED)
    assert code.load("f") is None
    monkeypatch.undo()

    def refused(name: str) -> int:
        raise PermissionError(name)

    def loads() -> bool:
        address = code.load("f")
        assert address is None or function(address)(3.0, 1, 0) == 32.0
        assert address is None or permissions(address) == "r-xp"
        return address is not None

    # Without files of memory, memory becomes code after it was written, where that is allowed.
    monkeypatch.setattr(os, "memfd_create", refused)
    assert loads()
    monkeypatch.setattr(elf_loader._system(), "mprotect", lambda *_: -1)
    assert not loads()
    monkeypatch.undo()
    monkeypatch.delattr(os, "memfd_create")
    assert loads()
    monkeypatch.undo()
    assert loads()
    assert len(os.listdir("/proc/self/fd")) == before


@here
def test_a_child_has_the_code_and_loads_its_own() -> None:
    code = parsed(object_cache.compiled_ir(TEXT))
    before = function(code.load("f"))
    child = os.fork()
    if child == 0:
        after = function(code.load("f"))
        os._exit(0 if before(3.0, 1, 0) == after(3.0, 1, 0) == 32.0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert before(3.0, 1, 0) == 32.0


def test_what_is_no_object_is_not_read() -> None:
    image = object_cache.compiled_ir(TEXT)
    offset, size, count = sections(image)
    assert elf_loader.parsed(b"") is None
    assert elf_loader.parsed(b"MZ" + image[2:]) is None
    assert elf_loader.parsed(image[: offset + size * count - 1]) is None
    assert elf_loader.parsed(image[:40]) is None


def test_what_needs_more_than_is_allowed_is_not_kept() -> None:
    image = object_cache.compiled_ir(TEXT)
    assert object_cache.Unit(image, "f").is_portable()
    needy = object_cache.compiled_ir(TEXT.replace("@exp2", "@PyErr_Print"))
    assert not object_cache.Unit(needy, "f").is_portable()
    unit = object_cache.Unit(image, "f")
    again = object_cache.Unit.parsed(unit.contents())
    assert (again.name, again.image) == ("f", image)


def damaged(image: bytes, chance: random.Random) -> bytes:
    """An object cut off, or with some bytes changed, of its head more often than of the rest."""
    if chance.random() < 0.2:
        return image[: chance.randrange(len(image))]
    changed = bytearray(image)
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(64 if chance.random() < 0.3 else len(image))
        changed[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
    return bytes(changed)


def test_damaged_objects_are_refused() -> None:
    """Either it is parsed, and then loaded or left to LLVM, or it is refused: nothing is raised."""
    image, chance = object_cache.compiled_ir(TEXT), random.Random(15)
    refused = 0
    for _ in range(4000):
        found = elf_loader.parsed(damaged(image, chance))
        if found is None:
            refused += 1
            continue
        address = found.load("f")
        assert found.undefined() is not None and address != 0
    assert 1000 < refused < 3900


@pytest.mark.parametrize("length", [0, 5, 63, 64, 500])
def test_objects_that_are_cut_off(length: int) -> None:
    assert elf_loader.parsed(object_cache.compiled_ir(TEXT)[:length]) is None


def test_no_address_space_is_no_reason_to_ask_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends a process that has none left. Found by tests/campaigns, limits 106422."""

    class System:
        def mmap(self, *_: object) -> object:
            ctypes.set_errno(errno.ENOMEM)
            return elf_loader._FAILED

    x = np.ones((3, 4), "f4")
    gb.add(x, x)
    state.clear()
    monkeypatch.setattr(object_cache, "_LOADED", {})
    monkeypatch.setattr(elf_loader, "_system", System)
    with pytest.raises(gb.OutOfMemoryError, match="address space"):
        gb.add(x, x)
    monkeypatch.undo()
    assert (gb.add(x, x) == 2).all()
