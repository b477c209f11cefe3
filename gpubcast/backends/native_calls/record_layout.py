"""Where the machine code of calls finds what it needs: words of eight bytes, by number.

``replay`` and ``lookup`` read these words, ``call_table`` writes them.
"""

from __future__ import annotations

# Of the process, the control words: the table, its size less one; types and objects; names of
# variables; C functions; how a DeviceArray is built; and whether the environment's version tells
# when it changes, and at which one no variable was set that matters to every call.
(
    TABLE, MASK, ARRAY_TYPE, TUPLE_TYPE, NONE, TRUE, UINT8, ENVIRONMENT, BACKEND, DEBUG, SYNC,
    NATIVE_CALLS, STREAMING, THREADS, VECTORCALL, GET_ITEM, SAVE_THREAD, RESTORE_THREAD, INCREF,
    DECREF, NEW_TUPLE, AS_LONG_LONG, CLEAR_ERROR, ALLOCATE, NEW_ARRAY, SET_BASE, GETPID,
    GPU_TYPE, CURRENT_DEVICE, DEVICE_ARRAY_TYPE, AT_OPERAND, AT_DEVICE, AT_BUFFER, AT_STRIDED,
    VERSIONED, VERSION, CONTROL_WORDS,
) = range(37)  # fmt: skip

# Of a record. THREADED: whether its launch depends on the number of threads. HOW: the interpreter's
# lock is held, released, or released for a team of threads; or the kernel is a Python function, of
# a grid, a block and arguments. Then KERNEL is the process that may call it, and at AT_TEMPLATE
# there are lanes. OWNER: where Python may run meanwhile, the object that holds these words and all
# that they refer to, else 0. NEXT: where the same words of the next kernel are, else 0; of those
# only what a kernel needs is read. TEMPORARIES: how many arrays only the kernels see, in one memory
# of TEMPORARY_BYTES, each so many bytes from its beginning as AT_TEMPORARIES says. SCRATCH: the
# Python function that makes that memory, where it is a device's, else 0.
(
    HASH, COUNT, KERNEL, GRID, ARITY, OUTS, NEW, SLOTS, TEMPLATE_WORDS, THREADED, THREADS_TEXT,
    HOW, PARTS, UNIT, MOST_THREADS, TEAM, TEAM_RUN, AT_ARGUMENTS, AT_SLOTS, AT_TEMPLATE, OWNER,
    DEVICE, FUNCTION, GRID_OBJECT, BLOCK_OBJECT, NEXT, TEMPORARIES, TEMPORARY_BYTES, AT_TEMPORARIES,
    SCRATCH, SIGNATURE,
) = range(31)  # fmt: skip
GIVEN, ONE, SEVERAL = range(3)
LOCK_HELD, LOCK_RELEASED, BY_TEAM, BY_DRIVER = range(4)
# A parameter table that one call at a time fills in: whether one does, where it is, and the
# arguments that hold it.
BUSY, LANE_TABLE, LANE_ARGUMENTS, LANE_WORDS = range(4)
LANES = 4

# Of an operand or a result of a record. KIND: elements at an address, or what a scalar becomes.
# MISALIGNED: bits that the address may not have, or bytes of the value. LOW and HIGH: which bytes
# from there on may be touched, or the least and the largest integer. IN_PLACE: the results, a bit
# each, that may lie in the very memory of an operand. RESULT: how a new one is made. RESULT_TYPE: a
# dtype, what makes the result in Python, or a DeviceArray's operand; then rank, dimensions and
# strides, or the bytes of a buffer and the device.
(
    CONVERSION, MISALIGNED, LOW, HIGH, IN_PLACE, RESULT, RESULT_TYPE, RESULT_RANK,
    RESULT_DIMENSIONS, RESULT_STRIDES, ARGUMENT_WORDS,
) = range(11)  # fmt: skip
RESULT_OPERAND, RESULT_BYTES, RESULT_DEVICE = RESULT_TYPE, RESULT_RANK, RESULT_DIMENSIONS
MADE_BY_PYTHON, STRIDED, FLAT = range(3)
# No address: an exception was raised.
RAISED = -1
(MEMORY, COPIED, FLOAT_F64, FLOAT_F32, INTEGER, INTEGER_F64, INTEGER_F32, BOOLEAN) = range(8)

# Of a call that is under way, for each operand and result: address or bits, more bits, the object.
VALUE_WORDS = 3
# Where the address 0 is, of an operand that reads no memory.
NOWHERE = 96
# What is larger is left to Python: arguments and temporaries, words of a signature, words of
# parameters.
MOST_ARGUMENTS, MOST_WORDS, MOST_PARAMETERS = 32, 256, 128
# Words of the longest part of a signature: an array's type, dtype, rank, dimensions and strides.
LONGEST = 3 + 2 * 64
# How many buckets of the table a record may be in.
PROBES = 8
MULTIPLIER = -7046029254386353131  # 2**64 by the golden ratio
