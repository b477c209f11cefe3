"""What is written from the operation table is up to date, and says what the table says."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import pytest

import gpubcast as gb
from gpubcast import functions
from gpubcast.cli import main
from gpubcast.hlo import attributes, op, rules
from gpubcast.hlo.ops import OPS
from tools import generate


def test_functions_are_generated_from_the_table() -> None:
    assert generate.TARGET.read_text() == generate.module(), "run make generate"
    assert generate.STUB.read_text() == generate.stub(), "run make generate"
    assert generate.PACKAGE.read_text() == generate.package(), "run make generate"
    assert generate.NN_STUB.read_text() == generate.nn_stub(), "run make generate"
    assert generate.NAMES.read_text() == generate.operation_names(), "run make generate"
    assert generate.TABLE.read_text() == generate.table(), "run make generate"
    assert set(functions.__all__) <= set(gb.__all__)


def test_every_public_row_is_a_function_with_a_docstring() -> None:
    for row in OPS.values():
        if row.name in functions.__all__:
            function = getattr(gb, row.name)
            assert list(inspect.signature(function).parameters)[: row.arity] == list(row.operands)
            assert row.instruction in function.__doc__ and "Raises:" in function.__doc__
    assert set(OPS) - set(functions.__all__) == {"total_order_key"}


def test_expressions_exist_for_every_category_that_has_kernels() -> None:
    for row in OPS.values():
        if row.cuda is None:
            continue
        for kind in row.accepts:
            slots = "".join(row.cuda_for(kind))
            assert "{0}" in slots and "{0}" in row.cpu_for(kind), (row.name, kind)
            assert all(f"{{{i}}}" in slots for i in range(row.arity)), row.name


def test_every_keyword_says_its_type_and_meaning_once() -> None:
    named: dict[str, attributes.Attribute] = {}
    for row in OPS.values():
        assert len({attribute.name for attribute in row.keywords}) == len(row.keywords)
        for attribute in row.keywords:
            assert attribute.doc.endswith("."), (row.name, attribute.name)
            # The command line has one option for all operations that take a keyword.
            assert named.setdefault(attribute.name, attribute).type is attribute.type
            assert attribute.name in getattr(gb, row.name).__doc__
            if attribute.choices:
                assert attribute.required or attribute.default in attribute.choices


def test_a_new_keyword_is_a_column_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = attributes.Attribute(
        "steps", attributes.INTEGER, "how many.", default=2, minimum=0, positional=False
    )
    row = replace(OPS["neg"], name="step", attributes=(steps,), public=True)
    monkeypatch.setitem(OPS, "step", row)
    text = generate.function(row)
    assert "    steps: int = 2,\n" in text and "steps: how many." in text
    assert 'APPLY.call("step", (x,), out, out_layout, steps)' in text
    assert generate.overloads(row).count("steps: int = 2") == 4
    graph = gb.plan("step", "f32[3]").expression
    assert graph == gb.plan("step", "f32[3]", steps=2).expression
    assert dict(graph.nodes[-1].attributes) == {"steps": 2}
    with pytest.raises(gb.Error, match="step: steps=-1; it is an integer, at least 0"):
        gb.infer_shape("step", "f32[3]", steps=-1)
    options = main.parser().parse_args(["explain", "step", "f32[3]", "--steps", "3"])
    assert options.attribute_steps == 3


def test_a_row_without_an_opcode_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(
        OPS["square"], name="cube", opcode=None, decomposition="two multiplications", aliases=()
    )
    monkeypatch.setitem(OPS, "cube", row)
    text = generate.function(row)
    assert "(no HLO opcode; two multiplications)." in text and "HLO:" not in text
    assert re.search(r"^\| `cube` \| none: two multiplications \|", generate.table(), re.MULTILINE)
    plan = gb.plan("cube", "f32[3]")
    assert str(plan.explain()).startswith("cube: (f32[3]{0}) -> f32[3]{0}")
    iota = replace(OPS["iota"], name="count", opcode=None, expand=None)
    monkeypatch.setitem(OPS, "count", iota)
    with pytest.raises(gb.ShapeError, match=r"^count: size\[0\] is 2.5"):
        gb.infer_shape("count", dtype="s32", size=2.5)


def test_every_row_names_an_opcode_or_what_stands_for_it() -> None:
    for row in OPS.values():
        assert bool(row.opcode) != bool(row.decomposition), row.name


def test_every_rule_answers_for_itself() -> None:
    every = [value for value in vars(rules).values() if isinstance(value, op.Rule)]
    assert {row.rule.name for row in OPS.values()} == {rule.name for rule in every}
    for rule in every:
        assert (rule.infer is None) != (rule.dimensions is None), rule
