"""How users of numexpr write the cases."""

from __future__ import annotations

import functools
import os
from typing import Any

from ..cases import Sized
from ..timing import Call
from .base import Library, Ready, Views


class Numexpr(Library):
    """numexpr: one pass over blocks that fit the cache, on all threads."""

    name = module = "numexpr"
    compiles = True

    def set_up(self, kind: str, threads: int) -> None:
        os.environ.setdefault("NUMEXPR_MAX_THREADS", str(threads))
        self.library.set_num_threads(threads)

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.moves:
            return "its results have the operands' dimensions"
        if sized.case.computes.reduced and not sized.case.computes.sums:
            return "it reduces in the last step of an expression alone, and has no argmax"
        if sized.reduces and sized.dtype == "s32":
            return "it adds s32 in s64"
        return None if sized.dtype in ("f32", "f64", "s32") else f"it has no {sized.dtype}"

    def ready(self, sized: Sized) -> Ready:
        evaluate = self.library.evaluate
        text, numbers = sized.case.computes.expression(sized.axes)
        dtype: Any = sized.output.element_type.dtype
        constants = {name: dtype.type(number) for name, number in numbers.items()}

        def calls(views: Views, out: Any) -> dict[str, Call]:
            named = dict(zip(sized.case.computes.names, sized.aligned(views), strict=True))
            known = named | constants
            call = functools.partial(evaluate, text, local_dict=known, global_dict={})
            # Its sums leave no axis behind.
            return {"call": call, "out": functools.partial(call, out=out)}

        return calls
