"""What type checkers find: the lines marked ``# wrong``, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpubcast as gb

x: NDArray[np.float32] = np.ones((2, 3), np.float32)
a = gb.array(x)

gb.add(x, x).numpy()  # wrong
gb.add(a, x).cumsum()  # wrong
(a + 1).cumsum()  # wrong
gb.exp(x, out=a).cumsum()  # wrong
gb.add(x, x, out="text")  # wrong
gb.add("text", x)  # wrong
gb.add(x, x, axis=1)  # wrong
gb.compare(x, x)  # wrong
gb.broadcast(x, 3)  # wrong
gb.exp(x, out=a, out_layout=gb.Layout((0, 1)))  # wrong
gb.iota("f32", "3")  # wrong
gb.full("f32[2]", 1.0, device=0)  # wrong
gb.fuse(3)  # wrong
gb.plan("add", 3, x)  # wrong
gb.infer_shape("neg", None)  # wrong


@gb.fuse
def halved(x: gb.Array) -> gb.Array:
    return gb.div(x, 2.0)


halved()  # wrong
halved(a).cumsum()  # wrong


@gb.fuse("r c -> r c")
def doubled(x: NDArray[Any]) -> gb.Array:
    return gb.add(x, x)  # wrong
