"""Black-Scholes prices of European options: a call and a put from one kernel.

A row is an underlying with its spot and volatility, a column one of its options with a strike and
a time to expiry; the interest rate is a scalar. Both prices share all the work but the last line.
"""

from __future__ import annotations

import math
import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse
def black_scholes(spot, volatility, strike, years, rate):
    spread = gb.mul(gb.sqrt(years), volatility, broadcast_dimensions=(0,))
    moneyness = gb.log(gb.div(spot, strike, broadcast_dimensions=(0,)))
    above = (moneyness + rate * years) / spread + 0.5 * spread
    paid = strike * gb.exp(gb.neg(rate * years))
    call = gb.mul(normal(above), spot, broadcast_dimensions=(0,)) - paid * normal(above - spread)
    return call, gb.sub(call + paid, spot, broadcast_dimensions=(0,))


def normal(x):
    """The distribution function of the normal distribution."""
    return 0.5 + 0.5 * gb.erf(x * math.sqrt(0.5))


def with_numpy(spot, volatility, strike, years, rate):
    spot, volatility, strike, years = (
        v.astype(np.float64) for v in (spot[:, None], volatility[:, None], strike, years)
    )
    spread = volatility * np.sqrt(years)
    above = (np.log(spot / strike) + rate * years) / spread + spread / 2
    paid = strike * np.exp(-rate * years)
    erf = np.vectorize(math.erf, otypes=[np.float64])
    first, second = (0.5 + 0.5 * erf(x * math.sqrt(0.5)) for x in (above, above - spread))
    call = spot * first - paid * second
    return call.astype(np.float32), (call + paid - spot).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (128, 512), "memory": (2048, 1024)}[size]
    spot = rng.uniform(80, 120, rows).astype("f4")
    volatility = rng.uniform(0.1, 0.5, rows).astype("f4")
    strike = rng.uniform(60, 140, (rows, columns)).astype("f4")
    return spot, volatility, strike, rng.uniform(0.1, 3, (rows, columns)).astype("f4"), 0.03


# A price is the difference of numbers near the spot.
CASES = (
    gallery.Case(
        "black_scholes",
        black_scholes,
        ("f32[8]", "f32[8]", "f32[8,64]", "f32[8,64]", 0.03),
        operands,
        with_numpy,
        ulp=8,
        least=100.0,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
