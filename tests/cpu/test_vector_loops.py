"""Loops of kernels are vector loops on every processor, of no more instructions than documented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import llvmlite
import pytest

from tests.support import lane_loops, vector_kernels, vector_loops
from tests.support.processor_targets import TARGETS

# The version of llvmlite that the table was made with; others' LLVM schedules and spills otherwise.
DOCUMENTED = "0.50."
MORE = 1.1 if llvmlite.__version__.startswith(DOCUMENTED) else 1.5
SHORT = ("log f32", "sin f64", "f32 to s8", "div s32", "rem f64")


def held(target: str, *labels: str) -> None:
    documented = vector_kernels.documented()[target]
    found = vector_kernels.told(target, *labels)
    assert set(found) == set(labels or documented)
    for label, (sort, each) in found.items():
        if not vector_kernels.excepted(target, label):
            assert sort == "vector", label
        wanted, most = documented[label]
        assert sort == wanted and each <= MORE * most + 0.02, f"{label}: {sort} {each}, not {most}"


@pytest.mark.parametrize("target", ["haswell", "neoverse-v1"])
def test_some_loops_are_as_documented(target: str) -> None:
    held(target, *SHORT)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_loops_are_as_documented(target: str) -> None:
    """Each kernel on every other processor."""
    turn = list(TARGETS).index(target)
    held(target, *list(vector_kernels.documented()[target])[turn % 2 :: 2])


# From memory all lanes of a chunk are filled in the order of elements: those of four bytes or less,
# and not as keys, are in as many registers as all processors but x86-64-v2 have (on Arm in all 32,
# so that up to 10 of 32 accesses are those of the stack). Others are partly on the stack there.
FITTING = {
    f"{name}, from memory"
    for name in (
        *(f"reduce_sum {kind}" for kind in ("f32", "s32", "bf16", "u8")),
        "reduce_prod f32",
    )
}


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=() if name in ("znver3", "skylake-avx512") else pytest.mark.long)
        for name in TARGETS
    ],
)
def test_lanes_stay_in_registers(target: str) -> None:
    """In the loops in which they take one element after another, all of them vector loops."""
    found = lane_loops.told(target)
    near = [*lane_loops.kernels()]
    assert {*found} == {one.label for one in (*near, *map(lane_loops.from_memory, near))}
    for label, every in found.items():
        far = label.endswith(", from memory")
        if far and (target == "x86-64-v2" or label not in FITTING):
            continue
        assert every, label
        for vectors, scalars, stack in every:
            most = vectors // (3 if far else 4)
            assert vectors >= 2 and not scalars and stack <= most, (label, every)
    if target == "znver4":  # keys of all lanes at a time: as many operations make them
        assert found["reduce_max f64"][0][0] == 2 * 128 * 8 // 64
    if target in ("haswell", "znver3"):  # all lanes in 16 registers, whose elements are in memory
        assert found["reduce_sum f32"] == found["reduce_sum s32"] == [[16, 0, 0]]
    # A Zen 4 reads memory by halves of its registers.
    halves = 2 if target == "znver4" else 1
    if "avx512" in target or halves == 2:
        for kind in ("f32", "s32", "bf16"):
            label = f"reduce_sum {kind}"
            both = [found[label][0][0], found[f"{label}, from memory"][0][0]]
            assert both == [8, 8 * halves], label


WIDEST = """
import re
import gpubcast as gb
from tests.support.vector_kernels import Kernel, assemblies

centred = gb.fuse("n -> n")(lambda x: x - gb.reduce_sum(x, "n"))
subtracted = gb.fuse("n, n -> n")(lambda x, y: x - y)
every = Kernel("c", centred, ("f32",), "f32"), Kernel("s", subtracted, ("f32",) * 2, "f32")
for kernel, assembly in assemblies({target!r}, (), every):
    print(kernel.label, max(re.findall("vsubps.*%([xyz])mm", assembly)))
"""


@pytest.mark.parametrize(
    ("target", "centred", "subtracted"),
    [("skylake-avx512", "z", "y"), ("znver4", "z", "z"), ("haswell", "y", "y")],
)
def test_results_along_rows_are_computed_in_the_widest_vectors(
    target: str, centred: str, subtracted: str, repository: Path
) -> None:
    """Where LLVM prefers half of them, too: later passes over a row read a cache."""
    done = subprocess.run(
        [sys.executable, "-c", WIDEST.format(target=target)],
        cwd=repository, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"c {centred}", f"s {subtracted}"]


def test_the_table_says_what_it_was_made_with(repository: Path) -> None:
    assert f"(llvmlite {DOCUMENTED.rstrip('.')}," in (repository / "docs/cpu-loops.md").read_text()


def test_the_table_has_every_kernel_and_no_other_exceptions() -> None:
    labels = {kernel.label for kernel in vector_kernels.kernels()}
    documented = vector_kernels.documented()
    assert set(documented) == set(TARGETS)
    for target, rows in documented.items():
        assert set(rows) == labels
        apart = {label for label, (sort, _) in rows.items() if sort != "vector"}
        assert all(vector_kernels.excepted(target, label) for label in apart)


PLANTED = """
from tests.support import vector_kernels
vector_kernels.aim("haswell")
from gpubcast.backends.cpu.intrinsics import elementary, division

def table(builder, machine_type, words, index):
    index = builder.and_(index, index.type(len(words) - 1))
    return elementary._lookup(builder, machine_type, words, index)

elementary._short_table = table
division._quotient = lambda builder, x, y, signed: builder.sdiv(x, y)
vector_kernels.tell("haswell", ["tanh f32", "div s32", "exp f32"], False)
"""


def test_a_scalar_load_and_a_scalar_division_are_seen(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLANTED],
        cwd=repository, capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    sorts = {label: sort for label, sort, _ in map(json.loads, done.stdout.splitlines())}
    assert sorts == {"tanh f32": "scalar", "div s32": "scalar", "exp f32": "vector"}


X86 = """
	.type	kernel,@function
kernel:
	testq	%rax, %rax
	jle	.LBB0_4
.LBB0_1:
	vmovups	(%rdi,%rax,4), %ymm0
	vmovups	%ymm1, -48(%rsp)
	{middle}
	vmovups	%ymm0, (%rsi,%rax,4)
	vptest	%ymm0, %ymm0
	jne	.LBB0_3
.LBB0_2:
	addq	$8, %rax
	cmpq	%rax, %rcx
	jne	.LBB0_1
	jmp	.LBB0_4
.LBB0_3:
	callq	gb_rare_lanes8
	jmp	.LBB0_2
.LBB0_4:
	retq
	.size	kernel, .-kernel
	.type	form,@function
form:
	vaddps	%ymm0, %ymm0, %ymm0
	retq
"""


@pytest.mark.parametrize(
    ("middle", "instructions", "sort"),
    [
        ("vsqrtps\t%ymm0, %ymm0", 9, "vector"),
        ("callq\tform", 11, "vector"),
        ("callq\tfmaf", 9, "scalar"),
        ("\n\t".join(["vpinsrd\t$1, %edx, %xmm0, %xmm0"] * 4), 12, "lanes"),
        ("vpextrd\t$1, %xmm0, %edx", 9, "vector"),
        ("\n\t".join(["movzwl\t(%rdi), %edx", "vmovd\t%edx, %xmm1"] * 4), 16, "vector"),
        ("\n\t".join(["addl\t$1, %edx", "vmovd\t%edx, %xmm1"] * 4), 16, "lanes"),
    ],
)
def test_what_is_read_in_assembly(middle: str, instructions: int, sort: str) -> None:
    loop = vector_loops.loop_of(X86.replace("{middle}", middle))
    assert (loop.instructions, loop.written, loop.sort(4)) == (instructions, 32, sort)


@pytest.mark.parametrize(
    ("name", "operands", "size"),
    [
        ("vmovups", "%zmm0, (%rsi)", 64),
        ("vpmovdb", "%zmm0, 8(%rsi) {%k1}", 16),
        ("vcvtps2ph", "$4, %ymm1, (%rax,%rcx,2)", 16),
        ("vmovss", "%xmm0, (%rsi)", 4),
        ("vaddps", "(%rsi), %ymm0, %ymm0", 0),
        ("cmpb", "$0, (%rsi)", 0),
        ("st2", "{ v0.4s, v1.4s }, [x8], #32", 32),
        ("st1", "{ v0.b }[3], [x8]", 1),
        ("st1h", "{ z0.s }, p0, [x1, x2, lsl #1]", 16),
        ("stp", "q0, q1, [x9]", 32),
        ("str", "z4, [x0, x1]", 32),
        ("ldp", "q0, q1, [x9]", 0),
    ],
)
def test_what_stores_write(name: str, operands: str, size: int) -> None:
    assert vector_loops.stored(vector_loops.Instruction(name, operands)) == size
