"""Where CPython's, NumPy's and CuPy's objects keep what a call reads of them, in bytes.

As their builds with a global lock have them; a trial confirms that before the first use.
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
# Flags of a new array of one dimension: contiguous either way, aligned, writeable.
NEW_FLAGS = 0x003 | 0x100 | WRITEABLE
# A dictionary's version, where CPython counts its changes.
DICT_VERSION = object.__basicsize__ + 8
# CuPy's array: where vectors of dimensions and of strides begin, and the former ends; its dtype;
# and its pointer object, with the address and the number of the device.
(GPU_DIMENSIONS, GPU_END, GPU_STRIDES, GPU_DESCRIPTOR, GPU_POINTER) = (40, 48, 64, 104, 112)
GPU_ADDRESS, GPU_DEVICE = 24, 32
