"""Where things are in XLA's call frame, in bytes, and in the words of a record of such a call."""

from __future__ import annotations

# ``XLA_FFI_CallFrame``: the numbers of arguments and results, two words before their addresses.
FRAME_EXTENSION, FRAME_API, FRAME_ARGUMENTS, FRAME_RESULTS, FRAME_ATTRIBUTES = 8, 16, 56, 96, 160
BUFFER_DATA, SCALAR_VALUE = 24, 8
# ``XLA_FFI_Metadata_Extension``, ``XLA_FFI_Metadata``, ``XLA_FFI_Api``.
EXTENSION_TYPE, EXTENSION_METADATA, METADATA = 8, 24, 1
METADATA_MAJOR, METADATA_MINOR, METADATA_TRAITS = 24, 28, 32
API_ERROR_CREATE, ERROR_CREATE_BYTES, FAILED_PRECONDITION = 48, 32, 9

# A record: how many arguments, results and kernels; then the addresses of the kernels' words.
ARITY, OUTS, STEPS, RECORD_WORDS = 0, 1, 2, 3
# A kernel's words; then the template of its parameters, and pairs of a buffer and bytes to add.
KERNEL, GRID, PARTS, UNIT, THREADS, TEAM, TEAM_RUN = range(7)
TEMPLATE_WORDS, SLOTS, STEP_WORDS = 7, 8, 9

MOST_BUFFERS, MOST_PARAMETERS = 256, 512
