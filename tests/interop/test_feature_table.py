"""The README's table of features: each cell is asked of the library, or names what says it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors
from tools import feature_table
from tools.feature_table import FEATURES, LIBRARIES

jax = doors.library("jax")
torch = doors.library("torch")
einx = doors.library("einx")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    cupy = pytest.importorskip("cupy", reason="CuPy has no wheel for this machine")

MATRIX, ROW = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
RANDOM = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)


def refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Exception:
        return True
    return False


# --- arrays of different rank ------------------------------------------------------------------


def rank_gpubcast() -> str:
    return "yes" if refused(lambda: gb.add(MATRIX, ROW)) else "no"


def rank_numpy() -> str:
    return "yes" if refused(lambda: np.add(MATRIX, ROW)) else "no"


def rank_jax() -> str:
    strict = refused(lambda: jax.lax.add(MATRIX, ROW))
    loose = not refused(lambda: jax.numpy.add(MATRIX, ROW))
    with jax.numpy_rank_promotion("raise"):
        flagged = refused(lambda: jax.numpy.add(MATRIX, ROW))
    return "`jax.lax`; `jnp` by a flag" if strict and loose and flagged else "?"


def rank_torch() -> str:
    return "yes" if refused(lambda: torch.add(torch.ones(2, 3), torch.ones(3))) else "no"


def rank_einx() -> str:
    named = einx.add("a b, b -> a b", MATRIX, ROW).shape == (2, 3)
    return "yes" if named and refused(lambda: einx.add("a b, a b", MATRIX, ROW)) else "no"


# --- names -------------------------------------------------------------------------------------


def names_gpubcast() -> str:
    found = gb.apply("row col, col -> row col", gb.add, MATRIX, ROW)
    return "yes" if np.array_equal(found, MATRIX + ROW) else "no"


def einsum(library: Any) -> Callable[[], str]:
    # No other function of the name takes them: `add` has no place for a string.
    return lambda: "`einsum`" if refused(lambda: library.add("a b, b", MATRIX, ROW)) and callable(
        library.einsum) else "?"  # fmt: skip


def names_einx() -> str:
    return "yes" if einx.add("a b, b", MATRIX, ROW).shape == (2, 3) else "no"


# --- kernels -----------------------------------------------------------------------------------


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


def kernels_gpubcast() -> str:
    return "yes" if len(softmax.plan("f32[8,64]").broadcast_plans) == 1 else "no"


def kernels_numpy() -> str:
    return "no" if not any(hasattr(np, name) for name in ("jit", "fuse", "compile")) else "?"


def kernels_jax() -> str:
    text = jax.jit(jax.nn.softmax).lower(RANDOM).compile().as_text()
    return "`jit`" if "fusion" in text else "?"


def kernels_cupy() -> str:
    return "`cupy.fuse`" if "reduction kernel" in (cupy.fuse.__doc__ or "") else "?"


def kernels_torch() -> str:
    return "`torch.compile`" if callable(torch.compile) else "?"


# --- sizes -------------------------------------------------------------------------------------


def sizes_gpubcast() -> str:
    sources = {softmax.plan(f"f32[{n},64]").cpu_source() for n in (8, 9, 100)}
    return "yes" if len(sources) == 1 else "no"


def sizes_numpy() -> str:
    return "nothing compiled" if isinstance(np.add, np.ufunc) else "?"


def sizes_jax() -> str:
    function = jax.jit(lambda x: x + 1)
    for n in (2, 3, 4):
        function(np.ones(n, np.float32))
    return "no" if function._cache_size() == 3 else "yes"


def sizes_torch() -> str:
    def compilations(dynamic: bool) -> int:
        made: list[Any] = []

        def backend(module: Any, inputs: Any) -> Any:
            made.append(module)
            return module.forward

        torch._dynamo.reset()
        function = torch.compile(lambda x: x + 1, backend=backend, dynamic=dynamic)
        for n in (2, 3, 4):
            function(torch.ones(n))
        return len(made)

    return "`dynamic=True`" if (compilations(True), compilations(False)) == (1, 3) else "?"


# --- memory ------------------------------------------------------------------------------------


def memory_gpubcast() -> str:
    shape = gb.Shape.parse("f32[2,3]{0,1:pad(4,3,zero)}")
    return "yes, with padding" if gb.empty(shape).xla_shape == shape else "no"


def memory_numpy() -> str:
    return "strides" if MATRIX.T.strides == (4, 12) else "?"


def memory_cupy() -> str:
    return "strides" if hasattr(cupy.ndarray, "strides") else "?"


def memory_jax() -> str:
    from jax.experimental.layout import Layout

    return "`Layout`" if Layout(major_to_minor=(1, 0)).major_to_minor == (1, 0) else "?"


def memory_torch() -> str:
    return "strides" if torch.ones(2, 3).t().stride() == (1, 3) else "?"


# --- sums --------------------------------------------------------------------------------------


def same_sums(sums: Callable[[Any], Any], other: Any, row: Callable[[Any], Any]) -> str:
    """Of an array, of the same numbers in another layout, and of each row alone."""
    found = np.asarray(sums(other(RANDOM, "C")))
    layouts = np.asarray(sums(other(RANDOM, "F")))
    alone = np.array([np.asarray(row(other(one, "C"))) for one in RANDOM])
    return "yes" if np.array_equal(found, layouts) and np.array_equal(found, alone) else "no"


def in_order(x: Any, order: Any) -> Any:
    return np.array(x, order=order)


def sums_gpubcast() -> str:
    def rows(x: Any) -> Any:
        return gb.reduce_sum(x, (1,))

    return same_sums(rows, in_order, lambda x: gb.reduce_sum(x, (0,)))


def sums_numpy() -> str:
    return same_sums(lambda x: x.sum(1), in_order, np.sum)


def sums_jax() -> str:
    rows, one = jax.jit(lambda x: x.sum(-1)), jax.jit(lambda x: x.sum())
    return same_sums(rows, lambda x, order: jax.numpy.asarray(x), one)


def sums_torch() -> str:
    def tensor(x: Any, order: str) -> Any:
        found = torch.from_numpy(x)
        return found if order == "C" else found.t().contiguous().t()

    return same_sums(lambda x: x.sum(1), tensor, torch.sum)


# --- rows of different lengths -----------------------------------------------------------------


def lengths_gpubcast() -> str:
    @gb.fuse("row col, row -> row", valid={"col": "lengths"})
    def totals(x: Any, lengths: Any) -> Any:
        return gb.reduce_sum(x, "col")

    found = totals(MATRIX, np.array([1, 3], np.int32))
    return "`valid=`" if found.tolist() == [1.0, 3.0] else "?"


def where(library: Any) -> Callable[[], str]:
    return lambda: "`where=`" if "where" in inspect.signature(library.sum).parameters else "no"


def lengths_torch() -> str:
    nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(3)], layout=torch.jagged)
    return "`torch.nested`" if nested.is_nested else "?"


def lengths_einx() -> str:
    return "no" if "where" not in inspect.signature(einx.sum).parameters else "?"


# --- before it runs ----------------------------------------------------------------------------


def seen_gpubcast() -> str:
    text = str(softmax.explain("f32[8,64]", source=True))
    shown = all(word in text for word in ("axes after merging", "must move", "numba source"))
    return "plan, bytes, source" if shown else "no"


def seen_jax() -> str:
    made = jax.jit(lambda x: x + 1).lower(MATRIX)
    shown = "stablehlo.add" in made.as_text() and made.compile().cost_analysis()
    return "HLO, costs" if shown else "no"


def seen_einx() -> str:
    code = str(einx.add("a b, b -> a b", MATRIX, ROW, graph=True))
    return "Python code" if "import numpy" in code else "no"


# --- gradients and products --------------------------------------------------------------------


def gradients_gpubcast() -> str:
    import gpubcast.torch as door

    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    door.op(softmax)(x).sum().backward()
    import gpubcast.jax as other

    slope = jax.grad(lambda x: other.call(softmax, x).sum())(jax.numpy.ones((2, 3)))
    return "in PyTorch and JAX" if x.grad is not None and slope.shape == (2, 3) else "no"


def lacks(library: Any, *names: str) -> Callable[[], str]:
    return lambda: "no" if not any(hasattr(library, name) for name in names) else "?"


def gradients_jax() -> str:
    return "yes" if jax.grad(lambda x: x * x)(3.0) == 6.0 else "no"


def gradients_torch() -> str:
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return "yes" if x.grad == 6.0 else "no"


def products(library: Any) -> Callable[[], str]:
    return lambda: "yes" if callable(getattr(library, "matmul", None)) else "no"


def products_einx() -> str:
    found = einx.dot("a b, c b -> a c", MATRIX, MATRIX)
    return "yes" if found.tolist() == [[3.0, 3.0], [3.0, 3.0]] else "no"


# --- devices -----------------------------------------------------------------------------------


def devices_gpubcast() -> str:
    return "no" if isinstance(gb.array(MATRIX).device, str) else "?"


def devices_jax() -> str:
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("all",)), PartitionSpec("all"))
    return "yes" if jax.device_put(MATRIX, sharding).sharding == sharding else "no"


def devices_torch() -> str:
    from torch.distributed.tensor import DTensor

    return "`DTensor`" if issubclass(DTensor, torch.Tensor) else "?"


def runs_gpubcast() -> str:
    found = gb.array(MATRIX)
    made = gb.plan("neg", "f32[8]").cuda_source("sm_90")
    return "CPU; for GPUs see below" if found.device == "cpu" and "__global__" in made else "?"


def runs_numpy() -> str:
    return "CPU" if MATRIX.device == "cpu" else "?"


PROBES: dict[tuple[int, str], Callable[[], str]] = {
    (0, "gpubcast"): rank_gpubcast, (0, "NumPy"): rank_numpy, (0, "JAX"): rank_jax,
    (0, "PyTorch"): rank_torch, (0, "einx"): rank_einx,
    (1, "gpubcast"): names_gpubcast, (1, "NumPy"): einsum(np), (1, "CuPy"): einsum(cupy),
    (1, "JAX"): einsum(jax.numpy), (1, "PyTorch"): einsum(torch), (1, "einx"): names_einx,
    (2, "gpubcast"): kernels_gpubcast, (2, "NumPy"): kernels_numpy, (2, "CuPy"): kernels_cupy,
    (2, "JAX"): kernels_jax, (2, "PyTorch"): kernels_torch,
    (3, "gpubcast"): sizes_gpubcast, (3, "NumPy"): sizes_numpy, (3, "JAX"): sizes_jax,
    (3, "PyTorch"): sizes_torch,
    (4, "gpubcast"): memory_gpubcast, (4, "NumPy"): memory_numpy, (4, "CuPy"): memory_cupy,
    (4, "JAX"): memory_jax, (4, "PyTorch"): memory_torch,
    (5, "gpubcast"): sums_gpubcast, (5, "NumPy"): sums_numpy, (5, "JAX"): sums_jax,
    (5, "PyTorch"): sums_torch,
    (6, "gpubcast"): lengths_gpubcast, (6, "NumPy"): where(np), (6, "CuPy"): where(cupy),
    (6, "JAX"): where(jax.numpy), (6, "PyTorch"): lengths_torch, (6, "einx"): lengths_einx,
    (7, "gpubcast"): seen_gpubcast, (7, "JAX"): seen_jax, (7, "einx"): seen_einx,
    (8, "gpubcast"): gradients_gpubcast, (8, "NumPy"): lacks(np, "grad"),
    (8, "CuPy"): lacks(cupy, "grad"), (8, "JAX"): gradients_jax, (8, "PyTorch"): gradients_torch,
    (9, "gpubcast"): products(gb), (9, "NumPy"): products(np), (9, "CuPy"): products(cupy),
    (9, "JAX"): products(jax.numpy), (9, "PyTorch"): products(torch), (9, "einx"): products_einx,
    (10, "gpubcast"): devices_gpubcast, (10, "JAX"): devices_jax, (10, "PyTorch"): devices_torch,
    (11, "gpubcast"): runs_gpubcast, (11, "NumPy"): runs_numpy,
}  # fmt: skip


@pytest.mark.parametrize(("row", "library"), PROBES)
def test_a_cell_is_what_the_library_answers(row: int, library: str) -> None:
    assert PROBES[row, library]() == FEATURES[row].cells[LIBRARIES.index(library)]


def test_every_other_cell_names_its_source() -> None:
    for row, feature in enumerate(FEATURES):
        assert len(feature.cells) == len(LIBRARIES)
        read = [library for library, url in feature.sources if url.startswith("https://")]
        asked = [library for number, library in PROBES if number == row]
        assert sorted(read + asked) == sorted(LIBRARIES), feature.name


def test_the_readme_has_this_table(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    assert feature_table.table() in text
    assert feature_table.replaced(text) == text
    assert feature_table.replaced(text.replace("| not promised |", "| yes |")) == text
