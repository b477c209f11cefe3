"""The mutable state of the runtime: backends, plans, kernels and recorded calls, and their lock.

Everything kept is bounded (4,096 plans, least recently used out) or grows with the number of
distinct kernels. What is done under the lock is right, too, where a signal handler or a finalizer
comes between any two of its steps and does the same.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gpubcast import config, locks
from gpubcast.backends.base import Backend
from gpubcast.codegen import generator
from gpubcast.errors import DeviceError
from gpubcast.runtime import streaming_threshold
from gpubcast.runtime.launch import Launch

MAX_PLANS = 4096


@dataclass(slots=True)
class _State:
    lock: Any
    backends: dict[str, Backend]
    launches: dict[Any, Launch]
    kernels: dict[Any, Any]
    calls: dict[Any, Any]
    begun: set[Launch] = field(default_factory=set)
    tables: dict[str, Any] = field(default_factory=dict)
    entry_points: list[Any] = field(default_factory=list)
    forget: list[Callable[[], object]] = field(default_factory=list)
    libraries: tuple[Any, ...] = ()
    forking: bool = False


_TRACE: ContextVar[Any] = ContextVar("gpubcast_trace", default=None)
STATE = _State(threading.RLock(), {}, {}, {}, {})


def before_fork() -> None:
    """Hold the locks over a fork (the package registers this).

    A child inherits the locks as they are, but not the threads that would release them; so the
    forking thread holds them.
    """
    STATE.forking = STATE.lock.acquire(timeout=locks.FORK_SECONDS)


def after_fork(*, child: bool) -> None:
    """Release what ``before_fork`` holds; a child gets new locks where it held none."""
    if STATE.forking:
        STATE.forking = False
        STATE.lock.release()
    elif child:
        STATE.lock = threading.RLock()


def backend(device_type: str) -> Backend:
    """The backend of a device type, made on first use.

    Raises:
        DeviceError: no such device type, no device, or CuPy missing.
    """
    found = STATE.backends.get(device_type)
    if found is None:
        # Making one imports its libraries and the generator of its code, which a fork must not cut
        # in half.
        with locks.compiling():
            found = STATE.backends.get(device_type) or _new_backend(device_type)
            generator.import_generator(found.target())
            STATE.backends[device_type] = found
    return found


def _new_backend(device_type: str) -> Backend:
    if device_type == "cpu":
        from gpubcast.backends.cpu.backend import CpuBackend

        return CpuBackend(streaming_threshold.stored(config.threads()))
    if device_type != "cuda":
        raise DeviceError(f"no device {device_type!r}; devices are 'cpu' and 'cuda'")
    try:
        from gpubcast.backends.cuda.backend import CupyBackend
    except ImportError as error:
        raise DeviceError(
            "device 'cuda' needs CuPy: pip install 'cupy-cuda13x[ctk]' (or cupy-cuda12x)"
        ) from error
    return CupyBackend()


@contextlib.contextmanager
def use_backend(substitute: Backend) -> Iterator[None]:
    """Replace a device type's backend for a while (the tests run CUDA source in an emulator)."""
    device_type = substitute.device_type
    with STATE.lock:
        before = STATE.backends.get(device_type)
        STATE.backends[device_type] = substitute
        _forget_calls()
    try:
        yield
    finally:
        with STATE.lock:
            _forget_calls()
            if before is None:
                del STATE.backends[device_type]
            else:
                STATE.backends[device_type] = before


def clear() -> None:
    """Forget every plan and kernel of this process; files on disk stay."""
    with STATE.lock:
        STATE.launches.clear()
        STATE.kernels.clear()
        _forget_calls()


def _forget_calls() -> None:
    STATE.calls.clear()
    STATE.begun.clear()
    for forget in STATE.forget:
        forget()


def forget_with(action: Callable[[], object]) -> None:
    """Have an action done whenever recorded calls are forgotten."""
    with STATE.lock:
        STATE.forget.append(action)


def alone(action: Callable[[], object]) -> None:
    """Do something while no other thread records or forgets calls."""
    with STATE.lock:
        action()


def entry_points() -> list[Any]:
    """Every ``EntryPoint``."""
    return STATE.entry_points


def libraries() -> tuple[Any, ...]:
    """Every ``ArrayLibrary`` that has joined."""
    return STATE.libraries


def set_libraries(joined: tuple[Any, ...]) -> None:
    """Replace the libraries that have joined."""
    with STATE.lock:
        STATE.libraries = joined


def cached_call(key: Any) -> Any:
    """What ``cache_call`` was given with a key, or None."""
    return STATE.calls.get(key)


def repeated(launch: Launch) -> bool:
    """Whether a launch is one that this was asked of before."""
    with STATE.lock:
        found = launch in STATE.begun
        if len(STATE.begun) >= MAX_PLANS:
            STATE.begun.clear()
        STATE.begun.add(launch)
    return found


def cache_call(key: Any, call: Any) -> None:
    """Cache what is ready for calls with a key; the oldest of too many goes."""
    with STATE.lock:
        STATE.calls[key] = call
        _drop_oldest(STATE.calls)


def cache_launch(key: Any, launch: Launch) -> None:
    """Cache what is ready for operands with a key, as the one that was used last."""
    with STATE.lock:
        STATE.launches.pop(key, None)
        STATE.launches[key] = launch
        _drop_oldest(STATE.launches)


def _drop_oldest(cache: dict[Any, Any]) -> None:
    if len(cache) > MAX_PLANS:
        with contextlib.suppress(RuntimeError):  # changed in between
            cache.pop(next(iter(cache), None), None)


@contextlib.contextmanager
def active_trace(trace: Any) -> Iterator[None]:
    """Say which trace an operation without operands belongs to, in this thread for a while."""
    token = _TRACE.set(trace)
    try:
        yield
    finally:
        _TRACE.reset(token)


def current_trace() -> Any:
    """The trace that ``active_trace`` has named, or None."""
    return _TRACE.get()


def kernels() -> tuple[str, ...]:
    """Keys of the kernels compiled or loaded by this process."""
    return tuple(key for *_, key in tuple(STATE.kernels))


def is_loaded(device_type: str, architecture: str, key: str) -> bool:
    """Whether a kernel is ready on a device of a type and architecture."""
    host = STATE.backends.get(device_type)
    return any(
        (found, arch, name) == (host, architecture, key)
        for found, _, arch, name in tuple(STATE.kernels)
    )
