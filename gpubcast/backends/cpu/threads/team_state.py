"""The state of a team of worker threads: where its words lie, in bytes from its address.

What different threads write in a launch lies on pairs of cache lines of its own.
"""

from __future__ import annotations

# How often a launch was published (32 bits), the first part nobody has claimed (16), and the end
# of those (16); then the launch itself.
CLAIM, KERNEL, TABLE, TOTAL, PARTS, GRANULARITY = 0, 8, 16, 24, 32, 40
# How many workers there are, sleep, and may be.
WORKERS, SLEEPERS, LIMIT = 128, 136, 144
# Parts that workers have ended, and whether the caller sleeps until they have.
FINISHED, WAITING = 256, 264
# Whether a launch is under way. Of small launches while the workers slept: the time they took in
# close succession, and when the last one ended. The processor that workers avoid, from 1 on.
OWNER, STREAK, ENDED, AVOIDED = 384, 392, 400, 408
# The system's numbers of the first workers. Sets of processors, a bit each: the caller's, one
# worker's as the system has it, and those that each of the first workers was given last.
NUMBERS, PLACES, MASK_BYTES = 512, 8, 128
MASK, FOUND, GIVEN = 640, 768, 896
STATE_BYTES = GIVEN + PLACES * MASK_BYTES
