"""Tangents: the transpose of the gradients, as graphs."""

from __future__ import annotations

import pytest

import gpubcast as gb
from gpubcast.hlo.expression import Parameter
from gpubcast.hlo.linearization import linearized
from gpubcast.hlo.transposition import transposed
from gpubcast.plans import Plan
from gpubcast.shapes.shape import Shape

MATRIX, ROW = Shape("f32", (3, 5)), Shape("f32", (5,))


@gb.fuse("r c, c -> r c, r, r c, r c")
def several(x, gain):
    e = gb.exp(x - gb.reduce_max(x, "c"))
    total = gb.reduce_sum(e, "c")
    return e / total * gain, gb.log(total), gb.floor(x), x > gain


def _graph():
    return several.plan(MATRIX, ROW).expression


def test_the_tangents_take_operands_and_changes_and_nothing_else():
    made = linearized(_graph(), (MATRIX, ROW), (0, 1))
    assert (made.operands, made.results) == ((0, 1), (0, 1))
    forward = Plan("tangent", made.forward, (MATRIX, ROW, MATRIX, ROW))
    assert [s.dimensions for s in forward.output_shapes] == [(3, 5), (3,)]
    backward = Plan("gradient", made.backward, (MATRIX, ROW, *forward.output_shapes))
    assert [s.dimensions for s in backward.output_shapes] == [(3, 5), (5,)]
    # One graph serves every size.
    other = linearized(_graph(), (Shape("f32", (7, 4)), Shape("f32", (4,))), (0, 1))
    assert other.backward == made.backward


def test_only_the_operands_that_change():
    made = linearized(_graph(), (MATRIX, ROW), (1,))
    assert (made.operands, made.results) == ((1,), (0,))
    assert made.backward == transposed(_graph(), (MATRIX, ROW), (1,)).expression
    assert made.forward.num_parameters == 3
    assert [n.index for n in made.forward.nodes if isinstance(n, Parameter)] == [0, 1, 2]


@pytest.mark.parametrize("name", ["floor", "is_finite", "bitcast_convert_type"])
def test_what_does_not_change(name):
    keywords = {"to": "s32"} if name.startswith("bitcast") else {}
    f = gb.fuse(lambda x: getattr(gb, name)(x, **keywords))
    assert linearized(f.plan(ROW).expression, (ROW,), (0,)) is None
    assert linearized(f.plan(ROW).expression, (ROW,), ()) is None


def test_a_result_that_changes_by_0_has_no_gradient_to_pass_on():
    f = gb.fuse(lambda x: (gb.floor(x), gb.exp(x)))
    made = linearized(f.plan(ROW).expression, (ROW,), (0,))
    assert made.results == (1,)
    assert made.backward.num_parameters == 2


def test_tangents_of_tangents_of_tangents_have_a_plan():
    """Of the parts of a graph that are computed first, the cuts are within these parts."""
    expression, shapes = _graph(), (MATRIX, ROW)
    for order in range(3):
        made = linearized(expression, shapes, tuple(range(len(shapes))))
        expression = made.forward
        shapes = (*shapes, *(shapes[i] for i in made.operands))
        if order == 2:
            with pytest.warns(gb.SplitWarning):
                plan = Plan("tangent", expression, shapes)
        else:
            plan = Plan("tangent", expression, shapes)
        assert [s.dimensions for s in plan.output_shapes] == [(3, 5), (3,)]


def test_what_has_no_derivative_is_refused_with_its_line():
    f = gb.fuse(lambda x: gb.exp(gb.digamma(x)))
    with pytest.raises(gb.ElementTypeError, match="digamma has no derivative") as raised:
        linearized(f.plan(ROW).expression, (ROW,), (0,))
    assert "test_linearization.py" in str(raised.value)
