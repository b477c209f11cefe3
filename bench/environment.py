"""What a measurement was made on: hardware, driver, libraries, revision; as plain JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import config

PACKAGES = (
    *("numpy", "numba", "llvmlite", "ml_dtypes", "numexpr", "cupy-cuda12x", "cupy-cuda13x"),
    *("torch", "jax", "jaxlib", "pytest", "hypothesis"),
)
_FREQUENCY = Path("/sys/devices/system/cpu/cpu0/cpufreq")
_SMI_FIELDS = (
    *("name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "clocks.max.sm"),
    *("clocks.max.mem", "power.limit", "temperature.gpu", "persistence_mode", "mig.mode.current"),
)


def environment(*, dry_run: bool = False) -> dict[str, Any]:
    """Everything that a figure may depend on. A dry run says nothing about a GPU.

    Returns:
        ``time`` (UTC), ``revision``, ``python``, ``processor``, ``cores``, ``threads`` (that this
        process may use), ``load`` (over the last minute), ``governor`` and ``megahertz`` (None
        where Linux does not say), ``variables`` (of gpubcast), ``packages`` (versions) and ``gpu``:
        None in a dry run or without a usable GPU, which ``gpu_error`` then explains.
    """
    found: dict[str, Any] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "gpubcast": gb.__version__,
        "revision": revision(),
        "python": sys.version.split()[0],
        "system": " ".join((platform.system(), platform.machine(), *platform.libc_ver())),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": config.threads(),
        "load": os.getloadavg()[0],
        "governor": _line(_FREQUENCY / "scaling_governor"),
        "megahertz": _megahertz(),
        "variables": {variable.name: text for variable, text in config.given()},
        "packages": {name: _version(name) for name in PACKAGES},
        "gpu": None,
        "gpu_error": None,
    }
    if not dry_run:
        try:
            found["gpu"] = _gpu()
        except Exception as error:
            found["gpu_error"] = f"{type(error).__name__}: {error}"
    return found


def revision() -> str:
    """The commit that is measured: of git, else GPUBCAST_REVISION, else ``"unknown"``."""
    root = Path(__file__).resolve().parent.parent
    versioned = (root / ".git").exists()
    commit = _output("git", "-C", str(root), "rev-parse", "HEAD") if versioned else ""
    if not commit:
        return os.environ.get("GPUBCAST_REVISION", "").strip() or "unknown"
    changed = _output("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if changed else commit


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    lines = (_line(Path("/proc/cpuinfo")) or "").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _megahertz() -> float | None:
    """The clock of the first processor now."""
    kilohertz = _line(_FREQUENCY / "scaling_cur_freq")
    if kilohertz is not None and kilohertz.isdigit():
        return int(kilohertz) / 1e3
    text = _line(Path("/proc/cpuinfo")) or ""
    clocks = [line.partition(":")[2] for line in text.splitlines() if line.startswith("cpu MHz")]
    return float(clocks[0]) if clocks else None


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


def nvidia_smi(device: str = "0") -> dict[str, str]:
    """Clocks, limits and driver of a GPU as nvidia-smi tells them; empty without it.

    Args:
        device: its number, which CUDA_VISIBLE_DEVICES does not change here, or its PCI bus id.
    """
    text = _output(
        "nvidia-smi", f"--query-gpu={','.join(_SMI_FIELDS)}", "--format=csv,noheader",
        f"--id={device}",
    )  # fmt: skip
    values = [value.strip() for value in text.split(",")]
    return dict(zip(_SMI_FIELDS, values, strict=True)) if len(values) == len(_SMI_FIELDS) else {}


def main(arguments: list[str]) -> int:
    """Write the environment to a file; ``--dry-run`` leaves the GPU out."""
    dry_run = "--dry-run" in arguments
    paths = [argument for argument in arguments if not argument.startswith("-")]
    if len(paths) != 1:
        print("usage: python -m bench.environment FILE [--dry-run]", file=sys.stderr)
        return 2
    found = environment(dry_run=dry_run)
    Path(paths[0]).write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
