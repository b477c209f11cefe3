"""Libraries that take any array of the standard, on arrays of ``gpubcast.array_api``.

``python -m tests.support.array_api_consumers scipy`` runs the calls of one library, unchanged, on
our arrays and on NumPy's, compares, and prints how many there were. SciPy looks at
``SCIPY_ARRAY_API`` when it is imported, so that this is a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import gpubcast.array_api as xp

Call = Callable[[Any, Any], Any]
DATA = np.random.default_rng(0).normal(size=(5, 4))


def compare(found: Any, wanted: Any) -> None:
    """Results are our arrays, with NumPy's values."""
    if isinstance(wanted, (tuple, list)):
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
        return
    assert isinstance(found, xp.StandardArray), f"{type(found)} came back"
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-11, atol=1e-13)


def scipy() -> dict[str, Call]:
    """Functions of SciPy that take arrays of the standard."""
    os.environ["SCIPY_ARRAY_API"] = "1"
    from scipy import differentiate, fft, integrate, special, stats
    from scipy.cluster import vq
    from scipy.optimize import elementwise

    def cubic(t: Any, c: Any) -> Any:
        return t**3 - c

    def ends(m: Any, *values: float) -> Any:
        return tuple(m.asarray([v, v]) for v in values)

    def c(m: Any) -> Any:
        return (m.asarray([2.0, -3.0]),)

    return {
        "softmax": lambda m, x: special.softmax(x, axis=1),
        "log_softmax": lambda m, x: special.log_softmax(x, axis=1),
        "logsumexp": lambda m, x: special.logsumexp(x, axis=1),
        "zscore": lambda m, x: stats.zscore(x, axis=0),
        "skew": lambda m, x: stats.skew(x, axis=0),
        "kurtosis": lambda m, x: stats.kurtosis(x, axis=0),
        "gmean": lambda m, x: stats.gmean(m.exp(x), axis=0),
        "variation": lambda m, x: stats.variation(m.exp(x), axis=0),
        "circmean": lambda m, x: stats.circmean(x, axis=0),
        "pearsonr": lambda m, x: stats.pearsonr(x[:, 0], x[:, 1]).statistic,
        "ttest_1samp": lambda m, x: stats.ttest_1samp(x, 0.0, axis=0).statistic,
        "entropy": lambda m, x: stats.entropy(m.exp(x), axis=0),
        "moment": lambda m, x: stats.moment(x, 3, axis=0),
        "find_root": lambda m, x: elementwise.find_root(cubic, ends(m, -9.0, 9.0), args=c(m)).x,
        "bracket_root": lambda m, x: (
            elementwise.bracket_root(cubic, *ends(m, -1.0, 1.0), args=c(m)).bracket
        ),
        "find_minimum": lambda m, x: (
            elementwise.find_minimum(
                lambda t, c: (t - c) ** 2, ends(m, -9.0, 0.5, 9.0), args=c(m)
            ).f_x
        ),
        "tanhsinh": lambda m, x: (
            integrate.tanhsinh(lambda t: m.exp(-(t**2)), *ends(m, -1.0, 2.0)).integral
        ),
        "derivative": lambda m, x: differentiate.derivative(m.exp, m.asarray([0.5, 1.0, 2.0])).df,
        "fft": lambda m, x: fft.fft(x),
        "whiten": lambda m, x: vq.whiten(x),
    }


def sklearn() -> dict[str, Call]:
    """Estimators of scikit-learn, with its dispatch switched on."""
    os.environ["SCIPY_ARRAY_API"] = "1"
    import sklearn
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

    sklearn.set_config(array_api_dispatch=True)

    def back(cls: Any) -> Call:
        def call(m: Any, x: Any) -> Any:
            fitted = cls().fit(x)
            return fitted.inverse_transform(fitted.transform(x))

        return call

    scalers = (StandardScaler, MinMaxScaler, MaxAbsScaler)
    return {
        **{cls.__name__: lambda m, x, cls=cls: cls().fit_transform(x) for cls in scalers},
        **{f"{cls.__name__} back": back(cls) for cls in scalers},
        "Normalizer": lambda m, x: Normalizer().fit_transform(x),
        "PCA": lambda m, x: m.abs(PCA(2, svd_solver="full").fit_transform(x)),
        "Ridge": lambda m, x: Ridge(solver="svd").fit(x, x[:, 0]).coef_,
    }


def array_api_extra() -> dict[str, Call]:
    """Functions of array-api-extra."""
    import array_api_extra as xpx

    return {
        "cov": lambda m, x: xpx.cov(x.T),
        "at": lambda m, x: xpx.at(m.asarray(x, copy=True))[0, :].set(1.0),
        "atleast_nd": lambda m, x: xpx.atleast_nd(x, ndim=3, xp=m),
        "create_diagonal": lambda m, x: xpx.create_diagonal(x[:, 0]),
        "kron": lambda m, x: xpx.kron(x, x),
        "nunique": lambda m, x: m.asarray(xpx.nunique(x)),
        "one_hot": lambda m, x: xpx.one_hot(m.asarray([0, 1, 2]), 4, xp=m),
        "pad": lambda m, x: xpx.pad(x, 1),
        "setdiff1d": lambda m, x: xpx.setdiff1d(x[:, 0], x[:2, 0]),
        "sinc": lambda m, x: xpx.sinc(x),
        "isclose": lambda m, x: xpx.isclose(x, x),
        "apply_where": lambda m, x: xpx.apply_where(x > 0, x, m.log, fill_value=0.0),
    }


def einops() -> dict[str, Call]:
    """The functions of ``einops.array_api``; einops itself on NumPy's."""
    import einops as plain
    import einops.array_api as standard

    def of(m: Any) -> Any:
        return standard if m is xp else plain

    return {
        "rearrange": lambda m, x: of(m).rearrange(x, "a (b c) -> b (a c)", b=2),
        "reduce": lambda m, x: of(m).reduce(x, "(a b) c -> a c", "mean", b=5),
        "reduce max": lambda m, x: of(m).reduce(x, "a c -> c", "max"),
        "repeat": lambda m, x: of(m).repeat(x, "a b -> a b c", c=3),
        "pack": lambda m, x: of(m).pack([x, x], "* b")[0],
    }


def xarray() -> dict[str, Call]:
    """Methods of a DataArray; the data that come back are ours."""
    import xarray as xr

    calls: dict[str, Callable[[Any], Any]] = {
        "minus mean": lambda d: d - d.mean("i", skipna=False),
        "sum": lambda d: d.sum("j", skipna=False),
        "sum without NaN": lambda d: d.sum("j"),
        "max": lambda d: d.max("i", skipna=False),
        "argmax": lambda d: d.argmax("i", skipna=False),
        "count": lambda d: d.count("i"),
        "any": lambda d: (d > 0).any("i"),
        "isel": lambda d: d.isel(i=slice(1, 3)),
        "isel of a list": lambda d: d.isel(i=[0, 2]),
        "transpose": lambda d: d.transpose("j", "i"),
        "where": lambda d: d.where(d > 0, 0.0),
        "concat": lambda d: xr.concat([d, d], "i"),
        "stack": lambda d: d.stack(z=("i", "j")),
        "clip": lambda d: d.clip(-1, 1),
        "apply_ufunc": lambda d: xr.apply_ufunc(lambda v: v * 2, d),
        "astype": lambda d: d.astype("float32"),
        "fillna": lambda d: d.fillna(0.0),
        "roll": lambda d: d.roll(i=1),
        "broadcast": lambda d: d * xr.DataArray(d.data[:, 0], dims=("k",)),
    }

    def run(call: Callable[[Any], Any]) -> Call:
        return lambda m, x: call(xr.DataArray(x, dims=("i", "j"))).data

    return {name: run(call) for name, call in calls.items()}


LIBRARIES: dict[str, Callable[[], dict[str, Call]]] = {
    "scipy": scipy,
    "sklearn": sklearn,
    "array_api_extra": array_api_extra,
    "einops": einops,
    "xarray": xarray,
}


def main(name: str) -> int:
    """Run the calls of a library."""
    calls = LIBRARIES[name]()
    failed = []
    for label, call in calls.items():
        try:
            compare(call(xp, xp.asarray(DATA)), call(np, DATA))
        except Exception as error:
            failed.append(f"{label}: {type(error).__name__}: {error}")
    print(f"{len(calls)} calls of {name}", *failed, sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
