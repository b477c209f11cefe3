"""A PyTorch operator with its gradient: a residual sum and its RMS norm, beside eager PyTorch.

``gpubcast.torch.op`` makes an operator of a fused function. Its backward pass is another graph,
made from the function's. Eager PyTorch makes several passes over memory, forward and backward.
This needs ``pip install 'gpubcast[torch]'``.

The result and the gradients of all three operands are compared with those that eager PyTorch finds
in double precision, and ``torch.autograd.gradcheck`` with finite differences. What is timed, calls
in turns, the least of seven: the forward pass, which keeps what gradients need, and the backward
pass alone.
"""

from __future__ import annotations

import argparse
import sys

import gallery

import gpubcast as gb

try:
    import torch

    import gpubcast.torch
except ImportError as missing:
    raise SystemExit("this example needs PyTorch: pip install 'gpubcast[torch]'") from missing


@gb.fuse("row col, row col, col -> row col")
def residual_norm(x, residual, gamma):
    y = x + residual
    return y * gb.rsqrt(gb.nn.mean(y * y, axis="col") + 1e-6) * gamma


operator = gpubcast.torch.op(residual_norm, name="residual_norm")


def eager(x, residual, gamma):
    y = x + residual
    return y * torch.rsqrt((y * y).mean(dim=-1, keepdim=True) + 1e-6) * gamma


ROWS = {"small": (256, 1024), "memory": (8192, 2048)}
NAMES = ("result", "gradient of x", "gradient of residual", "gradient of gamma")
# As a share of the largest element: gamma's gradient is a sum of all rows' terms, of both signs.
TOLERANCE = 1e-5


def operands(size: str, device: str = "cpu") -> tuple[list[torch.Tensor], torch.Tensor]:
    """What the operator takes, and the gradient that arrives at its result."""
    rows, columns = ROWS[size]
    rng = torch.Generator().manual_seed(0)
    shapes = ((rows, columns), (rows, columns), (columns,))
    made = [torch.randn(s, generator=rng).to(device).requires_grad_(True) for s in shapes]
    return made, torch.randn(shapes[0], generator=rng).to(device)


def computed(function, given, arrived) -> list[torch.Tensor]:
    """The result and the gradients."""
    result = function(*given)
    return [result.detach(), *torch.autograd.grad(result, given, arrived)]


def wrong(function, given, arrived) -> list[str]:
    """What is not as eager PyTorch has it in double precision."""
    exact = [x.detach().double().requires_grad_(True) for x in given]
    found = computed(function, given, arrived)
    wanted = computed(eager, exact, arrived.double())
    bad = []
    for name, one, other in zip(NAMES, found, wanted, strict=True):
        off = float((one.double() - other).abs().max() / other.abs().max())
        if not off <= TOLERANCE:
            bad.append(f"WRONG: {name} is off by {off:.1e} of the largest")
    small = [x[:3, :5] if x.ndim == 2 else x[:5] for x in exact]
    small = [x.detach().clone().requires_grad_(True) for x in small]
    if not torch.autograd.gradcheck(function, small, raise_exception=False):
        bad.append("WRONG: gradcheck")
    return bad


def timed(given, arrived, seconds=0.0) -> dict[str, list[float]]:
    """Seconds of each pass in turns."""
    passes = {}
    for name, function in {"gpubcast": operator, "PyTorch": eager}.items():
        result = function(*given)
        passes[f"{name}, forward"] = lambda f=function: f(*given)
        passes[f"{name}, backward"] = lambda r=result: torch.autograd.grad(
            r, given, arrived, retain_graph=True
        )
    return gallery.in_turns(passes, seconds=seconds)


def main(arguments: list[str] | None = None) -> int:
    """Run, check and time the operator; 1 where something is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=gallery.SIZES, default="small", help="how many rows")
    parser.add_argument("--device", default="cpu", help="where it runs: cpu or cuda")
    chosen = parser.parse_args(arguments)
    given, arrived = operands(chosen.size, chosen.device)
    backward = gpubcast.torch.gradient_plan(residual_norm, *given)
    kernels = len(residual_norm.plan(*(x.detach() for x in given)).broadcast_plans)
    print(f"forward {kernels} kernel, backward {len(backward.broadcast_plans)}: {backward}")
    found = wrong(operator, given, arrived)
    print(*(found or [f"{', '.join(NAMES)}: as eager PyTorch's in double precision"]), sep="\n")
    if chosen.device == "cpu":
        for name, seconds in timed(given, arrived).items():
            print(f"{name}: {1e3 * min(seconds):.2f} ms")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
