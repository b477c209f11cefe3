"""The registry of formulas, and the record of one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpubcast.hlo.elementary.values import (
    FormulaBuilder,
    FormulaInstruction,
    FormulaValue,
    MachineType,
)


class Pair(NamedTuple):
    """A complex value."""

    re: FormulaValue
    im: FormulaValue


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """One function on one machine type.

    Attributes:
        name: the function's name, in CUDA and on the CPU.
        machine_type: that of its operands, of their components where complex.
        complex: whether operands (and the result) are pairs.
        real_result: whether a complex formula returns one real value.
        arity: number of operands.
        function: what records it.
        module: the module it was written in; CUDA has one header per module.
        native: whether a processor may have an instruction that does the same, bit for bit.
    """

    name: str
    machine_type: MachineType
    complex: bool
    real_result: bool
    arity: int
    function: Callable[..., Any]
    module: str
    native: bool

    @property
    def results(self) -> int:
        """How many values it returns."""
        return 2 if self.complex and not self.real_result else 1

    def __call__(self, *args: Any) -> Any:
        """Record a call in the formula that the operands belong to."""
        flat = [v for a in args for v in (a if isinstance(a, Pair) else (a,))]
        builder = next(v for v in flat if isinstance(v, FormulaValue)).builder
        first = next(v for v in flat if isinstance(v, FormulaValue))
        if first.machine_type is not self.machine_type:
            raise TypeError(
                f"{self.name} of {self.machine_type.value} on a value of {first.machine_type.value}"
            )
        indices = tuple(first.constant(v).index for v in flat)
        parts = [
            builder.add("call", self.machine_type, indices, (self, i)) for i in range(self.results)
        ]
        return Pair(*parts) if len(parts) == 2 else parts[0]


FORMULAS: dict[tuple[str, MachineType, bool], Formula] = {}
# What formulas are made of but no operation calls: the right-hand sides of ``rarely``, and steps
# for which a processor may have an instruction.
HELPERS: dict[tuple[str, MachineType, bool], Formula] = {}


def formula(
    name: str,
    *machine_types: MachineType,
    complex: bool = False,
    real_result: bool = False,
    helper: bool = False,
    native: bool = False,
) -> Callable[[Callable[..., Any]], Formula]:
    """Register a formula for some machine types; a decorated name stands for the last of them."""

    def register(function: Callable[..., Any]) -> Formula:
        arity = function.__code__.co_argcount
        module = function.__module__.rsplit(".", 1)[-1]
        for machine_type in machine_types:
            made = Formula(
                name, machine_type, complex, real_result, arity, function, module, native
            )
            (HELPERS if helper or native else FORMULAS)[name, machine_type, complex] = made
        return made

    return register


def call(name: str, *args: Any) -> Any:
    """Call the formula of that name for the machine type of the first operand."""
    first = args[0]
    machine_type = first.re.machine_type if isinstance(first, Pair) else first.machine_type
    return FORMULAS[name, machine_type, isinstance(first, Pair)](*args)


def step(name: str, *args: FormulaValue) -> FormulaValue:
    """Call the native helper of that name."""
    found: FormulaValue = HELPERS[name, args[0].machine_type, False](*args)
    return found


def rarely(
    condition: FormulaValue, name: str, x: FormulaValue, otherwise: FormulaValue
) -> FormulaValue:
    """The real helper of that name on ``x`` where the condition holds, else ``otherwise``.

    The one branch there is: the helper runs only where a condition holds, so it may be long, and
    its table indices need not be inside for other operands. The CPU's loops stay vector loops.
    """
    helper = HELPERS[name, x.machine_type, False]
    args = (condition.index, otherwise.index, x.index)
    return x.builder.add("rarely", x.machine_type, args, (helper, 0))


@dataclass(frozen=True, slots=True)
class FormulaCode:
    """What a formula does: its instructions, its parameters and results, names for values."""

    instructions: tuple[FormulaInstruction, ...]
    parameters: tuple[int, ...]
    results: tuple[int, ...]
    names: dict[int, str]


def formula_code(formula: Formula) -> FormulaCode:
    """Record a formula. Local variables of the Python function give values their names."""
    if sys.getprofile() is None:
        return _recorded(formula)
    from concurrent.futures import ThreadPoolExecutor  # not in every process

    # Names are found by a profiling function, of which a thread has one. Another's stays where it
    # is: one written in C could not be put back.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_recorded, formula).result()


def _recorded(formula: Formula) -> FormulaCode:
    builder = FormulaBuilder()
    count = formula.arity * (2 if formula.complex else 1)
    flat = [builder.add("parameter", formula.machine_type, (), i) for i in range(count)]
    args: list[Any] = flat
    if formula.complex:
        args = [Pair(*flat[i : i + 2]) for i in range(0, count, 2)]
    names: dict[int, str] = {}

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is formula.function.__code__:
            for name, value in frame.f_locals.items():
                parts = [(name, value)]
                if isinstance(value, Pair):
                    parts = [(f"{name}_re", value.re), (f"{name}_im", value.im)]
                for label, part in parts:
                    if isinstance(part, FormulaValue):
                        names.setdefault(part.index, label)

    sys.setprofile(profile)
    try:
        returned = formula.function(*args)
    finally:
        sys.setprofile(None)
    results = tuple(returned) if isinstance(returned, Pair) else (returned,)
    if len(results) != formula.results:
        raise TypeError(f"{formula.name} returns {len(results)} values, not {formula.results}")
    kept, where = _needed(builder.code, count, [v.index for v in results])
    return FormulaCode(
        tuple(kept),
        tuple(range(count)),
        tuple(where[v.index] for v in results),
        {where[i]: name for i, name in names.items() if i in where},
    )


def _needed(
    code: list[FormulaInstruction], parameters: int, results: list[int]
) -> tuple[list[FormulaInstruction], dict[int, int]]:
    """The parameters, and the instructions that the results need, in order."""
    wanted = set(results) | set(range(parameters))
    for index in reversed(range(len(code))):
        if index in wanted:
            wanted.update(code[index].args)
    where = {index: new for new, index in enumerate(sorted(wanted))}
    kept = [code[i]._replace(args=tuple(where[a] for a in code[i].args)) for i in sorted(wanted)]
    return kept, where
