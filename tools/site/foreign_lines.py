"""Lines of other libraries beside ours, for the pages *Coming from*.

Both sides are expressions over the operands of ``OPERANDS``. Tests compute both, where the library
is installed, and compare them; a name that a line calls and gpubcast does not have is one that the
package's own table of foreign names answers, in errors as on the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


def operands() -> dict[str, Any]:
    """What the lines compute with."""
    x = np.array([[-1.5, 0.25, 2.0], [4.0, -0.5, 1.0]], np.float32)
    return {
        "x": x,
        "row": np.array([1, 2, 3], np.float32),
        "column": np.array([10, 20], np.float32),
        "mask": x > 0,
        "y": np.zeros((2, 3), np.float32),
    }


OPERANDS = "`x` is f32[2,3], `row` f32[3], `column` f32[2], `mask` pred[2,3], and `y` is like `x`"


@dataclass(frozen=True)
class Library:
    """A library: how it is imported, and what differs most."""

    title: str
    imports: str
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One thing to do, as we write it and as others do, by the library's key."""

    what: str
    ours: str
    theirs: dict[str, str] = field(default_factory=dict)
    note: str = ""


def _same(*names: str, **others: str) -> dict[str, str]:
    """One spelling for several libraries, ``NP`` being the name of each one's namespace."""
    return {**dict.fromkeys(names[1:], names[0]), **others}


ARRAYS = ("numpy", "cupy", "jax", "torch")
NAMESPACES = {"numpy": "np", "cupy": "cp", "jax": "jnp", "torch": "torch"}

LIBRARIES = {
    "numpy": Library(
        "NumPy",
        "import numpy as np",
        (
            "Nothing is broadcast by trailing dimensions: where ranks differ, "
            "`broadcast_dimensions` or labels say where the smaller operand goes. An error lists "
            "what would be legal.",
            "Element types are not promoted: f32 with f64 is refused, a Python scalar takes the "
            "array's type.",
            "Integers: `gb.div` truncates toward zero and `gb.rem` has the dividend's sign, as in "
            "C and XLA; NumPy's `//` and `%` floor.",
            "`gpubcast.array_api` is a namespace with NumPy's implicit broadcasting and promotion.",
        ),
    ),
    "cupy": Library(
        "CuPy",
        "import cupy as cp",
        (
            "Operands are CuPy arrays, and so are results; calls go to CuPy's current stream.",
            "`cupy.fuse` fuses an elementwise function; `gb.fuse` one with reductions, operands of "
            "different ranks and several results. CPU arrays take the same function.",
            "As with NumPy, nothing is broadcast or promoted silently.",
        ),
    ),
    "jax": Library(
        "JAX",
        "import jax, jax.numpy as jnp",
        (
            "Functions have the names and the meaning of `jax.lax`, without `jax.numpy`'s implicit "
            "rank promotion.",
            "`gb.fuse` traces like `jax.jit`, but never for a size: a new size does not compile.",
            "Layouts, padding and strides are the caller's to state; results are NumPy or CuPy "
            "arrays, which may be written. Inside `jax.jit` a fused function is called by "
            "`gpubcast.jax.call`.",
        ),
    ),
    "torch": Library(
        "PyTorch",
        "import torch, gpubcast.torch",
        (
            "After `import gpubcast.torch` tensors go in and tensors come out; `gpubcast.torch.op` "
            "makes a fused function an operator with gradients.",
            "Nothing is broadcast by trailing dimensions, and types are not promoted.",
            "`torch.compile` specialises on sizes until told otherwise; `gb.fuse` never does.",
        ),
    ),
    "numexpr": Library(
        "numexpr",
        "import numexpr as ne",
        (
            "The expression is a Python function instead of a string, so that editors, type "
            "checkers and debuggers see it.",
            "It is compiled to a loop of its own with vector instructions, and runs on CUDA "
            "arrays too; `ne.evaluate` interprets blocks.",
            "Types stay: numexpr promotes f32 with f64, gpubcast refuses the mixture.",
        ),
    ),
    "xarray": Library(
        "xarray",
        "import xarray as xr",
        (
            'Labels are part of a function, not of an array: `gb.fuse("row col, col -> row col")` '
            "aligns plain arrays by the names that you give their axes.",
            "A label has one size: nothing is joined by coordinates, and 1 against n is refused.",
            "A DataArray is no operand: pass `a.data`, in the order of the labels.",
        ),
    ),
}

_X = 'xr.DataArray(x, dims=("r", "c"))'
_ROW = 'xr.DataArray(row, dims=("c",))'
_COLUMN = 'xr.DataArray(column, dims=("r",))'

LINES = (
    Line(
        "add a row to every row",
        "gb.add(x, row, broadcast_dimensions=(1,))",
        _same("x + row", *ARRAYS, numexpr='ne.evaluate("x + row")', xarray=f"{_X} + {_ROW}"),
    ),
    Line(
        "multiply every row by its own factor",
        "gb.mul(x, column, broadcast_dimensions=(0,))",
        _same(
            "x * column[:, None]",
            *ARRAYS,
            numexpr='ne.evaluate("x * c", {"x": x, "c": column[:, None]})',
            xarray=f"{_X} * {_COLUMN}",
        ),
    ),
    Line(
        "the products of all pairs",
        'gb.apply("r, c -> r c", gb.mul, column, row)',
        _same(
            "NP.outer(column, row)",
            *ARRAYS,
            numexpr='ne.evaluate("c * row", {"c": column[:, None], "row": row})',
            xarray=f"{_COLUMN} * {_ROW}",
        ),
    ),
    Line(
        "choose by a mask",
        "gb.select(mask, x, 0.0)",
        _same(
            "NP.where(mask, x, 0.0)",
            *ARRAYS,
            numexpr='ne.evaluate("where(mask, x, y)")',
            xarray=f"{_X}.where(mask, 0.0)",
        ),
        "the scalar has the array's type",
    ),
    Line(
        "keep between two bounds",
        "gb.clamp(0.0, x, 1.0)",
        _same("NP.clip(x, 0.0, 1.0)", *ARRAYS, xarray=f"{_X}.clip(0.0, 1.0)"),
        "the bounds stand around x",
    ),
    Line(
        "the larger of two",
        "gb.max(x, 0.5)",
        {
            **_same("NP.maximum(x, 0.5)", "numpy", "cupy", "jax"),
            "torch": "torch.maximum(x, torch.tensor(0.5))",
            "xarray": f"xr.ufuncs.maximum({_X}, np.float32(0.5))",
        },
        "the largest of one array is `gb.reduce_max`",
    ),
    Line(
        "sum along an axis",
        "gb.reduce_sum(x, (1,))",
        {
            **_same("NP.sum(x, axis=1)", *ARRAYS),
            "torch": "torch.sum(x, dim=1)",
            "numexpr": 'ne.evaluate("sum(x, axis=1)")',
            "xarray": f'{_X}.sum("c")',
        },
    ),
    Line(
        "where the largest is",
        "gb.argmax(x, 1)",
        {
            **_same("NP.argmax(x, axis=1)", *ARRAYS),
            "torch": "torch.argmax(x, dim=1)",
            "xarray": f'{_X}.argmax("c")',
        },
        "s32, as XLA's; `index_dtype=\"s64\"` for NumPy's",
    ),
    Line(
        "divide every row by its sum",
        'gb.fuse("r c -> r c")(lambda x: x / gb.reduce_sum(x, "c"))(x)',
        {
            **_same("x / NP.sum(x, axis=1, keepdims=True)", *ARRAYS),
            "torch": "x / torch.sum(x, dim=1, keepdim=True)",
            "xarray": f'{_X} / {_X}.sum("c")',
        },
        "one kernel; write `@gb.fuse` above a function",
    ),
    Line(
        "a whole expression at once",
        'gb.fuse("r c, c -> r c")(lambda x, row: gb.exp(x) * row + 1)(x, row)',
        {
            "numpy": "np.exp(x) * row + 1",
            "cupy": "cp.exp(x) * row + 1",
            "jax": "jax.jit(lambda x, row: jnp.exp(x) * row + 1)(x, row)",
            "torch": "torch.exp(x) * row + 1",
            "numexpr": 'ne.evaluate("exp(x) * row + 1")',
            "xarray": f"xr.ufuncs.exp({_X}) * {_ROW} + 1",
        },
        "without temporaries; CuPy: `cupy.fuse`, PyTorch: `torch.compile`",
    ),
    Line(
        "softmax",
        "gb.nn.softmax(x)",
        {"jax": "jax.nn.softmax(x)", "torch": "torch.softmax(x, dim=-1)"},
    ),
    Line(
        "layer normalisation",
        "gb.nn.layer_norm(x, row, row, epsilon=1e-5)",
        {"torch": "torch.nn.functional.layer_norm(x, (3,), row, row)"},
    ),
    Line(
        "repeat along a new axis",
        "gb.broadcast_in_dim(row, (2, 3), (1,))",
        {
            **_same("NP.broadcast_to(row, (2, 3))", *ARRAYS),
            "jax": "jax.lax.broadcast_in_dim(row, (2, 3), (1,))",
            "xarray": f'{_ROW}.expand_dims({{"r": 2}})',
        },
        "a new array, not a view",
    ),
    Line(
        "another element type",
        'gb.convert_element_type(x, "s32")',
        {
            **_same("x.astype(NP.int32)", "numpy", "cupy", "jax"),
            "torch": "x.to(torch.int32)",
            "xarray": f'{_X}.astype("int32")',
        },
        "floats truncate; what does not fit saturates",
    ),
    Line(
        "quotients rounded down",
        "gb.floor(gb.div(x, 2.0))",
        {**_same("NP.floor_divide(x, 2.0)", *ARRAYS), "xarray": f"{_X} // 2.0"},
    ),
    Line(
        "the remainder with the dividend's sign",
        "gb.rem(x, 1.5)",
        {
            **_same("NP.fmod(x, 1.5)", *ARRAYS),
            "numexpr": 'ne.evaluate("fmod(x, c)", {"x": x, "c": np.float32(1.5)})',
        },
    ),
    Line(
        "0 where a value is not a number",
        "gb.select(gb.isnan(x), 0.0, x)",
        {**_same("NP.nan_to_num(x)", *ARRAYS), "xarray": f"{_X}.fillna(0.0)"},
    ),
    Line(
        "write into an array that is there",
        "gb.sub(x, 1.0, out=y)",
        {
            **_same("NP.subtract(x, 1.0, out=y)", "numpy", "cupy", "torch"),
            "numexpr": 'ne.evaluate("x - c", {"x": x, "c": np.float32(1)}, out=y)',
        },
    ),
    Line(
        "transposed, in memory",
        'gb.apply("r c -> c r", gb.fuse(lambda x: x * 1.0), x)',
        {
            **_same("NP.ascontiguousarray(x.T)", "numpy", "cupy"),
            "torch": "x.T.contiguous()",
            "jax": "jnp.transpose(x)",
            "xarray": f'{_X}.transpose("c", "r").copy()',
        },
        "labels in another order; any expression in place of `x * 1.0`",
    ),
    Line(
        "zeros",
        'gb.full("f32[2,3]", 0).numpy()',
        {
            **_same("NP.zeros((2, 3), NP.float32)", "numpy", "cupy", "jax"),
            "torch": "torch.zeros(2, 3)",
        },
        "a `gb.Array`, with a layout where the text has one",
    ),
    Line(
        "0, 1, 2, ...",
        'gb.iota("f32", 4)',
        {
            **_same("NP.arange(4, dtype=NP.float32)", "numpy", "cupy", "jax"),
            "torch": "torch.arange(4.0)",
        },
    ),
    Line(
        "to the host",
        "gb.array(x).numpy()",
        {"cupy": "cp.asnumpy(x)", "jax": "jax.device_get(x)", "torch": "x.cpu()"},
        "nothing is transferred implicitly",
    ),
)


def of(key: str) -> list[tuple[Line, str]]:
    """The lines of a library, each with its spelling."""
    found = []
    for line in LINES:
        if key in line.theirs:
            found.append((line, line.theirs[key].replace("NP.", f"{NAMESPACES.get(key, 'np')}.")))
    return found
