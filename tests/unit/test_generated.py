"""What is written from the operation table is up to date, and says what the table says."""

from __future__ import annotations

import inspect

import gpubcast as gb
from gpubcast import functions
from gpubcast.ops import OPS
from tools import generate


def test_functions_are_generated_from_the_table() -> None:
    assert generate.TARGET.read_text() == generate.module(), "run make generate"
    assert generate.PACKAGE.read_text() == generate.package(), "run make generate"
    assert generate.TABLE.read_text() == generate.table(), "run make generate"
    assert set(functions.__all__) <= set(gb.__all__)


def test_every_public_row_is_a_function_with_a_docstring() -> None:
    for row in OPS.values():
        if row.name in functions.__all__:
            function = getattr(gb, row.name)
            assert list(inspect.signature(function).parameters)[: row.arity] == list(row.operands)
            assert row.opcode in function.__doc__ and "Raises:" in function.__doc__
    assert set(OPS) - set(functions.__all__) == {"total_order_key"}


def test_expressions_exist_for_every_category_that_has_kernels() -> None:
    for row in OPS.values():
        if row.cuda is None:
            continue
        for category in {t.category for t in row.accepts}:
            slots = "".join(row.cuda_for(category))
            assert "{0}" in slots and "{0}" in row.cpu_for(category), (row.name, category)
            assert all(f"{{{i}}}" in slots for i in range(row.arity)), row.name
