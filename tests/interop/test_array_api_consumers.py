"""Libraries that take any array of the standard run on ``gpubcast.array_api``, unchanged."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gpubcast as gb
import gpubcast.array_api as xp
from tests.support import array_api_consumers, doors


@pytest.mark.parametrize("library", sorted(array_api_consumers.LIBRARIES))
def test_consumers(library: str) -> None:
    doors.library(library)
    command = [sys.executable, "-m", "tests.support.array_api_consumers", library]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"calls of {library}" in done.stdout


def test_other_results_are_noticed() -> None:
    array_api_consumers.compare(xp.asarray([1.0]), np.array([1.0]))
    with pytest.raises(AssertionError, match="came back"):
        array_api_consumers.compare(np.array([1.0]), np.array([1.0]))
    with pytest.raises(AssertionError):
        array_api_consumers.compare(xp.asarray([1.0]), np.array([1.0 + 1e-9]))


def test_xarray_is_refused_where_it_would_turn_to_numpy() -> None:
    xarray = doors.library("xarray")
    array = xarray.DataArray(xp.asarray([[1.0, 2.0]]), dims=("i", "j"))
    with pytest.raises(gb.ElementTypeError, match=r"numpy\.nanmean does not take"):
        array.mean("i")
    assert isinstance(array.mean("i", skipna=False).data, xp.StandardArray)


def test_array_api_compat_knows_the_namespace() -> None:
    compat = doors.library("array_api_compat")
    x = xp.asarray([1.0, 2.0])
    assert compat.is_array_api_obj(x) and compat.array_namespace(x) is xp
    assert compat.device(x) == "cpu" and compat.size(x) == 2
