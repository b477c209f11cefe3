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


class FormulaInstruction(NamedTuple):
    """One instruction of a formula.

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
class FormulaBuilder:
    """The instructions of one formula, each once."""

    code: list[FormulaInstruction] = field(default_factory=list)
    numbers: dict[FormulaInstruction, int] = field(default_factory=dict)

    def add(
        self, op: str, machine_type: MachineType, args: tuple[int, ...] = (), extra: Any = None
    ) -> FormulaValue:
        """The value of an instruction; the same one again where it was recorded before."""
        instruction = FormulaInstruction(op, machine_type, args, extra)
        index = self.numbers.get(instruction)
        if index is None:
            index = self.numbers[instruction] = len(self.code)
            self.code.append(instruction)
        return FormulaValue(self, index, machine_type)


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
class FormulaValue:
    """One value of a formula. Operators add instructions; Python numbers take its machine type."""

    builder: FormulaBuilder
    index: int
    machine_type: MachineType

    def constant(self, number: float | FormulaValue) -> FormulaValue:
        """A number as a value of this machine type."""
        if isinstance(number, FormulaValue):
            return number
        return self.builder.add(
            "constant", self.machine_type, (), bits_of(self.machine_type, number)
        )

    def _binary(
        self, op: str, other: Any, result: MachineType | None = None, swap: bool = False
    ) -> FormulaValue:
        other = self.constant(other)
        if other.machine_type is not self.machine_type:
            raise TypeError(f"{op} of {self.machine_type.value} and {other.machine_type.value}")
        args = (other.index, self.index) if swap else (self.index, other.index)
        return self.builder.add(op, result or self.machine_type, args)

    def _only(self, op: str, *, floats: bool) -> None:
        if self.machine_type is MachineType.BOOL or self.machine_type.is_float is not floats:
            raise TypeError(f"{op} of {self.machine_type.value}")

    def __add__(self, other: Any) -> FormulaValue:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> FormulaValue:
        return self._binary("add", other, swap=True)

    def __sub__(self, other: Any) -> FormulaValue:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> FormulaValue:
        return self._binary("sub", other, swap=True)

    def __mul__(self, other: Any) -> FormulaValue:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> FormulaValue:
        return self._binary("mul", other, swap=True)

    def __truediv__(self, other: Any) -> FormulaValue:
        self._only("div", floats=True)
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> FormulaValue:
        self._only("div", floats=True)
        return self._binary("div", other, swap=True)

    def __neg__(self) -> FormulaValue:
        self._only("neg", floats=True)
        return self.builder.add("neg", self.machine_type, (self.index,))

    def __abs__(self) -> FormulaValue:
        self._only("abs", floats=True)
        return self.builder.add("abs", self.machine_type, (self.index,))

    def __and__(self, other: Any) -> FormulaValue:
        return self._binary("and", other)

    def __or__(self, other: Any) -> FormulaValue:
        return self._binary("or", other)

    def __xor__(self, other: Any) -> FormulaValue:
        return self._binary("xor", other)

    def __invert__(self) -> FormulaValue:
        return self._binary("xor", 1 if self.machine_type is MachineType.BOOL else -1)

    def __lshift__(self, other: Any) -> FormulaValue:
        self._only("shl", floats=False)
        return self._binary("shl", other)

    def __rshift__(self, other: Any) -> FormulaValue:
        self._only("lshr", floats=False)
        return self._binary("lshr", other)

    def __lt__(self, other: Any) -> FormulaValue:
        return self._binary("lt", other, MachineType.BOOL)

    def __le__(self, other: Any) -> FormulaValue:
        return self._binary("le", other, MachineType.BOOL)

    def __gt__(self, other: Any) -> FormulaValue:
        return self._binary("gt", other, MachineType.BOOL)

    def __ge__(self, other: Any) -> FormulaValue:
        return self._binary("ge", other, MachineType.BOOL)

    def __eq__(self, other: Any) -> FormulaValue:  # type: ignore[override]
        return self._binary("eq", other, MachineType.BOOL)

    def __ne__(self, other: Any) -> FormulaValue:  # type: ignore[override]
        return self._binary("ne", other, MachineType.BOOL)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a value is not known while a formula is recorded; use select")


def _unary(op: str, doc: str) -> Callable[[FormulaValue], FormulaValue]:
    def function(x: FormulaValue) -> FormulaValue:
        x._only(op, floats=True)
        return x.builder.add(op, x.machine_type, (x.index,))

    function.__doc__ = doc
    function.__name__ = op
    return function


sqrt = _unary("sqrt", "The square root, correctly rounded.")
rint = _unary("rint", "The nearest whole number, ties to even.")
floor = _unary("floor", "The largest whole number not above x.")
trunc = _unary("trunc", "x without its fraction.")


def fma(a: FormulaValue | float, b: FormulaValue | float, c: FormulaValue | float) -> FormulaValue:
    """a * b + c, rounded once."""
    value = next(v for v in (a, b, c) if isinstance(v, FormulaValue))
    value._only("fma", floats=True)
    args = [value.constant(v) for v in (a, b, c)]
    if any(v.machine_type is not value.machine_type for v in args):
        raise TypeError("fma of several machine types")
    return value.builder.add("fma", value.machine_type, tuple(v.index for v in args))


def select(
    condition: FormulaValue, a: FormulaValue | float, b: FormulaValue | float
) -> FormulaValue:
    """``a`` where the condition holds, else ``b``; both are computed."""
    value = next(v for v in (a, b) if isinstance(v, FormulaValue))
    a, b = value.constant(a), value.constant(b)
    if condition.machine_type is not MachineType.BOOL or a.machine_type is not b.machine_type:
        raise TypeError(
            f"select of {condition.machine_type.value}, {a.machine_type.value}, "
            f"{b.machine_type.value}"
        )
    return value.builder.add("select", value.machine_type, (condition.index, a.index, b.index))


def at_least(x: FormulaValue, low: float) -> FormulaValue:
    """x of F32, or ``low``, which is not 0, where x is less; NaN stays NaN."""
    return _limited(x, "at_least", low)


def at_most(x: FormulaValue, high: float) -> FormulaValue:
    """x of F32, or ``high``, which is not 0, where x is more; NaN stays NaN."""
    return _limited(x, "at_most", high)


def _limited(x: FormulaValue, op: str, limit: float) -> FormulaValue:
    # PTX has an instruction for it in F32 alone, and CUDA would round a double to call that.
    if x.machine_type is not F32:
        raise TypeError(f"{op} of {x.machine_type.value}")
    return x._binary(op, limit)


def bits(x: FormulaValue) -> FormulaValue:
    """The bits of a float."""
    return x.builder.add("bits", x.machine_type.word, (x.index,))


def from_bits(x: FormulaValue) -> FormulaValue:
    """The float that has these bits."""
    machine_type = {MachineType.U32: MachineType.F32, MachineType.U64: MachineType.F64}[
        x.machine_type
    ]
    return x.builder.add("from_bits", machine_type, (x.index,))


def to_float(x: FormulaValue, machine_type: MachineType) -> FormulaValue:
    """An integer, read as signed, as a float, rounded to nearest; or a float of another width."""
    if x.machine_type is machine_type:
        return x
    return x.builder.add("to_float", machine_type, (x.index,))


def resize(x: FormulaValue, machine_type: MachineType) -> FormulaValue:
    """An integer of another width: zeros are put in front, or high bits dropped."""
    x._only("resize", floats=False)
    return (
        x if x.machine_type is machine_type else x.builder.add("resize", machine_type, (x.index,))
    )


def ashr(x: FormulaValue, by: FormulaValue | int) -> FormulaValue:
    """An integer shifted right, its top bit replicated."""
    x._only("ashr", floats=False)
    return x._binary("ashr", by)


def high_product(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """The upper half of the product of two unsigned integers of one width."""
    x._only("high_product", floats=False)
    return x._binary("high_product", y)


def leading_zeros(x: FormulaValue) -> FormulaValue:
    """How many zero bits are above the highest one bit; the width for 0."""
    x._only("leading_zeros", floats=False)
    return x.builder.add("leading_zeros", x.machine_type, (x.index,))


def table(
    entries: tuple[float, ...], index: FormulaValue, machine_type: MachineType
) -> FormulaValue:
    """The entry of a constant table at an index (U32), which must be inside."""
    if index.machine_type is not MachineType.U32:
        raise TypeError("a table is indexed by u32")
    words = tuple(bits_of(machine_type, entry) for entry in entries)
    return index.builder.add("table", machine_type, (index.index,), words)


def lookup(entries: tuple[float, ...], index: FormulaValue) -> FormulaValue:
    """The entry of a short constant table of floats, as wide as the index, at the index modulo
    the table's length, a power of two. Vector units with permutations need no memory for it if
    the table has at most 128 bytes."""
    machine_type = {MachineType.U32: MachineType.F32, MachineType.U64: MachineType.F64}[
        index.machine_type
    ]
    words = tuple(bits_of(machine_type, entry) for entry in entries)
    if len(words) & (len(words) - 1):
        raise TypeError("the length of a table is no power of two")
    return index.builder.add("lookup", machine_type, (index.index,), words)
