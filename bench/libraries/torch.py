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
        names, formula, direct = _torch_names(torch, sized), sized.case.computes, direct_call(sized)
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
            if into is None:
                return {"call": lambda: sized.closed(function(*aligned))}
            return with_out(sized, function, into, aligned, target)

        return calls

    def entries_of(self, sized: Sized) -> tuple[str, ...]:
        found = _torch_idioms(self.library).get(sized.case.name)
        return ("call",) if found is not None and found[1] is None else self.entries

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

        names = _torch_names(torch, sized)
        computed = formula.function(names)
        function = moved if formula.moves else lambda *given: sized.closed(computed(*given))
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


def _torch_names(torch: Any, sized: Sized) -> Mapping[str, Any]:
    def copyto(out: Any, x: Any, where: Any = None) -> Any:
        return out.copy_(x) if where is None else out.masked_fill_(where, x)

    names = ("add", "subtract", "multiply", "divide", "tanh", "exp", "log", "sqrt", "where")
    own = {"copyto": copyto, "invert": torch.logical_not}
    # It would add narrow integers in a wide type.
    typed = {"dtype": torch.int32} if sized.dtype == "s32" else {}
    reductions = {
        "sum": sized.by_label(torch.sum, "dim", keepdim=True, **typed),
        "max": sized.by_label(torch.amax, "dim", keepdim=True),
        "mean": sized.by_label(torch.mean, "dim", keepdim=True),
        "argmax": sized.by_label(torch.argmax, "dim", keepdim=True),
    }
    return {name: getattr(torch, name) for name in names} | own | reductions


def _torch_idioms(
    torch: Any,
) -> Mapping[str, tuple[Callable[..., Any], Callable[..., Any] | None]]:
    """What users of PyTorch write for a chain that has a function of its own there, and the same
    with ``out=`` where that has it."""
    own = torch.nn.functional
    gelu = functools.partial(torch.nn.functional.gelu, approximate="tanh")
    into = functools.partial(torch.ops.aten.gelu.out, approximate="tanh")

    def normalised(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
        return torch.addcmul(beta, (x - mean).mul_(rstd), gamma)

    def normalised_into(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any, out: Any) -> Any:
        return torch.addcmul(beta, torch.sub(x, mean, out=out).mul_(rstd), gamma, out=out)

    def kernel_sum(x: Any, y: Any, b: Any) -> Any:
        # By a matrix of all pairs; the differences themselves, which lose no place.
        distance = torch.cdist(x[:, 0], y[0], compute_mode="donot_use_mm_for_euclid_dist")
        return distance.square_().mul_(-0.5).exp_().matmul(b[0, :, 0])[:, None, None]

    return {
        "gelu": (gelu, lambda x, out: into(x, out=out)),
        "bias gelu": (
            lambda x, bias: gelu(x + bias),
            lambda x, bias, out: into(torch.add(x, bias, out=out), out=out),
        ),
        "layernorm apply": (normalised, normalised_into),
        "softmax": (lambda x: torch.softmax(x, -1), lambda x, out: torch.softmax(x, -1, out=out)),
        "layernorm": (
            lambda x, gamma, beta: own.layer_norm(x, gamma.shape[1:], gamma[0], beta[0], 1e-5),
            None,
        ),
        "rms norm": (lambda x, gamma: own.rms_norm(x, gamma.shape[1:], gamma[0], 1e-5), None),
        "logsumexp": (
            lambda x: torch.logsumexp(x, -1, keepdim=True),
            lambda x, out: torch.logsumexp(x, -1, keepdim=True, out=out),
        ),
        "RBF sum": (kernel_sum, None),
    }
