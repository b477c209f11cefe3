"""The gallery's scripts that need another library: a StableHLO module and a PyTorch operator."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors
from tests.support.gallery_scripts import EXAMPLES
from tools import pictures
from tools.site.gallery import plans


@pytest.fixture
def stablehlo_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    doors.library("jaxlib")
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("stablehlo_module")


@pytest.fixture
def torch_operator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    doors.library("torch")
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("torch_operator")


def test_the_pictures_of_their_plans_are_drawn_of_them(
    stablehlo_module: ModuleType, torch_operator: ModuleType
) -> None:
    for name, draw in pictures.GALLERY.items():
        drawn = draw({"stablehlo_module": stablehlo_module, "torch_operator": torch_operator}[name])
        assert drawn == (pictures.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert set(pictures.GALLERY) == set(plans.COMMITTED)


# --- a StableHLO module ---------------------------------------------------------------------------


def test_the_module_is_one_kernel_with_the_bits_of_jaxs_own(
    stablehlo_module: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    doors.library("jax")
    assert stablehlo_module.main(["--html", str(tmp_path / "plan.html")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("<gpubcast.StablehloFunction @main(f32[?,256,256])>, from ")
    # Every score is read once, every weight is written once.
    assert lines[1] == f"f32[8, 256, 256]: 1 kernel, {2 * 8 * 256 * 256 * 4:,} bytes"
    assert lines[2:4] == ["within 14 ulp of NumPy's", "JAX's own module gives the same bits"]
    assert [line.partition(":")[0] for line in lines[4:]] == ["gpubcast", "JAX"]
    assert (tmp_path / "plan.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_one_kernel_serves_other_numbers_of_heads(stablehlo_module: ModuleType) -> None:
    function = gb.from_stablehlo(stablehlo_module.MODULE)
    # On the CPU there is another one for what is larger than a cache.
    plans = [function.plans(f"f32[{heads},256,256]")[0] for heads in (2, 8, 300)]
    assert len({plan.cuda_source("sm_90") for plan in plans}) == 1
    x = stablehlo_module.operand("small")
    np.testing.assert_array_equal(function(x)[:3], function(x[:3]))


def test_without_jax_it_says_so(
    stablehlo_module: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    assert stablehlo_module.main([]) == 0
    printed = capsys.readouterr().out
    assert "JAX is not installed: pip install 'gpubcast[jax]'" in printed
    assert "gpubcast: " in printed and "JAX: " not in printed


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("compare GE, %query, %key", "compare GT, %query, %key"),
        ("stablehlo.divide %e, %all", "stablehlo.divide %e, %top"),
    ],
)
def test_another_module_is_wrong(
    stablehlo_module: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    right: str,
    other: str,
) -> None:
    assert right in stablehlo_module.MODULE
    monkeypatch.setattr(stablehlo_module, "MODULE", stablehlo_module.MODULE.replace(right, other))
    assert stablehlo_module.main([]) == 1
    assert "WRONG" in capsys.readouterr().out


# --- a PyTorch operator ---------------------------------------------------------------------------


def test_the_operator_has_eager_pytorchs_results_and_gradients(
    torch_operator: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert torch_operator.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("forward 1 kernel, backward 2: <gpubcast.Plan gradient of ")
    assert lines[1].endswith(": as eager PyTorch's in double precision")
    passes = ("gpubcast, forward", "gpubcast, backward", "PyTorch, forward", "PyTorch, backward")
    assert [line.partition(":")[0] for line in lines[2:]] == list(passes)


@pytest.mark.parametrize("number", range(3))
def test_a_wrong_gradient_is_noticed(torch_operator: ModuleType, number: int) -> None:
    """The gradient that arrives at one operand is scaled, and the result is right."""
    import torch

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(context: Any, arrived: Any) -> Any:
            return arrived * 1.0001

    def planted(*given: Any) -> Any:
        changed = [Scaled.apply(x) if k == number else x for k, x in enumerate(given)]
        return torch_operator.operator(*changed)

    given, arrived = torch_operator.operands("small")
    assert torch_operator.wrong(torch_operator.operator, given, arrived) == []
    name = torch_operator.NAMES[1 + number]
    (found,) = torch_operator.wrong(planted, given, arrived)
    assert found.startswith(f"WRONG: {name} is off by 1.0e-04 of the largest")


def test_a_wrong_result_is_noticed(
    torch_operator: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = torch_operator.operator
    monkeypatch.setattr(torch_operator, "operator", lambda *given: right(*given) + 1e-3)
    assert torch_operator.main([]) == 1
    assert "WRONG: result is off by " in capsys.readouterr().out
