"""Names of NumPy, CuPy, PyTorch and JAX, and what is written in their place.

A name that is one of ours under another (``subtract``) is an alias in its row. The others, which
take more than a name, are here: once for functions of the package, for methods of an array, for
NumPy's functions on one, and for operators.
"""

from __future__ import annotations

_COPIES = (
    "gb.array(x), which copies whatever holds numbers, or gb.from_dlpack(x), which shares memory"
)
_JOIN = "out = gb.empty(shape) and then out[:2] = x, out[2:] = y"
_FLOOR = "gb.floor(gb.div(x, y)) on floats; on integers gb.div truncates toward zero"
_RESHAPE = "a.reshape(dimensions) of a gb.Array, which shares memory where it can"
_LIKE = "gb.empty(a.xla_shape) or gb.full(a.xla_shape, value)"
_ZEROS = "gb.full(shape, 0), with a Shape or its text, as 'f32[2,3]'"
_THERE = "a.to_device('cpu'), a.to_device('cuda') or a.numpy(): nothing is transferred implicitly"
_AXES = "gb.broadcast_in_dim(x, shape, broadcast_dimensions), or a[None] and a.reshape(...)"
_TRANSPOSE = "a.transpose(permutation) or a.T of a gb.Array, which share memory"
_TYPE = "'f32', 'bf16', 's32' and the like, which are the names of element types"
_NAN = "gb.select(gb.ne(x, x), 0.0, x) first, which has no NaN"
_VALID = (
    "gb.select(gb.ne(x, x), 0.0, x) first, and divide its sum by that of "
    "gb.eq(x, x), converted to the type of x"
)
_STD = "gb.sqrt(gb.nn.var(x, axis)), or a.std(axis) of a gb.Array"
_TRUTH = "gb.convert_element_type(x, 'pred')"
_ELSEWHERE = "use NumPy's or CuPy's on a.view()"

# What is written, by the name that people try.
INSTEAD: dict[str, str] = {
    **dict.fromkeys(("asarray", "asanyarray", "ascontiguousarray", "as_tensor", "tensor"), _COPIES),
    **dict.fromkeys(("frombuffer", "from_numpy"), _COPIES),
    **dict.fromkeys(("concatenate", "concat", "cat", "stack", "hstack", "vstack", "block"), _JOIN),
    **dict.fromkeys(("floor_divide", "floordiv", "divmod"), _FLOOR),
    **dict.fromkeys(("reshape", "ravel", "flatten", "resize"), _RESHAPE),
    **dict.fromkeys(("expand_dims", "squeeze", "unsqueeze", "atleast_1d", "atleast_2d"), _AXES),
    **dict.fromkeys(("broadcast_arrays", "expand", "expand_as", "meshgrid", "repeat"), _AXES),
    "tile": _AXES,
    **dict.fromkeys(("empty_like", "full_like", "ones_like", "zeros_like"), _LIKE),
    **dict.fromkeys(("zeros", "ones"), _ZEROS),
    **dict.fromkeys(("nansum", "nan_to_num"), _NAN),
    **dict.fromkeys(("nanmax", "nanargmax"), "gb.select(gb.ne(x, x), -np.inf, x) first"),
    **dict.fromkeys(("nanmin", "nanargmin"), "gb.select(gb.ne(x, x), np.inf, x) first"),
    "nanprod": "gb.select(gb.ne(x, x), 1.0, x) first",
    "nanmean": _VALID,
    "reduce_all": f"gb.reduce_and({_TRUTH}, axes)",
    "reduce_any": f"gb.reduce_or({_TRUTH}, axes)",
    "reduce_mean": "gb.nn.mean(x, axis)",
    "reduce_variance": "gb.nn.var(x, axis)",
    "reduce_logsumexp": "gb.nn.logsumexp(x, axis)",
    "count_nonzero": f"gb.reduce_sum(gb.convert_element_type({_TRUTH}, 's32'), axes)",
    **dict.fromkeys(("get", "asnumpy", "cpu", "cuda", "to", "device_get", "device_put"), _THERE),
    **dict.fromkeys(("transpose", "swapaxes", "moveaxis", "permute", "permute_dims"), _TRANSPOSE),
    **dict.fromkeys(("dtype", "float32", "float64", "float16", "int32", "int64", "bool_"), _TYPE),
    "allclose": "np.allclose(a.numpy(), b.numpy())",
    "array_equal": "(a == b).all()",
    "base": "a.view(), the NumPy or CuPy array over the same memory",
    "bfloat16": "a.astype('bf16')",
    "clone": "a.copy()",
    "compile": "gb.fuse(function)",
    "contiguous": "a.with_layout(None)",
    "dim": "a.ndim",
    "double": "a.astype('f64')",
    "fill": "a[...] = value",
    "fill_": "a[...] = value",
    "flip": "a[::-1], which shares memory",
    "float": "a.astype('f32')",
    "half": "a.astype('f16')",
    "isclose": "gb.lt(gb.abs(gb.sub(x, y)), tolerance)",
    "item": "gb.array(x).item()",
    "itemsize": "a.dtype.itemsize",
    "jit": "gb.fuse(function)",
    "linspace": "gb.iota and gb.mul",
    "long": "a.astype('s64')",
    "ndarray": "gb.Array",
    "numel": "a.size",
    "numpy": "gb.array(x).numpy()",
    "outer": 'gb.apply("row, col -> row col", gb.mul, x, y)',
    "permute_axes": _TRANSPOSE,
    "positive": "a.copy()",
    "ptp": "a.max(axis) - a.min(axis)",
    "put": "a[index] = value, by integers and slices",
    **dict.fromkeys(("std", "reduce_std"), _STD),
    "take": "a[index], with an array of integers",
    "tobytes": "a.numpy().tobytes()",
    "tolist": "gb.array(x).tolist()",
    "type": "a.astype(dtype)",
    "vectorize": "gb.fuse(function)",
    "vmap": "gb.fuse with labels, which says it for every axis",
}
# What is said beside the name that gpubcast has for theirs.
NOTES = dict.fromkeys(("all", "any"), f", bitwise on numbers: take it of {_TRUTH}")
# What gpubcast has not, by the names that people try.
ABSENT: dict[tuple[str, ...], str] = {
    ("bmm", "dot", "dot_general", "einsum", "inner", "kron", "linalg", "matmul", "mm"): (
        f"gpubcast has no products of matrices: {_ELSEWHERE}"
    ),
    ("tensordot", "vdot"): f"gpubcast has no products of matrices: {_ELSEWHERE}",
    ("argsort", "partition", "searchsorted", "sort", "topk", "unique"): (
        f"gpubcast sorts nothing: {_ELSEWHERE}"
    ),
    ("cumprod", "cumsum", "cumulative_sum", "diff", "scan"): (
        "gpubcast has no scans; its reductions are gb.reduce_sum and the like"
    ),
    ("bincount", "histogram", "nonzero", "argwhere", "flatnonzero"): (
        f"gpubcast has no results whose size depends on values: {_ELSEWHERE}"
    ),
    ("fft", "ifft", "rfft", "convolve", "correlate"): (
        f"gpubcast has no convolutions and Fourier transforms: {_ELSEWHERE}"
    ),
    ("rand", "randn", "random"): "gpubcast makes no random numbers: gb.array takes NumPy's",
    ("eye", "identity", "tri", "tril", "triu"): (
        "gpubcast has no triangles: compare two gb.broadcasted_iota and gb.select"
    ),
}
_ABSENT = {name: text for names, text in ABSENT.items() for name in names}
_OPERATORS = {
    "//": f"; write {_FLOOR}",
    "@": f"; {_ABSENT['matmul']}",
    "divmod()": f"; write {_FLOOR}",
    "round()": "; gb.round(x) rounds to integers, and round(float(a), digits) one element",
}


def answer(name: str) -> str:
    """What is written for a foreign name, or why nothing is: ``"; write ..."``; else empty."""
    if name in INSTEAD:
        return f"; write {INSTEAD[name]}"
    return f"; {_ABSENT[name]}" if name in _ABSENT else ""


def of_operator(operator: str) -> str:
    """What is written in place of an operator that arrays have not."""
    return _OPERATORS[operator]
