"""Which kernels a graph with reductions becomes, and how its plan and schedule are."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpubcast as gb
from gpubcast.errors import Error
from gpubcast.planning import simplify
from gpubcast.planning.plan import Axis, BroadcastPlan, Operand
from gpubcast.planning.planner import CallPlan, plan_for
from gpubcast.planning.reduction_kernels import reduction_kernels
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.row_reduction import RowReduction
from gpubcast.schedules.schedule import CpuTarget
from gpubcast.shapes.shape import Shape

QUIET = CpuTarget(1, 1 << 62)


def planned(labels: str | None, function: Callable[..., Any], *shapes: str) -> CallPlan:
    plan = gb.fuse(labels)(function).plan(*shapes)
    return plan_for(plan.expression, tuple(Operand.of(Shape.parse(s)) for s in shapes))


def sizes(plan: BroadcastPlan) -> tuple[tuple[int, ...], ...]:
    """Of the parallel axes, then of each sequence."""
    numbers = range(1, len(plan.sequences) + 1)
    parts = (range(plan.num_parallel), *map(plan.axes_of, numbers))
    return tuple(tuple(plan.axes[k].size for k in part) for part in parts)


def shown(call: CallPlan) -> list[tuple[tuple[int, ...], ...]]:
    return [sizes(kernel.plan) for kernel in call.kernels]


def temporaries(call: CallPlan) -> list[str]:
    return [shape.text(layout=False) for shape in call.temporaries]


def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "c"))
    return e / gb.reduce_sum(e, "c")


def log_sum_exp(x: Any) -> Any:
    top = gb.reduce_max(x, "c")
    return gb.log(gb.reduce_sum(gb.exp(x - top), "c")) + top


def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    return gb.nn.layer_norm(x, scale, bias, axis="c")


def mean_and_square(x: Any) -> Any:
    return gb.reduce_sum(x, "c"), gb.reduce_sum(x * x, "c")


def rbf(x: Any, y: Any, w: Any) -> Any:
    return gb.reduce_sum(gb.exp(-gb.reduce_sum(gb.square(x - y), "d")) * w, "j")


# --- one kernel ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "function", "shapes", "found"),
    [
        ("r c -> r c", softmax, ["f32[30,700]"], ((30,), (700,))),
        ("r c -> r c", softmax, ["f32[30,32768]"], ((30,), (32768,))),
        ("c r -> c r", softmax, ["f32[700,30]"], ((30,), (700,))),
        ("r c -> r", log_sum_exp, ["f32[30,700]"], ((30,), (700,))),
        ("r c, c, c -> r c", layer_norm, ["f32[30,700]", "f32[700]", "f32[700]"], ((30,), (700,))),
        ("r c -> r, r", mean_and_square, ["f32[30,700]"], ((30,), (700,))),
        ("r c -> r", lambda x: gb.argmax(x, "c"), ["f32[30,700]"], ((30,), (700,))),
        ("b r c -> b c", lambda x: gb.reduce_sum(x, "r"), ["f32[4,30,700]"], ((4, 700), (30,))),
        ("b r c -> r", lambda x: gb.reduce_sum(x, ("b", "c")), ["f32[4,30,100]"],
         ((30,), (4, 100))),
        ("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), ["f32[4,100]"], ((), (400,))),
        ("r c -> r, r c", lambda x: (gb.reduce_max(x, "c"), x + gb.reduce_max(x, "c")),
         ["f32[30,700]"], ((30,), (700,))),
        (None, lambda x: gb.sub(x, gb.reduce_max(x, (1,)), broadcast_dimensions=(0,)),
         ["f32[30,700]"], ((30,), (700,))),
    ],
)  # fmt: skip
def test_one_kernel(
    labels: str | None,
    function: Callable[..., Any],
    shapes: list[str],
    found: tuple[tuple[int, ...], ...],
) -> None:
    call = planned(labels, function, *shapes)
    assert shown(call) == [found]
    assert call.temporaries == ()


def test_pairs_without_their_matrix() -> None:
    call = planned("i d, j d, j -> i", rbf, "f32[500,3]", "f32[7000,3]", "f32[7000]")
    assert shown(call) == [((500,), (7000,), (3,))]
    assert call.temporaries == ()
    wide = planned("i d, j d, j -> i", rbf, "f32[500,90]", "f32[7000,90]", "f32[7000]")
    assert shown(wide) == [((500,), (7000,), (90,))]


def test_extremes_and_sums_of_one_pass_are_one_kernel() -> None:
    def four(x: Any) -> Any:
        functions = (gb.reduce_sum, gb.reduce_max, gb.reduce_min, gb.reduce_prod)
        return tuple(function(x, "c") for function in functions)

    assert shown(planned("r c -> r, r, r, r", four, "f32[30,700]")) == [((30,), (700,))]

    def five(x: Any) -> Any:
        return (*four(x), gb.reduce_sum(x * x, "c"))

    found = shown(planned("r c -> r, r, r, r, r", five, "f32[30,700]"))
    # Each has memory of its own, and a kernel has room for four.
    assert found[:2] == [((30,), (700,))] * 2


# --- several kernels -----------------------------------------------------------------------------


def test_a_long_sequence_takes_two_kernels() -> None:
    call = planned("a -> ", lambda x: gb.reduce_sum(x, "a"), "f32[1000000]")
    assert shown(call) == [((1954,), (1000000,)), ((), (1954,))]
    assert [kernel.plan.chunked for kernel in call.kernels] == [True, False]
    assert temporaries(call) == ["f32[1954]"]


def test_a_sum_of_a_matrix_is_rows_then_their_sums() -> None:
    call = planned("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), "f32[1000,700]")
    assert shown(call) == [((1000,), (700,)), ((), (1000,))]
    assert temporaries(call) == ["f32[1000]"]


def test_reductions_over_different_labels() -> None:
    def both(x: Any) -> Any:
        return gb.reduce_sum(x, "r"), gb.reduce_sum(x, "c")

    call = planned("r c -> c, r", both, "f32[30,700]")
    assert sorted(shown(call)[:2]) == [((30,), (700,)), ((700,), (30,))]


def test_nothing_is_reduced_again_along_an_axis_that_it_lacks() -> None:
    """x - sum(everything) is a sum, and then a difference."""
    call = planned(
        "a b c -> a b c",
        lambda x: x - gb.reduce_sum(gb.reduce_max(x, "c"), ("a", "b")),
        "f32[100,6,70]",
    )
    found = shown(call)
    assert found[:2] == [((600,), (70,)), ((), (100, 6))] or found[:2] == [
        ((600,), (70,)),
        ((), (600,)),
    ]
    assert found[-1] == ((42_000,),)
    assert temporaries(call) == ["f32[100,6]", "f32[]"]


def test_temporaries_have_only_the_labels_along_which_they_vary() -> None:
    call = planned(
        "a c b -> , a c b",
        lambda x: (gb.reduce_sum(gb.reduce_sum(gb.reduce_sum(x, "b"), "c"), "a"), gb.exp(x)),
        "f32[10,2,257]",
    )
    assert temporaries(call) == ["f32[10,2]", "f32[10]", "f32[]"]


def test_an_output_with_the_labels_of_a_pair() -> None:
    """The inner sums are there while pairs are walked, so they get a kernel of their own."""

    def both(x: Any, y: Any, w: Any) -> Any:
        inner = gb.reduce_sum(gb.square(x - y), "d")
        return gb.reduce_sum(inner * w, "j"), inner + 1

    call = planned("i d, j d, j -> i, i j", both, "f32[50,3]", "f32[70,3]", "f32[70]")
    for plan in (kernel.plan for kernel in call.kernels):
        if len(plan.sequences) == 2:
            assert not any(any(write.strides[plan.num_parallel :]) for write in plan.writes)
    assert "f32[50,70]" in temporaries(call)


def test_an_operand_used_twice_in_two_directions() -> None:
    """x + x.T in a reduction is computed first: one index cannot walk both."""

    def turned(x: Any) -> Any:
        n = 40
        both = x + gb.broadcast_in_dim(x, (n, n), (1, 0))
        return gb.reduce_sum(both, (1,))

    call = planned(None, turned, "f32[40,40]")
    assert temporaries(call) == ["f32[40,40]"] and len(call.kernels) == 2


def test_a_bitcast_to_another_width_beside_a_reduction() -> None:
    def bits(x: Any) -> Any:
        halves = gb.bitcast_convert_type(x * 2, "u16")
        return gb.reduce_sum(halves, (0, 2))

    call = planned(None, bits, "f32[30,5]")
    assert "f32[30,5]" in temporaries(call) and shown(call)[-1] == ((5,), (30, 2))
    plain = planned(None, lambda x: gb.reduce_sum(gb.bitcast_convert_type(x, "u16"), (0, 2)),
                    "f32[30,5]")  # fmt: skip
    assert temporaries(plain) == [] and shown(plain) == [((5,), (30, 2))]


def test_kernels_of_one_graph_are_made_in_order() -> None:
    """A kernel reads operands, and what kernels before it wrote."""
    function = lambda x: gb.reduce_sum(gb.nn.softmax(x, axis="c"), ("r", "c"))  # noqa: E731
    plan = gb.fuse("r c -> ")(function).plan("f32[1000,700]")
    operands = (Operand.of(Shape.parse("f32[1000,700]")),)
    from gpubcast.hlo import graph_inference

    nodes = graph_inference.infer_nodes(plan.expression, (operands[0].shape,))
    outs = (Operand.of(nodes[plan.expression.outputs[0]].shape),)
    made = reduction_kernels(plan.expression, nodes, operands, outs)
    known = {0}
    for kernel in made.kernels:
        reads = len(kernel.plan.reads)
        assert {a for a in kernel.arguments[:reads]} <= known
        known |= {*kernel.arguments[reads:]}
    assert 1 in known


# --- plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_pass", simplify.PASSES, ids=lambda p: p.__name__)
@given(data=st.data())
def test_no_pass_touches_the_order_of_a_sequence(one_pass: Any, data: Any) -> None:
    """The elements of each sequence are the same ones in the same order, for each parallel index
    the same set of outputs."""
    rank = data.draw(st.integers(1, 4))
    dims = data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    order = tuple(data.draw(st.permutations(range(rank))))
    axes = tuple(d for d in range(rank) if data.draw(st.booleans()))
    text = str(Shape("f32", dims, gb.Layout(order)))
    plan = gb.plan("reduce_max", text, axes=axes)
    operand = Operand.of(Shape.parse(text))
    backwards = tuple(s if data.draw(st.booleans()) else -s for s in operand.strides)
    operand = Operand(operand.shape, backwards, operand.extents)
    call = plan_for(plan.expression, (operand,))
    (unmerged,) = call.unmerged
    for earlier in simplify.PASSES[: simplify.PASSES.index(one_pass)]:
        unmerged = earlier(unmerged)
    assert walks(one_pass(unmerged)) == walks(unmerged)


def walks(plan: BroadcastPlan) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """For each result, where its elements are, in order."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    inner = range(plan.num_parallel, plan.rank)
    for outer in itertools.product(*(range(plan.axes[k].size) for k in range(plan.num_parallel))):
        for own in itertools.product(*(range(plan.axes[k].size) for k in inner)):
            index = (*outer, *own)
            places = [
                a.offset + sum(i * s for i, s in zip(index, a.strides, strict=True))
                for a in plan.accesses
            ]
            cut = len(plan.reads)
            found.setdefault(tuple(places[cut:]), []).append(tuple(places[:cut]))
    return found


def test_axes_of_different_parts_are_not_merged() -> None:
    """Neighbours in memory of which one is reduced, or which are of two sequences."""
    assert shown(planned("r c -> r", lambda x: gb.reduce_sum(x, "c"), "f32[30,700]"))[0] == (
        (30,),
        (700,),
    )
    call = planned("i d, j d, j -> i", rbf, "f32[50,3]", "f32[70,3]", "f32[70]")
    assert call.kernels[0].plan.sequences == (1, 1)
    chunked = planned("a b -> a", lambda x: gb.reduce_sum(x, "b"), "f32[3,70000]").kernels[0].plan
    assert chunked.chunked and sizes(chunked) == ((3, 137), (70000,))


def test_axes_of_one_sequence_are_merged_where_memory_runs_on() -> None:
    call = planned("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), "f32[20,25]")
    assert shown(call) == [((), (500,))]
    turned = planned("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), "f32[20,25]{0,1}")
    assert shown(turned) == [((), (20, 25))]


def test_a_sequence_is_walked_forwards_in_any_memory() -> None:
    out = gb.empty("f32[4]")
    x = gb.empty("f32[4,700]")[:, ::-1]
    plan = gb.plan("reduce_sum", "f32[4,700]", axes=(1,))
    (kernel,) = plan_for(plan.expression, (x._operand,), (out._operand,)).kernels
    assert kernel.plan.reads[0].strides == (700, -1)


def test_a_wrong_pass_over_a_sequence_is_found() -> None:
    plan = planned("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), "f32[20,25]{0,1}")
    (unmerged,) = plan.unmerged
    swapped = simplify._select_axes(unmerged, [1, 0])
    assert walks(swapped) != walks(unmerged)
    with pytest.raises(Error, match="wrong broke the plan"):
        simplify.verify(unmerged, simplify._select_axes(unmerged, [1]), "wrong")


def test_a_sequence_without_elements_reads_nothing() -> None:
    plan = planned("r c -> ", lambda x: gb.reduce_sum(x, ("r", "c")), "f32[0,2]").kernels[0].plan
    assert plan.num_visited == 1 and plan.axes == (Axis(0, 0),)
    assert simplify.span(plan.reads[0], plan) == (0, 0)


def test_values_vary_as_their_loops_do() -> None:
    plan = planned("i d, j d, j -> i", rbf, "f32[50,3]", "f32[70,3]", "f32[70]").kernels[0].plan
    varies, first = plan.varies(), len(plan.reads)
    sums = [
        axes
        for axes, instruction in zip(varies[first:], plan.program.code, strict=True)
        if instruction.sequence
    ]
    assert sums == [{0, 1}, {0}]
    # An operand that repeats itself along the outer sequence is summed within it all the same.
    x, y = Operand.of(Shape("f32", (50, 3))), Operand.of(Shape("f32", (70, 3)))
    still = [Operand(o.shape, (0, 1), o.extents) for o in (x, y)]
    graph = gb.fuse("i d, j d, j -> i")(rbf).plan("f32[50,3]", "f32[70,3]", "f32[70]").expression
    plan = plan_for(graph, (*still, Operand.of(Shape("f32", (70,))))).kernels[0].plan
    sums = [
        axes
        for axes, instruction in zip(
            plan.varies()[len(plan.reads) :], plan.program.code, strict=True
        )
        if instruction.sequence
    ]
    assert sums[0] == {1}


def test_plans_are_values() -> None:
    for text, axes in (("f32[30,700]", (1,)), ("bf16[700,30]", (0,)), ("f32[70000]", (0,))):
        plan = gb.plan("reduce_sum", text, axes=axes)
        again = pickle.loads(pickle.dumps(plan))
        assert again == plan and hash(again) == hash(plan)
        assert again.broadcast_plans == plan.broadcast_plans
        other = gb.plan("reduce_max", text, axes=axes)
        assert other != plan and other.broadcast_plans != plan.broadcast_plans
        for kernel in plan.broadcast_plans:
            assert hash(pickle.loads(pickle.dumps(kernel))) == hash(kernel)


def test_equal_work_is_an_equal_plan() -> None:
    one = gb.plan("reduce_sum", "f32[6,700]", axes=(1,)).broadcast_plans
    assert one == gb.plan("reduce_sum", "f32[2,3,700]", axes=(2,)).broadcast_plans
    assert one == gb.plan("reduce_sum", "f32[2,3,7,100]", axes=(3, 2)).broadcast_plans
    assert one == gb.plan("reduce_sum", "f32[700,1,6]{0,2,1}", axes=(0, 1)).broadcast_plans
    assert one != gb.plan("reduce_sum", "f32[700,6]", axes=(0,)).broadcast_plans


# --- shapes and schedules ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "operand", "keywords", "found"),
    [
        ("reduce_sum", "f32[2,3,4]", {"axes": (1,)}, "f32[2,4]{1,0}"),
        ("reduce_sum", "f32[2,3,4]{0,1,2}", {"axes": (1,)}, "f32[2,4]{0,1}"),
        ("reduce_sum", "f32[2,3,4]{1,2,0}", {"axes": ()}, "f32[2,3,4]{1,2,0}"),
        ("reduce_max", "u8[2,3,4]{2,1,0:pad(4,5,6,zero)}", {"axes": (0, 2)}, "u8[3]{0}"),
        ("reduce_and", "pred[2,3]", {"axes": (1, 0)}, "pred[]"),
        ("reduce_min", "bf16[2,0]", {"axes": (1,)}, "bf16[2]{0}"),
        ("argmax", "f8e5m2[2,3,4]{0,2,1}", {"axis": 2, "index_dtype": "u8"}, "u8[2,3]{0,1}"),
        ("argmin", "pred[5]", {"axis": 0}, "s32[]"),
        ("get_dimension_size", "c64[2,3]", {"axis": 1}, "s32[]"),
    ],
)
def test_the_shape_of_a_result(
    name: str, operand: str, keywords: dict[str, Any], found: str
) -> None:
    assert gb.infer_shape(name, operand, **keywords) == gb.Shape.parse(found)


@pytest.mark.parametrize(
    ("text", "axes", "kind"),
    [
        ("f32[30,700]", (1,), RowReduction), ("f32[300,700]{0,1}", (0,), RowReduction),
        ("f32[30,700]{0,1}", (0,), ColumnReduction), ("f32[70000]", (0,), RowReduction),
        ("f32[700,64]", (1,), ColumnReduction), ("f32[700,65]", (1,), RowReduction),
        ("f32[4,64]", (1,), ColumnReduction), ("f32[3,64]", (1,), RowReduction),
        ("f32[700,30]", (0,), ColumnReduction), ("f32[30,700]{0,1}", (1,), ColumnReduction),
        ("f32[4,30,700]", (1,), ColumnReduction), ("f32[4,30,700]", (0, 2), RowReduction),
        ("f32[700,2]", (0,), ColumnReduction), ("f32[63,2]", (0,), RowReduction),
        ("f32[700,2]{1,0:pad(700,3)}", (0,), RowReduction),
    ],
)  # fmt: skip
def test_vectors_go_where_elements_are_neighbours(
    text: str, axes: tuple[int, ...], kind: type
) -> None:
    plan = gb.plan("reduce_sum", text, axes=axes).broadcast_plans[0]
    assert type(schedule(plan, QUIET, (0,) * len(plan.accesses))) is kind


def test_pairs_are_walked_by_rows() -> None:
    plan = planned("i d, j d, j -> i", rbf, "f32[50,3]", "f32[70,3]", "f32[70]").kernels[0].plan
    assert type(schedule(plan, QUIET, (0,) * len(plan.accesses))) is RowReduction


def test_sizes_are_in_no_key() -> None:
    def keys(text: str) -> set[str]:
        plans = gb.plan("reduce_sum", text, axes=(1,)).broadcast_plans
        return {schedule(p, QUIET, (0,) * len(p.accesses)).key_part for p in plans}

    assert keys("f32[30,700]") == keys("f32[3,900]") == keys("f32[300,65]")
    assert keys("f32[4,64]") == keys("f32[900,17]") == keys("f32[300,20]")
    assert keys("f32[30,16]") == keys("f32[900,4]") == keys("f32[300,7]")


def _written_and_read(call: Any) -> list[tuple[tuple[int, ...], int]]:
    """Per kernel, the numbers of its arrays, and how many of them it reads."""
    return [(kernel.arguments, len(kernel.plan.reads)) for kernel in call.kernels]


def test_a_result_that_is_summed_across_rows_is_read_for_that_and_not_computed_twice() -> None:
    def both(axis: str) -> Any:
        return planned(
            "a b -> a b, a" if axis == "b" else "a b -> a b, b",
            lambda x: ((y := gb.tanh(x)), gb.reduce_sum(y, axis)),
            "f32[40,50]",
        )

    (down, first), (across, reads) = _written_and_read(both("a"))
    assert (down, first) == ((0, 1), 1)
    assert (across, reads) == ((1, 2), 1)  # array 1 is the first result
    assert _written_and_read(both("b")) == [((0, 1, 2), 1)]


def test_a_result_takes_along_the_reductions_that_others_need() -> None:
    call = planned(
        "a b -> a b, b",
        lambda x: (
            x * gb.reduce_sum(x, "b") + gb.reduce_max(x, "b"),
            gb.reduce_sum(x * gb.reduce_sum(x, "b"), "a"),
        ),
        "f32[40,50]",
    )
    assert len(call.kernels) == 2
    (first, reads), (second, _) = _written_and_read(call)
    assert (first, reads) == ((0, 1, 3), 1) and 3 in second[:-1] and second[-1] == 2
