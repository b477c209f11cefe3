"""Shapes: XLA's "Shapes and Layout" page statement by statement, and XLA's own cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpubcast.errors import Error, LayoutError
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape

CORPORA = Path(__file__).parents[2] / "corpora"


def corpus(name: str) -> list[dict[str, Any]]:
    text = (CORPORA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def memory(shape: Shape, elements: str, padding: str) -> str:
    """The buffer of ``shape`` as letters: its elements in row-major order, and its padding."""
    cells = []
    for linear in range(shape.allocated_elements):
        index = shape.multi_index(linear)
        if index is None:
            cells.append(padding)
        else:
            cells.append(elements[int(np.ravel_multi_index(index, shape.dimensions))])
    return " ".join(cells)


# --- the page, in its order --------------------------------------------------------------------


def test_page_rank_and_true_rank() -> None:
    """The rank is the number of dimensions, the true rank counts those of size above 1."""
    cases = {(): (0, 0), (1, 1): (2, 0), (2, 3): (2, 2), (3, 1, 2): (3, 2), (3, 0, 1): (3, 1)}
    assert {d: (Shape("f32", d).rank, Shape("f32", d).true_rank) for d in cases} == cases


def test_page_dimensions_are_listed_by_number() -> None:
    """An array of size [A x B x C] has size A in dimension 0, B in 1 and C in 2."""
    shape = Shape("f32", (5, 7, 9))
    assert [shape.dimension(n) for n in (0, 1, 2)] == [5, 7, 9]


def test_page_negative_dimension_numbers() -> None:
    """Dimension -1 is the last one, dimension -2 the one before."""
    shape = Shape("f32", (5, 7, 9))
    assert [shape.dimension(n) for n in (-1, -2, -3)] == [9, 7, 5]
    assert [shape.dimension_number(n) for n in (-1, -2, -3)] == [2, 1, 0]


def test_page_letters() -> None:
    names = [Shape("f32", (2,) * rank).dimension_names for rank in range(6)]
    assert names == [
        None,
        None,
        ("y", "x"),
        ("z", "y", "x"),
        ("p", "z", "y", "x"),
        None,
    ]


def test_page_make_shape_keeps_the_order() -> None:
    """MakeShape(F32, {A, B, C, D}) has the dimension sizes [A, B, C, D]."""
    assert Shape("f32", [5, 7, 9, 11]).dimensions == (5, 7, 9, 11)


def test_page_minor_to_major_0_1() -> None:
    assert memory(Shape("f32", (2, 3), Layout((0, 1))), "abcdef", "0") == "a d b e c f"


def test_page_minor_to_major_1_0() -> None:
    assert memory(Shape("f32", (2, 3), Layout((1, 0))), "abcdef", "0") == "a b c d e f"


def test_page_default_layout_is_major_to_minor() -> None:
    assert Shape("f32", (2, 3)).layout == Layout((1, 0))
    assert Shape("f32", (2, 3, 4, 5)).layout.minor_to_major == (3, 2, 1, 0)


def test_page_padding_column_major() -> None:
    shape = Shape("f32", (2, 3), Layout((0, 1), (3, 5), PaddingValue.ZERO))
    assert memory(shape, "abcdef", "0") == "a d 0 b e 0 c f 0 0 0 0 0 0 0"


def test_page_padding_equivalent_array() -> None:
    """The padded array lies as the 3 x 5 array with the padding in its last row and columns."""
    padded = Shape("f32", (2, 3), Layout((0, 1), (3, 5), PaddingValue.ZERO))
    full = Shape("f32", (3, 5), Layout((0, 1)))
    assert memory(full, "abc00def0000000", "?") == memory(padded, "abcdef", "0")
    assert full.allocated_elements == padded.allocated_elements == 15


def test_page_padding_count_equals_the_rank() -> None:
    with pytest.raises(LayoutError) as caught:
        Shape("f32", (2, 3), Layout((0, 1), (3,)))
    assert caught.value.rule == "L5"


def test_page_index_round_trip() -> None:
    shape = Shape("f32", (10, 20, 30), Layout((1, 2, 0)))
    assert shape.linear_index((3, 5, 7)) == 5 + 20 * 7 + 600 * 3
    assert shape.multi_index(5 + 20 * 7 + 600 * 3) == (3, 5, 7)


# --- index maps -----------------------------------------------------------------------------

LAYOUT_INDEX = [r for r in corpus("layout_index") if "error" not in r]


@pytest.mark.parametrize("row", LAYOUT_INDEX, ids=lambda r: r["id"])
def test_layout_index_corpus(row: dict[str, Any]) -> None:
    shape = Shape("f32", row["dims"], Layout(row["minor_to_major"], row["padded_dimensions"]))
    assert list(shape.strides) == row["strides"]
    assert shape.num_elements == row["elements"]
    assert shape.allocated_elements == row["allocated_elements"]
    assert shape.byte_size == row["byte_size_f32"]
    for multi, linear in row["index"]:
        assert shape.linear_index(multi) == linear
        assert shape.multi_index(linear) == tuple(multi)
    for linear, element in enumerate(row.get("memory", [])):
        index = shape.multi_index(linear)
        if element == -1:
            assert index is None
        else:
            assert index == tuple(map(int, np.unravel_index(element, shape.dimensions)))


# --- XLA's own unit tests ----------------------------------------------------------------------


def unit_case(fn: str, args: dict[str, Any]) -> Any:
    """What gpubcast answers where XLA's unit tests call ``fn``."""
    padded = args.get("padded_dimensions")
    if fn == "default_layout":
        return list(Shape.parse(args["shape"]).layout.minor_to_major)
    if fn == "make_descending_layout":
        return list(Layout.default(args["rank"]).minor_to_major)
    if fn == "same_dimensions":
        return Shape.parse(args["a"]).same_dimensions(Shape.parse(args["b"]))
    if fn == "padded_shapes_equal":
        order = tuple(reversed(range(len(args["dims"]))))
        a, b = (Shape("f32", args["dims"], Layout(order, **args[side])) for side in "ab")
        return a == b
    if fn == "compare_shapes":
        a, b = (Shape.parse(args[side]) for side in "ab")
        return {"compatible": a.compatible(b), "equal": a == b}
    if fn == "memory_image":
        shape = Shape("f32", args["dims"], Layout(args["minor_to_major"], padded))
        return memory(shape, "".join(args["elements"]), args["padding"]).split()
    if fn == "validate_layout":
        order = args["minor_to_major"]
        Shape("f32", args["dims"], None if order is None else Layout(order))
        return True
    shape = Shape.parse(args.get("shape") or args["text"])
    if padded is not None:
        shape = shape.with_layout(Layout(shape.layout.minor_to_major, padded))
    if fn == "linear_index":
        return shape.linear_index(args["index"])
    if fn == "multi_index":
        index = shape.multi_index(args["linear"])
        return None if index is None else list(index)
    if fn == "linear_round_trip":
        index = shape.multi_index(args["linear"])
        return None if index is None else shape.linear_index(index)
    answers: dict[str, Callable[[], Any]] = {
        "is_padded": lambda: shape.is_padded,
        "get_dimension": lambda: shape.dimension(args["dim"]),
        "byte_size_of": lambda: shape.byte_size,
        "elements_in": lambda: shape.num_elements,
        "index_count": lambda: shape.num_elements,
        "is_zero_element_array": lambda: shape.num_elements == 0,
        "has_degenerate_dimensions": lambda: 1 in shape.dimensions,
        "shape_text_round_trip": lambda: str(shape),
        "parse_shape": lambda: True,
    }
    return answers[fn]()


# Operations on shapes that gpubcast does not have.
NOT_OURS = {
    *("bump_indices", "layouts_in_shapes_equal", "is_leaf_index", "reshape_is_bitcast"),
    *("transpose_is_bitcast", "delete_dimensions", "tiled_linear_index"),
}
UNIT_CASES = [
    row
    for row in corpus("xla_unit_cases")
    if row["suite"] in ("index_util_test", "layout_util_test", "shape_util_test")
    or row["fn"] == "memory_image"
    if row["fn"] not in NOT_OURS
]


def test_the_unit_cases_are_there() -> None:
    assert len(UNIT_CASES) == 52


@pytest.mark.parametrize("row", UNIT_CASES, ids=lambda r: r["id"])
def test_xla_unit_cases(row: dict[str, Any]) -> None:
    expect = row["expect"]
    texts = [str(row["args"].get(key, "")) for key in ("shape", "text", "a", "b")]
    not_arrays = any(text.startswith(("(", "token", "opaque")) for text in texts)
    if not_arrays or any(":T(" in text for text in texts):
        with pytest.raises(Error, match="parsed but not supported yet"):
            unit_case(row["fn"], row["args"])
    elif "error_contains" in expect:
        with pytest.raises(Error):
            unit_case(row["fn"], row["args"])
    else:
        answer = unit_case(row["fn"], row["args"])
        wanted = expect.get("value", True)
        if row["fn"] == "compare_shapes":
            wanted = {key: wanted[key] for key in ("compatible", "equal")}
        assert answer == wanted
