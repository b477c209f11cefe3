"""The rules against golden cases that XLA's own shape inference produced.

Each test walks every row of a corpus, collects what disagrees, and states how many rows it checked.
Where gpubcast decides differently from XLA, the expectation is worked out here, from the row alone.
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

from gpubcast.errors import Error
from gpubcast.hlo import rules
from gpubcast.hlo.broadcasting import broadcast, broadcast_in_dim
from gpubcast.hlo.inference import infer_shape
from gpubcast.hlo.ops import OPS
from gpubcast.hlo.xla_messages import BITCAST_LAST, ORDER
from gpubcast.shapes.shape import Shape

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
FLOATS = {"f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz"} | {
    "f8e5m2fnuz",
    "f8e4m3fnuz",
}
COMPLEXES = {"c64", "c128"}
# compare is one operation with a direction; eq to ge share its opcode.
NAMES = {row.opcode: row.name for row in OPS.values() if row.public} | {"compare": "compare"}
NAMES |= {"broadcast": "broadcast", "round-nearest-even": "round"}

Outcome = tuple[Any, ...]


def rows(corpus: str) -> list[dict[str, Any]]:
    with (CORPORA / f"{corpus}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def outcome(name: str, *operands: Shape | str, **attributes: Any) -> Outcome:
    """(type, dimensions) of the result, or the kind of the error."""
    try:
        shape = infer_shape(name, *operands, **attributes)
    except Error as e:
        assert e.rule is not None, e
        return (e.kind,)
    return (shape.element_type.name, list(shape.dimensions))


def refused_by_us(op: str, types: list[str], direction: str | None = None) -> str | None:
    """Our kind for a call that XLA's inference lets pass, or None."""
    values = types[1:] if op == "select" else types
    if len(set(values)) > 1:
        return "gpubcast:mixed floating types"
    kind = values[0]
    ordering = {"maximum", "minimum", "remainder", "clamp"}
    if kind in COMPLEXES and (op in ordering or direction in ("LT", "LE", "GT", "GE")):
        return "gpubcast:complex ordering"
    if op == "atan2" and kind not in FLOATS | COMPLEXES:
        return "gpubcast:integer atan2"
    if op.startswith("shift") and kind in FLOATS | COMPLEXES:
        return "gpubcast:float shift"
    return None


def test_binary_shapes() -> None:
    failures, decided = [], 0
    table = rows("binary_shapes")
    for r in table:
        lhs, rhs = Shape(r["lhs_type"], r["lhs"]), Shape(r["rhs_type"], r["rhs"])
        attributes = {"direction": r["direction"]} if "direction" in r else {}
        got = outcome(
            NAMES[r["op"]], lhs, rhs, broadcast_dimensions=r["broadcast_dimensions"], **attributes
        )
        ours = refused_by_us(r["op"], [r["lhs_type"], r["rhs_type"]], r.get("direction"))
        if "error" in r:
            want: Outcome = (r["error"]["template"],)
        elif ours:
            want = (ours,)
            decided += 1
        else:
            want = (r["type"], r["ok"])
        if got != want:
            failures.append((r["id"], got, want))
    assert failures == []
    assert (len(table), decided) == (2009, 7)


def gathered(operand: list[int], output: list[int], place: tuple[int, ...]) -> list[int]:
    """Linear operand index at each linear output index, by index loops."""
    result = []
    for index in product(*(range(size) for size in output)):
        linear = 0
        for size, d in zip(operand, place, strict=True):
            linear = linear * size + (index[d] if size == output[d] else 0)
        result.append(linear)
    return result


def test_broadcast_in_dim() -> None:
    failures, transposed, gathers = [], 0, 0
    table = rows("broadcast_in_dim")
    for r in table:
        operand = Shape("f32", r["operand"])
        if r["op"] == "broadcast":
            attributes: dict[str, Any] = {"sizes": r["sizes"]}
        else:
            attributes = {"shape": r["output"], "broadcast_dimensions": r["broadcast_dimensions"]}
        got = outcome(r["op"], operand, **attributes)
        want: Outcome = ("f32", r["ok"]) if "ok" in r else (r["error"]["template"],)
        if want == (ORDER,) and len(set(r["broadcast_dimensions"])) == operand.rank:
            # Unique in any order is legal here; the sizes of these rows all fit.
            want = ("f32", r["output"])
            transposed += 1
        if got != want:
            failures.append((r["id"], got, want))
        if "gather" in r:
            placed = (
                broadcast(operand, r["sizes"])
                if r["op"] == "broadcast"
                else broadcast_in_dim(operand, r["output"], r["broadcast_dimensions"])
            )
            gathers += 1
            if gathered(r["operand"], r["ok"], placed.maps[0]) != r["gather"]:
                failures.append((r["id"], placed, "gather"))
    assert failures == []
    assert (len(table), transposed, gathers) == (532, 33, 263)


def test_select_clamp() -> None:
    failures, decided = [], 0
    table = rows("select_clamp")
    for r in table:
        operands = [Shape(t, d) for t, d in zip(r["types"], r["dims"], strict=True)]
        got = outcome(r["op"], *operands)
        if "error" in r["hlo"]:
            want: Outcome = (r["hlo"]["error"]["template"],)
        elif ours := refused_by_us(r["op"], r["types"]):
            want = (ours,)
            decided += 1
        else:
            want = (r["hlo"]["type"], r["hlo"]["ok"])
        if got != want:
            failures.append((r["id"], got, want))
    assert failures == []
    assert (len(table), decided) == (300, 10)


METHODS = {"Complex": "complex", "Lt": "lt", "IsFinite": "is_finite", "BroadcastInDim": None} | {
    "ConvertElementType": "convert_element_type"
}


def test_result_layout() -> None:
    """Rows where nothing is broadcast; our own rule for the others is in test_inference."""
    failures, checked, broadcasts, mixed, absent = [], 0, 0, 0, 0
    table = rows("result_layout")
    for r in table:
        method, want = r["method"], Shape.parse(r["shape"])
        attributes: dict[str, Any] = {}
        if method == "BroadcastInDim":
            name = "broadcast_in_dim"
            attributes = {"shape": r["extra"][0], "broadcast_dimensions": r["extra"][1]}
        else:
            name = METHODS.get(method) or method.lower()
        if method == "Broadcast":
            attributes = {"sizes": r["extra"][0]}
        if method == "ConvertElementType":
            attributes = {"to": want.element_type}
        if name not in OPS:
            absent += 1
            continue
        operands = [Shape.parse(text) for text in r["args"]]
        if OPS[name].rule is rules.BINARY and len({s.dimensions for s in operands}) > 1:
            broadcasts += 1
            continue
        if OPS[name].rule is rules.BINARY and len({s.element_type for s in operands}) > 1:
            mixed += 1
            continue
        checked += 1
        got = infer_shape(name, *operands, **attributes)
        if got != want:
            failures.append((r["id"], str(got), str(want)))
    assert failures == []
    assert (len(table), broadcasts, mixed) == (90, 14, 4)
    # Rows of operations that do not exist here; checked grows as operations are added.
    assert checked + absent == 72
    assert absent <= 2


def test_dtype_rules() -> None:
    """Every row whose operation exists here; pred counts 8 bits in a bitcast, as in newer XLA."""
    failures, checked = [], 0
    for r in rows("dtype_rules"):
        if r["op"] not in NAMES or r["kind"] == "non_array":
            continue
        types, op = r["types"], r["op"]
        attributes = {k: r[k] for k in ("direction", "to") if k in r}
        if r.get("order") == "TOTALORDER":
            attributes["total_order"] = True
        if op == "round-nearest-even":
            attributes["method"] = "even"
        checked += 1
        got = outcome(NAMES[op], *(Shape(t, (2,)) for t in types), **attributes)
        ours = refused_by_us(op, types, r.get("direction"))
        if "error" in r and r["error"]["template"] != "crash":
            want: Outcome = (r["error"]["template"],)
        elif ours:
            want = (ours,)
        else:
            want = (r["ok"], r.get("dims", [2]))
        if op == "bitcast-convert" and "pred" in (types[0], r["to"]) and ours is None:
            want = bitcast_of_pred(types[0], r["to"], want)
        if got != want:
            failures.append((r["id"], types, attributes, got, want))
    assert failures == []
    # More as operations are added to the table.
    assert 819 <= checked <= 1025


def bitcast_of_pred(source: str, to: str, xla: Outcome) -> Outcome:
    """[2] of ``source`` read as ``to``, one of which is pred; complex stays refused as in XLA."""
    if "c64" in (source, to) or "c128" in (source, to):
        return xla

    def bits(name: str) -> int:
        return 8 if name == "pred" or name.startswith("f8") else int(name.lstrip("bfsu"))

    if bits(source) == bits(to):
        return (to, [2])
    if bits(source) > bits(to):
        return (to, [2, bits(source) // bits(to)])
    return (to, []) if bits(to) == 2 * bits(source) else (BITCAST_LAST,)


def blanked(text: str) -> str:
    """A message with shapes and numbers blanked as in an error kind."""
    text = text.replace("PRED", "<type>")
    text = re.sub(r"\b(?:pred|[a-z]{1,2}\d+)\[[^\]]*\]", "<shape>", text)
    return re.sub(r"(?<![\w<])-?\d+\b", "<n>", text)


def test_xla_unit_cases() -> None:
    """Shape inference cases of XLA's own unit tests; dynamic dimensions are refused at parse."""
    failures, checked, dynamic = [], 0, 0
    functions = {"binary", "select", "clamp", "broadcast", "unary", "bitcast_convert"}
    for r in rows("xla_unit_cases"):
        if r["fn"] not in functions:
            continue
        args, want = r["args"], r["expect"]
        name = NAMES.get(args.get("op", r["fn"].replace("_", "-")))
        if name is None:
            assert args["op"] not in OPS
            continue
        texts = args.get("operands") or [args[k] for k in ("lhs", "rhs", "operand") if k in args]
        if name == "cbrt" and texts[0].startswith("c"):
            # Newer versions refuse what the one that dtype_rules is from takes, and so do we.
            assert "ok" not in want
            assert infer_shape(name, Shape.parse(texts[0])) == Shape.parse(texts[0])
            continue
        attributes = {
            k: args[k] for k in ("broadcast_dimensions", "direction", "sizes", "to") if k in args
        }
        checked += 1
        try:
            got = infer_shape(name, *texts, **attributes)
        except Error as e:
            unsupported = any(mark in t for t in texts for mark in ("?", "<=", "opaque", "("))
            dynamic += unsupported
            if "ok" in want and not unsupported:
                failures.append((r["id"], e.kind, want))
            if "error_contains" in want and not unsupported:
                text = blanked(want["error_contains"])
                if e.kind is None or text not in e.kind:
                    failures.append((r["id"], e.kind, text))
            continue
        if "ok" not in want or got != Shape.parse(want["ok"]):
            failures.append((r["id"], str(got), want))
    assert failures == []
    assert (checked, dynamic) == (50, 25)
