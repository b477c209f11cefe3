"""Python functions as numba reads them, and what is seen of one before it is lowered."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from numba.core import bytecode, interpreter, ir


class _ByteCode(bytecode.ByteCode):  # type: ignore[misc]
    """Python's code without the places between instructions that Python keeps for itself, which
    are most of what Python 3.11 lists."""

    table: dict[int, Any]

    def __init__(self, identity: Any) -> None:
        super().__init__(identity)
        found = [one for one in self.table.values() if one.opname != "CACHE"]
        for one, after in itertools.pairwise(found):
            one.next = after.offset
        self.table = {one.offset: one for one in found}


class _Interpreter(interpreter.Interpreter):  # type: ignore[misc]
    """numba's, of functions without lists, dictionaries and ``with``."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return func_ir


def interpreted(function: Callable[..., Any]) -> dict[int, Any]:
    """A function's blocks in numba's IR, by number."""
    identity = bytecode.FunctionIdentity.from_function(function)
    blocks: dict[int, Any] = _Interpreter(identity).interpret(_ByteCode(identity)).blocks
    return blocks


def returns_nothing(blocks: dict[int, Any]) -> bool:
    """Whether nothing but ``None`` is returned, which Python converts before it does."""
    constants = {
        statement.target.name: statement.value.value
        for block in blocks.values() for statement in block.body
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Const)
    }  # fmt: skip
    returned = [
        statement.value.value.name
        for block in blocks.values() for statement in block.body
        if isinstance(statement, ir.Assign) and getattr(statement.value, "op", "") == "cast"
    ]  # fmt: skip
    return all(constants.get(name, name) is None for name in returned)


def local_variables(blocks: dict[int, Any]) -> dict[str, bool]:
    """Of what is assigned, whether this is in one place, and all uses in its block."""
    assigned, users = Counter[str](), dict[str, int]()
    elsewhere = set[str]()
    for number, block in blocks.items():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                assigned[statement.target.name] += 1
                for name in (statement.target.name, *_uses(statement.value)):
                    if users.setdefault(name, number) != number:
                        elsewhere.add(name)
            elif isinstance(statement, ir.Branch):
                name = statement.cond.name
                if users.setdefault(name, number) != number:
                    elsewhere.add(name)
    return {name: count == 1 and name not in elsewhere for name, count in assigned.items()}


def _uses(what: Any) -> list[str]:
    """The variables that are used where something is evaluated."""
    if isinstance(what, ir.Var):
        return [what.name]
    if not isinstance(what, ir.Expr):
        return []
    if what.op == "call":
        return [one.name for one in what.args]
    if what.op in ("binop", "inplace_binop"):
        return [what.lhs.name, what.rhs.name]
    if what.op == "build_tuple":
        return [one.name for one in what.items]
    return [what.value.name]


def loops(blocks: dict[int, Any]) -> int:
    """How many loops there are, of whatever sort."""
    return len({
        begin for number, block in blocks.items()
        for begin in block.terminator.get_targets() if begin <= number
    })  # fmt: skip
