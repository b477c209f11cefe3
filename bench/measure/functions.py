"""Elementary functions on one core, their operands in its first cache, beside other libraries.

A process of its own computes on one thread. All libraries of a function take turns, and all
functions rounds, so that a slow second of the machine spoils no figure; a time is the least of many
calls, since other programs only add to one, less that of a call on one element, so that the loop is
what remains. JAX compiles each function by itself. Results are compared before they are timed.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

import gpubcast as gb
from gpubcast.typing import OperationName

from .environment import environment
from .settings import named

ELEMENTS, ROUNDS, CALLS = 8192, 60, 20
OURS, PEERS = "gpubcast", ("NumPy", "PyTorch", "jax.jit")
Array = np.ndarray[Any, Any]
# The functions, between which numbers their operands lie, and their names in NumPy and PyTorch
# where these have them. JAX has ours, in jax.lax or in jax.numpy.
FUNCTIONS: dict[str, tuple[tuple[float, float], str, str]] = {
    "exp": ((-3, 3), "exp", "exp"), "exp2": ((-3, 3), "exp2", "exp2"),
    "expm1": ((-3, 3), "expm1", "expm1"), "log": ((0.01, 100), "log", "log"),
    "log1p": ((-0.9, 100), "log1p", "log1p"), "log2": ((0.01, 100), "log2", "log2"),
    "logistic": ((-3, 3), "", "sigmoid"), "sin": ((-3, 3), "sin", "sin"),
    "cos": ((-3, 3), "cos", "cos"), "tan": ((-3, 3), "tan", "tan"),
    "asin": ((-1, 1), "arcsin", "asin"), "acos": ((-1, 1), "arccos", "acos"),
    "atan": ((-3, 3), "arctan", "atan"), "atan2": ((-3, 3), "arctan2", "atan2"),
    "sinh": ((-3, 3), "sinh", "sinh"), "cosh": ((-3, 3), "cosh", "cosh"),
    "tanh": ((-6, 6), "tanh", "tanh"), "asinh": ((-50, 50), "arcsinh", "asinh"),
    "acosh": ((1, 100), "arccosh", "acosh"), "atanh": ((-0.99, 0.99), "arctanh", "atanh"),
    "pow": ((0.1, 10), "power", "pow"), "cbrt": ((-3, 3), "cbrt", ""),
    "rsqrt": ((0.01, 10), "", "rsqrt"), "erf": ((-4, 4), "", "erf"),
    "erfc": ((-4, 4), "", "erfc"), "erf_inv": ((-0.99, 0.99), "", "erfinv"),
    "log10": ((0.01, 100), "log10", "log10"), "hypot": ((-3, 3), "hypot", "hypot"),
    "logaddexp": ((-3, 3), "logaddexp", "logaddexp"), "lgamma": ((0.1, 10), "", "lgamma"),
    "digamma": ((0.1, 10), "", "digamma"),
}  # fmt: skip


def measure(cases: Sequence[str] | None, dtypes: Sequence[str] | None) -> dict[str, Any]:
    """Nanoseconds per element by function and type, then library; and the environment.

    Raises:
        Error: nothing has such a name and type, or the process failed.
    """
    chosen = [name for name in FUNCTIONS if named(name, None if cases is None else tuple(cases))]
    kinds = [kind for kind in ("f32", "f64") if dtypes is None or kind in dtypes]
    if not chosen or not kinds:
        raise gb.Error("nothing to measure: no elementary function has such a name and type")
    one_thread = {
        "GPUBCAST_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path),
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", __name__, ",".join(chosen), ",".join(kinds)],
        env=os.environ | one_thread, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise gb.Error(f"measuring elementary functions failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"environment": environment(gpu=False), "ns": found}


def text(found: dict[str, Any], command: str) -> str:
    """The measurements as Markdown."""
    made, table = found["environment"], found["ns"]
    versions = (f"{name} {text}" for name, text in made["packages"].items() if text)
    lines = [
        f"# Elementary functions on one core: {made['processor']}", "",
        f"gpubcast {made['gpubcast']}, revision {made['revision']}, {made['time']}  ",
        f"Python {made['python']}, {', '.join(versions)}  ", "", f"    {command}", "",
        *(f"* {name}={value}" for name, value in made["variables"].items()), "",
        f"Nanoseconds per element, {ELEMENTS} elements in the cache, the least of {ROUNDS * CALLS} "
        "calls in turns less a call on one element.", "",
        f"| | {' | '.join((OURS, *PEERS))} | best of them / ours | NumPy / ours |",
        f"|---{'|--:' * (len(PEERS) + 3)}|",
    ]  # fmt: skip
    behind, ratios = [], []
    for name, row in table.items():
        best = min((row[peer] for peer in PEERS if peer in row), default=math.nan)
        ours = row[OURS]
        if best < ours:
            behind.append(f"{name} ({best / ours:.2f})")
        ratio = row["NumPy"] / ours if "NumPy" in row else math.nan
        ratios += [ratio] if "NumPy" in row else []
        cells = [f"{row[lib]:.3f}" if lib in row else "-" for lib in (OURS, *PEERS)]
        cells += ["-" if math.isnan(x) else f"{x:.2f}" for x in (best / ours, ratio)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Geometric mean of NumPy's times to ours: {mean:.2f}."]
    lines += ["", f"Slower than the best of them: {', '.join(behind) or 'none'}."]
    return "\n".join(lines) + "\n"


def _operands(name: str, kind: str) -> list[Array]:
    rng = np.random.default_rng(0)
    first = rng.uniform(*FUNCTIONS[name][0], ELEMENTS).astype(gb.element_type(kind).dtype)
    if name not in ("pow", "atan2", "hypot", "logaddexp"):
        return [first]
    return [first, rng.uniform(-3, 3, ELEMENTS).astype(first.dtype)]


def _calls(name: str, kind: str, operands: list[Array]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Libraries that are installed and have the function, and their calls on operands."""
    out = np.empty_like(operands[0])
    shapes = [gb.Shape(kind, x.shape) for x in operands]
    yield OURS, gb.plan(cast(OperationName, name), *shapes).bind(*operands, out=out)
    _, in_numpy, in_torch = FUNCTIONS[name]
    if in_numpy:
        yield "NumPy", functools.partial(getattr(np, in_numpy), *operands, out=np.empty_like(out))
    torch = _library("torch")
    if torch is not None and in_torch:
        torch.set_num_threads(1)
        tensors = [torch.from_numpy(x) for x in operands]
        into = torch.empty_like(tensors[0])
        yield "PyTorch", functools.partial(getattr(torch, in_torch), *tensors, out=into)
    jax = _library("jax")
    if jax is not None:
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_platforms", "cpu")
        compiled = jax.jit(getattr(jax.lax if hasattr(jax.lax, name) else jax.numpy, name))
        arrays = [jax.device_put(x) for x in operands]
        yield "jax.jit", lambda: compiled(*arrays).block_until_ready()


def _library(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _agree(name: str, kind: str, results: dict[str, Any]) -> None:
    eps = float(np.finfo(gb.element_type(kind).dtype).eps)
    wanted = results[OURS]
    for library, found in results.items():
        off = np.abs(np.asarray(found) - wanted) / np.maximum(np.abs(wanted), 1)
        if not off.max() <= 64 * eps:
            raise gb.Error(f"{name} of {kind}: {library} differs by {off.max() / eps:.0f} units")


def _least(calls: dict[str, Callable[[], Any]], least: dict[str, float]) -> None:
    """Lowers the seconds of each call to the least of some more calls, in turns."""
    for library, call in calls.items():
        for _ in range(CALLS):
            began = time.perf_counter()
            call()
            least[library] = min(least.get(library, math.inf), time.perf_counter() - began)


def main(names: str, kinds: str) -> int:
    """Measure in this process, and print JSON."""
    made = {}
    for kind in kinds.split(","):
        for name in names.split(","):
            operands = _operands(name, kind)
            calls = dict(_calls(name, kind, operands))
            _agree(name, kind, {library: call() for library, call in calls.items()})
            made[f"{name} {kind}"] = (
                calls,
                dict(_calls(name, kind, [x[:1].copy() for x in operands])),
            )
    whole: dict[str, dict[str, float]] = {label: {} for label in made}
    one: dict[str, dict[str, float]] = {label: {} for label in made}
    for _ in range(ROUNDS):
        for label, (on_all, on_one) in made.items():
            _least(on_all, whole[label])
            _least(on_one, one[label])
    found = {
        label: {
            library: 1e9 * max(seconds - one[label][library], 0.0) / (ELEMENTS - 1)
            for library, seconds in row.items()
        }
        for label, row in whole.items()
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
