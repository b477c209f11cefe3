"""Every generated kernel of the operation table becomes machine code, for three architectures.

No GPU is involved. Spills and local memory are read from ptxas's own log.
"""

from __future__ import annotations

import re

import pytest

from gpubcast import expression, simplify
from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen import cuda
from gpubcast.families import CudaTarget, Family
from gpubcast.ops import OPS, Rule
from gpubcast.planning import Operand, build
from gpubcast.schedule import schedule
from gpubcast.shape import Shape
from tests import operations
from tests.compile import sass

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
# Compiling together costs half of compiling one by one, and keeps the headers' share small.
UNIT = 24
# Shapes of a small and a large operand for which each family is chosen.
SHAPES = {
    Family.FLAT: ("[4096]", "[4096]"),
    Family.ROWS: ("[64,128]", "[1,128]"),
    Family.GATHER: ("[64,128]", "[64,128]{0,1}"),
}
UNARY_SHAPES = {
    Family.FLAT: "[4096]",
    Family.ROWS: "[64,128]{1,0:pad(64,144)}",
    Family.GATHER: "[64,128]",
}


def source(name: str, kind: str, family: Family, **attributes: object) -> str:
    """The kernel of an operation on one element type in one family."""
    row = OPS[name]
    small, large = SHAPES[family]
    if row.arity == 1:
        texts = [kind + UNARY_SHAPES[family]]
    elif row.rule is Rule.BINARY:
        texts = [kind + small, kind + large]
    elif row.rule is Rule.SELECT:
        texts = ["pred" + small, kind + small, kind + _same(large)]
    else:
        texts = [kind + "[]", kind + small, kind + _same(large)]
    shapes = tuple(Shape.parse(text) for text in texts)
    graph = expression.single(name, attributes)
    nodes = expression.typed(graph, shapes)
    inferred = nodes[graph.outputs[0]].shape
    output = Shape(inferred.element_type, inferred.dimensions)
    if row.arity == 1 and family is Family.GATHER:
        output = output.with_layout(Shape.parse("f32[64,128]{0,1}").layout)
    plan = simplify.normalise(
        build(graph, nodes, tuple(map(Operand.of, shapes)), (Operand.of(output),))
    )
    chosen = schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))
    if row.rule in (Rule.BINARY, Rule.UNARY, Rule.CONVERT):
        assert chosen.family is family, (name, kind, chosen)
    return cuda.generate(plan, chosen).text


def _same(large: str) -> str:
    return large.replace("[1,", "[64,")


def table() -> list[tuple[str, str, dict[str, object]]]:
    """(operation, element type, keywords) of every kernel."""
    core = [kind.name for kind in operations.CORE]
    rows = [(row.name, kind.name, {}) for row, kind in operations.rows() if kind.name in core]
    rows += [
        ("convert_element_type", source.name, {"to": to.name})
        for source, to in operations.conversions(operations.CORE)
    ]
    return rows


def check(texts: list[str], arch: str) -> None:
    log = nvrtc.compile_cubin("\n".join(texts), arch).log
    reports = re.split(r"Compiling entry function '", log)[1:]
    assert len(reports) == len(texts), log
    for report in reports:
        name = report.split("'", 1)[0]
        spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
        stack = [int(n) for n in re.findall(r"(\d+) bytes stack frame", report)]
        assert spills and not any(spills), f"{name} spills on {arch}:\n{report}"
        assert stack and not any(stack), f"{name} uses local memory on {arch}:\n{report}"


KERNELS = table()


@pytest.mark.parametrize("first", range(0, len(KERNELS), UNIT))
@pytest.mark.parametrize("family", SHAPES, ids=lambda f: f.name)
def test_kernels_compile_without_spills(family: Family, first: int) -> None:
    texts = dict.fromkeys(
        source(name, kind, family, **attributes)
        for name, kind, attributes in KERNELS[first : first + UNIT]
    )
    for arch in ARCHITECTURES:
        check(list(texts), arch)


@pytest.mark.skipif(sass.nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed")
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_flat_and_rows_divide_nothing_and_move_vectors(arch: str) -> None:
    """Judged with copy and add, whose arithmetic hides nothing: bitcast of equal types copies."""
    kernels = {}
    for kind in ("u8", "bf16", "f32", "f64"):
        for family in (Family.FLAT, Family.ROWS):
            kernels[source("add", kind, family)] = f"add {kind} {family.name}"
            word = {"u8": "s8", "bf16": "u16", "f32": "s32", "f64": "s64"}[kind]
            copied = source("bitcast_convert_type", kind, family, to=word)
            kernels[copied] = f"copy {kind} {family.name}"
    made = nvrtc.compile_cubin("\n".join(kernels), arch)
    reports = sass.report(made.image, made.log)
    assert len(reports) == len(kernels) == 16
    for text, label in kernels.items():
        entry = re.search(r"\b(gb_[0-9a-f]{16})\(const", text)
        assert entry is not None
        found = reports[entry[1]]
        assert found.divisions == (), label
        assert (found.count("LDL"), found.count("STL"), found.spill_bytes) == (0, 0, 0), label
        assert found.wide_loads >= 1 and found.wide_stores >= 1, label


def test_a_spill_would_be_noticed() -> None:
    text = (
        'extern "C" __global__ void __launch_bounds__(1024) k(float* p, int n) {'
        " float a[64]; for (int i = 0; i < 64; ++i) a[i] = p[i * n];"
        " for (int i = 0; i < 64; ++i) p[(int)a[i]] = a[(i * n) & 63]; }"
    )
    with pytest.raises(AssertionError, match=r"local memory|spills"):
        check([text], "sm_90")
