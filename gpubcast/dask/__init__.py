"""Dask: its arrays as operands and results of every gpubcast function, lazily.

Importing this module has them recognised; see ``docs/dask.md``.

>>> import dask.array as da, gpubcast as gb, gpubcast.dask
>>> @gb.fuse("row col, row -> row col")
... def centred(x, mean):
...     return x - mean
>>> x = da.ones((4, 6), chunks=(2, 3), dtype="f4")
>>> y = centred(x, da.ones(4, chunks=4, dtype="f4"))
>>> y.chunks
((2, 2), (3, 3))
>>> float(y.sum())
0.0
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'gpubcast.dask needs Dask: pip install "gpubcast[dask]" ({error})'
    ) from error

from gpubcast.dask.arrays import before, call, strided
from gpubcast.dask.collections import DaskArray
from gpubcast.runtime import array_libraries
from gpubcast.runtime.array_libraries import ArrayLibrary

__all__: list[str] = []

array_libraries.join(ArrayLibrary(DaskArray, strided, call, before, lazy=True))
