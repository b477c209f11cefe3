"""Machine code kept on disk: what may be kept, who loads it, and the way in from Python."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.backends.cpu.jit import builtins, elf_loader, object_cache
from gpubcast.codegen.source import KernelSource
from gpubcast.runtime import state

TEXT = """
def {name}(table, low, high):
    p0 = load_s64(table, 0)
    for i0 in range(low, high):
        store_f32(p0, i0, {value})
"""


TEXT_IR = """
define i32 @lost(ptr %result, ptr %error, i64 %table, i64 %low, i64 %high) {
  call void @gpubcast_nobody()
  ret i32 0
}
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


def test_functions_of_one_text_are_told_apart(folder: Path) -> None:
    text = TEXT.format(name="first", value="float32(7)")
    text += TEXT.format(name="second", value="float32(9)")
    for name, value in (("first", 7), ("second", 9)):
        assert fill(CpuBackend().load(KernelSource(name, text, name))) == [0, value, value, 0]


@pytest.mark.parametrize("damage", [b"", b"no object", b"x\0\x7fELF"])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes) -> None:
    CpuBackend().load(source("damaged"))
    (path,) = kept(folder)
    path.write_bytes(damage)
    assert fill(CpuBackend().load(source("damaged"))) == [0, 7, 7, 0]
    (path,) = kept(folder)
    assert path.read_bytes() != damage


@pytest.mark.parametrize(
    "bits",
    [
        range(0, 8 * 64, 37),
        # Every third bit: of bytes that follow each other others.
        *(
            pytest.param(range(n, n + 256, 3), marks=pytest.mark.long)
            for n in range(0, 8 * 64, 256)
        ),
    ],
    ids=str,
)
def test_a_file_with_a_damaged_header_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bits: range
) -> None:
    """A bit of the object's header, under a name that says that the file is whole. Each takes a
    fork of this process."""
    CpuBackend().load(source("header"))
    (path,) = kept(folder)
    contents = path.read_bytes()
    name, _, image = contents.partition(b"\0")
    monkeypatch.setattr(
        "gpubcast.backends.cpu.backend._compiled", lambda *_: (image, name.decode())
    )
    key = path.name.split(".")[0]
    wrong = []
    for bit in bits:
        damaged = bytearray(contents)
        damaged[len(name) + 1 + bit // 8] ^= 1 << bit % 8
        for file in kept(folder):
            file.unlink()
        path.with_name(object_cache._STORE._name(key, bytes(damaged))).write_bytes(damaged)
        child = os.fork()
        if not child:
            with contextlib.suppress(Exception):
                state.clear()
                os._exit(0 if fill(CpuBackend().load(source("header"))) == [0, 7, 7, 0] else 3)
            os._exit(4)
        status = os.waitpid(child, 0)[1]
        if status:
            wrong.append((bit, os.waitstatus_to_exitcode(status)))
    assert not wrong


def test_symbols_that_are_missing_are_seen() -> None:
    image = object_cache.compiled_ir(
        "declare float @expf(float)\ndeclare void @PyErr_Print()\n"
        "define float @f(float %x) {\n call void @PyErr_Print()\n"
        " %y = call float @expf(float %x)\n ret float %y\n}\n"
    )
    found = elf_loader.parsed(image)
    assert found is not None
    assert found.undefined() - {"_GLOBAL_OFFSET_TABLE_"} == {"expf", "PyErr_Print"}
    for contents in (image, b"no object", image[:100]):
        assert not object_cache.Unit(contents, "f").is_portable()


def test_code_that_needs_more_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_cache.Unit, "is_portable", lambda unit: False)
    assert fill(CpuBackend().load(source("needy"))) == [0, 7, 7, 0]
    assert files(folder) == []


def test_a_file_that_needs_more_is_not_loaded(folder: Path) -> None:
    """As if an older release had kept it."""
    CpuBackend().load(source("older"))
    (path,) = kept(folder)
    key = path.name.split(".")[0]
    image = object_cache.compiled_ir(
        "declare void @gone()\ndefine i32 @f(ptr %r) {\n call void @gone()\n ret i32 0\n}\n"
    )
    path.unlink()
    store = object_cache.Store(f"cpu/{path.parents[1].name}", "o")
    store.fetch(key, lambda: b"f\0" + image)
    assert fill(CpuBackend().load(source("older"))) == [0, 7, 7, 0]


@pytest.mark.long
def test_every_kernel_of_the_gallery_is_portable(folder: Path) -> None:
    """Every operation's code needs only what is allowed."""
    from tests.support import operations

    state.clear()
    for row, kind in operations.rows()[::17]:
        operations.check(row, kind, "cpu")
    assert len(kept(folder)) == len({path.name.split(".")[0] for path in kept(folder)}) > 10
    state.clear()


def test_ctypes_takes_the_place_of_the_entry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_kernel_definition", lambda: None)
    assert fill(CpuBackend().load(source("plain"))) == [0, 7, 7, 0]


def test_the_way_in_is_tried_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert builtins._kernel_definition() is not None
    good, wrong = "i64 %low, i64 %high)", "i64 %high, i64 %low)"
    assert good in builtins._TEXT
    # Another name, since the code under the first one is loaded already.
    altered = builtins._TEXT.replace(good, wrong).replace("@gpubcast_", "@altered_")
    monkeypatch.setattr(builtins, "_TEXT", altered)
    real = builtins.definition
    monkeypatch.setattr(
        builtins, "definition", lambda t, name: real(t, name.replace("gpubcast_", "altered_"))
    )
    assert builtins._kernel_definition.__wrapped__() is None


SECOND = """
import sys
import numpy as np
import gpubcast as gb
x = np.arange(6, dtype=np.float32)
assert (gb.add(x, x) == 2 * x).all()
assert (gb.exp(gb.sub(x, x)) == 1).all()
heavy = (
    *("numba", "llvmlite", "gpubcast.hlo.elementary", "gpubcast.codegen.cuda.kernel"),
    "gpubcast.explain.explanation",
)
print(*(name for name in (*heavy, "gpubcast.backends.cuda") if name in sys.modules))
"""


def test_a_second_process_imports_no_compiler(folder: Path) -> None:
    """Nor what only GPUs need. Other processors' code is loaded by LLVM."""
    runs = [
        subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    second = "" if platform.machine() == "x86_64" else "llvmlite"
    assert [run.stdout.strip() for run in runs] == [
        "numba llvmlite gpubcast.hlo.elementary",
        second,
    ]


def test_what_is_not_loaded_here_is_loaded_by_llvm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elf_loader.ElfObject, "load", lambda *_: None)
    for name, value in (("first", "1"), ("second", "2"), ("first", "3")):
        kernel = CpuBackend().load(source(name, f"float32({value})"))
        assert fill(kernel) == [0, int(value), int(value), 0]


def test_a_kernel_that_numba_refuses_is_an_error(folder: Path) -> None:
    with pytest.raises(gb.CompileError, match="refused") as caught:
        CpuBackend().load(source("wrong", "no_such_function(1)"))
    assert "no_such_function" in str(caught.value)
    assert kept(folder) == []


def test_a_long_compilation_is_announced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gpubcast.backends.progress.SILENT_SECONDS", 0.0)
    CpuBackend().load(source("unheard"))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("GPUBCAST_PROGRESS", "1")
    CpuBackend().load(source("announced"))
    assert capsys.readouterr().err == "gpubcast: numba compiles a kernel ...\n"
    CpuBackend().load(source("announced"))
    assert capsys.readouterr().err == ""


def test_code_that_needs_what_nobody_has_is_refused(folder: Path) -> None:
    text = "declare void @gpubcast_nobody()\n" + TEXT_IR
    with pytest.raises(gb.CompileError, match="needs gpubcast_nobody, which no library here has"):
        object_cache.load(
            KernelSource("lost", text, "lost"), lambda: (object_cache.compiled_ir(text), "lost")
        )
    assert not files(folder)


HALVES = """
import numpy as np, gpubcast as gb
from gpubcast.backends.cpu import processor
assert not processor.converts_halves()
every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
wide = every.astype(np.float32)
rng = np.random.default_rng(0)
x = np.concatenate([
    wide[np.isfinite(wide)], rng.integers(0, 1 << 32, 1 << 17, np.uint32).view(np.float32),
    (rng.standard_normal(1 << 17) * 10.0 ** rng.integers(-9, 6, 1 << 17)).astype(np.float32),
])
with np.errstate(all="ignore"):
    narrow = x.astype(np.float16)
for ours, theirs in (
    (gb.convert_element_type(every, "f32"), wide), (gb.convert_element_type(x, "f16"), narrow),
):
    nan = np.isnan(theirs)
    assert np.array_equal(np.isnan(ours), nan)
    assert ours[~nan].tobytes() == theirs[~nan].tobytes()
"""


@pytest.mark.long
def test_f16_on_a_processor_without_it(folder: Path) -> None:
    environment = {**os.environ, "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    subprocess.run([sys.executable, "-c", HALVES], check=True, env=environment, timeout=300)


# What the modules that generated code is made of import besides, of which no machine code is made.
PYTHON_ONLY = {
    *("backends.array_types", "backends.base", "backends.dlpack_capsule", "backends.kernel_store"),
    *("backends.calling_thread", "backends.compile_log", "backends.progress"),
    *("codegen.source", "config", "errors", "hashing", "locks", "planning.plan"),
    *("schedules.schedule", "shapes.scalar_bits", "shapes.shape"),
}


def test_the_key_of_a_kernel_covers_everything_that_becomes_code() -> None:
    """A module that one of the key's imports is in the key, too, or makes no machine code."""
    root = Path(object_cache.config.PACKAGE_ROOT)
    graph = grimp.build_graph("gpubcast")
    covered = {
        ".".join(("gpubcast", *Path(path).relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for path in object_cache.ingredients()
    }
    assert {"gpubcast.backends.cpu.intrinsics.scalar", "gpubcast.hlo.elementary.gamma"} <= covered
    assert covered <= graph.modules
    imported = {one for name in covered for one in graph.find_modules_directly_imported_by(name)}
    assert {name.removeprefix("gpubcast.") for name in imported - covered} <= PYTHON_ONLY


def test_another_intrinsic_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts by its contents, those in folders of folders too."""
    object_cache._surroundings.cache_clear()
    before, read = object_cache._surroundings(), object_cache._contents
    for end in ("intrinsics/vector.py", "hlo/elementary/special.py", "schedules/cpu/tiles.py"):
        monkeypatch.setattr(
            object_cache, "_contents", lambda path, end=end: read(path) + b" " * path.endswith(end)
        )
        object_cache._surroundings.cache_clear()
        assert object_cache._surroundings() != before
    monkeypatch.undo()
    object_cache._surroundings.cache_clear()
    assert object_cache._surroundings() == before
