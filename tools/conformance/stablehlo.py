"""StableHLO's own tests: ``testdata``, its interpreter's and its math functions'.

Every file is run under its own check. What it checks are operands of ``check`` operations, which
become the results of the function; those of the ``check`` dialect, which jaxlib does not have, are
written as the custom calls that ``testdata`` uses.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpubcast.errors import Error
from gpubcast.stablehlo.function import StablehloFunction
from gpubcast.stablehlo.module import Function, Operation, StablehloModule
from gpubcast.stablehlo.operations import ELEMENTWISE
from gpubcast.stablehlo.reader import read
from tools.conformance import checks, exact
from tools.conformance.score import Result, Suite

# Where gpubcast's own rules say why a module is not run.
OUTSIDE = ("H2", "H3", "H7", "H9")
_CONST = re.compile(
    r"check\.expect_(almost_)?eq_const (%[\w#]+), (dense<.*?>)\s*:\s*(tensor<[^{,]*?>+)"
    r"(?:,\s*tolerance = (\S+))?(?:\s*\{tolerance = (\S+) : f64\})?[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_PAIR = re.compile(
    r"check\.expect_(almost_eq|eq|close) (%[\w#]+), (%[\w#]+)"
    r"((?:,\s*\w+ = [^\s,:]+)*)\s*:\s*(tensor<.*>)[ \t]*$",
    re.MULTILINE,
)
_NOTHING = ("stablehlo.constant", "func.call", "stablehlo.custom_call")
_CHECK_DIALECT_TOLERANCE, _CALL_TOLERANCE, _CALL_ULPS = 1e-4, 1e-3, 3


def revision(checkout: Path) -> str:
    """The git revision of a checkout."""
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def suites(checkout: Path) -> Iterator[Suite]:
    """The three suites of a checkout of openxla/stablehlo."""
    source = f"openxla/stablehlo at {revision(checkout)}"
    for name, folder in (
        ("StableHLO testdata", "testdata"),
        ("StableHLO interpreter", "tests/interpret"),
        ("StableHLO math", "tests/math"),
    ):
        place = checkout / "stablehlo" / folder
        results: list[Result] = []
        for path in sorted(place.rglob("*.mlir")):
            results += file_results(path, str(path.relative_to(checkout / "stablehlo")))
        yield Suite(name, f"{source}, `stablehlo/{folder}`.", tuple(results))


def file_results(path: Path, name: str) -> list[Result]:
    """The results of a file, one for each of its functions that check something."""
    found: list[Result] = []
    stem = re.sub(r"_(float|complex)\d+$", "", path.stem)
    for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)):
        if "check.expect" not in text:
            continue
        tested = "" if "testdata" in name else stem
        try:
            module = read(_as_calls(text))
        except Error as error:
            why = f"{error.rule}: {_reason(error)}"
            found.append(Result(f"{name} part {number}", tested or "module", outside=why))
            continue
        for function in module.functions.values():
            if any(_is_check(one) for one in function.operations):
                case = f"{name} @{function.name}"
                found.append(_result(module, function, case, tested or _tested(function)))
    return found


def _reason(error: Error) -> str:
    """What was refused first, without its place."""
    text = str(error).split("\n")[0]
    if error.rule == "H1":
        return "no module for jaxlib's parser"
    matched = re.search(r"'?((?:stablehlo|chlo|check|func|sdy|interpreter)\.[\w.]+)", text)
    if matched:
        return f"`{matched[1].removeprefix('stablehlo.')}`"
    matched = re.search(r"(?:tensor|tuple|!)\S*<.*?(i2|f\w+|quant|token|#\w+)", text)
    return f"`{matched[1]}`" if matched else text[:60]


def _tested(function: Function) -> str:
    names = {
        one.name.split(".")[-1]
        for one in function.operations
        if one.name not in _NOTHING and not _is_check(one)
    }
    if "reduce" in names:
        return "reduce"
    others = names - {"reshape", "broadcast_in_dim", "iota", "convert", "transpose"}
    listed = sorted(others or names)
    return " ".join(listed) if 0 < len(listed) < 3 else "several operations"


def _is_check(operation: Operation) -> bool:
    target = operation.attributes.get("call_target_name", "")
    return str(target).startswith("check.")


def _as_calls(text: str) -> str:
    """The operations of the check dialect as custom calls."""
    count = 0

    def constant(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        almost, value, literal, kind, *given = found.groups()
        said = next((x for x in given if x), str(_CHECK_DIALECT_TOLERANCE))
        target = "check.expect_almost_eq" if almost else "check.expect_eq"
        more = f", tolerance = {said} : f64" if almost else ""
        return (
            f"%expected{count} = stablehlo.constant {literal} : {kind}\n"
            f"stablehlo.custom_call @{target}({value}, %expected{count}) "
            f"{{has_side_effect = true{more}}} : ({kind}, {kind}) -> ()"
        )

    def pair(found: re.Match[str]) -> str:
        how, one, other, given, types = found.groups()
        kinds = types if how == "close" else f"{types}, {types}"
        said = dict(re.findall(r"(\w+) = ([^\s,]+)", given))
        said.setdefault("tolerance", str(_CHECK_DIALECT_TOLERANCE))
        said.setdefault("max_ulp_difference", "1")
        more = ", ".join(
            f"{key} = {value} : {'f64' if key == 'tolerance' else 'i64'}"
            for key, value in said.items()
        )
        return (
            f"stablehlo.custom_call @check.expect_{how}({one}, {other}) "
            f"{{has_side_effect = true, {more}}} : ({kinds}) -> ()"
        )

    return _PAIR.sub(pair, _CONST.sub(constant, text))


def _result(module: StablehloModule, function: Function, case: str, tested: str) -> Result:
    found = [one for one in function.operations if _is_check(one)]
    others = tuple(one for one in function.operations if not _is_check(one))
    # Beside what is compared, the operands of what is tested, which say the exact result.
    computing = [one for one in others if one.name not in _NOTHING]
    given = computing[0].operands if len(computing) == 1 else ()
    compared = tuple(value for one in found for value in one.operands)
    checked = replace(function, operations=others, results=(*compared, *given))
    if function.parameters:
        return Result(case, tested, outside="parameters, whose values no file says")
    try:
        made = [np.asarray(x) for x in StablehloFunction(module, checked)()]
    except Error as error:
        if error.rule in OUTSIDE:
            return Result(case, tested, outside=f"{error.rule}: {_reason(error)}")
        text = str(error).split("\n")[0]
        decided = _refusal(error, checked)
        return Result(case, tested, wrong=f"refused: {text}", decision=decided)
    wrong = []
    decision = ""
    for k, one in enumerate(found):
        actual, expected = made[2 * k : 2 * k + 2]
        text = _compared(one, actual, expected)
        if text:
            wrong.append(text)
            decision = _decision(computing, made[len(compared) :], actual, expected)
    said = decision if len(wrong) == 1 else ""
    return Result(case, tested, wrong="; ".join(wrong), decision=said)


def _refusal(error: Error, function: Function) -> str:
    """The decision of docs/rules.md by which gpubcast refuses what StableHLO computes."""
    if error.rule == "T6":
        return "T6: complex numbers are not ordered"
    types = " ".join(text for one in function.operations for text in one.types)
    if "bitcast_convert" in str(error) and "xi1>" in types:
        return "pred has 8 bits in bitcast_convert_type"
    return ""


def _decision(computing: list[Operation], given: list[Any], actual: Any, expected: Any) -> str:
    """The decision of docs/rules.md by which a result differs; empty where none says so."""
    names = {one.name for one in computing}
    if names == {"stablehlo.reduce_precision"} and np.isnan(actual[expected != actual]).all():
        return "NaN stays NaN in reduce_precision"
    row = ELEMENTWISE.get(computing[0].name) if len(computing) == 1 else None
    return exact.explained(row, given, actual, expected) if row else ""


def _compared(check: Operation, actual: Any, expected: Any) -> str:
    given = check.attributes
    target = str(given["call_target_name"])
    if target == "check.expect_eq":
        return checks.equal(actual, expected)
    if target == "check.expect_almost_eq":
        return checks.almost_equal(actual, expected, _number(given.get("tolerance")))
    # An unsigned number, which MLIR hands out as a signed one.
    most = int(given.get("max_ulp_difference", _CALL_ULPS)) % (1 << 64)
    return checks.close(actual, expected, most, int(given.get("min_ulp_difference", 0)))


def _number(text: Any) -> float:
    """A tolerance from MLIR's text, ``1.0e-4 : f64``."""
    return _CALL_TOLERANCE if text is None else float(str(text).split(" ")[0])
