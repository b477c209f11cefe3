"""What a measurement was made on: hardware, driver, libraries, revision; as plain JSON."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import config

PACKAGES = (
    *("numpy", "numba", "llvmlite", "ml_dtypes", "numexpr", "cupy-cuda12x", "cupy-cuda13x"),
    *("torch", "jax", "jaxlib", "pykeops", "pytest", "hypothesis"),
)
# What says for which processor libraries choose or make their code.
CODE = (
    *(
        "NUMBA_CPU_NAME",
        "NUMBA_CPU_FEATURES",
        "NPY_DISABLE_CPU_FEATURES",
        "ATEN_CPU_CAPABILITY",
        "MKL_ENABLE_INSTRUCTIONS",
    ),
    "XLA_FLAGS",
)
_FREQUENCY = Path("/sys/devices/system/cpu/cpu0/cpufreq")
_SMI_FIELDS = (
    *("name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "clocks.max.sm"),
    *("clocks.max.mem", "power.limit", "temperature.gpu", "persistence_mode", "mig.mode.current"),
)


def environment(*, gpu: bool) -> dict[str, Any]:
    """Everything that a figure may depend on.

    Returns:
        ``time`` (UTC), ``revision``, ``python``, ``processor``, ``cores``, ``threads`` (that this
        process may use), ``load`` (over the last minute), ``governor`` and ``megahertz`` (None
        where Linux does not say), ``variables`` (of gpubcast, and of
        the processor that code is made for), ``packages`` (versions) and ``gpu``:
        None without a usable GPU, which ``gpu_error`` then explains.
    """
    installed = importlib.metadata.distributions()
    versions = {one.name: one.version for one in installed if one.name in PACKAGES}
    found: dict[str, Any] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "gpubcast": gb.__version__,
        "revision": revision(),
        "python": platform.python_version(),
        "system": " ".join((platform.system(), platform.machine(), *platform.libc_ver())),
        "processor": (_cpuinfo("model name") or [platform.processor()])[0],
        "cores": os.cpu_count(),
        "threads": config.threads(),
        "load": os.getloadavg()[0],
        "governor": _line(_FREQUENCY / "scaling_governor"),
        "megahertz": _megahertz(),
        "variables": {variable.name: text for variable, text in config.given()}
        | {name: os.environ[name] for name in CODE if os.environ.get(name)},
        "packages": dict.fromkeys(PACKAGES) | versions,
        "gpu": None,
        "gpu_error": None,
    }
    if gpu:
        try:
            found["gpu"] = _gpu()
        except Exception as error:
            found["gpu_error"] = f"{type(error).__name__}: {error}"
    return found


def revision() -> str:
    """The commit that is measured: of git, else GPUBCAST_REVISION, else ``"unknown"``."""
    commit = revision_of(Path(__file__).resolve().parents[2])
    return commit or os.environ.get("GPUBCAST_REVISION", "").strip() or "unknown"


def revision_of(root: Path) -> str:
    """The commit of a checkout, with ``-dirty`` where files differ; "" where git knows none."""
    git = ("git", "-C", str(root))
    commit = _output(*git, "rev-parse", "HEAD") if (root / ".git").exists() else ""
    changed = commit and _output(*git, "status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if changed else commit


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _cpuinfo(name: str) -> list[str]:
    lines = (_line(Path("/proc/cpuinfo")) or "").splitlines()
    return [line.partition(":")[2].strip() for line in lines if line.startswith(name)]


def _megahertz() -> float | None:
    """The clock of the first processor now."""
    kilohertz = _line(_FREQUENCY / "scaling_cur_freq") or ""
    clocks = [int(kilohertz) / 1e3] if kilohertz.isdigit() else map(float, _cpuinfo("cpu MHz"))
    return next(iter(clocks), None)


def _gpu() -> dict[str, Any]:
    """The current CUDA device; raises where there is none."""
    import cupy

    from gpubcast.backends.cuda import nvrtc

    runtime = cupy.cuda.runtime
    device = runtime.getDevice()
    properties = runtime.getDeviceProperties(device)
    name = properties["name"]
    return {
        "name": name.decode() if isinstance(name, bytes) else str(name),
        "compute_capability": cupy.cuda.Device(device).compute_capability,
        "multiprocessors": int(properties["multiProcessorCount"]),
        "l2_bytes": int(properties["l2CacheSize"]),
        "memory_bytes": int(properties["totalGlobalMem"]),
        "driver_cuda": runtime.driverGetVersion(),
        "runtime_cuda": runtime.runtimeGetVersion(),
        "nvrtc": list(nvrtc.version()),
        "nvidia_smi": nvidia_smi(runtime.deviceGetPCIBusId(device)),
    }


def nvidia_smi(device: str) -> dict[str, str]:
    """Clocks, limits and driver of a GPU as nvidia-smi tells them; empty without it."""
    query = f"--query-gpu={','.join(_SMI_FIELDS)}"
    text = _output("nvidia-smi", query, "--format=csv,noheader", f"--id={device}")
    values = [value.strip() for value in text.split(",")]
    return dict(zip(_SMI_FIELDS, values, strict=True)) if len(values) == len(_SMI_FIELDS) else {}
