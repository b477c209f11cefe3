"""Forward and backward through ``gpubcast.torch.op``, beside eager PyTorch and ``torch.compile``.

Operands are as large as those of the size *memory*: x takes 64 MiB. All contenders take turns, and
a time is the least of many calls; gradients are compared with those that PyTorch computes in f64
before anything is timed. On all threads, unless ``GPUBCAST_THREADS`` and ``OMP_NUM_THREADS`` say
otherwise.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gpubcast as gb

from .environment import environment
from .settings import named

OURS, EAGER, COMPILED = "gpubcast", "PyTorch", "torch.compile"
ROWS, COLUMNS, ROUNDS = 8192, 2048, 7
# What rounding in f32 may move a gradient by, as a share of the largest in f64: some sums have
# ``ROWS`` terms of both signs.
TOLERANCE = 2e-4

Function = Callable[..., Any]


@gb.fuse("row col, col, col -> row col")
def layernorm(x: Any, gamma: Any, beta: Any) -> Any:
    """A layer norm with its statistics inside."""
    n = gb.convert_element_type(gb.get_dimension_size(x, "col"), x.dtype)
    centred = x - gb.reduce_sum(x, "col") / n
    variance = gb.reduce_sum(centred * centred, "col") / n
    return centred * gb.rsqrt(variance + 1e-5) * gamma + beta


@gb.fuse("row col, col -> row col")
def rms_norm(x: Any, gamma: Any) -> Any:
    """A norm without a mean."""
    n = gb.convert_element_type(gb.get_dimension_size(x, "col"), x.dtype)
    return x * gb.rsqrt(gb.reduce_sum(x * x, "col") / n + 1e-5) * gamma


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    """A softmax over the last axis."""
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


@gb.fuse("row col, col -> row col")
def bias_gelu(x: Any, bias: Any) -> Any:
    """GELU's approximation by tanh, of a sum."""
    y = x + bias
    return y * 0.5 * (gb.tanh((y + y * y * y * 0.044715) * math.sqrt(2 / math.pi)) + 1.0)


@dataclass(frozen=True, slots=True)
class Gradients:
    """A case: the fused function, and what users of PyTorch write."""

    ours: Any
    rows: int  # operands of one row, after x
    theirs: Callable[[Any], Function]


CASES = {
    "layernorm": Gradients(
        layernorm, 2, lambda own: lambda x, g, b: own.layer_norm(x, g.shape, g, b, 1e-5)
    ),
    "rms norm": Gradients(rms_norm, 1, lambda own: lambda x, g: own.rms_norm(x, g.shape, g, 1e-5)),
    "softmax": Gradients(softmax, 0, lambda own: lambda x: own.softmax(x, -1)),
    "bias gelu": Gradients(
        bias_gelu, 1, lambda own: lambda x, b: own.gelu(x + b, approximate="tanh")
    ),
}


def measure(cases: Sequence[str] | None) -> dict[str, Any]:
    """Milliseconds forward and backward by case, then contender; and the environment.

    Raises:
        Error: nothing has such a name, PyTorch is missing, or a gradient is wrong.
    """
    chosen = [name for name in CASES if named(name, None if cases is None else tuple(cases))]
    if not chosen:
        raise gb.Error(f"nothing to measure: the cases are {', '.join(CASES)}")
    try:
        torch = importlib.import_module("torch")
        door = importlib.import_module("gpubcast.torch")
    except ImportError as error:
        raise gb.Error("--gradients needs torch: pip install 'gpubcast[torch]'") from error
    found = {name: _measured(torch, door, name) for name in chosen}
    return {"environment": environment(gpu=False), "ms": found}


def _measured(torch: Any, door: Any, name: str) -> dict[str, tuple[float, float]]:
    case = CASES[name]
    generator = torch.Generator().manual_seed(0)
    shapes = ((ROWS, COLUMNS), *(((COLUMNS,),) * case.rows))
    given = [torch.randn(s, generator=generator).requires_grad_(True) for s in shapes]
    arrived = torch.randn(shapes[0], generator=generator)
    theirs = case.theirs(torch.nn.functional)
    contenders = {OURS: door.op(case.ours), EAGER: theirs, COMPILED: torch.compile(theirs)}
    _check(torch, name, theirs, contenders, given, arrived)
    least = {contender: (math.inf, math.inf) for contender in contenders}
    for _ in range(ROUNDS):
        for contender, function in contenders.items():
            began = time.perf_counter()
            result = function(*given)
            between = time.perf_counter()
            torch.autograd.grad(result, given, arrived)
            ended = time.perf_counter()
            forward, backward = least[contender]
            least[contender] = (
                min(forward, 1e3 * (between - began)),
                min(backward, 1e3 * (ended - between)),
            )
    return least


def _check(
    torch: Any,
    name: str,
    theirs: Function,
    contenders: dict[str, Function],
    given: list[Any],
    arrived: Any,
) -> None:
    exact = [x.detach().double().requires_grad_(True) for x in given]
    wanted = torch.autograd.grad(theirs(*exact), exact, arrived.double())
    for contender, function in contenders.items():
        gradients = torch.autograd.grad(function(*given), given, arrived)
        for k, (one, other) in enumerate(zip(gradients, wanted, strict=True)):
            off = float((one.double() - other).abs().max() / other.abs().max())
            if not off <= TOLERANCE:
                raise gb.Error(f"{name}: {contender}'s gradient of operand {k} is off by {off:.1e}")


def text(found: dict[str, Any], command: str) -> str:
    """The measurements as Markdown."""
    made = found["environment"]
    versions = (f"{name} {version}" for name, version in made["packages"].items() if version)
    lines = [
        f"# Forward and backward: {made['processor']}", "",
        f"gpubcast {made['gpubcast']}, revision {made['revision']}, {made['time']}  ",
        f"Python {made['python']}, {', '.join(versions)}  ", "", f"    {command}", "",
        *(f"* {name}={value}" for name, value in made["variables"].items()), "",
        f"Milliseconds forward + backward, the least of {ROUNDS} calls in turns, x of "
        f"f32[{ROWS},{COLUMNS}].", "",
        f"| | {OURS} | {EAGER} | {COMPILED} | {EAGER} / ours | {COMPILED} / ours |",
        "|---|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    for name, row in found["ms"].items():
        cells = [f"{a:.1f} + {b:.1f}" for a, b in (row[c] for c in (OURS, EAGER, COMPILED))]
        ratios = [f"{sum(row[c]) / sum(row[OURS]):.2f}" for c in (EAGER, COMPILED)]
        lines.append(f"| {name} | {' | '.join(cells + ratios)} |")
    return "\n".join(lines) + "\n"
