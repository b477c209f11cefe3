"""The doctor: every line has a verdict, a broken part fails the report, and nothing raises."""

from __future__ import annotations

import ctypes
import json
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import gpubcast as gb
from gpubcast.backends.cuda import driver, nvrtc
from gpubcast.backends.cuda.driver import Driver, Gpu
from gpubcast.backends.kernel_store import Store
from gpubcast.backends.native_calls import build
from gpubcast.cli import doctor
from gpubcast.cli.doctor import Check, Status
from gpubcast.errors import CompileError

H200 = Gpu("NVIDIA H200", (9, 0), 141 * 2**30)


def _section(name: str) -> dict[str, Check]:
    return {check.name: check for check in dict(doctor.SECTIONS)[name]()}


def _install(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    found = [
        SimpleNamespace(metadata={"Name": name}, version=version)
        for name, version in (package.split() for package in packages)
    ]
    monkeypatch.setattr(metadata, "distributions", lambda: iter(found))


def _drive(monkeypatch: pytest.MonkeyPatch, seen: Driver) -> None:
    monkeypatch.setattr(driver, "probe", lambda: seen)


def test_text_has_one_line_per_check() -> None:
    checks = (
        Check("gpubcast", Status.OK, "0.2.0"),
        Check("CuPy", Status.ABSENT, "not installed", "install it"),
        Check("x", Status.FAILED, "ImportError: y", "mend it"),
    )
    assert doctor.text(checks[:2]) == (
        "ok      gpubcast  0.2.0\n"
        "absent  CuPy      not installed\n"
        "                  -> install it\n"
        "\neverything that is here works"
    )
    assert doctor.text(checks).splitlines()[-4:] == [
        "FAILED  x         ImportError: y",
        "                  -> mend it",
        "",
        "1 problem",
    ]
    assert [doctor.exit_code(checks[:n]) for n in (2, 3)] == [0, 1]


def test_a_terminal_breaks_no_word() -> None:
    said = "compiled-kernels: 12 of 1,073,741,824 bytes, in ~/a/folder/of-ones-own, writable"
    words = said.split()
    checks = (Check("kernel cache", Status.OK, " ".join(words), " ".join(words)),)
    for columns in (60, 80, 300):
        lines = doctor.text(checks, columns).splitlines()[:-2]
        assert max(map(len, lines)) <= columns
        assert " ".join(lines).split() == ["ok", "kernel", "cache", *words, "->", *words]
        assert all(line.startswith(" " * 22) for line in lines[1:])


def test_the_background_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "is_compiled", lambda: False)
    shown = doctor._background()
    assert shown.status is Status.OK and "GPUBCAST_NATIVE_CALLS=off does without" in shown.detail
    assert shown.detail.startswith("no process compiles: it begins after 64 like calls")
    monkeypatch.setattr(build.COMPILER, "_child", 1)
    assert doctor._background().detail.startswith("a process compiles")
    monkeypatch.setattr(build.COMPILER, "_child", 0)
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "off")
    assert doctor._background().detail == "no process compiles: GPUBCAST_NATIVE_CALLS=off"


def test_json_is_the_same_report() -> None:
    checks = (Check("CuPy", Status.FAILED, "two", "remove one"),)
    assert json.loads(doctor.as_json(checks)) == {
        "gpubcast": gb.__version__,
        "ok": False,
        "checks": [{"name": "CuPy", "status": "FAILED", "detail": "two", "advice": "remove one"}],
    }


def test_a_check_that_raises_becomes_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[Check]:
        raise RuntimeError("no such luck\nsecond line")

    monkeypatch.setattr(doctor, "SECTIONS", (("luck", broken),))
    assert doctor.examine() == (
        Check("luck", Status.FAILED, "RuntimeError: no such luck", "please report this line"),
    )


@pytest.mark.parametrize(
    ("packages", "version", "status", "detail"),
    [
        ((), (12, 4), Status.ABSENT, "not installed"),
        (
            ("cupy 13.0", "CuPy_CUDA12x 14.0", "numpy 2.1"),
            (12, 4),
            Status.FAILED,
            "cupy 13.0, cupy-cuda12x 14.0: more than one",
        ),
        (
            ("cupy-cuda13x 14.2",),
            (12, 4),
            Status.FAILED,
            "cupy-cuda13x 14.2 needs a newer driver than the one for CUDA 12.4",
        ),
    ],
    ids=["none", "two", "too new"],
)
def test_cupy(
    monkeypatch: pytest.MonkeyPatch,
    packages: tuple[str, ...],
    version: tuple[int, int],
    status: Status,
    detail: str,
) -> None:
    _install(monkeypatch, *packages)
    _drive(monkeypatch, Driver(version, (H200,)))
    check = _section("CuPy")["CuPy"]
    assert (check.status, check.detail) == (status, detail)
    assert ("'cupy-cuda12x[ctk]'" in check.advice) == (len(packages) < 2)


def test_driver_and_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    _drive(monkeypatch, Driver((13, 0), (H200,)))
    checks = _section("NVIDIA driver")
    assert checks["NVIDIA driver"].detail == "runs CUDA up to 13.0"
    assert checks["GPU 0"].detail == "NVIDIA H200, sm_90, 141.0 GiB"
    _drive(monkeypatch, Driver((13, 0), (), "cuInit: error 803", broken=True))
    assert _section("NVIDIA driver")["NVIDIA driver"].status is Status.FAILED
    _drive(monkeypatch, Driver((13, 0), (), "the NVIDIA driver sees no GPU"))
    assert _section("NVIDIA driver")["GPU"].status is Status.ABSENT


class _Library:
    """A driver library in Python: one GPU, or an error of cuInit."""

    def __init__(self, status: int) -> None:
        self.cuInit = lambda flags: status

    @staticmethod
    def cuDriverGetVersion(number: object) -> int:
        number._obj.value = 12040
        return 0

    @staticmethod
    def cuDeviceGetCount(count: object) -> int:
        count._obj.value = 1
        return 0

    @staticmethod
    def cuDeviceGet(device: object, index: int) -> int:
        return 0

    @staticmethod
    def cuDeviceGetName(name: object, size: int, device: object) -> int:
        name.value = b"Some GPU"
        return 0

    @staticmethod
    def cuDeviceTotalMem_v2(memory: object, device: object) -> int:
        memory._obj.value = 2**34
        return 0

    @staticmethod
    def cuDeviceGetAttribute(value: object, number: int, device: object) -> int:
        value._obj.value = {75: 8, 76: 6}[number]
        return 0


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (0, Driver((12, 4), (Gpu("Some GPU", (8, 6), 2**34),))),
        (100, Driver((12, 4), (), "the NVIDIA driver sees no GPU")),
        (
            803,
            Driver(
                (12, 4), (), "the NVIDIA driver does not start (cuInit: error 803)", broken=True
            ),
        ),
    ],
)
def test_the_driver_is_asked(
    monkeypatch: pytest.MonkeyPatch, status: int, expected: Driver
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: _Library(status))
    assert driver.probe() == expected
    assert [gpu.arch for gpu in driver.probe().gpus] == ["sm_86"] * len(expected.gpus)


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert driver.probe() == Driver(None, (), "there is no NVIDIA driver (libcuda.so.1)")


def test_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    _drive(monkeypatch, Driver((13, 0), (Gpu("Old", (5, 2), 1), H200)))
    check = _section("NVRTC")["NVRTC"]
    assert check.status is Status.FAILED
    assert check.detail.endswith("it cannot compile for sm_52")
    monkeypatch.setattr(nvrtc, "architectures", lambda: ("sm_75", "sm_100"))
    _drive(monkeypatch, Driver((13, 0), (Gpu("B300", (10, 3), 1), Gpu("New", (99, 0), 1))))
    check = _section("NVRTC")["NVRTC"]
    assert check.status is Status.OK and "-U nvidia-cuda-nvrtc" in check.advice
    assert check.detail.endswith("; for sm_103 as sm_100, sm_990 as compute_100")

    def missing() -> None:
        raise CompileError("NVRTC was not found; install it")

    monkeypatch.setattr(nvrtc, "library", missing)
    assert _section("NVRTC")["NVRTC"].detail == "NVRTC was not found"
    assert _section("CUDA compile")["CUDA compile"].status is Status.ABSENT


def test_an_nvrtc_that_is_newer_than_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "version", lambda: (12, 4))
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 5))
    _drive(monkeypatch, Driver((12, 4), (H200,)))
    check = _section("NVRTC")["NVRTC"]
    assert check.status is Status.FAILED and "nvidia-cuda-nvrtc-cu12" in check.advice
    monkeypatch.setattr(nvrtc, "version", lambda: (12, 9))
    assert _section("NVRTC")["NVRTC"].status is Status.OK


def test_the_cache_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    assert _section("kernel cache")["kernel cache"].detail == (
        f"{tmp_path}: not there yet, made when first needed; 1,073,741,824 bytes at most"
    )
    Store("cubin/sm_90", "cubin").fetch("abcd", lambda: b"x" * 1000)
    Store("cpu/x86_64", "o").fetch("abcd", lambda: b"x" * 500)
    monkeypatch.setenv("GPUBCAST_CACHE_SIZE", "5000")
    assert _section("kernel cache")["kernel cache"] == Check(
        "kernel cache",
        Status.OK,
        f"{tmp_path}: 2 kernels, 1,500 of 5,000 bytes, own folder, writable",
    )
    (tmp_path / "cpu/x86_64").chmod(0o777)
    (check,) = _section("kernel cache").values()
    assert (check.status, "others may write to" in check.detail) == (Status.FAILED, True)
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    (check,) = _section("kernel cache").values()
    assert (check.status, "another user" in check.detail) == (Status.FAILED, True)


def test_native_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    detail = "repeated calls are replayed by machine code"
    later = f"{detail}, which is made in the background when one is repeated"
    monkeypatch.setattr(doctor.build, "call_definition", lambda: object())
    assert _section("native calls")["native calls"] == Check("native calls", Status.OK, later)
    monkeypatch.setattr(doctor.build, "call_definition", lambda: None)
    assert _section("native calls")["native calls"].detail == "not with this interpreter"
    monkeypatch.setattr(doctor.build, "is_compiled", lambda: True)
    assert _section("native calls")["native calls"] == Check("native calls", Status.OK, detail)
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "off")
    assert _section("native calls")["native calls"].status is Status.ABSENT
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "maybe")
    assert "maybe" in _section("environment")["environment"].detail


def test_the_home_folder_is_not_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "k"))
    assert _section("kernel cache")["kernel cache"].detail.startswith("~/k: ")


def test_variables_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in doctor.config.VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    assert _section("environment")["environment"].detail == "no GPUBCAST_ variable is set"
    monkeypatch.setenv("GPUBCAST_THREADS", "many")
    checks = _section("environment")
    assert checks["GPUBCAST_THREADS"].detail == "many"
    assert checks["environment"].status is Status.FAILED
    assert checks["environment"].detail == (
        "GPUBCAST_THREADS='many': expected an integer from 1 to 1024"
    )
