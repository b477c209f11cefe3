"""Fused functions in other processes: by name, and by value through cloudpickle."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import nn
from tests.support import doors

X = np.arange(6, dtype="f4").reshape(2, 3)
V = np.float32([1, 2])


@gb.fuse("r c, r -> r c", static=("power",))
def centred(x, m, power=1):  # type: ignore[no-untyped-def]
    """One that this module has by its name."""
    return (x - m) ** power


def plain(x):  # type: ignore[no-untyped-def]
    return x * 2.0


doubled = gb.fuse(plain)


class Home:
    @staticmethod
    @gb.fuse
    def tripled(x):  # type: ignore[no-untyped-def]
        return x * 3.0


def local(gain: float) -> Any:
    @gb.fuse("..., -> ...", static=("sign",), fast_math=True)
    def scaled(x, m, *, sign=1):  # type: ignore[no-untyped-def]
        return sign * (x * gain - m)

    return scaled


MAKERS = {
    "lambda": (lambda: gb.fuse(lambda x: x * 2.0), (X,)),
    "lambda with labels": (lambda: gb.fuse("r c, r -> c r")(lambda x, m: x - m), (X, V)),
    "local": (lambda: local(2.5), (X, np.float32(1))),
    "one inside another": (lambda: gb.fuse(lambda x: nn.softmax(local(2.0)(x, 1.0))), (X,)),
}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This module by its name, which pytest imports without one."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _module())


def _module() -> Any:
    made = type(sys)(__name__)
    made.__dict__.update(globals())
    return made


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_what_a_module_has_is_pickled_by_name(here: None, protocol: int) -> None:
    """And is the same object again, so that nothing is traced twice."""
    for function in (centred, Home.tripled, nn.softmax):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
        assert copy.copy(function) is copy.deepcopy(function) is function


def test_a_function_under_its_own_name_is_fused_again(here: None) -> None:
    again = pickle.loads(pickle.dumps(doubled))
    assert again is not doubled
    np.testing.assert_array_equal(again(X), doubled(X))


@pytest.mark.parametrize("name", MAKERS)
def test_pickle_refuses_what_has_no_name(here: None, name: str) -> None:
    """When it is pickled, not where it is loaded; and says who takes it."""
    made = MAKERS[name][0]()
    with pytest.raises((pickle.PicklingError, AttributeError), match="cloudpickle takes it"):
        pickle.dumps(made)


@pytest.mark.parametrize("name", MAKERS)
def test_cloudpickle_takes_every_function_by_value(here: None, name: str) -> None:
    cloudpickle = doors.library("cloudpickle")
    make, operands = MAKERS[name]
    made = make()
    again = pickle.loads(cloudpickle.dumps(made))
    assert repr(again) == repr(made) and again.__doc__ == made.__doc__
    np.testing.assert_array_equal(again(*operands), made(*operands))
    # And once more: what was shipped can be shipped on.
    third = pickle.loads(cloudpickle.dumps(again))
    np.testing.assert_array_equal(third(*operands), made(*operands))
    assert third.__qualname__ == made.__qualname__


def test_static_arguments_and_fast_math_are_shipped(here: None) -> None:
    cloudpickle = doors.library("cloudpickle")
    made = local(3.0)
    again = pickle.loads(cloudpickle.dumps(made))
    np.testing.assert_array_equal(again(X, V[0], sign=-1), made(X, V[0], sign=-1))
    with pytest.raises(gb.Error, match="cannot be hashed"):
        again(X, V[0], sign=[])
    assert "fast_math=True" in repr(again.plan(X, V[0]).expression)


_SCRIPT = """
import pickle, subprocess, sys
import cloudpickle, numpy as np
import gpubcast as gb

@gb.fuse("r c, r -> r c", static=("power",))
def centred(x, m, power=1):
    return (x - m) ** power

two = 2.0
@gb.fuse
def doubled(x):
    return gb.exp(x) * two

X = np.arange(6, dtype="f4").reshape(2, 3)
calls = [(centred, (X, X[:, 0], 2)), (doubled, (X,)), (gb.fuse(lambda x: doubled(x) - 1), (X,))]
here = [function(*operands) for function, operands in calls]
# By name, as a process that has this __main__ finds it.
assert pickle.loads(pickle.dumps(centred)) is centred
there = subprocess.run(
    [sys.executable, "-c", "import sys, pickle; calls = pickle.load(sys.stdin.buffer);"
     "pickle.dump([f(*x) for f, x in calls], sys.stdout.buffer)"],
    input=cloudpickle.dumps(calls), capture_output=True, check=True)
for a, b in zip(here, pickle.loads(there.stdout), strict=True):
    assert a.tobytes() == b.tobytes()
print("same")
"""


@pytest.mark.parametrize("how", ["-c", "script"])
def test_functions_of_main_run_in_another_process(how: str, tmp_path: Path) -> None:
    doors.library("cloudpickle")
    arguments = ["-c", _SCRIPT]
    if how == "script":
        (tmp_path / "script.py").write_text(_SCRIPT)
        arguments = [str(tmp_path / "script.py")]
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout == "same\n", done.stderr


_CLUSTER = """
import numpy as np, dask, dask.array as da
from distributed import Client, LocalCluster
import gpubcast as gb

@gb.fuse("r c -> r c", static=("gain",))
def scaled(x, gain=2.0):
    return gb.tanh(x) * gain

if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    x = np.arange(24, dtype="f4").reshape(4, 6)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            lazy = da.from_array(x, chunks=(2, 3)).map_blocks(scaled, dtype="f4")
            assert lazy.compute().tobytes() == scaled(x).tobytes()
            again = client.submit(gb.fuse(lambda x: x + 1.0), x).result(timeout=300)
            assert again.tobytes() == (x + 1).tobytes()
    print("same")
"""


@pytest.mark.long
def test_a_dask_cluster_from_the_command_line_runs_them(tmp_path: Path) -> None:
    """Where ``__main__`` is no file that a worker could import."""
    doors.library("distributed")
    done = subprocess.run(
        [sys.executable, "-c", _CLUSTER],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout == "same\n", done.stderr
