"""Whether other threads of this process compute.

Linux says of each thread whether it runs. The processor's time of a process does not tell within
milliseconds: of threads on other processors it is counted at the ticks of the system's clock, of
which there may be 100 a second.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

_THREADS = Path("/proc/self/task")
# Where threads are not seen: the share of so many seconds, longer than two ticks, that others may
# take.
_LOOK, _SHARE = 25e-3, 0.25


def others_compute() -> bool:
    """Whether a thread other than the caller's runs, or waits for a processor."""
    if _THREADS.is_dir():
        own = str(threading.get_native_id())
        return any(_runs(one) for one in _THREADS.iterdir() if one.name != own)
    began, worked = time.perf_counter(), time.process_time()
    time.sleep(_LOOK)
    worked, taken = time.process_time() - worked, time.perf_counter() - began
    return worked >= _SHARE * taken


def _runs(thread: Path) -> bool:
    try:
        text = (thread / "stat").read_text(errors="replace")
    except OSError:  # it has ended
        return False
    # After its name, which may have any signs but is the last in parentheses.
    return text.rpartition(")")[2].split()[0] == "R"
