"""Conversions, broadcasts, positions and sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from gpubcast.hlo.attributes import DIMENSION, ELEMENT_TYPE, INTEGERS, Attribute
from gpubcast.hlo.derivatives import of_conversion, zero
from gpubcast.hlo.op import ANY, NUMBER, Expansion, Op, ResultType, TypeCheck
from gpubcast.hlo.rules import BITCAST, BROADCAST, BROADCAST_IN_DIM, CONVERT, IOTA, SIZE

_TO = Attribute(
    "to",
    ELEMENT_TYPE,
    "the element type of the result: an XLA name or a NumPy dtype.",
    positional=True,
)
_DTYPE = Attribute(
    "dtype",
    ELEMENT_TYPE,
    "the element type of the result: an XLA name or a NumPy dtype.",
    positional=True,
    hlo="",
)
_NO_IOTA = TypeCheck(
    "Only support iota of integral, floating point or complex primitive types, got <type>"
)


def _of_one_dimension(given: Mapping[str, Hashable]) -> Expansion | None:
    """An iota is a broadcasted_iota of one dimension; one without its keywords is left to T0."""
    if not {"dtype", "size"} <= set(given):
        return None
    shape = (given["size"],)
    return Expansion("broadcasted_iota", {"dtype": given["dtype"], "shape": shape, "dimension": 0})


ROWS = (
    Op(
        "convert_element_type",
        opcode="convert",
        rule=CONVERT,
        accepts=ANY,
        result=ResultType.TO,
        doc="x converted to the element type ``to``",
        edges="floating to integer truncates, saturates and takes NaN to 0; integers keep "
        "low bits; to pred: x != 0",
        attributes=(_TO,),
        aliases=("convert", "astype"),
        derivative=of_conversion,
        example=(
            'gb.convert_element_type(np.float32([1.9, -1.9, 300]), "u8")',
            "array([  1,   0, 255], dtype=uint8)",
        ),
    ),
    Op(
        "bitcast_convert_type",
        opcode="bitcast-convert",
        rule=BITCAST,
        accepts=ANY,
        result=ResultType.TO,
        doc="the bits of x read as the element type ``to``",
        attributes=(_TO,),
        aliases=("bitcast_convert", "view"),
        derivative=zero,
        example=(
            'gb.bitcast_convert_type(np.float32([1, -0.0]), "s32")',
            "array([ 1065353216, -2147483648], dtype=int32)",
        ),
    ),
    Op(
        "broadcast",
        opcode="broadcast",
        rule=BROADCAST,
        accepts=ANY,
        doc="x repeated along new leading dimensions of the given ``sizes``",
        attributes=(
            Attribute("sizes", INTEGERS, "sizes of the new leading dimensions.", positional=True),
        ),
        example=(
            "gb.broadcast(np.float32([1, 2]), (2,))",
            "array([[1., 2.],\n       [1., 2.]], dtype=float32)",
        ),
    ),
    Op(
        "broadcast_in_dim",
        opcode="broadcast",
        rule=BROADCAST_IN_DIM,
        accepts=ANY,
        doc="x with its dimension i placed at dimension ``broadcast_dimensions[i]`` of ``shape``",
        attributes=(
            Attribute("shape", INTEGERS, "dimensions of the result.", positional=True),
            Attribute(
                "broadcast_dimensions",
                INTEGERS,
                "for each dimension of ``x`` its place in the result; unique, in any order.",
                positional=True,
            ),
        ),
        aliases=("broadcast_to",),
        example=(
            "gb.broadcast_in_dim(np.float32([1, 2]), (2, 3), (0,))",
            "array([[1., 1., 1.],\n       [2., 2., 2.]], dtype=float32)",
        ),
    ),
    Op(
        "broadcasted_iota",
        opcode="iota",
        rule=IOTA,
        accepts=NUMBER,
        result=ResultType.DTYPE,
        doc="the position of each element along ``dimension`` of ``shape``, from 0 on",
        edges="an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round",
        type_check=_NO_IOTA,
        attributes=(
            _DTYPE,
            Attribute("shape", INTEGERS, "dimensions of the result.", positional=True, hlo=""),
            Attribute(
                "dimension",
                DIMENSION,
                "the dimension of ``shape`` along which positions are counted.",
                positional=True,
                hlo="iota_dimension",
            ),
        ),
        example=(
            'gb.broadcasted_iota("s32", (2, 3), 1)',
            "array([[0, 1, 2],\n       [0, 1, 2]], dtype=int32)",
        ),
    ),
    Op(
        "iota",
        opcode="iota",
        rule=IOTA,
        accepts=NUMBER,
        result=ResultType.DTYPE,
        doc="the numbers from 0 to ``size`` - 1",
        edges="an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round",
        type_check=_NO_IOTA,
        attributes=(
            _DTYPE,
            Attribute("size", DIMENSION, "number of elements.", positional=True, hlo=""),
        ),
        expand=_of_one_dimension,
        aliases=("arange",),
        example=('gb.iota("f32", 4)', "array([0., 1., 2., 3.], dtype=float32)"),
    ),
    Op(
        "get_dimension_size",
        opcode="get-dimension-size",
        rule=SIZE,
        accepts=ANY,
        result=ResultType.SIZE,
        doc="the size of x along ``axis``",
        edges="a function is traced once for all sizes, so this is how it takes one",
        aliases=("dimension_size",),
        example=("gb.get_dimension_size(np.zeros((2, 3)), 1)", "array(3, dtype=int32)"),
    ),
)
