"""Where things are in XLA's call frame, in bytes, and in the words of a record of such a call."""

from __future__ import annotations

# ``XLA_FFI_CallFrame``: the numbers of arguments and results stand two words before their
# addresses.
FRAME_EXTENSION, FRAME_API, FRAME_CONTEXT = 8, 16, 24
FRAME_ARGUMENTS, FRAME_RESULTS, FRAME_ATTRIBUTES = 56, 96, 160
BUFFER_DATA, SCALAR_VALUE = 24, 8
# ``XLA_FFI_Metadata_Extension`` and ``XLA_FFI_Metadata``.
EXTENSION_TYPE, EXTENSION_METADATA, METADATA = 8, 24, 1
METADATA_MAJOR, METADATA_MINOR, METADATA_TRAITS = 24, 28, 32
# ``XLA_FFI_Api``; ``XLA_FFI_Error_Create_Args`` and ``XLA_FFI_Stream_Get_Args``, as long as each
# other.
API_ERROR_CREATE, API_STREAM_GET = 48, 80
ARGUMENTS_BYTES, FAILED_PRECONDITION = 32, 9

# A record: how many arguments, results, kernels and devices, and C functions of the GPU's driver;
# then for each device the addresses of its kernels' words.
ARITY, OUTS, STEPS, DEVICES, LAUNCH, CURRENT_DEVICE, RECORD_WORDS = range(7)
# A kernel's words; then the template of its parameters, and pairs of a buffer and bytes to add. On
# a GPU parts and unit are the two sizes of a block.
KERNEL, GRID, PARTS, UNIT, THREADS, TEAM, TEAM_RUN, TEMPLATE_WORDS, SLOTS, STEP_WORDS = range(10)

MOST_BUFFERS, MOST_PARAMETERS = 256, 512
# What a handler finds: the launch; no record; other buffers; no such device, or the driver's no.
DONE, MISSING, REFUSED = 0, 1, 2
