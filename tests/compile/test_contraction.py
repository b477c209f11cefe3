"""Machine code computes what PTX says, and nothing is contracted, flushed or approximated.

PTX is executed in ``tests/ptx``; between it and the machine are ptxas and its own sequences for
division and roots, which are counted here for every operation on floats, on sm_90 and on sm_100.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gpubcast.hlo.ops import OPS
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.compile import sass
from tests.compile.contraction import Arithmetic, arithmetic
from tests.compile.test_operations import ARCHITECTURES, KERNELS, UNIT, source
from tests.support import complex_numbers
from tests.support.ptx import compile as compiler

pytestmark = pytest.mark.skipif(
    sass.nvdisasm() is None, reason="nvidia-cuda-nvdisasm is not installed"
)

FLOATS = [
    (name, kind, said)
    for name, kind, said in KERNELS
    if ELEMENT_TYPES[kind].is_floating and OPS[name].cuda is not None
]
COMPLEX = [(row.name, kind.name, {}) for row, kind in complex_numbers.rows()]
EVERY = FLOATS + COMPLEX
# The flags that are given up here, and what that must be noticed by.
FAULTS = [
    ("mul", "-fmad=true", None),
    ("erf", "-fmad=true", r"may be contracted|FFMA for"),
    ("sub", "-ftz=true", r"\.ftz|FTZ"),
    ("div", "-prec-div=false", r"in PTX"),
    ("sqrt", "-prec-sqrt=false", r"in PTX"),
]


def entry_of(text: str) -> str:
    found = re.search(r"\b(gb_[0-9a-f]{16})\(const", text)
    assert found is not None
    return found[1]


def made(texts: dict[str, str], arch: str, options: tuple[str, ...] = ()) -> dict[str, Arithmetic]:
    """By label: the arithmetic of some kernels that are compiled together."""
    unit = "\n".join(dict.fromkeys(texts.values()))
    image = sass.compiled(unit, arch, options).image
    found = arithmetic(compiler.ptx(unit, arch, options), sass.opcodes(image))
    return {label: found[entry_of(text)] for label, text in texts.items()}


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, len(EVERY), UNIT))
def test_arithmetic_is_that_of_the_source(first: int) -> None:
    """On sm_90, and every fourth unit on another architecture."""
    texts = {
        f"{name} {kind} {said}": source(name, kind, Flat, **said)
        for name, kind, said in EVERY[first : first + UNIT]
    }
    for arch in ("sm_90", ARCHITECTURES[-1])[: 1 + (first // UNIT % 4 == 0)]:
        for label, found in made(texts, arch).items():
            faults = found.faults(approximate=label.startswith("rem "))
            assert not faults, f"{label} on {arch}: {', '.join(faults)}"


def test_a_developers_part() -> None:
    texts = {name: source(name, "f32", Flat) for name in ("add", "exp", "div", "rem")}
    for label, found in made(texts, "sm_90").items():
        assert not found.faults(approximate=label == "rem"), label


@pytest.mark.parametrize(("name", "flag", "noticed"), FAULTS, ids=lambda x: str(x)[:12])
def test_other_flags_are_noticed(name: str, flag: str, noticed: str | None) -> None:
    """A product alone has nothing to be contracted with."""
    (found,) = made({name: source(name, "f32", Flat)}, "sm_90", (flag,)).values()
    faults = ", ".join(found.faults())
    assert re.search(noticed, faults) if noticed else "FFMA" not in faults


def test_a_contraction_and_a_flush_in_machine_code_are_noticed() -> None:
    """What PTX does not show: one more FFMA, an FMUL that flushes, an approximation, a spill."""
    (fine,) = made({"exp": source("exp", "f32", Flat)}, "sm_90").values()
    assert not fine.faults()
    for opcode in ("FFMA", "FMUL.FTZ", "MUFU.EX2", "LDL.64"):
        worse = Arithmetic(fine.ptx, fine.sass + Counter([opcode]))
        assert opcode.split(".")[0] in ", ".join(worse.faults())
