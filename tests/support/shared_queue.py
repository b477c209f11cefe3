"""A pytest plugin: processes that share one list of tests, each taking the next that nobody has.

    python -m pytest -p tests.support.shared_queue --queue FOLDER --queue-part hardware tests/gpu

What a test did is a line of ``FOLDER/tests.jsonl``, written when it is known, so that whatever ends
a process leaves the results of all tests that had ended. A line that says ``begun`` names a test in
which a process is, or was when it ended. Needs nothing but pytest.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

RESULTS = "tests.jsonl"
PARTS = ("hardware", "others")
# Of a traceback, what a line keeps.
_LONGEST = 6_000
_PR_SET_PDEATHSIG = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("queue")
    group.addoption("--queue", type=Path, metavar="FOLDER", help="share the tests with others")
    group.addoption("--queue-part", choices=PARTS, help="what can run on a GPU alone, or the rest")
    group.addoption("--queue-until", type=float, metavar="TIME", help="take none after this time")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.queue is not None:
        config.pluginmanager.register(SharedQueue(config), "shared-queue")


def end_with_the_parent() -> None:
    """Have Linux end this process when the one that started it ends, however that is."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def on_hardware_only(item: pytest.Item) -> bool:
    """Whether a test has no body that the CPU, and so the emulator, runs too."""
    return "device" not in getattr(item, "fixturenames", ())


class SharedQueue:
    """The tests of one part, in the same order in every process."""

    def __init__(self, config: pytest.Config) -> None:
        end_with_the_parent()
        option = config.option
        self.folder: Path = option.queue
        self.part: str | None = option.queue_part
        self.until: float | None = option.queue_until

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """What takes all of the device's memory waits for itself, so it comes last in its part."""
        chosen = [
            item
            for item in items
            if self.part is None or (self.part == "hardware") == on_hardware_only(item)
        ]
        items[:] = sorted(chosen, key=lambda item: "room" in getattr(item, "fixturenames", ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly:
            return None
        while self.until is None or time.time() < self.until:
            number = self._next()
            if number >= len(session.items):
                break
            item = session.items[number]
            self._write({"test": item.nodeid, "outcome": "begun", "process": os.getpid()})
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            except pytest.exit.Exception as ended:
                self._write({"test": item.nodeid, "outcome": "error", "why": ended.msg})
                raise
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write({"test": report.nodeid, "outcome": "error", "why": _cut(report)})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            outcome = "error" if report.failed and report.when != "call" else report.outcome
            line: dict[str, Any] = {"test": report.nodeid, "outcome": outcome}
            if not report.passed:
                line["why"] = _cut(report)
            self._write(line | {"seconds": round(report.duration, 3)})

    def _next(self) -> int:
        """The number of a test that is this process's alone."""
        with (self.folder / f"{self.part or 'tests'}.next").open("a+") as counter:
            fcntl.flock(counter, fcntl.LOCK_EX)
            counter.seek(0)
            number = int(counter.read() or 0)
            counter.truncate(0)
            counter.write(str(number + 1))
        return number

    def _write(self, line: dict[str, Any]) -> None:
        """One call appends it, whoever else writes."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.folder / RESULTS, flags, 0o644)
        try:
            os.write(descriptor, (json.dumps(line) + "\n").encode())
        finally:
            os.close(descriptor)


def _cut(report: Any) -> str:
    """Why a test failed or was skipped; the end tells more."""
    why = report.longrepr
    text = why[2] if isinstance(why, tuple) else report.longreprtext
    return text[-_LONGEST:]
