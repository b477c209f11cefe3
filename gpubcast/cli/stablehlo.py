"""``gpubcast stablehlo``: run a function of a StableHLO module, or show its plans."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb


def add(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    actions = command.add_subparsers(required=True, metavar="ACTION")
    running = actions.add_parser(
        "run",
        help="run a function and print its results",
        description="Run a function of a module on arrays from .npy files, or on numbers that are "
        "made up: for each parameter a file or a shape. Without any, every parameter is made up.",
        epilog="example: gpubcast stablehlo run module.mlir x.npy 'f32[8]' --output results.npz",
    )
    running.add_argument("--seed", type=_seed, default=0, help="of made up numbers (0)")
    running.add_argument("--output", type=Path, metavar="FILE", help="write results to an .npz")
    running.set_defaults(run=_run)
    explaining = actions.add_parser(
        "explain",
        help="show how a function is planned",
        description="Show the plans of a function's kernels, and where values are written to "
        "memory between them. Nothing is run.",
    )
    explaining.add_argument("--arch", default="sm_90", help="GPU architecture (sm_90)")
    explaining.add_argument("--source", action="store_true", help="show the generated source too")
    explaining.set_defaults(run=_explain)
    for one in (running, explaining):
        one.add_argument("file", type=Path, metavar="FILE", help="text, bytecode or an artifact")
        one.add_argument("operands", nargs="*", metavar="OPERAND", help="x.npy, or 'f32[2,3]'")
        one.add_argument("--function", metavar="NAME", help="default: main")


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def _function(given: argparse.Namespace) -> gb.StablehloFunction:
    return gb.from_stablehlo(given.file, function=given.function)


def _loaded(text: str) -> Any:
    """An array of a file, or a shape."""
    if not text.endswith(".npy"):
        return gb.Shape.parse(text)
    try:
        return np.load(text, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise gb.Error(f"{text} cannot be read: {error}") from error


def _operand(x: Any, random: np.random.Generator) -> Any:
    if not isinstance(x, gb.Shape):
        return x
    try:
        return _made_up(x, random)
    except (MemoryError, ValueError) as error:  # NumPy's, of sizes that no memory has
        raise gb.Error(f"{x.text(layout=False)} cannot be made up: {error}") from error


def _made_up(shape: gb.Shape, random: np.random.Generator) -> Any:
    dtype = shape.element_type.dtype
    if shape.element_type.is_complex:
        parts = random.standard_normal((2, *shape.dimensions))
        return (parts[0] + 1j * parts[1]).astype(dtype)
    if shape.element_type.is_floating:
        return random.standard_normal(shape.dimensions).astype(dtype)
    most = 2 if shape.element_type.name == "pred" else 8
    return random.integers(0, most, shape.dimensions).astype(dtype)


def _run(given: argparse.Namespace) -> int:
    function = _function(given)
    random = np.random.default_rng(given.seed)
    if not given.operands and any("?" in text for text in function.parameters):
        raise gb.Error(
            f"the sizes of {', '.join(function.parameters)} are open: give a file or a shape for "
            "each parameter"
        )
    operands = [_loaded(text) for text in given.operands or function.parameters]
    made = function(*(_operand(x, random) for x in operands))
    results = made if isinstance(made, tuple) else (made,)
    for number, x in enumerate(results):
        print(f"result {number}: {gb.Shape(x.dtype, x.shape).text(layout=False)}")
        print(np.array2string(x, threshold=64, edgeitems=3))
    if given.output is not None:
        # NumPy adds the ending where it is missing.
        path = given.output
        path = path if path.suffix == ".npz" else Path(f"{path}.npz")
        try:
            np.savez(path, *results)
        except OSError as error:
            raise gb.Error(f"{path} cannot be written: {error.strerror}") from error
        print(f"wrote {path}")
    return 0


def _explain(given: argparse.Namespace) -> int:
    function = _function(given)
    operands = [_loaded(text) for text in given.operands]
    print(function.explain(*operands, arch=given.arch, source=given.source))
    return 0
