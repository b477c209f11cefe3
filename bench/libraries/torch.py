"""How users of PyTorch write the cases, eager and compiled."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from ..cases import Sized
from ..timing import Call
from .base import Library, Ready, Views, direct_call, with_out


class Torch(Library):
    """PyTorch, eager; with the functions of its own that chains have there."""

    name = "PyTorch"
    module = "torch"
    devices = ("cpu", "cuda")

    def set_up(self, kind: str, threads: int) -> None:
        torch = self.library
        torch.set_num_threads(threads)
        if kind == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("this PyTorch sees no GPU")

    def ready(self, sized: Sized) -> Ready:
        torch = self.library
        names, formula, direct = _torch_names(torch), sized.case.computes, direct_call(sized)
        idiom = _torch_idioms(torch).get(sized.case.name)
        function, into = idiom or (
            formula.function(names), formula.in_place(sized.case.steps, names)
        )  # fmt: skip
        if direct is not None:
            function = into = getattr(torch, direct)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(tuple(_tensor(torch, x) for x in views))
            target = _tensor(torch, out)
            if formula.moves:
                whole = aligned[0].expand(tuple(out.shape))
                order = torch.contiguous_format
                return {
                    "call": functools.partial(whole.clone, memory_format=order),
                    "out": functools.partial(target.copy_, whole),
                }
            return with_out(function, into, aligned, target)

        return calls

    def array(self, result: Any) -> Any:
        torch = self.library
        raw = result.view(torch.int16) if result.dtype == torch.bfloat16 else result
        on_cpu = result.device.type == "cpu"
        found = raw.numpy() if on_cpu else importlib.import_module("cupy").from_dlpack(raw)
        return found.view(ml_dtypes.bfloat16) if result.dtype == torch.bfloat16 else found

    def release(self) -> None:
        self.library.cuda.empty_cache()


class TorchCompiled(Torch):
    """``torch.compile``."""

    name = "torch.compile"
    entries = ("call",)
    compiles = recompiles = True
    effort = 2

    def ready(self, sized: Sized) -> Ready:
        torch = self.library
        formula, dimensions = sized.case.computes, sized.output.dimensions

        def moved(x: Any) -> Any:
            return x.expand(dimensions).clone(memory_format=torch.contiguous_format)

        function = moved if formula.moves else formula.function(_torch_names(torch))
        compiled = torch.compile(function, dynamic=False)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(tuple(_tensor(torch, x) for x in views))
            return {"call": functools.partial(compiled, *aligned)}

        return calls


def _tensor(torch: Any, x: Any) -> Any:
    """A tensor over an array's memory; exchange protocols do not know ml_dtypes' bfloat16."""
    wide = x.dtype.name == "bfloat16"
    raw = x.view(np.int16) if wide else x
    tensor = torch.from_numpy(raw) if isinstance(x, np.ndarray) else torch.from_dlpack(raw)
    return tensor.view(torch.bfloat16) if wide else tensor


def _torch_names(torch: Any) -> Mapping[str, Any]:
    def copyto(out: Any, x: Any, where: Any = None) -> Any:
        return out.copy_(x) if where is None else out.masked_fill_(where, x)

    names = ("add", "subtract", "multiply", "tanh", "exp", "where")
    own = {"copyto": copyto, "invert": torch.logical_not}
    return {name: getattr(torch, name) for name in names} | own


def _torch_idioms(torch: Any) -> Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """What users of PyTorch write for a chain that has a function of its own there."""
    gelu = functools.partial(torch.nn.functional.gelu, approximate="tanh")
    into = functools.partial(torch.ops.aten.gelu.out, approximate="tanh")

    def normalised(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
        return torch.addcmul(beta, (x - mean).mul_(rstd), gamma)

    def normalised_into(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any, out: Any) -> Any:
        return torch.addcmul(beta, torch.sub(x, mean, out=out).mul_(rstd), gamma, out=out)

    return {
        "gelu": (gelu, lambda x, out: into(x, out=out)),
        "bias gelu": (
            lambda x, bias: gelu(x + bias),
            lambda x, bias, out: into(torch.add(x, bias, out=out), out=out),
        ),
        "layernorm apply": (normalised, normalised_into),
    }
