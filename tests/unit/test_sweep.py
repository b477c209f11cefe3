"""The sweep of schedule parameters, without a GPU: its variants are right, and it survives."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import gpu_report, lasting, sweep, traffic
from bench import sweep_variants as variants
from bench.sweep_cases import BYTES, DRY_BYTES, PICKED, QUESTIONS, Question, Trial
from bench.timing import CpuMachine
from gpubcast import config, runtime
from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen import cuda as cuda_code
from gpubcast.families import CudaTarget, Family, Schedule
from gpubcast.schedule import schedule
from tests.emulator.backend import EmulatorBackend

BY_NAME = {question.name: question for question in QUESTIONS}
TARGET = CudaTarget("sm_90", 132)
ALIGNED = 256


def changed(
    trial: Trial, variant: variants.Variant, num_bytes: int = BYTES
) -> tuple[Schedule, str]:
    """Schedule and text of a variant on an H100's like."""
    plan = trial.sized(num_bytes).plan.broadcast_plan
    addresses = (ALIGNED,) * len(plan.accesses)
    chosen = schedule(plan, TARGET, addresses)
    if variant.change is not None:
        chosen = variant.change(plan, TARGET, addresses, chosen)
    text = cuda_code.generate(plan, chosen).text
    return chosen, variant.edit(text, chosen) if variant.edit is not None else text


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_asks_about_its_family(question: Question) -> None:
    wanted = {
        "flat": {Family.FLAT}, "hints": {Family.FLAT, Family.ROWS}, "rows": {Family.ROWS},
        "transpose": {Family.XPOSE}, "phase": {Family.PHASE}, "rank 6": {Family.PHASE},
        "misaligned": {Family.FLAT, Family.ROWS}, "persistent": {Family.FLAT},
    }[question.name]  # fmt: skip
    found = [changed(trial, PICKED)[0] for trial in question.trials]
    assert {chosen.family for chosen in found} == wanted
    for trial, chosen in zip(question.trials, found, strict=True):
        sized = trial.sized(BYTES)
        assert BYTES / 2 <= sized.num_bytes <= 1.02 * BYTES
        assert chosen.grid > 1000, trial


def test_every_question_has_a_variant_that_differs() -> None:
    for question in QUESTIONS:
        if question.name == "misaligned":
            assert len({trial.offsets for trial in question.trials}) == 4
            continue
        trial = question.trials[0]
        usual = changed(trial, PICKED)
        differ = 0
        for variant in question.variants:
            try:
                differ += changed(trial, variant) != usual
            except variants.Impossible:
                continue
        assert differ >= (1 if question.name == "rank 6" else 2), question.name


EDITED = [
    (question.trials[0], variant)
    for question in QUESTIONS
    for variant in question.variants
    if variant.edit is not None
]


@pytest.mark.parametrize(
    ("trial", "variant"), EDITED, ids=[f"{trial} {variant.name}" for trial, variant in EDITED]
)
def test_an_edited_text_compiles_to_other_code(trial: Trial, variant: variants.Variant) -> None:
    text = changed(trial, variant)[1]
    made = nvrtc.compile_cubin(text, "sm_90")
    assert "0 bytes spill stores" in made.log
    usual = nvrtc.compile_cubin(changed(trial, PICKED)[1], "sm_90")
    assert (made.image != usual.image) == (variant.name != "no L1"), "no L1 is what is picked"


def test_an_edit_that_finds_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a header be written anew, the variant says so and the others go on."""
    texts = dict.fromkeys(("prelude.cuh", "flat.cuh", "xpose.cuh"), "// another text")
    monkeypatch.setattr(variants.headers, "texts", lambda: texts)
    for trial, variant in EDITED:
        with pytest.raises(variants.Impossible):
            changed(trial, variant)


@pytest.fixture
def emulator() -> Any:
    device = EmulatorBackend(Path(config.cache_dir(), "emulator"))
    with runtime.use_backend(device):
        yield device


def test_a_forced_variant_is_what_runs_until_the_end(emulator: EmulatorBackend) -> None:
    trial = BY_NAME["flat"].trials[0]
    sized = trial.sized(DRY_BYTES)
    x, y = (gb.array(v, device="cuda") for v in (np.ones(4096, "f4"), np.ones(4096, "f4")))
    with variants.forced(BY_NAME["flat"].variants[0]) as made:
        assert (gb.add(x, y).numpy() == 2).all()
    assert [(one.unroll, one.grid) for one in made] == [(1, 4)]
    assert sized.plan.schedule("sm_90").unroll == 2
    made.clear()
    assert (gb.add(x, y).numpy() == 2).all()
    assert made == [], "the runtime keeps nothing of a variant"


@pytest.mark.parametrize("trial", BY_NAME["misaligned"].trials, ids=str)
def test_misaligned_operands(emulator: EmulatorBackend, trial: Trial) -> None:
    """They are as far off as they say, and nothing else of the buffers is touched."""
    run = sweep.Sweep(CpuMachine(), DRY_BYTES, 1, dry=True)
    sized = trial.sized(DRY_BYTES)
    operands, out = run._buffers(sized, trial.offsets)
    size = sized.output.element_type.itemsize
    wanted = [*trial.offsets, *[0] * (3 - len(trial.offsets))]
    found = [emulator.address(x.view()) % 16 // size for x in (*operands, out)]
    assert found == wanted
    result = run.trial(BY_NAME["misaligned"], trial)
    assert [row["status"] for row in result["variants"]] == ["ok"]


def test_the_shared_tile_is_transposed_right(emulator: EmulatorBackend) -> None:
    """The emulator runs a block's threads one after the other: what the first run of the one block
    leaves in shared memory is what barriers would have shown it."""
    x, y = (np.arange(256 * 32, dtype=np.float32).reshape(256, 32) * k for k in (1, 3))
    a, b = gb.array(x, device="cuda"), gb.array(y, layout=gb.Layout((0, 1)), device="cuda")
    out = gb.empty("f32[256,32]", device="cuda")
    shared = """
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __syncthreads()
"""

    def edit(text: str, chosen: Schedule) -> str:
        text = variants.shared_tile(text, chosen)
        assert text.count("#ifdef GB_EMU\n  GB_FN void load_all") == 1
        return shared + text.replace(
            "#ifdef GB_EMU\n  GB_FN void load_all", "#if 0\n  GB_FN void load_all"
        )

    with variants.forced(variants.Variant("shared", edit=edit)) as made:
        bound = gb.plan("add", a.xla_shape, b.xla_shape).bind(a, b, out=out)
    assert [(one.family, one.grid) for one in made] == [(Family.XPOSE, 1)]
    bound()
    assert (out.numpy() != x + y).any(), "the first threads find the tile empty"
    bound()
    np.testing.assert_array_equal(out.numpy(), x + y)


# --- a run ---------------------------------------------------------------------------------------


def dry(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    status = sweep.main([str(folder), "--dry-run", *words])
    report: dict[str, Any] = json.loads((folder / "sweep.json").read_text())
    return status, report


def test_dry_run(tmp_path: Path) -> None:
    """Every question, with every variant, in the emulator."""
    status, report = dry(tmp_path)
    assert (status, report["finished"], report["not_measured"]) == (0, True, [])
    assert [one["question"] for one in report["results"]] == [
        *(question.name for question in QUESTIONS), "launch", "sizes",
    ]  # fmt: skip
    rows = [row for one in report["results"] for row in one["variants"]]
    wrong = [row for row in rows if row["status"] not in ("ok", "skipped")]
    assert wrong == []
    skipped = [row["error"] for row in rows if row["status"] == "skipped"]
    assert set(skipped) <= {"no ROWS for this plan"}
    assert all(row["median"] > 0 for row in rows if row["status"] == "ok")
    text = (tmp_path / "sweep.txt").read_text()
    assert text.startswith("DRY RUN")
    for question in QUESTIONS:
        assert text.count(f"{question.name}: {question.trials[0]}") == 2
    assert not list(tmp_path.glob("*.running"))


def test_a_wrong_variant_is_told_and_not_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(plan: Any, target: Any, addresses: Any, usual: Schedule) -> Schedule:
        return variants.dataclasses.replace(usual, grid=1)

    flat = BY_NAME["flat"]
    wrong = Question("flat", "?", flat.trials[:1], (variants.Variant("half the grid", half),))
    monkeypatch.setattr(sweep, "QUESTIONS", (wrong,))
    status, report = dry(tmp_path, "--question", "flat")
    picked, other = report["results"][0]["variants"]
    assert (status, picked["status"], other["status"]) == (1, "ok", "WRONG")
    assert "elements differ" in other["error"] and "median" not in other
    assert "half the grid" in (tmp_path / "sweep.txt").read_text()


def test_a_failed_unit_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = sweep.Sweep.trial

    def trial(self: sweep.Sweep, question: Question, one: Trial) -> dict[str, Any]:
        if question.name == "flat":
            raise RuntimeError("no memory")
        return usual(self, question, one)

    monkeypatch.setattr(sweep.Sweep, "trial", trial)
    status, report = dry(tmp_path, "--question", "flat", "--question", "persistent")
    assert (status, report["finished"], report["lost"]) == (1, True, None)
    first, second = report["results"]
    assert first["variants"][0]["error"] == "RuntimeError: no memory"
    assert {row["status"] for row in second["variants"]} == {"ok"}


def test_a_lost_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: CpuMachine) -> None:
        raise RuntimeError("illegal address")

    words = ("--question", "flat", "--question", "persistent")
    with monkeypatch.context() as patch:
        patch.setattr(CpuMachine, "synchronize", lost)
        patch.setattr(sweep.Sweep, "measure_ceilings", lambda self: [])
        status, report = dry(tmp_path, *words)
    assert (status, report["finished"]) == (lasting.DEVICE_LOST, False)
    assert report["lost"] == "flat: add f32: RuntimeError: illegal address"
    assert report["not_measured"] == ["persistent: add f32"]
    status, report = dry(tmp_path, *words, "--resume")
    assert (status, [one["question"] for one in report["results"]]) == (0, ["persistent"])
    assert report["lost_before"] == ["flat: add f32: RuntimeError: illegal address"]
    assert "the device was lost in: flat: add f32" in (tmp_path / "sweep.txt").read_text()


SUDDEN = """
import os, signal, sys, time
from bench import gpu_report, lasting, sweep
from bench.measurement import Measurement
how, which, *words = sys.argv[1:]
lasting.HANGS = 10.0 if how == "hang" else 600.0

def end(*given, **more):
    if how == "hang":
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGSEGV)

sweep.Sweep.trial = Measurement.unit = end
sys.exit({"sweep": sweep, "report": gpu_report}[which].main(words))
"""


@pytest.mark.parametrize("which", ["sweep", "report"])
@pytest.mark.parametrize("how", ["hang", "crash"])
def test_a_sudden_end_leaves_the_next_process_what_is_left(
    repository: Path, tmp_path: Path, how: str, which: str
) -> None:
    """A call that never returns, and one that takes the process with it."""
    words = {
        "sweep": ("--question", "flat", "--question", "launch"),
        "report": ("--case", "scalar"),
    }[which]
    done = subprocess.run(
        [sys.executable, "-c", SUDDEN, how, which, str(tmp_path), "--dry-run", *words],
        cwd=repository, capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert done.returncode == (1 if how == "hang" else -signal.SIGSEGV), done.stderr
    first = "flat: add f32" if which == "sweep" else "scalar f32 small"
    assert (tmp_path / f"{which}.running").read_text() == first
    if how == "hang":
        assert "Timeout" in done.stderr and "in end" in done.stderr
    main = {"sweep": sweep.main, "report": gpu_report.main}[which]
    assert main([str(tmp_path), "--dry-run", *words, "--resume"]) == 0
    report = json.loads((tmp_path / f"{which}.json").read_text())
    assert report["lost_before"] == [f"{first}: the process ended"]
    assert (report["finished"], report["not_measured"]) == (True, [])
    assert report["results"] and first not in str(report["results"])
    assert not (tmp_path / f"{which}.running").exists()


def test_the_time_is_over(tmp_path: Path) -> None:
    status, report = dry(tmp_path, "--seconds", "0", "--question", "flat")
    assert (status, report["results"], report["not_measured"]) == (0, [], ["flat: add f32"])
    assert "not measured: flat: add f32" in (tmp_path / "sweep.txt").read_text()


def test_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def none() -> None:
        raise RuntimeError("no driver")

    machine, sweep.GpuMachine = sweep.GpuMachine, none  # type: ignore[assignment, misc]
    try:
        assert sweep.main([str(tmp_path)]) == 1
    finally:
        sweep.GpuMachine = machine  # type: ignore[misc]
    assert "--dry-run needs none" in capsys.readouterr().err


# --- traffic -------------------------------------------------------------------------------------

NCU = """==PROF== Connected to process 1
"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
"","","byte","byte","ns","sector","","sector",""
"0","cupy_copy","1","1","1","1","1","1","1"
"1","gb_one(P)","2,000","1,000","1,500","160","10","80","5"
"2","gb_two(P)","500","500","500","32","1","0","0"
"""


def test_what_nsight_compute_counted() -> None:
    rows = [{"case": "a", "kernel": "gb_one", "floor": 3000},
            {"case": "b", "kernel": "gb_two", "floor": 500},
            {"case": "c", "kernel": "gb_two", "floor": 500}]  # fmt: skip
    lines = (line for line in NCU.splitlines() if not line.startswith("=="))
    found = traffic.counted(rows, lines)
    assert [row["case"] for row in found] == ["a", "b"], "the third was not launched"
    table = traffic.text(found).splitlines()
    assert table[1].split() == ["a", "1.00", "2", "16.0", "16.0"]
    assert table[2].split() == ["b", "2.00", "1", "32.0"]


def test_what_the_emulator_counts(tmp_path: Path) -> None:
    """The floor is what moves, but for rows so short that sectors are shared with padding."""
    assert traffic.main(["tell", str(tmp_path), "--dry-run"]) == 0
    rows = (tmp_path / "traffic.txt").read_text().splitlines()[1:]
    moved = {line[:22].strip(): float(line[22:].split()[0]) for line in rows}
    assert len(moved) == len(traffic.CASES) - 1
    assert all(0.99 <= ratio <= 1.4 for ratio in moved.values()), moved
    assert math.isclose(moved["same shape"], 1, abs_tol=0.005)
