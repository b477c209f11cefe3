"""Work that takes seconds, done by a process in the background, so that no call waits for it.

A thread would hold Python's lock most of the time, and a fork and the end of the process would wait
for it. What a process makes is found on disk; it goes on where this one ends first.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from gpubcast import config
from gpubcast.backends.progress import announced

_CODE = """
import atexit, importlib, os, sys
os.nice(5)
module, function, *sys.path = sys.argv[1:]
getattr(importlib.import_module(module), function)()
atexit._run_exitfuncs()
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

    def begin(self) -> None:
        """Start the process, if there can be one."""
        python = sys.executable or ""
        # Another program that Python is part of would do something else with the arguments.
        if not os.path.basename(python).startswith("python"):
            return
        nothing = [(os.POSIX_SPAWN_OPEN, k, os.devnull, os.O_RDWR, 0) for k in range(3)]
        named = self.function.__module__, self.function.__qualname__
        given = [python, "-c", _CODE, *named, *map(os.path.abspath, sys.path)]
        try:
            self._child = os.posix_spawn(python, given, config.inherited(), file_actions=nothing)
        except OSError:
            self._child = 0

    @property
    def begun(self) -> bool:
        """Whether a process was started that nobody has waited for."""
        return self._child != 0

    def wait(self, what: str) -> None:
        """Until the process has ended, with a line that says ``what`` it does where that takes
        long; not at all where none was started, or by the parent."""
        child, self._child = self._child, 0
        if child:
            # The parent's, or somebody else has waited for it.
            with announced(what), contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)
