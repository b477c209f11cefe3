"""The device of the emulated tests: g++'s. ``tests/ptx`` runs the same bodies on another."""

from __future__ import annotations

import shutil

import pytest

from tests.support.emulator.backend import EmulatorBackend, NewDevice


@pytest.fixture(scope="session")
def new_device(tmp_path_factory: pytest.TempPathFactory) -> NewDevice:
    """Makes an emulated device; its arguments are those of ``EmulatorBackend``."""
    if shutil.which("g++") is None:
        pytest.skip("the emulator needs g++")
    folder = tmp_path_factory.mktemp("kernels")
    return lambda **keywords: EmulatorBackend(folder, **keywords)
