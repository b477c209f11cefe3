"""Every case of the benchmarks: ``explain`` says which schedule each device runs, why, and how long
it may take."""

from __future__ import annotations

import re

import pytest

from bench.acceptance_targets import ROWS
from bench.cases import CASES, Case
from gpubcast.families import CudaTarget, Family
from gpubcast.schedule import schedule
from gpubcast.streams import ALIGNED

SMALL, LARGE = 64, 1 << 24
EVERY = tuple({case.name: case for case in (*CASES, *(row.case for row in ROWS))}.values())
LARGE_FAMILIES = {
    "FLAT": {"same shape", "scalar", "masked select", "gelu"},
    "PHASE": {"(N,3)+(3)", "rank-6 alternating"},
    "XPOSE": {"transposed operand", "3-D permutation"},
}


@pytest.mark.parametrize("elements", [SMALL, LARGE])
@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_explain_names_the_schedule(case: Case, elements: int) -> None:
    for dtype in case.dtypes:
        plan = case.at(elements, dtype).plan
        explanation = plan.explain()
        text = str(explanation)
        for card in explanation.cards:
            facts = dict(card.facts)
            arch = "sm_90" if card.device == "cuda" else None
            assert facts["schedule"] == plan.schedule(arch).reason
            assert re.fullmatch(
                r"(under 1|[\d,]+\.\d) us\b.* at [\d.]+ .B/s, nominal: .+", facts["time"]
            )
        merged = plan.broadcast_plan
        chosen = schedule(merged, CudaTarget("sm_90", 132), (ALIGNED,) * len(merged.accesses))
        said = chosen.reason.split("; blocks go")[0]  # which depends on the number of processors
        assert said.startswith(f"{chosen.family.name}: ")
        assert said in " ".join(text.split())
        assert chosen.family is not Family.GATHER


def test_large_cases_have_the_schedule_they_are_there_for() -> None:
    found: dict[str, set[str]] = {}
    for case in CASES:
        plan = case.at(LARGE).plan.broadcast_plan
        chosen = schedule(plan, CudaTarget("sm_90", 132), (ALIGNED,) * len(plan.accesses))
        found.setdefault(chosen.family.name, set()).add(case.name)
    rows = found.pop("ROWS")
    assert found == LARGE_FAMILIES
    assert rows == {case.name for case in CASES} - set().union(*LARGE_FAMILIES.values())
