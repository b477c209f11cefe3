"""Every case of the benchmarks: ``explain`` says which schedule each device runs, why, and how long
it may take."""

from __future__ import annotations

import re

import pytest

from bench.cases import CASES, TARGET_CASES, Case
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.vectors import ALIGNED
from gpubcast.schedules.schedule import CudaTarget

SMALL, LARGE = 64, 1 << 24
EVERY = (*CASES, *TARGET_CASES)
LARGE_FAMILIES = {
    "FLAT": {"same shape", "scalar", "masked select", "gelu"},
    "PHASE": {"(N,3)+(3)", "rank-6 alternating"},
    "XPOSE": {"transposed operand", "3-D permutation"},
    "ROW_REDUCTION": {
        "row sum", "full sum", "softmax", "layernorm", "rms norm", "logsumexp", "argmax"
    },
    "COLUMN_REDUCTION": {"column sum", "middle sum", "RBF sum"},
}  # fmt: skip


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
            if len(plan.broadcast_plans) == 1:
                assert facts["schedule"] == plan.schedule(arch).reason
            assert re.fullmatch(
                r"(under 1|[\d,]+\.\d) us\b.* at [\d.]+ .B/s, nominal: .+", facts["time"]
            )
        for merged in plan.broadcast_plans:
            chosen = schedule(merged, CudaTarget("sm_90", 132), (ALIGNED,) * len(merged.accesses))
            assert chosen.reason.startswith(f"{chosen.name}: ")
            assert chosen.reason in " ".join(text.split())
            assert not isinstance(chosen, Gather)


def test_large_cases_have_the_schedule_they_are_there_for() -> None:
    found: dict[str, set[str]] = {}
    for case in CASES:
        plan = case.at(LARGE).plan.broadcast_plans[0]
        chosen = schedule(plan, CudaTarget("sm_90", 132), (ALIGNED,) * len(plan.accesses))
        found.setdefault(chosen.name, set()).add(case.name)
    rows = found.pop("ROWS")
    assert found == LARGE_FAMILIES
    assert rows == {case.name for case in CASES} - set().union(*LARGE_FAMILIES.values())
