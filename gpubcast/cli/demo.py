"""``gpubcast demo``: broadcast operations on whatever device is there, checked and timed.

Every case computes NumPy's result from operands that are reshaped or broadcast explicitly, compares
all bits, and times both on the same memory layout. Every number printed is measured in this run,
but for the GPU's predicted time, which says what it assumes.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.backends.progress import working
from gpubcast.explain.picture import TitledTable
from gpubcast.explain.text import table_text
from gpubcast.runtime import state
from gpubcast.runtime.device import parse_device
from gpubcast.runtime.device_choice import choose_device
from gpubcast.typing import OperationName

MOST_ROUNDS, FEWEST_ROUNDS = 15, 3
BUDGET = 0.6
"""Seconds of timing per case, after the fewest rounds."""

NEXT = """Try next:
  gpubcast explain add 'f32[8,1]' 'f32[1,7]' --source   what a call of yours does
  gpubcast bench --quick                                every pattern beside NumPy
  gpubcast doctor                                       what works on this machine"""

Compute = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One operation.

    Attributes:
        title: what is shown.
        op: the operation.
        shapes: the operands, as HLO text; ``f32[]`` is the Python scalar 7.
        attributes: the operation's keywords.
        numpy: NumPy's way, in ``out`` where NumPy has that; takes the operands and ``out``.
    """

    title: str
    op: OperationName
    shapes: tuple[str, ...]
    attributes: tuple[tuple[str, Any], ...]
    numpy: Compute


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case gave: seconds of the first call and medians, bytes moved, and the verdict."""

    case: Case
    first: float
    ours: float
    numpy: float
    num_bytes: int
    equal: bool


def cases(n: int) -> tuple[Case, ...]:
    """The cases; most compute ``n * n`` elements.

    Args:
        n: side of the matrices, at least 8.
    """
    matrix, vector = f"f32[{n},{n}]", f"f32[{n}]"
    channels, height, width = max(n // 32, 1), max(n // 32, 1), max(n // 16, 1)
    image = f"f32[8,{channels},{height},{width}]"
    padded = f"f32[{n},{n - 3}]{{1,0:pad({n},{n},zero)}}"
    return (
        Case("row bias", "add", (matrix, vector), _on(1),
             lambda x, v, out: np.add(x, v[np.newaxis, :], out=out)),
        Case("column", "add", (matrix, vector), _on(0),
             lambda x, v, out: np.add(x, v[:, np.newaxis], out=out)),
        Case("scalar", "add", (matrix, "f32[]"), (),
             lambda x, a, out: np.add(x, np.float32(a), out=out)),
        Case("outer product", "mul", (f"f32[{n},1]", f"f32[1,{n}]"), (),
             lambda x, y, out: np.multiply(x, y, out=out)),
        Case("composition", "add", (vector, f"f32[1,{n}]"), _on(0),
             lambda v, x, out: np.add(v[:, np.newaxis], x, out=out)),
        Case("matrix on cuboid", "add", (f"f32[16,{n // 4},{n // 4}]", f"f32[{n // 4},{n // 4}]"),
             _on(1, 2), lambda x, m, out: np.add(x, m[np.newaxis], out=out)),
        Case("middle axis", "mul", (f"f32[{n // 8},{n // 4},32]", f"f32[{n // 4}]"), _on(1),
             lambda x, v, out: np.multiply(x, v[np.newaxis, :, np.newaxis], out=out)),
        Case("channel scale", "mul", (image, f"f32[{channels}]"), _on(1),
             lambda x, v, out: np.multiply(x, v.reshape(1, -1, 1, 1), out=out)),
        Case("column-major", "add", (f"{matrix}{{0,1}}", vector), _on(1),
             lambda x, v, out: np.add(x, v[np.newaxis, :], out=out)),
        Case("padded rows", "add", (padded, f"f32[{n - 3}]"), _on(1),
             lambda x, v, out: np.add(x, v[np.newaxis, :], out=out)),
        Case("masked select", "select", (f"pred[{n},{n}]", matrix, matrix), (),
             lambda mask, x, y, out: np.where(mask, x, y)),
        Case("bf16 bias", "add", (f"bf16[{n},{n}]", f"bf16[{n}]"), _on(1),
             lambda x, v, out: np.add(x, v[np.newaxis, :], out=out)),
    )  # fmt: skip


def _on(*dimensions: int) -> tuple[tuple[str, Any], ...]:
    return (("broadcast_dimensions", dimensions),)


def operand(text: str, generator: np.random.Generator) -> Any:
    """Random host data of a shape: a NumPy array, or an Array where the layout is not NumPy's."""
    shape = gb.Shape.parse(text)
    if shape.is_scalar:
        return 7.0
    if shape.element_type.name == "pred":
        return generator.random(shape.dimensions) < 0.5
    values = generator.standard_normal(shape.dimensions, dtype=np.float32)
    values = values.astype(shape.element_type.dtype, copy=False)
    return values if shape.layout.is_default else gb.array(values, layout=shape.layout)


def same_bits(found: Any, expected: Any) -> bool:
    """Whether two NumPy arrays have the same type, dimensions and bits."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return False
    # Compact first: the bits of padding slots are nobody's result.
    first, second = (np.ascontiguousarray(array).tobytes() for array in (found, expected))
    return first == second


def measure(case: Case, device: str, generator: np.random.Generator) -> Measured:
    """Run, check and time one case."""
    host = tuple(operand(text, generator) for text in case.shapes)
    strided = tuple(x.view() if isinstance(x, gb.Array) else x for x in host)
    attributes = dict(case.attributes)
    plan = gb.plan(case.op, *case.shapes, **attributes)
    # NumPy writes to the same layout as ours, so that both walk memory alike.
    memory = gb.empty(plan.output_shape, device="cpu").view()
    backend = state.backend(parse_device(device)[0])
    placed = host if device == "cpu" else tuple(
        x if isinstance(x, float) else gb.array(x, device=device) for x in host
    )  # fmt: skip
    function = getattr(gb, case.op)

    began = time.perf_counter()
    result = function(*placed, **attributes)
    backend.synchronize()
    first = time.perf_counter() - began

    expected = case.numpy(*strided, out=memory)
    equal = same_bits(_host(result), expected)

    def ours() -> None:
        function(*placed, **attributes, out=result)
        backend.synchronize()

    mine, theirs = medians(ours, lambda: case.numpy(*strided, out=memory))
    equal = equal and same_bits(_host(result), expected)
    num_bytes = plan.broadcast_plan.num_bytes
    return Measured(case, first, mine, theirs, num_bytes, equal)


def _host(result: Any) -> Any:
    return result.numpy() if isinstance(result, gb.Array) else result


def medians(*functions: Callable[[], Any]) -> tuple[float, ...]:
    """Median seconds of each function, called in turns after a call to warm up."""
    for function in functions:
        function()
    samples: list[list[float]] = [[] for _ in functions]
    until = time.perf_counter() + BUDGET
    for done in range(MOST_ROUNDS):
        if done >= FEWEST_ROUNDS and time.perf_counter() > until:
            break
        for function, taken in zip(functions, samples, strict=True):
            began = time.perf_counter()
            function()
            taken.append(time.perf_counter() - began)
    return tuple(map(statistics.median, samples))


def refused_call(n: int) -> tuple[str, str]:
    """A call that has to be refused, and the text of its error."""
    call = "gb.add(x, v)"
    try:
        gb.add(np.zeros((n, n), np.float32), np.zeros(n, np.float32))
    except gb.ShapeError as error:
        return call, str(error)
    raise AssertionError(f"{call} was not refused")


def results_table(measured: list[Measured]) -> TitledTable:
    """The table of results."""
    rows = []
    for m in measured:
        dims = dict(m.case.attributes).get("broadcast_dimensions")
        shown = ", ".join(m.case.shapes) + (f" {dims}" if dims else "")
        rows.append(
            (
                m.case.title,
                f"{m.case.op} {shown}",
                f"{m.first * 1e3:.1f}",
                f"{m.ours * 1e3:.3f}",
                f"{m.numpy * 1e3:.3f}",
                f"{m.numpy / m.ours:.2f}x",
                f"{m.num_bytes / m.ours / 1e9:.1f}",
                "equal" if m.equal else "DIFFERENT",
            )
        )
    columns = ("case", "operands and broadcast_dimensions", "first ms", "ms", "NumPy",
               "ratio", "GB/s", "check")  # fmt: skip
    return TitledTable("results", columns, tuple(rows))


def run(device: str | None = None, n: int = 2048) -> int:
    """The demo; 0 if every result equals NumPy's bit for bit, else 1.

    Args:
        device: ``"cpu"`` or ``"cuda"``; None for a GPU if one is usable, else the CPU.
        n: side of the matrices.

    Raises:
        DeviceError: the wanted device cannot be used.
    """
    device, why = choose_device(device)
    print(f"gpubcast {gb.__version__} on device {device!r}: {why}\n")
    every = cases(n)
    generator = np.random.default_rng(0)
    measured = []
    for k, case in enumerate(every, 1):
        with working(f"case {k} of {len(every)}: {case.title}"):
            measured.append(measure(case, device, generator))
    _show(results_table(measured))
    wrong = sum(not m.equal for m in measured)
    elsewhere = "" if device == "cpu" else "; ours end when the GPU is done, NumPy's run on the CPU"
    speed = math.exp(statistics.fmean(math.log(m.numpy / m.ours) for m in measured))
    print(
        "\nms: median of calls into an existing array (np.where makes a new one), NumPy's in turns "
        f"with ours{elsewhere}.\nfirst ms: the first call, with compiling unless the kernel is "
        f"known. ratio: NumPy's time to ours, {speed:.2f}x in geometric mean.\n"
        f"{len(measured) - wrong} of {len(measured)} results equal NumPy's, bit for bit."
    )
    print(f"\nWhat one call does, here {every[0].title}:\n")
    plan = gb.plan(every[0].op, *every[0].shapes, **dict(every[0].attributes))
    explanation = plan.explain()
    cards = tuple(card for card in explanation.cards if card.device == device.partition(":")[0])
    replace(explanation, cards=cards).print()
    call, said = refused_call(n)
    print(f"\nWhat is ambiguous is refused, here {call}:\n\n{said}\n")
    print(NEXT)
    return 1 if wrong else 0


def _show(part: TitledTable) -> None:
    if not sys.stdout.isatty():
        print(table_text(part, left=2))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # Title and operands share a column: seven numbers beside it fit a terminal of 80 columns.
    shown = RichTable(
        title=part.title, box=box.SIMPLE_HEAD, padding=0, collapse_padding=True, pad_edge=False
    )
    shown.add_column("case", overflow="fold")
    for column in part.columns[2:]:
        shown.add_column(column, justify="right", no_wrap=True)
    for title, operands, *cells in part.rows:
        style = "" if cells[-1] == "equal" else "bold red"
        head = Text.assemble((title, style or "bold"), "\n", (operands, style or "dim"))
        shown.add_row(head, *(Text(cell, style=style) for cell in cells))
    Console().print(shown)
