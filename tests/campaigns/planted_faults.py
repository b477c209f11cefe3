"""Faults that campaigns have to find: each takes one check away in the process of a seed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class Planted(NamedTuple):
    """One fault.

    Attributes:
        campaign: that finds it.
        found: the kinds of fault as which it may show.
        plant: takes the check away.
    """

    campaign: str
    found: tuple[str, ...]
    plant: Callable[[], None]


def _strides() -> None:
    """A call counts as like another whatever its strides."""
    from gpubcast.runtime import call_cache

    before: Any = call_cache.signature

    def without(operands: tuple[Any, ...], out: Any) -> Any:
        found = before(operands, out)
        if found is None:
            return None
        arrays = [x for x in operands if isinstance(x, np.ndarray)]
        return (len(operands), out is None, *((x.dtype, x.shape) for x in arrays)), found[1]

    call_cache.signature = without


def _read_only() -> None:
    """A repeated call writes into what has become read-only."""
    from gpubcast.backends.native_calls import record

    record.writeable = lambda out: True


def _overlap() -> None:
    """Nothing overlaps anything."""
    from gpubcast.runtime import launch

    launch.share_memory = lambda one, other: False


def _itself() -> None:
    """No ``out`` overlaps itself."""
    from gpubcast.runtime import operands

    operands.overlaps_itself = lambda dimensions, strides: False


def _parameters() -> None:
    """Threads that start the same kernel write its parameters into the same bytes."""
    from gpubcast.runtime import launch

    shared: dict[int, tuple[launch.LaunchStep, bytearray]] = {}

    def filled(step: launch.LaunchStep, values: list[int]) -> bytearray:
        _, packed = shared.setdefault(id(step), (step, bytearray(step.parameters.packed)))
        if packed:
            step.parameters.fill(packed, values)
            time.sleep(1e-4)  # another thread's turn
        return packed

    launch.LaunchStep.filled = filled


def _forked() -> None:
    """A fork waits for nobody, and a child inherits the locks as they are."""
    from gpubcast import locks
    from tests.campaigns import worlds

    worlds.LIMIT = 10.0
    locks.before_fork = lambda: False
    locks.after_fork = lambda *, child: None


def _stale() -> None:
    """A kernel is made by whoever made the file of its lock, which a killed process leaves."""
    from gpubcast.backends import kernel_store
    from tests.campaigns import worlds

    worlds.LIMIT = 10.0

    @contextlib.contextmanager
    def locked(folder: int, name: str) -> Iterator[None]:
        while True:
            try:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))
                break
            except FileExistsError:
                time.sleep(0.01)
        with contextlib.suppress(FileExistsError):
            # The first of all is killed here, whenever else processes are killed.
            os.mkdir(f"{os.environ['TMPDIR']}/killed")
            os.kill(os.getpid(), signal.SIGKILL)
        yield
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)

    kernel_store._locked = locked


def _ingredients() -> None:
    """The key of a kernel says nothing of the formulas that it is made of."""
    from tests.campaigns import versions

    without = "from gpubcast.backends.cpu.jit import object_cache\nobject_cache.INGREDIENTS = ()\n"
    versions._CALLS = without + versions._CALLS


def _last_part() -> None:
    """The last of the parts among which threads divide the work is nobody's."""
    from gpubcast.backends.cpu.backend import CpuBackend
    from tests.campaigns import large

    before = CpuBackend.launch

    def launch(self: Any, kernel: Any, grid: int, block: int, packed: bytearray) -> None:
        before(self, kernel, max(1, grid - 1), block, packed)

    CpuBackend.launch = launch
    large.POWERS = (24,)


def _restored() -> None:
    """A pickle is believed."""
    from gpubcast import arrays
    from gpubcast.runtime import state
    from gpubcast.runtime.device import parse_device

    def believed(shape: Any, data: Any, device: str) -> Any:
        place = parse_device(device)
        return arrays.wrap(shape, state.backend(place[0]).from_host(data), place)

    arrays._restored = believed


def _text() -> None:
    """Of a subclass of ``str`` its own methods are asked."""
    from gpubcast import errors

    errors.plain_text = lambda value: value if isinstance(value, str) else None


def _unloaded() -> None:
    """Why a module cannot be loaded is passed on as it is."""
    import gpubcast

    gpubcast._unloaded = lambda home, error: error


def _lock() -> None:
    """A lock is waited for by the thread that has it."""
    import threading

    from gpubcast.runtime import state
    from tests.campaigns import worlds

    worlds.LIMIT = 10.0
    state.STATE.lock = threading.Lock()
    # A fork's child gets a new one.
    state.threading = SimpleNamespace(RLock=threading.Lock)


def _fifo() -> None:
    """What is no file is opened, and waited for."""
    from gpubcast.backends import kernel_store
    from tests.campaigns import worlds

    worlds.LIMIT = 10.0
    kernel_store._FILE &= ~os.O_NONBLOCK


def _digest() -> None:
    """A file's name says nothing of its kernel."""
    from gpubcast.backends import kernel_store

    kernel_store.Store._name = lambda self, key, contents: (
        f"{key}.{kernel_store.digest(contents)}.{self.suffix}"
    )


def _owner() -> None:
    """Whoever owns a file, it is run."""
    from gpubcast.backends import kernel_store

    kernel_store.check_trusted = lambda status, path: None
    kernel_store.check_owner = lambda status, path: None


def _leak() -> None:
    """With every new plan some kilobytes are left over."""
    from gpubcast.runtime import prepare

    before, leaked = prepare.cache_launch, []

    def leaking(*arguments: Any) -> Any:
        leaked.append(b"x" * 8000)
        return before(*arguments)

    prepare.cache_launch = leaking


PLANTED = {
    "strides": Planted("changed_arrays", ("wrong value", "memory", "crash"), _strides),
    "read-only": Planted("changed_arrays", ("wrong value",), _read_only),
    "overlap": Planted("overlaps", ("wrong value",), _overlap),
    "itself": Planted("overlaps", ("wrong value",), _itself),
    "parameters": Planted("switches", ("wrong value", "crash"), _parameters),
    "forked": Planted("forks", ("hang",), _forked),
    "stale": Planted("kills", ("hang",), _stale),
    "ingredients": Planted("versions", ("wrong value",), _ingredients),
    "last part": Planted("large", ("wrong value",), _last_part),
    "restored": Planted("hostile_calls", ("crash", "foreign exception"), _restored),
    "text": Planted("hostile_calls", ("foreign exception",), _text),
    "unloaded": Planted("limits", ("foreign exception",), _unloaded),
    "lock": Planted("interrupts", ("hang",), _lock),
    "fifo": Planted("cache_damage", ("hang",), _fifo),
    "digest": Planted("cache_damage", ("wrong value", "crash"), _digest),
    "owner": Planted("cache_damage", ("wrong value", "crash"), _owner),
    "leak": Planted("endurance", ("memory",), _leak),
}
