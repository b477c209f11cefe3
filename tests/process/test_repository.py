"""The repository around the package: wheel, import cost, Dockerfile, Makefile, pins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import gpubcast
from tests.support.packages import CLEAN, build, python
from tools import cuda_extra, replay_dockerfile

# --- wheel and source archive -----------------------------------------------------------------


@pytest.fixture(scope="module")
def sdist(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = build(repository, "sdist", tmp_path_factory.mktemp("sdist"))
    into = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as files:
        # Python 3.11.4 brought filters.
        filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        files.extractall(into, **filtered)  # type: ignore[arg-type]
    (unpacked,) = into.iterdir()
    return unpacked


def shipped(folder: Path) -> dict[str, bytes]:
    """Files of a source folder that belong in the wheel, by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.parent.name != "results"
        if path.suffix != ".sh"
    }


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        ("gpubcast", "gpubcast"),
        ("cuda_kernels", "gpubcast/_cuda_kernels"),
        ("bench", "gpubcast/_bench"),
    ],
)
def test_the_wheel_holds_every_file(
    repository: Path, wheel: Path, folder: str, inside: str
) -> None:
    expected = shipped(repository / folder)
    assert expected
    with zipfile.ZipFile(wheel) as files:
        found = {
            name.removeprefix(f"{inside}/"): files.read(name)
            for name in files.namelist()
            if name.startswith(f"{inside}/")
            and not (inside == "gpubcast" and name.startswith("gpubcast/_"))
        }
        if inside == "gpubcast":
            found |= {
                name.removeprefix("gpubcast/"): files.read(name)
                for name in files.namelist()
                if re.fullmatch(r"gpubcast/_\w+\.py", name)
            }
    assert found == expected


def test_the_wheel_is_typed_and_has_one_top_level_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    assert "gpubcast/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"gpubcast", "gpubcast-0.2.0.dist-info"}


def test_the_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        info = "gpubcast-0.2.0.dist-info"
        metadata = Parser().parsestr(files.read(f"{info}/METADATA").decode())
        entry_points = files.read(f"{info}/entry_points.txt").decode()
        licence = files.read(f"{info}/licenses/LICENSE").decode()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    required = metadata.get_all("Requires-Dist")
    base = [line for line in required if "extra ==" not in line]
    assert [re.match(r"[\w-]+", line).group() for line in base] == [
        *("ml-dtypes", "numba", "numpy", "rich")
    ]
    for extra in ("cuda12", "cuda13"):
        (line,) = (line for line in required if line.endswith(f"extra == '{extra}'"))
        assert line.startswith(f"cupy-{extra}x[ctk]")
    assert "gpubcast = gpubcast.cli.main:main" in entry_points
    assert "Version 2.0, January 2004" in licence


def test_an_index_takes_the_archives(repository: Path, wheel: Path, tmp_path: Path) -> None:
    """Their metadata, and a description that renders and has no link that holds in a checkout
    alone."""
    archive = build(repository, "sdist", tmp_path)
    check = [sys.executable, "-m", "twine", "check", "--strict", wheel, archive]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(files.read(name).decode())
    description = metadata.get_payload()
    assert len(description) > 0.9 * len((repository / "README.md").read_text())
    assert [link for link in re.findall(r"\]\(([^)]*)\)", description) if ":" not in link] == []
    assert metadata["Author"] == "The gpubcast project"


def test_one_version_and_one_date(repository: Path) -> None:
    """In the package, the changelog, whose newest release it is, and the citation."""
    changes, citation = ((repository / n).read_text() for n in ("CHANGELOG.md", "CITATION.cff"))
    version, date = re.search(r"^## \[(\d.*)\] - (.*)$", changes, re.MULTILINE).groups()
    assert version == gpubcast.__version__
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation


def test_the_source_archive_is_complete(repository: Path, sdist: Path) -> None:
    for name in (
        *("pyproject.toml", "Makefile", "Dockerfile", "README.md", "CHANGELOG.md", "LICENSE"),
        *(
            "CONTRIBUTING.md",
            "CITATION.cff",
            "docs/env.md",
            "tools/lint_house.py",
            "tests/conftest.py",
        ),
        *("gpubcast/py.typed", "gpubcast/functions.pyi", ".ci/run"),
    ):
        assert (sdist / name).read_bytes() == (repository / name).read_bytes()
    assert shipped(sdist / "cuda_kernels") == shipped(repository / "cuda_kernels")
    assert shipped(sdist / "tests/corpora") == shipped(repository / "tests/corpora")


def test_the_wheel_of_the_source_archive_is_the_wheel(
    wheel: Path, sdist: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(build(sdist, "wheel", tmp_path)) as other:
        assert {i.filename: i.CRC for i in one.infolist()} == {
            i.filename: i.CRC for i in other.infolist()
        }


def test_the_installed_wheel_imports_and_finds_its_headers(
    repository: Path, installed: Path, tmp_path: Path
) -> None:
    code = """
import pathlib, sys, gpubcast
package = pathlib.Path(gpubcast.__file__).parent
assert package.is_relative_to(sys.prefix), package
root = package / "_cuda_kernels"
files = (p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
print(gpubcast.__version__, *sorted(files))
"""
    version, *headers = python(code, interpreter=str(installed), cwd=tmp_path).split()
    assert version == "0.2.0"
    assert headers == sorted(shipped(repository / "cuda_kernels"))


def test_the_installed_command_answers(installed: Path, tmp_path: Path) -> None:
    command = [installed.parent / "gpubcast", "--version"]
    run = subprocess.run(command, cwd=tmp_path, env=CLEAN, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "gpubcast 0.2.0\n"


# --- import -----------------------------------------------------------------------------------


def test_import_loads_nothing_heavy(repository: Path) -> None:
    heavy = ("rich", "llvmlite", "numba", "cupy", "ml_dtypes")
    code = f"import sys, gpubcast; print([m for m in {heavy} if m in sys.modules])"
    assert python(code, cwd=repository) == "[]\n"


def test_import_executes_little(repository: Path) -> None:
    """In instructions of Python's: 30 ms of them are some 300,000, and rich's import has more. Two
    thirds are the exceptions, which are there before anything can fail."""
    code = """
import numpy
from tests.support.instructions import count
print(count(lambda: __import__("gpubcast")))
"""
    python(code, cwd=repository)  # writes the bytecode
    assert 0 < int(python(code, cwd=repository)) < 20_000


# --- Dockerfile -------------------------------------------------------------------------------

TARGETS = ("cpu", "cuda")


def test_the_dockerfile_keeps_our_rules(repository: Path) -> None:
    stages = replay_dockerfile.parse((repository / "Dockerfile").read_text())
    assert [stage.name for stage in stages] == ["builder", "base", "cuda", "cpu"]
    assert replay_dockerfile.lint(stages, TARGETS) == ()


def test_hadolint_finds_nothing(repository: Path) -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
        "hadolint"
    )
    if hadolint is None:
        pytest.skip("hadolint has no wheel for this machine")
    run = subprocess.run([hadolint, repository / "Dockerfile"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("python:3.13-slim-trixie AS base", "python AS base", "base: python has no version tag"),
        (
            "python:3.13-slim-trixie AS base",
            "python:latest AS base",
            "base: python:latest has no version tag",
        ),
        ("pip wheel --no-cache-dir", "pip wheel", "pip without --no-cache-dir"),
        ("USER 1000:1000", "USER root", "cpu runs as root"),
        ("USER 1000:1000\n", "", "cpu runs as root"),
        ('["gpubcast"]', "gpubcast", "cpu has no exec-form ENTRYPOINT or CMD"),
        ("FROM base AS cpu", "FROM base AS host", "there is no target cpu"),
        (
            "RUN useradd",
            "RUN apt-get install g++ && useradd",
            "the apt lists stay in the image",
        ),
    ],
)
def test_planted_dockerfile_faults_are_found(
    repository: Path, old: str, new: str, expected: str
) -> None:
    text = (repository / "Dockerfile").read_text()
    assert old in text
    stages = replay_dockerfile.parse(text.replace(old, new))
    assert any(p.endswith(expected) for p in replay_dockerfile.lint(stages, TARGETS))


def test_dockerfile_parsing_joins_lines_and_drops_comments() -> None:
    text = 'FROM a:1 AS one\n# note\nRUN x \\\n    # note\n    && y\n\nCMD ["z"]\n'
    (stage,) = replay_dockerfile.parse(text)
    assert stage == replay_dockerfile.Stage(
        "one",
        "a:1",
        (
            replay_dockerfile.Instruction(3, "RUN", "x && y"),
            replay_dockerfile.Instruction(7, "CMD", '["z"]'),
        ),
    )


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("README.md", False),
        ("docs", True),
        ("docs/env.md", True),
        ("gpubcast/plan.py", False),
        ("gpubcast/codegen/__pycache__/cpu.cpython-311.pyc", True),
        ("gpubcast/plan.pyc", True),
        ("bench/cases/table.py", False),
        ("bench/results/h200.json", True),
        (".git/config", True),
    ],
)
def test_what_enters_an_image_build(repository: Path, path: str, out: bool) -> None:
    lines = (repository / ".dockerignore").read_text().splitlines()
    patterns = tuple(line for line in lines if line and not line.startswith("#"))
    assert replay_dockerfile.ignored(path, patterns) is out


# --- set-up -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "extra"),
    [
        *((0, ""), (11080, ""), (12000, "cuda12"), (12090, "cuda12")),
        *((13000, "cuda13"), (13020, "cuda13"), (14000, "cuda13")),
    ],
)
def test_the_extra_that_fits_the_driver(driver: int, extra: str) -> None:
    assert cuda_extra.extra_for(driver) == extra


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac',
            "gpubcast needs Python 3.11 or newer, and this is Python 3.9.2: name another one: "
            "make PYTHON=/path/to/python3.11",
        ),
        (
            'case "$2" in *ensurepip*) exit 1 ;; esac',
            "cannot make virtual environments: install its venv module "
            "(Debian, Ubuntu: apt-get install python3-venv)",
        ),
        (
            None,
            "is missing: install Python 3.11 or newer, or name one: "
            "make PYTHON=/path/to/python3.11",
        ),
    ],
    ids=["too old", "no venv", "missing"],
)
def test_make_says_what_the_machine_lacks(
    repository: Path, tmp_path: Path, script: str | None, message: str
) -> None:
    fake = tmp_path / "python"
    if script is not None:
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
    command = ["make", "--no-print-directory", "demo", f"PYTHON={fake}", f"VENV={tmp_path}/venv"]
    run = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert message in run.stderr
    assert not (tmp_path / "venv").exists()


def test_the_hooks_run_the_versions_that_the_suite_runs(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    pins = {line for line in project["optional-dependencies"]["test-tools"] if "==" in line}
    hooks = (repository / ".pre-commit-config.yaml").read_text()
    used = set(re.findall(r'additional_dependencies: \["([^"]+)"\]', hooks))
    assert used == {line for line in pins if line.startswith("ruff==")}


def test_ci_runs_what_the_readme_says(repository: Path) -> None:
    script = repository / ".ci/run"
    assert os.access(script, os.X_OK)
    lines = script.read_text().splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert lines[-5:] == [
        'make test TESTS="long or not long" SHARE=6',
        "make test-lowest",
        "make docker-replay",
        'make test-interop TESTS="(long or not long)" SHARE=6',
        "make docs",
    ]


def test_contributing_shows_what_is_there(repository: Path) -> None:
    """A row of the table, and a formula."""
    text = (repository / "CONTRIBUTING.md").read_text()
    assert text.index("## Add an operation") == text.index("## ")
    row, formula = (
        "\n".join(line.removeprefix("+") for line in block.splitlines())
        for block in re.findall(r"```diff\n(.*?)\n```", text, re.DOTALL)
    )
    assert row.startswith("    Op(\n")
    assert row in (repository / "gpubcast/hlo/rows/arithmetic.py").read_text()
    assert formula.startswith("@formula(")
    assert formula in (repository / "gpubcast/hlo/elementary/exponential.py").read_text()
