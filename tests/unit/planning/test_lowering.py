"""Reductions as kernels do them: the laws that ``planning.lowering`` states."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo import expression, graph_inference, ops
from gpubcast.hlo.expression import Apply, Expression, reduces
from gpubcast.hlo.inference import infer
from gpubcast.hlo.op import Inferred
from gpubcast.hlo.sequences import CHUNK, num_chunks, sequences
from gpubcast.planning.lowering import FEW_COLUMNS, LONGEST_COLUMN, by_chunks, lowered
from gpubcast.planning.plan import LONGEST_SEQUENCE as LONGEST
from gpubcast.shapes.shape import Shape

NARROW = ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f16", "bf16")
SIZES = (0, 1, 2, 5, 511, 512, 700, 40_000)


def graph(
    name: str, text: str, **given: Any
) -> tuple[Expression, tuple[Inferred, ...], Expression, tuple[Inferred, ...]]:
    """A graph of one operation, and what it is lowered to."""
    shape = Shape.parse(text)
    whole = expression.single(name, given)
    nodes = graph_inference.infer_nodes(whole, (shape,))
    return (whole, nodes, *lowered(whole, nodes))


def reductions(made: Expression) -> list[Apply]:
    return [node for node in made.nodes if isinstance(node, Apply) and reduces(node)]


def names(made: Expression) -> list[str]:
    return [node.op for node in made.nodes if isinstance(node, Apply)]


def of_elements(made: Expression, nodes: tuple[Inferred, ...], node: Apply) -> int:
    """How many elements a reduction combines into one."""
    sizes = nodes[node.args[0]].shape.dimensions
    axes = dict(node.attributes)["axes"]
    assert isinstance(axes, tuple)
    return math.prod(sizes[axis] for axis in axes)


def every_case() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    found = []
    for rank in range(4):
        for sizes in itertools.product(SIZES, repeat=rank):
            if math.prod(sizes) < 1 << 40:
                for count in range(rank + 1):
                    found += [(sizes, axes) for axes in itertools.combinations(range(rank), count)]
    return found


def test_laws_at_every_shape() -> None:
    """Sequences of 2 to 32,768 elements, of few columns and of many, in the order of the law;
    results of the same shape."""
    for sizes, axes in every_case():
        text = f"f32[{','.join(map(str, sizes))}]"
        whole, nodes, made, inferred = graph("reduce_sum", text, axes=axes)
        one, other = nodes[whole.outputs[0]].shape, inferred[made.outputs[0]].shape
        assert (one.element_type, one.dimensions) == (other.element_type, other.dimensions)
        found = reductions(made)
        counts = [of_elements(made, inferred, node) for node in found]
        assert all(n != 1 for n in counts), (sizes, axes)
        assert all(n <= LONGEST or by_chunks(x) for n, x in zip(counts, found, strict=True))
        wanted, left = [], dict(enumerate(sizes))
        for sequence in sequences([sizes[axis] for axis in axes]):
            own = [axes[k] for k in sequence]
            inner = max((axis for axis in left if left[axis] != 1), default=None)
            n = math.prod(left.pop(axis) for axis in own)
            few = inner not in own and 0 < math.prod(left.values()) <= FEW_COLUMNS
            while n > (LONGEST_COLUMN if few else LONGEST):
                wanted.append(n)
                n = num_chunks(n)
            wanted += [n] * (n != 1)
        assert counts == wanted, (sizes, axes)


def test_nodes_are_inferred_as_if_they_were_called() -> None:
    for text, axes in (("f32[3,700,5]", (0, 2)), ("bf16[40000,3]{0,1}", (0,)), ("s8[1,4]", (0,))):
        _, _, made, inferred = graph("reduce_sum", text, axes=axes)
        for node, known in zip(made.nodes, inferred, strict=True):
            if isinstance(node, Apply) and not by_chunks(node):
                shapes = tuple(inferred[a].shape for a in node.args)
                again = infer(node.op, shapes, dict(node.attributes))
                assert again.shape.dimensions == known.shape.dimensions
                assert again.shape.element_type is known.shape.element_type


def test_axes_are_walked_in_the_order_of_the_operand() -> None:
    for axes in itertools.permutations((0, 2)):
        _, _, made, _ = graph("reduce_sum", "f32[30,4,10]", axes=axes)
        (node,) = reductions(made)
        assert dict(node.attributes)["axes"] == (0, 2)


@pytest.mark.parametrize("kind", [*NARROW, "f32", "f64", "c64", "s8", "s4", "pred"])
def test_narrow_floats_are_added_in_f32_and_rounded_once(kind: str) -> None:
    for name in ("reduce_sum", "reduce_prod"):
        _, _, made, inferred = graph(name, f"{kind}[700,40000]", axes=(0, 1))
        found = reductions(made)
        assert len(found) == 3
        wide = "f32" if kind in NARROW else kind
        for node in found:
            assert inferred[node.args[0]].shape.element_type.name == wide
        assert names(made).count("convert_element_type") == 2 * (kind in NARROW)
        assert inferred[made.outputs[0]].shape.element_type.name == kind


def test_extremes_are_not_converted() -> None:
    for name in ("reduce_max", "reduce_min"):
        assert names(graph(name, "bf16[3,50]", axes=(1,))[2]) == [name]


def test_a_sequence_of_one_element_is_added_to_zero() -> None:
    for text, axes in (("f32[3,1]", (1,)), ("f32[3]", ()), ("c64[1]", (0,))):
        assert names(graph("reduce_sum", text, axes=axes)[2]) == ["add"]
    assert names(graph("reduce_sum", "bf16[1,3]", axes=(0,))[2]) == [
        *("convert_element_type", "add", "convert_element_type")
    ]
    for name, text in (("reduce_max", "f32[3,1]"), ("reduce_sum", "s32[3,1]"),
                       ("reduce_prod", "f32[3,1]"), ("reduce_sum", "pred[3,1]")):  # fmt: skip
        assert names(graph(name, text, axes=(1,))[2]) == []


def test_no_elements_are_still_reduced() -> None:
    for text, axes in (("f32[3,0]", (1,)), ("f32[0]", (0,)), ("f32[0,600]", (0, 1))):
        assert reductions(graph("reduce_sum", text, axes=axes)[2])


@pytest.mark.parametrize(
    ("elements", "steps"),
    [(LONGEST, [(LONGEST, False)]), (LONGEST + 1, [(LONGEST + 1, True), (65, False)]),
     (1 << 24, [(1 << 24, True), (1 << 15, False)]),
     ((1 << 24) + 1, [((1 << 24) + 1, True), ((1 << 15) + 1, True), (65, False)])],
)  # fmt: skip
def test_long_sequences_are_reduced_by_chunks(elements: int, steps: list[tuple[int, bool]]) -> None:
    _, _, made, inferred = graph("reduce_sum", f"f32[{elements}]", axes=(0,))
    found = [(of_elements(made, inferred, x), by_chunks(x)) for x in reductions(made)]
    assert found == steps


@pytest.mark.parametrize(
    ("function", "text", "kernels"),
    [
        ("r c -> c", "f32[2049,4096]", 2),
        ("r c -> c", "f32[2048,4096]", 1),
        ("r c -> c", "f32[2049,4097]", 1),
        ("r c -> c", "f32[2049,8]{0,1}", 1),
        ("r c -> c", "f32[1048577,8]", 3),
        ("a r c -> a c", "f32[2,2049,8]", 2),
        ("a r c -> a c", "f32[600,2049,8]", 1),
        ("c r -> c", "f32[8,2049]", 1),
        ("c r -> c", "f32[8,2049]{0,1}", 2),
    ],
)
def test_a_few_long_columns_are_reduced_by_chunks(function: str, text: str, kernels: int) -> None:
    """Of each of several results, and what is computed of them is in the last kernel."""
    plans = [
        gb.fuse(function)(lambda x: gb.reduce_sum(x, "r")),
        gb.fuse(function)(lambda x: gb.reduce_max(x * x, "r") * 2 + gb.reduce_sum(x, "r")),
        gb.fuse(f"{function}, {function.split('-> ')[1]}")(
            lambda x: (gb.reduce_sum(x, "r") * 2, gb.reduce_max(x * x, "r"))
        ),
    ]
    for made in plans:
        assert len(made.plan(text).broadcast_plans) == kernels


@pytest.mark.parametrize(
    "name", ["softmax", "log_softmax", "logsumexp", "var", "standardize", "layer_norm", "rms_norm"]
)
def test_long_columns_that_are_needed_again_are_not(name: str) -> None:
    assert len(getattr(gb.nn, name).plan("f32[30000,8]", axis=0).broadcast_plans) == 1
    for text in ("f64[30000,8]", "f32[30000,8]"):
        assert len(gb.plan("argmax", text, axis=0, index_dtype="s32").broadcast_plans) == 1


def test_long_columns_whose_sums_are_repeated_are_not() -> None:
    def beside(x: Any, y: Any) -> Any:
        return gb.reduce_sum(x, "r") + y

    for function, body in (
        ("r c -> r c", lambda x: gb.reduce_sum(x, "r")),
        ("r c, r -> r c", beside),
    ):
        short, long = (
            gb.fuse(function)(body).plan(
                *(f"f32[{rows},8]", f"f32[{rows}]")[: 1 + (body is beside)]
            )
            for rows in (1000, 30_000)
        )
        assert len(short.broadcast_plans) == len(long.broadcast_plans), function


def test_chunks_stand_in_memory_where_their_elements_stood() -> None:
    for order in itertools.permutations(range(3)):
        layout = ",".join(map(str, order))
        _, _, made, inferred = graph("reduce_sum", f"f32[3,70000,5]{{{layout}}}", axes=(1,))
        at = next(i for i, node in enumerate(made.nodes) if by_chunks(node))
        shape = inferred[at].shape
        assert shape.dimensions == (3, 5, num_chunks(70_000))
        stands = {0: 0, 2: 1, 1: 2}
        assert shape.layout.minor_to_major == tuple(stands[d] for d in order)


def test_the_index_of_an_extreme() -> None:
    """Two reductions: the extreme, then the least position at which it is, or at which NaN is."""
    _, _, made, inferred = graph("argmax", "f32[3,50]", axis=1, index_dtype="u8")
    assert [node.op for node in reductions(made)] == ["reduce_max", "reduce_min"]
    assert "ne" in names(made) and inferred[made.outputs[0]].shape.element_type.name == "u8"
    _, _, made, _ = graph("argmin", "s8[3,50]", axis=0, index_dtype="s32")
    assert [node.op for node in reductions(made)] == ["reduce_min", "reduce_min"]
    assert "ne" not in names(made) and "convert_element_type" not in names(made)


def test_only_operations_of_the_table_are_made() -> None:
    for name, text, given in (
        ("reduce_sum", "bf16[700,40000]", {"axes": (0, 1)}),
        ("argmin", "f16[3,70000]", {"axis": 1, "index_dtype": "s64"}),
    ):
        for node in graph(name, text, **given)[2].nodes:
            assert not isinstance(node, Apply) or node.op in ops.OPS


def test_other_nodes_are_left() -> None:
    def body(x: Any) -> Any:
        return gb.exp(x - gb.reduce_sum(x, "c")), x * 2

    plan = gb.fuse("r c -> r c, r c")(body).plan("f32[3,50]")
    found = [node.op for node in plan.expression.nodes if isinstance(node, Apply)]
    nodes = graph_inference.infer_nodes(plan.expression, (Shape.parse("f32[3,50]"),))
    assert names(lowered(plan.expression, nodes)[0]) == found


def test_the_size_of_a_chunk() -> None:
    assert LONGEST % CHUNK == 0 and num_chunks(LONGEST) <= CHUNK
    assert np.log2(LONGEST) == 15


def kernels(function: str, body: Any, *shapes: str) -> list[int]:
    """The bytes that each kernel of a function moves."""
    return [one.num_bytes for one in gb.fuse(function)(body).plan(*shapes).broadcast_plans]


def test_a_result_of_all_elements_shares_the_kernel_of_their_sum() -> None:
    """A reduction of a dimension of size 1 is such a result."""
    for body in (
        lambda x: (gb.reduce_sum(x, "r"), gb.exp(x)),
        lambda x: (gb.argmax(x, "r"), gb.exp(x)),
    ):
        assert len(kernels("r c -> c, r c", body, "f32[3000,64]")) == 1
    both = kernels("r a c -> a c, r c", lambda x: (gb.reduce_sum(x, "r"), gb.reduce_max(x, "a")),
                   "f32[3000,1,5]")  # fmt: skip
    assert sum(both) < 2.1 * 4 * 3000 * 5


def test_how_the_largest_operand_lies_decides_wherever_it_is_named() -> None:
    """And not a vector that is repeated along all of its elements."""
    for body in (lambda x, y: gb.reduce_sum(x * y, "c"), lambda x, y: gb.reduce_sum(y * x, "c")):
        assert len(kernels("r c, r -> r", body, "f32[100,5000]", "f32[100]")) == 1
        assert len(kernels("c r, c -> r", body, "f32[5000,100]", "f32[5000]")) == 2
    pairs = kernels("i, j -> i", lambda x, y: gb.reduce_sum(gb.abs(x - y), "j"), "f32[200]",
                    "f32[3000]")  # fmt: skip
    assert len(pairs) == 1


def test_results_of_one_dimension_may_be_used_as_two() -> None:
    """Sums and maxima of rows, along one dimension each of a product, which is not stored."""
    n = 600

    def outer(x: Any) -> Any:
        along = [gb.reduce_sum(x, axes=(1,)), gb.reduce_max(x, axes=(1,))]
        first, other = (
            gb.broadcast_in_dim(v, shape=(n, n), broadcast_dimensions=(d,))
            for d, v in enumerate(along)
        )
        return gb.reduce_sum(first * other, axes=(1,))

    moved = [one.num_bytes for one in gb.fuse(outer).plan(f"f32[{n},20]").broadcast_plans]
    assert sum(moved) < 4 * n * n
