"""How users of CUB's ``DeviceTransform`` write the cases: through ``cuda.compute``."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

from ..cases import Sized
from ..timing import Call
from .base import Library, Ready, Views


class Cub(Library):
    """CUB's ``DeviceTransform``, of the package cuda-cccl: one function over one or two sequences.

    It has no strides and no broadcasting, so it is compared where an operand is a sequence as the
    result is. It is the fastest there is for those.
    """

    name = "cub"
    module = "cuda.compute"
    devices = ("cuda",)
    entries = ("out",)
    compiles = True
    effort = 1

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.reduced:
            return "DeviceTransform reduces nothing"
        result = sized.output.dimensions, sized.output.layout
        if any((x.dimensions, x.layout) != result for x in sized.shapes) or len(sized.shapes) > 2:
            return "DeviceTransform goes over one or two sequences"
        return "numba has no bf16 for it" if sized.dtype == "bf16" else None

    def ready(self, sized: Sized) -> Ready:
        compute, arity = self.library, len(sized.shapes)
        dtype: Any = sized.output.element_type.dtype
        cuda: Any = importlib.import_module("numba.cuda")
        where = cuda.jit(lambda mask, x, y: x if mask else y, device=True)
        names = {"where": where, "tanh": math.tanh, "exp": math.exp}
        function = sized.case.computes.function(names, dtype.type)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            # It takes the legacy default stream, as CuPy does where no other is current.
            flat = [_flat(x) for x in views]
            inputs = (
                {"d_in": flat[0]}
                if arity == 1
                else dict(zip(("d_in1", "d_in2"), flat, strict=True))
            )
            given = inputs | {"d_out": _flat(out)}
            make = compute.make_unary_transform if arity == 1 else compute.make_binary_transform
            transform = make(**given, op=function)
            run = functools.partial(transform, **given, op=function, num_items=out.size)
            return {"out": lambda: (run(), out)[1]}

        return calls


def _flat(x: Any) -> Any:
    """A row-major or a permuted array without gaps as the sequence of its memory."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    return x.transpose(order).reshape(-1)
