"""One kernel of each family and type, with whole tiles, several of them and edges.

``python -m tests.ptx.sweep`` runs every operation.
"""

from __future__ import annotations

import pytest

from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.ptx import sweep
from tests.ptx.sweep_jobs import FAMILIES, Family, Job, differing, expected, jobs, operands

JOBS = list(jobs())
NAMES = {"flat": "FLAT", "rows": "ROWS", "phase": "PHASE", "running": "RUNNING", "xpose": "XPOSE",
         "gather": "GATHER", "rows, gaps": "ROWS", "xpose, gaps": "XPOSE"}  # fmt: skip


def chosen(family: Family) -> list[Job]:
    """An operation for each type, another one in each family."""
    picked = []
    for number, kind in enumerate(ELEMENT_TYPES):
        own = [job for job in JOBS if job.element_type == kind]
        picked.append(own[(11 * FAMILIES.index(family) + 5 * number) % len(own)])
    return picked


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(f, id=f.name, marks=() if f.name == "phase" else pytest.mark.long)
        for f in FAMILIES
    ],
)
def test_one_kernel_of_each_type(family: Family, arch: str) -> None:
    table = sweep.run(family, chosen(family), [arch])
    faults = [fault for counts in table.values() for fault in counts.faults]
    assert not faults, "\n".join(faults)
    assert (arch, NAMES[family.name]) in table
    assert sum(counts.executed for counts in table.values()) >= len(ELEMENT_TYPES)


def test_every_type_and_most_operations_have_jobs() -> None:
    assert {job.element_type for job in JOBS} == set(ELEMENT_TYPES)
    assert len({job.name for job in JOBS}) > 70 and len(JOBS) > 1500


def test_a_wrong_bit_is_a_difference() -> None:
    """The comparison can fail: in one element, of a NaN that is moved, and of a zero's sign."""
    for name, element, word in (("add", 7, 1), ("select", 5, 1), ("neg", 3, 1 << 31)):
        job = next(j for j in JOBS if (j.name, j.element_type) == (name, "f32"))
        given = operands(job, FAMILIES[0])
        wanted = expected(job, FAMILIES[0], given).copy()
        words = wanted.view("u4")
        words[element] = {"add": 0x3F800000, "select": 0x7FC00001, "neg": 0}[name]
        found = wanted.copy()
        assert not differing(job, found, wanted).any()
        found.view("u4")[element] ^= word
        assert differing(job, found, wanted).tolist().index(True) == element
