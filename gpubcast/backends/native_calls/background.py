"""Work that takes seconds, done by a process in the background, so that no call waits for it.

A thread would hold Python's lock most of the time, and a fork and the end of the process would wait
for it. What a process makes is found on disk. It ends when this one ends, and after a limit; what
it has to say of a failure is told by whoever waits for it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from gpubcast import config
from gpubcast.backends.progress import announced

# Seconds of life, and how often the process looks whether its parent is there.
LIMIT, _PERIOD = 120, 0.25
# What is read of a failure; a pipe holds that much without a reader.
_MOST_TEXT = 4096
_CODE = """
import os, signal, sys
parent, limit, period, module, function, *sys.path = sys.argv[1:]
def look(*_, left=[float(limit)]):
    left[0] -= float(period)
    if left[0] < 0 or os.getppid() != int(parent):
        os._exit(0)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's
signal.signal(signal.SIGALRM, look)
signal.setitimer(signal.ITIMER_REAL, float(period), float(period))
try:
    import atexit, importlib
    os.nice(5)
    getattr(importlib.import_module(module), function)()
    atexit._run_exitfuncs()
except BaseException as error:
    text = f"{type(error).__name__}: {error}".encode(errors="replace")
    os.write(1, text[:4096])
    os._exit(1)
os._exit(0)  # at once: it is waited for
"""


@dataclass(slots=True)
class BackgroundProcess:
    """A function of a module, without arguments, that another process calls.

    Attributes:
        function: the function; the process imports its module, which must not need this process's
            main module.
    """

    function: Callable[[], object]
    _child: int = 0
    _parent: int = 0
    _pipe: int = -1

    def begin(self) -> None:
        """Start the process, if there can be one, with the interpreter's own flags."""
        import subprocess

        python = sys.executable or ""
        # Another program that Python is part of would do something else with the arguments.
        if not os.path.basename(python).startswith("python"):
            return
        named = self.function.__module__, self.function.__qualname__
        # What multiprocessing starts its processes with: -I, -E, -s, -P, -W, -X and the like.
        flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        limits = str(os.getpid()), str(LIMIT), str(_PERIOD)
        given = [python, *flags, "-c", _CODE, *limits, *named, *map(os.path.abspath, sys.path)]
        read = write = -1
        try:
            read, write = os.pipe()
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, write, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
            ]
            child = os.posix_spawn(python, given, config.inherited(), file_actions=actions)
            self._child, self._parent, self._pipe, read = child, os.getpid(), read, -1
        except OSError:
            self._child = 0
        finally:
            for descriptor in (read, write):
                if descriptor >= 0:
                    os.close(descriptor)

    @property
    def begun(self) -> bool:
        """Whether a process was started that nobody has waited for."""
        return self._child != 0

    def wait(self, what: str) -> str:
        """Until the process has ended, with a line that says ``what`` it does where that takes
        long; not at all where none was started, or by the parent.

        Returns:
            Why it failed; empty where it did not.
        """
        if not self._is_mine():
            return ""
        with announced(what), contextlib.suppress(ChildProcessError):
            # Somebody else may have waited for it.
            os.waitpid(self._child, 0)
        return self._end()

    def failure(self) -> str:
        """Why the process failed, told once; empty where it did not, or has not ended."""
        if not self._is_mine():
            return ""
        try:
            ended = os.waitpid(self._child, os.WNOHANG) != (0, 0)
        except ChildProcessError:
            ended = True
        return self._end() if ended else ""

    def _is_mine(self) -> bool:
        if self._child and self._parent != os.getpid():
            self._end()
            return False
        return self._child != 0

    def _end(self) -> str:
        """What the process has written, which is gone."""
        self._child = 0
        descriptor, self._pipe = self._pipe, -1
        try:
            is_mine = self._parent == os.getpid()
            return os.read(descriptor, _MOST_TEXT).decode(errors="replace") if is_mine else ""
        finally:
            os.close(descriptor)
