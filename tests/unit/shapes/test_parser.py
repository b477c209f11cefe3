"""The text form of shapes: canonical text, refusals by name, errors with a caret."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpubcast.errors import Error, LayoutError, ShapeError
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape

CORPORA = Path(__file__).parents[2] / "corpora"


def corpus(name: str) -> list[Any]:
    text = (CORPORA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, text.splitlines())]


def expected_refusal(canonical: str) -> tuple[type[Error], str] | None:
    """Which of our refusals, if any, XLA's canonical text must meet; read off the text alone."""
    head, _, layout = canonical.partition("{")
    if head.startswith(("(", "token", "opaque")):
        return ShapeError, "S9"
    if "?" in head or "<=" in head:
        return ShapeError, "S9"
    order_text, _, attributes = layout.rstrip("}").partition(":")
    if "T(" in attributes or "P(" in attributes:
        return LayoutError, "L9"
    order = [int(d) for d in order_text.split(",") if d]
    if sorted(order) != list(range(len(order))):
        return LayoutError, "L3" if any(d >= len(order) for d in order) else "L4"
    return None


@pytest.mark.parametrize("row", corpus("shape_text"))
def test_shape_text_corpus(row: dict[str, Any]) -> None:
    if "error" in row:
        with pytest.raises(ShapeError) as caught:
            Shape.parse(row["text"])
        # s1 and u1 are types of newer XLA versions.
        newer = row["text"][:2] in ("s1", "u1") and row["text"][2] == "["
        assert caught.value.rule == ("S10" if newer else "S8")
        return
    canonical = row["ok"]["text"]
    refusal = expected_refusal(canonical)
    if refusal is None:
        shape = Shape.parse(row["text"])
        assert str(shape) == canonical
        assert shape.element_type.name == row["ok"]["type"]
        assert list(shape.dimensions) == row["ok"]["dims"]
        assert list(shape.layout.minor_to_major) == row["ok"]["minor_to_major"]
        assert shape.text(layout=False) == canonical.partition("{")[0]
        return
    with pytest.raises(refusal[0]) as refused:
        Shape.parse(row["text"])
    assert refused.value.rule == refusal[1]


def test_the_corpus_holds_every_class_of_row() -> None:
    seen = {"error": 0, "S9": 0, "L9": 0, "L3": 0, "parsed": 0}
    for (row,) in (case.values for case in corpus("shape_text")):
        if "error" in row:
            seen["error"] += 1
        else:
            refusal = expected_refusal(row["ok"]["text"])
            seen[refusal[1] if refusal else "parsed"] += 1
    assert seen == {"error": 35, "S9": 85, "L9": 17, "L3": 1, "parsed": 41}


@pytest.mark.parametrize("row", corpus("dynamic_shapes"))
def test_dynamic_shapes_are_refused_by_name(row: dict[str, Any]) -> None:
    for text in (row["lhs"], row["rhs"]):
        if "?" not in text and "<=" not in text:
            assert Shape.parse(text).text(layout=False) == text
            continue
        with pytest.raises(ShapeError) as caught:
            Shape.parse(text)
        question, bound = (text.find(mark) % 1000 for mark in ("?", "<="))
        word = "unbounded" if question < bound else "bounded"
        assert caught.value.kind == f"gpubcast:unsupported {word} dimensions"
        assert caught.value.rule == "S9"


@pytest.mark.parametrize("row", corpus("tiled_index"))
def test_tiled_layouts_are_refused_by_name(row: dict[str, Any]) -> None:
    def joined(values: list[int]) -> str:
        return ",".join("*" if v == -1 else str(v) for v in values)

    tiles = "T" + "".join(f"({joined(tile)})" for tile in row["tiles"])
    with pytest.raises(LayoutError) as caught:
        Shape.parse(f"f32[{joined(row['dims'])}]{{{joined(row['minor_to_major'])}:{tiles}}}")
    assert caught.value.kind == "gpubcast:unsupported tiled layouts"
    assert f"tiled layouts {tiles}"[:50] in str(caught.value)


@pytest.mark.parametrize("row", corpus("result_layout"))
def test_result_layout_texts_round_trip(row: dict[str, Any]) -> None:
    for text in [*row["args"], row["shape"]]:
        if ":" in text:
            with pytest.raises(LayoutError, match="parsed but not supported yet"):
                Shape.parse(text)
        else:
            assert str(Shape.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("f32[]", "f32[]"),
        ("f32[2,3]", "f32[2,3]{1,0}"),
        (" f32 [ 2 , 3 ] { 0 , 1 } ", "f32[2,3]{0,1}"),
        ("f32[2,\n\t3]\r\n{0,1}", "f32[2,3]{0,1}"),
        ("/*a*/f32/**/[2,/*index=1*/3]{/* * / */0,1} // the end", "f32[2,3]{0,1}"),
        ("f32[2]{0:}", "f32[2]{0}"),
        ("f32[]{:}", "f32[]"),
        ("f32[]{:S(0)}", "f32[]"),
        ("f32[2]{0:L(1)}", "f32[2]{0}"),
        ("f32[2]{0:S(0)}", "f32[2]{0}"),
        ("f32[2]{0:E(0)}", "f32[2]{0}"),
        ("f32[2]{0:L(1)E(0)S(0)M(0)}", "f32[2]{0}"),
        ("f32[007]", "f32[7]{0}"),
        ("f32[0000000000000000000000000000000000000002]", "f32[2]{0}"),
        ("f32[-0]", "f32[0]{0}"),
        ("f32[2,3]{0,1:pad(3,5,zero)}", "f32[2,3]{0,1:pad(3,5,zero)}"),
        ("f32[2,3]{0,1: pad ( 3 , 5 ) }", "f32[2,3]{0,1:pad(3,5)}"),
        ("f32[2,3]{0,1:pad(3,5,invalid)}", "f32[2,3]{0,1:pad(3,5)}"),
        ("f32[2,3]{0,1:pad(3,5,unknown)S(0)}", "f32[2,3]{0,1:pad(3,5,unknown)}"),
        ("f32[2]{0:pad(4,one)}", "f32[2]{0:pad(4,one)}"),
        ("f32[2]{0:pad(4,lowest)}", "f32[2]{0:pad(4,lowest)}"),
        ("f32[2]{0:pad(4,highest)}", "f32[2]{0:pad(4,highest)}"),
        ("f32[]{:pad()}", "f32[]{:pad()}"),
        ("f32[]{:pad(zero)}", "f32[]{:pad(zero)}"),
        ("f32[2]{0:D(C+~)}", "f32[2]{0:D(C+~)}"),
        ("f32[2]{0:L(256)}", "f32[2]{0:L(256)}"),
        ("f32[2]{0:L(0)}", "f32[2]{0:L(0)}"),
        ("f32[2]{0: L ( 1 ) #( u32 )*(u8)}", "f32[2]{0:#(u32)*(u8)}"),
        ("f32[2]{0:E(4)S(1)}", "f32[2]{0:E(4)S(1)}"),
        ("f32[2]{0:SC(0:1,2)(0:3)M(8)}", "f32[2]{0:SC(0:1,2)(0:3)M(8)}"),
        ("f32[2]{0:pad(3)E(0)S(5)}", "f32[2]{0:pad(3)S(5)}"),
        ("f32[]{:S(1)}", "f32[]{:S(1)}"),
        ("f32[5]{0:D()}", "f32[5]{0}"),
        ("f32[5]{0:D()L(2)}", "f32[5]{0:L(2)}"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(Shape.parse(text)) == canonical


@pytest.mark.parametrize("text", ["S(1) ", "S(1)L(2)", "T(8)", "s(1)", "S()", 1])
def test_L9_attributes_are_canonical_text(text: object) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((0,), attributes=text)
    assert caught.value.rule == "L9"


def test_attributes_are_part_of_a_layout() -> None:
    layout = Layout((0, 1), attributes="L(256)S(2)")
    assert layout != Layout((0, 1)) and eval(repr(layout)) == layout
    shape = Shape("f32", (2, 3), layout)
    for how in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert how(layout) == layout and how(shape) == shape
    assert Shape.parse("f32[2,3]{0,1:L(256)S(2)}").layout == layout
    assert layout.permute((1, 0)) == Layout((1, 0), attributes="L(256)S(2)")


def test_every_element_type_parses() -> None:
    for name, row in ELEMENT_TYPES.items():
        assert Shape.parse(f"{name}[2]") == Shape(row, (2,))


@pytest.mark.parametrize(
    ("text", "error", "kind", "fact", "at"),
    [
        ("f32[3,<=5]", ShapeError, "bounded dimensions", "bounded dimensions <=5", 6),
        ("f32[?]", ShapeError, "unbounded dimensions", "unbounded dimensions ?", 4),
        ("(f32[2], s8[])", ShapeError, "tuple shapes", "tuple shapes (f32[2], s8[])", 0),
        ("()", ShapeError, "tuple shapes", "tuple shapes ()", 0),
        ("token[]", ShapeError, "token shapes", "token shapes token[]", 0),
        ("opaque[]", ShapeError, "opaque shapes", "opaque shapes opaque[]", 0),
        ("f32[9]{0:T(8)(*)}", LayoutError, "tiled layouts", "tiled layouts T(8)(*)", 9),
        ("f32[2]{0:T()}", LayoutError, "tiled layouts", "tiled layouts T()", 9),
        ("f32[2]{0:P(f32[9]{0:T(8)})}", LayoutError, "physical shapes", "P(f32[9]{0:T(8)})", 9),
        ("f32[?]{0:T(8)}", ShapeError, "unbounded dimensions", "unbounded dimensions ?", 4),
        ("(f32[?], token[])", ShapeError, "tuple shapes", "(f32[?], token[])", 0),
    ],
)
def test_S9_L9_unsupported_forms_are_named(
    text: str, error: type[Error], kind: str, fact: str, at: int
) -> None:
    with pytest.raises(error) as caught:
        Shape.parse(text)
    assert caught.value.kind == f"gpubcast:unsupported {kind}"
    assert caught.value.rule == ("S9" if error is ShapeError else "L9")
    first, line, caret = str(caught.value).split("\n")
    assert fact in first and first.endswith(
        f"are parsed but not supported yet [{caught.value.rule}]"
    )
    assert line == "  " + text
    assert caret == "  " + " " * at + "^"


@pytest.mark.parametrize("name", ["s1", "u1", "s2", "u2", "f8e4m3", "f8e3m4", "f4e2m1fn"])
def test_S10_types_of_xla_without_a_row(name: str) -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse(f"{name}[2]{{0:T(8)}}")
    assert (caught.value.rule, caught.value.kind) == (
        "S10",
        "gpubcast:unsupported element types",
    )


@pytest.mark.parametrize(
    ("text", "fact", "at"),
    [
        ("", "expected an element type, found the end of the text", 0),
        ("F32[2]", "expected an element type, found 'F32'; did you mean 'f32'?", 0),
        ("float32[2]", "expected an element type, found 'float32'", 0),
        ("tuple[]", "expected an element type, found 'tuple'", 0),
        ("f32", "expected '[', found the end of the text", 3),
        ("f32(2)", "expected '[', found '('", 3),
        ("f32[2", "expected ',' or ']', found the end of the text", 5),
        ("f32[2,]", "expected an integer, found ']'", 6),
        ("f32[,2]", "expected an integer, found ','", 4),
        ("f32[2 3]", "expected ',' or ']', found '3'", 6),
        ("f32[+2]", "expected an integer, found '+'", 4),
        ("f32[1e3]", "expected an integer, found '1e3'", 4),
        ("f32[2.]", "expected an integer, found '2.'", 4),
        ("f32[2_2]", "expected an integer, found '2_2'", 4),
        ("f32[<=?]", "expected an integer, found '?'", 6),
        ("f32[< =5]", "expected an integer, found '<'", 4),
        ("f32[" + "9" * 21 + "]", "expected an integer of 64 bits, found", 4),
        ("f32[\u0662]", "expected an integer, found '\u0662'", 4),
        ("f32[\0]", "expected an integer, found '\\x00'", 4),
        ("f32[]{}", "expected the end of the text, found '{'", 5),
        ("f32[2,3]{}", "expected the end of the text, found '{'", 8),
        ("f32[2]{0}x", "expected the end of the text, found 'x'", 9),
        ("f32[2]{0}{0}", "expected the end of the text, found '{'", 9),
        ("f32[2]{foo}", "expected the end of the text, found '{'", 6),
        ("f32[2,3]sparse{0,1}", "expected the end of the text, found 'sparse'", 8),
        ("f32[2]{0", "expected '}', found the end of the text", 8),
        ("f32[2,3]{1,0,}", "expected an integer, found '}'", 13),
        ("f32[2] /* x", "expected the end of the text, found a comment without an end", 7),
        ("(f32[2],)", "expected an element type, found ')'", 8),
        ("(f32[2]", "expected ',' or ')', found the end of the text", 7),
        ("f32[9]{0:T}", "expected '(', found '}'", 10),
        ("f32[9]{0:T(x)}", "expected an integer, found 'x'", 11),
        ("f32[9]{0:S()}", "expected an integer, found ')'", 11),
        ("f32[9]{0:S(1}", "expected ')', found '}'", 12),
        ("f32[9]{0:D(X)}", "expected a level type, one of D, C, S, H, found 'X'", 11),
        ("f32[9]{0:#(s32)}", "expected an unsigned integer type, found 's32'", 11),
        ("f32[9]{0:SC(0)}", "expected ':', found ')'", 13),
        ("f32[9]{0:Q(1)}", "expected '}', found 'Q'", 9),
        ("f32[9]{0:E(4)T(2)}", "found 'T'; attributes stand at most once, in the order", 13),
        ("f32[9]{0:T(2)T(2)}", "found 'T'; attributes stand at most once, in the order", 13),
        ("f32[9]{0:S(0)pad(9)}", "found 'pad'; attributes stand at most once, in the", 13),
        ("f32[9]{0:pad(9)pad(9)}", "found 'pad'; attributes stand at most once", 15),
        ("f32[9]{0:pad(9,foo)}", "expected one of invalid, zero, one, lowest, highest", 15),
        ("f32[9]{0:pad(zero,9)}", "expected ')' after the padding value, found '9'", 18),
        ("f32[9]{0:pad(9,)}", "expected an integer, found ')'", 15),
        ("f32[?]{0:T(", "expected an integer, found the end of the text", 11),
    ],
)
def test_S8_errors_point_at_the_column(text: str, fact: str, at: int) -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse(text)
    assert (caught.value.rule, caught.value.kind) == ("S8", "gpubcast:shape text")
    first, line, caret = str(caught.value).split("\n")
    assert fact in first and first.endswith(" [S8]")
    assert line == "  " + text
    assert caret == "  " + " " * at + "^"


@pytest.mark.parametrize(
    ("text", "error", "rule", "at"),
    [
        ("f32[2,3]{0}", LayoutError, "L2", 10),
        ("f32[2]{0,1}", LayoutError, "L2", 9),
        ("f32[2]{:S(0)}", LayoutError, "L2", 7),
        ("f32[2,3]{1,2,3,4}", LayoutError, "L2", 13),
        ("f32[2,3]{0,2}", LayoutError, "L3", 11),
        ("f32[2,3]{0,-1}", LayoutError, "L3", 11),
        ("f32[2,3,4]{0,0,9}", LayoutError, "L3", 15),
        ("f32[2,3]{0,0}", LayoutError, "L4", 11),
        ("f32[2,3]{0,0:T(8)}", LayoutError, "L4", 11),
        ("f32[2,3]{0,1:pad(3)}", LayoutError, "L5", 13),
        ("f32[2,3]{0,1:pad(3,zero)}", LayoutError, "L5", 19),
        ("f32[2,3]{0,1:pad(2,2)}", LayoutError, "L6", 19),
        ("f32[-1]{0:pad(-1)}", LayoutError, "L6", 14),
        ("c64[2]{0:pad(4,lowest)}", LayoutError, "L10", 9),
        ("f32[2,-1]", ShapeError, "S2", 6),
        ("f32[2,9223372036854775808]", ShapeError, "S2", 6),
        ("f32[4294967296,4294967296]", ShapeError, "S2", 4),
        ("f32[2]{0:pad(9223372036854775807)}", ShapeError, "S3", 4),
    ],
)
def test_invalid_shapes_point_at_the_column(
    text: str, error: type[Error], rule: str, at: int
) -> None:
    with pytest.raises(error) as caught:
        Shape.parse(text)
    assert caught.value.rule == rule
    assert str(caught.value).split("\n")[1:] == ["  " + text, "  " + " " * at + "^"]


def test_a_syntax_error_comes_before_a_refusal() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse("f32[?,3]{1,0:T(8)")
    assert caught.value.rule == "S8"


def test_only_the_line_of_a_long_text_is_shown() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse("f32[2]\n\t{0}\tx")
    assert str(caught.value).split("\n")[1:] == ["  \t{0}\tx", "  \t   \t^"]
    with pytest.raises(ShapeError) as caught:
        Shape.parse("f32[" + "1," * 100 + "x" + ",1" * 100 + "]")
    line, caret = str(caught.value).split("\n")[1:]
    assert line == "  ..." + "1," * 30 + "x" + ",1" * 29 + ",..."
    assert caret.index("^") == line.index("x")


def test_S8_nesting_is_bounded() -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse("(" * 64 + ")" * 64)
    assert caught.value.rule == "S9"
    for text in ("(" * 65 + ")" * 65, "(" * 100_000, "f32[2]{0:P(" * 1000):
        with pytest.raises(ShapeError) as caught:
            Shape.parse(text)
        assert caught.value.rule == "S8"


@pytest.mark.parametrize("text", [None, 3, b"f32[2]", ("f32", (2,))])
def test_S8_needs_a_str(text: Any) -> None:
    with pytest.raises(ShapeError) as caught:
        Shape.parse(text)
    assert (caught.value.rule, caught.value.kind) == ("S8", "gpubcast:shape text")


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Any small shape, padded or not."""
    row: ElementType = draw(st.sampled_from(list(ELEMENT_TYPES.values())))
    sizes = draw(st.lists(st.integers(0, 5), max_size=5))
    order = draw(st.permutations(range(len(sizes))))
    if draw(st.booleans()):
        return Shape(row, sizes, Layout(order))
    padded = [size + draw(st.integers(0, 3)) for size in sizes]
    values = [v for v in PaddingValue if not row.is_complex or v.value not in (3, 4)]
    return Shape(row, sizes, Layout(order, padded, draw(st.sampled_from(values))))


@given(shapes())
def test_text_round_trips(shape: Shape) -> None:
    assert Shape.parse(str(shape)) == shape
    assert eval(repr(shape), {"Shape": Shape}) == shape
    assert Shape.parse(shape.text(layout=False)) == shape.with_layout(None)


@given(st.text(alphabet="f32s8[](){}<=?:,.*#TSLDPEMCpadzero01-+~/ \n", max_size=24))
def test_any_text_parses_or_is_refused(text: str) -> None:
    for candidate in (text, "f32[2,3]{1,0:" + text):
        try:
            shape = Shape.parse(candidate)
        except Error as error:
            assert error.rule is not None and error.kind is not None
        else:
            assert Shape.parse(str(shape)) == shape
