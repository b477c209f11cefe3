"""Every case of the benchmarks: ``explain`` says which schedule a GPU runs, and why."""

from __future__ import annotations

import pytest

from bench.cases import CASES, Case
from gpubcast.families import CudaTarget, Family
from gpubcast.schedule import schedule

SMALL, LARGE = 64, 1 << 24
# Rows of 13 elements that lie 16 apart, in the output too: too short for ROWS, and not without the
# gaps that PHASE does not write.
GATHERED = {("padded rows", SMALL)}
LARGE_FAMILIES = {
    "FLAT": {"same shape", "scalar", "masked select", "gelu"},
    "PHASE": {"(N,3)+(3)", "rank-6 alternating"},
    "XPOSE": {"transposed operand", "3-D permutation"},
}


@pytest.mark.parametrize("elements", [SMALL, LARGE])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_explain_names_the_schedule(case: Case, elements: int) -> None:
    for dtype in case.dtypes:
        plan = case.at(elements, dtype).plan
        text = str(plan.explain())
        merged = plan.broadcast_plan
        chosen = schedule(merged, CudaTarget("sm_90", 132), (16,) * len(merged.accesses))
        said = chosen.reason.split("; blocks go")[0]  # which depends on the number of processors
        assert said.startswith(f"{chosen.family.name}: ")
        assert said in " ".join(text.split())
        assert (chosen.family is Family.GATHER) == ((case.name, elements) in GATHERED)


def test_large_cases_have_the_schedule_they_are_there_for() -> None:
    found: dict[str, set[str]] = {}
    for case in CASES:
        plan = case.at(LARGE).plan.broadcast_plan
        chosen = schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))
        found.setdefault(chosen.family.name, set()).add(case.name)
    rows = found.pop("ROWS")
    assert found == LARGE_FAMILIES
    assert rows == {case.name for case in CASES} - set().union(*LARGE_FAMILIES.values())
