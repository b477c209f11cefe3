"""The pages of ``explain``, laid out in a browser: on wide and narrow windows, light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gpubcast as gb
from tests.support.bench_reports import LAYOUT, browse, first_pixel


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


@gb.fuse("a b -> ")
def total(x: Any) -> Any:
    return gb.reduce_sum(x, ("a", "b"))


PAGES = {
    "softmax": lambda: softmax.explain("f32[64,1000]"),
    "two kernels": lambda: total.explain("f32[4096,4096]"),
    "padded": lambda: gb.plan(
        "add", "f32[2,3]{0,1:pad(4,5,zero)}", "f32[3]", broadcast_dimensions=(1,)
    ).explain(),
    "transposed": lambda: gb.plan("add", "f32[300,200]", "f32[300,200]{0,1}").explain(),
    "many axes": lambda: gb.plan("add", "f32[7,7,7,7,7,7]", "f32[7,1,7,1,7,1]").explain(),
}


@pytest.mark.parametrize("width", [pytest.param(1000, marks=pytest.mark.long), 500])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overlaps_or_is_clipped(tmp_path: Path, name: str, width: int) -> None:
    text = PAGES[name]().html()
    text = text.replace("</body>", f"<script>{LAYOUT}</script></body>")
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    dom = browse(page, tmp_path / "profile", f"--window-size={width},900", "--dump-dom")
    (told,) = re.findall(r"<title>LAYOUT (.*?)</title>", dom, re.DOTALL)
    assert told == "fits"


def test_light_and_dark_are_those_of_the_reader(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES["padded"]().html(), encoding="utf-8")
    shots = {}
    for scheme, flag in (("light", "1"), ("dark", "0")):
        shot = tmp_path / f"{scheme}.png"
        flags = (f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={flag}")
        browse(page, tmp_path / "profile", *flags)
        shots[scheme] = sum(first_pixel(shot.read_bytes()))
    assert shots["light"] == 3 * 255 and shots["dark"] < 3 * 60


def test_a_slot_under_the_pointer_is_marked_in_strip_and_grid() -> None:
    page = PAGES["padded"]().html()
    # The element (1, 2) of operand 0 is slot 9: 1 + 2 * 4.
    assert re.search(r'<td class="m0-9" title="slot 9: element \(1, 2\)">', page)
    assert re.search(r'<path d="[^"]+" class="m0-9"><title>\[1,2\]: slot 9</title>', page)
    assert ".gpubcast:has(.m0-9:hover) .m0-9{" in page
    notebook = PAGES["padded"]()._repr_mimebundle_()["text/html"]
    assert ":has(" not in notebook and "<title>[0,1]: slot 4</title>" in notebook
