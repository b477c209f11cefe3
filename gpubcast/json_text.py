"""Shapes, layouts, element types and plans as JSON, and back.

Every object says what it is (``"gpubcast": "Plan"``) and of which version of this form. What JSON
has not is written as what says the same: tuples as lists, shapes as HLO text, the bits of constants
in hexadecimal, since other readers round integers of 2^53 and more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gpubcast.errors import Error, brief
from gpubcast.hlo import labels
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    Positions,
    Size,
    Unwritten,
)
from gpubcast.plans import Plan
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.layout import Layout, PaddingValue
from gpubcast.shapes.shape import Shape

VERSION = 1
JsonObject = Shape | Layout | ElementType | Plan


def to_json(x: JsonObject, *, indent: int | None = None) -> str:
    """An object as JSON text.

    Args:
        x: a Shape, a Layout, an ElementType or a Plan.
        indent: as in ``json.dumps``.

    Raises:
        Error: T0, it is none of these, or ``indent`` is no integer.

    Example:
        >>> import gpubcast as gb
        >>> print(gb.to_json(gb.Shape("f32", (2, 3))))
        {"gpubcast": "Shape", "version": 1, "shape": "f32[2,3]{1,0}"}
    """
    if indent is not None and not isinstance(indent, int):
        raise _refusal(f"indent is a number of spaces, not {brief(indent)}")
    for name, (cls, written, _) in _FORMS.items():
        if isinstance(x, cls):
            head = {"gpubcast": name, "version": VERSION}
            return json.dumps(head | written(x), indent=indent, allow_nan=False)
    raise _refusal(f"{brief(x)} has no JSON: only shapes, layouts, element types and plans do")


def from_json(text: str | bytes) -> Any:
    """The object that JSON text of ``to_json`` says. A plan is checked as a whole, as an unpickled
    one is; nothing is run.

    Raises:
        Error: T0, the text is no such JSON; S, L, T1 and A8, what it says is no shape, layout,
            element type or plan.
    """
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refusal(f"no JSON: {error}") from None
    name = found.get("gpubcast") if isinstance(found, dict) else None
    form = _FORMS.get(name) if isinstance(name, str) else None
    if form is None or found.get("version") != VERSION:
        listed = ", ".join(_FORMS)
        raise _refusal(f"no JSON of version {VERSION} of one of {listed}: {brief(found)}")
    try:
        return form[2](found)
    except Error:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _refusal(f"no {name}: {type(error).__name__}: {error}") from None


def _refusal(what: str) -> Error:
    return Error(what, rule="T0", kind="gpubcast:json")


# --- layouts -------------------------------------------------------------------------------------


def _layout(x: Layout) -> dict[str, Any]:
    found: dict[str, Any] = {"minor_to_major": x.minor_to_major}
    if x.padded_dimensions is not None:
        found["padded_dimensions"] = x.padded_dimensions
        found["padding_value"] = x.padding_value.name
    if x.attributes:
        found["attributes"] = x.attributes
    return found


def _as_layout(found: Mapping[str, Any]) -> Layout:
    padded = found.get("padded_dimensions")
    sizes = None if padded is None else tuple(padded)
    order, attributes = tuple(found["minor_to_major"]), found.get("attributes", "")
    return Layout(order, sizes, _padding(found), attributes)


def _padding(found: Mapping[str, Any]) -> PaddingValue:
    return PaddingValue[found.get("padding_value", PaddingValue.INVALID.name)]


# --- plans ---------------------------------------------------------------------------------------


def _plan(x: Plan) -> dict[str, Any]:
    several = isinstance(x.out_layout, tuple)
    layouts = x.out_layout if several else (x.out_layout,)
    written = [None if one is None else _layout(one) for one in layouts]
    return {
        "name": x.name,
        "expression": _expression(x.expression),
        "shapes": [str(shape) for shape in x.shapes],
        "out_layout": written if several else written[0],
        "arguments": x.arguments,
        "scalars": sorted(x.scalars),
        "arity": x.arity,
    }


def _as_plan(found: Mapping[str, Any]) -> Plan:
    given = found["out_layout"]
    several = given if isinstance(given, list) else [given]
    layouts = tuple(None if one is None else _as_layout(one) for one in several)
    return Plan(
        found["name"],
        _as_expression(found["expression"]),
        tuple(map(Shape.parse, found["shapes"])),
        layouts if isinstance(given, list) else layouts[0],
        tuple(found["arguments"]),
        frozenset(found["scalars"]),
        found["arity"],
    )


def _expression(x: Expression) -> dict[str, Any]:
    return {
        "num_parameters": x.num_parameters,
        "nodes": [_node(node) for node in x.nodes],
        "outputs": x.outputs,
        "patterns": [{"labels": str(one), "nodes": nodes} for one, nodes in x.patterns],
        "axes": x.axes,
        "packed": x.packed,
        "fast_math": x.fast_math,
        "lengths": x.lengths,
        "operands": x.names.operands,
        "lines": x.names.lines,
    }


def _as_expression(found: Mapping[str, Any]) -> Expression:
    patterns = tuple(
        (labels.parse(one["labels"]), tuple(one["nodes"])) for one in found["patterns"]
    )
    return Expression(
        found["num_parameters"],
        tuple(map(_as_node, found["nodes"])),
        tuple(found["outputs"]),
        patterns,
        tuple(map(tuple, found["axes"])),
        found["packed"],
        found["fast_math"],
        Names(tuple(found["operands"]), tuple(found["lines"])),
        tuple(map(tuple, found["lengths"])),
    )


def _node(node: Node) -> dict[str, Any]:
    if isinstance(node, Parameter):
        return {"parameter": node.index}
    if isinstance(node, Constant):
        return {"constant": node.element_type, "bits": hex(node.bits)}
    if isinstance(node, Place):
        return {
            "place": node.place,
            "of": node.arg,
            "shape": node.shape,
            "pattern": node.pattern,
            "output": node.output,
        }
    if isinstance(node, Positions):
        return {"positions": node.dimension, "shape": node.shape, "pattern": node.pattern}
    if isinstance(node, Unwritten):
        return {"unwritten": node.output, "type": node.element_type, "shape": node.shape}
    return {"apply": node.op, "to": node.args, "attributes": dict(node.attributes)}


def _sizes(found: list[Any]) -> tuple[Size, ...]:
    return tuple(tuple(size) if isinstance(size, list) else size for size in found)


def _as_node(found: Mapping[str, Any]) -> Node:
    if "parameter" in found:
        return Parameter(found["parameter"])
    if "constant" in found:
        return Constant(found["constant"], int(found["bits"], 16))
    if "place" in found:
        place, shape = tuple(found["place"]), _sizes(found["shape"])
        return Place(found["of"], place, shape, found["pattern"], found["output"])
    if "positions" in found:
        return Positions(_sizes(found["shape"]), found["positions"], found["pattern"])
    if "unwritten" in found:
        return Unwritten(found["unwritten"], found["type"], _sizes(found["shape"]))
    attributes = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in found["attributes"].items()
    }
    return Apply(found["apply"], tuple(found["to"]), tuple(sorted(attributes.items())))


# By the name of the class: what writes an object, and what reads it.
_FORMS: Mapping[str, tuple[type, Callable[[Any], dict[str, Any]], Callable[[Any], Any]]] = {
    "Shape": (
        Shape,
        lambda x: {"shape": str(x)},
        lambda found: Shape.parse(found["shape"]),
    ),
    "Layout": (Layout, _layout, _as_layout),
    "ElementType": (
        ElementType,
        lambda x: {"element_type": x.name},
        lambda found: element_type(found["element_type"]),
    ),
    "Plan": (Plan, _plan, _as_plan),
}
