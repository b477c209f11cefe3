"""What reductions become: instructions, registers, spills and access widths; no GPU needed."""

from __future__ import annotations

from typing import Any

import pytest

import gpubcast as gb
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.row_reduction import LANES_OF_THREAD, CudaRowReduction
from tests.compile.compiled_reductions import (
    BUDGETS,
    call,
    column_softmax,
    column_sum,
    local_memory,
    made,
)
from tests.compile.sass import nvdisasm
from tests.compile.test_operations import ARCHITECTURES, EVERY_ARCHITECTURE

long = pytest.mark.long
pytestmark = pytest.mark.skipif(nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")


@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
@pytest.mark.parametrize("columns", [8192, pytest.param(32768, marks=long)])
@pytest.mark.parametrize("name", BUDGETS)
def test_budgets(name: str, columns: int, arch: str) -> None:
    function, shapes = call(name, columns)
    chosen, found = made(arch, function, *shapes)
    assert isinstance(chosen, CudaRowReduction) and chosen.held and chosen.even
    per_element = found.tile / (chosen.steps * LANES_OF_THREAD)
    assert 0 < per_element <= BUDGETS[name][columns == 32768], per_element
    assert not local_memory(found)
    assert found.registers * chosen.most_threads <= 65536
    # Vectors of 16 bytes: the row once, and what is made of it.
    assert found.wide_loads == chosen.steps * len(shapes)
    assert found.wide_stores == chosen.steps * (name in ("softmax", "layer_norm"))


# Each on one architecture, and the first on all.
LENGTHS = (8004, 100, 500, 16001, 32001, 32004)
TURNS = [
    pytest.param(n, arch, marks=() if (n, arch) == (8004, "sm_90") else long)
    for k, n in enumerate(LENGTHS)
    for arch in (ARCHITECTURES if k == 0 else ARCHITECTURES[k % 3 :][:1])
]


@pytest.mark.parametrize(("columns", "arch"), TURNS)
@pytest.mark.parametrize("name", BUDGETS)
def test_rows_of_any_length_stay_in_registers(name: str, columns: int, arch: str) -> None:
    function, shapes = call(name, columns)
    chosen, found = made(arch, function, *shapes)
    assert isinstance(chosen, CudaRowReduction) and chosen.held
    assert not local_memory(found)


FUNCTIONS = {
    "add": lambda x, y: x + y,
    "div": lambda x, y: x / y,
    "erf": lambda x, y: gb.erf(x),
    "lgamma": lambda x, y: gb.lgamma(x),
    "pow": gb.pow,
    "sin": lambda x, y: gb.sin(x),
}


# What is reduced, by label and sizes.
SIZES = (
    *(("col", (64, n)) for n in (8192, 512, 32768, 500)),
    *(("row", (500, 4096)), ("col", (64, 20001)), ("row", (5000, 4096))),
)
# Bytes of spills: a row of 32,768 elements takes half of the registers, and NVRTC's pow for sm_80
# some more than the other half. To compute the row again in each pass would take longer.
SPILLS = {("pow", "f32", "sm_80"): 112, ("pow", "bf16", "sm_80"): 8}


# On bf16 the least and the most that is computed: all of them run f32's code there, and round.
ON_TYPES = [
    (name, element_type)
    for name in FUNCTIONS
    for element_type in ("f32", "f64", "bf16")
    if element_type != "bf16" or name in ("add", "pow")
]


@long
@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
@pytest.mark.parametrize(("name", "element_type"), ON_TYPES)
def test_functions_take_no_local_memory(name: str, element_type: str, arch: str) -> None:
    """Three passes over what a function gives, along rows and along columns, each size on one
    architecture: NVRTC takes seconds for one kernel."""
    one = FUNCTIONS[name]
    turn = (ARCHITECTURES.index(arch) + list(FUNCTIONS).index(name)) % len(ARCHITECTURES)

    def scaled(label: str, other: str) -> Any:
        @gb.fuse(f"row col, {other} -> row col")
        def function(x: Any, y: Any) -> Any:
            e = one(x, y)
            d = e - gb.reduce_max(e, label)
            return d / gb.reduce_sum(d * e, label)

        return function

    wrong = []
    for label, sizes in SIZES[turn :: len(ARCHITECTURES)]:
        other = (sizes[1],) if label == "col" else (sizes[0],)
        shapes = gb.Shape(element_type, sizes), gb.Shape(element_type, other)
        chosen, found = made(arch, scaled(label, label), *shapes)
        allowed = SPILLS.get((name, element_type, arch), 0) if sizes == (64, 32768) else 0
        if (used := local_memory(found)) and found.spill_bytes > allowed:
            wrong.append(f"{chosen.name} {list(sizes)} {chosen.key_part}: {used}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
@pytest.mark.parametrize("function", [column_sum, column_softmax], ids=["sum", "softmax"])
def test_columns(function: Any, arch: str) -> None:
    for rows, columns in ((500, 4096), (5000, 8192)):  # of 4,096 columns it is two kernels
        chosen, found = made(arch, function, gb.Shape("f32", (rows, columns)))
        assert isinstance(chosen, CudaColumnReduction)
        assert not local_memory(found)
