"""The command line: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends import progress
from gpubcast.backends.cuda import driver
from gpubcast.backends.cuda.driver import Driver, Gpu
from gpubcast.cli import demo, doctor, main

NO_DRIVER = Driver(None, (), "there is no NVIDIA driver (libcuda.so.1)")


# --- explain -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "header"),
    [
        (
            ("add", "f32[8,1]", "f32[1,7]"),
            "add: (f32[8,1]{1,0}, f32[1,7]{1,0}) -> f32[8,7]{1,0}",
        ),
        (
            ("add", "f32[2,3,4]", "f32[3,4]", "--broadcast-dimensions", "1,2"),
            "add: (f32[2,3,4]{2,1,0}, f32[3,4]{1,0}), broadcast_dimensions={1,2} -> "
            "f32[2,3,4]{2,1,0}",
        ),
        (
            ("add", "f32[2,3]", "f32[3]", "--broadcast-dimensions", "(1,)", "--layout",
             "{0,1:pad(3,5)}"),
            "add: (f32[2,3]{1,0}, f32[3]{0}), broadcast_dimensions={1} -> f32[2,3]{0,1:pad(3,5)}",
        ),
        (
            ("compare", "f32[2]", "f32[2]", "--direction", "LT", "--total-order"),
            "compare: (f32[2]{0}, f32[2]{0}), direction=LT, type=TOTALORDER -> pred[2]{0}",
        ),
        (
            ("convert_element_type", "f32[2]", "--to", "bf16"),
            "convert: (f32[2]{0}), to=bf16 -> bf16[2]{0}",
        ),
        (
            ("reduce_precision", "f32[2]", "--exponent-bits", "5", "--mantissa-bits", "3"),
            "reduce-precision: (f32[2]{0}), exponent_bits=5, mantissa_bits=3 -> f32[2]{0}",
        ),
        (
            ("broadcast", "f32[2]", "--sizes", "4,"),
            "broadcast: (f32[2]{0}), sizes={4} -> f32[4,2]{1,0}",
        ),
        (
            ("broadcast_in_dim", "f32[]", "--shape", "4, 2", "--broadcast-dimensions", ""),
            "broadcast: (f32[]), broadcast_dimensions={}, shape={4,2} -> f32[4,2]{1,0}",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_explain(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], header: str
) -> None:
    assert main.main(["explain", *arguments]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == header
    assert err == ""
    assert "launch on a GPU, sm_90," in out
    assert "\x1b" not in out


def test_explain_is_the_method(capsys: pytest.CaptureFixture[str]) -> None:
    main.main(["explain", "mul", "f32[64]", "f32[64]", "--arch", "sm_80", "--source"])
    plan = gb.plan("mul", "f32[64]", "f32[64]")
    assert capsys.readouterr().out == f"{plan.explain(arch='sm_80', source=True)}\n"


def test_explain_writes_html(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "plan.html"
    assert main.main(["explain", "neg", "f32[4]", "--html", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {path}\n"
    assert path.read_text() == gb.plan("neg", "f32[4]").explain().html()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "f32[2,3]", "f32[3]"), "legal broadcast_dimensions: (1,)"),
        (("add",), "takes 2 operands (x, y), got 0"),
        (("subtract", "f32[2]", "f32[2]"), "gpubcast calls it 'sub'"),
        (("add", "f32[2", "f32[2]"), "^"),
        (("neg", "f32[2]", "--layout", "{1}"), "{1}"),
        (("neg", "f32[2]", "--arch", "hopper"), "no GPU architecture 'hopper'"),
        (("neg", "f32[2]", "--html", "/no/such/folder/x.html"), "cannot be written"),
        (("neg", "f32[2]", "--sizes", "4"), "unknown keyword 'sizes'"),
    ],
)
def test_refusals_are_text_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main.main(["explain", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_unexpected_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(doctor, "run", broken)
    with pytest.raises(ZeroDivisionError):
        main.main(["doctor"])


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupted)
    assert main.main(["doctor"]) == 130


def test_operations_without_operands(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["broadcasted_iota", "--dtype", "bf16", "--shape", "4,6", "--dimension", "1"]
    assert main.main(["explain", *words]) == 0
    assert "bf16[4,6]" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [(), ("dance",), ("demo", "--size", "7"), ("explain",)])
def test_wrong_arguments_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main.main(arguments)
    assert exit_info.value.code == 2
    assert "usage: gpubcast" in capsys.readouterr().err


def test_every_attribute_of_the_table_is_an_option() -> None:
    named = {"broadcast_dimensions", "direction", "total_order", "to", "exponent_bits"}
    assert named < set(main.attribute_names())
    options = main.parser().parse_args(["explain", "neg", "f32[2]"])
    assert {f"attribute_{name}" for name in main.attribute_names()} <= set(vars(options))


# --- doctor ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "code"), [("OK", 0), ("ABSENT", 0), ("FAILED", 1)])
def test_doctor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, status: str, code: int
) -> None:
    check = doctor.Check("x", doctor.Status[status], "y", "z")
    monkeypatch.setattr(doctor, "examine", lambda: (check,))
    assert main.main(["doctor"]) == code
    assert capsys.readouterr().out.splitlines()[0].split() == [doctor.Status[status].value, *"xy"]
    assert main.main(["doctor", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], len(report["checks"])) == (code == 0, 1)


# --- demo --------------------------------------------------------------------------------------


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "probe", lambda: NO_DRIVER)
    monkeypatch.setattr(demo, "BUDGET", 0.0)


def test_bits_not_values_are_compared() -> None:
    zeros = np.zeros(3, np.float32)
    assert demo.same_bits(zeros, zeros.copy())
    assert not demo.same_bits(zeros, -zeros)
    assert not demo.same_bits(zeros, zeros.astype(np.float64))
    assert not demo.same_bits(zeros, zeros[:, np.newaxis])
    nan = np.full(3, np.nan, np.float32)
    assert demo.same_bits(nan, nan.copy())


@pytest.mark.usefixtures("no_gpu")
def test_demo_refuses_a_device_that_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(kind: str) -> None:
        raise gb.DeviceError("no CUDA device")

    monkeypatch.setattr(demo.state, "backend", missing)
    assert main.main(["demo", "--device", "cuda"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "no CUDA device\n")


def test_demo_says_why_it_leaves_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(kind: str) -> None:
        raise gb.DeviceError("device 'cuda' needs CuPy")

    monkeypatch.delenv("GPUBCAST_BACKEND", raising=False)
    monkeypatch.setattr(driver, "probe", lambda: Driver((13, 0), (Gpu("H200", (9, 0), 1),)))
    monkeypatch.setattr(demo.state, "backend", missing)
    assert demo.choose_device(None) == (
        "cpu",
        "there is a H200, but: device 'cuda' needs CuPy",
    )
    monkeypatch.setattr(demo.state, "backend", lambda kind: None)
    assert demo.choose_device(None) == ("cuda", "H200")
    monkeypatch.setenv("GPUBCAST_BACKEND", "cpu")
    assert demo.choose_device(None) == ("cpu", "GPUBCAST_BACKEND=cpu")


def test_medians_take_turns() -> None:
    calls: list[str] = []
    found = demo.medians(lambda: calls.append("a"), lambda: calls.append("b"))
    assert len(found) == 2 and min(found) > 0
    assert calls == ["a", "b"] * (demo.MOST_ROUNDS + 1)


# --- progress ----------------------------------------------------------------------------------


def test_only_slow_steps_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 600.0)
    with progress.working("quick"):
        pass
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    told = ""
    with progress.working("slow"):
        while not told:
            time.sleep(0.01)
            told = capsys.readouterr().err
    assert told + capsys.readouterr().err == "slow ...\n"
