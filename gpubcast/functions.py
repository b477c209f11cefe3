"""The public operations, one function per row of the operation table.

Written by ``make generate`` from ``gpubcast/ops.py``; a test compares the two. Do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpubcast.eager import apply
from gpubcast.layout import Layout

__all__ = [
    "abs",
    "add",
    "atan2",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "clamp",
    "compare",
    "convert_element_type",
    "div",
    "eq",
    "erf",
    "exp",
    "floor",
    "ge",
    "gt",
    "le",
    "log",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "pow",
    "rem",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sqrt",
    "sub",
    "tanh",
]


def add(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x + y; logical or on pred; integers wrap (HLO: ``add``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "add",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def sub(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x - y; integers wrap (HLO: ``subtract``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64. The result has the
    operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "sub",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def mul(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x * y; logical and on pred; integers wrap (HLO: ``multiply``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "mul",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def div(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x / y; integers truncate toward zero (HLO: ``divide``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64. The result has the
    operands' type.
    Edges: integers: x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "div",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def rem(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The remainder of x / y with the sign of x (HLO: ``remainder``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64. The result has the
    operands' type.
    Edges: integers: x rem 0 is x, INT_MIN rem -1 is 0; floats: C's fmod.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "rem",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def pow(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x ** y (HLO: ``power``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64. The result has the
    operands' type.
    Edges: floats: C's pow; integers wrap, and a negative exponent gives 0 unless x is 1 or -1 (XLA:
    0 for -1 too, and exponents modulo 64).
    Error: at most 4 ulp (f32), 2 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "pow",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def max(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The larger of x and y; NaN if either is NaN; logical or on pred (HLO: ``maximum``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.
    Edges: max(+0.0, -0.0) is either.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "max",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def min(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The smaller of x and y; NaN if either is NaN; logical and on pred (HLO: ``minimum``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.
    Edges: min(+0.0, -0.0) is either.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "min",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def atan2(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The angle of the point (y, x) in (-pi, pi] (HLO: ``atan2``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.
    Error: at most 3 ulp (f32), 2 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "atan2",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def bitwise_and(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise and; logical and on pred (HLO: ``and``).

    Element types: pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "bitwise_and",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def bitwise_or(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise or; logical or on pred (HLO: ``or``).

    Element types: pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "bitwise_or",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def bitwise_xor(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise exclusive or; logical exclusive or on pred (HLO: ``xor``).

    Element types: pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "bitwise_xor",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def shift_left(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x << y (HLO: ``shift-left``).

    Element types: s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.
    Edges: 0 for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "shift_left",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def shift_right_logical(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >> y, zeros shifted in (HLO: ``shift-right-logical``).

    Element types: s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.
    Edges: 0 for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "shift_right_logical",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def shift_right_arithmetic(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >> y, the top bit replicated (on unsigned types too) (HLO: ``shift-right-arithmetic``).

    Element types: s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.
    Edges: all copies of the top bit for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "shift_right_arithmetic",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def eq(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x == y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "eq",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def ne(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x != y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "ne",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def lt(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x < y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "lt",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def le(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x <= y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "le",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def gt(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x > y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "gt",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def ge(
    x: Any,
    y: Any,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >= y (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "ge",
        (x, y),
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def compare(
    x: Any,
    y: Any,
    *,
    direction: str,
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The comparison that ``direction`` names; ``total_order`` on floats: -NaN < -inf < ... < -0.0
    < +0.0 < ... < inf < NaN (HLO: ``compare``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result is
    pred.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        direction: one of EQ, NE, LT, LE, GT, GE.
        total_order: compare floats by their total order instead of IEEE 754's.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "compare",
        (x, y),
        direction=direction,
        total_order=total_order,
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )


def neg(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``-x; integers wrap`` (HLO: ``negate``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64. The result has the
    operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("neg", (x,), out=out, out_layout=out_layout)


def abs(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The absolute value; abs(INT_MIN) is INT_MIN (HLO: ``abs``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("abs", (x,), out=out, out_layout=out_layout)


def sign(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``-1, 0 or 1; NaN and signed zeros are returned as they are`` (HLO: ``sign``).

    Element types: bf16, f16, f32, f64, s8, s16, s32, s64. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("sign", (x,), out=out, out_layout=out_layout)


def bitwise_not(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Every bit inverted; logical not on pred (HLO: ``not``).

    Element types: pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("bitwise_not", (x,), out=out, out_layout=out_layout)


def floor(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The largest whole number not above x (HLO: ``floor``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("floor", (x,), out=out, out_layout=out_layout)


def sqrt(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The square root, correctly rounded (HLO: ``sqrt``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("sqrt", (x,), out=out, out_layout=out_layout)


def exp(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """e ** x (HLO: ``exponential``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.
    Error: at most 2 ulp (f32), 1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("exp", (x,), out=out, out_layout=out_layout)


def log(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The natural logarithm (HLO: ``log``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.
    Error: at most 1 ulp (f32), 1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("log", (x,), out=out, out_layout=out_layout)


def tanh(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The hyperbolic tangent (HLO: ``tanh``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.
    Error: at most 2 ulp (f32), 2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("tanh", (x,), out=out, out_layout=out_layout)


def erf(
    x: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The error function (HLO: ``erf``).

    Element types: bf16, f16, f32, f64. The result has the operands' type.
    Error: at most 2 ulp (f32), 2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("erf", (x,), out=out, out_layout=out_layout)


def select(
    pred: Any,
    on_true: Any,
    on_false: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """On_true where pred is true, else on_false; pred may be a scalar (HLO: ``select``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.

    Args:
        pred, on_true, on_false: ``pred`` is a scalar or has the dimensions of the others, which
            are equal.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("select", (pred, on_true, on_false), out=out, out_layout=out_layout)


def clamp(
    lo: Any,
    x: Any,
    hi: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Min(max(lo, x), hi); lo and hi may be scalars (HLO: ``clamp``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.
    Edges: lo > hi gives hi; NaN in any operand gives NaN.

    Args:
        lo, x, hi: ``lo`` and ``hi`` are scalars or have the dimensions of ``x``.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("clamp", (lo, x, hi), out=out, out_layout=out_layout)


def convert_element_type(
    x: Any,
    to: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x converted to the element type ``to`` (HLO: ``convert``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the type ``to``.
    Edges: floating to integer truncates, saturates and takes NaN to 0; integers keep low bits; to
    pred: x != 0.

    Args:
        x: the operand.
        to: the element type of the result: an XLA name or a NumPy dtype.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("convert_element_type", (x,), to=to, out=out, out_layout=out_layout)


def bitcast_convert_type(
    x: Any,
    to: Any,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The bits of x read as the element type ``to`` (HLO: ``bitcast-convert``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the type ``to``.

    Args:
        x: the operand.
        to: the element type of the result: an XLA name or a NumPy dtype.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("bitcast_convert_type", (x,), to=to, out=out, out_layout=out_layout)


def broadcast(
    x: Any,
    sizes: Sequence[int],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x repeated along new leading dimensions of the given ``sizes`` (HLO: ``broadcast``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.

    Args:
        x: the operand.
        sizes: sizes of the new leading dimensions.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply("broadcast", (x,), sizes=sizes, out=out, out_layout=out_layout)


def broadcast_in_dim(
    x: Any,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x with its dimension i placed at dimension ``broadcast_dimensions[i]`` of ``shape`` (HLO:
    ``broadcast``).

    Element types: bf16, f16, f32, f64, pred, s8, s16, s32, s64, u8, u16, u32, u64. The result has
    the operands' type.

    Args:
        x: the operand.
        shape: dimensions of the result.
        broadcast_dimensions: for each dimension of ``x`` its place in the result; unique, in
            any order.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` beside it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.
    """
    return apply(
        "broadcast_in_dim",
        (x,),
        shape=shape,
        broadcast_dimensions=broadcast_dimensions,
        out=out,
        out_layout=out_layout,
    )
