"""XLA's error templates for refused dimensions and operands: the kinds of errors.

A kind is the message of XLA with shapes, types, opcodes and numbers blanked, so that it identifies
an error across versions of the wording of ours. Source: ``xla/service/shape_inference.cc`` and
``xla/client/xla_builder.cc``. The templates for element types that one operation refuses are in
its row of the operation table.
"""

from __future__ import annotations

# Binary operations.
INCOMPATIBLE = "Binary op with incompatible shapes: <shape> and <shape>."
NOT_IDENTITY = (
    "Broadcast dimensions field must either be not set or be the identity on binary operations "
    "with operands of the same rank."
)
UNEQUAL_RANK = "Shapes must be equal rank, but are <shape> and <shape>"
BINARY_LENGTH = (
    "Size of broadcast_dimensions has to match lower-rank operand's rank;  lower-rank operand's "
    "rank is <n>, size of broadcast_dimensions is <n>."
)
NEGATIVE = "Broadcast dimension number (<n>) cannot be negative."
TOO_LARGE = "Broadcast dimension number (<n>) too large; higher-rank operand has rank <n>."
MISMATCH = "Broadcast dimension <n> mismatch: <n> != <n>; <shape> and <shape>."
ORDER = "Broadcast dimensions order is wrong: <n> comes after <n>."
# broadcast_in_dim and broadcast.
INVALID_SHAPE = "invalid shape type=<n>, dims=<list>"
IN_DIM_LENGTH = (
    "Size of broadcast_dimensions has to match operand's rank; operand rank: <n>, size of "
    "broadcast_dimensions <n>."
)
OUT_OF_BOUND = "Broadcast dimension <n> is out of bound"
HIGHER_RANK = (
    "InDim style broadcast must be to an equal or higher ranked shape; operand rank: <n>; "
    "output rank: <n>"
)
IN_DIM_MISMATCH = (
    "Input dimension should be either <n> or equal to the output dimension it is broadcasting "
    "into; the <n> operand dimension is <n>, the <n> output dimension is <n>."
)
NEGATIVE_SIZE = "Broadcast with negative dimension size <n>."
# select and clamp.
SELECT_BRANCHES = "Operands to select must be the same shape; got <shape> and <shape>."
SELECT_PRED_TYPE = "Select's pred operand must have <type> element type; got <shape>."
SELECT_PRED_SHAPE = (
    "Operands to select and predicate must be the same shape; got <shape> and <shape> and <shape>."
)
CLAMP_TYPES = "Clamp with incompatible element types: <shape>, <shape>, <shape>."
CLAMP_SHAPES = "Clamp with incompatible shapes: <shape>, <shape>, <shape>."
# Reductions.
AXIS_OUT_OF_BOUNDS = "Reducing out-of-bounds dimension <n> in shape <shape>."
DUPLICATE_AXIS = "Duplicate reduction dimension: <n>"
# iota (xla/service/hlo_verifier.cc).
IOTA_DIMENSION = "The iota dimension cannot go beyond the operation rank or be negative."
# Element types.
DIFFERENT_TYPES = "Binary op <op> with different element types: <shape> and <shape>."
COMPONENT = "Complex component type is not implemented."
COMPLEX_AND_REAL = "Conversion between complex and real type <shape> => <type>."
BITCAST_LAST = (
    "Last dimension of input shape=<n> is not equal to ratio of bit-widths=<n> for "
    "bitcast-convert from <shape> to <type>"
)
