"""Requests that go to several pages in turn: each piece of memory is asked for once, and before."""

from __future__ import annotations

import ctypes

import pytest
from llvmlite import binding, ir

from gpubcast.backends.cpu.jit import page_turns

PAGES = 4 * 4096
SIZES = (128, 256, 512)


@pytest.mark.parametrize("size", SIZES)
def test_all_of_the_next_pages_is_asked_for_once(size: int) -> None:
    base, place = 37 * PAGES, 16  # arrays begin 16 bytes behind a line
    walked = range(base + place, base + PAGES, size)
    asked = [page_turns.asked(address, size) for address in walked]
    assert sorted(asked) == [address + PAGES for address in walked]
    # Four pages in turn, and each of them in order.
    turns = [(address - base) % PAGES // 4096 for address in asked]
    assert turns == [k % 4 for k in range(len(asked))]
    for page in range(4):
        of_page = asked[page::4]
        assert of_page == sorted(of_page)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_asked_for_is_read_later(size: int) -> None:
    for address in range(5 * PAGES, 6 * PAGES, size):
        ahead = page_turns.asked(address, size) - address
        assert 4096 <= ahead < 2 * PAGES - 4096


@pytest.mark.parametrize("size", SIZES)
def test_generated_code_asks_for_the_same(size: int) -> None:
    """By LLVM's builder, and by its assembly."""
    word = ir.IntType(64)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(word, [word]), "built")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(page_turns.asked_for(builder, function.args[0], size))
    lines = page_turns.assembly("%ahead", "%x", 3072, size)
    text = "\n".join(
        [
            *(str(module), "define i64 @written(ptr %x) {", *lines),
            *("  %found = ptrtoint ptr %ahead to i64", "  ret i64 %found", "}"),
        ]
    )
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    with binding.create_mcjit_compiler(binding.parse_assembly(text), machine) as engine:
        engine.finalize_object()
        made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
        built, written = (made(engine.get_function_address(name)) for name in ("built", "written"))
        for address in (*range(0x7F0000000010, 0x7F0000000010 + 2 * PAGES, 48), 0, 123456789):
            assert built(address) == page_turns.asked(address, size)
            assert written(address) == page_turns.asked(address + 3072, size)
