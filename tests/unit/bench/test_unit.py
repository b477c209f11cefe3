"""One unit of a run: planted faults, what is skipped, samples that are added, memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import libraries, timing
from bench.cases import check, operands
from bench.libraries.base import Library, Ready, Views
from bench.libraries.numpy import NumPy
from bench.measure import ceilings, run
from bench.measure import unit as units
from bench.measure.ceilings import Cache
from bench.measure.settings import Unit
from bench.measure.unit import Measurement
from bench.schema import Ceiling, Report, Result
from tests.support.bench_runs import FAST, check_schema, measured, settings


class Wrong(NumPy):
    """NumPy, but for one bit."""

    name = "wrong"

    def ready(self, sized: Any) -> Ready:
        inner = super().ready(sized)

        def spoilt(call: timing.Call) -> Any:
            result = call().copy()
            result[2, 3] = np.nextafter(result[2, 3], np.float32(0))
            return result

        def calls(views: Views, out: Any) -> dict[str, timing.Call]:
            made = inner(views, out)
            return made | {"call": lambda: spoilt(made["call"])}

        return calls


class Failing(NumPy):
    """Fails with ``out``."""

    name = "failing"

    def ready(self, sized: Any) -> Ready:
        inner = super().ready(sized)

        def fail() -> None:
            raise ValueError("no such thing")

        return lambda views, out: inner(views, out) | {"out": fail}


class Hopeless(NumPy):
    """Fails before the first call."""

    name = "hopeless"

    def ready(self, sized: Any) -> Ready:
        raise MemoryError("far too much")


def planted(monkeypatch: pytest.MonkeyPatch, *library: Library) -> Report:
    monkeypatch.setattr(libraries, "PEERS", (NumPy(), *library))
    words = [*FAST[:-2], "--cases", "same shape", "--peers"]
    return measured(*words, ",".join(["NumPy", *(one.name for one in library)]))


def test_no_cache_holds_a_part_of_what_calls_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, wanted, last = timing.Machine(), settings("--peers", "none"), 32 << 20
    monkeypatch.setattr(machine, "free", lambda: 16 << 30)
    measurement = Measurement(machine, wanted, 2)
    measurement._caches = (Cache("L3", last),)
    seen = 0
    for unit in wanted.units:
        sized = measurement.sized(unit)
        sets, level = measurement.rotation(unit, sized)
        if unit.large:
            seen += 1
            assert level == "DRAM" and sets * sized.num_bytes >= 4 * last
    assert seen > 5


def test_a_large_case_is_a_share_of_what_took_turns_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the memory could do at another time does not matter."""
    anything = Ceiling(name="copy", threads=1, level="DRAM", bytes=1, median=1.0, samples=[1.0])
    monkeypatch.setattr(ceilings, "measure", lambda *_: [anything])
    monkeypatch.setattr(units.Measurement, "rotation", lambda *_: (2, "DRAM"))
    words = ("--cases", "same shape", "--sizes", "memory", "--samples", "6", "--seconds", "600")
    wanted = settings(*words, "--peers", "none")
    small = dataclasses.replace(wanted, memory_bytes=3 << 20)
    made = run.Run(timing.Machine(), small, "bench", len)
    made.prepare()
    made.measure()
    found = made.report
    (unit,) = found.in_turns
    ceiling = found.in_turns[unit]
    assert (unit, ceiling.name, len(ceiling.samples)) == ("same shape f32 memory", "triad", 3)
    rows = [row for row in found.results if row.entry in ("call", "out", "bound")]
    assert len(rows) == 3
    for row in rows:
        assert row.fraction
        turns = zip(row.samples, ceiling.samples, strict=True)
        shares = [row.bytes / ours * taken / ceiling.bytes for ours, taken in turns]
        assert row.fraction == pytest.approx(sorted(shares)[1])
        assert (row.ceiling or "").startswith("triad DRAM") and row.ceiling.endswith(", in turns")


def test_copies_go_over_what_calls_do_in_one_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    """One part of the memory may be slower than another, or be in a cache."""
    seen: list[timing.Contender] = []
    made: list[tuple[tuple[Any, ...], Any]] = []
    buffers = units.Measurement._buffers

    def noted(self: Any, *given: Any) -> Any:
        found = buffers(self, *given)
        made.extend(zip(*found, strict=True))
        return found

    def failing(_: Any, contenders: Any, **said: Any) -> dict[int, str]:
        seen.extend(contenders)
        return dict.fromkeys(range(len(contenders)), "not sampled")

    monkeypatch.setattr(units, "take_turns", failing)
    monkeypatch.setattr(units.Measurement, "_buffers", noted)
    monkeypatch.setattr(units.Measurement, "rotation", lambda *_: (3, "DRAM"))
    wanted = settings("--cases", "scalar", "--sizes", "memory", "--peers", "numpy")
    small = dataclasses.replace(wanted, memory_bytes=3 << 20)
    measurement = Measurement(timing.Machine(), small, 1)
    measurement.libraries = list(small.libraries)
    (unit,) = small.units
    assert {row.error for row in measurement.unit(unit) if row.entry != "first"} == {"not sampled"}
    passes = [one.timed for one in seen if one.timed is not None]
    assert {one.library for one in seen} == {"gpubcast", "NumPy", "memory"} and len(made) == 3
    (rotation,) = {id(one.rotation) for one in seen if one.timed is None}
    assert {id(one._rotation) for one in passes} == {rotation}  # type: ignore[attr-defined]
    for one in passes:
        places = one._places  # type: ignore[attr-defined]
        assert [place.target for place in places] == [out.ctypes.data for _, out in made]
        assert [place.source for place in places] == [x[0].ctypes.data for x, _ in made]


def test_a_ceiling_is_the_best_form_by_all_of_its_samples() -> None:
    wanted = settings("--cases", "same shape", "--sizes", "memory", "--peers", "none")
    measurement = Measurement(timing.Machine(), wanted, 1)
    (unit,) = wanted.units
    for samples, best in ((([2.0, 3.0], [4.0]), [2.0, 3.0]), (([9.0, 9.0], [1.0, 1.0]), [4, 1, 1])):
        streams = [
            (Ceiling(name="triad", threads=1, level="DRAM", bytes=1), timing.Contender("", "", ()))
            for _ in samples
        ]
        for (_, passes), taken in zip(streams, samples, strict=True):
            passes.samples = taken
        measurement._record(unit, streams)
        assert measurement.in_turns[str(unit)].samples == best


def test_the_seed_decides_the_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    right = check.expected

    def expected(sized: Any, xp: Any, views: tuple[Any, ...]) -> Any:
        seen.append(views[0].copy())
        return right(sized, xp, views)

    monkeypatch.setattr(check, "expected", expected)
    for seed in ("1", "1", "2"):
        assert measured("--cases", "column", *FAST, "--seed", seed).seed == int(seed)
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


def test_a_wrong_peer_is_not_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = planted(monkeypatch, Wrong())
    check_schema(found, tmp_path)
    by = {(r.library, r.entry): r for r in found.results}
    assert by["wrong", "call"].status == "WRONG"
    error = by["wrong", "call"].error or ""
    assert error.startswith("1 of 64 elements differ from NumPy; at (2, 3)")
    assert by["wrong", "out"].status == by["NumPy", "call"].status == "ok"
    assert not found.passed


def test_failures_are_shown_and_cost_themselves_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = planted(monkeypatch, Failing(), Hopeless())
    check_schema(found, tmp_path)
    by = {(r.library, r.entry): (r.status, r.error) for r in found.results}
    assert by["failing", "call"] == ("ok", None)
    assert by["failing", "out"] == ("failed", "ValueError: no such thing")
    assert by["hopeless", "call"] == by["hopeless", "out"]
    assert by["hopeless", "out"] == ("failed", "MemoryError: far too much")
    assert by["gpubcast", "bound"] == ("ok", None)
    assert found.passed


def test_what_does_not_fit_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timing.Machine, "free", lambda self: 8 << 20)
    found = measured("--sizes", "huge", "--peers", "NumPy", "--samples", "2")
    check_schema(found, tmp_path)
    assert {(r.status, r.error) for r in found.results} == {("skipped", "8 MiB of memory are free")}


def test_the_large_memory_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """New pages take longer to touch than a case to compute."""
    made: list[int] = []

    class Counted(operands.Arena):
        def __init__(self, num_bytes: int) -> None:
            made.append(num_bytes)
            super().__init__(num_bytes)

    monkeypatch.setattr(units, "Arena", Counted)
    monkeypatch.setattr(units, "_MOST_ROTATED", 1 << 24)
    wanted = settings("--cases", "same*,scalar,(N*", "--sizes", "memory", "--samples", "1",
                      "--peers", "none")  # fmt: skip
    one = run.Run(timing.Machine(), dataclasses.replace(wanted, memory_bytes=1 << 23), "bench", len)
    one.prepare()
    one.measure()
    assert len({(r.case, r.status) for r in one.report.results}) == 3
    assert len(made) == 1


def test_memory_is_measured_where_it_tells_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "_MOST_ROTATED", 1 << 20)
    report = measured(
        "--cases", "outer*", "--sizes", "memory", "--samples", "2", "--peers", "NumPy"
    )
    found = {(r.library, r.entry): r for r in report.results}
    size = 4 * found["NumPy", "call"].elements
    assert 32 << 20 < size <= 64 << 20
    assert size * 0.9 <= (found["NumPy", "call"].peak_host or 0) <= size * 1.3
    for name in (("NumPy", "out"), ("gpubcast", "bound")):
        peak = found[name].peak_host
        assert peak is not None and peak < size / 4
    assert found["gpubcast", "bound"].peak_device is None


def test_a_later_failure_keeps_the_samples_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is WRONG later has no time any more, and what is well has more samples."""
    statuses = {"call": "failed", "out": "WRONG", "bound": "ok"}

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[Result]:
        found = [self._blank(unit, self.sized(unit), "L1", *row)
                 for row in self.rows(unit, self.sized(unit))]  # fmt: skip
        for one in found:
            one.status, one.error = statuses[one.entry], "out of memory"
            one.samples = [1e-6, 2e-6]
        return found

    said: list[str] = []
    made = run.Run(
        timing.Machine(), settings(*FAST, "--cases", "column"), "bench", len, said.append
    )
    made.prepare()
    made.measure()
    monkeypatch.setattr(Measurement, "unit", unit)
    before = {(r.library, r.entry): (r.samples, r.median) for r in made.report.results}
    said.clear()
    (only,) = made._settings.units
    made._again(only, 1.0, "seems slower")
    found = {(r.library, r.entry): r for r in made.report.results}
    kept = found["gpubcast", "call"]
    assert (kept.status, kept.error) == ("ok", None)
    assert (kept.samples, kept.median) == before["gpubcast", "call"]
    wrong = found["gpubcast", "out"]
    assert (wrong.status, wrong.error, wrong.median) == ("WRONG", "out of memory", None)
    assert len(found["gpubcast", "bound"].samples) == 4
    assert said[0] == "again: column f32 small (seems slower)"
    assert "again: column f32 small gpubcast call: failed out of memory" in said
    assert not any("bound" in text for text in said)
