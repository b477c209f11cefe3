"""Laws of plans, checked at every index, and the kernel keys."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpubcast as gb
from gpubcast.codegen.source import kernel_key
from gpubcast.errors import ElementTypeError, Error, ShapeError
from gpubcast.hlo import expression, graph_inference
from gpubcast.planning import simplify
from gpubcast.planning.build import build
from gpubcast.planning.plan import Access, BroadcastPlan, Operand
from gpubcast.planning.planner import plan_for
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cpu.nest import Nest
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import AccessPattern, CpuTarget, CudaTarget
from gpubcast.shapes.shape import Shape

H200 = CudaTarget("sm_90", 132)


def raw_plan(name: str, *texts: str, out: str | None = None, **attributes: object) -> BroadcastPlan:
    shapes = tuple(Shape.parse(text) for text in texts)
    graph = expression.single(name, attributes)
    nodes = graph_inference.infer_nodes(graph, shapes)
    output = Shape.parse(out) if out else nodes[graph.outputs[0]].shape
    return build(graph, nodes, tuple(map(Operand.of, shapes)), (Operand.of(output),))


def normal(name: str, *texts: str, out: str | None = None, **attributes: object) -> BroadcastPlan:
    return simplify.normalise(raw_plan(name, *texts, out=out, **attributes))


def gpu(plan: BroadcastPlan, alignment: int = 16):
    return schedule(plan, H200, (alignment,) * len(plan.accesses))


def walk(plan: BroadcastPlan) -> set[tuple[int, ...]]:
    """The addresses visited together: one tuple of offsets per computed element."""
    visited = set()
    for index in itertools.product(*(range(axis.size) for axis in plan.axes)):
        visited.add(tuple(offset(access, index) for access in plan.accesses))
    return visited


def offset(access: Access, index: tuple[int, ...]) -> int:
    return access.offset + sum(i * s for i, s in zip(index, access.strides, strict=True))


# --- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_pass", simplify.PASSES, ids=lambda p: p.__name__)
@given(data=st.data())
def test_every_pass_visits_the_same_elements(one_pass, data) -> None:
    """No pass changes which elements meet (merging over padding is tested on its own)."""
    rank = data.draw(st.integers(0, 4))
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    order = data.draw(st.permutations(range(rank)))
    right = [1 if data.draw(st.booleans()) else n for n in sizes]
    layout = gb.Layout(order)
    plan = raw_plan("add", str(Shape("f32", sizes, layout)), str(Shape("f32", right, layout)))
    for earlier in simplify.PASSES[: simplify.PASSES.index(one_pass)]:
        plan = earlier(plan)
    assert walk(one_pass(plan)) == walk(plan)


def test_a_planted_wrong_pass_is_found() -> None:
    plan = raw_plan("add", "f32[4,5]", "f32[4,5]")

    def wrong(before: BroadcastPlan) -> BroadcastPlan:
        return simplify._select_axes(before, [0])

    with pytest.raises(Error, match="wrong broke the plan"):
        simplify.verify(plan, wrong(plan), "wrong")


def test_flipped_output_has_positive_strides() -> None:
    out = gb.empty("f32[4,6]")[::-1, ::-2]
    graph = expression.single("neg", {})
    planned = plan_for(graph, (Operand.of(Shape("f32", (4, 3))),), (out._operand,))
    (kernel,) = planned.kernels
    assert all(stride > 0 for stride in kernel.plan.writes[0].strides)


def test_broadcast_axes_have_stride_zero_and_others_do_not() -> None:
    plan = normal("add", "f32[4,1,6]", "f32[1,5,6]")
    left, right = plan.reads
    assert (left.strides, right.strides) == ((6, 0, 1), (0, 6, 1))
    assert plan.writes[0].strides == (30, 6, 1)


def test_equal_work_is_an_equal_plan() -> None:
    one = normal("add", "f32[4,1,6]", "f32[4,1,6]")
    assert one == normal("add", "f32[24]", "f32[24]")
    assert one == normal("add", "f32[2,3,4]{0,2,1}", "f32[2,3,4]{0,2,1}")
    assert hash(one) == hash(pickle.loads(pickle.dumps(one)))


def test_shared_padded_layout_runs_flat() -> None:
    plan = normal("neg", "f32[4,6]{1,0:pad(5,8)}")
    assert [axis.size for axis in plan.axes] == [32]
    assert isinstance(gpu(plan), Flat)


def test_padding_that_must_be_written_is_visited() -> None:
    plan = normal("neg", "f32[4,6]{1,0:pad(5,8)}", out="f32[4,6]{1,0:pad(5,8,zero)}")
    assert [(axis.size, axis.extent) for axis in plan.axes] == [(4, 5), (6, 8)]
    assert plan.fills and kernel_key(plan, gpu(plan)).endswith(" | fill")


def test_much_padding_is_not_walked_over() -> None:
    plan = normal("neg", "f32[4,6]{1,0:pad(4,60)}")
    assert [axis.size for axis in plan.axes] == [4, 6]


def test_rows_of_different_pitch_are_not_merged() -> None:
    plan = normal("add", "f32[4,6]{1,0:pad(4,8)}", "f32[4,6]")
    assert plan.rank == 2


def test_unmergeable_rank_17_is_refused_P1() -> None:
    left = "f32[" + ",".join("21"[i % 2] for i in range(18)) + "]"
    right = "f32[" + ",".join("12"[i % 2] for i in range(18)) + "]"
    with pytest.raises(ShapeError, match="18 axes remain") as caught:
        normal("add", left, right)
    assert caught.value.rule == "P1"


def test_bitcast_between_four_bits_and_other_widths_is_refused_P3() -> None:
    for shape, to in (("s8[2]", "s4"), ("u4[3,2]", "pred"), ("f32[2]", "u4")):
        if to == "u4":
            assert gb.infer_shape("bitcast_convert_type", shape, to=to).dimensions == (2, 8)
        with pytest.raises(ElementTypeError, match="takes a whole byte") as caught:
            normal("bitcast_convert_type", shape, to=to)
        assert caught.value.rule == "P3"
    assert normal("bitcast_convert_type", "s4[2]", to="u4").program.code


def test_bitcast_to_another_width_is_a_read_of_the_other_type() -> None:
    narrower = normal("bitcast_convert_type", "f32[4,3]{0,1:pad(8,3)}", to="u16")
    (read,) = narrower.reads
    assert (read.element_type.name, read.strides, narrower.program.code) == ("u16", (1,), ())
    wider = normal("bitcast_convert_type", "u8[5,7,8]{2,0,1}", to="f64")
    (read,) = wider.reads
    assert (read.element_type.name, read.strides, wider.program.code) == ("f64", (1,), ())
    swapped = gb.plan("bitcast_convert_type", "u8[5,8]{0,1}", to="f64")
    assert [str(t) for t in swapped._call_plan().temporaries] == ["u8[5,8]{1,0}"]


def test_layout_attributes_are_text_only_P4() -> None:
    shape = Shape.parse("f32[2,3]{0,1:S(1)}")
    assert str(gb.infer_shape("neg", shape)) == "f32[2,3]{0,1:S(1)}"
    for call in (lambda: gb.plan("neg", shape), lambda: gb.empty(shape)):
        with pytest.raises(gb.LayoutError, match="an array has none") as caught:
            call()
        assert caught.value.rule == "P4"


# --- schedules: worked examples ----------------------------------------------------------------

BIG = "f32[4096,4096]"
EXAMPLES = [
    (BIG, BIG, Flat, "LINEAR LINEAR", 4),
    (BIG, "f32[]", Flat, "LINEAR SCALAR", 4),
    (BIG, "f32[1,4096]", Rows, "TILE ROW", 4),
    (BIG, "f32[4096,1]", Rows, "TILE COLUMN", 4),
    ("f32[4096,1]", "f32[1,4096]", Rows, "COLUMN ROW", 4),
    ("f32[64,128,56,56]", "f32[1,128,1,1]", Rows, "TILE COLUMN", 4),
    ("f32[64,128,56,56]", "f32[64,1,56,56]", Rows, "TILE ROW", 4),
    ("f32[32,12,128,128]", "f32[32,1,1,128]", Rows, "TILE ROW", 4),
    ("f32[100000,3]", "f32[1,3]", Phase, "LINEAR PERIODIC", 4),
    ("f32[100000,3]", "f32[100000,1]", Phase, "LINEAR GATHERED", 4),
    ("f32[1000,99]", "f32[1,99]", Phase, "LINEAR PERIODIC", 4),
    ("f32[1000,1001]", "f32[1,1001]", Running, "LINEAR ROW", 4),
    ("f32[1000,1001]", "f32[1000,1]", Running, "LINEAR COLUMN", 4),
    ("f64[1000,1001]", "f64[1,1001]", Rows, "TILE ROW", 1),
    ("f32[1000,1002]", "f32[1,1002]", Rows, "TILE ROW", 2),
    ("f32[4096,4096]{0,1}", BIG, Xpose, "TILE CROSSED", 4),
    ("f32[32,512,64]{0,2,1}", "f32[32,512,64]", Xpose, "TILE CROSSED", 4),
    ("f32[2,3,2,3,2,3]", "f32[1,3,1,3,1,3]", Phase, "LINEAR PERIODIC", 4),
    ("f32[16,16,16,16]", "f32[1,16,1,16]", Phase, "LINEAR PERIODIC", 4),
    ("f32[3,5,7,11,13,17]", "f32[1,5,1,11,1,17]", Running, "LINEAR TILE", 4),
    ("f32[4,3]{1,0:pad(4,4)}", "f32[4,1]", Phase, "PERIODIC PERIODIC", 1),
    ("f32[900,3]{1,0:pad(900,4)}", "f32[900,1]", Phase, "GATHERED GATHERED", 1),
    ("f32[64,512,1]{2,1,0:pad(64,512,2)}", "f32[]", Gather, "GATHERED SCALAR", 1),
    ("u8[4096,4096]", "u8[1,4096]", Rows, "TILE ROW", 16),
    ("f64[4096,4096]", "f64[4096,4096]", Flat, "LINEAR LINEAR", 2),
    ("bf16[4096,4096]", "bf16[1,4096]", Rows, "TILE ROW", 8),
]


@pytest.mark.parametrize(("left", "right", "family", "kinds", "vector"), EXAMPLES)
def test_worked_examples(left, right, family, kinds, vector) -> None:
    chosen = gpu(normal("add", left, right))
    found = " ".join(kind.value for kind in chosen.reads)
    width = 1 if isinstance(chosen, Gather) else chosen.vector_width
    assert (type(chosen), found, width) == (family, kinds, vector)
    assert chosen.reason.startswith(f"{chosen.name}: ")


@pytest.mark.parametrize(("address", "head"), [(0, 0), (16, 4), (8, 6), (4, 7), (28, 1)])
def test_one_misalignment_of_all_leaves_whole_vectors(address: int, head: int) -> None:
    chosen = gpu(normal("add", BIG, BIG), address)
    assert (chosen.vector_width, chosen.head, chosen.loads) == (4, head, ())
    assert ("vectors begin after" in chosen.reason) == (head > 0)


@pytest.mark.parametrize(
    ("addresses", "head", "loads"),
    [
        ((4, 0, 0), 0, (1, 4)), ((8, 4, 0), 0, (2, 1)), ((4, 4, 0), 0, (1, 1)),
        ((4, 8, 4), 7, (4, 1)), ((0, 8, 8), 6, (2, 4)),
    ],
)  # fmt: skip
def test_an_operand_that_lies_elsewhere_is_read_in_parts(addresses, head, loads) -> None:
    """The output and what lies as it does keep whole vectors."""
    chosen = schedule(normal("add", BIG, BIG), H200, addresses)
    assert (chosen.vector_width, chosen.head, chosen.loads) == (4, head, loads)
    assert "at a time: it is aligned to" in chosen.reason


@pytest.mark.parametrize(("out", "vector"), [(0, 4), (8, 2), (4, 1)])
def test_vectors_of_rows_follow_the_alignment_of_the_output(out: int, vector: int) -> None:
    padded = "f32[64,128]{1,0:pad(64,140)}"  # not dense, which PHASE would take
    chosen = schedule(normal("add", padded, "f32[1,128]"), H200, (0, 4, out))
    assert (type(chosen), chosen.vector_width) == (Rows, vector)
    assert chosen.narrow_load(1) == (1 if vector > 1 else 0)
    assert ("output 0 is aligned to" in chosen.reason) == (vector < 4)


@pytest.mark.parametrize(("arch", "vector", "unroll"), [("sm_90", 4, 2), ("sm_100a", 8, 1)])
def test_vectors_are_as_wide_as_the_architecture_has(arch: str, vector: int, unroll: int) -> None:
    chosen = schedule(normal("add", BIG, BIG), CudaTarget(arch, 132), (0, 0, 0))
    assert (chosen.vector_width, chosen.vectors_per_thread) == (vector, unroll)
    halves = schedule(normal("add", BIG, BIG), CudaTarget(arch, 132), (16, 16, 0))
    assert (halves.vector_width, halves.narrow_load(0)) == (vector, 4 if vector == 8 else 0)


@pytest.mark.parametrize(("size", "bits"), [(2**31 - 256, 32), (2**31 - 255, 64), (2**31, 64)])
def test_gather_index_width_at_the_boundary(size: int, bits: int) -> None:
    """The overshoot of the last block counts: 2**31 - 255 elements form an index of 2**31."""
    plan = normal("add", f"u8[{size}]", f"u8[{size}]")
    output = dataclasses.replace(plan.writes[0], strides=(-1,))
    plan = dataclasses.replace(plan, writes=(output,))
    assert (type(gpu(plan)), gpu(plan).index_bits) == (Gather, bits)


def test_a_grid_beyond_the_hardware_is_refused_P5() -> None:
    strided = Operand(Shape("u8", (2**40,)), (2,), (2**40,))
    graph = expression.single("neg", {})
    nodes = graph_inference.infer_nodes(graph, (strided.shape,))
    plan = simplify.normalise(build(graph, nodes, (Operand.of(strided.shape),), (strided,)))
    with pytest.raises(ShapeError, match="blocks") as caught:
        gpu(plan)
    assert caught.value.rule == "P5"


def test_more_than_2_31_elements_take_64_bit_bases() -> None:
    plan = normal("add", "u8[65536,65536]", "u8[1,65536]")
    chosen = gpu(plan)
    assert isinstance(chosen, Rows)
    tile = math.prod(chosen.block) * chosen.vector_width * chosen.rows_per_thread
    assert chosen.grid * tile >= 2**32
    assert chosen.grid < 2**31


# --- kernel keys -------------------------------------------------------------------------------


def test_a_thousand_shapes_are_one_kernel() -> None:
    rng = np.random.default_rng(0)
    keys = set()
    for _ in range(1000):
        rows, columns = int(rng.integers(2, 5000)), 4 * int(rng.integers(8, 5000))
        plan = normal("add", f"f32[{rows},{columns}]", f"f32[1,{columns}]")
        keys.add(kernel_key(plan, gpu(plan)))
    assert len(keys) == 1
    for _ in range(1000):
        n = int(rng.integers(2, 10**9))
        plan = normal("add", f"f32[{n}]", f"f32[{n}]")
        keys.add(kernel_key(plan, gpu(plan)))
    assert len(keys) == 2


def test_cpu_keys_do_not_hold_sizes() -> None:
    """Short rows are runs, as far as their model of costs says, and long ones are not; large
    results are streamed. Each decision is one kernel."""
    rng = np.random.default_rng(1)
    keys: dict[tuple[type[Schedule], bool, int], set[str]] = {}
    for _ in range(1000):
        rows, columns = (int(n) for n in rng.integers(2, 5000, 2))
        plan = normal("add", f"f32[{rows},{columns}]", f"f32[1,{columns}]")
        chosen = schedule(plan, CpuTarget(), (16, 16, 16))
        assert chosen.iterations == rows
        decision = type(chosen), chosen.streams, chosen.joined_axes
        keys.setdefault(decision, set()).add(kernel_key(plan, chosen))
    plain, long = (Nest, False, 0), (Runs, True, 0)
    assert keys.keys() == {plain, long, (Runs, False, 1), (Runs, True, 1)}
    assert all(len(own) == 1 for own in keys.values())


def free_keys(count: int) -> set[str]:
    """Keys of ``gb.add`` on random f32 shapes of rank <= 4 with everything free."""
    rng = np.random.default_rng(2)
    keys = set()
    for _ in range(count):
        rank = int(rng.integers(0, 5))
        sizes = [int(rng.choice((1, 2, 3, 7, 32, 64, 96, 100, 1001))) for _ in range(rank)]
        left, right = ([1 if rng.random() < 0.3 else n for n in sizes] for _ in range(2))
        order = [int(d) for d in rng.permutation(rank)]
        layout = "{" + ",".join(map(str, order)) + "}" if rank else ""
        plan = normal(
            "add", f"f32[{','.join(map(str, left))}]{layout}", f"f32[{','.join(map(str, right))}]"
        )
        if plan.num_visited:
            alignment = int(rng.choice((16, 8, 4)))
            keys.add(kernel_key(plan, gpu(plan, alignment)).split(" | ", 1)[1])
    return keys


def test_free_shapes_compile_a_small_set() -> None:
    """``gb.add`` on f32 shapes of rank at most 4 with everything free: the list is the file.

    Three FLAT kernels (patterns); ROWS and XPOSE by patterns, widths and batch axes, XPOSE by its
    blocks, too; PHASE by patterns, width, inner and batch axes; RUNNING by patterns and axes; what
    begins elsewhere by its loads, too.
    """
    keys = free_keys(4000)
    listed = (Path(__file__).parent / "add_kernels.txt").read_text().splitlines()
    assert sorted(keys) == listed
    assert len(listed) == 279


def test_kinds_of_values_and_scalars() -> None:
    value = Operand(Shape("f32", ()), (), (), by_value=True)
    graph = expression.single("add", {})
    shape = Shape.parse("f32[64,64]{0,1}")
    nodes = graph_inference.infer_nodes(graph, (shape, value.shape))
    out = Operand.of(Shape("f32", (64, 64)))
    plan = simplify.normalise(build(graph, nodes, (Operand.of(shape), value), (out,)))
    assert gpu(plan).reads == (AccessPattern.CROSSED, AccessPattern.VALUE)
