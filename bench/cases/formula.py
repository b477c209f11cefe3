"""A case's arithmetic as one text, and the function that each library gets of it.

The text names its operands, then says what is computed of them: ``x, mean: (x - mean) * 0.5``.
Statements are separated by semicolons, and the last is the result; functions are spelled as in
NumPy, and reductions (``REDUCTIONS``) name the axes that they take away by label:
``sum(x, "row col")``. NumPy, CuPy, PyTorch, JAX, numba and ``gb.fuse`` get it as a Python function,
numexpr as one expression.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

REDUCTIONS = ("argmax", "max", "mean", "sum")


@dataclass(frozen=True, slots=True)
class Formula:
    """Arithmetic on aligned operands."""

    names: tuple[str, ...]  # the operands
    text: str  # the statements

    @staticmethod
    def parse(text: str) -> Formula:
        """Split names and statements at the first colon."""
        names, _, statements = text.partition(":")
        return Formula(tuple(name.strip() for name in names.split(",")), statements.strip())

    @property
    def moves(self) -> bool:
        """Whether nothing is computed: the result is the operand, transposed or repeated."""
        return self.text == self.names[0]

    @property
    def reduced(self) -> frozenset[str]:
        """The labels that reductions in it name."""
        calls = (node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Call))
        return frozenset(
            label
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id in REDUCTIONS
            for given in call.args
            if isinstance(given, ast.Constant) and isinstance(given.value, str)
            for label in given.value.split()
        )

    @property
    def sums(self) -> bool:
        """Whether it is a sum of an operand and nothing else."""
        found = re.fullmatch(r'sum\((\w+), "[\w ]+"\)', self.text)
        return found is not None and found[1] in self.names

    def function(
        self, namespace: Mapping[str, Any], constant: Callable[[float], Any] | None = None
    ) -> Callable[..., Any]:
        """The formula as a function of its operands."""
        *before, last = _statements(self.text)
        return _defined(self.names, [*before, ast.Return(last.value)], namespace, constant)

    def in_place(
        self,
        steps: str,
        namespace: Mapping[str, Any],
        constant: Callable[[float], Any] | None = None,
    ) -> Callable[..., Any]:
        """A function of the operands and ``out`` that runs the given steps and returns ``out``."""
        body = [*_statements(steps), ast.Return(ast.Name("out", ast.Load()))]
        return _defined((*self.names, "out"), body, namespace, constant)

    def expression(self, axes: Sequence[str] = ()) -> tuple[str, dict[str, float]]:
        """One expression without statements, and the constants that it names.

        A sum of one axis has its number among ``axes``, a sum of all has none.
        """
        if self.sums:
            ((name, labels),) = re.findall(r'sum\((\w+), "([\w ]+)"\)', self.text)
            number = [axes.index(label) for label in labels.split()]
            return f"sum({name})" if len(number) > 1 else f"sum({name}, axis={number[0]})", {}
        *before, text = self.text.split(";")
        for statement in reversed(before):
            name, _, value = statement.partition("=")
            text = re.sub(rf"\b{name.strip()}\b", f"({value.strip()})", text)
        constants = _Constants()
        return ast.unparse(constants.visit(ast.parse(text.strip()))), constants.values


def _statements(text: str) -> list[Any]:
    return ast.parse(text).body


class _Constants(ast.NodeTransformer):
    """Numbers replaced by names."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return node  # labels
        assert isinstance(node.value, (int, float))
        known = {value: name for name, value in self.values.items()}
        name = known.get(node.value, f"constant_{len(known)}")
        self.values[name] = node.value
        return ast.Name(name, ast.Load())


def _defined(
    names: tuple[str, ...],
    body: list[Any],
    namespace: Mapping[str, Any],
    constant: Callable[[float], Any] | None,
) -> Callable[..., Any]:
    scope = dict(namespace)
    if constant is not None:
        constants = _Constants()
        body = [constants.visit(statement) for statement in body]
        scope |= {name: constant(value) for name, value in constants.values.items()}
    exec("\n    ".join([f"def formula({', '.join(names)}):", *map(ast.unparse, body)]), scope)
    function: Callable[..., Any] = scope["formula"]
    return function
