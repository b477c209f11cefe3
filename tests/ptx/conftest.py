"""The device of these tests: NVRTC's code, executed. The bodies are those of ``tests/emulated``."""

from __future__ import annotations

import pytest

from gpubcast.backends.cuda import nvrtc
from gpubcast.errors import CompileError
from tests.support.emulator.backend import NewDevice
from tests.support.ptx.backend import PtxBackend

# NVRTC has two compilers: NVVM 7 up to sm_90, NVVM 23 from sm_100 on. What holds for the code of
# one is not shown for that of the other.
ARCHITECTURES = ("sm_90", "sm_100")


@pytest.fixture(scope="session", params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    """The architecture that is compiled for."""
    return request.param


@pytest.fixture(scope="session")
def new_device(arch: str, tmp_path_factory: pytest.TempPathFactory) -> NewDevice:
    """Makes a device that runs PTX; its arguments are those of ``EmulatorBackend``."""
    try:
        nvrtc.library()
    except CompileError as error:
        pytest.skip(f"needs NVRTC: {error}")
    folder = tmp_path_factory.mktemp("kernels")
    return lambda **keywords: PtxBackend(folder, **{"arch": arch, **keywords})
