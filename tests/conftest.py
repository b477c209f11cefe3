"""What every test runs under: a private kernel cache, plan verification, and counted skips."""

from __future__ import annotations

import collections
import os
import shutil
import time
from functools import cache
from pathlib import Path

import pytest

from tests.support import doors, packages, shares
from tests.support.once import COMPILED, once

try:
    import hypothesis
except ImportError:  # the GPU tests run on machines that have CuPy and pytest only
    hypothesis = None

_CI = bool(os.environ.get("CI"))
_COMPLETE = ("unit", "calls", "process", "compile", "emulated", "ptx")
_REPOSITORY = Path(__file__).resolve().parent.parent

# A first example may compile a kernel, so no example has a deadline. CI draws the same examples
# each time: a red run is then about the change, and a local run keeps looking for new ones.
if hypothesis is not None:
    hypothesis.settings.register_profile("gpubcast", deadline=None, print_blob=True)
    hypothesis.settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
    hypothesis.settings.load_profile("ci" if _CI else "gpubcast")


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a kernel cache of their own, which workers share and which the next run finds
    warm (``pytest --cache-clear`` empties it), and verify every plan."""
    os.environ["GPUBCAST_CHECK"] = "1"
    # How long a compiler takes is not for a test of what is printed.
    os.environ["GPUBCAST_PROGRESS"] = "0"
    if not hasattr(config, "workerinput"):
        place = config.rootpath / ".pytest_cache"
        if getattr(config, "cache", None) is not None:
            place = config.cache.mkdir("gpubcast-kernels")
        os.environ["GPUBCAST_CACHE_DIR"] = str(place)
        os.environ[COMPILED] = str(_compiled(place))


def _compiled(kernels: Path) -> Path:
    """Where tests keep what g++ and NVRTC make: beside the package's kernels, for a week."""
    place = kernels.with_name("gpubcast-compiled")
    for path in place.glob("*/*"):
        if path.stat().st_mtime < time.time() - 7 * 24 * 3600:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return place


@cache
def why_no_gpu() -> str | None:
    """Why no CUDA device can be used, or None where one can."""
    try:
        from cupy.cuda import runtime
    except ImportError as error:
        return f"CuPy does not import: {error}"
    try:
        devices = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        return f"no usable CUDA device: {error}"
    return None if devices else "no CUDA device"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--share N``."""
    parser.addoption(
        "--share", type=int, default=1, metavar="N", help="of each long test run one case in N"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what ``--share`` does; and skip tests marked ``gpu``, with the reason, where no
    device is usable."""
    every = config.getoption("share")
    if every < 1:
        raise pytest.UsageError(f"--share is one case in N, at least 1, and not {every}")
    left = shares.left_out((i for i in items if i.get_closest_marker("long")), every)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
        items[:] = [item for item in items if item.nodeid not in left]
    for item in items:
        if item.get_closest_marker("gpu"):
            reason = why_no_gpu()
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


def _skip_reasons(reporter: pytest.TerminalReporter) -> collections.Counter[tuple[str, str]]:
    """How many tests were skipped, by tier (the folder in ``tests``) and reason."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for report in reporter.stats.get("skipped", []):
        parts = Path(report.nodeid.split("::")[0]).parts
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        counts[parts[1] if len(parts) > 1 else "", reason.removeprefix("Skipped: ")] += 1
    return counts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped, and why."""
    counts = _skip_reasons(terminalreporter)
    terminalreporter.section("skipped", sep="-")
    terminalreporter.line(f"{counts.total()} skipped")
    for (tier, reason), count in sorted(counts.items()):
        terminalreporter.line(f"{count:6d}  {tier}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test of these tiers is a failure: what they need, NVRTC and g++ among it, is
    installed there, and gates that do not run hold nothing. The tests that need another library
    are not skipped by ``make test-interop``."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not _CI or reporter is None or hasattr(session.config, "workerinput"):
        return
    skipped = any(
        tier in _COMPLETE and not doors.is_missing(reason)
        for tier, reason in _skip_reasons(reporter)
    )
    if session.exitstatus == 0 and skipped:
        reporter.line("")
        reporter.line(f"a test of {', '.join(_COMPLETE)} was skipped: a failure in CI", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return _REPOSITORY


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, which its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def wheel(repository: Path, run_folder: Path) -> Path:
    """The project's wheel, built once in a run."""
    folder = once(run_folder / "wheel", lambda folder: packages.build(repository, "wheel", folder))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, run_folder: Path) -> Path:
    """The interpreter of an environment that has the wheel, made once in a run."""
    folder = once(run_folder / "environment", lambda folder: packages.environment(wheel, folder))
    return folder / "bin/python"
