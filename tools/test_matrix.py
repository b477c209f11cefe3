"""The tests where a developer does not run them: other Pythons, other versions, less of a machine.

    python tools/test_matrix.py            every row
    python tools/test_matrix.py lowest     one row

A row makes an environment of its own under ``.matrix/`` where it needs one. A row that this machine
cannot run is skipped, and the table at the end says why. Exit status 1 where a row failed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BUSY = 12
# What versions decide: compiled code, and what arrays of NumPy, ml_dtypes and CuPy are and do. Of
# loops and threads that other tests of the same kernels have, too, lengths and places are left out.
_OF_VERSIONS = (
    "tests/cpu",
    *(
        f"--ignore=tests/cpu/test_{name}.py"
        for name in (
            *("column_passes", "column_tiles", "common_lines", "contiguous_rows", "endurance"),
            *("extreme_indices", "pairs", "replay", "result_pool", "shared_passes", "signs"),
            *("thread_team", "vector_loops", "waiting_results"),
        )
    ),
    *(
        f"tests/calls/test_{name}.py"
        for name in (
            *("arrays", "array_exchange", "array_methods", "array_api_rules", "array_api_values"),
            *("calls", "call_table", "gpu_copies", "gpu_exchange", "pickles", "scalar_operands"),
        )
    ),
)
_CHECKOUT = ("-e", f"{ROOT}[test]")
_EMULATION = ("qemu-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objcopy")
_EMULATED = (
    *("tests/unit/shapes", "tests/unit/hlo", "tests/unit/planning", "tests/unit/schedules"),
    *("tests/unit/codegen", "tests/cpu/test_runs.py", "tests/cpu/test_tiles.py"),
)
_COMPILERS = re.compile(r"(.*-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+)(-[0-9.]+)?")
_BOUND = re.compile(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)")


class Skipped(Exception):
    """Why this machine cannot run a row."""


class Failed(Exception):
    """What of a row failed."""


@dataclass(frozen=True)
class Row:
    """A row of the matrix.

    Attributes:
        shows: what a run of it shows.
        run: runs it; raises ``Skipped`` or ``Failed``.
    """

    shows: str
    run: Callable[[], None]


@dataclass
class Result:
    """The rows that have run, and what came of each."""

    said: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def run(self, name: str, row: Row) -> None:
        print(f"\n=== {name}: {row.shows}", flush=True)
        try:
            row.run()
            self.said[name] = "passed"
        except Skipped as why:
            self.said[name] = f"skipped: {why}"
        except Failed as what:
            self.said[name] = f"FAILED: {what}"
            self.failed = True


def lowest_versions() -> list[str]:
    """The lowest version of each package that pyproject.toml bounds, as constraints for pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["bench"], *extras["cuda13"]]
    bounds = [_BOUND.match(line) for line in lines]
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def _run(command: list[str | Path], **variables: str) -> None:
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command[1:4]))} ... exits with {done.returncode}")


def _environment(name: str, python: str, constraints: list[str], *installed: str) -> Path:
    """The interpreter of a new environment with what is installed, as pip's arguments."""
    place = ENVIRONMENTS / name
    shutil.rmtree(place, ignore_errors=True)
    _run([python, "-m", "venv", place])
    told = place / "constraints.txt"
    told.write_text("\n".join(constraints) + "\n")
    install: list[str | Path] = [place / "bin/python", "-m", "pip", "install", "--quiet"]
    _run([*install, *os.environ.get("PIP_FLAGS", "").split(), "-c", told, *installed])
    return place / "bin/python"


def _tests(
    python: Path | str, *arguments: str, prefix: tuple[str, ...] = (), **variables: str
) -> None:
    with tempfile.TemporaryDirectory() as caches:
        options = ("-n", "2", "--dist=worksteal", "-o", f"cache_dir={caches}")
        tests = (python, "-m", "pytest", "-q", "-m", "not long and not gpu", *options, *arguments)
        _run([*prefix, *tests], **variables)


def _interpreter(version: str) -> str:
    found = shutil.which(f"python{version}")
    if found is None:
        raise Skipped(f"there is no python{version} on the path")
    usable = subprocess.run(
        [found, "-c", "import venv, ensurepip"], check=False, capture_output=True
    )
    if usable.returncode:
        raise Skipped(f"python{version} makes no environments: {usable.stderr.decode()[-80:]}")
    return found


def _on_python(version: str) -> Callable[[], None]:
    return lambda: _tests(_environment(version, _interpreter(version), [], *_CHECKOUT))


def _at_lowest_versions() -> None:
    try:
        lowest = _interpreter(PYTHONS[0])
    except Skipped:  # this one, which made the environment that runs this
        lowest = sys.executable
    python = _environment("lowest", lowest, lowest_versions(), *_CHECKOUT)
    _run([python, "-W", "error", "-c", "import cupy; print('cupy', cupy.__version__)"])
    _tests(python, *_OF_VERSIONS)


def _by_the_first_nvrtc() -> None:
    """By the compiler of CUDA 13.0, whose wheel does not say where a part of it is."""
    python = _environment("nvrtc", sys.executable, ["nvidia-cuda-nvrtc==13.0.*"], *_CHECKOUT)
    _tests(python, "tests/compile")


def _as_published() -> None:
    """The wheel and the source archive, each alone in an environment with what it asks for."""
    with tempfile.TemporaryDirectory() as place:
        _run([sys.executable, "-m", "hatchling", "build", "-d", place])
        archives = sorted(Path(place).iterdir())
        _run([sys.executable, "-m", "twine", "check", "--strict", *archives])
        for archive in archives:
            python = _environment("published", sys.executable, [], f"{archive}")
            _run([python, "-P", "-c", "import gpubcast; print(gpubcast.__file__)"])
            _run([python.with_name("gpubcast"), "demo"])


def _without_compilers() -> None:
    """Links to all that is on the path, but for compilers of C and C++."""
    with tempfile.TemporaryDirectory() as place:
        for folder in os.environ["PATH"].split(os.pathsep):
            for tool in Path(folder).glob("*"):
                link = Path(place, tool.name)
                if not _COMPILERS.fullmatch(tool.name) and not link.is_symlink():
                    link.symlink_to(tool)
        assert shutil.which("g++", path=place) is None
        _tests(sys.executable, PATH=place)


def _beside_busy_processes() -> None:
    with _busy(BUSY):
        _tests(sys.executable)


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _on_one_core() -> None:
    if shutil.which("taskset") is None:
        raise Skipped("there is no taskset")
    _tests(sys.executable, prefix=("taskset", "-c", str(min(os.sched_getaffinity(0)))))


def _on_aarch64() -> None:
    """The bits of every kernel; and on a Python of AArch64, where one is named, what compiles few
    of them, which takes a minute each under qemu-user."""
    missing = [name for name in _EMULATION if shutil.which(name) is None]
    if missing:
        raise Skipped(f"there is no {', no '.join(missing)} on the path")
    _tests(
        sys.executable, "tests/cpu/test_processors.py", "-m", "long or not long", "-k", "aarch64"
    )
    python = os.environ.get("AARCH64_PYTHON")
    if python:
        _tests(python, *_EMULATED)


ROWS = {
    "lowest": Row("the lowest versions that pyproject.toml allows", _at_lowest_versions),
    "nvrtc": Row("kernels by the NVRTC of CUDA 13.0", _by_the_first_nvrtc),
    "published": Row("the wheel and the source archive in empty environments", _as_published),
    "no-compiler": Row("no g++ on the path", _without_compilers),
    "one-core": Row("one core", _on_one_core),
    "aarch64": Row("AArch64 by qemu-user", _on_aarch64),
    "busy": Row(f"beside {BUSY} busy processes", _beside_busy_processes),
    **{f"python{one}": Row(f"CPython {one}", _on_python(one)) for one in PYTHONS},
}


def main(names: list[str]) -> int:
    """Run rows, all where none is named, and print what came of each."""
    unknown = set(names) - set(ROWS)
    if unknown:
        print(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
        return 2
    result = Result()
    for name in names or ROWS:
        result.run(name, ROWS[name])
    print("\n=== the matrix")
    for name, what in result.said.items():
        print(f"{name:14} {what}")
    return int(result.failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
