"""What gpubcast keeps of memory that is no longer in use."""

from __future__ import annotations


def trim_pool() -> int:
    """Give memory that large results on the CPU have left behind back to the system.

    It is kept for results to come, up to ``GPUBCAST_POOL`` bytes. On a GPU the memory is CuPy's,
    which has a pool of its own.

    Returns:
        How many bytes that were.
    """
    from gpubcast.backends.cpu.pool import POOL

    return POOL.trim()
