"""The node cases that the onnx package makes: one operator each, and its expansion into others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.errors import Error
from tools.conformance.onnx_operators import MOVES, OPERATORS
from tools.conformance.score import Result, Suite


def suite() -> Suite:
    """Every node case whose operators the adapter has, under its own tolerances."""
    import onnx
    from onnx.backend.test import loader

    with warnings.catch_warnings():
        # Its reference results are computed by NumPy, which warns of what the cases ask for.
        warnings.simplefilter("ignore")
        cases = loader.load_model_tests(kind="node")
    results = tuple(_result(case) for case in cases)
    return Suite("ONNX node cases", f"The node cases of onnx {onnx.__version__}.", results)


def _result(case: Any) -> Result:
    graph = case.model.graph
    names = [node.op_type for node in graph.node]
    expanded = "_expanded" in case.name
    tested = "expansions into several operators" if expanded else (names or ["none"])[0]
    missing = next((n for n in names if n not in OPERATORS and n not in MOVES), None)
    if missing is not None or all(n in MOVES for n in names):
        return Result(case.name, tested, outside=f"`{missing or tested}`")
    for given, expected in case.data_sets:
        try:
            made = _run(graph, given)
        except _Outside as error:
            return Result(case.name, tested, outside=str(error))
        except Error as error:
            said = error.rule or ""
            decision = f"{said}" if said in ("T2", "T3", "T5", "T6", "T7") else ""
            text = str(error).split("\n")[0]
            return Result(case.name, tested, wrong=f"refused: {text}", decision=decision)
        for one, other in zip(made, expected, strict=True):
            wrong = _compared(np.asarray(one), _array(other), case)
            if wrong:
                return Result(case.name, tested, wrong=wrong)
    return Result(case.name, tested)


class _Outside(Exception):
    """A type that gpubcast does not have."""


def _run(graph: Any, given: Any) -> list[Any]:
    from onnx import numpy_helper

    values: dict[str, Any] = {"": None}
    values |= {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    names = [one.name for one in graph.input if one.name not in values]
    for name, x in zip(names, given, strict=False):
        values[name] = _checked(_array(x))
    for node in graph.node:
        operands = [values[name] for name in node.input]
        while operands and operands[-1] is None:
            operands.pop()
        operator = OPERATORS.get(node.op_type) or MOVES[node.op_type]
        made = operator(_attributes(node), *operands)
        values[node.output[0]] = np.asarray(made)
    return [values[one.name] for one in graph.output]


def _array(x: Any) -> Any:
    """A value of a case, which may be ONNX's own form of one."""
    import onnx

    return onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)


def _checked(x: Any) -> Any:
    try:
        gb.element_type(x.dtype)
    except Error:
        raise _Outside(f"elements of {x.dtype}") from None
    return x


def _attributes(node: Any) -> dict[str, Any]:
    import onnx
    from onnx import helper, numpy_helper

    given = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if "to" in given:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(given["to"]))
        given["dtype"] = _checked(np.empty(0, dtype)).dtype
    if node.op_type == "Constant":
        ((name, value),) = given.items()
        types = {"value_float": np.float32, "value_floats": np.float32}
        if isinstance(value, onnx.TensorProto):
            given["value"] = numpy_helper.to_array(value)
        else:
            given["value"] = np.array(value, types.get(name, np.int64))
    return given


def _compared(actual: Any, expected: Any, case: Any) -> str:
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return f"{actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    if actual.dtype.kind in "biu":
        bad = actual != expected
    else:
        one, other = actual.astype("f8"), expected.astype("f8")
        bad = ~np.isclose(one, other, case.rtol, case.atol, equal_nan=True)
    count = int(np.count_nonzero(bad))
    if not count:
        return ""
    index = int(np.flatnonzero(bad.reshape(-1))[0])
    got, wanted = actual.reshape(-1)[index], expected.reshape(-1)[index]
    return f"{count} of {bad.size} differ; first {got!r}, expected {wanted!r}"
