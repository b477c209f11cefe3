"""How users of PyTorch write the cases, eager and compiled."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..cases import Sized
from ..timing import Call
from .base import Library, Ready, Views, direct_call


class Torch(Library):
    """PyTorch, eager; with the functions of its own that chains have there."""

    name = "PyTorch"
    module = "torch"
    devices = ("cpu", "cuda")

    def set_up(self, kind: str, threads: int) -> None:
        torch: Any = importlib.import_module("torch")
        torch.set_num_threads(threads)
        if kind == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("this PyTorch sees no GPU")

    def ready(self, sized: Sized) -> Ready:
        torch: Any = importlib.import_module("torch")
        names = _torch_names(torch)
        formula, direct = sized.case.computes, direct_call(sized)
        idiom = _torch_idioms(torch).get(sized.case.name)
        function = formula.function(names)
        in_place = formula.in_place(sized.case.steps, names)
        if idiom is not None:
            function, in_place = idiom
        elif direct is not None:
            function = getattr(torch, direct)

        def calls(views: Views, out: Any) -> dict[str, Call]:
            aligned = sized.aligned(tuple(_tensor(torch, x) for x in views))
            target = _tensor(torch, out)
            if formula.moves:
                source = aligned[0].expand(tuple(out.shape))
                whole = torch.contiguous_format
                return {
                    "call": functools.partial(source.clone, memory_format=whole),
                    "out": functools.partial(target.copy_, source),
                }
            if direct is not None:
                return {
                    "call": functools.partial(function, *aligned),
                    "out": functools.partial(function, *aligned, out=target),
                }
            return {
                "call": functools.partial(function, *aligned),
                "out": functools.partial(in_place, *aligned, target),
            }

        return calls

    def array(self, result: Any) -> Any:
        torch: Any = importlib.import_module("torch")
        raw = result.view(torch.int16) if result.dtype == torch.bfloat16 else result
        if result.device.type == "cpu":
            found = raw.numpy()
        else:
            found = importlib.import_module("cupy").from_dlpack(raw)
        if result.dtype == torch.bfloat16:
            found = found.view(importlib.import_module("ml_dtypes").bfloat16)
        return found

    def release(self) -> None:
        importlib.import_module("torch").cuda.empty_cache()


class TorchCompiled(Torch):
    """``torch.compile``."""

    name = "torch.compile"
    entries = ("call",)
    compiles = recompiles = True
    effort = 2

    def ready(self, sized: Sized) -> Ready:
        torch: Any = importlib.import_module("torch")
        formula = sized.case.computes
        names = {"where": torch.where, "tanh": torch.tanh, "exp": torch.exp}
        dimensions = sized.output.dimensions

        def moved(x: Any) -> Any:
            return x.expand(dimensions).clone(memory_format=torch.contiguous_format)

        function = moved if formula.moves else formula.function(names)
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
