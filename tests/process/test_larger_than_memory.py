"""The example of an array that is larger than memory, small."""

from __future__ import annotations

import importlib
import mmap
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support import doors
from tests.support.gallery_scripts import EXAMPLES

doors.library("dask.array")
SMALL = ("--size", "3.1MB", "--block", "1MB", "--workers", "2", "--folder")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    module = importlib.import_module("larger_than_memory")
    monkeypatch.setattr(module, "file_system", lambda folder: "ext4")
    return module


def test_it_is_right_in_both_libraries(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([*SMALL, str(tmp_path), "--numpy", "--repeat", "2", "--from-disk"]) == 0
    printed = capsys.readouterr().out
    assert "f32[189,4096], 0.00 GB, 2 threads\nthe disk alone: " in printed
    for name in ("statistics", "normalised", "softmax"):
        for library in ("gpubcast", "NumPy"):
            assert printed.count(f"{name}, {library}\n") == 2
        assert printed.count(f"\n{name:10} ") == 1
    assert "100% Completed" in printed and "WRONG" not in printed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", range(3))
def test_a_wrong_result_is_noticed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    right = script.FUNCTIONS["gpubcast"]

    def planted(*operands: Any) -> Any:
        made = right[number](*operands)
        return (made[0], made[1] * 1.0001) if number == 0 else made * 1.0001

    changed = (*right[:number], planted, *right[number + 1 :])
    monkeypatch.setitem(script.FUNCTIONS, "gpubcast", changed)
    assert script.main([*SMALL, str(tmp_path)]) == 1
    assert f"gpubcast: {('statistics', 'normalised', 'softmax')[number]} is WRONG" in (
        capsys.readouterr().out
    )


def test_too_much_memory_is_noticed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(script, "LIMIT", 1_000_000)
    assert script.main([*SMALL, str(tmp_path)]) == 1
    assert "more than 0 GB of anonymous memory" in capsys.readouterr().out


def test_anonymous_memory_is_counted_in_every_process(script: ModuleType) -> None:
    before = script.anonymous_memory()
    size = 64 << 20
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE) as memory:
        memory[:: mmap.PAGESIZE] = bytes(size // mmap.PAGESIZE)
        assert script.anonymous_memory() - before >= size
    code = f"x = bytearray({size}); print(len(x), flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline()
        assert script.anonymous_memory() - before >= size
        child.communicate(b"\n")


def test_the_file_has_no_name_and_is_no_copy(script: ModuleType, tmp_path: Path) -> None:
    with script.mapped(100, tmp_path) as source:
        memory = source.memory
        assert list(tmp_path.iterdir()) == []
        assert memory.shape == (100, 4096) and np.shares_memory(source[3:7], memory)
        lazy = script.da.from_array(source, chunks=(64, -1), name="input", inline_array=True)
        mean, deviation = script.dask.compute(*script.statistics(lazy), scheduler="threads")
        wanted = script.statistics(np.array(memory))
        np.testing.assert_array_equal(mean, wanted[0])
        np.testing.assert_array_equal(deviation, wanted[1])


def test_where_it_does_not_fit_nothing_is_written(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="GB free"):
        script.main(["--size", "900000GB", "--folder", str(tmp_path)])
    monkeypatch.setattr(script, "file_system", lambda folder: "tmpfs")
    with pytest.raises(SystemExit, match="is memory"):
        script.main([*SMALL, str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_the_file_system_of_a_folder_is_known() -> None:
    code = "from pathlib import Path; import larger_than_memory as script; "
    command = [sys.executable, "-c", code + "print(script.file_system(Path('/proc/self')))"]
    assert subprocess.check_output(command, cwd=EXAMPLES, text=True).strip() == "proc"
