"""The door for xarray: fused functions on DataArrays, dimensions matched to labels by name.

>>> import gpubcast as gb, gpubcast.xarray, numpy as np, xarray as xr
>>> @gb.fuse("time city, city -> time city")
... def anomaly(x, mean):
...     return x - mean
>>> x = xr.DataArray(np.float32([[1, 2], [5, 4]]), dims=("city", "time"))
>>> gpubcast.xarray.apply(anomaly, x, x.mean("time")).dims
('time', 'city')
"""

try:
    import xarray as _xarray  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'gpubcast.xarray needs xarray: pip install "gpubcast[xarray]" ({error})'
    ) from error

from gpubcast.xarray.application import apply

__all__ = ["apply"]
