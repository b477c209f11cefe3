"""Machine code of CPU kernels: numba compiles it once, later processes load it without numba.

A kernel's object file is stored under a key of everything its code depends on: the source,
functions of ours, the processor, the versions of numba and llvmlite. It is loaded without llvmlite,
too, where ``elf_loader`` can. Such code may call the C math library and nothing else: an object
with any other undefined symbol is not stored, and not loaded.
"""

from __future__ import annotations

import functools
import mmap
import os
import platform
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from gpubcast import config
from gpubcast.backends.cpu import processor
from gpubcast.backends.cpu.jit import elf_loader
from gpubcast.backends.kernel_store import Store
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import CompileError, DeviceError, Error
from gpubcast.hashing import digest

# Raised when the meaning of a file changes.
SCHEMA = 2
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
_STORE = Store(f"cpu/{platform.machine()}", "o")
_LOCK = threading.RLock()
_FORK_SECONDS = 30.0
# Bytes of address space that compilers may take for a kernel, and with the libraries to be loaded
# for the first one: half more than was ever seen. They become memory only where they are used.
_NEEDED, _NEEDED_FIRST = 224 << 20, 640 << 20
_HELD: list[Any] = []
_MISSED: list[Any] = []


def before_fork() -> None:
    """Hold the locks of numba, ours and LLVM's over a fork, in the order in which threads take
    them: a collection in any thread may hold the last."""
    numba: Any = sys.modules.get("numba.core.compiler_lock")
    ffi: Any = sys.modules.get("llvmlite.binding.ffi")
    locks = (
        None if numba is None else numba.global_compiler_lock._lock,
        _LOCK,
        None if ffi is None else ffi.lib._lock._lock,
    )
    for lock in locks:
        if lock is not None:
            (_HELD if lock.acquire(timeout=_FORK_SECONDS) else _MISSED).append(lock)


def after_fork(*, child: bool) -> None:
    """Release what ``before_fork`` holds. What it missed nobody releases in a child."""
    while _HELD:
        _HELD.pop().release()
    if not child:
        _MISSED.clear()


def _check_compilers() -> None:
    """Refuse to wait for ever in a child for a thread of its parent, and to compile where LLVM
    would end the process for want of address space.

    Raises:
        DeviceError: that thread compiled when the process was forked.
        MemoryError: there is too little address space (``ulimit -v``).
    """
    if _MISSED:
        raise DeviceError(
            "this process was forked while another thread of its parent compiled, so new kernels "
            "cannot be made in it; fork earlier or later, or spawn the process"
        )
    needed = _NEEDED if "numba" in sys.modules else _NEEDED_FIRST
    reserved = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        mmap.mmap(-1, needed, flags=reserved, prot=0).close()
    except OSError as error:
        raise MemoryError(f"to compile a kernel takes {needed >> 20} MiB of addresses") from error


class Unit:
    """A function of machine code: its name and an object file that has it."""

    def __init__(self, image: bytes, name: str) -> None:
        self.image, self.name = image, name
        self.object = elf_loader.parsed(image)

    @classmethod
    def parsed(cls, contents: bytes) -> Unit:
        """What a file has."""
        name, _, image = contents.partition(b"\0")
        return cls(image, name.decode(errors="replace"))

    def contents(self) -> bytes:
        """What is stored in a file."""
        return self.name.encode() + b"\0" + self.image

    def is_portable(self) -> bool:
        """Whether it has its function, which needs only what every process of this machine has."""
        found = self.object
        return found is not None and found.defines(self.name) and found.undefined() <= ALLOWED


def load(source: KernelSource, make: Callable[[], tuple[bytes, str]]) -> int:
    """The address of a kernel's code, from the cache or made now.

    Args:
        source: the kernel.
        make: compiles it: an object file and the name of its function. It is called if no file is
            there, or none that may be loaded.
    """
    key = _key(source)
    found = _STORE.found(key)
    if found is not None:
        unit = Unit.parsed(found)
        if unit.is_portable():
            return _load(unit)
        _STORE.discard(key)
    try:
        # Under the key's lock, so that of several processes one compiles.
        unit = Unit.parsed(_STORE.fetch(key, lambda: _portable(make)))
        if not unit.is_portable():  # another process stored what it should not have
            unit = Unit(*make())
    except _OfThisProcess as made_here:
        unit = made_here.unit
    if not unit.is_portable():
        _check(source, unit)
    return _load(unit)


class _OfThisProcess(Exception):
    """Code that is of use to this process alone, and not stored."""

    def __init__(self, unit: Unit) -> None:
        super().__init__()
        self.unit = unit


def _portable(make: Callable[[], tuple[bytes, str]]) -> bytes:
    """Code made now, as it is stored."""
    _check_compilers()
    unit = Unit(*make())
    if not unit.is_portable():
        raise _OfThisProcess(unit)
    return unit.contents()


def loaded(image: bytes, name: str) -> int:
    """The address of a function in an object file that is of use to this process alone."""
    return _load(Unit(image, name))


def is_stored(source: KernelSource) -> bool:
    """Whether a kernel's code is known here, as far as a file of its name tells."""
    return _STORE.found(_key(source)) is not None


def is_shared() -> bool:
    """Whether other processes find code that this one makes."""
    return _STORE.is_shared()


def _check(source: KernelSource, unit: Unit) -> None:
    """Refuse code that needs what this process does not have, and would end it.

    Raises:
        CompileError: it does.
    """
    beyond = set() if unit.object is None else unit.object.undefined() - ALLOWED
    missing = sorted(name for name in beyond if _llvm().address_of_symbol(name) is None)
    if missing:
        raise CompileError(
            f"kernel {source.entry} needs {', '.join(missing)}, which no library here has",
            source=source.text,
        )


def _load(unit: Unit) -> int:
    contents = digest(unit.contents())
    with _LOCK:
        if contents not in _LOADED:
            found = None if unit.object is None else unit.object.load(unit.name)
            _LOADED[contents] = _loaded_by_llvm(unit) if found is None else found
        return _LOADED[contents]


# Where the code of this process is, which stays until it ends; and that of LLVM's loader.
_LOADED: dict[str, int] = {}
_ENGINES: list[tuple[Any, set[str]]] = []


def _loaded_by_llvm(unit: Unit) -> int:
    _check_compilers()
    binding, function = _llvm(), unit.name
    # In one engine a name stands for one function only.
    if not _ENGINES or function in _ENGINES[-1][1]:
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine(binding))
        _ENGINES.append((engine, set()))
    engine, names = _ENGINES[-1]
    names.add(function)
    engine.add_object_file(binding.ObjectFileRef.from_data(unit.image))
    engine.finalize_object()
    address = int(engine.get_function_address(function))
    if not address:
        raise Error(f"the object of kernel {function} has no such function")
    return address


def compiled_ir(text: str) -> bytes:
    """The object file of LLVM assembly for this processor."""
    binding = _llvm()
    return bytes(_machine(binding).emit_object(binding.parse_assembly(text)))


def _llvm() -> Any:
    """llvmlite, ready for this processor; a process that compiles nothing does not need it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _machine(binding: Any) -> Any:
    return binding.Target.from_default_triple().create_target_machine(
        opt=3, jit=True, reloc="default", codemodel="jitdefault"
    )


def _key(source: KernelSource) -> str:
    # A text may have several functions.
    told = source.entry, source.text, str(source.fast_math)
    parts = (str(SCHEMA), *told, *_surroundings())
    return digest("\0".join(parts).encode())


# What generated code is made of beside its source: folders and files of the package.
INGREDIENTS = (
    *("backends/cpu", "backends/native_calls", "hlo/elementary"),
    *("schedules/cpu/cost.py", "schedules/cpu/tiles.py", "schedules/cuda/vectors.py"),
    *("hlo/sequences.py", "shapes/element_types.py"),
)


def ingredients() -> list[str]:
    """The files that decide what machine code a source becomes."""
    found = []
    for name in INGREDIENTS:
        path = os.path.join(config.PACKAGE_ROOT, name)
        if os.path.isfile(path):
            found.append(path)
        for folder, folders, files in os.walk(path):
            folders.sort()
            found += [os.path.join(folder, file) for file in sorted(files) if file.endswith(".py")]
    return found


@functools.cache
def _surroundings() -> tuple[str, ...]:
    """What a kernel's code depends on beside its source."""
    return (
        digest(b"\0".join(map(_contents, ingredients()))),
        *processor.identity(),
        _version("llvmlite"),
        _version("numba"),
        sys.version,
        *config.numba_settings(),
    )


def _version(library: str) -> str:
    """What a library says of its version in a file: importing it takes longer than a kernel."""
    found = find_spec(library)
    if found is None or found.origin is None:
        return "none"
    return _contents(os.path.join(os.path.dirname(found.origin), "_version.py")).decode()


def _contents(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
