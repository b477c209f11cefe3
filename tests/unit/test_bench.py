"""The table of cases, formulas, checks, peers and clocks, and a dry run of the GPU report."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import cases, checks, environment, gpu_report, peers, timing
from bench.formulas import Formula
from bench.measurement import Measurement
from bench.settings import Unit

NAMES = [case.name for case in cases.CASES]
TYPED = [(case, dtype) for case in cases.CASES for dtype in case.dtypes]
TYPED_NAMES = [f"{case.name} {dtype}" for case, dtype in TYPED]
BY_NAME = {case.name: case for case in cases.CASES}


# --- the table ---------------------------------------------------------------------------------


def test_the_cases_are_those_of_the_design() -> None:
    assert NAMES == [
        "same shape", "scalar", "row bias", "column", "outer product", "middle axis",
        "channel scale NCHW", "(N,3)+(3)", "transposed operand", "3-D permutation",
        "rank-6 alternating", "padded rows", "broadcast copy", "masked select", "bf16 bias",
        "layernorm apply", "gelu", "bias gelu", "masked scores", "more than 2**31 elements",
    ]  # fmt: skip


@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=TYPED_NAMES)
def test_sizes(case: cases.Case, dtype: str) -> None:
    """Small is about 64 elements; within a budget means at most it, and no less than half."""
    small = case.at(cases.SMALL_ELEMENTS, dtype).output
    assert 48 <= small.num_elements <= 64
    assert small.element_type.name == dtype
    for kind in ("cpu", "cuda"):
        for budget in (cases.CACHE_BYTES[kind], cases.MEMORY_BYTES[kind]):
            assert budget / 2 <= case.within(budget, dtype).num_bytes <= 1.02 * budget


def test_huge_case_has_more_than_2_31_elements() -> None:
    huge = [case for case in cases.CASES if case.huge]
    assert [case.name for case in huge] == ["more than 2**31 elements"]
    output = huge[0].at(cases.HUGE_ELEMENTS).output
    assert 2**31 < output.num_elements < 2**31 + 2**22
    assert output.element_type.name == "u8"


def test_known_shapes() -> None:
    padded = BY_NAME["padded rows"].at(64)
    assert [str(shape) for shape in padded.shapes] == ["f32[4,13]{1,0:pad(4,16)}", "f32[13]{0}"]
    assert str(BY_NAME["transposed operand"].at(64, "s32").shapes[1]) == "s32[8,8]{0,1}"
    permuted = BY_NAME["3-D permutation"].at(96)
    assert str(permuted.shapes[0]) == "f32[6,4,4]{2,1,0}"
    assert permuted.output.dimensions == (4, 6, 4)
    images = BY_NAME["channel scale NCHW"].within(cases.MEMORY_BYTES["cuda"])
    assert images.shapes[0].dimensions[1:] == (128, 56, 56)
    assert BY_NAME["bf16 bias"].at(64).shapes[0].element_type.name == "bf16"


def test_a_call_in_one_line() -> None:
    assert BY_NAME["column"].at(64).expression == "gb.add(x, y, broadcast_dimensions=(0,))"
    assert BY_NAME["layernorm apply"].at(64).expression == (
        'gb.fuse("row col, row, row, col, col -> row col"): (x - mean) * rstd * gamma + beta'
    )


def test_bytes_count_each_distinct_element_once() -> None:
    assert BY_NAME["row bias"].at(64).floor == 4 * (64 + 8 + 64)
    assert BY_NAME["outer product"].at(64).floor == 4 * (8 + 8 + 64)
    assert BY_NAME["padded rows"].at(64).floor == 4 * (4 * 13 + 13 + 4 * 13)


def test_values_are_reproducible_and_normal() -> None:
    floats = cases.values(np, gb.Shape.parse("f32[1000]"))
    assert floats[:3].tolist() == [0.5, 1.4404375553131104, 0.8219115138053894]
    assert floats.min() >= 0.5
    assert floats.max() < 1.5
    assert len(set(floats.tolist())) == 1000
    doubles = cases.values(np, gb.Shape.parse("f64[1000]"))
    assert doubles.dtype == np.float64
    assert np.array_equal(doubles.astype(np.float32), floats)
    assert cases.values(np, gb.Shape.parse("u8[4]"), 1).tolist() == [240, 82, 94, 103]
    assert cases.values(np, gb.Shape.parse("s32[3]"), 1).tolist() == [3852, 1318, 1508]
    mask = cases.values(np, gb.Shape.parse("pred[100000]"))
    assert 0.49 < mask.mean() < 0.51 and 0.49 < (mask[1:] != mask[:-1]).mean() < 0.51
    half = cases.values(np, gb.Shape.parse("f16[1000]"))
    assert np.array_equal(half, floats.astype(np.float16))
    rounded = cases.values(np, gb.Shape.parse("bf16[2,1]")).astype(np.float32)
    assert rounded.tolist() == [[0.5], [1.4375]]
    with pytest.raises(NotImplementedError, match="no values for s8"):
        cases.values(np, gb.Shape.parse("s8[2]"))


# --- formulas ----------------------------------------------------------------------------------


def test_formula() -> None:
    formula = Formula.parse("x, b: u = x + b; 0.5 * u * root(u + 0.5)")
    assert formula.names == ("x", "b")
    assert not formula.moves and Formula.parse("x: x").moves
    assert formula.function({"root": np.sqrt})(3.0, 0.5) == 0.5 * 3.5 * 2.0
    assert formula.expression() == (
        "constant_0 * (x + b) * root(x + b + constant_0)", {"constant_0": 0.5}
    )  # fmt: skip
    seen: list[float] = []

    def constant(value: float) -> Any:
        seen.append(value)
        return np.float32(value)

    typed = formula.function({"root": np.sqrt}, constant)
    assert typed(np.float32(3), np.float32(0.5)).dtype == np.float32
    assert seen == [0.5, 0.5] or seen == [0.5]
    steps = formula.in_place("out += x; out *= b", {})
    out = np.ones(2)
    assert steps(2.0, 3.0, out) is out
    assert out.tolist() == [9.0, 9.0]


# --- checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [False, True])
def test_a_wrong_element_is_found(sample: bool) -> None:
    sized = BY_NAME["column"].at(cases.SMALL_ELEMENTS)
    views = tuple(x.view() for x in sized.operands(np))
    reference = checks.Reference(sized, np, views, sample=sample)
    right = checks.whole(sized, np, views)
    assert reference.problem(right) is None
    wrong = right.copy()
    wrong[3, 5] = np.nextafter(wrong[3, 5], np.float32(9))
    assert "differ from" in (reference.problem(wrong) or "")
    assert "at (3, 5)" in (reference.problem(wrong) or "")
    assert "float64[8, 8]" in (reference.problem(right.astype(np.float64)) or "")
    assert "instead of float32[8, 8]" in (reference.problem(right[:7]) or "")
    wrong[3, 5] = np.nan
    assert reference.problem(wrong) is not None


def test_units_in_the_last_place() -> None:
    sized = BY_NAME["gelu"].at(cases.SMALL_ELEMENTS)
    views = tuple(x.view() for x in sized.operands(np))
    reference = checks.Reference(sized, np, views)
    right = checks.whole(sized, np, views)
    eps = np.finfo(np.float32).eps
    assert reference.problem(right + 8 * eps) is None
    assert reference.problem(right + 40 * eps) is not None
    assert reference.problem(np.full_like(right, np.nan)) is not None


# --- peers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=TYPED_NAMES)
def test_every_entry_of_gpubcast_and_numpy(case: cases.Case, dtype: str) -> None:
    """Plans, aligned arrays and index loops share nothing but the formula."""
    sized = case.at(cases.SMALL_ELEMENTS, dtype)
    operands = sized.operands(np)
    assert tuple(x.xla_shape for x in operands) == sized.shapes
    views = tuple(x.view() for x in operands)
    reference = checks.Reference(sized, np, views)
    oracle = checks.Reference(sized, np, views, sample=True)
    assert oracle.problem(sized.function()(*operands).numpy()) is None
    for library in (peers.GPUBCAST, peers.NumPy()):
        out = gb.empty(sized.output).view()
        calls = library.ready(sized)(views, out)
        assert tuple(calls) == library.entries_of(sized)
        for entry, call in calls.items():
            cases.bits(out)[...] = 85
            result = call()
            assert reference.problem(result) is None, (library.name, entry)
            assert np.shares_memory(result, out) == (entry != "call")


def test_numpy_s_ufuncs_are_called_without_a_detour() -> None:
    sized = BY_NAME["row bias"].at(64)
    views = tuple(x.view() for x in sized.operands(np))
    calls: Any = peers.NumPy().ready(sized)(views, gb.empty(sized.output).view())
    assert (calls["call"].func, calls["out"].func) == (np.add, np.add)
    assert peers.NumPy().entries_of(BY_NAME["masked select"].at(64)) == ("call",)


def test_peers_by_device() -> None:
    on = {
        kind: {peer.name for peer in peers.PEERS if kind in peer.devices}
        for kind in ("cpu", "cuda")
    }
    both = {"PyTorch", "torch.compile", "jax.jit"}
    assert on["cpu"] == {"NumPy", "numexpr", "numba"} | both
    assert on["cuda"] == {"CuPy", "cupy.fuse"} | both
    assert [peer.name for peer in peers.PEERS if peer.effort == 2] == ["torch.compile"]


def test_peers_by_name() -> None:
    assert [peer.name for peer in peers.named(("pytorch", "NUMPY", "numpy"))] == [
        "PyTorch", "NumPy"
    ]  # fmt: skip
    assert peers.named(("none",)) == ()
    with pytest.raises(ValueError, match="no peer 'scipy'; there are NumPy, numexpr"):
        peers.named(("scipy",))


def test_absent_peers_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numexpr", None)
    assert peers.Numexpr().absent("cpu", 2) == "numexpr is not installed"
    assert peers.NumPy().absent("cpu", 2) is None

    class Broken(peers.NumPy):
        def set_up(self, kind: str, threads: int) -> None:
            raise RuntimeError("no driver\nat all")

    assert Broken().absent("cpu", 2) == "RuntimeError: no driver"


def test_peers_say_what_they_have_not() -> None:
    moved, bf16 = BY_NAME["broadcast copy"].at(64), BY_NAME["row bias"].at(64, "bf16")
    for peer in (peers.Numexpr(), peers.Numba()):
        assert peer.unsupported(moved) is not None
        assert "no bf16" in (peer.unsupported(bf16) or "")
        assert peer.unsupported(BY_NAME["gelu"].at(64)) is None


# --- clocks ------------------------------------------------------------------------------------


class FakeMachine(timing.CpuMachine):
    """A clock that only calls advance."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calls: list[Any] = []

    def mark(self) -> Any:
        return self.now

    def taking(self, name: Any, seconds: float) -> Callable[[], None]:
        def call() -> None:
            self.calls.append(name)
            self.now += seconds

        return call


def contender(machine: FakeMachine, name: str, seconds: float, sets: int = 1) -> timing.Contender:
    calls = [machine.taking((name, k), seconds) for k in range(sets)]
    return timing.Contender(name, "call", calls)


def test_what_a_call_does_once_does_not_shorten_samples() -> None:
    """The eighth call takes 20 ms, all others 5 us."""
    machine = FakeMachine()
    usual, once = machine.taking("a", 5e-6), machine.taking("a", 0.02)
    found = timing.Contender("a", "call", [lambda: (once if len(machine.calls) == 7 else usual)()])
    timing.settle(machine, found, 0.5e-3)
    assert found.repeats == 100


def test_contenders_take_turns_round_their_buffers() -> None:
    machine = FakeMachine()
    a, b = contender(machine, "a", 2e-3, sets=3), contender(machine, "b", 0.03)
    assert timing.take_turns(machine, [a, b], samples=4, seed=1) == {}
    assert a.samples == pytest.approx([2e-3] * 4)
    assert b.samples == pytest.approx([0.03] * 4)
    assert (a.repeats, a.long, b.long) == (1, False, True)
    of_a = [k for name, k in machine.calls if name == "a"]
    assert of_a == [(k + 1) % 3 if k % 2 == 0 else (k - 1) % 3 for k in range(len(of_a))]
    # Per round: a with the untimed call before it, b without; the order of the rounds varies.
    rounds = "".join(name for name, _ in machine.calls[-12:])
    assert {rounds[k : k + 3] for k in range(0, 12, 3)} == {"aab", "baa"}


def test_a_long_call_is_no_warm_up() -> None:
    """What is known to take long is called as often as it has samples, and no more."""
    machine = FakeMachine()
    a, b = contender(machine, "a", 2e-3), contender(machine, "b", 0.03)
    b.long = True
    timing.take_turns(machine, [a, b], samples=3)
    assert b.samples == pytest.approx([0.03] * 3)
    assert [name for name, _ in machine.calls].count("b") == 3
    assert len(a.samples) == 3


def test_short_calls_are_repeated() -> None:
    machine = FakeMachine()
    short = contender(machine, "a", 50e-6)
    timing.take_turns(machine, [short], samples=2, sample_seconds=1e-3)
    assert short.samples == pytest.approx([50e-6] * 2)
    assert short.repeats == 20


def test_the_collector_is_off_meanwhile() -> None:
    machine = FakeMachine()
    seen = []
    call = machine.taking("a", 0.01)
    one = timing.Contender("a", "call", [lambda: (seen.append(gc.isenabled()), call())])
    timing.take_turns(machine, [one], samples=1)
    assert set(seen) == {False}
    assert gc.isenabled()


def test_time_and_failures_end_the_sampling() -> None:
    machine = FakeMachine()

    def fail() -> None:
        if len(machine.calls) > 6:
            raise ValueError("no more")
        machine.taking("b", 0.01)()

    good, bad = contender(machine, "a", 0.01), timing.Contender("b", "call", [fail])
    failed = timing.take_turns(machine, [good, bad], samples=9, fewest=3, seconds=0)
    assert failed == {1: "ValueError: no more"}
    assert len(good.samples) == 3


class FakeGpu(FakeMachine):
    """A GPU whose calls return before they are done; what the host does takes no time."""

    kind = "cuda"
    timer = "events"

    def synchronize(self) -> None:
        self.calls.append("wait")

    def mark(self) -> Any:
        self.calls.append("mark")
        return self.now


def test_a_gpu_is_busy_when_the_first_mark_is_set() -> None:
    gpu = FakeGpu()
    one = contender(gpu, "a", 1e-3)
    assert timing.sample(gpu, one, 2) == pytest.approx(1e-3)
    assert gpu.calls == [("a", 0), "mark", ("a", 0), ("a", 0), "mark", "wait"]
    gpu.calls.clear()
    waiting = timing.Contender("jax", "call", one.calls, wait=lambda _: gpu.calls.append("done"))
    timing.sample(gpu, waiting, 2)
    assert gpu.calls == [("a", 0), "done", "wait", ("a", 0), ("a", 0), "done", "wait"]
    assert (one.timer(gpu), waiting.timer(gpu)) == ("events", "host, waits")
    assert timing.Contender("a", "call", [], on_host=True).timer(gpu) == "host, no wait"


def test_percentiles() -> None:
    samples = [5.0, 1.0, 4.0, 2.0, 3.0]
    found = timing.statistics(samples)
    assert found == {"samples": samples, "median": 3.0, "p20": 2.0, "p80": 5.0}


# --- the report of a GPU -----------------------------------------------------------------------


def dry(folder: Path, *names: str, more: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    words = [str(folder), "--dry-run", *more]
    for name in names:
        words += ["--case", name]
    status = gpu_report.main(words)
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return status, report


def test_dry_run(tmp_path: Path) -> None:
    status, report = dry(tmp_path, "row bias")
    assert (status, report["schema"], report["device"], report["lost"]) == (0, 2, "cpu", None)
    assert (report["finished"], report["not_measured"]) == (True, [])
    assert {r["size"] for r in report["results"]} == {"small", "cache"}
    assert {r["status"] for r in report["results"]} == {"ok"}
    text = (tmp_path / "report.txt").read_text()
    assert text.startswith("DRY RUN on the CPU without the large sizes")
    assert "row bias" in text


def test_resume_measures_what_is_missing(tmp_path: Path) -> None:
    status, first = dry(tmp_path, "row bias", "column", more=("--seconds", "1e-9"))
    assert (status, first["results"]) == (0, [])
    assert len(first["not_measured"]) == 4
    first["not_measured"] = first["not_measured"][2:]
    (tmp_path / "report.json").write_text(json.dumps(first))
    _, report = dry(tmp_path, "row bias", "column", more=("--resume",))
    assert {(r["case"], r["size"]) for r in report["results"]} == {
        ("row bias", "cache"), ("column", "cache")
    }  # fmt: skip
    assert report["ceilings"] == first["ceilings"]


def test_a_lost_device_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Measurement.unit

    def lost(self: timing.CpuMachine) -> None:
        raise RuntimeError("illegal address")

    def unit(self: Measurement, unit: Unit, seconds: float, **how: Any) -> list[dict[str, Any]]:
        found = measure(self, unit, seconds, **how)
        monkeypatch.setattr(timing.CpuMachine, "synchronize", lost)
        return found

    monkeypatch.setattr(Measurement, "unit", unit)
    status, report = dry(tmp_path, "scalar")
    assert status == gpu_report.DEVICE_LOST
    assert report["lost"] == "scalar f32 small: RuntimeError: illegal address"
    assert "the device was lost in: scalar f32 small" in (tmp_path / "report.txt").read_text()
    monkeypatch.undo()
    status, report = dry(tmp_path, "scalar", more=("--resume",))
    assert (status, report["lost"]) == (0, None)
    assert {r["size"] for r in report["results"]} == {"small", "cache"}


def test_a_wrong_result_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "whole", lambda sized, xp, views: np.zeros((8, 8), np.float32))
    status, report = dry(tmp_path, "column", more=("--seconds", "1"))
    assert status == 1
    small = [r for r in report["results"] if r["size"] == "small"]
    assert {r["status"] for r in small} == {"WRONG"}
    assert "WRONG" in (tmp_path / "report.txt").read_text()


def test_unknown_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gpu_report.main([str(tmp_path), "--dry-run", "--case", "nonsense"])
    assert "no case nonsense" in capsys.readouterr().err


# --- environment and script --------------------------------------------------------------------


def test_environment_of_a_dry_run() -> None:
    found = environment.environment(dry_run=True)
    assert (found["gpu"], found["gpu_error"]) == (None, None)
    assert found["packages"]["numpy"] == np.__version__
    assert found["gpubcast"] == gb.__version__
    assert 1 <= found["threads"] <= found["cores"]
    assert found["load"] >= 0
    assert "GPUBCAST_CHECK" in found["variables"]
    json.dumps(found)


def test_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "bench" / "environment.py"))
    monkeypatch.delenv("GPUBCAST_REVISION", raising=False)
    assert environment.revision() == "unknown"
    monkeypatch.setenv("GPUBCAST_REVISION", "1234abc")
    assert environment.revision() == "1234abc"


def test_nvidia_smi(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = "345 MHz, 3201 MHz, 1980 MHz, 3201 MHz"
    line = f"A GPU, 580.1, 1000 MiB, {clocks}, 700 W, 30, Enabled, Disabled"
    monkeypatch.setattr(environment, "_output", lambda *command: line)
    found = environment.nvidia_smi()
    assert (found["name"], found["clocks.max.sm"], found["mig.mode.current"]) == (
        "A GPU", "1980 MHz", "Disabled"
    )  # fmt: skip
    monkeypatch.setattr(environment, "_output", lambda *command: "")
    assert environment.nvidia_smi() == {}


def test_the_script(repository: Path, tmp_path: Path) -> None:
    """The one call, as it is made on a GPU, but for ``--dry-run``."""
    script = repository / "bench" / "gpu_report.sh"
    done = subprocess.run(
        [str(script), str(tmp_path), "--dry-run", "--case", "row bias"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env={**os.environ, "PYTHON": sys.executable, "GPUBCAST_REVISION": "1234abc"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "environment.json", "host_cost.json", "host_cost.log", "pytest.log", "pytest.xml",
        "report.json", "report.log", "report.txt", "sweep.json", "sweep.log", "sweep.txt",
        "traffic.log", "traffic.txt",
    ]  # fmt: skip
    for name in ("report", "sweep"):
        assert json.loads((tmp_path / f"{name}.json").read_text())["finished"]
    for name in ("report.txt", "sweep.txt", "traffic.txt", "host_cost.log"):
        assert (tmp_path / name).read_text() in done.stdout
    assert "test_cuda.py::test_stream_order" in (tmp_path / "pytest.log").read_text()
    assert f"results are in {tmp_path}" in done.stdout
