"""Every operation becomes machine code: in FLAT and in one other schedule, on two architectures.

No GPU is involved. Spills and local memory are read from ptxas's own log.
"""

from __future__ import annotations

import re

import pytest

from gpubcast.codegen.cuda import kernel
from gpubcast.hlo import expression, graph_inference, rules
from gpubcast.hlo.ops import OPS
from gpubcast.planning import simplify
from gpubcast.planning.build import build
from gpubcast.planning.plan import Operand
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import CudaTarget
from gpubcast.shapes.shape import Shape
from tests.compile import sass
from tests.support import operations, small_types

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
# What holds on one architecture is checked on the others by `make test-long`.
EVERY_ARCHITECTURE = [
    pytest.param(arch, marks=() if arch == "sm_90" else pytest.mark.long) for arch in ARCHITECTURES
]
# Compiling together costs half of compiling one by one, and keeps the headers' share small.
UNIT = 24
# Shapes of a small and a large operand for which each family is chosen, and the output's layout.
SHAPES = {
    Flat: ("[4096]", "[4096]", ""),
    Rows: ("[64,1024]", "[1,1024]", ""),
    Phase: ("[4096,3]", "[1,3]", ""),
    Xpose: ("[64,128]", "[64,128]{0,1}", ""),
    Gather: ("[8192,1]", "[8192,1]", "{1,0:pad(8192,2)}"),
}
UNARY_SHAPES = {
    Flat: ("[4096]", ""),
    Rows: ("[64,1024]{1,0:pad(64,1040)}", ""),
    Phase: ("[4096,3]{1,0:pad(4096,4)}", ""),
    Xpose: ("[64,128]", "{0,1}"),
    Gather: ("[8192,1]", "{1,0:pad(8192,2)}"),
}


def source(name: str, kind: str, family: type[Schedule], **attributes: object) -> str:
    """The kernel of an operation on one element type in one family."""
    row = OPS[name]
    small, large, layout = SHAPES[family]
    if row.arity == 1:
        shape, layout = UNARY_SHAPES[family]
        texts = [kind + shape]
    elif row.rule is rules.BINARY:
        texts = [kind + small, kind + large]
    elif row.rule is rules.SELECT:
        texts = ["pred" + small, kind + small, kind + _same(large)]
    else:
        texts = [kind + "[]", kind + small, kind + _same(large)]
    shapes = tuple(Shape.parse(text) for text in texts)
    graph = expression.single(name, attributes)
    nodes = graph_inference.infer_nodes(graph, shapes)
    inferred = nodes[graph.outputs[0]].shape
    output = Shape(inferred.element_type, inferred.dimensions)
    if layout:
        output = Shape.parse(output.text(layout=False) + layout)
    plan = simplify.normalise(
        build(graph, nodes, tuple(map(Operand.of, shapes)), (Operand.of(output),))
    )
    chosen = schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))
    if row.rule in (rules.BINARY, rules.UNARY, rules.CONVERT):
        assert type(chosen) is family, (name, kind, chosen)
    return kernel.generate(plan, chosen).text


def _same(large: str) -> str:
    """Select and clamp take no degenerate dimensions."""
    return (
        large.replace("[1,1024]", "[64,1024]")
        .replace("[1,3]", "[4096,3]")
        .replace("[1,512,1]", "[16,512,1]")
    )


def table() -> list[tuple[str, str, dict[str, object]]]:
    """(operation, element type, keywords) of every kernel."""
    core = [kind.name for kind in operations.CORE]
    rows = [
        (row.name, kind.name, said)
        for row, kind in operations.rows()
        if kind.name in core
        for said in operations.keywords(row, kind)[-1:]
    ]
    rows += [
        ("convert_element_type", source.name, {"to": to.name})
        for source, to in operations.conversions(operations.CORE)
    ]
    return rows + small()


def small() -> list[tuple[str, str, dict[str, object]]]:
    """The same of types of a byte and less. What f8 is read and written as differs from f32."""
    four, f8 = ([kind.name for kind in kinds] for kinds in (small_types.FOUR_BITS, small_types.F8))
    rows = [
        (row.name, kind.name, said)
        for row, kind in operations.rows()
        if kind.name in four
        for said in operations.keywords(row, kind)[-1:]
    ]
    rows += [(name, kind, {}) for kind in f8 for name in ("add", "mul", "max", "neg", "lt")]
    partners = ("pred", "s32", "s64", "u8", "f16", "f32", "f64", "f8e5m2", "s4")
    pairs = {(a, b) for kind in four + f8 for c in partners for a, b in ((kind, c), (c, kind))}
    rows += [("convert_element_type", a, {"to": b}) for a, b in sorted(pairs)]
    precision = {"exponent_bits": 4, "mantissa_bits": 5}
    rows += [("reduce_precision", kind, precision) for kind in (*small_types.FORMATS, *f8)]
    return rows


def check(texts: list[str], arch: str) -> None:
    log = sass.compiled("\n".join(texts), arch).log
    reports = re.split(r"Compiling entry function '", log)[1:]
    assert len(reports) == len(texts), log
    for report in reports:
        name = report.split("'", 1)[0]
        spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
        stack = [int(n) for n in re.findall(r"(\d+) bytes stack frame", report)]
        assert spills and not any(spills), f"{name} spills on {arch}:\n{report}"
        assert stack and not any(stack), f"{name} uses local memory on {arch}:\n{report}"


KERNELS = table()


OTHERS = [family for family in SHAPES if family is not Flat]


@pytest.mark.long
def test_every_operation_compiles_without_spills() -> None:
    """Each on the first and on the last of its types, FLAT on sm_90."""
    ends: dict[str, list[tuple[str, str, dict[str, object]]]] = {}
    for one in KERNELS:
        ends.setdefault(one[0], []).append(one)
    chosen = [one for every in ends.values() for one in (every[0], every[-1])]
    texts = dict.fromkeys(source(name, kind, Flat, **said) for name, kind, said in chosen)
    check(list(texts), "sm_90")
    assert len(texts) > len(ends)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, len(KERNELS), UNIT))
def test_kernels_compile_without_spills(first: int) -> None:
    """FLAT on each architecture in turn; and on sm_90 another schedule, which a neighbour in the
    table has not."""
    chosen = KERNELS[first : first + UNIT]
    turn = first // UNIT
    flat = [source(name, kind, Flat, **said) for name, kind, said in chosen]
    other = [
        source(name, kind, OTHERS[(turn + i) % len(OTHERS)], **said)
        for i, (name, kind, said) in enumerate(chosen)
    ]
    check(list(dict.fromkeys(other)), "sm_90")
    check(list(dict.fromkeys(flat)), ARCHITECTURES[turn % 3])


@pytest.mark.skipif(sass.nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed")
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_flat_and_rows_divide_nothing_and_move_vectors(arch: str) -> None:
    """Judged with copy and add, whose arithmetic hides nothing: bitcast of equal types copies."""
    kernels = {}
    for kind in ("u8", "bf16", "f32", "f64"):
        for family in (Flat, Rows):
            kernels[source("add", kind, family)] = f"add {kind} {family.name}"
            word = {"u8": "s8", "bf16": "u16", "f32": "s32", "f64": "s64"}[kind]
            copied = source("bitcast_convert_type", kind, family, to=word)
            kernels[copied] = f"copy {kind} {family.name}"
    made = sass.compiled("\n".join(kernels), arch)
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
