"""How users of NumPy and of CuPy write the cases, operation by operation and fused."""

from __future__ import annotations

import functools
from typing import Any

from ..cases import Sized, check
from ..timing import Call
from .base import Library, Ready, Views, direct_call, with_out

_MOST_STORED = 1 << 30


class NumPy(Library):
    """NumPy, one ufunc after the other; in place where ``out`` is given."""

    name = "NumPy"
    module = "numpy"

    def unsupported(self, sized: Sized) -> str | None:
        stored = sized.elements * sized.output.element_type.itemsize
        if sized.expands and stored > _MOST_STORED:
            return f"its temporaries would take {stored >> 20} MiB each"
        return None

    def entries_of(self, sized: Sized) -> tuple[str, ...]:
        # ``where`` is the only one without out=.
        return ("call",) if direct_call(sized) == "where" else self.entries

    def ready(self, sized: Sized) -> Ready:
        xp, formula, direct = self.library, sized.case.computes, direct_call(sized)
        names, constant = check.namespace(xp, sized), check.constant(sized)
        function = formula.function(names, constant)
        into = formula.in_place(sized.case.steps, names, constant)
        if direct is not None:
            function = into = names[direct]

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(views)
            if formula.moves:
                whole = xp.broadcast_to(*aligned, out.shape)
                return with_out(sized, xp.ndarray.copy, into, (whole,), out)
            found = with_out(sized, function, into, aligned, out)
            return {entry: found[entry] for entry in self.entries_of(sized)}

        return calls


class CuPy(NumPy):
    """CuPy, one kernel after the other."""

    name = "CuPy"
    module = "cupy"
    devices = ("cuda",)

    def release(self) -> None:
        self.library.get_default_memory_pool().free_all_blocks()


class CupyFuse(Library):
    """``cupy.fuse``: a chain as one kernel."""

    name = "cupy.fuse"
    module = "cupy"
    devices = ("cuda",)
    entries = ("call",)
    compiles = True
    effort = 1

    def unsupported(self, sized: Sized) -> str | None:
        if sized.case.computes.reduced and not sized.case.computes.sums:
            return "its fused reductions have no keepdims"
        return "there is nothing to fuse in a copy" if sized.case.computes.moves else None

    def ready(self, sized: Sized) -> Ready:
        names = check.namespace(self.library, sized)
        names["sum"] = sized.by_label(self.library.sum, **check.sum_type(sized))
        fused = self.library.fuse(sized.case.computes.function(names, check.constant(sized)))
        return lambda views, out: {"call": functools.partial(fused, *sized.aligned(views))}
