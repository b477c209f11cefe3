"""How users of numexpr write the cases."""

from __future__ import annotations

import functools
import importlib
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
        importlib.import_module("numexpr").set_num_threads(threads)

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.moves:
            return "its results have the operands' dimensions"
        return None if sized.dtype in ("f32", "f64", "s32") else f"it has no {sized.dtype}"

    def ready(self, sized: Sized) -> Ready:
        numexpr: Any = importlib.import_module("numexpr")
        text, numbers = sized.case.computes.expression()
        dtype: Any = sized.output.element_type.dtype
        constants = {name: dtype.type(number) for name, number in numbers.items()}

        def calls(views: Views, out: Any) -> dict[str, Call]:
            named = dict(zip(sized.case.computes.names, sized.aligned(views), strict=True))
            call = functools.partial(
                numexpr.evaluate, text, local_dict=named | constants, global_dict={}
            )
            return {"call": call, "out": functools.partial(call, out=out)}

        return calls
