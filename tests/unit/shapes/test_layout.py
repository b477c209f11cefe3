"""Layouts on their own: construction, order, padding, permutation, strides."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpubcast.errors import LayoutError
from gpubcast.shapes.layout import Layout, PaddingValue, strides_of
from gpubcast.shapes.shape import Shape

CORPORA = Path(__file__).parents[2] / "corpora"


def corpus(name: str) -> list[dict[str, Any]]:
    text = (CORPORA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_padding_value_ids_are_those_of_the_proto() -> None:
    assert [(v.name, v.value) for v in PaddingValue] == [
        ("INVALID", 0),
        ("ZERO", 1),
        ("ONE", 2),
        ("LOWEST", 3),
        ("HIGHEST", 4),
        ("UNKNOWN", 5),
    ]


def test_only_defined_padding_values_are_written() -> None:
    assert [v.name for v in PaddingValue if v.written] == ["ZERO", "ONE", "LOWEST", "HIGHEST"]


def test_fields_are_tuples_of_python_ints() -> None:
    layout = Layout(np.array([0, 1]), [np.int64(3), 5], PaddingValue.ZERO)
    assert layout.minor_to_major == (0, 1)
    assert layout.padded_dimensions == (3, 5)
    assert layout.padding_value is PaddingValue.ZERO
    assert [type(d) for d in layout.minor_to_major] == [int, int]
    assert [type(d) for d in layout.padded_dimensions] == [int, int]


def test_padding_defaults_to_none_and_invalid() -> None:
    layout = Layout((1, 0))
    assert layout.padded_dimensions is None
    assert layout.padding_value is PaddingValue.INVALID


@pytest.mark.parametrize(("rank", "order"), [(0, ()), (1, (0,)), (2, (1, 0)), (5, (4, 3, 2, 1, 0))])
def test_default_is_major_to_minor(rank: int, order: tuple[int, ...]) -> None:
    assert Layout.default(rank).minor_to_major == order
    assert Layout.default(rank).rank == rank
    assert Layout.default(rank).is_default


def test_is_default_looks_at_order_and_padding() -> None:
    assert Layout((1, 0)).is_default
    assert not Layout((0, 1)).is_default
    assert not Layout((1, 0), (2, 3)).is_default


COUNT = (
    "layout minor_to_major field contains <n> elements, but shape is rank <n>: <list>; "
    "shape: <proto>"
)
BOUNDS = "layout minor_to_major field has out-of-bounds value: <list>; shape: <proto>"
DUPLICATE = "layout minor_to_major field has duplicate values: <list>; shape: <proto>"
PADDED_COUNT = "layout has <n> padded dimensions, but shape is rank <n>"
PADDED_SMALL = (
    "for dimension <n>, dimension padding (<n>) is smaller than the dimension size (<n>) "
    "of the shape"
)
INTEGERS = "gpubcast:not integers"


@pytest.mark.parametrize(
    ("arguments", "rule", "kind"),
    [
        pytest.param(((True, False),), "L1", INTEGERS, id="L1-bool"),
        pytest.param(((np.True_, 0),), "L1", INTEGERS, id="L1-numpy-bool"),
        pytest.param(((0.0, 1),), "L1", INTEGERS, id="L1-float"),
        pytest.param((("0", "1"),), "L1", INTEGERS, id="L1-str-entries"),
        pytest.param(("01",), "L1", INTEGERS, id="L1-str"),
        pytest.param((b"\x00",), "L1", INTEGERS, id="L1-bytes"),
        pytest.param(({0, 1},), "L1", INTEGERS, id="L1-set"),
        pytest.param(({0: 1},), "L1", INTEGERS, id="L1-dict"),
        pytest.param((3,), "L1", INTEGERS, id="L1-int"),
        pytest.param((np.array(0),), "L1", INTEGERS, id="L1-rank-0-array"),
        pytest.param((np.array([[0]]),), "L1", INTEGERS, id="L1-rank-2-array"),
        pytest.param(((0,), (2.0,)), "L1", INTEGERS, id="L1-padded-float"),
        pytest.param(((0, 2),), "L3", BOUNDS, id="L3-past-the-rank"),
        pytest.param(((-1, 0),), "L3", BOUNDS, id="L3-negative"),
        pytest.param(((0, 0, 9),), "L3", BOUNDS, id="L3-before-L4"),
        pytest.param(((10**5000,),), "L3", BOUNDS, id="L3-huge"),
        pytest.param(((1, 1, 0),), "L4", DUPLICATE, id="L4-duplicate"),
        pytest.param(((0,), (4, 4)), "L5", PADDED_COUNT, id="L5-too-many"),
        pytest.param(((1, 0), ()), "L5", PADDED_COUNT, id="L5-none"),
        pytest.param(((0,), (-1,)), "L6", PADDED_SMALL, id="L6-negative"),
        pytest.param(((0,), (2**63,)), "L6", "gpubcast:padded size", id="L6-past-int64"),
        pytest.param(((0,), None, PaddingValue.ZERO), "L7", "gpubcast:padding value", id="L7"),
        pytest.param(((0,), (4,), "zero"), "L7", "gpubcast:padding value", id="L7-str"),
        pytest.param(((0,), (4,), 1), "L7", "gpubcast:padding value", id="L7-int"),
    ],
)
def test_refused_layouts(arguments: tuple[Any, ...], rule: str, kind: str) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout(*arguments)
    assert (caught.value.rule, caught.value.kind) == (rule, kind)


def test_L1_default_needs_a_rank() -> None:
    for rank, kind in (
        (-1, "gpubcast:negative rank"),
        (10**5000, "gpubcast:rank"),
        (True, INTEGERS),
        ("2", INTEGERS),
    ):
        with pytest.raises(LayoutError) as caught:
            Layout.default(rank)  # type: ignore[arg-type]
        assert (caught.value.rule, caught.value.kind) == ("L1", kind)


def test_messages_are_those_of_xla() -> None:
    with pytest.raises(LayoutError, match=r"has duplicate values: \{1, 1, 0\} \[L4\]$"):
        Layout((1, 1, 0))
    with pytest.raises(LayoutError, match=r"has out-of-bounds value: \{0, 2\}; "):
        Layout((0, 2))
    with pytest.raises(
        LayoutError, match=r"contains 1 elements, but shape is rank 0: \{0\} \[L2\]$"
    ):
        Layout((0,)).validate(())


def test_validate_L2_comes_before_L6() -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((0, 1), (1, 1)).validate((2, 2, 2))
    assert (caught.value.rule, caught.value.kind) == ("L2", COUNT)


def test_validate_L6_names_the_first_small_dimension() -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((1, 0, 2), (2, 5, 1)).validate((2, 6, 4))
    assert (caught.value.rule, caught.value.kind) == ("L6", PADDED_SMALL)
    assert str(caught.value) == (
        "for dimension 1, dimension padding (5) is smaller than the dimension size (6) "
        "of the shape [L6]"
    )


def test_validate_accepts_equal_sizes_and_zero() -> None:
    Layout((0, 1), (2, 3)).validate((2, 3))
    Layout((0, 1), (0, 3)).validate((0, 0))


def rows(which: str) -> list[Any]:
    cases = [r for r in corpus("layout_index") if ("error" in r) == (which == "error")]
    return [pytest.param(r, id=r["id"]) for r in cases]


@pytest.mark.parametrize("row", rows("error"))
def test_layout_index_errors(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        Shape("f32", row["dims"], Layout(row["minor_to_major"], row["padded_dimensions"]))
    assert caught.value.kind == row["error"]["template"]  # type: ignore[attr-defined]
    said = row["error"]["message"].split("; shape: ")[0]
    assert str(caught.value).startswith(said)


def test_the_corpora_hold_errors() -> None:
    assert len(rows("error")) == 5
    assert len(rows("ok")) == 241


def test_strides_law() -> None:
    assert strides_of((2, 3, 4), (2, 1, 0)) == (12, 4, 1)
    assert strides_of((2, 3, 4), (0, 1, 2)) == (1, 2, 6)
    assert strides_of((2, 3, 4), (1, 2, 0)) == (12, 1, 3)
    assert strides_of((2, 0, 4), (2, 1, 0)) == (0, 4, 1)
    assert strides_of((), ()) == ()


def test_permute_follows_every_dimension() -> None:
    sizes, padded = (2, 3, 4), (3, 5, 4)
    for order in permutations(range(3)):
        layout = Layout(order, padded, PaddingValue.ONE)
        strides = strides_of(padded, order)
        for permutation in permutations(range(3)):
            moved = layout.permute(permutation)
            assert moved.padded_dimensions == tuple(padded[p] for p in permutation)
            assert moved.padding_value is PaddingValue.ONE
            moved.validate(tuple(sizes[p] for p in permutation))
            assert strides_of(moved.padded_dimensions, moved.minor_to_major) == tuple(
                strides[p] for p in permutation
            )


def test_permute_example_and_inverse() -> None:
    layout = Layout((0, 1, 2), (4, 5, 6))
    moved = layout.permute((2, 0, 1))
    assert moved == Layout((1, 2, 0), (6, 4, 5))
    assert moved.permute((1, 2, 0)) == layout
    assert Layout((1, 0)).permute(np.array([1, 0])) == Layout((0, 1))


@pytest.mark.parametrize("permutation", [(0,), (0, 0), (0, 2), (1, -2), (0, 1, 2)])
def test_permute_L8_needs_a_permutation(permutation: tuple[int, ...]) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((1, 0)).permute(permutation)
    assert (caught.value.rule, caught.value.kind) == ("L8", "gpubcast:not a permutation")


def test_permute_L8_needs_integers() -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((1, 0)).permute((True, False))
    assert (caught.value.rule, caught.value.kind) == ("L8", INTEGERS)


@pytest.mark.parametrize(
    ("layout", "text", "code"),
    [
        (Layout(()), "{}", "Layout(minor_to_major=())"),
        (Layout((0, 1)), "{0,1}", "Layout(minor_to_major=(0, 1))"),
        (
            Layout((0, 1), (3, 5)),
            "{0,1:pad(3,5)}",
            "Layout(minor_to_major=(0, 1), padded_dimensions=(3, 5))",
        ),
        (
            Layout((0, 1), (3, 5), PaddingValue.ZERO),
            "{0,1:pad(3,5,zero)}",
            "Layout(minor_to_major=(0, 1), padded_dimensions=(3, 5), "
            "padding_value=PaddingValue.ZERO)",
        ),
        (
            Layout((), (), PaddingValue.UNKNOWN),
            "{:pad(unknown)}",
            "Layout(minor_to_major=(), padded_dimensions=(), padding_value=PaddingValue.UNKNOWN)",
        ),
    ],
)
def test_text_and_repr(layout: Layout, text: str, code: str) -> None:
    assert str(layout) == text
    assert repr(layout) == code
    assert eval(code, {"Layout": Layout, "PaddingValue": PaddingValue}) == layout


def test_equality_looks_at_padding() -> None:
    layouts = [
        Layout((0, 1)),
        Layout((1, 0)),
        Layout((0, 1), (2, 3)),
        Layout((0, 1), (2, 4)),
        Layout((0, 1), (2, 4), PaddingValue.UNKNOWN),
    ]
    assert len(set(layouts)) == 5
    again = Layout([0, 1], [2, 4], PaddingValue.UNKNOWN)
    assert again == layouts[4] and hash(again) == hash(layouts[4])
    order: object = (0, 1)
    assert Layout((0, 1)) != order


def test_frozen_copied_and_pickled() -> None:
    layout = Layout((0, 1), (3, 5), PaddingValue.LOWEST)
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.minor_to_major = (1, 0)  # type: ignore[misc]
    assert not hasattr(layout, "__dict__")
    for twin in (pickle.loads(pickle.dumps(layout)), copy.copy(layout), copy.deepcopy(layout)):
        assert twin == layout and hash(twin) == hash(layout)
    assert dataclasses.replace(layout, padding_value=PaddingValue.ONE) == Layout(
        (0, 1), (3, 5), PaddingValue.ONE
    )
