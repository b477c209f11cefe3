"""Abstract values: what a formula computes is recorded, instruction by instruction."""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class MachineType(enum.Enum):
    """The machine type of a value."""

    F32 = "f32"
    F64 = "f64"
    U32 = "u32"
    U64 = "u64"
    BOOL = "bool"

    @property
    def is_float(self) -> bool:
        """Whether values are floating point numbers."""
        return self in (MachineType.F32, MachineType.F64)

    @property
    def bits(self) -> int:
        """Width of a value."""
        return {MachineType.BOOL: 1}.get(self) or int(self.value[1:])

    @property
    def word(self) -> MachineType:
        """The unsigned integer as wide as a float."""
        return {MachineType.F32: MachineType.U32, MachineType.F64: MachineType.U64}[self]


F32, F64, U32, U64, BOOL = MachineType


class Instruction(NamedTuple):
    """One step of a record.

    Attributes:
        op: what is done; ``"parameter"``, ``"constant"`` and ``"call"`` among others.
        machine_type: that of the result.
        args: indices of the operands.
        extra: a constant's bits, a table's bits, or the formula called and which of its results.
    """

    op: str
    machine_type: MachineType
    args: tuple[int, ...] = ()
    extra: Any = None


@dataclass(slots=True)
class Record:
    """The instructions of one formula, each once."""

    code: list[Instruction] = field(default_factory=list)
    known: dict[Instruction, int] = field(default_factory=dict)

    def add(
        self, op: str, machine_type: MachineType, args: tuple[int, ...] = (), extra: Any = None
    ) -> Value:
        """The value of an instruction; the same one again where it was recorded before."""
        instruction = Instruction(op, machine_type, args, extra)
        index = self.known.get(instruction)
        if index is None:
            index = self.known[instruction] = len(self.code)
            self.code.append(instruction)
        return Value(self, index, machine_type)


def bits_of(machine_type: MachineType, number: float) -> int:
    """The bits of a constant: floats are rounded to nearest, integers wrap."""
    if machine_type is MachineType.F32:
        return int.from_bytes(struct.pack("<f", number), "little")
    if machine_type is MachineType.F64:
        return int.from_bytes(struct.pack("<d", number), "little")
    if int(number) != number:
        raise TypeError(f"{number} is no integer")
    return int(number) % (1 << machine_type.bits)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One value of a record. Operators record; Python numbers take its machine type."""

    record: Record
    index: int
    machine_type: MachineType

    def constant(self, number: float | Value) -> Value:
        """A number as a value of this machine type."""
        if isinstance(number, Value):
            return number
        return self.record.add(
            "constant", self.machine_type, (), bits_of(self.machine_type, number)
        )

    def _binary(
        self, op: str, other: Any, result: MachineType | None = None, swap: bool = False
    ) -> Value:
        other = self.constant(other)
        if other.machine_type is not self.machine_type:
            raise TypeError(f"{op} of {self.machine_type.value} and {other.machine_type.value}")
        args = (other.index, self.index) if swap else (self.index, other.index)
        return self.record.add(op, result or self.machine_type, args)

    def _only(self, op: str, *, floats: bool) -> None:
        if self.machine_type is MachineType.BOOL or self.machine_type.is_float is not floats:
            raise TypeError(f"{op} of {self.machine_type.value}")

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
        return self.record.add("neg", self.machine_type, (self.index,))

    def __abs__(self) -> Value:
        self._only("abs", floats=True)
        return self.record.add("abs", self.machine_type, (self.index,))

    def __and__(self, other: Any) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Any) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Any) -> Value:
        return self._binary("xor", other)

    def __invert__(self) -> Value:
        return self._binary("xor", 1 if self.machine_type is MachineType.BOOL else -1)

    def __lshift__(self, other: Any) -> Value:
        self._only("shl", floats=False)
        return self._binary("shl", other)

    def __rshift__(self, other: Any) -> Value:
        self._only("lshr", floats=False)
        return self._binary("lshr", other)

    def __lt__(self, other: Any) -> Value:
        return self._binary("lt", other, MachineType.BOOL)

    def __le__(self, other: Any) -> Value:
        return self._binary("le", other, MachineType.BOOL)

    def __gt__(self, other: Any) -> Value:
        return self._binary("gt", other, MachineType.BOOL)

    def __ge__(self, other: Any) -> Value:
        return self._binary("ge", other, MachineType.BOOL)

    def __eq__(self, other: Any) -> Value:  # type: ignore[override]
        return self._binary("eq", other, MachineType.BOOL)

    def __ne__(self, other: Any) -> Value:  # type: ignore[override]
        return self._binary("ne", other, MachineType.BOOL)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a value is not known while a formula is recorded; use select")


def _unary(op: str, doc: str) -> Callable[[Value], Value]:
    def function(x: Value) -> Value:
        x._only(op, floats=True)
        return x.record.add(op, x.machine_type, (x.index,))

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
    if any(v.machine_type is not value.machine_type for v in args):
        raise TypeError("fma of several machine types")
    return value.record.add("fma", value.machine_type, tuple(v.index for v in args))


def select(condition: Value, a: Value | float, b: Value | float) -> Value:
    """``a`` where the condition holds, else ``b``; both are computed."""
    value = next(v for v in (a, b) if isinstance(v, Value))
    a, b = value.constant(a), value.constant(b)
    if condition.machine_type is not MachineType.BOOL or a.machine_type is not b.machine_type:
        raise TypeError(
            f"select of {condition.machine_type.value}, {a.machine_type.value}, "
            f"{b.machine_type.value}"
        )
    return value.record.add("select", value.machine_type, (condition.index, a.index, b.index))


def bits(x: Value) -> Value:
    """The bits of a float."""
    return x.record.add("bits", x.machine_type.word, (x.index,))


def from_bits(x: Value) -> Value:
    """The float that has these bits."""
    machine_type = {MachineType.U32: MachineType.F32, MachineType.U64: MachineType.F64}[
        x.machine_type
    ]
    return x.record.add("from_bits", machine_type, (x.index,))


def to_float(x: Value, machine_type: MachineType) -> Value:
    """An integer, read as signed, as a float, rounded to nearest; or a float of another width."""
    if x.machine_type is machine_type:
        return x
    return x.record.add("to_float", machine_type, (x.index,))


def resize(x: Value, machine_type: MachineType) -> Value:
    """An integer of another width: zeros are put in front, or high bits dropped."""
    x._only("resize", floats=False)
    return x if x.machine_type is machine_type else x.record.add("resize", machine_type, (x.index,))


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
    return x.record.add("leading_zeros", x.machine_type, (x.index,))


def table(entries: tuple[float, ...], index: Value, machine_type: MachineType) -> Value:
    """The entry of a constant table at an index (U32), which must be inside."""
    if index.machine_type is not MachineType.U32:
        raise TypeError("a table is indexed by u32")
    words = tuple(bits_of(machine_type, entry) for entry in entries)
    return index.record.add("table", machine_type, (index.index,), words)


def lookup(entries: tuple[float, ...], index: Value) -> Value:
    """The entry of a short constant table of floats, as wide as the index, at the index modulo
    the table's length, a power of two. Vector units with permutations need no memory for it if
    the table has at most 128 bytes."""
    machine_type = {MachineType.U32: MachineType.F32, MachineType.U64: MachineType.F64}[
        index.machine_type
    ]
    words = tuple(bits_of(machine_type, entry) for entry in entries)
    if len(words) & (len(words) - 1):
        raise TypeError("the length of a table is no power of two")
    return index.record.add("lookup", machine_type, (index.index,), words)
