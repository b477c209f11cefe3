"""Shapes, layouts, types and plans as JSON; shapes of other libraries' objects; compile records."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import json_text, nn
from gpubcast.backends import compile_log
from gpubcast.cli import main
from gpubcast.runtime import state
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import doors

X = np.arange(12, dtype="f4").reshape(3, 4)


@gb.fuse("... c, c -> ... c, ...", static=("power",))
def rows(x, g, power=2):  # type: ignore[no-untyped-def]
    total = gb.reduce_sum(x**power, "c")
    return x * g / total, total + 1


OBJECTS: dict[str, Any] = {
    "shape": gb.Shape.parse("f32[2,3]{0,1:pad(3,5,zero)}"),
    "scalar": gb.Shape("pred", ()),
    "layout": gb.Layout((0, 1), (3, 5), gb.PaddingValue.LOWEST),
    "attributes": gb.Shape.parse("f32[2,3]{0,1:L(256)S(2)}").layout,
    "type": gb.element_type("f8e4m3b11fnuz"),
    "plan": gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)),
    "plan with a layout": gb.plan("neg", "c64[2,3]", out_layout=gb.Layout((0, 1), (4, 4))),
    "plan without operands": gb.plan("iota", dtype="bf16", size=5),
    "plan with words": gb.plan("round", "f32[2]", method="even"),
    "plan with labels": rows.plan("f32[3,4]", "f32[4]", out_layout=(None, gb.Layout((0,), (8,)))),
    "plan with scalars": gb.fuse(lambda x, s: gb.select(x > s, x, 0.5)).plan(X, 2.0),
    "softmax": nn.softmax.plan("bf16[2,5]"),
    "constants": gb.fuse(lambda x: x * 2**60 + 1j).plan("c128[2]"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_json_says_the_same_object(name: str) -> None:
    x = OBJECTS[name]
    text = gb.to_json(x)
    again = gb.from_json(text)
    assert again == x and type(again) is type(x) and gb.to_json(again) == text
    assert gb.from_json(gb.to_json(x, indent=2).encode()) == x

    # Plain JSON: no NaN, and no number that another reader rounds.
    def check(value: Any) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                check(one)
        else:
            assert value is None or isinstance(value, (str, bool)) or abs(value) < 2**53

    check(json.loads(text))


def test_a_plan_from_json_runs() -> None:
    plan = gb.from_json(gb.to_json(OBJECTS["plan with labels"]))
    made, same = plan(X + 1, X[0]), rows(X + 1, X[0])
    for one, other in zip(made, same, strict=True):
        assert one.tobytes() == other.tobytes()
    assert plan.expression.names == OBJECTS["plan with labels"].expression.names


def test_every_element_type_has_json() -> None:
    for element_type in ELEMENT_TYPES.values():
        assert gb.from_json(gb.to_json(element_type)) is element_type


def _changed(**changes: Any) -> str:
    found = json.loads(gb.to_json(OBJECTS["plan"]))
    return json.dumps(found | changes)


BAD: list[Any] = [
    "", "[", "null", "3", "{}", "[1]", b"\xff", 3, None, '{"gpubcast": "Plan"}', "[" * 100_000,
    '{"gpubcast": "Array", "version": 1}', '{"gpubcast": ["Shape"], "version": 1}',
    '{"gpubcast": "Shape", "version": 2, "shape": "f32[]"}',
    '{"gpubcast": "Shape", "version": 1}', '{"gpubcast": "Shape", "version": 1, "shape": 3}',
    '{"gpubcast": "Shape", "version": 1, "shape": "f33[2]"}',
    '{"gpubcast": "Layout", "version": 1, "minor_to_major": [0, 0]}',
    '{"gpubcast": "Layout", "version": 1, "minor_to_major": [0], "padded_dimensions": [2], '
    '"padding_value": "NONE"}',
    '{"gpubcast": "ElementType", "version": 1, "element_type": "f33"}',
    _changed(arity=-1), _changed(arguments=[5]), _changed(shapes=["f32[2]", "f32[3]"]),
    _changed(expression=None), _changed(scalars=[[1]]), _changed(name=None),
    _changed(expression={"nodes": [{"apply": "nothing", "to": [], "attributes": {}}]}),
    _changed(out_layout={"minor_to_major": [0]}), _changed(arguments=None),
]  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=[str(i) for i in range(len(BAD))])
def test_json_that_says_nothing_is_refused(text: Any) -> None:
    with pytest.raises(gb.Error) as told:
        gb.from_json(text)
    assert told.value.rule is not None and len(str(told.value)) < 2000


def test_only_descriptions_have_json() -> None:
    for x in (gb.array(X), X, rows, "f32[2]", None):
        with pytest.raises(gb.Error) as told:
            gb.to_json(x)  # type: ignore[arg-type]
        assert (told.value.rule, told.value.kind) == ("T0", "gpubcast:json")
    assert json_text.VERSION == 1


def test_an_explanation_has_json(capsys: pytest.CaptureFixture[str]) -> None:
    explanation = OBJECTS["plan with labels"].explain(source=True)
    found = json.loads(explanation.to_json())
    assert found["header"] == list(explanation.header) and found["source"] is True
    assert [card["title"] for card in found["cards"]] == [x.title for x in explanation.cards]
    assert found["grid"]["rows"][0]["cells"][0]["state"] in ("matched", "expanded", "absent")
    assert main.main(["explain", "add", "f32[2,3]", "f32[1,3]", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    plan = gb.plan("add", "f32[2,3]", "f32[1,3]")
    assert shown == json.loads(plan.explain().to_json())


# --- what has a shape ----------------------------------------------------------------------------


def test_arrays_and_descriptions_stand_for_their_shapes() -> None:
    a = gb.array(X, layout=gb.Layout((0, 1), (4, 4)))
    described = SimpleNamespace(shape=(3, 4), dtype=np.dtype("f4"))
    likes: list[tuple[Any, str]] = [
        (X, "f32[3,4]{1,0}"), (X.T, "f32[4,3]{0,1}"), (X[::-1, ::2], "f32[3,2]{1,0}"),
        (a, "f32[3,4]{0,1:pad(4,4)}"), (a.T, "f32[4,3]{1,0:pad(4,4)}"),
        (described, "f32[3,4]{1,0}"), ("s8[2]", "s8[2]{0}"), (np.float64(1), "f64[]"),
        (SimpleNamespace(shape=(2,), dtype="bfloat16"), "bf16[2]{0}"),
    ]  # fmt: skip
    identity = gb.fuse(lambda x: -x)
    for like, text in likes:
        assert str(gb.plan("neg", like).shapes[0]) == text
        assert gb.infer_shape("neg", like).dimensions == gb.Shape.parse(text).dimensions
        if not isinstance(like, np.generic):
            assert str(identity.plan(like).shapes[0]) == text
    np.testing.assert_array_equal(gb.plan("add", described, X)(X, X), X + X)


def test_descriptions_of_jax_and_torch() -> None:
    jax = doors.library("jax")
    like = jax.ShapeDtypeStruct((2, 3), jax.numpy.bfloat16)
    assert str(gb.infer_shape("exp", like)) == "bf16[2,3]{1,0}"
    assert str(gb.fuse(lambda x: x * 2).plan(like).shapes[0]) == "bf16[2,3]{1,0}"
    torch = doors.library("torch")
    tensor = torch.ones(2, 3, dtype=torch.float16).T
    assert str(gb.plan("exp", tensor).shapes[0]) == "f16[3,2]{0,1}"
    meta = torch.ones(2, 3, dtype=torch.bool, device="meta")
    assert str(gb.infer_shape("bitwise_not", meta)) == "pred[2,3]{1,0}"


def test_what_has_no_shape_is_refused() -> None:
    strange = [
        3, None, object(), SimpleNamespace(shape=(2,)), SimpleNamespace(shape=3, dtype="f32"),
        SimpleNamespace(shape=("a",), dtype="f32"), SimpleNamespace(shape=(2,), dtype=object()),
        SimpleNamespace(shape=(-1,), dtype="f32"), np.array(["text"]),
    ]  # fmt: skip
    for like in strange:
        for call in (lambda x: gb.plan("neg", x), lambda x: gb.infer_shape("neg", x)):
            with pytest.raises(gb.Error) as told:
                call(like)
            assert told.value.rule in ("S1", "S2", "S11", "T1")


# --- records of compilations ---------------------------------------------------------------------


def test_a_compilation_leaves_one_record(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    state.clear()
    with caplog.at_level(logging.INFO, logger=compile_log.LOGGER):
        for _ in range(3):
            gb.fuse(lambda x: gb.exp(x) * 3.25 + x)(X)
    (record,) = [one for one in caplog.records if one.name == "gpubcast"]
    assert record.levelno == logging.INFO and record.seconds > 0
    assert record.kernel.startswith("gb_") and record.target == "the CPU"
    assert record.getMessage().startswith(f"compiled {record.kernel} for the CPU in ")
    caplog.clear()
    with caplog.at_level(logging.INFO, logger=compile_log.LOGGER):
        state.clear()
        gb.fuse(lambda x: gb.exp(x) * 3.25 + x)(X)  # from the disk
    assert not caplog.records


def test_a_compilation_for_a_gpu_leaves_one_record(caplog: pytest.LogCaptureFixture) -> None:
    nvrtc = pytest.importorskip("gpubcast.backends.cuda.nvrtc")
    source = gb.plan("add", "f32[64]", "f32[64]").cuda_source()
    with caplog.at_level(logging.INFO, logger=compile_log.LOGGER):
        nvrtc.compile_cubin(source, "sm_90")
        with pytest.raises(gb.CompileError):
            nvrtc.compile_cubin("nonsense", "sm_90")
    (record,) = caplog.records
    assert record.target == "sm_90" and f"{record.kernel}(" in source
