"""Clusters of two workers, started from ``python -c``: NumPy's bits, and few compilations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support import doors

doors.library("distributed")
doors.library("xarray")

_FUNCTIONS = """
import logging, os, signal
import dask, dask.array as da, numpy as np
from distributed import Client, LocalCluster
import gpubcast as gb, gpubcast.dask

@gb.fuse("row col, row -> row col, row, col", static=("power",))
def several(x, mean, power=2):
    shifted = gb.exp(x - gb.reduce_max(x, "col"))
    square = x
    for _ in range(power - 1):
        square = square * x
    return shifted / gb.reduce_sum(shifted, "col"), gb.reduce_sum(
        x, "col"
    ) * mean, gb.reduce_sum(square, "row")

X = np.random.default_rng(3).standard_normal((4000, 40)).astype("f4")

def compare(x):
    lazy = several(x, da.from_array(X[:, 0], chunks=999))
    found = dask.compute(*lazy)
    for one, expected in zip(found, several(X, X[:, 0]), strict=True):
        assert one.tobytes() == expected.tobytes()
"""

_COLD = """
import xarray
import gpubcast.xarray

class Lines(logging.Handler):
    def emit(self, record):
        with open(os.environ["COMPILED"], "a") as file:
            file.write(f"{record.kernel} {os.getpid()}\\n")

def watch():
    logger = logging.getLogger("gpubcast")
    logger.setLevel(logging.INFO)
    logger.addHandler(Lines())

def ran(x):
    with open(os.environ["COMPILED"] + ".pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    return x

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            client.run(watch)
            watch()
            x = da.from_array(X, chunks=(250, 40)).map_blocks(ran, meta=np.empty((0, 0), "f4"))
            compare(x)
            named = xarray.DataArray(x, dims=("row", "col"))
            apart = gpubcast.xarray.apply(several, named.transpose(), X[:, 0])
            for one, expected in zip(dask.compute(*apart), several(X, X[:, 0]), strict=True):
                assert one.values.tobytes() == expected.tobytes()
    print("same")
"""

_KILLED = """
def dying(x, path):
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return x
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            for k in range(2):
                path = os.environ["COMPILED"] + f".{k}"
                x = da.from_array(X, chunks=(500, 40))
                compare(x.map_blocks(dying, path, meta=np.empty((0, 0), "f4")))
                assert os.path.exists(path)
    print("same")
"""


def _ran(code: str, folder: Path) -> Path:
    compiled = folder / "compiled"
    own = {"GPUBCAST_CACHE_DIR": str(folder / "cache"), "COMPILED": str(compiled)}
    done = subprocess.run(
        [sys.executable, "-c", _FUNCTIONS + code],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder,
    )
    assert done.stdout == "same\n", done.stderr
    return compiled


def test_a_cold_cluster_compiles_a_kernel_once(tmp_path: Path) -> None:
    compiled = _ran(_COLD, tmp_path)
    kernels = [line.split()[0] for line in compiled.read_text().splitlines()]
    assert len(kernels) >= 3
    assert sorted(set(kernels)) == sorted(kernels)
    assert len(set((tmp_path / "compiled.pids").read_text().split())) == 2


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    _ran(_KILLED, tmp_path)
