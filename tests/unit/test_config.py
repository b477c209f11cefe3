"""The environment variables: values, defaults, refusals, and the table in the documents."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gpubcast import config
from gpubcast.errors import Error


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in config.VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert config.debug() == 0
    assert config.sync() is False
    assert config.check() is False
    assert config.allowed_device_type() is None
    assert config.dump_dir() is None
    assert config.cache_dir() == "/home/someone/.cache/gpubcast"


@pytest.mark.parametrize(
    ("name", "text", "read", "value"),
    [
        *(("GPUBCAST_DEBUG", str(n), config.debug, n) for n in range(5)),
        ("GPUBCAST_DEBUG", " 3 ", config.debug, 3),
        ("GPUBCAST_DEBUG", "", config.debug, 0),
        ("GPUBCAST_SYNC", "1", config.sync, True),
        ("GPUBCAST_SYNC", "0", config.sync, False),
        ("GPUBCAST_CHECK", "1", config.check, True),
        ("GPUBCAST_THREADS", "3", config.threads, 3),
        ("GPUBCAST_THREADS", "1024", config.threads, 1024),
        ("GPUBCAST_STREAMING", "auto", config.streaming_bytes, None),
        ("GPUBCAST_STREAMING", "On", config.streaming_bytes, 0),
        ("GPUBCAST_STREAMING", "off", config.streaming_bytes, config.NEVER),
        ("GPUBCAST_STREAMING", "1000", config.streaming_bytes, 1000),
        ("GPUBCAST_BACKEND", "cpu", config.allowed_device_type, "cpu"),
        ("GPUBCAST_BACKEND", " CUDA ", config.allowed_device_type, "cuda"),
        ("GPUBCAST_BACKEND", " ", config.allowed_device_type, None),
        ("GPUBCAST_DUMP", "/tmp/dump", config.dump_dir, "/tmp/dump"),
        ("GPUBCAST_CACHE_DIR", "/tmp/cache", config.cache_dir, "/tmp/cache"),
    ],
)
def test_values(monkeypatch: pytest.MonkeyPatch, name: str, text: str, read, value) -> None:
    monkeypatch.setenv(name, text)
    assert read() == value


@pytest.mark.parametrize(
    ("name", "text", "read", "message"),
    [
        ("GPUBCAST_DEBUG", "5", config.debug, "expected an integer from 0 to 4"),
        ("GPUBCAST_DEBUG", "-1", config.debug, "expected an integer from 0 to 4"),
        ("GPUBCAST_DEBUG", "loud", config.debug, "expected an integer from 0 to 4"),
        ("GPUBCAST_SYNC", "2", config.sync, "expected an integer from 0 to 1"),
        ("GPUBCAST_CHECK", "yes", config.check, "expected an integer from 0 to 1"),
        ("GPUBCAST_THREADS", "0", config.threads, "expected an integer from 1 to 1024"),
        ("GPUBCAST_THREADS", "1025", config.threads, "expected an integer from 1 to 1024"),
        (
            "GPUBCAST_STREAMING",
            "24M",
            config.streaming_bytes,
            "expected auto, on, off or a number of bytes",
        ),
        (
            "GPUBCAST_STREAMING",
            "-1",
            config.streaming_bytes,
            "expected auto, on, off or a number of bytes",
        ),
        ("GPUBCAST_BACKEND", "tpu", config.allowed_device_type, "expected cpu or cuda"),
    ],
)
def test_refused_values(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, read, message: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(Error) as caught:
        read()
    assert str(caught.value) == f"{name}={text!r}: {message}"


def test_threads_default_to_what_this_process_may_use() -> None:
    affinity = getattr(os, "sched_getaffinity", None)
    assert config.threads() == (len(affinity(0)) if affinity else os.cpu_count())


def test_cache_folder_order_of_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    assert config.cache_dir() == "/var/xdg/gpubcast"
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", "~/kernels")
    assert config.cache_dir() == "/home/someone/kernels"


def test_variables_are_read_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_DEBUG", "1")
    assert config.debug() == 1
    monkeypatch.setenv("GPUBCAST_DEBUG", "2")
    assert config.debug() == 2


def test_the_documented_table_is_the_table(repository: Path) -> None:
    lines = (repository / "docs/env.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert rows == [
        f"| `{v.name}` | {v.meaning} | {v.default or 'unset'} |" for v in config.VARIABLES
    ]


def test_no_other_module_reads_the_environment(repository: Path) -> None:
    reading = re.compile(r"\b(?:environ|getenv)\b(?:\.get)?[\[(]?\"?(\w*)")
    readers = {
        (path.name, name)
        for path in (repository / "gpubcast").rglob("*.py")
        for name in reading.findall(path.read_text(encoding="utf-8"))
        if path.name != "config.py"
    }
    # Where a CUDA toolkit is installed is said by the toolkit's own variables.
    assert readers <= {("nvrtc.py", "CUDA_PATH"), ("nvrtc.py", "CUDA_HOME")}


def test_every_variable_named_in_the_package_is_in_the_table(repository: Path) -> None:
    named = {
        name
        for path in (repository / "gpubcast").rglob("*.py")
        for name in re.findall(r"GPUBCAST_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8"))
    }
    assert named == {v.name for v in config.VARIABLES}


def test_a_misspelt_variable_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.unknown() == ()
    monkeypatch.setenv("GPUBCAST_THREAD", "2")
    assert config.unknown() == ("GPUBCAST_THREAD",)
