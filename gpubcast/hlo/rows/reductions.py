"""Reductions: sums, products, extremes, and where these are."""

from __future__ import annotations

from gpubcast.hlo.derivatives import Derivative, of_product, of_reduced_extreme
from gpubcast.hlo.op import REAL, Code, Identity, Op, Reference, ResultType, by
from gpubcast.hlo.reductions import check_index
from gpubcast.hlo.references import greatest, least
from gpubcast.hlo.rows import arithmetic, bits
from gpubcast.hlo.rules import CHOOSE, REDUCE

_COMBINED = {row.name: row for row in (*arithmetic.ROWS, *bits.ROWS)}
_WIDE = "f8, f16 and bf16 are computed in f32 and rounded once; integers wrap"


def _reduction(
    name: str,
    of: str,
    identity: Identity,
    doc: str,
    edges: str,
    *,
    aliases: tuple[str, ...] = (),
    cuda: Code | None = None,
    cpu: Code | None = None,
    reference: Reference | None = None,
    derivative: Derivative | None = None,
    example: tuple[str, str],
) -> Op:
    """The reduction by an operation of two operands, whose types and code it has."""
    row = _COMBINED[of]
    return Op(
        name,
        opcode="reduce",
        rule=REDUCE,
        accepts=row.accepts,
        doc=f"{doc} along ``axes``",
        edges=edges,
        cuda=cuda or row.cuda,
        cpu=cpu or row.cpu,
        reference=reference or row.reference,
        type_check=row.type_check,
        aliases=aliases,
        hlo_attributes=f"to_apply={row.opcode}",
        identity=identity,
        derivative=derivative,
        example=example,
    )


def _choice(name: str, doc: str, *, example: tuple[str, str]) -> Op:
    return Op(
        name,
        opcode=None,
        rule=CHOOSE,
        accepts=REAL,
        result=ResultType.INDEX,
        keyword_check=check_index,
        doc=f"the first index along ``axis`` at which x is {doc}",
        edges="the first NaN, if there is one; +0.0 and -0.0 are equal",
        decomposition=f"{name} is a reduce of pairs of an element and its index",
        example=example,
    )


ROWS = (
    _reduction(
        "reduce_sum",
        "add",
        Identity.ZERO,
        "the sum of the elements",
        f"begins at +0.0, in the order of the law of sums; {_WIDE}; 0 where there are none; "
        "logical or on pred",
        aliases=("sum",),
        cuda=by(
            pred="{0} || {1}",
            integral="add({0}, {1})",
            floating="add_rn({0}, {1})",
            complex="add_rn({0}, {1})",
        ),
        derivative=lambda g, y, x, **axes: g,
        example=(
            "gb.reduce_sum(np.float32([[1, 2], [3, 4]]), (0,))",
            "array([4., 6.], dtype=float32)",
        ),
    ),
    _reduction(
        "reduce_prod",
        "mul",
        Identity.ONE,
        "the product of the elements",
        f"in the order of the law of sums; {_WIDE}; 1 where there are none; logical and on pred",
        aliases=("prod", "product"),
        cuda=by(
            pred="{0} && {1}",
            integral="mul({0}, {1})",
            floating="mul_rn({0}, {1})",
            complex="mul_rn({0}, {1})",
        ),
        derivative=of_product,
        example=(
            "gb.reduce_prod(np.float32([[1, 2], [3, 4]]), (1,))",
            "array([ 2., 12.], dtype=float32)",
        ),
    ),
    _reduction(
        "reduce_max",
        "max",
        Identity.LOWEST,
        "the largest of the elements",
        "NaN if one is NaN; +0.0 is above -0.0; the lowest value where there are none; logical or "
        "on pred",
        aliases=("amax",),
        cuda=by(pred="{0} || {1}", integral="{0} > {1} ? {0} : {1}", floating="greatest({0}, {1})"),
        cpu=by(pred="{0} | {1}", real="max({0}, {1})"),
        reference=greatest,
        derivative=of_reduced_extreme,
        example=(
            "gb.reduce_max(np.float32([[1, 5], [3, np.nan]]), (1,))",
            "array([ 5., nan], dtype=float32)",
        ),
    ),
    _reduction(
        "reduce_min",
        "min",
        Identity.HIGHEST,
        "the smallest of the elements",
        "NaN if one is NaN; -0.0 is below +0.0; the highest value where there are none; logical "
        "and on pred",
        aliases=("amin",),
        cuda=by(pred="{0} && {1}", integral="{0} < {1} ? {0} : {1}", floating="least({0}, {1})"),
        cpu=by(pred="{0} & {1}", real="min({0}, {1})"),
        reference=least,
        derivative=of_reduced_extreme,
        example=("gb.reduce_min(np.float32([[1, 5], [3, 4]]), (0, 1))", "array(1., dtype=float32)"),
    ),
    _reduction(
        "reduce_and",
        "bitwise_and",
        Identity.ONES,
        "bitwise and of the elements",
        "all bits set where there are none; logical and on pred",
        aliases=("all",),
        example=(
            "gb.reduce_and(np.array([[True, True], [True, False]]), (1,))",
            "array([ True, False])",
        ),
    ),
    _reduction(
        "reduce_or",
        "bitwise_or",
        Identity.ZERO,
        "bitwise or of the elements",
        "0 where there are none; logical or on pred",
        aliases=("any",),
        example=(
            "gb.reduce_or(np.array([[False, False], [True, False]]), (1,))",
            "array([False,  True])",
        ),
    ),
    _reduction(
        "reduce_xor",
        "bitwise_xor",
        Identity.ZERO,
        "bitwise exclusive or of the elements",
        "0 where there are none; the parity on pred",
        example=("gb.reduce_xor(np.uint8([1, 2, 4]), (0,))", "array(7, dtype=uint8)"),
    ),
    _choice(
        "argmax",
        "largest",
        example=("gb.argmax(np.float32([[1, 7, 7], [4, 0, 2]]), 1)", "array([1, 0], dtype=int32)"),
    ),
    _choice(
        "argmin",
        "smallest",
        example=("gb.argmin(np.float32([[1, 7, 0], [4, 0, 0]]), 1)", "array([2, 1], dtype=int32)"),
    ),
)
