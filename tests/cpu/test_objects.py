"""Machine code kept on disk: what may be kept, who loads it, and the way in from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import runtime
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import CpuBackend, entry, objects

TEXT = """
def {name}(table, low, high):
    p0 = load_s64(table, 0)
    for i0 in range(low, high):
        store_f32(p0, i0, {value})
"""


def source(name: str, value: str = "float32(7)", fast: bool = False) -> KernelSource:
    return KernelSource(name, TEXT.format(name=name, value=value), name, fast)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def fill(kernel: Any) -> list[float]:
    out = np.zeros(4, np.float32)
    table = np.array([out.ctypes.data])
    kernel(int(table.ctypes.data), 1, 3)
    return out.tolist()


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.o"))


def kept(folder: Path) -> list[Path]:
    """The kernels' files: the way into them is one more."""
    return [path for path in files(folder) if not path.read_bytes().startswith(b"gpubcast_entry")]


def test_a_kernel_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fill(CpuBackend().load(source("once"))) == [0, 7, 7, 0]
    assert len(kept(folder)) == 1
    monkeypatch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("again"))
    assert fill(CpuBackend().load(source("once"))) == [0, 7, 7, 0]


@pytest.mark.parametrize("other", [source("key", "float32(8)"), source("key", fast=True)])
def test_another_source_is_another_file(folder: Path, other: KernelSource) -> None:
    CpuBackend().load(source("key"))
    CpuBackend().load(other)
    assert len(kept(folder)) == 2


@pytest.mark.parametrize("damage", [b"", b"no object", b"x\0\x7fELF"])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes) -> None:
    CpuBackend().load(source("damaged"))
    (path,) = kept(folder)
    path.write_bytes(damage)
    assert fill(CpuBackend().load(source("damaged"))) == [0, 7, 7, 0]
    (path,) = kept(folder)
    assert path.read_bytes() != damage


def test_symbols_that_are_missing_are_seen() -> None:
    image = objects.compiled_ir(
        "declare float @expf(float)\ndeclare void @PyErr_Print()\n"
        "define float @f(float %x) {\n call void @PyErr_Print()\n"
        " %y = call float @expf(float %x)\n ret float %y\n}\n"
    )
    assert objects.undefined(image) - {"_GLOBAL_OFFSET_TABLE_"} == {"expf", "PyErr_Print"}
    assert not objects.may_be_kept(image)
    assert not objects.may_be_kept(b"no object")
    assert not objects.may_be_kept(image[:100])


def test_code_that_needs_more_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "may_be_kept", lambda image: False)
    assert fill(CpuBackend().load(source("needy"))) == [0, 7, 7, 0]
    assert files(folder) == []


def test_a_file_that_needs_more_is_not_loaded(folder: Path) -> None:
    """As if an older release had kept it."""
    CpuBackend().load(source("older"))
    (path,) = kept(folder)
    key = path.name.split(".")[0]
    image = objects.compiled_ir(
        "declare void @gone()\ndefine i32 @f(ptr %r) {\n call void @gone()\n ret i32 0\n}\n"
    )
    path.unlink()
    store = objects.Store(f"cpu/{path.parents[1].name}", "o")
    store.fetch(key, lambda: b"f\0" + image)
    assert fill(CpuBackend().load(source("older"))) == [0, 7, 7, 0]


def test_every_kernel_of_the_gallery_may_be_kept(folder: Path) -> None:
    """Every operation's code needs only what is allowed."""
    from tests import operations

    runtime.clear()
    for row, kind in operations.rows()[::17]:
        operations.check(row, kind, "cpu")
    assert len(kept(folder)) == len({path.name.split(".")[0] for path in kept(folder)}) > 10
    runtime.clear()


def test_ctypes_takes_the_place_of_the_entry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "_kernel_definition", lambda: None)
    assert fill(CpuBackend().load(source("plain"))) == [0, 7, 7, 0]


@pytest.mark.parametrize(
    ("text", "good", "wrong"),
    [
        ("_TEXT", "i64 %low, i64 %high)", "i64 %high, i64 %low)"),
        ("_CALL", "br i1 %read.only, label %refuse", "br i1 false, label %refuse"),
        ("_CALL", "%crooked = and i64 %here, %mask", "%crooked = and i64 %here, 0"),
        ("_CALL", "or i1 %apart, %in.place", "or i1 true, %in.place"),
        ("_CALL", "icmp ule i64 %high, %out.low", "icmp ult i64 %high, %out.low"),
        ("_CALL", "%word = add i64 %from, %add", "%word = add i64 %from, 0"),
        ("_CALL", "i64 0, i64 %grid)", "i64 0, i64 %mask)"),
    ],
)
def test_the_ways_in_are_tried_before_they_are_used(
    monkeypatch: pytest.MonkeyPatch, text: str, good: str, wrong: str
) -> None:
    definition = {"_TEXT": entry._kernel_definition, "_CALL": entry._call_definition}[text]
    assert definition() is not None
    before = getattr(entry, text)
    assert good in before
    # Another name, since the code under the first one is loaded already.
    altered = before.replace(good, wrong).replace("@gpubcast_", "@altered_")
    monkeypatch.setattr(entry, text, altered)
    real = entry._definition
    monkeypatch.setattr(
        entry, "_definition", lambda t, name: real(t, name.replace("gpubcast_", "altered_"))
    )
    assert definition.__wrapped__() is None


SECOND = """
import sys
import numpy as np
import gpubcast as gb
x = np.arange(6, dtype=np.float32)
assert (gb.add(x, x) == 2 * x).all()
assert (gb.exp(gb.sub(x, x)) == 1).all()
print("numba" in sys.modules)
"""


def test_a_second_process_does_not_import_numba(folder: Path) -> None:
    runs = [
        subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["True", "False"]


def test_a_kernel_that_numba_refuses_is_an_error(folder: Path) -> None:
    with pytest.raises(gb.CompileError, match="refused") as caught:
        CpuBackend().load(source("wrong", "no_such_function(1)"))
    assert "no_such_function" in str(caught.value)
    assert kept(folder) == []
