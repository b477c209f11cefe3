"""Which reduction the body of a ``stablehlo.reduce`` is.

A body is read as terms over its arguments, in which the operands of what commutes are sorted; so
``max(a, b)`` and ``max(b, a)`` are one term. The index of an extreme is JAX's form of it.
"""

from __future__ import annotations

from typing import Any

from gpubcast.stablehlo.module import Function, Operation

REDUCTIONS = {
    "stablehlo.add": ("reduce_sum", "add"),
    "stablehlo.multiply": ("reduce_prod", "mul"),
    "stablehlo.maximum": ("reduce_max", "max"),
    "stablehlo.minimum": ("reduce_min", "min"),
    "stablehlo.and": ("reduce_and", "bitwise_and"),
    "stablehlo.or": ("reduce_or", "bitwise_or"),
    "stablehlo.xor": ("reduce_xor", "bitwise_xor"),
}
"""What an operation is as a body: the reduction, and the operation on two values."""
_COMMUTES = frozenset(REDUCTIONS)
_SWAPPED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}

Term = tuple[Any, ...]


def reducers(body: Function) -> tuple[str, ...] | None:
    """The operation of each result, where each is one of its own two arguments."""
    count = len(body.parameters) // 2
    terms = _terms(body)
    found = []
    for i in range(count):
        term = None if terms is None else terms[i]
        expected = _sorted(_argument(i), _argument(i + count))
        if term is None or term[0] not in REDUCTIONS or term[1:] != expected:
            return None
        found.append(term[0])
    return tuple(found)


def chooser(body: Function) -> str | None:
    """``argmax`` or ``argmin`` where a body keeps the extreme of pairs of a value and its index,
    of equal ones the first, and of NaN the first; None for another body."""
    if len(body.parameters) != 4:
        return None
    terms = _terms(body)
    a, i, b, j = (_argument(k) for k in (0, 1, 2, 3))
    for name, direction in (("argmax", "GT"), ("argmin", "LT")):
        better = _compare(direction, a, b)
        first = ("stablehlo.and", *_sorted(_compare("EQ", a, b), _compare("LT", i, j)))
        for pick in (("stablehlo.or", *_sorted(better, _compare("NE", a, a))), better):
            value = ("stablehlo.select", pick, a, b)
            index = ("stablehlo.select", ("stablehlo.or", *_sorted(pick, first)), i, j)
            if terms == (value, index):
                return name
    return None


def _argument(number: int) -> Term:
    return ("argument", number)


def _sorted(*terms: Term) -> tuple[Term, ...]:
    return tuple(sorted(terms, key=repr))


def _compare(direction: str, a: Term, b: Term) -> Term:
    """A comparison, its operands in one order."""
    if repr(b) < repr(a):
        a, b, direction = b, a, _SWAPPED[direction]
    return ("stablehlo.compare", direction, a, b)


def _terms(body: Function) -> tuple[Term, ...] | None:
    """The results as terms; None where the body reads something else or is no expression."""
    values = {number: _argument(k) for k, number in enumerate(body.parameters)}
    for operation in body.operations:
        if operation.regions or not all(x in values for x in operation.operands):
            return None
        if len(operation.results) != 1:
            return None
        values[operation.results[0]] = _term(operation, [values[x] for x in operation.operands])
    return tuple(values[x] for x in body.results)


def _term(operation: Operation, operands: list[Term]) -> Term:
    if operation.name == "stablehlo.compare":
        direction = str(operation.attributes["comparison_direction"])
        if operation.attributes.get("compare_type") != "TOTALORDER":
            return _compare(direction, *operands)
    if operation.name in _COMMUTES:
        return (operation.name, *_sorted(*operands))
    attributes = tuple(sorted((k, str(v)) for k, v in operation.attributes.items()))
    return (operation.name, *(attributes and (attributes,)), *operands)
