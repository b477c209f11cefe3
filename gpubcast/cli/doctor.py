"""``gpubcast doctor``: what is installed, what works, and what to do about the rest.

A report to paste into an issue. No check raises: what goes wrong becomes a line of the report.
"""

from __future__ import annotations

import enum
import importlib
import json
import os
import platform
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import config
from gpubcast.backends import kernel_files
from gpubcast.backends.cuda import driver, nvrtc
from gpubcast.backends.native_calls import build
from gpubcast.backends.progress import working
from gpubcast.errors import CompileError, DeviceError
from gpubcast.runtime import state

REQUIRED = ("numpy", "numba", "llvmlite", "ml_dtypes", "rich")
# Each of these distributions installs the one module cupy.
_FLAVOUR = re.compile(r"cupy(-cuda\d+x|-rocm-[\d-]+)?")


class Status(enum.Enum):
    """What a check found; only FAILED, something that is there and does not work, is an error."""

    OK = "ok"
    ABSENT = "absent"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: what, how it is, the facts, and one sentence of what to do."""

    name: str
    status: Status
    detail: str
    advice: str = ""


def examine() -> tuple[Check, ...]:
    """Every check, in the order of the report; never raises."""
    found: list[Check] = []
    with warnings.catch_warnings():
        # Libraries warn about what the report says better, e.g. CuPy about a missing toolkit.
        warnings.simplefilter("ignore")
        for name, section in SECTIONS:
            try:
                with working(f"checking: {name}"):
                    found += section()
            except Exception as error:
                lines = str(error).splitlines() or [""]
                advice = "please report this line"
                what = f"{type(error).__name__}: {lines[0]}"
                found.append(Check(name, Status.FAILED, what, advice))
    return tuple(found)


def text(checks: tuple[Check, ...], columns: int | None = None) -> str:
    """The report as lines of text.

    Args:
        checks: what it reports.
        columns: of the terminal, so that lines end between words; None for one line each.
    """
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        head = f"{check.status.value:<6}  {check.name.ljust(width)}  "
        lines += _wrapped(head, check.detail, columns)
        if check.advice:
            lines += _wrapped(" " * len(head) + "-> ", check.advice, columns)
    broken = sum(check.status is Status.FAILED for check in checks)
    plural = "" if broken == 1 else "s"
    lines.append(f"\n{broken} problem{plural}" if broken else "\neverything that is here works")
    return "\n".join(lines)


def _wrapped(head: str, said: str, columns: int | None) -> list[str]:
    """Lines that begin with a head, then with as many blanks."""
    if columns is None:
        return [f"{head}{said}".rstrip()]
    # A narrow terminal breaks words all the same; half of it is for the text.
    made = textwrap.TextWrapper(
        max(columns, 2 * len(head)), initial_indent=head, subsequent_indent=" " * len(head),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return made.wrap(said) or [head.rstrip()]


def as_json(checks: tuple[Check, ...]) -> str:
    """The report for machines: ``{"gpubcast", "ok", "checks": [{"name", "status", ...}]}``."""
    listed = [asdict(check) | {"status": check.status.value} for check in checks]
    report = {"gpubcast": gb.__version__, "ok": not exit_code(checks), "checks": listed}
    return json.dumps(report, indent=2)


def exit_code(checks: tuple[Check, ...]) -> int:
    """1 if something that is installed does not work, else 0."""
    return int(any(check.status is Status.FAILED for check in checks))


# --- sections ----------------------------------------------------------------------------------


def _system() -> Iterator[Check]:
    yield Check("gpubcast", Status.OK, gb.__version__)
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    yield Check("Python", Status.OK, python)
    yield Check("platform", Status.OK, platform.platform())


def _processor() -> Iterator[Check]:
    # Imported here, because this is the module that loads LLVM.
    from gpubcast.backends.cpu.processor import processor

    found = processor()
    detail = f"{found.model}, {config.threads()} threads; LLVM: {found.llvm_name}"
    yield Check("processor", Status.OK, f"{detail} ({' '.join(found.features) or 'baseline'})")


def _packages() -> Iterator[Check]:
    for name in REQUIRED:
        try:
            yield Check(name, Status.OK, metadata.version(name))
        except metadata.PackageNotFoundError:
            advice = f"install it: pip install {name}"
            yield Check(name, Status.FAILED, "not installed, and needed", advice)


def flavours() -> tuple[str, ...]:
    """The installed distributions that provide CuPy, e.g. ``("cupy-cuda13x 14.2.0",)``."""
    names = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if _FLAVOUR.fullmatch(name):
            names[name] = distribution.version
    return tuple(f"{name} {version}" for name, version in sorted(names.items()))


def _cupy() -> Iterator[Check]:
    installed, seen = flavours(), driver.probe()
    wheel = f"'cupy-cuda{min(seen.version[0], 13) if seen.version else 13}x[ctk]'"
    if not installed:
        advice = f"arrays on a GPU need it: pip install {wheel}"
        yield Check("CuPy", Status.ABSENT, "not installed", advice)
        return
    listed = ", ".join(installed)
    if len(installed) > 1:
        advice = "they overwrite each other: uninstall all of them, then install one"
        yield Check("CuPy", Status.FAILED, f"{listed}: more than one", advice)
        return
    major = re.search(r"-cuda(\d+)x", listed)
    if major and seen.version and int(major[1]) > seen.version[0]:
        advice = f"pip uninstall {listed.split()[0]}, then pip install {wheel}"
        detail = f"{listed} needs a newer driver than the one for CUDA {_dotted(seen.version)}"
        yield Check("CuPy", Status.FAILED, detail, advice)
        return
    try:
        importlib.import_module("gpubcast.backends.cuda.backend")
    except Exception as error:
        advice = "install it again: pip install --force-reinstall --no-deps " + listed.split()[0]
        what = f"{listed} does not import: {type(error).__name__}: {error}".splitlines()[0]
        yield Check("CuPy", Status.FAILED, what, advice)
        return
    yield Check("CuPy", Status.OK, listed)


def _driver() -> Iterator[Check]:
    seen = driver.probe()
    if seen.version is None:
        advice = "calls run on the CPU; for a GPU, install NVIDIA's driver"
        yield Check("NVIDIA driver", Status.ABSENT, seen.problem, advice)
        return
    version = f"runs CUDA up to {_dotted(seen.version)}"
    if seen.broken:
        advice = "try nvidia-smi; after an update of the driver, restart the machine or container"
        yield Check("NVIDIA driver", Status.FAILED, f"{version}; {seen.problem}", advice)
        return
    yield Check("NVIDIA driver", Status.OK, version)
    if not seen.gpus:
        advice = "check CUDA_VISIBLE_DEVICES, and in a container that GPUs are passed in"
        yield Check("GPU", Status.ABSENT, seen.problem, advice)
    for index, gpu in enumerate(seen.gpus):
        detail = f"{gpu.name}, {gpu.arch}, {gpu.memory / 2**30:.1f} GiB"
        yield Check(f"GPU {index}", Status.OK, detail)


def _nvrtc() -> Iterator[Check]:
    try:
        library = nvrtc.library()
    except CompileError as error:
        advice = "compiling for a GPU needs it: pip install nvidia-cuda-nvrtc"
        yield Check("NVRTC", Status.ABSENT, str(error).split(";")[0], advice)
        return
    known = nvrtc.architectures()
    detail = f"{_dotted(nvrtc.version())}, {known[0]} to {known[-1]}, {_home(library._name)}"
    refused = nvrtc.too_new()
    if refused is not None:
        yield Check("NVRTC", Status.FAILED, detail, refused)
        return
    strangers = {gpu.arch: _stand_in(gpu.arch) for gpu in driver.probe().gpus}
    advice = "install another NVRTC: pip install -U nvidia-cuda-nvrtc"
    lost = [arch for arch, made in strangers.items() if made is None]
    if lost:
        what = f"{detail}; it cannot compile for {', '.join(lost)}"
        yield Check("NVRTC", Status.FAILED, what, advice)
        return
    others = [f"{arch} as {made}" for arch, made in strangers.items() if made != arch]
    if others:
        yield Check("NVRTC", Status.OK, f"{detail}; for {', '.join(others)}", advice)
        return
    yield Check("NVRTC", Status.OK, detail)


def _stand_in(arch: str) -> str | None:
    """What a GPU's kernels are compiled for, or None."""
    try:
        return nvrtc.compiled_for(arch)
    except CompileError:
        return None


def _cache() -> Iterator[Check]:
    folder = Path(config.cache_dir())
    shown, limit = _home(str(folder)), config.cache_bytes()
    if not any((folder / name).exists() for name in ("cubin", "cpu")):
        detail = f"{shown}: not there yet, made when first needed; {limit:,} bytes at most"
        yield Check("kernel cache", Status.OK, detail)
        return
    refusal = kernel_files.refusal(str(folder))
    if refusal is not None:
        advice = "set GPUBCAST_CACHE_DIR to a folder of your own, to which nobody else may write"
        yield Check("kernel cache", Status.FAILED, refusal.replace(str(folder), shown), advice)
        return
    sizes = [one.num_bytes for one in kernel_files.entries(str(folder)) if one.is_kernel]
    plural = "s" * (len(sizes) != 1)
    detail = f"{shown}: {len(sizes)} kernel{plural}, {sum(sizes):,} of {limit:,} bytes, own folder"
    if not os.access(folder, os.W_OK):
        advice = "kernels are compiled anew in each process; set GPUBCAST_CACHE_DIR"
        yield Check("kernel cache", Status.ABSENT, f"{detail}, not writable", advice)
        return
    yield Check("kernel cache", Status.OK, f"{detail}, writable")


def _native_calls() -> Iterator[Check]:
    name, shown = "native calls", "repeated calls are replayed by machine code"
    if not config.native_calls():
        advice = "unset it: in Python repeated calls take longer"
        yield Check(name, Status.ABSENT, "turned off by GPUBCAST_NATIVE_CALLS=off", advice)
    elif build.is_compiled():
        yield Check(name, Status.OK, shown)
    elif build.call_definition() is None:
        advice = "nothing: calls are replayed in Python"
        yield Check(name, Status.ABSENT, "not with this interpreter", advice)
    else:
        detail = f"{shown}, which is made in the background when one is repeated"
        yield Check(name, Status.OK, detail)
    yield _background()


def _background() -> Check:
    """The process that makes the machine code of calls."""
    name, switch = "background", "GPUBCAST_NATIVE_CALLS"
    if build.COMPILER.begun:
        return Check(name, Status.OK, f"a process compiles; {switch}=off does without")
    if not config.native_calls():
        return Check(name, Status.OK, f"no process compiles: {switch}=off")
    why = "it has done its work" if build.is_compiled() else "it begins after 64 like calls"
    return Check(name, Status.OK, f"no process compiles: {why}; {switch}=off does without")


def _environment() -> Iterator[Check]:
    for name in config.unknown():
        advice = "no such variable; docs/env.md lists them"
        yield Check("environment", Status.FAILED, f"{name} is set", advice)
    if not config.given():
        yield Check("environment", Status.OK, "no GPUBCAST_ variable is set")
    for variable, value in config.given():
        yield Check(variable.name, Status.OK, _home(value))
    reads = config.debug, config.sync, config.check, config.threads, config.allowed_device_type
    for read in (*reads, config.native_calls):
        try:
            read()
        except gb.Error as error:
            advice = "correct or unset it: every call reads it"
            yield Check("environment", Status.FAILED, str(error), advice)


# --- smoke checks ------------------------------------------------------------------------------


def _operands() -> tuple[Any, Any, Any]:
    x = np.arange(40 * 35, dtype=np.float32).reshape(40, 35)
    v = np.arange(35, dtype=np.float32)
    return x, v, x + v[np.newaxis, :]


def _cpu_kernel() -> Iterator[Check]:
    name = "CPU kernel"
    if config.allowed_device_type() == "cuda":
        yield Check(name, Status.ABSENT, "refused by GPUBCAST_BACKEND=cuda", "unset it to check")
        return
    x, v, expected = _operands()
    found = gb.add(x, v, broadcast_dimensions=(1,))
    yield _verdict(name, "compiled with numba", np.array_equal(found, expected))


def _cuda_compile() -> Iterator[Check]:
    name = "CUDA compile"
    try:
        nvrtc.library()
    except CompileError:
        yield Check(name, Status.ABSENT, "there is no NVRTC", "see the line on NVRTC")
        return
    plan = gb.plan("add", "f32[40,35]", "f32[35]", broadcast_dimensions=(1,))
    image = nvrtc.compile_cubin(plan.cuda_source("sm_90"), "sm_90").image
    yield Check(name, Status.OK, f"a kernel for sm_90, {len(image):,} bytes, no GPU needed")


def _cuda_kernel() -> Iterator[Check]:
    name = "CUDA kernel"
    seen = driver.probe()
    if not seen.gpus:
        yield Check(name, Status.ABSENT, seen.problem, "see the line on the driver")
        return
    try:
        state.backend("cuda")
    except DeviceError as error:
        yield Check(name, Status.ABSENT, str(error).splitlines()[0], "see the line on CuPy")
        return
    x, v, expected = _operands()
    on_device = (gb.array(x, device="cuda"), gb.array(v, device="cuda"))
    found = gb.add(*on_device, broadcast_dimensions=(1,)).numpy()
    yield _verdict(name, "launched", np.array_equal(found, expected))


def _verdict(name: str, what: str, right: bool) -> Check:
    if right:
        return Check(name, Status.OK, f"{what}, and its result is right")
    return Check(name, Status.FAILED, f"{what}, but its result is WRONG", "please report this")


SECTIONS: tuple[tuple[str, Callable[[], Iterator[Check]]], ...] = (
    ("system", _system),
    ("processor", _processor),
    ("packages", _packages),
    ("NVIDIA driver", _driver),
    ("CuPy", _cupy),
    ("NVRTC", _nvrtc),
    ("kernel cache", _cache),
    ("native calls", _native_calls),
    ("environment", _environment),
    ("CPU kernel", _cpu_kernel),
    ("CUDA compile", _cuda_compile),
    ("CUDA kernel", _cuda_kernel),
)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _home(path: str) -> str:
    """A path that can be pasted in public."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(f"{home}/") else path


def run(*, machine_readable: bool = False) -> int:
    """Print the report; the command's exit code."""
    checks = examine()
    if machine_readable:
        print(as_json(checks))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        report = Text(text(checks, shutil.get_terminal_size().columns))
        for word, style in (("ok", "green"), ("absent", "yellow"), ("FAILED", "bold red")):
            report.highlight_regex(rf"(?m)^{word}\b", style)
        Console().print(report, soft_wrap=True)
    else:
        print(text(checks))
    return exit_code(checks)
