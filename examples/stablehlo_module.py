"""A StableHLO module as one kernel: the causal softmax of attention, from its text.

StableHLO is what JAX, PyTorch/XLA and TensorFlow hand to a compiler. The text below is such a
module, its number of heads left open; all of it, the mask from its two iotas and both reductions
included, becomes one kernel, in which the number of heads is a parameter. jaxlib holds the parser,
so this needs ``pip install 'gpubcast[jax]'``.

The weights are compared with NumPy's in double precision. Where JAX itself is installed, its own
module of the same function gives the same bits; and both are timed, calls in turns, the least of
seven, on arrays that lie on the CPU already.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import gallery
import numpy as np

import gpubcast as gb

LENGTH = 256
MODULE = """
func.func @main(%scores: tensor<?x256x256xf32>) -> tensor<?x256x256xf32> {
  %heads = stablehlo.get_dimension_size %scores, dim = 0 : (tensor<?x256x256xf32>) -> tensor<i32>
  %first = stablehlo.reshape %heads : (tensor<i32>) -> tensor<1xi32>
  %others = stablehlo.constant dense<256> : tensor<2xi32>
  %shape = stablehlo.concatenate %first, %others, dim = 0
    : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>

  %query = stablehlo.iota dim = 0 : tensor<256x256xi32>
  %key = stablehlo.iota dim = 1 : tensor<256x256xi32>
  %seen = stablehlo.compare GE, %query, %key
    : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
  %mask = stablehlo.dynamic_broadcast_in_dim %seen, %shape, dims = [1, 2]
    : (tensor<256x256xi1>, tensor<3xi32>) -> tensor<?x256x256xi1>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %hidden = stablehlo.dynamic_broadcast_in_dim %least, %shape, dims = []
    : (tensor<f32>, tensor<3xi32>) -> tensor<?x256x256xf32>
  %kept = stablehlo.select %mask, %scores, %hidden
    : tensor<?x256x256xi1>, tensor<?x256x256xf32>

  %max = stablehlo.reduce(%kept init: %least) applies stablehlo.maximum across dimensions = [2]
    : (tensor<?x256x256xf32>, tensor<f32>) -> tensor<?x256xf32>
  %top = stablehlo.dynamic_broadcast_in_dim %max, %shape, dims = [0, 1]
    : (tensor<?x256xf32>, tensor<3xi32>) -> tensor<?x256x256xf32>
  %distance = stablehlo.subtract %kept, %top : tensor<?x256x256xf32>
  %e = stablehlo.exponential %distance : tensor<?x256x256xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
    : (tensor<?x256x256xf32>, tensor<f32>) -> tensor<?x256xf32>
  %all = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [0, 1]
    : (tensor<?x256xf32>, tensor<3xi32>) -> tensor<?x256x256xf32>
  %weights = stablehlo.divide %e, %all : tensor<?x256x256xf32>
  return %weights : tensor<?x256x256xf32>
}
"""
HEADS = {"small": 8, "memory": 256}
# A weight has at most this many units in the last place of distance from NumPy's.
ULP = 14


def with_numpy(scores):
    kept = np.where(np.tri(LENGTH, dtype=bool), scores, -np.inf)
    e = np.exp(kept - kept.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)


def with_jax():
    """The function as JAX compiles it; None where JAX is not installed."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None

    @jax.jit
    def causal_softmax(scores):
        mask = jnp.tri(LENGTH, dtype=bool)
        return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)

    return causal_softmax


def operand(size: str) -> gallery.Array:
    rng = np.random.default_rng(0)
    return 4 * rng.standard_normal((HEADS[size], LENGTH, LENGTH), np.float32)


def timed(function, theirs, x, seconds=0.0) -> dict[str, list[float]]:
    """Seconds of calls in turns, of gpubcast and, where it is there, of JAX."""
    calls = {"gpubcast": lambda: function(x)}
    if theirs is not None:
        import jax

        placed = jax.device_put(x, jax.devices("cpu")[0])
        calls["JAX"] = lambda: theirs(placed).block_until_ready()
    return gallery.in_turns(calls, seconds=seconds)


def main(arguments: list[str] | None = None) -> int:
    """Run, check and time the module; 1 where a result is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=gallery.SIZES, default="small", help="how many heads")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the plan as a page")
    given = parser.parse_args(arguments)
    try:
        function = gb.from_stablehlo(MODULE)
    except gb.Error as error:
        raise SystemExit(f"{error}") from error
    x = operand(given.size)
    (plan,) = function.plans(x)
    if given.html is not None:
        given.html.write_text(plan.explain().html(), encoding="utf-8")
    print(f"{function}, from {len(MODULE.strip().splitlines())} lines of text")
    kernels, moved = len(plan.broadcast_plans), plan.broadcast_plan.num_bytes
    print(f"f32{list(x.shape)}: {kernels} kernel, {moved:,} bytes")
    found = function(x)
    far = gallery.distance(found, with_numpy(x))
    wrong = [] if far <= ULP else [f"WRONG: {far:.1f} ulp from NumPy's, of {ULP} allowed"]
    print(*(wrong or [f"within {ULP} ulp of NumPy's"]))
    theirs = with_jax()
    if theirs is None:
        print("JAX is not installed: pip install 'gpubcast[jax]' has it beside this")
    else:
        lowered = gb.from_stablehlo(theirs.lower(x))
        same = np.array_equal(lowered(x).view("u4"), found.view("u4"))
        wrong += [] if same else ["WRONG: JAX's own module gives other bits"]
        print("JAX's own module gives the same bits" if same else wrong[-1])
    for name, seconds in timed(function, theirs, x).items():
        print(f"{name}: {1e3 * min(seconds):.2f} ms a call")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
