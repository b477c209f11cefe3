"""How users of other libraries write the cases: the peers that gpubcast is compared with.

Each peer turns a case and gpubcast's arrays into a call. Memory is shared where the library can:
NumPy, CuPy and PyTorch read and write the very buffers that gpubcast does. JAX has no strides, so
it gets compact copies in the same axis order, transposes inside ``jit`` and allocates its result.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gpubcast as gb

from .cases import FUNCTIONS, Sized
from .timing import Call


@dataclass(frozen=True, slots=True)
class Peer:
    """A library.

    Attributes:
        name: what reports call it.
        module: what has to import.
        device: the kind of device it is compared on; "" for both.
        call: ``call(sized, operands, out)`` is the case as a callable.
        wait: waits for a result on the host's clock; None where CUDA events see the work.
        operations: what it writes in a way of its own; empty for all.
    """

    name: str
    module: str
    device: str
    call: Callable[[Sized, tuple[gb.Array, ...], gb.Array], Call]
    wait: Callable[[Any], Any] | None = None
    operations: tuple[str, ...] = ()

    def applies(self, operation: str) -> bool:
        """Whether it has something to compare an operation with."""
        return not self.operations or operation in self.operations

    def available(self, kind: str) -> bool:
        """Whether it can be compared on a kind of device here."""
        if self.device not in ("", kind):
            return False
        try:
            importlib.import_module(self.module)
        except ImportError:
            return False
        return True


def _array_call(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array, module: str) -> Call:
    xp = importlib.import_module(module)
    target = out.view()
    aligned = sized.case.aligned(*(x.view() for x in operands))
    name = FUNCTIONS[sized.case.operation]
    if name is None:
        source = aligned[0].transpose(sized.case.permutation or tuple(range(aligned[0].ndim)))
        return lambda: xp.copyto(target, source)
    function = getattr(xp, name)
    if name == "where":  # the only one without out=
        return lambda: function(*aligned)
    return lambda: function(*aligned, out=target)


def _numpy(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array) -> Call:
    return _array_call(sized, operands, out, "numpy")


def _cupy(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array) -> Call:
    return _array_call(sized, operands, out, "cupy")


def _cupy_fuse(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array) -> Call:
    import cupy

    functions = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y}
    fused = cupy.fuse(functions[sized.case.operation])
    aligned = sized.case.aligned(*(x.view() for x in operands))
    return lambda: fused(*aligned)


def _torch(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array) -> Call:
    torch = importlib.import_module("torch")
    target = torch.from_dlpack(out.view())
    aligned = sized.case.aligned(*(torch.from_dlpack(x.view()) for x in operands))
    name = FUNCTIONS[sized.case.operation]
    if name is None:
        source = aligned[0].permute(sized.case.permutation or tuple(range(aligned[0].ndim)))
        return lambda: target.copy_(source)
    function = getattr(torch, name)
    return lambda: function(*aligned, out=target)


def _jax(sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array) -> Call:
    # JAX would take most of the device's memory for itself.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    name = FUNCTIONS[sized.case.operation]
    major_to_minor = [tuple(reversed(x.layout.minor_to_major)) for x in operands]
    logical = [tuple(order.index(d) for d in range(len(order))) for order in major_to_minor]

    def compute(*compact: Any) -> Any:
        views = [jnp.transpose(x, axes) for x, axes in zip(compact, logical, strict=True)]
        aligned = sized.case.aligned(*views)
        if name is not None:
            return getattr(jnp, name)(*aligned)
        source = jnp.transpose(aligned[0], sized.case.permutation or None)
        return jnp.broadcast_to(source, out.shape)

    def compact(x: gb.Array, order: tuple[int, ...]) -> Any:
        packed = x.view().transpose(order).copy(order="C")
        return jnp.from_dlpack(packed)

    held = tuple(map(compact, operands, major_to_minor))
    compiled = jax.jit(compute)
    return lambda: compiled(*held)


def _jax_wait(result: Any) -> Any:
    return result.block_until_ready()


PEERS: tuple[Peer, ...] = (
    Peer("NumPy", "numpy", "cpu", _numpy),
    Peer("CuPy", "cupy", "cuda", _cupy),
    Peer("cupy.fuse", "cupy", "cuda", _cupy_fuse, operations=("add", "mul")),
    Peer("PyTorch", "torch", "", _torch),
    Peer("jax.jit", "jax", "", _jax, _jax_wait),
)


def available(kind: str) -> tuple[Peer, ...]:
    """The peers that can be compared on a kind of device here."""
    return tuple(peer for peer in PEERS if peer.available(kind))
