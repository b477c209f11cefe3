"""CUB's transforms as a peer, with a module that stands for ``cuda.compute``: which cases it has,
and what it is handed."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from bench.cases import CASES, Case
from bench.libraries.cub import Cub


def case(name: str) -> Case:
    return next(one for one in CASES if one.name == name)


@pytest.fixture
def compute(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module that has its two functions, which compute at once, with NumPy."""
    module = types.ModuleType("cuda.compute")

    def make(*, op: Any, d_out: Any, **inputs: Any) -> Any:
        def transform(*, op: Any, num_items: int, d_out: Any, **given: Any) -> None:
            assert all(x.ndim == 1 and x.flags.c_contiguous for x in (*given.values(), d_out))
            assert {x.size for x in (*given.values(), d_out)} == {num_items}
            assert list(given) in (["d_in"], ["d_in1", "d_in2"])
            d_out[...] = [op(*one) for one in zip(*given.values(), strict=True)]

        return transform

    module.make_unary_transform = module.make_binary_transform = make  # type: ignore[attr-defined]
    cuda = types.ModuleType("numba.cuda")
    cuda.jit = lambda function, device: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda.compute", module)
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    return module


@pytest.mark.parametrize("name", ["same shape", "gelu"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_it_computes(compute: types.ModuleType, name: str, order: Any) -> None:
    sized = case(name).at(64, "f32")
    views = tuple(np.asarray(x.view(), order=order) for x in sized.operands(np, 1))
    out = np.zeros(sized.output.dimensions, np.float32, order=order)
    ((entry, call),) = Cub().ready(sized)(views, out).items()
    assert entry == "out" and call() is out
    np.testing.assert_allclose(out, np.asarray(sized.function()(*views)), rtol=1e-5)


def test_where_it_is_no_peer() -> None:
    unsupported = {one.name for one in CASES if Cub().unsupported(one.at(4096, one.dtypes[0]))}
    assert {one.name for one in CASES} - unsupported == {"same shape", "gelu"}
    assert Cub().unsupported(case("same shape").at(64, "bf16"))


def test_it_is_absent_where_it_is_not_installed() -> None:
    if "cuda.compute" not in sys.modules:
        assert Cub().absent("cuda", 1) == "cuda.compute is not installed"
