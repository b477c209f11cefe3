"""Instructions and permutations that stand for steps of formulas: the same bits, no calls left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpubcast.backends.cpu import backend, processor
from gpubcast.backends.cpu.intrinsics import avx512, elementary
from gpubcast.backends.cpu.jit import builtins, llvm_passes, object_cache
from gpubcast.backends.cpu.jit.compile import machine_code
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import accuracy

# Between them every native step, and short tables of 8, 16 and 32 entries.
NAMES = ("exp", "exp2", "log", "log10", "log1p", "log2", "pow", "rsqrt", "tanh")
# Beside whole vectors, what is left for half ones and for single elements.
SIZES = (1, 5, 12, 27, 500)
Array = np.ndarray[Any, Any]


def kernel(name: str, kind: str, operands: int, *, native: bool) -> object_cache.Unit:
    """The code of a loop over one operation, with instructions or without."""
    slots = range(operands + 1)
    lines = [
        f"def loop_{name}_{kind}_{native}(table, low, high):",
        "    wide_vectors()",
        *(f"    p{slot} = load_s64(table, {slot})" for slot in slots),
        "    for i in range(low, high):",
        *(f"        v{slot} = load_{kind}(p{slot}, i)" for slot in slots[:-1]),
        f"        result = {name}({', '.join(f'v{slot}' for slot in slots[:-1])})",
        f"        store_{kind}(p{operands}, i, result)",
    ]
    scope = dict(backend._namespace()) | elementary.functions()
    exec("\n".join(lines), scope)
    image, symbol = machine_code(scope[f"loop_{name}_{kind}_{native}"], 3)
    return object_cache.Unit(image, symbol)


def run(code: object_cache.Unit, *operands: Array) -> Array:
    out = np.empty_like(operands[0])
    table = np.array([x.ctypes.data for x in (*operands, out)], np.int64)
    builtins.callable_at(object_cache._load(code))(table.ctypes.data, 0, out.size)
    return out


@pytest.fixture(params=["f32", "f64"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_instructions_give_the_bits_of_the_formulas(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = accuracy.arity(name)
    found = {}
    for native in (True, False):
        if not native:
            monkeypatch.setattr(elementary, "_vector_instruction", lambda step: None)
        code = kernel(name, kind, count, native=native)
        operands = accuracy.samples(name, ELEMENT_TYPES[kind], 40_000, seed=5)
        found[native] = run(code, *operands)
        for size in SIZES:
            first = [np.ascontiguousarray(x[:size]) for x in operands]
            np.testing.assert_array_equal(run(code, *first), found[native][:size])
    np.testing.assert_array_equal(found[True], found[False])


@pytest.mark.parametrize("name", NAMES)
def test_a_single_element_is_computed_as_in_a_vector(name: str, kind: str) -> None:
    code = kernel(name, kind, accuracy.arity(name), native=True)
    limits = np.finfo(kind.replace("f", "float"))
    least, tiny, most = limits.smallest_subnormal, limits.tiny, limits.max
    x = np.array([least, tiny / 3, tiny, 0.7, 1, 3, most, 0, -0.0, -least, -1, np.inf, -np.inf])
    for one in x.astype(limits.dtype):
        operands = [np.full(64, one) for _ in range(accuracy.arity(name))]
        together = run(code, *operands)
        np.testing.assert_array_equal(together, np.full(64, run(code, *(o[:1] for o in operands))))


@pytest.mark.parametrize("name", NAMES)
def test_loops_call_nothing(name: str, kind: str) -> None:
    code = kernel(name, kind, accuracy.arity(name), native=True)
    # C has what a processor lacks.
    fused = processor.has_fma()
    allowed = {"_GLOBAL_OFFSET_TABLE_"} | (set() if fused else {"fma", "fmaf"})
    assert code.object is not None and code.object.undefined() <= allowed
    assert not any(
        step in code.image
        for step in (b"gb_lookup", b"gb_scaled", b"gb_mantissa", b"gb_normal_mantissa")
    )


@pytest.mark.skipif(not processor.has_avx512(), reason="the processor has no AVX-512")
def test_a_wrong_instruction_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def off(builder: Any, y: Any, n: Any) -> Any:
        return builder.fadd(scaled(builder, y, n), y)

    scaled: Callable[..., Any] = avx512.INSTRUCTIONS["scaled"]
    x = np.linspace(-3, 3, 64, dtype=np.float32)
    right = run(kernel("exp", "f32", 1, native=True), x)
    monkeypatch.setitem(avx512.INSTRUCTIONS, "scaled", off)
    assert (run(kernel("exp", "f32", 1, native=True), x) != right).all()


TEXT = """define i32 @loop() #0 {
entry:
  br label %body
body:
  br i1 true, label %body, label %end
end:
  ret i32 0
}
define internal float @step(float %x) #1 {
  ret float %x
}
@llvm.compiler.used = appending global [1 x ptr] [ptr @step], section "llvm.metadata"
attributes #0 = { "prefer-vector-width"="512" }
attributes #1 = { noinline nounwind "vector-function-abi-variant"="_ZGV_LLVM_N8v_step(step_x8)" }
attributes #2 = { cold noinline nounwind "vector-function-abi-variant"="x" }
!0 = !{!"known"}"""


def test_back_edges_alone_are_interleaved() -> None:
    lines = llvm_passes.hinted(TEXT, llvm_passes._INTERLEAVED.format(2)).splitlines()
    assert [line for line in lines if "!llvm.loop !" in line] == [
        "  br i1 true, label %body, label %end, !llvm.loop !2"
    ]
    assert lines[-2:] == [
        '!1 = !{!"llvm.loop.interleave.count", i32 2}',
        "!2 = distinct !{!2, !1}",
    ]


def test_forms_on_vectors_are_inlined_and_cold_helpers_are_not() -> None:
    text = llvm_passes.inlining(TEXT)
    assert "alwaysinline nounwind" in text and "cold noinline nounwind" in text
    assert "llvm.compiler.used" not in text
