"""Where a whole call in machine code finds what it needs: places in words of eight bytes.

``whole`` reads these words, ``known`` writes them. An object's own words come first: CPython's and
NumPy's, as their builds with a global lock have them; a trial confirms that before the first use.
"""

from __future__ import annotations

# In bytes, from an object's address on: its type; a tuple's items; what a bytes object holds.
TYPE, ITEMS, BYTES = 8, tuple.__basicsize__, bytes.__basicsize__ - 1
LENGTH = 16
# The value of a Python float and of a NumPy scalar.
VALUE = object.__basicsize__
# An array's elements, rank, dimensions, strides, dtype and flags.
DATA, RANK, DIMENSIONS, STRIDES, DESCRIPTOR, FLAGS = (object.__basicsize__ + 8 * k for k in
                                                      (0, 1, 2, 3, 5, 6))  # fmt: skip
WRITEABLE = 0x400
# A dictionary's version, where CPython counts its changes.
DICT_VERSION = object.__basicsize__ + 8
# CuPy's array: where vectors of dimensions and of strides begin, and the former ends; its dtype;
# and its pointer object, with the address and the number of the device.
(GPU_DIMENSIONS, GPU_END, GPU_STRIDES, GPU_DESCRIPTOR, GPU_POINTER) = (40, 48, 64, 104, 112)
GPU_ADDRESS, GPU_DEVICE = 24, 32

# Of the process: the table of known calls, its size less one; types and objects; C functions; and
# whether the environment's version tells when it changes, and at which one it was plain.
(
    TABLE, MASK, ARRAY_TYPE, TUPLE_TYPE, TRUE, ENVIRONMENT, BACKEND, DEBUG, SYNC, STREAMING,
    THREADS, VECTORCALL, LOOK_UP, LET_GO, TAKE, HOLD, DROP, NEW_ARRAY, NEW_TUPLE, AS_INTEGER,
    FORGIVE, GPU_TYPE, CURRENT_DEVICE, PROCESS, VERSIONED, VERSION, CONTROL_WORDS,
) = range(27)  # fmt: skip

# Of a known call. THREADED: whether its launch depends on the number of threads. HOW: the lock is
# kept, let go, or let go for a crew of threads; or the kernel is a Python function, of a grid, a
# block and arguments. Then KERNEL is the process that may call it, and at AT_TEMPLATE there are
# lanes. OWNER: where Python runs meanwhile, what holds these words, else 0.
(
    HASH, COUNT, KERNEL, GRID, ARITY, OUTS, NEW, SLOTS, TEMPLATE_WORDS, THREADED, THREADS_TEXT,
    HOW, PARTS, UNIT, MOST_THREADS, CREW, CREW_RUN, AT_VIEWS, AT_SLOTS, AT_TEMPLATE, OWNER, DEVICE,
    FUNCTION, GRID_OBJECT, BLOCK_OBJECT, SIGNATURE,
) = range(26)  # fmt: skip
GIVEN, ONE, SEVERAL = range(3)
KEPT, RELEASED, SHARED, DRIVEN = range(4)
# A parameter table that one call at a time fills in: whether one does, where it is, and the
# arguments that hold it.
BUSY, LANE_TABLE, LANE_ARGUMENTS, LANE_WORDS = range(4)
LANES = 4

# Of an operand or a result of one. KIND: elements at an address, or what a scalar becomes. CROOKED:
# bits that the address may not have, or bytes of the value. LOW and HIGH: which bytes from there on
# may be touched, or the least and the largest integer. PLACES: the results, a bit each, that may
# lie in the very memory of an operand. RESULT_TYPE: a dtype, or what makes the result in Python.
(KIND, CROOKED, LOW, HIGH, PLACES, RESULT_TYPE, RESULT_RANK, RESULT_DIMENSIONS, RESULT_STRIDES,
 VIEW_WORDS) = range(10)  # fmt: skip
MADE_BY_PYTHON = -1
# No address: an exception was raised.
RAISED = -1
(MEMORY, COPIED, FLOAT_F64, FLOAT_F32, INTEGER, INTEGER_F64, INTEGER_F32, BOOLEAN) = range(8)

# Of a call that is under way, for each operand and result: address or bits, more bits, the object.
PLACE_WORDS = 3
# Where no array is: the address 0.
NOWHERE = 96
# What is larger is left to Python: views, words of a signature, words of parameters.
MOST_VIEWS, MOST_WORDS, MOST_PARAMETERS = 32, 256, 128
# Words of the longest part of a signature: an array's type, dtype, rank, dimensions and strides.
LONGEST = 3 + 2 * 64
# How many places of the table a call may lie in.
PROBES = 8
MULTIPLIER = -7046029254386353131  # 2**64 by the golden ratio
