"""What a row of the operation table is: rule, result, attributes, element types and code."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpubcast.hlo.attributes import Attribute
from gpubcast.hlo.broadcasting import Broadcast
from gpubcast.hlo.derivatives import Derivative
from gpubcast.shapes.element_types import Category, ElementType, categories
from gpubcast.shapes.shape import Shape

Given = Mapping[str, Any]
"""The keywords of a call; one that is None is not there."""


class Identity(enum.Enum):
    """The value that a reduction starts from, which is its result where there are no elements."""

    ZERO = "0"
    ONE = "1"
    LOWEST = "the lowest value (-inf, false)"
    HIGHEST = "the highest value (+inf, true)"
    ONES = "all bits set (true)"


class ResultType(enum.Enum):
    """The element type of a result."""

    SAME = "same"  # that of the operands (select: of the second, clamp: of all)
    PRED = "pred"
    COMPLEX = "complex"  # c64 of f32, c128 of f64
    REAL = "real"  # that of the operand, of a complex operand its component's
    TO = "to"  # named by the attribute ``to``
    DTYPE = "dtype"  # named by the attribute ``dtype``
    INDEX = "index_dtype"  # named by the attribute ``index_dtype``
    SIZE = "size"  # s32
    KEY = "key"  # floats: a signed integer of the compute type's width; others: SAME

    @property
    def doc(self) -> str:
        """What a docstring says of the result's type."""
        return _RESULT_DOCS[self]


_RESULT_DOCS = {
    ResultType.SAME: "The result has the operands' type.",
    ResultType.PRED: "The result is pred.",
    ResultType.COMPLEX: "The result is c64 or c128.",
    ResultType.REAL: "The result is real: f32 for c64, f64 for c128, else the operand's type.",
    ResultType.TO: "The result has the type ``to``.",
    ResultType.DTYPE: "The result has the type ``dtype``.",
    ResultType.INDEX: "The result has the type ``index_dtype``.",
    ResultType.SIZE: "The result is s32.",
    ResultType.KEY: "The result is s32 or s64 for floats, else it has the operand's type.",
}


@dataclass(frozen=True, slots=True)
class Inferred:
    """The result of an operation.

    Attributes:
        shape: element type, dimensions and layout of the result.
        maps: ``maps[i][d]`` is the output dimension to which dimension d of operand i goes; None
            where the output has none for it, because the operand does not vary along it. A
            bitcast to a wider type has no entry for the last dimension, which it consumes.
    """

    shape: Shape
    maps: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A broadcasting rule: how the shape of a result follows from those of the operands.

    The rules are the constants of ``rules.py``. A rule has ``dimensions``, or ``infer`` where its
    result is more than dimensions and an element type that the row names.

    Attributes:
        name: what the rule is called.
        operands: parameter names of its operations, in order.
        doc: what a docstring says of the operands.
        dimensions: ``dimensions(name, shapes, given)``, of an operation by its name.
        infer: ``infer(row, shapes, given)``: the whole result.
        rank: ``rank(ranks, types, given)``: that of the result, whatever the sizes are.
        check_types: ``check_types(row, shapes)`` refuses element types that do not go together.
        attributes: keywords by which its operands are aligned, after the rows' own.
        layouts: the operands whose layout the result may take, first choice first (R1 to R3); None
            for all.
        predicate: whether operand 0 is a pred that chooses between the others.
        uniform: whether operands have the result's dimensions or are scalars, so that under labels
            they are aligned first.
        moves: whether every element of the result is one of the operand's, in another place.
        untyped: the keyword that names the element type of operands that have none.
        reduces: ``reduces(given)``: the axes of the operand that a reduction takes away; None for
            other rules.
        inside_labels: why labels refuse it; empty where they do not.
    """

    name: str
    operands: tuple[str, ...] = ("x",)
    doc: str = "the operand."
    dimensions: Callable[[str, tuple[Shape, ...], Given], Broadcast] | None = None
    infer: Callable[[Op, tuple[Shape, ...], Given], Inferred] | None = None
    rank: Callable[[Sequence[int], Sequence[ElementType], Given], int] = lambda r, t, g: max(r)
    check_types: Callable[[Op, tuple[Shape, ...]], None] | None = None
    attributes: tuple[Attribute, ...] = ()
    layouts: tuple[int, ...] | None = None
    predicate: bool = False
    uniform: bool = False
    moves: bool = False
    untyped: str | None = None
    inside_labels: str = ""
    reduces: Callable[[Given], tuple[int, ...]] | None = None

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


@dataclass(frozen=True, slots=True)
class TypeCheck:
    """XLA's check of the operands' element types, which comes before every other.

    Attributes:
        text: XLA's error template for a type that it refuses.
        passes: types that it does not refuse though the row does not accept them.
        operands: the operands that it looks at.
    """

    text: str
    passes: frozenset[ElementType] = frozenset()
    operands: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Expansion:
    """The operation that a row stands for in a graph.

    Attributes:
        name: the operation.
        attributes: its keywords.
        each: an operation that every operand passes through first.
    """

    name: str
    attributes: Mapping[str, Hashable]
    each: str | None = None


Code = str | Mapping[Category, str]
Reference = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    Attributes:
        name: the ``jax.lax`` name, which is the public function's name.
        opcode: the HLO opcode; None for an operation that has none.
        rule: the broadcasting rule.
        accepts: element types of the value operands (select's first operand is always pred).
        doc: one line; what it computes.
        result: how the result's element type follows.
        edges: values at the edges, as XLA defines them.
        cuda, cpu: expressions; None for rows that only move or reinterpret elements.
        nonpositive: the expression on both devices of a floating operand that is known to be at
            most 0, or NaN, with the same result; empty where there is none.
        words: the CUDA expression on words of four elements of a byte each (``words.cuh``), of the
            categories that have one; None where elements are computed one by one.
        reference: ``reference(element_type, *scalars)``, the definition in plain Python. Integers
            are exact Python ints (the caller wraps), floats NumPy scalars of the compute type.
        ulp: largest error on either device in units in the last place of f32 and f64; (0, 0) means
            correctly rounded.
        floor: at negative arguments the error of a result smaller than this is in units in the last
            place of this: the function has zeros there that are no floating point numbers.
        halves: which of f16 and bf16 have a formula of their own, correctly rounded, under the
            row's name with the type's behind it (``exp_f16``); others round the f32 result.
        registers: the categories of operands on which a call takes so many registers that kernels
            keep fewer of them in flight.
        type_check: XLA's check of element types; None where XLA has none.
        keyword_check: ``keyword_check(element_type, given)``: why keywords do not go with a type,
            as a kind and a text of rule T7; None where they do.
        attributes: the row's own keywords.
        expand: ``expand(given)``: what the operation is in a graph; None where it is itself.
        aliases: NumPy and HLO names that are answered with this row's name.
        decomposition: of an operation without an opcode, what it is in HLO.
        hlo_attributes: what the HLO instruction says besides the keywords, e.g. ``direction=EQ``.
        hlo_mark: what the HLO instruction that takes the result says of it.
        identity: of a reduction, the value that changes no other: a number, or a limit of the
            element type. ``cuda`` and ``cpu`` then combine two values.
        reduction: the reduction that a call with one operand is answered with, as NumPy gives it
            the same name.
        derivative: the gradients of the operands (``derivatives``); None where the operation has
            none, or where its results, integers or pred, have none.
        example: a call of the function, and what Python shows of its result; every public row has
            one, which tests run.
        public: whether a function is made from the row.
    """

    name: str
    opcode: str | None
    rule: Rule
    accepts: frozenset[ElementType]
    doc: str
    result: ResultType = ResultType.SAME
    edges: str = ""
    cuda: Code | None = None
    cpu: Code | None = None
    nonpositive: str = ""
    words: Code | None = None
    reference: Reference | None = None
    ulp: tuple[float, float] = (0, 0)
    floor: float = 0
    halves: tuple[str, ...] = ()
    registers: frozenset[Category] = frozenset()
    type_check: TypeCheck | None = None
    keyword_check: Callable[[ElementType, Given], tuple[str, str] | None] | None = None
    attributes: tuple[Attribute, ...] = ()
    expand: Callable[[Mapping[str, Hashable]], Expansion | None] | None = None
    aliases: tuple[str, ...] = ()
    decomposition: str = ""
    hlo_attributes: str = ""
    hlo_mark: str = ""
    identity: Identity | None = None
    reduction: str = ""
    derivative: Derivative | None = None
    example: tuple[str, str] = ("", "")
    public: bool = True

    @property
    def operands(self) -> tuple[str, ...]:
        """Parameter names, in order."""
        return self.rule.operands

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.rule.operands)

    @property
    def keywords(self) -> tuple[Attribute, ...]:
        """Every keyword: the row's own, then those of its rule."""
        return (*self.attributes, *self.rule.attributes)

    @property
    def instruction(self) -> str:
        """What a printed graph calls it: the opcode, or without one the row's name."""
        return self.opcode or self.name

    def expansion(self, given: Mapping[str, Hashable]) -> Expansion:
        """The operation that this one is in a graph, with canonical keywords.

        Raises:
            Error: T0, the value of a keyword.
        """
        found = None if self.expand is None else self.expand(given)
        return Expansion(self.name, given) if found is None else found

    def expensive(self, element_type: ElementType) -> bool:
        """Whether a call on operands of a type takes many registers."""
        return element_type.category in self.registers and not self.halved(element_type)

    def halved(self, element_type: ElementType) -> bool:
        """Whether a type, half as wide as f32, has a formula of its own."""
        return element_type.name in self.halves

    def cuda_for(self, element_type: ElementType) -> str:
        """The CUDA expression for operands of a type."""
        return self._own(element_type) or _pick(self.cuda, element_type.category)

    def cpu_for(self, element_type: ElementType) -> str:
        """The CPU expression for operands of a type."""
        return self._own(element_type) or _pick(self.cpu, element_type.category)

    def nonpositive_for(self, element_type: ElementType) -> str:
        """The expression for an operand of a type that is at most 0; empty where there is none."""
        own = element_type.category is Category.FLOATING and not self.halved(element_type)
        return self.nonpositive if own else ""

    def words_for(self, element_type: ElementType) -> str:
        """The CUDA expression on words for operands of a type; empty where there is none."""
        if self.words is None or element_type.bits != 8:
            return ""
        text = self.words
        return text if isinstance(text, str) else text.get(element_type.category, "")

    def _own(self, element_type: ElementType) -> str:
        return f"{self.name}_{element_type.name}({{0}})" if self.halved(element_type) else ""


def _pick(code: Code | None, category: Category) -> str:
    if code is None:
        return "{0}"
    return code if isinstance(code, str) else code[category]


def by(
    *,
    pred: str = "",
    integral: str = "",
    floating: str = "",
    signed: str = "",
    unsigned: str = "",
    complex: str = "",
    real: str = "",
) -> Mapping[Category, str]:
    """One expression per category; ``integral`` serves signed and unsigned alike, ``real`` all
    that is not complex."""
    texts = {
        Category.PRED: pred or real,
        Category.SIGNED: signed or integral or real,
        Category.UNSIGNED: unsigned or integral or real,
        Category.FLOATING: floating or real,
        Category.COMPLEX: complex,
    }
    return {category: text for category, text in texts.items() if text}


PRED = categories("pred")
SIGNED = categories("signed")
INTEGRAL = categories("signed", "unsigned")
FLOATING = categories("floating")
COMPLEX = categories("complex")
COMPONENTS = frozenset(t.component for t in COMPLEX)
REAL = PRED | INTEGRAL | FLOATING
NUMBER = INTEGRAL | FLOATING | COMPLEX
ANY = REAL | COMPLEX

# Where f16 and bf16 have formulas of their own.
HALVES = ("f16", "bf16")

# Where a call takes many registers.
EVERYWHERE = frozenset(Category)
ON_COMPLEX = frozenset((Category.COMPLEX,))

# XLA's checks of element types that several rows have (shape_inference.cc, xla_builder.cc).
ARITHMETIC = TypeCheck(
    "Expected element type in shape to be arithmetic type for operation <op>; got <type>.",
    passes=ANY - PRED,
    operands=(0, 1),
)
CONTINUOUS = TypeCheck(
    "Expected element type in shape to be floating or complex for <op> operation; got <type>."
)
FLOATING_ONLY = TypeCheck(
    "Expected element type in shape to be floating for <op> operation; got <type>."
)
INVALID_CAST = TypeCheck("Invalid cast from floating point type to <type> in ConstantR0WithType.")
