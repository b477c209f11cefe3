"""The results of ``jax.nn`` that ``tests/corpora/nn.jsonl`` holds:

    python -m tests.support.jax_nn

where jax 0.10.2 is installed. A line has a function, its keywords, a type, the bits of an operand
and of the result.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.reduction_cases import Array, dtype_of, hexadecimal

FILE = Path(__file__).resolve().parents[1] / "corpora" / "nn.jsonl"
KINDS = ("f16", "bf16", "f32", "f64")
ELEMENTWISE = ("relu", "silu", "sigmoid", "softplus", "gelu")
ALONG = ("softmax", "log_softmax", "logsumexp", "standardize", "mean", "var")
AXES: tuple[Any, ...] = (-1, 0, 1, [0, 2], [0, 1, 2], [-1, -2])


def operands() -> Iterator[tuple[str, Array]]:
    """Ordinary numbers, numbers far apart, and those at which something ends."""
    rng = np.random.default_rng(1810)
    yield "ordinary", rng.standard_normal((3, 4, 5)) * 3
    yield "wide", np.exp2(rng.integers(-9, 7, (2, 3, 6))) * rng.choice((-1, 1), (2, 3, 6))
    inf, nan = math.inf, math.nan
    edges = [
        *([1, inf, 2, -3], [-inf, 1, 2, 0], [-inf, -inf, -inf, -inf], [nan, 1, 2, 3]),
        *([inf, -inf, 0, 1], [inf, inf, 1, 2], [0.0, -0.0, 0.0, -0.0], [1, 1, 1, 1]),
    ]
    yield "edges", np.array(edges, float)[:, None]


def cases() -> Iterator[tuple[str, str, str, dict[str, Any], Array]]:
    """Tag, function, element type, keywords, operand."""
    for tag, x in operands():
        for kind in KINDS:
            own = x.astype(dtype_of(kind))
            for name in ELEMENTWISE:
                yield tag, name, kind, {}, own
            yield tag, "gelu", kind, {"approximate": False}, own
            for name in ALONG:
                for axis in AXES[:1] if tag == "edges" else AXES:
                    yield tag, name, kind, {"axis": axis}, own


def main() -> int:
    """Write the file."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    lines = []
    for tag, name, kind, given, x in cases():
        keywords = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
        function = getattr(jnp if name in ("mean", "var") else jax.nn, name)
        out = np.asarray(function(jnp.asarray(x), **keywords))
        row = {"tag": tag, "function": name, "type": kind, "keywords": given}
        row |= {"dims": list(x.shape), "bits": hexadecimal(x)}
        row |= {"out_dims": list(out.shape), "out": hexadecimal(out)}
        assert out.dtype == x.dtype, (name, kind)
        lines.append(json.dumps(row))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
