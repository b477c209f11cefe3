"""Comparing two reports: verdicts, thresholds, what cannot be compared, and how often it errs."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import compare
from bench.compare import noise as noises
from bench.schema import Ceiling, Report, Result

OURS = ("first", "call", "out", "bound")
SIZES = (("cache", "L2", 1 << 20), ("memory", "DRAM", 1 << 26))
LIBRARIES = (("gpubcast", OURS), ("NumPy", ("call", "out")), ("numexpr", ("call", "out")))

Plant = Callable[[Result], float]


def run(
    seed: int,
    *,
    plant: Plant | None = None,
    cases: int = 12,
    samples: int = 25,
    drift: float = 0.03,
    spells: float = 0.1,
    placement: float = 0.02,
    tail: float = 0.15,
) -> Report:
    """A report as a busy machine gives it; other seeds are other runs of the same code.

    Args:
        seed: of all noise.
        plant: the factor by which a result is slower than it was.
        cases: how many.
        samples: per time.
        drift: of the whole run: clocks.
        spells: how often a case and size meets a slow spell, shared by all its libraries.
        placement: of each result in each run: addresses.
        tail: how often a sample is disturbed, by half its time in the mean.
    """
    noise = np.random.default_rng(seed)
    whole = math.exp(noise.normal(0, drift))
    results = []
    for case in range(cases):
        for size, level, moved in SIZES:
            spell = 1 + noise.exponential(0.25) if noise.random() < spells else 1.0
            walk = np.cumsum(noise.normal(0, 0.01, samples))
            for k, (library, entries) in enumerate(LIBRARIES):
                for entry in entries:
                    one = Result(
                        case=f"case {case}", expression="", dtype="f32", size=size, level=level,
                        operands=["f32[9]"], outputs=["f32[9]"], elements=9, bytes=moved,
                        schedule=None, timer="clock", library=library, entry=entry, status="ok",
                    )  # fmt: skip
                    count = 1 if entry == "first" else samples
                    times = moved / 1e10 * (1 + 0.1 * case + 0.5 * k) * whole * spell
                    times *= math.exp(noise.normal(0, placement)) * (plant(one) if plant else 1.0)
                    times *= np.exp(walk[:count] + noise.normal(0, 0.03, count))
                    disturbed = noise.random(count) < tail
                    times *= np.where(disturbed, 1 + noise.exponential(0.5, count), 1.0)
                    one.record(times.tolist())
                    results.append(one)
    ceilings = []
    for level in ("L2", "DRAM"):
        for threads in (1, 2):
            times = 1e-3 * whole * np.exp(noise.normal(0, 0.03, 9) + noise.normal(0, placement))
            ceilings.append(Ceiling(name="copy", threads=threads, level=level, bytes=1 << 20))
            ceilings[-1].record(times.tolist())
    environment = {
        "processor": "Quick 9000", "cores": 2, "threads": 2, "governor": None, "python": "3.12.1",
        "packages": {"numpy": "2.4.6", "numexpr": "2.14", "torch": None}, "gpu": None,
    }  # fmt: skip
    return Report(
        command="", seed=0, device="cpu", environment=environment, ceilings=ceilings,
        results=results,
    )  # fmt: skip


def ours(one: Result) -> float:
    """A slowdown of everything of ours."""
    return 1.2 if one.library == "gpubcast" else 1.0


def one_case(one: Result) -> float:
    """A slowdown of one kernel, by whatever entry."""
    return 1.2 if one.library == "gpubcast" and one.case == "case 3" else 1.0


def by_name(found: compare.Comparison) -> dict[str, compare.Change]:
    return {change.name: change for change in found.changes}


# --- how often it errs ------------------------------------------------------------------------


@pytest.mark.long
def test_twenty_runs_of_the_same_code_raise_no_alarm() -> None:
    found = [compare.compare(run(k), run(1000 + k), 0.05) for k in range(20)]
    assert [k for k, one in enumerate(found) if one.failed] == []
    moved = [change.verdict for one in found for change in one.changes]
    assert moved.count(compare.FASTER) + moved.count(compare.SLOWER) <= 2
    assert len(found[0].changes) == 12 * 2 * 4 + 12 + 3


@pytest.mark.long
@pytest.mark.parametrize(
    "noise",
    [
        {"spells": 0.3, "drift": 0.1, "placement": 0.04, "tail": 0.3},
        {"spells": 0.0, "drift": 0.0, "placement": 0.005, "tail": 0.0},
        {"samples": 5},
        {"cases": 1, "samples": 9},
    ],
    ids=["very busy", "quiet", "few samples", "one case"],
)
def test_nor_do_they_on_other_machines(noise: dict[str, Any]) -> None:
    for k in range(20):
        assert not compare.compare(run(k, **noise), run(1000 + k, **noise), 0.05).failed


def test_a_slowdown_of_a_fifth_is_found_every_time() -> None:
    for k in range(20):
        found = compare.compare(run(k, plant=ours), run(1000 + k), 0.05)
        assert found.failed
        assert by_name(found)["median of 24: bound"].verdict == compare.SLOWER


def test_a_slowdown_of_one_kernel_is_found_on_a_quiet_machine() -> None:
    quiet = {"spells": 0.0, "drift": 0.01, "placement": 0.005, "tail": 0.05}
    for k in range(20):
        found = compare.compare(run(k, plant=one_case, **quiet), run(1000 + k, **quiet), 0.05)
        failed = {change.name for change in found.changes if change.failed}
        assert failed
        assert all("case 3" in name for name in failed)


def test_a_slow_spell_of_the_machine_is_no_slowdown_of_ours() -> None:
    """All libraries of half the cases take twice as long."""

    def spell(one: Result) -> float:
        return 2.0 if int(one.case.split()[1]) % 2 else 1.0

    found = compare.compare(run(1, plant=spell), run(2), 0.05)
    assert not found.failed
    assert by_name(found)["case 1 f32 cache out"].ratio == pytest.approx(2.0, rel=0.25)


def test_what_other_programs_take_of_all_threads_is_no_slowdown_of_ours() -> None:
    """NumPy, on one thread, does not feel the program that takes half of ours."""
    found, base = run(1, plant=lambda one: 1.5 if one.library == "gpubcast" else 1.0), run(2)
    assert compare.compare(found, base, 0.05).failed
    for ceiling in found.ceilings:
        if ceiling.threads == 2:
            ceiling.samples = [1.5 * sample for sample in ceiling.samples]
    assert not compare.compare(found, base, 0.05).failed


def test_the_ceilings_of_a_level_speak_for_it_alone() -> None:
    """The large memory is busy: what lies in the cache is judged as before."""
    found, base = run(1, plant=ours), run(2)
    for ceiling in found.ceilings:
        if ceiling.level == "DRAM":
            ceiling.samples = [2.0 * sample for sample in ceiling.samples]
    changes = compare.compare(found, base, 0.05).changes
    failed = [change.where[2] for change in changes if change.failed and change.where]
    assert set(failed) == {"cache"}


def test_suspects_are_what_grew_most() -> None:
    def plant(one: Result) -> float:
        return 1.0 + int(one.case.split()[1]) / 5 * (one.library == "gpubcast")

    quiet = {"spells": 0.0, "drift": 0.0, "placement": 0.002, "tail": 0.0}
    found = compare.suspects(run(1, plant=plant, **quiet), run(2, **quiet), 0.05)
    assert len(found) == compare.MOST_SUSPECTS
    assert {case for case, _, _ in found} == {f"case {k}" for k in range(6, 12)}
    assert found[0][0] == "case 11"
    assert compare.suspects(run(1, **quiet), run(1, **quiet), 0.05) == []


def test_a_drift_of_the_whole_machine_is_no_change() -> None:
    quiet = {"spells": 0.0, "drift": 0.0, "placement": 0.005, "tail": 0.0}
    found = compare.compare(run(1, plant=lambda one: 1.3, **quiet), run(2, **quiet), 0.05)
    # The ceilings, which are no results, did not drift: most controls say that the machine did.
    assert not found.failed
    assert {change.verdict for change in found.changes if not change.reason} == {compare.NOISE}


def test_new_memory_alone_is_no_slowdown() -> None:
    def pages(one: Result) -> float:
        return 8.0 if (one.library, one.case, one.entry) == (
            "gpubcast", "case 2", "call") else 1.0  # fmt: skip

    found = compare.compare(run(1, plant=pages), run(2), 0.05)
    assert not found.failed
    assert by_name(found)["case 2 f32 cache call"].ratio == pytest.approx(8.0, rel=0.3)

    def every_call(one: Result) -> float:
        return 2.0 if (one.library, one.entry) == ("gpubcast", "call") else 1.0

    slower = compare.compare(run(1, plant=every_call), run(2), 0.05)
    assert [change.name for change in slower.changes if change.failed] == ["median of 24: call"]


def test_faster_is_said_and_never_fails() -> None:
    faster = compare.compare(run(1), run(2, plant=lambda one: ours(one) ** 3), 0.0)
    assert not faster.failed
    change = by_name(faster)["median of 24: bound"]
    assert change.verdict == compare.FASTER
    assert change.high is not None
    assert change.high < 1
    assert "faster" in faster.summary


def test_the_threshold_is_what_the_whole_interval_has_to_be_beyond() -> None:
    slow, base = run(1, plant=lambda one: ours(one) ** 2), run(2)
    change = by_name(compare.compare(slow, base, None))["median of 24: bound"]
    assert change.low is not None
    assert 1.05 < change.low < 1.44
    for fail_over, failed in ((change.low - 1.001, True), (change.low - 0.999, False)):
        found = compare.compare(slow, base, fail_over)
        assert by_name(found)["median of 24: bound"].failed is failed
    unjudged = compare.compare(slow, base, None)
    assert not unjudged.failed
    assert "surely" not in unjudged.summary


def test_equal_files_say_the_same_every_time() -> None:
    assert compare.compare(run(1), run(2), 0.05) == compare.compare(run(1), run(2), 0.05)
    same = compare.compare(run(1), run(1), 0.05)
    assert {change.ratio for change in same.changes if not change.reason} == {1.0}


# --- what cannot be compared ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"processor": "Slow 1"}, "environment differs: processor Slow 1, now Quick 9000"),
        ({"threads": 1}, "environment differs: threads 1, now 2"),
        ({"cores": 4, "threads": 4}, "environment differs: cores 4, now 2; threads 4, now 2"),
    ],
)
def test_another_machine(change: dict[str, Any], reason: str) -> None:
    base = run(2)
    base.environment |= change
    found = compare.compare(run(1, plant=ours), base, 0.05)
    assert {change.text for change in found.changes} == {f"not comparable ({reason})"}
    assert not found.failed
    assert len(found.changes) == 12 * 2 * 4
    assert found.summary == "96 not comparable; none surely slower by more than 5%"


def test_another_gpu() -> None:
    def on(name: str, driver: str) -> Report:
        report = run(1)
        smi = {"driver_version": driver, "temperature.gpu": driver}
        gpu = {"name": name, "nvidia_smi": smi}
        report.device, report.environment["gpu"] = "cuda", gpu
        return report

    differences = compare.machine_differences(on("B", "2"), on("A", "1"))
    assert differences == ("GPU name A, now B", "driver_version 1, now 2")
    assert compare.machine_differences(on("A", "1"), run(1)) == ("device cpu, now cuda",)
    # What one report does not tell is no difference.
    assert compare.machine_differences(on("A", "1"), on("A", "1")) == ()
    report = run(1)
    del report.environment["processor"]
    assert compare.machine_differences(report, run(1)) == ()


def test_single_results_that_cannot_be_compared() -> None:
    now, base = run(1, cases=3), run(2, cases=3)
    entries = [one for one in now.results if one.library == "gpubcast"]
    entries[1].operands = ["f32[10]"]
    entries[2].timer = "another"
    entries[3].fail("WRONG", "of one bit")
    entries[5].samples = entries[5].samples[:2]
    base.results = [
        one for one in base.results
        if (one.case, one.size, one.entry) != ("case 0", "memory", "out")
    ]  # fmt: skip
    base.results.append(dataclasses.replace(entries[7], case="gone"))
    found = compare.compare(now, base, 0.05)
    assert [change.text for change in found.changes[:8]] == [
        "not comparable (1 sample)",
        "not comparable (operands differ)",
        "not comparable (the timer differs)",
        "not comparable (WRONG now)",
        "not comparable (1 sample)",
        "not comparable (2 samples)",
        "not comparable (not in the base)",
        "within noise",
    ]
    assert found.changes[3].new is None
    assert found.changes[6].old is None
    assert found.changes[0].interval == "-"
    assert found.notes[0] == "only in the base: 1 results, gone f32 memory bound"


def test_other_versions_are_told_and_are_no_controls() -> None:
    base = run(2)
    everything = compare.compare(run(1), base, 0.05).notes
    assert everything[-1].startswith("100 controls, which ran the same code in both: ")
    base.environment["packages"] |= {"numexpr": "2.13", "torch": "2.9"}
    found = compare.compare(run(1), base, 0.05).notes
    assert found[0] == "numexpr was 2.13 in the base and is 2.14"
    assert found[-1].startswith("52 controls")  # NumPy and the ceilings
    base.environment["packages"] |= {"numpy": "2.1.0"}
    found = compare.compare(run(1), base, 0.05).notes
    assert found[-1].startswith("no controls; scatter between runs, as assumed: 2.0%")


def test_empty_reports() -> None:
    nothing = run(1, cases=0)
    assert compare.compare(nothing, run(2), 0.05).changes == ()
    assert compare.compare(nothing, nothing, 0.05).summary.startswith("nothing to compare")
    found = compare.compare(run(1, cases=1), nothing, 0.05)
    assert {change.reason for change in found.changes} == {"not in the base"}


# --- thresholds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 41197.28, "too noisy"), (0.06, 17.32, "too noisy"), (0.49, 2.0, "too noisy"),
        (0.5, 2.0, "0.50-2.00"), (0.98, 1.04, "0.98-1.04"), (1.01, 9.0, "1.01-9.00"),
        (0.01, 0.9, "0.01-0.90"), (None, None, "-"),
    ],
)  # fmt: skip
def test_an_interval_that_says_nothing_is_no_figure(
    low: float | None, high: float | None, text: str
) -> None:
    assert compare.Change("x", low=low, high=high).interval == text


@pytest.mark.parametrize(
    ("text", "share"),
    [("5%", 0.05), ("0.05", 0.05), ("5", 0.05), (" 7.5 % ", 0.075), ("0", 0.0), ("0.5%", 0.005),
     ("1", 0.01), ("20", 0.2), ("1e-1", 0.1), ("150%", 1.5)],
)  # fmt: skip
def test_threshold(text: str, share: float) -> None:
    assert compare.threshold(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "-1", "-5%", "lots", "nan", "inf", "5%%"])
def test_what_is_no_threshold(text: str) -> None:
    with pytest.raises(gb.Error, match=r"expected a share such as 5% or 0\.05"):
        compare.threshold(text)


# --- standard errors --------------------------------------------------------------------------


def test_a_time_is_the_lower_quartile() -> None:
    """Three quarters of the samples may be disturbed, however much."""
    samples = [1.0, 9.0, 7.0, 1.01, 1.02, 50.0, 8.0, 9.0]
    assert noises.log_time(samples) == pytest.approx(math.log(1.02))
    assert noises.log_time([2.0]) == pytest.approx(math.log(2.0))


def test_standard_errors_are_as_large_as_they_are() -> None:
    """Against the true error of a lower quartile: 1.857 of the variance of a mean."""
    noise = np.random.default_rng(0)
    found = noises.deviations(np.exp(noise.normal(0, 0.1, (60, 49))).tolist(), 0)
    assert np.mean([noises.rms(draws) for draws in found]) == pytest.approx(
        0.1 * math.sqrt(1.857 / 49), rel=0.2
    )


def test_spells_within_a_run_widen_the_error() -> None:
    calm = np.exp(np.random.default_rng(0).normal(0, 0.1, 100)).tolist()
    shuffled, in_order = map(noises.rms, noises.deviations([calm, sorted(calm)], 0))
    assert in_order > 1.8 * shuffled


def test_scatter_of_few_controls_is_mostly_assumed() -> None:
    def scatter(*ratios: float) -> float:
        draws = np.zeros(noises.ROUNDS)
        pairs = [noises.Pair(None, "L2", False, ratio, draws) for ratio in ratios]
        return noises.Noise([], pairs, []).scatter[False]

    assert scatter() == noises.PRIOR
    assert scatter(*(-0.5, 0.5) * 20) > 0.4
    assert scatter(*[0.1] * 45) == pytest.approx(0.02 * math.sqrt(5 / 50))
    # One value of many does not decide it, and tails that are heavier than normal widen it.
    normal = np.random.default_rng(0).normal(0, 0.2, 4000).tolist()
    assert scatter(*normal, *[1e6] * 10) == pytest.approx(0.2, rel=0.1)
    assert scatter(*[0.0] * 9, 1.0) > 0.1


def test_without_scipy_what_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(gb.Error, match=r"--compare needs scipy: pip install scipy"):
        compare.compare(run(1, cases=1), run(2, cases=1))
