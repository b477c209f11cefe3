"""Processes of a campaign in which gpubcast is imported and has not been called: forked, which
takes a millisecond, and each makes its first call."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable

from tests.campaigns.log import Log

LIMIT = 180.0
"""Seconds after which a world that has not ended hangs; its stacks go to stderr."""


class World:
    """A process that does something and ends.

    Attributes:
        pid: of the process.
    """

    def __init__(self, log: Log, work: Callable[[], object]) -> None:
        self._log = log
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                log.counts = dict.fromkeys(log.counts, 0)
                work()
                status = 0
            except BaseException as error:
                traceback.print_exc()
                log.fault("foreign exception", f"a world ended with {error!r}"[:500])
            finally:
                log.flush()
                os._exit(status)

    def end(self, *expected: int) -> int:
        """Its status (a signal is negative), once it has ended.

        Args:
            expected: statuses other than 0 and 1, which the world itself reports, that are right.
        """
        until = time.monotonic() + LIMIT
        while not (found := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > until:
                self._log.fault("hang", f"a world did not end in {LIMIT:.0f} s")
                os.kill(self.pid, signal.SIGABRT)
                time.sleep(0.5)
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return -signal.SIGABRT
            time.sleep(0.001)
        status = os.waitstatus_to_exitcode(found[1])
        if status not in (0, 1, *expected):
            self._log.fault("crash", f"a world ended with {status}")
        return status


def visit(log: Log, work: Callable[[], object], *expected: int) -> int:
    """Do something in a world of its own; its status."""
    return World(log, work).end(*expected)
