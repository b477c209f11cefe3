"""Kernels that count positions compile for every architecture, and read no memory."""

from __future__ import annotations

import re

import pytest

import gpubcast as gb
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from tests.compile import sass
from tests.compile.test_operations import EVERY_ARCHITECTURE

# Dimensions, the counted one, and the family that they take in a row-major or given layout.
PLACES = [
    ((1 << 16,), 0, None, Flat),
    ((256, 512), 0, None, Rows),
    ((256, 512), 1, None, Rows),
    ((40000, 3), 0, None, Phase),
    ((40000, 3), 1, None, Phase),
    ((5, 3, 40), 2, gb.Layout((0, 2, 1), (8, 3, 48), gb.PaddingValue.ONE), Phase),
    ((5, 300, 1), 1, gb.Layout((2, 1, 0), (5, 300, 2)), Rows),
    ((1500, 1), 0, gb.Layout((1, 0), (1500, 2)), Gather),
]
KINDS = ("bf16", "f32", "s64")


def sources(arch: str) -> list[str]:
    made = []
    for shape, dimension, layout, family in PLACES:
        for kind in KINDS:
            plan = gb.plan("broadcasted_iota", dtype=kind, shape=shape, dimension=dimension,
                           out_layout=layout)  # fmt: skip
            assert type(plan.schedule(arch)) is family
            made.append(plan.cuda_source(arch))
    return made


@pytest.mark.skipif(sass.nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed")
@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
def test_nothing_is_loaded_and_nothing_spills(arch: str) -> None:
    texts = sources(arch)
    made = sass.compiled("\n".join(texts), arch)
    reports = sass.report(made.image, made.log)
    assert len(reports) == len(texts)
    for text in texts:
        entry = re.search(r"\b(gb_[0-9a-f]{16})\(const", text)
        assert entry is not None
        found = reports[entry[1]]
        assert "L" not in found.order and "S" in found.order, text
        assert (found.spill_bytes, found.stack_bytes) == (0, 0), text
        assert "GATHERED" in text or found.wide_stores >= 1, text
