"""Pictures of plans: exact text up to the launch, the facts of each launch, HTML and terminal."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gpubcast as gb
from gpubcast.explain.explanation import Explanation, explain
from gpubcast.hlo.expression import Apply, Expression, Parameter
from gpubcast.planning.plan import Operand

PICTURES = {
    ("add", ("f32[2,3]", "f32[3]"), "broadcast_dimensions"): """\
add: (f32[2,3]{1,0}, f32[3]{0}), broadcast_dimensions={1} -> f32[2,3]{1,0}

  output dimension     0  1
  operand 0: f32[2,3]  2  3
  operand 1: f32[3]    ·  3
  output: f32[2,3]     2  3
  ·: repeated along this dimension

axes before merging, one per output dimension; strides in elements
  axis  size  operand 0  operand 1  output
  0        2          3          0       3
  1        3          1          1       1

axes after merging, the order of the loops
  axis  size  operand 0  operand 1  output
  0        2          3          0       3
  1        3          1          1       1

memory, in address order; a, b, c ... are an array's elements in row-major order
  operand 0  f32[2,3]{1,0}  a b c | d e f
  operand 1  f32[3]{0}      a b c
  output     f32[2,3]{1,0}  a b c | d e f

""",
    # Both operands are expanded, and three dimensions become two axes.
    ("mul", ("f32[2,4,1]", "f32[1,1,64]"), ""): """\
multiply: (f32[2,4,1]{2,1,0}, f32[1,1,64]{2,1,0}) -> f32[2,4,64]{2,1,0}

  output dimension          0    1     2
  operand 0: f32[2,4,1]     2    4  1→64
  operand 1: f32[1,1,64]  1→2  1→4    64
  output: f32[2,4,64]       2    4    64
  1→n: size 1 is expanded

axes before merging, one per output dimension; strides in elements
  axis  size  operand 0  operand 1  output
  0        2          4          0     256
  1        4          1          0      64
  2       64          0          1       1

axes after merging, the order of the loops
  axis  size  operand 0  operand 1  output
  0        8          1          0      64
  1       64          0          1       1

memory, in address order; a, b, c ... are an array's elements in row-major order
  operand 0  f32[2,4,1]{2,1,0}   a b c d e f g h
  operand 1  f32[1,1,64]{2,1,0}  64 slots
  output     f32[2,4,64]{2,1,0}  512 slots

""",
    # A column-major operand with written padding; the predicate is a scalar.
    ("select", ("pred[]", "f32[2,3]{0,1:pad(3,5,lowest)}", "f32[2,3]"), ""): """\
select: (pred[], f32[2,3]{0,1:pad(3,5,lowest)}, f32[2,3]{1,0}) -> f32[2,3]{0,1:pad(3,5,lowest)}

  output dimension     0  1
  operand 0: pred[]    ·  ·
  operand 1: f32[2,3]  2  3
  operand 2: f32[2,3]  2  3
  output: f32[2,3]     2  3
  ·: repeated along this dimension

axes before merging, one per output dimension; strides in elements
  axis  size  with padding  operand 0  operand 1  operand 2  output
  0        2             3          0          1          3       1
  1        3             5          0          3          1       3

axes after merging, the order of the loops
  axis  size  with padding  operand 0  operand 1  operand 2  output
  0        3             5          0          3          1       3
  1        2             3          0          1          3       1

memory, in address order; a, b, c ... are an array's elements in row-major order
  operand 0  pred[]                         a
  operand 1  f32[2,3]{0,1:pad(3,5,lowest)}  a d - | b e - | c f - | - - - | - - -
                                            -: padding, holds the lowest value
  operand 2  f32[2,3]{1,0}                  a b c | d e f
  output     f32[2,3]{0,1:pad(3,5,lowest)}  a d - | b e - | c f - | - - - | - - -
                                            -: padding, holds the lowest value

""",
    ("add", ("f32[]", "f32[]"), ""): """\
add: (f32[], f32[]) -> f32[]

axes before merging, one per output dimension; strides in elements: none, there is one element

axes after merging, the order of the loops: none, there is one element

memory, in address order; a, b, c ... are an array's elements in row-major order
  operand 0  f32[]  a
  operand 1  f32[]  a
  output     f32[]  a

""",
}


def _plan(name: str, shapes: tuple[str, ...], keyword: str = "") -> gb.Plan:
    return gb.plan(name, *shapes, **({keyword: (1,)} if keyword else {}))


@pytest.fixture
def bias() -> gb.Plan:
    return gb.plan("add", "f32[512,256]", "f32[256]", broadcast_dimensions=(1,))


@pytest.mark.parametrize("case", PICTURES, ids=lambda case: f"{case[0]}-{case[1][0]}")
def test_the_picture_up_to_the_launch(case: tuple[str, tuple[str, ...], str]) -> None:
    text = str(_plan(*case).explain())
    at = text.index("launch on the CPU")
    assert text[:at] == PICTURES[case]


@pytest.mark.parametrize(
    ("call", "header"),
    [
        (
            ("compare", "f32[2]", "f32[2]", {"direction": "LT", "total_order": True}),
            "compare: (f32[2]{0}, f32[2]{0}), direction=LT, type=TOTALORDER -> pred[2]{0}",
        ),
        (
            ("ge", "f32[2]", "f32[2]", {}),
            "compare: (f32[2]{0}, f32[2]{0}), direction=GE -> pred[2]{0}",
        ),
        (
            ("convert_element_type", "f32[2]", {"to": "bf16"}),
            "convert: (f32[2]{0}), to=bf16 -> bf16[2]{0}",
        ),
        (
            ("broadcast_in_dim", "f32[2]", {"shape": (2, 3), "broadcast_dimensions": (0,)}),
            "broadcast: (f32[2]{0}), broadcast_dimensions={0}, shape={2,3} -> f32[2,3]{1,0}",
        ),
    ],
)
def test_headers_are_written_as_in_hlo(call: tuple, header: str) -> None:
    *words, attributes = call
    explanation = gb.plan(*words, **attributes).explain()
    assert explanation.header == (header,)
    assert str(explanation).splitlines()[0] == header


def test_a_fused_expression_lists_its_nodes() -> None:
    graph = Expression(
        2,
        (
            Parameter(0),
            Parameter(1),
            Apply("mul", (0, 1), (("broadcast_dimensions", (1,)),)),
            Apply("add", (2, 1), (("broadcast_dimensions", (0,)),)),
        ),
        (3,),
    )
    operands = tuple(Operand.of(gb.Shape("f32", sizes)) for sizes in ((3, 3), (3,)))
    shown = explain("f", graph, operands)
    assert shown.header == (
        "f: (f32[3,3]{1,0}, f32[3]{0}) -> f32[3,3]{1,0}",
        "  %0 = f32[3,3]{1,0} parameter(0)  operand 0",
        "  %1 = f32[3]{0} parameter(1)  operand 1",
        "  %2 = f32[3,3]{1,0} multiply(%0, %1), broadcast_dimensions={1}",
        "  %3 = f32[3,3]{1,0} add(%2, %1), broadcast_dimensions={0}",
        "  ROOT %3",
    )
    # The vector is read in two ways, so it has two rows.
    assert shown.grid is not None
    rows = [(row.label, tuple(cell.text for cell in row.cells)) for row in shown.grid.rows]
    assert rows == [
        ("operand 0: f32[3,3]", ("3", "3")),
        ("operand 1: f32[3]", ("3", "·")),
        ("operand 1: f32[3]", ("·", "3")),
        ("output: f32[3,3]", ("3", "3")),
    ]


def test_the_cards_say_what_the_schedule_decided(
    bias: gb.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", "3")
    monkeypatch.setenv("GPUBCAST_STREAMING", "123456789")
    cpu, cuda = bias.explain().cards
    assert (cpu.title, cpu.device) == ("launch on the CPU", "cpu")
    facts = dict(cpu.facts)
    assert facts["schedule"] == bias.schedule().reason
    assert (
        facts["target"] == "3 threads; large results go past the caches from 123,456,789 bytes on"
    )
    assert facts["operands"] == "LINEAR f32, LINEAR f32 -> LINEAR f32"
    assert facts["bytes"] == f"{4 * (2 * 512 * 256 + 256):,} must move: " + (
        "operands read once, output written once"
    )
    chosen = bias.schedule("sm_90")
    facts = dict(cuda.facts)
    assert (cuda.device, cuda.title[:25]) == ("cuda", "launch on a GPU, sm_90, o")
    assert facts["schedule"] == chosen.reason
    assert facts["grid"] == f"{chosen.grid:,} blocks"
    assert facts["block"] == f"{chosen.block[0]} x {chosen.block[1]} threads"
    assert facts["vector"] == "4 elements per access, up to 16 bytes"
    assert facts["index"] == f"{chosen.offset_bits}-bit offsets"


def test_the_predicted_time_names_its_bandwidth() -> None:
    plan = gb.plan("add", "f32[4096,4096]", "f32[4096,4096]")
    time = dict(plan.explain().cards[1].facts)["time"]
    micros = 3 * 4 * 4096**2 / 4.3e12 * 1e6
    assert time == f"{micros:.1f} us at 4.3 TB/s, nominal: a device-to-device copy on an H200"
    time = dict(plan.explain().cards[0].facts)["time"]
    micros = 3 * 4 * 4096**2 / 24e9 * 1e6
    assert (
        time == f"{micros:,.1f} us at 24 GB/s, nominal: one thread of a server, beyond its caches"
    )
    time = dict(plan.explain(arch="sm_80").cards[1].facts)["time"]
    assert time == "not predicted: no bandwidth is known for sm_80"


def test_explaining_makes_no_cache_folder(
    bias: gb.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    bias.explain()
    assert list(tmp_path.iterdir()) == []


def test_a_result_without_elements_launches_nothing() -> None:
    plan = gb.plan("add", "f32[0,3]", "f32[1,3]")
    explanation = plan.explain(source=True)
    nothing = (("schedule", "no kernel: the result has no elements"),)
    assert [card.facts for card in explanation.cards] == [nothing, nothing]
    assert explanation.listings == ()
    assert "axes after merging, the order of the loops: nothing is visited" in str(explanation)
    assert (plan.cpu_source(), plan.cuda_source()) == ("", "")
    for arch in (None, "sm_90"):
        with pytest.raises(gb.Error, match="add computes no elements, so no kernel runs"):
            plan.schedule(arch)
    nothing_to_do = plan.bind(*map(gb.empty, plan.shapes), out=gb.empty(plan.output_shape))
    assert nothing_to_do.explain().cards[0].facts == nothing


def test_long_strips_go_on_in_the_next_line() -> None:
    text = str(gb.plan("bitwise_not", "u8[16,3]").explain())
    lines = [line for line in text.splitlines() if " | " in line]
    assert lines[0].startswith("  operand 0  u8[16,3]{1,0}  a b c | d e f | ")
    assert lines[1].startswith(" " * 28)
    assert max(map(len, lines)) <= 100
    letters = "".join(c for line in lines[:2] for c in line[28:] if c not in " |")
    assert letters == "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"


def test_arrays_past_48_slots_are_counted() -> None:
    shown = gb.plan("abs", "f32[7,7]{1,0:pad(7,8)}").explain().strips
    assert [(strip.groups, strip.note) for strip in shown] == [
        ((), "56 slots, 7 of them padding"),
        ((), "56 slots, 7 of them padding"),
    ]
    (strip, _) = gb.plan("abs", "f32[6,7]{1,0:pad(6,8)}").explain().strips
    assert len(strip.groups) == 6
    assert [slot.index for slot in strip.groups[5]][-2:] == [(5, 6), None]
    assert [slot.offset for slot in strip.groups[5]] == list(range(40, 48))


def test_source_is_shown_on_request(bias: gb.Plan) -> None:
    plain, full = str(bias.explain()), str(bias.explain(source=True))
    assert "__global__" not in plain and "def gb_" not in plain
    assert full.startswith(plain)
    cpu, cuda = bias.explain().listings
    assert (cpu.text, cuda.text) == (bias.cpu_source(), bias.cuda_source("sm_90"))
    assert all(f"  {line}".rstrip() in full.splitlines() for line in cuda.text.splitlines())


@pytest.mark.parametrize("arch", ["", "90", "sm_", "sm_9000", "SM_90", "sm_90; rm", "sm_90x"])
def test_an_architecture_has_a_name(bias: gb.Plan, arch: str) -> None:
    for ask in (bias.explain, bias.cuda_source, bias.schedule):
        with pytest.raises(gb.Error, match=r"no GPU architecture .*; expected a name") as caught:
            ask(arch=arch)
        assert caught.value.rule == "T0"


def test_lines_have_no_trailing_blanks(bias: gb.Plan) -> None:
    lines = str(bias.explain(source=True)).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


# --- HTML --------------------------------------------------------------------------------------

_VOID = {"meta"}


class _Checker(HTMLParser):
    """Checks that tags nest, and collects the text and what would be loaded."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href", "onclick")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _checked(html: str) -> _Checker:
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def test_html_is_well_formed_and_self_contained(bias: gb.Plan) -> None:
    explanation = gb.plan("add", "f32[2,3]{0,1:pad(3,5)}", "f32[3]", broadcast_dimensions=(1,))
    page = _checked(explanation.explain().html())
    assert page.links == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    # Source is folded in even where text leaves it out.
    assert page.tags.count("details") == 2
    assert page.tags.count("td") >= 15 + 3 + 15
    assert explanation.cuda_source() in page.words


def test_html_is_escaped() -> None:
    graph = Expression(1, (Parameter(0), Apply("neg", (0,)), Apply("neg", (1,))), (2,))
    hostile = "<script>alert('&')</script>"
    html = explain(hostile, graph, (Operand.of(gb.Shape("f32", (2,))),)).html()
    page = _checked(html)
    assert "script" not in page.tags
    assert f"{hostile}: (f32[2]{{0}}) -> f32[2]{{0}}" in "".join(page.words)
    assert hostile not in html
    # CUDA's template brackets are text as well.
    assert "gb::Read&lt;" in html


def test_notebooks_get_text_and_html(bias: gb.Plan) -> None:
    explanation = bias.explain()
    bundle = explanation._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == str(explanation)
    # All of it, but for the sources where there is no room for them, and with smaller pictures.
    page = explanation.html()
    tables = re.findall("<table.*?</table>", bundle["text/html"], re.DOTALL)
    assert tables == re.findall("<table.*?</table>", page, re.DOTALL) and len(tables) > 5
    assert bundle["text/html"].count("<svg") == page.count("<svg") == 6
    assert _checked(bundle["text/html"]).tags[0] == "div"


# --- terminal ----------------------------------------------------------------------------------


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_print_is_plain_in_a_pipe_and_coloured_in_a_terminal(
    bias: gb.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    explanation: Explanation = bias.explain(source=True)
    pipe, terminal = io.StringIO(), _Terminal()
    explanation.print(pipe)
    explanation.print(terminal)
    assert pipe.getvalue() == f"{explanation}\n"
    coloured = terminal.getvalue()
    assert "\x1b[" in coloured and "┃ output dimension" in coloured
    # Square brackets are not markup.
    assert "f32[512,256]{1,0}" in coloured
