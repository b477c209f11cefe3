"""The contenders of a benchmark: how users of gpubcast and of other libraries write the cases.

Each library is one small class that turns a case into calls, in the form that is idiomatic and
fastest there. Memory is shared where the library can: NumPy, numexpr, numba, CuPy and PyTorch read
and write the very buffers that gpubcast does.
"""

from __future__ import annotations

import gpubcast as gb

from .base import Library
from .cub import Cub
from .gpubcast import Gpubcast
from .jax import Jax
from .keops import KeOps
from .numba import Numba
from .numexpr import Numexpr
from .numpy import CuPy, CupyFuse, NumPy
from .torch import Torch, TorchCompiled

GPUBCAST = Gpubcast()
PEERS: tuple[Library, ...] = (
    *(NumPy(), Numexpr(), Numba(), CuPy(), CupyFuse(), Cub(), Torch(), TorchCompiled(), Jax()),
    KeOps(),
)


def named(names: tuple[str, ...]) -> tuple[Library, ...]:
    """The peers with the given names, whatever their case; ``none`` alone for none.

    Raises:
        Error: there is no such peer.
    """
    wanted = {name.lower(): name for name in names}
    if list(wanted) == ["none"]:
        return ()
    known = {peer.name.lower(): peer for peer in PEERS}
    for lower, name in wanted.items():
        if lower not in known:
            known_names = ", ".join(peer.name for peer in PEERS)
            raise gb.Error(f"no peer {name!r}; there are {known_names}")
    return tuple(known[lower] for lower in wanted)
