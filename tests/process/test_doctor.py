"""The doctor examines this machine: kernels are compiled, libraries asked in other processes."""

from __future__ import annotations

from importlib import metadata

import pytest

import gpubcast as gb
from gpubcast.backends.cuda import driver
from gpubcast.backends.cuda.driver import Driver
from gpubcast.cli import doctor
from gpubcast.cli.doctor import Check, Status


def _section(name: str) -> dict[str, Check]:
    return {check.name: check for check in dict(doctor.SECTIONS)[name]()}


def _drive(monkeypatch: pytest.MonkeyPatch, seen: Driver) -> None:
    monkeypatch.setattr(driver, "probe", lambda: seen)


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> tuple[Check, ...]:
    _drive(monkeypatch, Driver(None, (), "there is no NVIDIA driver (libcuda.so.1)"))
    return doctor.examine()


def test_a_machine_without_a_gpu_is_healthy(examined: tuple[Check, ...]) -> None:
    checks = {check.name: check for check in examined}
    assert [c for c in examined if c.status is Status.FAILED] == []
    assert doctor.exit_code(examined) == 0
    assert checks["gpubcast"].detail == gb.__version__
    assert checks["numba"].detail == metadata.version("numba")
    assert checks["NVIDIA driver"].status is Status.ABSENT
    assert checks["CPU kernel"].detail == "compiled with numba, and its result is right"
    assert checks["CUDA compile"].detail.startswith("a kernel for sm_90, ")
    assert checks["CUDA kernel"].status is Status.ABSENT


def test_what_is_not_ok_says_what_to_do(examined: tuple[Check, ...]) -> None:
    assert [c.name for c in examined if c.status is not Status.OK and not c.advice] == []


def test_a_wrong_result_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = doctor._operands()
    monkeypatch.setattr(doctor, "_operands", lambda: (*right[:2], right[2] + 1))
    check = _section("CPU kernel")["CPU kernel"]
    assert (check.status, check.detail) == (
        Status.FAILED,
        "compiled with numba, but its result is WRONG",
    )
