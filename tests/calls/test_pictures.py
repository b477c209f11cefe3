"""What notebooks show: well-formed pictures that say the truth, for eyes and for screen readers."""

from __future__ import annotations

import functools
import itertools
import math
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.pictures import memory
from gpubcast.pictures.memory import Memory
from gpubcast.pictures.notebook import MOST_BYTES, bundle, size

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = [
    "f32[]", "s8[1]", "f32[7]", "f32[40]", "f32[3,5]{0,1}", "f32[3,5]{0,1:pad(4,6,zero)}",
    "bf16[2,3,4]{1,2,0:pad(2,4,5)}", "f32[1024,512,100]", "u8[1000000,1000000]", "pred[2,2,2,2,2]",
    "f64[30,30]{0,1:pad(32,33,lowest)}", "f32[1,1,1,1,1,1,1,1,1]",
]  # fmt: skip


def of(text: str) -> Memory:
    shape = gb.Shape.parse(text)
    return Memory(str(shape), shape.dimensions, shape.padded_dimensions, shape.strides)


def drawn(text: str) -> ET.Element:
    return ET.fromstring(memory.picture(of(text)))


def addresses(root: ET.Element) -> list[int]:
    (group,) = root.findall(f"{SVG}g[@text-anchor]")
    return [int(one.text or "") for one in group]


@pytest.mark.parametrize("text", SHAPES)
def test_a_picture_stands_alone_and_takes_the_colour_of_the_text(text: str) -> None:
    source = memory.picture(of(text))
    root = ET.fromstring(source)
    assert root.get("role") == "img" and root.get("fill") == "currentColor"
    assert root.get("aria-label") == root.findtext(f"{SVG}title")
    assert "max-width:100%" in (root.get("style") or "")
    # Two pictures on a page have nothing in common that could be mistaken, and load nothing.
    assert not any(one.get("id") or "href" in one.attrib for one in root.iter())
    assert "url(" not in source and "script" not in source
    # Nothing is cut off at its sides, in letters of 0.61 of their height.
    width = float(root.get("width") or 0)
    for one in root.iter(f"{SVG}text"):
        words = one.text or ""
        if not {"text-anchor", "opacity"} & set(one.attrib) and not words.isdigit():
            assert float(one.get("x") or 0) + len(words) * 6.6 <= width + 1, words


@pytest.mark.parametrize(
    "text", [one for one in SHAPES if math.prod(gb.Shape.parse(one).padded_dimensions) < 80]
)
def test_every_element_has_its_address_and_padding_none(text: str) -> None:
    shape = gb.Shape.parse(text)
    found = addresses(drawn(text))
    every = itertools.product(*map(range, shape.dimensions))
    elided = shape.rank > 0 and (
        shape.padded_dimensions[-1] > 12 or math.prod(shape.padded_dimensions[:-1]) > 10
    )
    wanted = [shape.linear_index(index) for index in every]
    assert set(found) < set(wanted) if elided else found == wanted


def test_padding_is_hatched_and_said() -> None:
    whole, padded = drawn("f32[3,5]{0,1}"), drawn("f32[3,5]{0,1:pad(4,6,zero)}")
    assert "hatched" not in (whole.get("aria-label") or "")
    label = padded.get("aria-label") or ""
    assert "9 elements of padding, hatched" in label
    assert "dimension 0: +1, dimension 1: +4" in label
    strokes = [
        sum((p.get("d") or "").count("l") for p in one.iter(f"{SVG}path"))
        for one in (whole, padded)
    ]
    # Four strokes for each slot of padding; the others are the heads of the two arrows.
    assert strokes[1] - strokes[0] == 4 * 9


def test_colour_goes_with_the_address() -> None:
    def fills(text: str) -> list[tuple[str, int]]:
        paths = [one for one in drawn(text).iter(f"{SVG}path") if "hsl" in (one.get("fill") or "")]
        return [(one.get("fill") or "", (one.get("d") or "").count("M")) for one in paths]

    row_major, column_major = fills("f32[3,4]"), fills("f32[3,4]{0,1}")
    assert row_major == column_major and len(row_major) == 10
    assert sum(count for _, count in row_major) == 12


def test_a_large_array_is_elided_in_the_middle() -> None:
    found = addresses(drawn("f32[1024,512,100]"))
    assert found[0] == 0 and found[-1] == 1024 * 512 * 100 - 1
    assert len(memory.picture(of("u8[1000000,1000000]"))) <= 8000


def test_strides_may_be_negative_or_none() -> None:
    root = ET.fromstring(memory.picture(Memory("x", (2, 3), (2, 3), (-3, 0))))
    assert addresses(root) == [3, 3, 3, 0, 0, 0]
    assert memory.picture(Memory("x", (2, 0), (2, 0), (0, 1))) == ""


@functools.cache
def shown() -> list[Any]:
    @gb.fuse("b c h w, c, b -> b h w c, b c", valid={"w": "n"})
    def labels(x: Any, gain: Any, n: Any) -> Any:
        return x * gain, gb.reduce_sum(x, ("h", "w"))

    @gb.fuse("row col -> row col")
    def softmax(x: Any) -> Any:
        e = gb.exp(x - gb.reduce_max(x, "col"))
        return e / gb.reduce_sum(e, "col")

    @gb.fuse
    def plain(x: Any, y: Any = 1) -> Any:
        return x + y

    x = np.arange(40, dtype=np.float32).reshape(5, 8)
    large = np.ones((3000, 3000), np.float32)
    return [
        *map(gb.Shape.parse, SHAPES),
        *(gb.Layout(order) for order in ((), (0,), (0, 2, 1), tuple(range(12)))),
        gb.Layout((0, 1), (3, 5), gb.PaddingValue.ONE),
        gb.array(x, layout=gb.Layout((0, 1), (6, 9), gb.PaddingValue.ZERO)),
        gb.array(x)[::-1, ::2],
        gb.array(3.5),
        gb.array(large),
        gb.empty("f32[3,0]"),
        labels, softmax, plain, gb.nn.layer_norm,
        gb.plan("add", "f32[2,3]{0,1:pad(3,5)}", "f32[3]", broadcast_dimensions=(1,)),
        softmax.plan("f32[1024,4096]"),
        labels.plan("f32[2,3,4,5]", "f32[3]", "s32[2]"),
        gb.plan("mul", "f32[8,1,6]", "f32[8,7,6]").explain(),
        gb.plan("exp", "f32[]").explain(),
        softmax.explain("f32[16,40]"),
    ]  # fmt: skip


def test_notebooks_show_everything_within_20_kb() -> None:
    for one in shown():
        _check_shown(one)


def _check_shown(one: Any) -> None:
    made = one._repr_mimebundle_()
    assert set(made) <= {"text/plain", "text/html", "image/svg+xml"}
    assert made["text/plain"] and size(made) <= MOST_BYTES == 20_000
    assert made["text/html"].startswith("<div") and "<script" not in made["text/html"]
    if "image/svg+xml" in made:
        assert "prefers-color-scheme:dark" in made["image/svg+xml"]
        ET.fromstring(made["image/svg+xml"])
        # Inside a page it is the page that says.
        assert "prefers-color-scheme" not in made["text/html"]


def test_what_is_shown_says_what_it_is() -> None:
    a = gb.array(np.arange(6, dtype=np.float32).reshape(2, 3), layout=gb.Layout((0, 1)))
    made = a._repr_mimebundle_()
    assert made["text/plain"] == repr(a)
    assert "gpubcast.Array f32[2,3]{0,1} on cpu, 24 bytes" in made["text/html"]
    assert str(a.numpy()) in made["text/html"]
    (labels,) = (x for x in shown() if getattr(x, "__name__", "") == "labels")
    labels = labels._repr_mimebundle_()
    assert "along w the first n elements are valid" in labels["text/html"]
    assert "gain: c to c" in labels["text/html"]
    plan = gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,))
    made = plan._repr_mimebundle_()
    assert made["text/plain"] == repr(plan)
    assert "operand 1: f32[3]: 3 to 3" in made["text/html"]


def test_words_are_escaped() -> None:
    made = bundle("x", "<b>&", "<i>", memory.picture(Memory("<script>\"'", (2,), (2,), (1,))))
    assert "<b>" not in made["text/html"] and "<script>" not in made["text/html"]
    ET.fromstring(made["image/svg+xml"])
