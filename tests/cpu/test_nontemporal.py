"""Streamed loops: what LLVM is told of them, and that they write whole lines and nothing beside."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend, processor
from gpubcast.backends.cpu.jit import llvm_passes, nontemporal_accesses
from gpubcast.codegen.cpu import kernel as code
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.schedule import CpuTarget
from tests.support import machine_code
from tests.support.guarded import Guarded
from tests.support.machine_code import noted
from tests.support.pipelined_rows import centred, shares

TEXT = """define void @f(ptr %x, ptr %z) {
  %a = load <8 x float>, ptr %x, align 4, !alias.scope !5
  %b = load <8 x float>, ptr %x, align 4, !alias.scope !2
  %c = load float, ptr %x, align 4, !alias.scope !5
  store <8 x float> %a, ptr %z, align 32, !noalias !5
  store <8 x float> %a, ptr %z, align 16, !noalias !5
  store <8 x float> %a, ptr %z, align 32, !noalias !2
  store <2 x float> splat (float 1.0), ptr %z, align 8, !noalias !5
  store float %c, ptr %z, align 64, !noalias !5
  store <16 x double> zeroinitializer, ptr %z, align 64, !noalias !5
  ret void
}

!0 = !{i1 true}
!2 = !{!3}
!3 = !{!"operands", !4}
!4 = !{!"gpubcast"}
!5 = !{!3, !6}
!6 = !{!"streamed", !4}
"""


def test_marked_vectors_that_are_aligned_go_past_the_caches() -> None:
    made = nontemporal_accesses.with_nontemporal_accesses(TEXT, asks=True)
    found = [line for line in made.splitlines() if "!nontemporal !7" in line]
    assert len(found) == 2
    assert found[0].startswith("  store <8 x float> %a, ptr %z, align 32, !noalias !5")
    assert found[1].startswith("  store <16 x double> zeroinitializer")
    assert made.count("nontemporal") == 2 and "!7 = !{i32 1}" in made


def test_marked_vector_loads_ask_ahead() -> None:
    made = nontemporal_accesses.with_nontemporal_accesses(TEXT, asks=True).splitlines()
    asked = [i for i, line in enumerate(made) if "call void @llvm.prefetch" in line]
    assert len(asked) == 1
    assert made[asked[0] - 2].startswith("  %a = load <8 x float>")
    assert "ptr %x, i64 3072" in made[asked[0] - 1]
    assert sum(line.startswith("declare void @llvm.prefetch") for line in made) == 1
    assert "prefetch" not in nontemporal_accesses.with_nontemporal_accesses(TEXT, asks=False)


@pytest.mark.parametrize("asks", [True, False])
def test_marked_loads_of_a_run_ask_for_pages_in_turn(asks: bool) -> None:
    """Whether other loads ask or not; only where the processor gains by it."""
    text = TEXT.replace("!5 = !{!3, !6}", "!5 = !{!3, !6, !8}") + '!8 = !{!"run", !4}\n'
    made = nontemporal_accesses.with_nontemporal_accesses(text, asks=asks, in_turn=True)
    (address,) = re.findall(r"call void @llvm.prefetch.p0\(ptr (%\S+),", made)
    assert f"  {address} = inttoptr i64 " in made
    assert "ptrtoint ptr %x to i64" in made and "getelementptr" not in made
    known = nontemporal_accesses.with_nontemporal_accesses(text, asks=asks)
    assert "inttoptr" not in known and ("prefetch" in known) is asks


def test_other_code_is_left_alone() -> None:
    text = TEXT.replace('!"streamed"', '!"others"')
    assert nontemporal_accesses.with_nontemporal_accesses(text, asks=True) == text


@pytest.mark.parametrize("verb, compares", [("write_own", False), ("write", True)])
def test_a_kernels_own_memory_is_apart_from_its_result(verb: str, compares: bool) -> None:
    """Else a loop that writes both compares their places first, and has a slow copy."""
    text = (
        "def f(own, x, z, n):\n"
        "    for i in range(n):\n"
        "        v = read_f32(x, i)\n"
        f"        {verb}_f32(own, i, v)\n"
        "        line_f32(z & -64, i, v)\n"
    )
    made = str(machine_code.optimised(machine_code.kernel(text, "f"), 4))
    assert "!nontemporal" in made and ("diff.check" in made) is compares


def optimised(plan: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The LLVM assembly of a plan's streamed kernel, compiled anew."""
    known: list[str] = []

    def kept(text: str, *, asks: bool, in_turn: bool) -> str:
        found = nontemporal_accesses.with_nontemporal_accesses(text, asks=asks, in_turn=in_turn)
        known.append(found)
        return found

    monkeypatch.setattr(llvm_passes, "with_nontemporal_accesses", kept)
    (one,) = plan.broadcast_plans
    backend._compiled(code.generate(one, schedule(one, CpuTarget(1, 0), ())))
    return known[-1]


@pytest.mark.parametrize("kind", ["f32", "f64", "s32", "c64"])
def test_loops_of_a_streamed_kernel(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = gb.plan("add", f"{kind}[999,1000]", f"{kind}[1000]", broadcast_dimensions=(1,))
    text = optimised(plan, monkeypatch)
    stores = re.findall(r"store <\d+ x \w+> .*!nontemporal", text)
    asks = processor.asks_in_turn() or not processor.reads_ahead()
    assert stores and ("call void @llvm.prefetch" in text) is asks


@gb.fuse("outer row col -> outer row col")
def apart(x: Any) -> Any:
    """Its results do not wait: its last pass does not compute, and an earlier one does."""
    return x - gb.reduce_max(x - gb.reduce_sum(gb.exp(x), "col"), "col")


@pytest.mark.parametrize("layout", ["{2,1,0}", "{2,0,1}"])
@pytest.mark.parametrize(
    "function, kind", [(centred, "f32"), (centred, "s64"), (shares, "f32"), (apart, "f32")]
)
def test_results_along_rows_are_not_stored_in_the_caches(
    function: Any, kind: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor those that wait, in one loop over rows or in two, nor what is left at the end of a row:
    their line would be read first, and all other stores would wait for it."""
    monkeypatch.setitem(backend._namespace(), "RESULTS_WAIT", True)
    plan = function.plan(f"{kind}[30,40,2000]{layout}", out_layout=gb.Layout((2, 1, 0)))
    text = optimised(plan, monkeypatch)
    scope = re.search(r'^(!\d+) = !\{!"streamed", ', text, re.MULTILINE)
    assert scope and ("o0_1" in plan.cpu_source()) is (layout == "{2,0,1}")
    lists = re.findall(rf"^(!\d+) = !\{{.*{scope[1]}\b.*\}}$", text, re.MULTILINE)
    stored = re.findall(rf"store .*!noalias (?:{'|'.join(lists)})\b.*", text)
    assert len(stored) >= 2 and all("!nontemporal" in one for one in stored)


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("reads_ahead", [False, True])
def test_what_computes_little_asks_where_processors_do_not_read_ahead(
    reads_ahead: bool, in_turn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or where they gain by requests that go to several pages in turn."""
    monkeypatch.setattr(llvm_passes, "reads_ahead", lambda: reads_ahead)
    monkeypatch.setattr(llvm_passes, "asks_in_turn", lambda: in_turn)
    for operation, asks in (("neg", in_turn or not reads_ahead), ("exp", True)):
        text = optimised(gb.plan(operation, "f32[999999]"), monkeypatch)
        assert ("call void @llvm.prefetch" in text) is asks, operation
        assert ("inttoptr i64 %ahead" in text) is in_turn


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("asks", [False, True])
def test_sums_along_rows_ask_likewise(
    asks: bool, in_turn: bool, between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = gb.plan("reduce_sum", "f32[999,999]", axes=(1,)).broadcast_plan
    source = code.generate(plan, schedule(plan, CpuTarget(1, 0), ()))
    assert backend._namespace()["FETCHES_AHEAD"] is not processor.reads_ahead()
    assert backend._namespace()["FETCHES_IN_TURN"] is processor.asks_in_turn()
    monkeypatch.setitem(backend._namespace(), "FETCHES_AHEAD", asks)
    assert backend._namespace()["FETCHES_BETWEEN"] is processor.asks_between()
    monkeypatch.setitem(backend._namespace(), "FETCHES_IN_TURN", in_turn)
    monkeypatch.setitem(backend._namespace(), "FETCHES_BETWEEN", between)
    texts = noted(monkeypatch)
    backend._compiled(source)
    assert ("llvm.prefetch" in "".join(texts)) is (asks or in_turn or between)


def test_functions_with_forms_on_vectors_are_streamed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = optimised(gb.plan("exp", "f32[999999]"), monkeypatch)
    assert re.search(r"store <\d+ x float> .*!nontemporal", text)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_every_begin_and_end_of_a_line(dtype: Any, streaming: str) -> None:
    per_line = 64 // np.dtype(dtype).itemsize
    for skew in range(per_line):
        for columns in range(4 * per_line, 6 * per_line + 2):
            x = np.arange(3 * columns).astype(dtype).reshape(3, columns)
            box = Guarded(dtype, x.shape, skew, apart=skew)
            row = np.arange(columns).astype(dtype)
            gb.add(x, row, broadcast_dimensions=(1,), out=box.out)
            np.testing.assert_array_equal(box.out, x + row)
            box.out.view(np.uint8)[...] = 0xA5
            assert (box.raw == 0xA5).all()


def test_elements_at_half_their_size(streaming: str) -> None:
    memory = np.full(16 * 600 + 8, 0xA5, np.uint8)
    for at in (0, 8):
        out = memory[at : at + 16 * 500].view(np.complex128)
        x = np.arange(500) * (1 + 2j)
        assert gb.add(x, x, out=out) is out
        np.testing.assert_array_equal(out, x + x)
        out.view(np.uint8)[...] = 0xA5
        assert (memory == 0xA5).all()
