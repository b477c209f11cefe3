"""Every environment variable gpubcast reads, in one place.

Variables are read when they are used, not at import, so that a test or a notebook may set them
at any time. ``docs/env.md`` lists the same table; a test compares the two.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpubcast.errors import Error

# The folder of the package: a frame or a file in it is ours.
PACKAGE_ROOT = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its name, what values mean, and what holds when it is unset."""

    name: str
    meaning: str
    default: str


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "GPUBCAST_DEBUG",
        "0 silent; 1 the backend and the first compile of each kernel; 2 time and bandwidth of "
        "each launch; 3 plan and schedule; 4 generated source",
        "0",
    ),
    Variable("GPUBCAST_DUMP", "folder that receives every generated source", ""),
    Variable(
        "GPUBCAST_BACKEND",
        "cpu or cuda: calls on the other device are refused; it never moves data",
        "",
    ),
    Variable(
        "GPUBCAST_SYNC", "1: wait after each launch, so that a CUDA fault names its kernel", "0"
    ),
    Variable("GPUBCAST_CHECK", "1: verify plans between passes", "0"),
    Variable(
        "GPUBCAST_PROGRESS",
        "1: a line on stderr while a CPU kernel compiles for over a second",
        "1",
    ),
    Variable("GPUBCAST_CACHE_DIR", "folder for compiled kernels", "~/.cache/gpubcast"),
    Variable(
        "GPUBCAST_CACHE_SIZE",
        "bytes that compiled kernels may take on disk; beyond, those go that were not used for the "
        "longest time",
        "1 GiB",
    ),
    Variable(
        "GPUBCAST_NATIVE_CALLS",
        "on, or off: repeated calls are not replayed by machine code, and no process is started to "
        "make it",
        "on",
    ),
    Variable("GPUBCAST_THREADS", "CPU threads a kernel may use", "the affinity mask"),
    Variable(
        "GPUBCAST_STREAMING",
        "on, off, or the bytes that a kernel must move on the CPU to write past the caches; auto "
        "measures once from how many on it pays",
        "auto",
    ),
    Variable(
        "GPUBCAST_POOL",
        "bytes of memory of former results that are kept for new ones on the CPU; 0 keeps none",
        "1 GiB, or an eighth of the memory if that is less",
    ),
)


# More bytes than any kernel moves.
NEVER = 1 << 62
# What os.environ keeps its variables in; to see there that one is not set costs a call nearly
# nothing.
_RAW: Any = getattr(os.environ, "_data", None)
_KEY: Any = getattr(os.environ, "encodekey", None) and functools.cache(os.environ.encodekey)


def _text(name: str) -> str:
    """A variable's text without blanks around it; empty where it is not set."""
    if _RAW is not None and _KEY is not None and _KEY(name) not in _RAW:
        return ""
    return os.environ.get(name, "").strip()


_UNUSUAL = ("GPUBCAST_BACKEND", "GPUBCAST_DEBUG", "GPUBCAST_SYNC")
_SHARING = ("GPUBCAST_STREAMING", "GPUBCAST_THREADS")
_UNUSUAL_KEYS = frozenset(_KEY(name) for name in _UNUSUAL) if _KEY is not None else frozenset()


def given() -> tuple[tuple[Variable, str], ...]:
    """The variables that are set, with their text."""
    texts = ((variable, _text(variable.name)) for variable in VARIABLES)
    return tuple((variable, text) for variable, text in texts if text)


def _integer(name: str, default: int, low: int, high: int) -> int:
    text = _text(name)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise Error(f"{name}={text!r}: expected an integer from {low} to {high}")
    return value


def plain() -> bool:
    """Whether calls go their usual way: no variable that restricts, tells or waits is set."""
    if _RAW is None or _KEY is None:
        return not any(map(_text, _UNUSUAL))
    return _UNUSUAL_KEYS.isdisjoint(_RAW)


def watched() -> tuple[dict[Any, Any], tuple[Any, ...]] | None:
    """Where the variables are that calls depend on, and their names there: those that ``plain``
    asks for, whether machine code may replay calls, then what decides how threads share a launch.
    None where Python keeps them elsewhere."""
    if not isinstance(_RAW, dict) or _KEY is None:
        return None
    return _RAW, tuple(map(_KEY, (*_UNUSUAL, "GPUBCAST_NATIVE_CALLS", *_SHARING)))


def debug() -> int:
    """How much to print to stderr, 0 (nothing) to 4 (generated source)."""
    return _integer("GPUBCAST_DEBUG", 0, 0, 4)


def sync() -> bool:
    """Whether to wait for the device after each launch."""
    return bool(_integer("GPUBCAST_SYNC", 0, 0, 1))


def check() -> bool:
    """Whether plans are verified after each pass."""
    return bool(_integer("GPUBCAST_CHECK", 0, 0, 1))


def progress() -> bool:
    """Whether to say what takes long."""
    return bool(_integer("GPUBCAST_PROGRESS", 1, 0, 1))


def native_calls() -> bool:
    """Whether machine code may replay repeated calls."""
    text = _text("GPUBCAST_NATIVE_CALLS").lower()
    if text not in ("", "on", "off"):
        raise Error(f"GPUBCAST_NATIVE_CALLS={text!r}: expected on or off")
    return text != "off"


def threads() -> int:
    """Number of CPU threads a kernel may use; at least 1."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    available = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return _integer("GPUBCAST_THREADS", available, 1, 1024)


def threads_given() -> bool:
    """Whether the number of CPU threads is set, not that of the cores."""
    return bool(_text("GPUBCAST_THREADS"))


def streaming_bytes() -> int | None:
    """The bytes that a CPU kernel must move to write past the caches; None where that is to be
    measured."""
    text = _text("GPUBCAST_STREAMING")
    known = {"": None, "auto": None, "on": 0, "off": NEVER}
    if text.lower() in known:
        return known[text.lower()]
    if not text.isdecimal() or int(text) > NEVER:
        raise Error(f"GPUBCAST_STREAMING={text!r}: expected auto, on, off or a number of bytes")
    return int(text)


def pool_bytes() -> int:
    """Bytes of former results' memory that are kept."""
    return _integer("GPUBCAST_POOL", _default_pool(), 0, 1 << 60)


@functools.cache
def _default_pool() -> int:
    memory = 8 << 30
    try:
        memory = min(memory, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            limit = file.read().strip()  # "max" for none
        memory = min(memory, int(limit)) if limit.isdigit() else memory
    except (OSError, ValueError, AttributeError):
        pass
    return min(1 << 30, memory // 8)


def allowed_device_type() -> str | None:
    """The only device type allowed (``"cpu"`` or ``"cuda"``), or None for both."""
    text = _text("GPUBCAST_BACKEND").lower()
    if text not in ("", "cpu", "cuda"):
        raise Error(f"GPUBCAST_BACKEND={text!r}: expected cpu or cuda")
    return text or None


def _path(name: str, text: str) -> str:
    found = os.path.expanduser(text)
    if found.startswith("~"):
        raise Error(f"{name}={text!r}: could not determine home directory")
    return found


def dump_dir() -> str | None:
    """Folder for generated sources, or None."""
    text = _text("GPUBCAST_DUMP")
    return _path("GPUBCAST_DUMP", text) if text else None


def inherited() -> Mapping[str, str]:
    """What a process that is started has in its environment."""
    return os.environ


def cache_dir() -> str:
    """Folder of compiled kernels (it may not exist yet)."""
    text = _text("GPUBCAST_CACHE_DIR")
    if text:
        return _path("GPUBCAST_CACHE_DIR", text)
    base = _text("XDG_CACHE_HOME")
    return os.path.join(base or _path("HOME", "~/.cache"), "gpubcast")


def cache_bytes() -> int:
    """Bytes that compiled kernels may take on disk."""
    return _integer("GPUBCAST_CACHE_SIZE", 1 << 30, 0, 1 << 60)


def numba_settings() -> tuple[str, ...]:
    """The variables that numba reads, as ``NAME=text``: compiled code may depend on them."""
    return tuple(sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_")))


def unknown() -> tuple[str, ...]:
    """Variables that are set and begin like ours, but mean nothing: a misspelling, most likely."""
    known = {variable.name for variable in VARIABLES}
    return tuple(sorted(n for n in os.environ if n.startswith("GPUBCAST_") and n not in known))
