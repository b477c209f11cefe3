"""The rules of iota and broadcasted_iota, and what is planned for them."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.errors import ElementTypeError, Error, ShapeError
from gpubcast.hlo import ops, xla_messages


def refusal(error: type[Error], rule: str, kind: str, name: str, **attributes: object) -> str:
    """The text with which inference, a plan and a call refuse alike."""
    texts = []
    for call in (gb.infer_shape, gb.plan):
        with pytest.raises(Error) as caught:
            call(name, **attributes)
        texts.append(str(caught.value))
        assert type(caught.value) is error
        assert (caught.value.rule, caught.value.kind) == (rule, kind)
    with pytest.raises(error) as caught:
        getattr(gb, name)(**attributes)
    texts.append(str(caught.value))
    assert set(texts) == {texts[0]}
    return texts[0]


def test_shapes() -> None:
    assert str(gb.infer_shape("iota", dtype="bf16", size=5)) == "bf16[5]{0}"
    assert str(gb.infer_shape("iota", dtype=np.int8, size=0)) == "s8[0]{0}"
    found = gb.infer_shape("broadcasted_iota", dtype="u4", shape=[2, 3], dimension=np.int64(1))
    assert str(found) == "u4[2,3]{1,0}"


def test_C8_the_dimension_is_one_of_the_shape() -> None:
    for shape, dimension in (((2, 3), 2), ((2, 3), -1), ((), 0)):
        text = refusal(
            ShapeError, "C8", xla_messages.IOTA_DIMENSION, "broadcasted_iota",
            dtype="s32", shape=shape, dimension=dimension,
        )  # fmt: skip
        listed = ",".join(map(str, shape))
        assert text == f"iota: dimension {dimension} is none of s32[{listed}] [C8]"


def test_T2_pred_has_no_numbers() -> None:
    kind = ops.OPS["iota"].type_check.text
    text = refusal(ElementTypeError, "T2", kind, "iota", dtype="pred", size=3)
    assert text.startswith("iota: dtype is pred; it takes integers")
    # Dimensions are looked at first.
    with pytest.raises(ShapeError):
        gb.broadcasted_iota("pred", (3,), 1)


def test_sizes() -> None:
    for size in (-1, 2**62, 2**63):
        assert "[S2]" in refusal(
            ShapeError, "S2", xla_messages.INVALID_SHAPE, "iota", dtype="s64", size=size
        )
    for wrong in (1.5, True, "3", None, (3,)):
        with pytest.raises(Error) as caught:
            gb.iota("s32", wrong)  # type: ignore[arg-type]
        assert caught.value.rule == ("T0" if wrong is None else "B2")
    with pytest.raises(Error) as caught:
        gb.broadcasted_iota("s32", (2, 3), 1.0)  # type: ignore[arg-type]
    assert caught.value.rule == "B2"
    with pytest.raises(Error) as caught:
        gb.broadcasted_iota("s32", 6, 0)  # type: ignore[arg-type]
    assert caught.value.rule == "B1"
    with pytest.raises(Error) as caught:
        gb.iota("no such", 3)
    assert caught.value.rule == "T1"


def test_the_result_fits_out() -> None:
    with pytest.raises(Error) as caught:
        gb.iota("s32", 3, out=np.zeros(4, "i4"))
    assert caught.value.rule == "A2"
    with pytest.raises(Error) as caught:
        gb.iota("s32", 3, out=np.zeros(3, "i4"), out_layout=gb.Layout((0,)))
    assert caught.value.rule == "A2"


def test_positions_are_no_operands() -> None:
    plan = gb.plan("broadcasted_iota", dtype="f32", shape=(6, 7), dimension=1)
    assert plan.shapes == () and plan.arity == 0
    assert [a.operand for a in plan.broadcast_plan.reads] == [-1]
    assert plan.broadcast_plan.num_bytes == 6 * 7 * 4
    with pytest.raises(Error) as caught:
        plan(np.zeros(3))
    assert caught.value.rule == "A8"


def test_sizes_are_in_no_key() -> None:
    keys = {
        gb.plan("iota", dtype="f32", size=size).cuda_source().splitlines()[0]
        for size in (1000, 4000, 2**40)
    }
    assert len(keys) == 1
    keys |= {gb.plan("convert_element_type", "s64[1000]", to="f32").cuda_source().splitlines()[0]}
    assert len(keys) == 2


def test_equal_positions_are_one_value() -> None:
    @gb.fuse
    def twice(x):
        return gb.add(gb.iota("f32", 6), gb.mul(x, gb.broadcasted_iota("f32", (6,), 0)))

    plan = twice.plan("f32[6]").broadcast_plan
    assert [a.operand for a in plan.reads] == [-1, 0] or [a.operand for a in plan.reads] == [0, -1]


def test_neighbours_without_positions_merge() -> None:
    plan = gb.plan("broadcasted_iota", dtype="f32", shape=(6, 7, 8), dimension=0).broadcast_plan
    assert [axis.size for axis in plan.axes] == [6, 56]


def test_explained() -> None:
    text = str(gb.plan("broadcasted_iota", dtype="f32", shape=(6, 7), dimension=1).explain())
    assert text.startswith("iota: (), iota_dimension=1 -> f32[6,7]{1,0}\n")
    assert "index" in text and "168 must move" in text


def test_X8_labels_have_no_sizes_for_it() -> None:
    @gb.fuse("r c -> r c")
    def labelled(x):
        return gb.add(x, gb.iota("f32", 4))

    with pytest.raises(ShapeError) as caught:
        labelled(np.zeros((3, 4), "f4"))
    assert caught.value.rule == "X8" and "gb.iota" in str(caught.value)


def test_F3_keywords_of_a_call_stay_outside() -> None:
    for keyword in ({"device": "cpu"}, {"out": np.zeros(4, "f4")}, {"out_layout": gb.Layout((0,))}):

        @gb.fuse(static=["at"])
        def placed(x, at):
            return gb.add(x, gb.iota("f32", 4, **{at: keyword[at]}))  # noqa: B023

        with pytest.raises(Error) as caught:
            placed.plan("f32[4]", *keyword)
        assert caught.value.rule == "F3" and "gb.iota" in str(caught.value)


def test_many_positions_beside_many_operands() -> None:
    rank = 6

    @gb.fuse
    def long(*xs):
        total = xs[0]
        for x in xs[1:]:
            total = gb.add(total, x)
        for d in range(rank):
            total = gb.add(total, gb.broadcasted_iota("f32", (2,) * rank, d))
        return total

    shape = "f32[" + ",".join("2" * rank) + "]"
    with pytest.warns(gb.SplitWarning):
        plans = long.plan(*[shape] * 14).broadcast_plans
    assert all(len(plan.reads) <= 16 for plan in plans)
