"""The door for JAX: fused functions inside ``jax.jit``, and JAX functions run by gpubcast.

>>> import gpubcast as gb, gpubcast.jax, jax, numpy as np
>>> @gb.fuse("row col, col -> row col")
... def scaled(x, gain):
...     return x * gain
>>> f = jax.jit(lambda x, gain: gpubcast.jax.call(scaled, x, gain) + 1)
>>> f(np.ones((2, 3), "f4"), np.float32([1, 2, 3]))
Array([[2., 3., 4.],
       [2., 3., 4.]], dtype=float32)
"""

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise ImportError(f'gpubcast.jax needs JAX: pip install "gpubcast[jax]" ({error})') from error

from gpubcast.jax.conversion import from_jax
from gpubcast.jax.fused_calls import call

__all__ = ["call", "from_jax"]
