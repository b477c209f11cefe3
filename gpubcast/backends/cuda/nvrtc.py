"""CUDA source to machine code through NVRTC's C interface, without a GPU, a driver or CuPy.

CuPy's own compile path is not used: it needs a device and always flushes denormals.
Source: NVRTC's documentation (https://docs.nvidia.com/cuda/nvrtc).
"""

from __future__ import annotations

import contextlib
import ctypes.util
import functools
import os
import re
import threading
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gpubcast.backends.compile_log import recorded
from gpubcast.backends.cuda import driver, headers
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import CompileError, numbered
from gpubcast.hashing import digest

# Contraction of a * b + c would round once where the CPU rounds twice.
OPTIONS = (
    "-std=c++17",
    "-fmad=false",
    "-ftz=false",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-Xptxas=-v",
)
# What the user may give up with fast_math=True; denormals are kept all the same.
_FAST = ("-fmad=true", "-prec-div=false", "-prec-sqrt=false")
_MAJORS = (13, 12)
# Code for these integrated GPUs runs on no other, and no other's on them.
_INTEGRATED = frozenset({53, 62, 72, 87, 88, 101, 110})
# Leaves out what no kernel here uses: textures, surfaces, launches from the device.
_SHORTER, _SHORTER_SINCE = ("-minimal",), 13
# The linker's build id is in the first page of the library's file.
_HEAD = 4096
# NVRTC serialises compilations inside a process; the lock keeps a program's calls together.
_LOCK = threading.RLock()


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code of one program: the ELF image, or PTX where the driver has to compile it, and
    the compiler's log (registers, spills)."""

    image: bytes
    log: str


def _candidates() -> Iterator[str]:
    """Where an NVRTC may be: first those whose code this machine's driver loads, which is that of
    its own major version and of older ones; the wheels' before a toolkit's."""
    found = driver.version()
    newest = max(_MAJORS) if found is None else found[0]
    for majors in (
        [major for major in _MAJORS if major <= newest],
        [major for major in reversed(_MAJORS) if major > newest],
    ):
        yield from _places(majors)


def _places(majors: list[int]) -> Iterator[str]:
    spec = find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    for major in majors:
        for root in roots:
            for library in sorted(Path(root).glob(f"*/lib/libnvrtc.so.{major}")):
                yield str(library)
    toolkit = os.environ.get("CUDA_PATH") or os.environ.get("CUDA_HOME")
    for major in majors:
        if toolkit:
            yield f"{toolkit}/lib64/libnvrtc.so.{major}"
        yield f"libnvrtc.so.{major}"
        yield f"/usr/local/cuda/lib64/libnvrtc.so.{major}"


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded NVRTC.

    Raises:
        CompileError: no NVRTC was found.
    """
    for path in _candidates():
        try:
            loaded = ctypes.CDLL(path)
        except OSError:
            continue
        _load_builtins(Path(path))
        return _declare(loaded)
    raise CompileError(
        "NVRTC was not found; install it with pip install 'cupy-cuda13x[ctk]' or "
        "pip install nvidia-cuda-nvrtc"
    )


def _load_builtins(library: Path) -> None:
    """The library that NVRTC opens by its name alone when it first compiles, from beside it.

    The loader would look for it in the system's folders: NVRTC's wheels of CUDA 13.0 do not say
    that it is in their own.
    """
    for path in library.parent.glob("libnvrtc-builtins.so.*") if library.is_absolute() else ():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(path))


def _declare(lib: ctypes.CDLL) -> ctypes.CDLL:
    texts = POINTER(c_char_p)
    for name, arguments in {
        "nvrtcVersion": [POINTER(c_int), POINTER(c_int)],
        "nvrtcGetNumSupportedArchs": [POINTER(c_int)],
        "nvrtcGetSupportedArchs": [POINTER(c_int)],
        "nvrtcCreateProgram": [POINTER(c_void_p), c_char_p, c_char_p, c_int, texts, texts],
        "nvrtcCompileProgram": [c_void_p, c_int, texts],
        "nvrtcGetProgramLogSize": [c_void_p, POINTER(c_size_t)],
        "nvrtcGetProgramLog": [c_void_p, c_char_p],
        "nvrtcGetCUBINSize": [c_void_p, POINTER(c_size_t)],
        "nvrtcGetCUBIN": [c_void_p, c_char_p],
        "nvrtcGetPTXSize": [c_void_p, POINTER(c_size_t)],
        "nvrtcGetPTX": [c_void_p, c_char_p],
        "nvrtcDestroyProgram": [POINTER(c_void_p)],
    }.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, c_int
    lib.nvrtcGetErrorString.argtypes = [c_int]
    lib.nvrtcGetErrorString.restype = c_char_p
    return lib


@functools.cache
def version() -> tuple[int, int]:
    """NVRTC's (major, minor)."""
    major, minor = c_int(), c_int()
    library().nvrtcVersion(byref(major), byref(minor))
    return major.value, minor.value


@functools.cache
def identity() -> str:
    """What tells this NVRTC from any other; the key of a cubin has it.

    It is taken from the library's file where that is known: to load 140 MB takes a tenth of a
    second, and a process whose kernels are all on disk never needs the compiler.

    Raises:
        CompileError: no NVRTC was found.
    """
    for path in map(Path, _candidates()):
        if not path.is_absolute():
            break  # the system's loader knows where that is
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_HEAD)
            return f"{path.stat().st_size} {digest(head)}"
    return "{}.{}".format(*version())


@functools.cache
def architectures() -> tuple[str, ...]:
    """The architectures this NVRTC compiles for, e.g. ``("sm_75", ...)``."""
    count = c_int()
    library().nvrtcGetNumSupportedArchs(byref(count))
    numbers = (c_int * count.value)()
    library().nvrtcGetSupportedArchs(numbers)
    return tuple(f"sm_{number}" for number in numbers)


def compiled_for(arch: str) -> str:
    """What the kernels of a GPU are compiled for.

    That is its own architecture; where this NVRTC does not know it, the nearest lower one of the
    same major number, whose machine code it runs; and where there is none, the highest lower one as
    PTX (``"compute_90"``), which the driver compiles when it loads it.

    Source: "CUDA C++ Programming Guide", binary and PTX compatibility.

    Raises:
        CompileError: the architecture is none, or older than all that NVRTC knows.
    """
    known = architectures()
    if arch in known:
        return arch
    plain = re.fullmatch(r"sm_([0-9]+)", arch)
    number = int(plain[1]) if plain else 0
    lower = [int(one[3:]) for one in known if int(one[3:]) < number]
    shared = [one for one in lower if one not in _INTEGRATED]
    same = [one for one in shared if one // 10 == number // 10]
    if same and number not in _INTEGRATED:
        return f"sm_{max(same)}"
    if shared:
        return f"compute_{max(shared)}"
    raise CompileError(f"NVRTC {version()} cannot compile for {arch}; it knows {', '.join(known)}")


def too_new() -> str | None:
    """Why the driver may refuse what this NVRTC makes; None where it will not."""
    found, made = driver.version(), version()
    if found is None or made[0] <= found[0]:
        return None
    return (
        f"NVRTC {made[0]}.{made[1]} is for a newer driver than this one, which runs CUDA up to "
        f"{found[0]}.{found[1]}; pip install 'nvidia-cuda-nvrtc-cu{found[0]}' has one for it"
    )


def options_of(source: KernelSource) -> tuple[str, ...]:
    """The flags that a kernel asks for beside ``OPTIONS``."""
    return _FAST if source.fast_math else ()


def compile_cubin(text: str, arch: str, options: tuple[str, ...] = ()) -> Cubin:
    """Compile a program for one architecture.

    Args:
        text: CUDA source; it may include the headers of ``cuda_kernels/`` by name.
        arch: e.g. ``"sm_90"``; see ``compiled_for``.
        options: flags beside ``OPTIONS``, or in place of them.

    Raises:
        CompileError: no NVRTC, an unknown architecture, or refused source; carries source and log.
    """
    with _LOCK, recorded(_entry(text), arch):
        return _compile(library(), text, flags(compiled_for(arch), options))


def _entry(text: str) -> str:
    """The name of a program's kernel."""
    found = re.search(r"__global__[^;{]*?(\w+)\s*\((?!\d)", text)
    return found[1] if found else "a program"


def flags(arch: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All flags of a compilation; the arguments are those of ``compile_cubin``."""
    replaced = {option.split("=")[0] for option in options}
    kept = (option for option in OPTIONS if option.split("=")[0] not in replaced)
    shorter = _SHORTER if version()[0] >= _SHORTER_SINCE else ()
    return (f"-arch={arch}", *kept, *shorter, *options)


def _compile(lib: ctypes.CDLL, text: str, flags: tuple[str, ...]) -> Cubin:
    names = [name.encode() for name in headers.texts()]
    bodies = [body.encode() for body in headers.texts().values()]
    program = c_void_p()
    status = lib.nvrtcCreateProgram(
        byref(program), text.encode(), b"kernel.cu", len(names),
        (c_char_p * len(names))(*bodies), (c_char_p * len(names))(*names),
    )  # fmt: skip
    if status:
        raise CompileError(f"NVRTC: {lib.nvrtcGetErrorString(status).decode()}", source=text)
    try:
        encoded = [flag.encode() for flag in flags]
        status = lib.nvrtcCompileProgram(program, len(flags), (c_char_p * len(flags))(*encoded))
        size = c_size_t()
        lib.nvrtcGetProgramLogSize(program, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, buffer)
        log = buffer.value.decode(errors="replace")
        if status:
            raise CompileError(
                f"NVRTC refused the source ({lib.nvrtcGetErrorString(status).decode()}):\n{log}\n"
                f"{numbered(text)}",
                source=text,
                log=log,
                options=flags,
            )
        form = "PTX" if flags[0].startswith("-arch=compute_") else "CUBIN"
        getattr(lib, f"nvrtcGet{form}Size")(program, byref(size))
        image = ctypes.create_string_buffer(size.value)
        getattr(lib, f"nvrtcGet{form}")(program, image)
        return Cubin(image.raw, log)
    finally:
        lib.nvrtcDestroyProgram(byref(program))
