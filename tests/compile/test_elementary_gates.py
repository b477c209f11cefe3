"""What elementary functions take, in machine code: formulas of f16 and bf16 leave the memory of an
H100 busy, the others have a stated budget. No GPU is involved."""

from __future__ import annotations

from collections import Counter

import pytest

from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen.cuda import elementary
from gpubcast.errors import CompileError
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import element_type
from tests.compile import gates, prediction, sass
from tests.compile.prediction import CARDS, Load
from tests.support import accuracy, halves

H100 = next(card for card in CARDS if card.name == "H100")
# Of H100's issue slots at the speed of a copy, for an element that is none of the few that a branch
# is for.
MOST = 0.60
# Instructions per element of the formula of f32, which f8 and where it says so f16 and bf16 run,
# too.
BUDGETS = {
    "acos": 60, "acosh": 87, "asin": 58, "asinh": 94, "atan": 59, "atan2": 66, "atanh": 85,
    "cbrt": 44, "cos": 49, "cosh": 44, "digamma": 197, "erf": 44, "erf_inv": 71, "erfc": 90,
    "exp": 39, "exp2": 39, "expm1": 37, "hypot": 62, "lgamma": 213, "log": 50, "log10": 50,
    "log1p": 64, "log2": 48, "logaddexp": 103,
    "logistic": 65, "pow": 116, "rsqrt": 40, "sin": 49, "sinh": 48, "tan": 65, "tanh": 44,
}  # fmt: skip
DEVELOPERS = (("tanh", "bf16"), ("exp", "f32"))
CASES = [(name, kind) for name in BUDGETS for kind in ("f16", "bf16", "f32")]


def needs_nvrtc() -> None:
    try:
        nvrtc.library()
    except CompileError as error:
        pytest.skip(f"needs NVRTC: {error}")


@pytest.mark.skipif(sass.nvdisasm() is None, reason="needs the nvidia-cuda-nvdisasm package")
@pytest.mark.parametrize(
    ("name", "kind"),
    [pytest.param(*case, marks=() if case in DEVELOPERS else pytest.mark.long) for case in CASES],
)
def test_functions(name: str, kind: str) -> None:
    needs_nvrtc()
    found = prediction.function_load(name, kind, H100.arch)
    assert not complaints(name, kind, found)


def complaints(name: str, kind: str, found: Load) -> list[str]:
    """What is wrong with a function's kernel."""
    wrong = []
    if not 0 < found.instructions <= BUDGETS[name]:
        wrong.append(f"{found.instructions:.1f} instructions, not at most {BUDGETS[name]}")
    slots = found.issued(H100)
    if OPS[name].halved(element_type(kind)) and slots > MOST:
        wrong.append(f"{100 * slots:.0f} % of the issue slots")
    if found.registers > gates.REGISTERS[gates.Flat] + 8 * (kind == "f32" or name == "pow"):
        wrong.append(f"{found.registers} registers")
    return wrong


@pytest.mark.parametrize("turn", [1, -1])
def test_one_program_includes_every_header(turn: int) -> None:
    """In whichever order: a kernel has those of all the functions that it calls."""
    needs_nvrtc()
    names = sorted(elementary.headers())[::turn]
    assert len(names) > 10
    nvrtc.compile_cubin("\n".join(f'#include "{name}"' for name in names), H100.arch)


def test_every_function_has_a_budget() -> None:
    assert set(BUDGETS) == {name for name, _ in accuracy.measurable()}
    assert {name for name, _ in halves.CASES} == {
        "exp", "exp2", "expm1", "log", "log1p", "log2", "tanh", "logistic", "rsqrt", "erf", "erfc",
    }  # fmt: skip
    assert len(halves.CASES) == 22


def test_a_longer_formula_is_noticed() -> None:
    good = Load(20.0, {}, 4.0, 32, 32)
    assert complaints("exp", "f16", good) == []
    assert complaints("exp", "f16", Load(24.0, {}, 4.0, 32, 32)) == ["61 % of the issue slots"]
    assert complaints("exp", "f32", Load(50.0, {}, 8.0, 32, 32)) == [
        "50.0 instructions, not at most 39"
    ]
    assert complaints("exp", "f16", Load(20.0, {}, 4.0, 32, 41)) == ["41 registers"]


def test_the_share_of_a_copy() -> None:
    """H100: 132 multiprocessors issue 128 lanes 1.755 * 10^9 times a second, and 3350 GB/s less a
    tenth are 754 * 10^9 elements of four bytes."""
    load = Load(39.34, {"ALU": 10.0, "FMA": 20.0}, 4.0, 32, 32)
    assert load.issued(H100) == pytest.approx(1, abs=1e-3)
    assert load.share(H100)[1] == ""
    share, name = Load(20, {"ALU": 15.0}, 4.0, 32, 32).share(H100)
    assert (round(share, 3), name) == (round(15 / 64 / (39.34 / 128), 3), "ALU")
    assert load.in_flight(H100) == pytest.approx(2048 * 32 / (32 * 1024))
    counted = Counter(
        map(prediction.pipe, ("FFMA", "IMAD.WIDE", "LOP3.LUT", "UIADD3", "LDG.E.128"))
    )
    assert counted == {"FMA": 2, "ALU": 1, "": 1, "LSU": 1}
