"""A backend that runs the generated CUDA source on the CPU.

It implements the same protocol as the CuPy backend and gets the very parameter bytes that a GPU
would get, so packing, divisions, grids and kernels are all under test without a GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import math
import os
import shutil
import subprocess
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpubcast.codegen.source import KernelSource
from gpubcast.errors import CompileError, numbered
from gpubcast.schedules.schedule import CudaTarget
from tests.support.once import COMPILED, once

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parents[2] / "cuda_kernels"
FLAGS = (
    *("-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-gnu-unique"),
    *("-w", "-DGB_EMU", "-fPIC"),
)
ORDERS = ("forward", "reverse", "permuted")

# Bytes on either side of a buffer that no kernel may read or write, and what they hold.
ZONE = 4096
CANARY = 0xC5
ALIGNMENT = 256
_MAX_SLOTS = 64


@dataclass(frozen=True, slots=True)
class SlotStatistics:
    """Accesses of one kernel argument in one launch.

    Attributes:
        requests: load or store instructions of a warp.
        sectors: distinct 32-byte sectors, summed over the requests.
        fetched: the same, where a sector that a block loads with ``ld_keep`` counts once for the
            block: what leaves its L1 cache.
        useful_bytes: bytes that the threads asked for, repeated reads counted each time.
        misaligned: accesses whose address is not a multiple of their width.
        outside: accesses that do not lie in one buffer of this backend, or in one array whose
            address it was asked for. They read zeros and write nothing.
    """

    requests: int
    sectors: int
    fetched: int
    useful_bytes: int
    misaligned: int
    outside: int

    @property
    def efficiency(self) -> float:
        """Useful bytes per byte moved; above 1 where lanes of a warp share an element."""
        return self.useful_bytes / (32 * self.sectors) if self.sectors else 1.0


class _Slot(ctypes.Structure):
    _fields_ = [(name, ctypes.c_longlong) for name in SlotStatistics.__slots__]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_longlong),
        ("count", ctypes.c_longlong),
        ("grid", ctypes.c_longlong),
        ("step", ctypes.c_longlong),
        ("block_x", ctypes.c_uint),
        ("block_y", ctypes.c_uint),
        ("num_parameter_bytes", ctypes.c_longlong),
        ("parameters", ctypes.c_void_p),
        ("trace", ctypes.c_int),
        ("num_ranges", ctypes.c_int),
        ("ranges", ctypes.c_void_p),
        ("evaluations", ctypes.c_longlong),
        ("waiting", ctypes.c_longlong),
        ("slots", _Slot * _MAX_SLOTS),
    ]


class EmulatorBackend:
    """The emulated device.

    Args:
        folder: where compiled kernels are kept outside of a test run.
        headers: the folder of the CUDA headers; planted-fault tests pass an altered copy.
        order: in which order the blocks of a grid run, one of ``ORDERS``.
        trace: whether launches count requests and sectors.
        poison: the byte that fresh buffers are filled with.
        multiprocessors: how many the device has; with few, blocks are given more work.
        arch: the architecture that schedules are made for.

    Attributes:
        statistics: per kernel argument, what the last launch did. ``misaligned`` and ``outside``
            are always counted, the rest with ``trace``.
    """

    device_type = "cuda"

    def __init__(
        self,
        folder: Path,
        *,
        headers: Path = HEADERS,
        order: str = "forward",
        trace: bool = False,
        poison: int = 0xFF,
        multiprocessors: int = 132,
        arch: str = "sm_90",
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f"order {order!r} is not one of {', '.join(ORDERS)}")
        self.folder = Path(folder)
        self.headers = Path(headers)
        self.order = order
        self.trace = trace
        self.poison = poison
        self.multiprocessors = multiprocessors
        self.arch = arch
        self.statistics: tuple[SlotStatistics, ...] = ()
        self.evaluations = 0
        self._kernels: dict[KernelSource, Any] = {}
        self._buffers: list[tuple[weakref.ref[Any], int, int]] = []
        self._foreign: dict[int, weakref.ref[Any]] = {}

    def on(self, index: int) -> contextlib.AbstractContextManager[None]:
        """There is one device."""
        return contextlib.nullcontext()

    def target(self) -> CudaTarget:
        """An H100's unless told otherwise, so that schedules are those of a GPU."""
        return CudaTarget(arch=self.arch, multiprocessors=self.multiprocessors)

    # --- memory ---

    def allocate(self, num_bytes: int) -> np.ndarray[Any, Any]:
        """A flat uint8 array, 256-byte aligned, poisoned, with canary zones on either side."""
        raw = np.full(num_bytes + 2 * ZONE + ALIGNMENT, CANARY, np.uint8)
        begin = ZONE + -(raw.ctypes.data + ZONE) % ALIGNMENT
        raw[begin : begin + num_bytes] = self.poison
        self._buffers.append((weakref.ref(raw), begin, begin + num_bytes))
        return raw[begin : begin + num_bytes]

    def from_host(self, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A new buffer with the bytes of a C-contiguous array."""
        buffer = self.allocate(data.nbytes)
        buffer[:] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        return buffer

    def to_host(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A copy."""
        return np.array(array)

    def view(
        self,
        buffer: np.ndarray[Any, Any],
        offset: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> np.ndarray[Any, Any]:
        """The strided array over a buffer; ``offset`` and ``strides`` in bytes."""
        return np.ndarray(shape, dtype, buffer, offset, strides)

    def empty(
        self, num_bytes: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        """The same over a new buffer."""
        return self.view(self.allocate(num_bytes), 0, dtype, shape, strides)

    def adopt(self, array: Any) -> tuple[np.ndarray[Any, Any], int]:
        """There are no other libraries on this device."""
        raise TypeError("the emulator's memory is its own")

    def address(self, array: np.ndarray[Any, Any]) -> int:
        """Address of an array's first element; kernels may access the memory it is part of."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if all(owner is not raw for raw, _, _ in self._live()):
            self._foreign[id(owner)] = weakref.ref(owner)
        return int(array.ctypes.data)

    def _ranges(self) -> np.ndarray[Any, Any]:
        """Begin and end address of all memory that kernels may access."""
        live = list(self._live())
        ranges = [(raw.ctypes.data + begin, raw.ctypes.data + end) for raw, begin, end in live]
        owners = {key: reference() for key, reference in self._foreign.items()}
        self._foreign = {key: self._foreign[key] for key, o in owners.items() if o is not None}
        ranges += [np.lib.array_utils.byte_bounds(o) for o in owners.values() if o is not None]
        return np.array(ranges, np.uint64)

    def check_canaries(self) -> None:
        """Raises AssertionError when a byte outside a live buffer was written."""
        for raw, begin, end in self._live():
            for zone, where in ((raw[:begin], "before"), (raw[end:], "after")):
                written = np.flatnonzero(zone != CANARY)
                assert not written.size, f"{written.size} bytes {where} a buffer were written"

    def _live(self) -> Iterable[tuple[np.ndarray[Any, Any], int, int]]:
        self._buffers = [entry for entry in self._buffers if entry[0]() is not None]
        for reference, begin, end in self._buffers:
            raw = reference()
            if raw is not None:
                yield raw, begin, end

    # --- kernels ---

    def load(self, source: KernelSource) -> Any:
        """Compiles one kernel."""
        return self.load_many([source])[0]

    def load_many(self, sources: Sequence[KernelSource]) -> list[Any]:
        """Compiles the kernels that are not loaded yet, all in one unit.

        Raises:
            CompileError: g++ refused the unit; its log is in the error.
        """
        missing = list(dict.fromkeys(s for s in sources if s not in self._kernels))
        if missing:
            library = ctypes.CDLL(str(self._compile(missing)))
            for source in missing:
                run = getattr(library, f"emu_{source.entry}")
                run.argtypes, run.restype = [ctypes.POINTER(_Launch)], ctypes.c_bool
                self._kernels[source] = run
        return [self._kernels[source] for source in sources]

    def _compile(self, sources: Sequence[KernelSource]) -> Path:
        text = "\n".join(
            f'{s.text}\nextern "C" bool emu_{s.entry}(emu::Launch* l) '
            f"{{ return emu::run({s.entry}, *l); }}"
            for s in sources
        )
        return shared_library(text, self.headers, self.folder)

    def launch(
        self,
        kernel: Any,
        grid: int,
        block: tuple[int, int],
        parameters: bytearray,
        *,
        blocks: range | None = None,
    ) -> None:
        """Runs a kernel.

        Args:
            blocks: run these (consecutive) blocks only, of a grid that is too large to run whole.

        Raises:
            AssertionError: the struct's size is not the kernel's, an access was misaligned, left
                its buffer, or changed a byte outside it.
        """
        blocks = range(grid) if blocks is None else blocks
        assert 0 < grid < 2**31 and 0 < math.prod(block) <= 1024, f"cannot launch {grid} x {block}"
        ranges = self._ranges()
        packed = bytes(parameters)
        launch = _Launch(
            first=blocks.start,
            count=len(blocks),
            grid=grid,
            step=step(self.order, len(blocks)),
            block_x=block[0],
            block_y=block[1],
            num_parameter_bytes=len(packed),
            parameters=ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p),
            trace=self.trace,
            num_ranges=len(ranges),
            ranges=ranges.ctypes.data,
        )
        assert kernel(ctypes.byref(launch)), f"the kernel's parameters are not {len(packed)} bytes"
        assert not launch.waiting, f"{launch.waiting} threads wait for ever"
        self.evaluations = launch.evaluations
        self.statistics = tuple(
            SlotStatistics(*(getattr(slot, name) for name in SlotStatistics.__slots__))
            for slot in launch.slots
        )
        self.check_accesses()

    def check_accesses(self) -> None:
        """Raises AssertionError when the last launch made an access that is not allowed."""
        for number, slot in enumerate(self.statistics):
            assert not slot.misaligned, f"argument {number}: {slot.misaligned} misaligned accesses"
            assert not slot.outside, f"argument {number}: {slot.outside} accesses leave a buffer"
        self.check_canaries()

    def bound(
        self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray, index: int
    ) -> None:
        """Launches are all the same here."""

    def driven(
        self, kernel: Any, grid: int, block: tuple[int, int], template: bytes, index: int,
        lanes: int,
    ) -> None:  # fmt: skip
        """Launches are all the same here."""

    def capturing(self, index: int) -> bool:
        """There are no graphs."""
        return False

    def synchronize(self) -> None:
        """Launches are synchronous."""


def step(order: str, count: int) -> int:
    """The multiplier that turns 0, 1, 2, ... into an order of blocks, modulo their number."""
    if order == "forward" or count < 2:
        return 1
    if order == "reverse":
        return count - 1
    found = max(2, round(0.618 * count))
    while math.gcd(found, count) != 1:
        found += 1
    return found


def shared_library(text: str, headers: Path, folder: Path) -> Path:
    """What g++ makes of a program after ``emulator.h``, once for all who ask.

    Args:
        text: CUDA source.
        headers: the folder of the CUDA headers.
        folder: where it is kept outside of a test run; a run's tests share one place.

    Raises:
        CompileError: there is no g++, or it refused the program; its log is in the error.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise CompileError("the emulator needs g++", source=text)
    if COMPILED in os.environ:
        folder = Path(os.environ[COMPILED], "emulated")
    own = (HERE / "emulator.h").read_bytes()
    digest = hashlib.sha256("\0".join((text, compiler, *FLAGS)).encode() + own)
    for header in sorted(headers.rglob("*.cuh")):
        digest.update(str(header.relative_to(headers)).encode() + header.read_bytes())

    def compile_unit(made: Path) -> None:
        unit, library = made / "unit.cpp", made / "unit.so"
        unit.write_text(text)
        first = ("-include", str(_precompiled(compiler, own, folder)), "-I", str(headers))
        _run(compiler, (*first, "-shared", "-o", str(library), str(unit)), text)

    return once(folder / digest.hexdigest()[:32], compile_unit) / "unit.so"


def _precompiled(compiler: str, header: bytes, folder: Path) -> Path:
    """``emulator.h`` beside what g++ reads in its place: the standard library takes it longer
    than most kernels."""

    def precompile(made: Path) -> None:
        copy = made / "emulator.h"
        copy.write_bytes(header)
        _run(compiler, ("-x", "c++-header", "-o", f"{copy}.gch", str(copy)), header.decode())

    digest = hashlib.sha256("\0".join((compiler, *FLAGS)).encode() + header)
    return once(folder / f"header-{digest.hexdigest()[:32]}", precompile) / "emulator.h"


def _run(compiler: str, options: tuple[str, ...], text: str) -> None:
    done = subprocess.run([compiler, *FLAGS, *options], capture_output=True, text=True)
    if done.returncode:
        raise CompileError(
            f"g++ refused the program:\n{done.stderr}\n{numbered(text)}",
            source=text,
            log=done.stderr,
            options=(*FLAGS, *options),
        )


NewDevice = Callable[..., EmulatorBackend]


def altered(
    new_device: NewDevice, tmp_path: Path, file: str, old: str, new: str
) -> EmulatorBackend:
    """A backend whose headers have one mistake."""
    folder = tmp_path / "headers"
    shutil.copytree(HEADERS, folder)
    text = (folder / file).read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file}"
    (folder / file).write_text(text.replace(old, new))
    return new_device(headers=folder, trace=True)
