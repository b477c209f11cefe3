"""Signs of life while a run goes on."""

from __future__ import annotations

import dataclasses
import io
from contextlib import redirect_stderr

import pytest

from bench.report import live
from tests.support.bench_reports import (
    hostile,
    options,
    small,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 100 by 12."""
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "LINES": "12"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()


def test_live_without_a_terminal_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    results = small().results
    with live.Live(options()) as shown:
        shown.begin(len(results))
        for one in results:
            shown.update(one)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(results)
    assert lines[1] == "[2/11] row bias f32 cache NumPy out: 1.00 us, 51% of copy L2, 2 threads"
    assert lines[8] == "[9/11] row bias f32 cache wrong call: WRONG 12 of 512 elements differ"
    assert lines[9] == "[10/11] tiny f32 small gpubcast call: 3.00 us"


def test_live_says_what_happens_beside_results(
    capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    with live.Live(options()) as shown:
        shown.say("again: a\x1b")
    assert capsys.readouterr().err == "again: a\N{REPLACEMENT CHARACTER}\n"
    with redirect_stderr(terminal), live.Live(options()) as shown:
        shown.begin(11)
        shown.say("ceilings")
        assert "ceilings" in terminal.getvalue()
        shown.update(small().results[0])
        shown.say("again: row bias")
        frame = terminal.getvalue()
    assert "again: row bias" in frame
    assert "1/11" in frame[frame.rindex("again: row bias") :]


def test_live_without_a_total(capsys: pytest.CaptureFixture[str]) -> None:
    with live.Live(options()) as shown:
        shown.update(hostile().results[0])
    line = capsys.readouterr().err
    assert line.startswith("[1] <script>")
    assert "\x1b" not in line


def test_live_in_a_terminal_keeps_within_it_and_leaves_nothing(terminal: Terminal) -> None:
    many = [dataclasses.replace(one, case=f"case {k}") for k in range(9) for one in small().results]
    with redirect_stderr(terminal), live.Live(options()) as shown:
        shown.begin(len(many))
        for one in many:
            shown.update(one)
    text = terminal.getvalue()
    assert f"{len(many)}/{len(many)}" in text
    frame = text[text.rindex("library ") :]
    assert "case 8" in frame
    assert "case 7" not in frame
    assert "GB/s" in frame
    assert frame.count("\n") < 12
    assert "\x1b[2K" in text[-200:]  # the lines are gone
    assert "\x1b[?25h" in text[-300:]  # the cursor is back


def test_live_ends_with_an_interrupt(terminal: Terminal) -> None:
    interrupted = pytest.raises(KeyboardInterrupt)
    with interrupted, redirect_stderr(terminal), live.Live(options()) as shown:
        shown.update(small().results[0])
        raise KeyboardInterrupt
    assert "\x1b[?25h" in terminal.getvalue()[-300:]


def test_nothing_is_coloured_on_demand(terminal: Terminal) -> None:
    live.console(options(), terminal).print("x", style="red")
    live.console(options(no_color=False), terminal).print("y", style="red")
    text = terminal.getvalue()
    assert "\x1b[31m" not in text.partition("x")[0]
    assert "\x1b[31my" in text
