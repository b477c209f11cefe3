"""Abstract values: what a formula computes is recorded, instruction by instruction."""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Kind(enum.Enum):
    """The machine type of a value."""

    F32 = "f32"
    F64 = "f64"
    U32 = "u32"
    U64 = "u64"
    BOOL = "bool"

    @property
    def is_float(self) -> bool:
        """Whether values are floating point numbers."""
        return self in (Kind.F32, Kind.F64)

    @property
    def bits(self) -> int:
        """Width of a value."""
        return {Kind.BOOL: 1}.get(self) or int(self.value[1:])

    @property
    def word(self) -> Kind:
        """The unsigned integer as wide as a float."""
        return {Kind.F32: Kind.U32, Kind.F64: Kind.U64}[self]


F32, F64, U32, U64, BOOL = Kind


class Instruction(NamedTuple):
    """One step of a record.

    Attributes:
        op: what is done; ``"parameter"``, ``"constant"`` and ``"call"`` among others.
        kind: the kind of the result.
        args: indices of the operands.
        extra: a constant's bits, a table's bits, or the formula called and which of its results.
    """

    op: str
    kind: Kind
    args: tuple[int, ...] = ()
    extra: Any = None


@dataclass(slots=True)
class Record:
    """The instructions of one formula, each once."""

    code: list[Instruction] = field(default_factory=list)
    known: dict[Instruction, int] = field(default_factory=dict)

    def add(self, op: str, kind: Kind, args: tuple[int, ...] = (), extra: Any = None) -> Value:
        """The value of an instruction; the same one again where it was recorded before."""
        instruction = Instruction(op, kind, args, extra)
        index = self.known.get(instruction)
        if index is None:
            index = self.known[instruction] = len(self.code)
            self.code.append(instruction)
        return Value(self, index, kind)


def bits_of(kind: Kind, number: float) -> int:
    """The bits of a constant: floats are rounded to nearest, integers wrap."""
    if kind is Kind.F32:
        return int.from_bytes(struct.pack("<f", number), "little")
    if kind is Kind.F64:
        return int.from_bytes(struct.pack("<d", number), "little")
    if int(number) != number:
        raise TypeError(f"{number} is no integer")
    return int(number) % (1 << kind.bits)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One value of a record. Operators record; Python numbers take the kind of the value."""

    record: Record
    index: int
    kind: Kind

    def constant(self, number: float | Value) -> Value:
        """A number as a value of this kind."""
        if isinstance(number, Value):
            return number
        return self.record.add("constant", self.kind, (), bits_of(self.kind, number))

    def _binary(self, op: str, other: Any, result: Kind | None = None, swap: bool = False) -> Value:
        other = self.constant(other)
        if other.kind is not self.kind:
            raise TypeError(f"{op} of {self.kind.value} and {other.kind.value}")
        args = (other.index, self.index) if swap else (self.index, other.index)
        return self.record.add(op, result or self.kind, args)

    def _only(self, op: str, *, floats: bool) -> None:
        if self.kind is Kind.BOOL or self.kind.is_float is not floats:
            raise TypeError(f"{op} of {self.kind.value}")

    def __add__(self, other: Any) -> Value:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Value:
        return self._binary("add", other, swap=True)

    def __sub__(self, other: Any) -> Value:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._binary("sub", other, swap=True)

    def __mul__(self, other: Any) -> Value:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> Value:
        return self._binary("mul", other, swap=True)

    def __truediv__(self, other: Any) -> Value:
        self._only("div", floats=True)
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Value:
        self._only("div", floats=True)
        return self._binary("div", other, swap=True)

    def __neg__(self) -> Value:
        self._only("neg", floats=True)
        return self.record.add("neg", self.kind, (self.index,))

    def __abs__(self) -> Value:
        self._only("abs", floats=True)
        return self.record.add("abs", self.kind, (self.index,))

    def __and__(self, other: Any) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Any) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Any) -> Value:
        return self._binary("xor", other)

    def __invert__(self) -> Value:
        return self._binary("xor", 1 if self.kind is Kind.BOOL else -1)

    def __lshift__(self, other: Any) -> Value:
        self._only("shl", floats=False)
        return self._binary("shl", other)

    def __rshift__(self, other: Any) -> Value:
        self._only("lshr", floats=False)
        return self._binary("lshr", other)

    def __lt__(self, other: Any) -> Value:
        return self._binary("lt", other, Kind.BOOL)

    def __le__(self, other: Any) -> Value:
        return self._binary("le", other, Kind.BOOL)

    def __gt__(self, other: Any) -> Value:
        return self._binary("gt", other, Kind.BOOL)

    def __ge__(self, other: Any) -> Value:
        return self._binary("ge", other, Kind.BOOL)

    def __eq__(self, other: Any) -> Value:  # type: ignore[override]
        return self._binary("eq", other, Kind.BOOL)

    def __ne__(self, other: Any) -> Value:  # type: ignore[override]
        return self._binary("ne", other, Kind.BOOL)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a value is not known while a formula is recorded; use select")


def _unary(op: str, doc: str) -> Callable[[Value], Value]:
    def function(x: Value) -> Value:
        x._only(op, floats=True)
        return x.record.add(op, x.kind, (x.index,))

    function.__doc__ = doc
    function.__name__ = op
    return function


sqrt = _unary("sqrt", "The square root, correctly rounded.")
rint = _unary("rint", "The nearest whole number, ties to even.")
floor = _unary("floor", "The largest whole number not above x.")
trunc = _unary("trunc", "x without its fraction.")


def fma(a: Value | float, b: Value | float, c: Value | float) -> Value:
    """a * b + c, rounded once."""
    value = next(v for v in (a, b, c) if isinstance(v, Value))
    value._only("fma", floats=True)
    args = [value.constant(v) for v in (a, b, c)]
    if any(v.kind is not value.kind for v in args):
        raise TypeError("fma of several kinds")
    return value.record.add("fma", value.kind, tuple(v.index for v in args))


def select(condition: Value, a: Value | float, b: Value | float) -> Value:
    """``a`` where the condition holds, else ``b``; both are computed."""
    value = next(v for v in (a, b) if isinstance(v, Value))
    a, b = value.constant(a), value.constant(b)
    if condition.kind is not Kind.BOOL or a.kind is not b.kind:
        raise TypeError(f"select of {condition.kind.value}, {a.kind.value}, {b.kind.value}")
    return value.record.add("select", value.kind, (condition.index, a.index, b.index))


def bits(x: Value) -> Value:
    """The bits of a float."""
    return x.record.add("bits", x.kind.word, (x.index,))


def from_bits(x: Value) -> Value:
    """The float that has these bits."""
    kind = {Kind.U32: Kind.F32, Kind.U64: Kind.F64}[x.kind]
    return x.record.add("from_bits", kind, (x.index,))


def to_float(x: Value, kind: Kind) -> Value:
    """An integer, read as signed, as a float, rounded to nearest; or a float of another kind."""
    if x.kind is kind:
        return x
    return x.record.add("to_float", kind, (x.index,))


def resize(x: Value, kind: Kind) -> Value:
    """An integer of another width: zeros are put in front, or high bits dropped."""
    x._only("resize", floats=False)
    return x if x.kind is kind else x.record.add("resize", kind, (x.index,))


def ashr(x: Value, by: Value | int) -> Value:
    """An integer shifted right, its top bit replicated."""
    x._only("ashr", floats=False)
    return x._binary("ashr", by)


def high_product(x: Value, y: Value) -> Value:
    """The upper half of the product of two unsigned integers of one width."""
    x._only("high_product", floats=False)
    return x._binary("high_product", y)


def leading_zeros(x: Value) -> Value:
    """How many zero bits are above the highest one bit; the width for 0."""
    x._only("leading_zeros", floats=False)
    return x.record.add("leading_zeros", x.kind, (x.index,))


def table(entries: tuple[float, ...], index: Value, kind: Kind) -> Value:
    """The entry of a constant table at an index (U32), which must be inside."""
    if index.kind is not Kind.U32:
        raise TypeError("a table is indexed by u32")
    words = tuple(bits_of(kind, entry) for entry in entries)
    return index.record.add("table", kind, (index.index,), words)


def lookup(entries: tuple[float, ...], index: Value) -> Value:
    """The entry of a short constant table of floats, as wide as the index, at the index modulo
    the table's length, a power of two. Vector units with permutations need no memory for it if
    the table has at most 128 bytes."""
    kind = {Kind.U32: Kind.F32, Kind.U64: Kind.F64}[index.kind]
    words = tuple(bits_of(kind, entry) for entry in entries)
    if len(words) & (len(words) - 1):
        raise TypeError("the length of a table is no power of two")
    return index.record.add("lookup", kind, (index.index,), words)
