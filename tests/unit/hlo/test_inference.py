"""Types, dimensions and layouts of results, and the order in which they are checked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gpubcast.errors import ElementTypeError, Error, ShapeError
from gpubcast.hlo import op, ops, xla_messages
from gpubcast.hlo.inference import infer, infer_shape
from gpubcast.hlo.result_layout import result_layout
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape


def inferred(name: str, *operands: str, **attributes: Any) -> str:
    return str(infer_shape(name, *operands, **attributes))


def refusal(
    error: type[Error], rule: str, kind: str, name: str, *operands: str, **attributes: Any
) -> str:
    with pytest.raises(Error) as caught:
        infer_shape(name, *operands, **attributes)
    assert type(caught.value) is error
    assert (caught.value.rule, caught.value.kind) == (rule, kind)
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)


# --- the call ----------------------------------------------------------------------------------


def test_operands_are_shapes_or_text() -> None:
    x, v = Shape("f32", (2, 3)), Shape("f32", (3,))
    assert infer_shape("add", x, v, broadcast_dimensions=(1,)) == Shape("f32", (2, 3))
    assert infer_shape("add", x, "f32[3]", broadcast_dimensions=[1]) == Shape("f32", (2, 3))
    assert infer_shape("add", x, np.zeros((2, 3), "f4")) == Shape("f32", (2, 3))
    for wrong in (3, [0.0], None):
        with pytest.raises(Error) as caught:
            infer_shape("add", x, wrong)
        assert (caught.value.rule, caught.value.kind) == ("S11", "gpubcast:not a shape")


def test_T0_unknown_operation_names_ours() -> None:
    for foreign, ours in (("subtract", "sub"), ("remainder", "rem"), ("selct", "select")):
        with pytest.raises(Error, match=repr(ours)) as caught:
            infer_shape(foreign, "f32[]", "f32[]")
        assert caught.value.rule == "T0"


def test_T0_number_of_operands() -> None:
    kind = "gpubcast:number of operands"
    text = refusal(Error, "T0", kind, "add", "f32[]")
    assert text == "add: takes 2 operands (x, y), got 1 [T0]"
    refusal(Error, "T0", kind, "neg", "f32[]", "f32[]")
    refusal(Error, "T0", kind, "select", "pred[]", "f32[]")


def test_T0_keywords() -> None:
    unknown = "gpubcast:unknown keyword"
    text = refusal(Error, "T0", unknown, "add", "f32[]", "f32[]", axis=1)
    assert "'axis'" in text
    assert "broadcast_dimensions" in text
    refusal(Error, "T0", unknown, "neg", "f32[]", broadcast_dimensions=())
    refusal(Error, "T0", unknown, "select", *["pred[]"] * 3, broadcast_dimensions=())
    missing = "gpubcast:missing keyword"
    refusal(Error, "T0", missing, "compare", "f32[]", "f32[]")
    refusal(Error, "T0", missing, "compare", "f32[]", "f32[]", direction=None)
    refusal(Error, "T0", missing, "broadcast", "f32[]")
    refusal(Error, "T0", missing, "broadcast_in_dim", "f32[]", shape=(2,))
    refusal(Error, "T0", missing, "convert_element_type", "f32[]")
    value = "gpubcast:keyword value"
    text = refusal(Error, "T0", value, "compare", "f32[]", "f32[]", direction="lt")
    assert "EQ, NE, LT, LE, GT, GE" in text
    refusal(Error, "T0", value, "compare", "f32[]", "f32[]", direction="LT", total_order=1)
    assert inferred("integer_pow", "f32[]", y=2**63 - 1) == "f32[]"
    for power in (2**63, 10**5000):
        text = refusal(Error, "T0", value, "integer_pow", "f32[]", y=power)
        assert "it is an integer, at most 9223372036854775807 [T0]" in text
        assert len(text) < 200


def test_T1_unknown_target_type() -> None:
    for name in ("convert_element_type", "bitcast_convert_type"):
        with pytest.raises(ElementTypeError) as caught:
            infer_shape(name, "f32[2]", to="f31")
        assert caught.value.rule == "T1"


# --- types -------------------------------------------------------------------------------------


def test_T2_types_an_operation_does_not_take() -> None:
    refusal(ElementTypeError, "T2", op.ARITHMETIC.text, "sub", "f32[2]", "pred[2]")
    refusal(ElementTypeError, "T2", op.ARITHMETIC.text, "shift_left", "pred[2]", "s32[2]")
    kind = ops.OPS["bitwise_and"].type_check.text
    refusal(ElementTypeError, "T2", kind, "bitwise_and", "f32[2]", "s32[2]")
    kind = ops.OPS["complex"].type_check.text
    refusal(ElementTypeError, "T2", kind, "complex", "s32[2]", "f32[2]")
    text = refusal(ElementTypeError, "T2", ops.OPS["neg"].type_check.text, "neg", "pred[2]")
    assert text.splitlines()[0] == (
        "neg: operand 0 is pred; it takes signed, unsigned, floating, complex [T2]"
    )
    assert text.splitlines()[1] == "  operand 0: pred[2]"


def test_T3_different_types_and_only_the_first_operand_of_bitwise() -> None:
    kind = xla_messages.DIFFERENT_TYPES
    text = refusal(ElementTypeError, "T3", kind, "add", "f32[2]", "s32[2]")
    assert "convert_element_type" in text
    refusal(ElementTypeError, "T3", kind, "bitwise_and", "s32[2]", "f32[2]")
    refusal(ElementTypeError, "T3", kind, "compare", "s8[2]", "u8[2]", direction="EQ")


def test_types_precede_dimensions() -> None:
    refusal(ElementTypeError, "T3", xla_messages.DIFFERENT_TYPES, "add", "f32[2]", "s32[3,3]")
    refusal(
        ElementTypeError,
        "T2",
        ops.OPS["bitwise_and"].type_check.text,
        "bitwise_or",
        "f32[2]",
        "f32[3]",
    )


def test_T4_component_types_follow_dimensions() -> None:
    refusal(ElementTypeError, "T4", xla_messages.COMPONENT, "complex", "f16[2]", "f16[2]")
    refusal(ElementTypeError, "T4", xla_messages.COMPONENT, "complex", "f32[2]", "f64[2]")
    refusal(ShapeError, "B4", xla_messages.INCOMPATIBLE, "complex", "f16[2]", "f16[3]")


def test_T5_mixed_floating_types_follow_xlas_checks() -> None:
    kind = "gpubcast:mixed floating types"
    text = refusal(ElementTypeError, "T5", kind, "add", "f32[2]", "bf16[2]")
    assert "f32 and bf16" in text
    assert "convert_element_type" in text
    refusal(ElementTypeError, "T5", kind, "eq", "f16[2]", "bf16[2]")
    refusal(ElementTypeError, "T5", kind, "select", "pred[]", "f16[2]", "f32[2]")
    refusal(ElementTypeError, "T5", kind, "clamp", "f32[]", "f16[2]", "f16[]")
    # XLA refuses these for their dimensions, so that is what is reported.
    refusal(ShapeError, "B4", xla_messages.INCOMPATIBLE, "add", "f32[2]", "bf16[3]")
    refusal(ShapeError, "C5", xla_messages.CLAMP_SHAPES, "clamp", "f32[3]", "f16[2]", "f16[]")


def test_T6_complex_numbers_have_no_order() -> None:
    kind = "gpubcast:complex ordering"
    for name in ("lt", "le", "gt", "ge", "max", "min", "rem"):
        refusal(ElementTypeError, "T6", kind, name, "c64[2]", "c64[2]")
    refusal(ElementTypeError, "T6", kind, "clamp", "c64[]", "c64[2]", "c64[]")
    refusal(ElementTypeError, "T6", kind, "compare", "c128[2]", "c128[2]", direction="LT")
    refusal(
        ElementTypeError, "T6", kind, "compare", "c64[2]", "c64[2]", direction="EQ",
        total_order=True,
    )  # fmt: skip
    assert inferred("eq", "c64[2]", "c64[2]") == "pred[2]{0}"
    assert inferred("compare", "c64[2]", "c64[2]", direction="NE") == "pred[2]{0}"
    # Dimensions come first, as XLA refuses those.
    refusal(ShapeError, "B4", xla_messages.INCOMPATIBLE, "lt", "c64[2]", "c64[3]")


def test_T7_atan2_of_integers() -> None:
    refusal(ElementTypeError, "T7", "gpubcast:integer atan2", "atan2", "s32[2]", "s32[2]")
    assert inferred("atan2", "c64[2]", "c64[2]") == "c64[2]{0}"


def test_T8_shifts_of_what_has_no_bits() -> None:
    kind = "gpubcast:float shift"
    for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
        refusal(ElementTypeError, "T8", kind, name, "f32[2]", "f32[2]")
        refusal(ElementTypeError, "T8", kind, name, "c64[2]", "c64[2]")
        assert inferred(name, "u8[2]", "u8[]") == "u8[2]{0}"


def test_result_types() -> None:
    assert inferred("add", "pred[2]", "pred[2]") == "pred[2]{0}"
    assert inferred("lt", "s4[2]", "s4[]") == "pred[2]{0}"
    assert inferred("compare", "f32[]", "f32[2]", direction="GE", total_order=True) == "pred[2]{0}"
    assert inferred("complex", "f32[]", "f32[32]") == "c64[32]{0}"
    assert inferred("complex", "f64[]", "f64[]") == "c128[]"
    assert inferred("abs", "c64[2]") == "f32[2]{0}"
    assert inferred("abs", "c128[2]") == "f64[2]{0}"
    assert inferred("abs", "s8[2]") == "s8[2]{0}"
    assert inferred("select", "pred[]", "s8[2]", "s8[2]") == "s8[2]{0}"
    for kind, key in (("f16", "s32"), ("f64", "s64"), ("u8", "u8")):
        shape = infer("total_order_key", (Shape(kind, (2,)),), {}).shape
        assert shape == Shape(key, (2,))
    with pytest.raises(Error, match="no operation 'total_order_key'"):
        infer_shape("total_order_key", "f16[2]")
    assert inferred("convert_element_type", "c64[2]", to="s4") == "s4[2]{0}"
    assert inferred("convert_element_type", "f32[2]", to=np.float16) == "f16[2]{0}"


# --- bitcast -----------------------------------------------------------------------------------


def test_C6_complex_and_real_do_not_bitcast() -> None:
    for source, to in (("c64[2]", "f64"), ("s64[2]", "c64"), ("f32[2,2]", "c64")):
        with pytest.raises(ElementTypeError) as caught:
            infer_shape("bitcast_convert_type", source, to=to)
        assert (caught.value.rule, caught.value.kind) == ("C6", xla_messages.COMPLEX_AND_REAL)


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("f32[2]", "s32", "s32[2]{0}"),
        ("f32[]", "u8", "u8[4]{0}"),
        ("f32[2,3]", "u16", "u16[2,3,2]{2,1,0}"),
        ("f32[2,3]{0,1}", "u16", "u16[2,3,2]{2,0,1}"),
        ("u16[2,3,2]{2,0,1}", "f32", "f32[2,3]{0,1}"),
        ("u8[4]", "f32", "f32[]"),
        ("pred[10,4]", "f32", "f32[10]{0}"),
        ("pred[2]", "bf16", "bf16[]"),
        ("f32[2]", "pred", "pred[2,4]{1,0}"),
        ("u8[0,4]", "s32", "s32[0]{0}"),
        ("s8[3]", "u4", "u4[3,2]{1,0}"),
        ("c128[2]", "c64", "c64[2,2]{1,0}"),
        ("f32[2,3]{0,1:pad(4,3,zero)}", "u16", "u16[2,3,2]{2,0,1:pad(4,3,2,zero)}"),
        ("u16[2,3,2]{2,0,1:pad(4,3,2,zero)}", "f32", "f32[2,3]{0,1:pad(4,3,zero)}"),
    ],
)
def test_bitcast_shapes(source: str, to: str, expected: str) -> None:
    assert inferred("bitcast_convert_type", source, to=to) == expected


def test_C7_the_last_dimension_is_the_ratio_of_widths() -> None:
    for source, to in (("u8[4,2]", "f32"), ("u8[]", "u16"), ("pred[2]", "u32"), ("s8[0]", "s16")):
        with pytest.raises(ShapeError) as caught:
            infer_shape("bitcast_convert_type", source, to=to)
        assert (caught.value.rule, caught.value.kind) == ("C7", xla_messages.BITCAST_LAST)


def test_bitcast_maps() -> None:
    def maps(text: str, to: str) -> tuple[tuple[int, ...], ...]:
        return infer("bitcast_convert_type", (Shape.parse(text),), {"to": to}).maps

    assert maps("f32[2,3]", "u16") == ((0, 1),)
    assert maps("u16[2,3,2]", "f32") == ((0, 1),)


# --- dimensions --------------------------------------------------------------------------------


def test_maps_reach_the_caller() -> None:
    operands = (Shape("f32", (4,)), Shape("f32", (1, 2)))
    result = infer("add", operands, {"broadcast_dimensions": (0,)})
    assert result.shape == Shape("f32", (4, 2))
    assert result.maps == ((0,), (0, 1))


def test_results_that_do_not_fit_int64() -> None:
    with pytest.raises(ShapeError) as caught:
        infer_shape("add", f"s8[{2**40},1]", f"s8[1,{2**40}]")
    assert str(caught.value).startswith("add: ")
    assert caught.value.rule == "S2"
    assert [str(s.dimensions) for s in caught.value.operands] == [
        f"({2**40}, 1)", f"(1, {2**40})"
    ]  # fmt: skip
    with pytest.raises(ShapeError) as caught:
        infer_shape("broadcast", "f32[2]", sizes=(2**61,))
    assert caught.value.kind == xla_messages.INVALID_SHAPE
    # s8 fits where f64 does not.
    assert infer_shape("broadcast", "s8[]", sizes=(2**62,)).num_elements == 2**62
    with pytest.raises(ShapeError):
        infer_shape("broadcast_in_dim", "f64[]", shape=(2**62,), broadcast_dimensions=())


# --- layouts -----------------------------------------------------------------------------------


def test_R1_first_operand_that_covers_the_result() -> None:
    assert inferred("add", "f32[2,3]{0,1}", "f32[2,3]{1,0}") == "f32[2,3]{0,1}"
    assert inferred("add", "f32[2,3]{1,0}", "f32[2,3]{0,1}") == "f32[2,3]{1,0}"
    assert inferred("add", "f32[]", "f32[2,3]{0,1}") == "f32[2,3]{0,1}"
    assert inferred("add", "f32[2,1]{1,0}", "f32[2,3]{0,1}") == "f32[2,3]{0,1}"
    # In-dim: the higher-rank operand; both expanded: row-major.
    text = inferred("add", "f32[3]", "f32[2,3]{0,1}", broadcast_dimensions=(1,))
    assert text == "f32[2,3]{0,1}"
    assert inferred("add", "f32[2,1]{0,1}", "f32[1,3]{0,1}") == "f32[2,3]{1,0}"
    assert inferred("add", "f32[4]", "f32[1,2]{0,1}", broadcast_dimensions=(0,)) == "f32[4,2]{1,0}"
    assert inferred("neg", "f32[2,3]{0,1}") == "f32[2,3]{0,1}"
    assert inferred("convert_element_type", "f32[2,3]{0,1}", to="s8") == "s8[2,3]{0,1}"
    assert inferred("select", "pred[]", "f32[2,3]{0,1}", "f32[2,3]{1,0}") == "f32[2,3]{0,1}"
    assert inferred("select", "pred[2,3]{1,0}", *["f32[2,3]{0,1}"] * 2) == "f32[2,3]{1,0}"


def test_R1_size_one_and_size_zero() -> None:
    assert inferred("add", "f32[1,3]{0,1}", "f32[1,3]{1,0}") == "f32[1,3]{0,1}"
    # 1 to 0 is an expansion.
    assert inferred("add", "f32[1,3]{1,0}", "f32[0,3]{0,1}") == "f32[0,3]{0,1}"


def test_R1_padding_is_carried_through_the_map() -> None:
    padded = "f32[2,3]{0,1:pad(4,5,zero)}"
    assert inferred("add", padded, "f32[2,3]") == padded
    assert inferred("add", "f32[3]", padded, broadcast_dimensions=(1,)) == padded
    assert inferred("lt", padded, padded) == "pred[2,3]{0,1:pad(4,5,zero)}"
    operand = Shape.parse("f32[2,3,4]{0,2,1:pad(5,6,7,one)}")
    # Operand dimensions 0, 1, 2 go to output dimensions 2, 0, 1.
    assert result_layout((3, 4, 2), (operand,), ((2, 0, 1),)) == Layout(
        (2, 1, 0), (6, 7, 5), PaddingValue.ONE
    )
    assert result_layout((3, 4, 9), (operand,), ((2, 0, 1),)) == Layout.default(3)
    assert result_layout((), (), ()) == Layout.default(0)


def test_R2_clamp_asks_its_operand_only() -> None:
    bound = "f32[2,3]{1,0}"
    assert inferred("clamp", bound, "f32[2,3]{0,1}", bound) == "f32[2,3]{0,1}"
    assert inferred("clamp", "f32[]", "f32[2,3]{0,1:pad(4,3)}", "f32[]") == (
        "f32[2,3]{0,1:pad(4,3)}"
    )


def test_R3_broadcasts_are_row_major() -> None:
    x = "f32[2,3]{0,1}"
    assert inferred("broadcast", x, sizes=()) == "f32[2,3]{1,0}"
    assert inferred("broadcast", x, sizes=(4,)) == "f32[4,2,3]{2,1,0}"
    text = inferred("broadcast_in_dim", x, shape=(3, 2), broadcast_dimensions=(1, 0))
    assert text == "f32[3,2]{1,0}"


def test_R4_extreme_padding_of_a_complex_result() -> None:
    for word in ("lowest", "highest"):
        x = f"f32[2]{{0:pad(4,{word})}}"
        assert inferred("complex", x, x) == "c64[2]{0:pad(4)}"
        assert inferred("add", x, x) == f"f32[2]{{0:pad(4,{word})}}"
    x = "f32[2]{0:pad(4,zero)}"
    assert inferred("complex", x, x) == "c64[2]{0:pad(4,zero)}"


def test_layout_from_chooses_the_operands() -> None:
    operands = (Shape.parse("f32[2,3]{0,1}"), Shape.parse("f32[2,3]{1,0}"))
    assert infer("add", operands, {}, layout_from=(1, 0)).shape == operands[1]
    assert infer("add", operands, {}, layout_from=()).shape == Shape("f32", (2, 3))
    assert infer("add", operands, {}).shape == operands[0]


def test_first_lines_name_the_rule_once() -> None:
    for name, operands, attributes in (
        ("add", ("f32[2]", "f32[3]"), {}),
        ("add", ("f32[2]", "s32[2]"), {}),
        ("select", ("f32[]", "f32[2]", "f32[2]"), {}),
        ("bitcast_convert_type", ("u8[3]",), {"to": "f32"}),
    ):
        with pytest.raises(Error) as caught:
            infer_shape(name, *operands, **attributes)
        lines = str(caught.value).splitlines()
        assert re.findall(r"\[([A-Z]\d+[a-z]?)\]", str(caught.value)) == [caught.value.rule]
        assert lines[0].endswith(f"[{caught.value.rule}]")
