"""Machine code of CPU kernels: numba compiles it once, later processes load it without numba.

A kernel's object file is kept under a key of everything its code depends on: the source, functions
of ours, the processor, the versions of numba and llvmlite. It is loaded through llvmlite. Such code
may call the C math library and nothing else: an object with any other undefined symbol is not kept,
and not loaded.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import struct
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding

from gpubcast import config
from gpubcast.backends.base import KernelSource
from gpubcast.backends.store import Store
from gpubcast.errors import CompileError, Error

# Raised when the meaning of a file changes.
SCHEMA = 1
# What the code of a kernel may call: C's math and memory, Python for the way into it, the system
# for threads that wait.
ALLOWED = frozenset(
    name + suffix
    for name in (
        *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin"),
        *("acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
        *("erfc", "fma", "fmod", "pow", "hypot", "lgamma", "floor", "ceil", "trunc", "rint"),
        *("round", "roundeven", "nearbyint", "sincos", "ldexp", "cbrt"),
    )
    for suffix in ("", "f")
) | frozenset(
    ("memset", "memcpy", "memmove", "PyLong_AsVoidPtr", "PyLong_AsLongLong", "PyEval_SaveThread",
     "PyEval_RestoreThread", "Py_IncRef", "_GLOBAL_OFFSET_TABLE_", "clock_gettime", "sched_getcpu",
     "syscall")
)  # fmt: skip
_LOCK = threading.Lock()
_FORK_SECONDS = 5
_HELD: list[Any] = []


def before_fork() -> None:
    """Hold our lock and LLVM's over a fork: a collection in any thread may hold the latter."""
    ffi: Any = sys.modules.get("llvmlite.binding.ffi")
    for lock in (_LOCK, None if ffi is None else ffi.lib._lock._lock):
        if lock is not None and lock.acquire(timeout=_FORK_SECONDS):
            _HELD.append(lock)


def after_fork() -> None:
    """Release what ``before_fork`` holds, in the parent and in the child."""
    while _HELD:
        _HELD.pop().release()


def load(source: KernelSource, make: Callable[[], tuple[bytes, str]]) -> int:
    """The address of a kernel's code, from the cache or made now.

    Args:
        source: the kernel.
        make: compiles it: an object file and the name of its function. It is called if no file is
            there, or none that may be loaded.
    """
    store, key = Store(f"cpu/{platform.machine()}", "o"), _key(source)
    path = store.stored(key)
    if path is not None:
        unit = path.read_bytes()
        if _usable(unit):
            return _load(unit)
        store.discard(path)
    image, name = make()
    unit = name.encode() + b"\0" + image
    if _usable(unit):
        found = store.fetch(key, lambda: unit).read_bytes()
        unit = found if _usable(found) else unit
    else:
        _check(source, image)
    return _load(unit)


def _check(source: KernelSource, image: bytes) -> None:
    """Refuse code that needs what this process does not have, and would end it.

    Raises:
        CompileError: it does.
    """
    try:
        beyond = undefined(image) - ALLOWED
    except (ValueError, struct.error):
        return
    missing = sorted(name for name in beyond if binding.address_of_symbol(name) is None)
    if missing:
        raise CompileError(
            f"kernel {source.entry} needs {', '.join(missing)}, which no library here has",
            source=source.text,
        )


def is_stored(source: KernelSource) -> bool:
    """Whether a kernel's code is known here, as far as a file of its name tells."""
    return Store(f"cpu/{platform.machine()}", "o").stored(_key(source)) is not None


def _usable(unit: bytes) -> bool:
    return may_be_kept(unit.partition(b"\0")[2])


def may_be_kept(image: bytes) -> bool:
    """Whether an object file needs only what every process of this machine has."""
    try:
        return undefined(image) <= ALLOWED
    except (ValueError, struct.error):
        return False


def undefined(image: bytes) -> set[str]:
    """The symbols that an ELF object needs from elsewhere.

    Raises:
        ValueError: it is no 64-bit little-endian ELF file.
    """
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF object")
    offset, size, count = struct.unpack_from("<Q10xHH", image, 0x28)
    sections = [
        struct.unpack_from("<4xI16xQQI12xQ", image, offset + i * size) for i in range(count)
    ]
    names: set[str] = set()
    for kind, start, length, link, step in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        strings = sections[link][1]
        for at in range(start + step, start + length, step):
            name, _, section = struct.unpack_from("<IHH", image, at)
            if section == 0:
                begin = strings + name
                names.add(image[begin : image.index(b"\0", begin)].decode())
    return names


def _load(unit: bytes) -> int:
    name, _, image = unit.partition(b"\0")
    digest = hashlib.sha256(image).digest()
    with _LOCK:
        if (name, digest) in _LOADED:
            return _LOADED[name, digest]
        # In one engine a name stands for one function only.
        if not _ENGINES or any(known == name for known, _ in _LOADED):
            _ENGINES.append(_engine())
        engine = _ENGINES[-1]
        engine.add_object_file(binding.ObjectFileRef.from_data(image))
        engine.finalize_object()
        address = int(engine.get_function_address(name.decode()))
        if not address:
            raise Error(f"the object of kernel {name.decode()} has no such function")
        _LOADED[name, digest] = address
    return address


# The code of the kernels of this process, which stays until it ends.
_ENGINES: list[binding.ExecutionEngine] = []
_LOADED: dict[tuple[bytes, bytes], int] = {}


def _engine() -> binding.ExecutionEngine:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        opt=3, jit=True, reloc="default", codemodel="jitdefault"
    )
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


def compiled_ir(text: str) -> bytes:
    """The object file of LLVM assembly for this processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(opt=3, jit=True)
    return bytes(machine.emit_object(binding.parse_assembly(text)))


def _key(source: KernelSource) -> str:
    parts = (str(SCHEMA), source.text, str(source.fast_math), *_surroundings())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


@functools.cache
def _surroundings() -> tuple[str, ...]:
    """What a kernel's code depends on beside its source."""
    package = Path(__file__).resolve().parents[2]
    own = sorted((*Path(__file__).parent.glob("*.py"), *(package / "elementary").glob("*.py")))
    own += [package / "nest.py", package / "tiles.py", package / "element_types.py"]
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in own)).hexdigest()
    return (
        digest,
        str(binding.get_host_cpu_name()),
        str(binding.get_host_cpu_features().flatten()),
        llvmlite.__version__,
        _numba_version(),
        sys.version,
        *config.numba_settings(),
    )


def _numba_version() -> str:
    """What numba says of its version in a file, since importing it takes longer than a kernel."""
    found = find_spec("numba")
    if found is None or found.origin is None:
        return "none"
    return Path(found.origin).with_name("_version.py").read_text()
