"""Too little of what a process needs: address space, descriptors, processes, sizes of files, disk
and the memory of a control group. Calls are refused by gpubcast or right; and when there is enough
again, all are right."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import gpubcast as gb
from tests.campaigns import calls
from tests.campaigns.log import Log, Refused
from tests.campaigns.worlds import visit

WORLDS = 6
_NOBODY = 65534
_GROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))


def run(log: Log, rng: random.Random) -> None:
    """Worlds with a limit each, on a warm cache or an empty one."""
    kinds: dict[str, Callable[[Log, random.Random, bool], None]] = {
        "address space": _address_space, "descriptors": _descriptors, "processes": _processes,
        "size of files": _file_size, "disk": _disk, "memory": _group,
    }  # fmt: skip
    for number in range(WORLDS):
        name = tuple(kinds)[number % len(kinds)]
        cold, seed = rng.random() < 0.3, rng.getrandbits(32)
        log.at(f"{name}, {'an empty cache' if cold else 'a warm cache'}, world {number}")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)

            def world(name: str = name, cold: bool = cold, seed: int = seed) -> None:
                os.umask(0o022)
                if cold:
                    os.environ["GPUBCAST_CACHE_DIR"] = f"{folder}/cache"
                kinds[name](log, random.Random(seed), cold)

            # A group's limit is kept by ending processes.
            visit(log, world, *((-signal.SIGKILL,) if name == "memory" else ()))


@contextlib.contextmanager
def _limited(what: int, value: int) -> Iterator[None]:
    before = resource.getrlimit(what)
    resource.setrlimit(what, (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def _used() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def _address_space(log: Log, rng: random.Random, cold: bool) -> None:
    # A compiler ends its process where it has no memory: what is compiled needs some.
    least = 600 << 20 if cold else 0
    if not cold or rng.random() < 0.5:
        calls.right(log, calls.some(rng, 2))
    huge = np.broadcast_to(np.float32(1), (60000, 60000))
    some, amount = calls.some(rng, 4), least + int(rng.choice((0, 1, 4, 20, 80, 200)) * 2**20)
    with _limited(resource.RLIMIT_AS, _used() + amount):
        found = [(name, log.call(call), wanted) for name, call, wanted in some * 2]
        log.at(f"14 GB with {amount >> 20} MiB")
        refused = log.call(lambda: gb.add(huge, huge))
    if not isinstance(getattr(refused, "error", None), gb.OutOfMemoryError):
        log.fault("wrong value", f"14 GB with {amount >> 20} MiB of address space: {refused!r}")
    for name, made, wanted in found:
        log.at(name)
        if not isinstance(made, Refused):
            log.same(made, wanted, name)
    calls.right(log, calls.made())


def _descriptors(log: Log, rng: random.Random, cold: bool) -> None:
    if rng.random() < 0.5:
        calls.right(log, calls.some(rng, 2))
    held: list[int] = []
    # Modules are files, too: those that a call imports are opened by the ones before.
    with _limited(resource.RLIMIT_NOFILE, 64):
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        for free in range(rng.randint(1, 6)):
            for _ in calls.check(log, calls.some(rng, 2), refusable=True):
                pass
            log.note(f"{free + 1} descriptors are free")
            os.close(held.pop())
    for one in held:
        os.close(one)
    calls.right(log, calls.made())


def _processes(log: Log, rng: random.Random, cold: bool) -> None:
    if os.geteuid() == 0:  # whom no such limit binds
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    os.environ["GPUBCAST_CACHE_DIR"] = "/nowhere"
    with _limited(resource.RLIMIT_NPROC, rng.randint(0, 3)):
        calls.right(log, calls.some(rng, 4))
        for _ in range(100):
            calls.right(log, calls.some(rng, 1))
    calls.right(log, calls.made())


def _file_size(log: Log, rng: random.Random, cold: bool) -> None:
    with _limited(resource.RLIMIT_FSIZE, 4096 * rng.randint(1, 6)):
        # The log itself must be able to grow.
        os.environ["GPUBCAST_CACHE_DIR"] += "-small" if not cold else ""
        _quietly(log, calls.some(rng, 3))
    calls.right(log, calls.made())


def _quietly(log: Log, some: list[calls.Made]) -> None:
    for name, call, wanted in some:
        found = log.call(call)
        log.same(found, wanted, name)


def _disk(log: Log, rng: random.Random, cold: bool) -> None:
    """A full one, which is a file system of some pages in memory where one may be mounted."""
    with tempfile.TemporaryDirectory() as folder:
        libc = ctypes.CDLL(None, use_errno=True)
        size = f"size={4096 * rng.randint(3, 12)}".encode()
        private = libc.unshare(0x00020000) == 0  # CLONE_NEWNS
        if not private or libc.mount(b"none", folder.encode(), b"tmpfs", 0, size):
            log.note("no file system may be mounted here")
            return
        os.environ["GPUBCAST_CACHE_DIR"] = os.environ["TMPDIR"] = folder
        tempfile.tempdir = folder
        try:
            calls.right(log, calls.some(rng, 5))
        finally:
            libc.umount2(folder.encode(), 2)


def _group(log: Log, rng: random.Random, cold: bool) -> None:
    """A control group's memory; beyond it the kernel ends a process, whose files must be whole."""
    group = next((path for path in _GROUPS if os.access(path, os.W_OK)), None)
    mine = None if group is None else group / f"gpubcast-{os.getpid()}"
    try:
        if mine is None:
            raise OSError("no control groups")
        mine.mkdir()
        names = ("memory.limit_in_bytes", "memory.max")
        limit = next(mine / name for name in names if (mine / name).exists())
        limit.write_text(str(rng.choice((50, 100, 200)) << 20))
        child = os.fork()
        if not child:
            (mine / "cgroup.procs").write_text(str(os.getpid()))
            calls.right(log, calls.some(rng, 4))
            kept = []
            for _ in range(rng.randint(0, 200)):
                kept.append(gb.add(np.ones((1000, 1000), "f4"), 1.0))
            log.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (0, -signal.SIGKILL):
            log.fault("crash", f"in a control group: {status}")
    except (OSError, StopIteration) as error:
        log.note(f"no control group may be made here: {error}")
    finally:
        if mine is not None and mine.exists():
            mine.rmdir()
    calls.right(log, calls.made())
