"""CUDA source to PTX through NVRTC, with the flags that the package compiles with.

Of one front end, the PTX of ``compute_90`` is that which ``sm_90`` hands to ptxas (a test compares
them), without the time that ptxas takes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_size_t, c_void_p
from functools import cache
from pathlib import Path

from gpubcast.backends.cuda import headers, nvrtc
from gpubcast.errors import CompileError
from tests.support.once import COMPILED, once


def ptx(
    text: str, arch: str, options: Sequence[str] = (), altered: Path | None = None,
    *, assembled: bool = False,
) -> str:  # fmt: skip
    """The PTX of a program, compiled once for all tests, workers and runs.

    Args:
        arch: ``sm_90`` and the like.
        options: flags beside the package's, or in place of them.
        altered: a folder of headers in place of the package's.
        assembled: whether NVRTC goes on to machine code, as the package lets it.

    Raises:
        CompileError: no NVRTC, an unknown architecture, or refused source; carries its log.
    """
    folder = os.environ.get(COMPILED)
    files = headers.texts() if altered is None else _texts(altered)
    flags = nvrtc.flags(arch if assembled else arch.replace("sm_", "compute_"), tuple(options))
    if folder is None:
        return _compile(text, flags, files)
    parts = (nvrtc.identity(), text, *flags, *(x for pair in files.items() for x in pair))
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def make(place: Path) -> None:
        (place / "ptx").write_text(_compile(text, flags, files))

    return (once(Path(folder, "ptx", key), make) / "ptx").read_text()


def _texts(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*.cuh"))}


@cache
def _library() -> ctypes.CDLL:
    library = nvrtc.library()
    library.nvrtcGetPTXSize.argtypes = [c_void_p, POINTER(c_size_t)]
    library.nvrtcGetPTX.argtypes = [c_void_p, c_char_p]
    return library


def _compile(text: str, flags: Sequence[str], files: dict[str, str]) -> str:
    library, program = _library(), c_void_p()
    names, bodies = ([x.encode() for x in part] for part in (files.keys(), files.values()))
    encoded = [flag.encode() for flag in flags]
    strings = c_char_p * len(files)
    library.nvrtcCreateProgram(
        byref(program), text.encode(), b"kernel.cu", len(files), strings(*bodies), strings(*names)
    )
    try:
        status = library.nvrtcCompileProgram(
            program, len(encoded), (c_char_p * len(encoded))(*encoded)
        )
        if status:
            log = _text(program, "ProgramLog")
            raise CompileError(f"NVRTC refused the source:\n{log}", source=text, log=log)
        return _text(program, "PTX")
    finally:
        library.nvrtcDestroyProgram(byref(program))


def _text(program: c_void_p, what: str) -> str:
    library, size = _library(), c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode(errors="replace")
