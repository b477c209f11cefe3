"""What a run measures: units, libraries and how closely, as the options choose."""

from __future__ import annotations

import argparse

import pytest

from bench import arguments
from bench.cases import CASES
from bench.measure.settings import Settings
from bench.measure.settings import settings as bench_settings


def options(*words: str) -> argparse.Namespace:
    return arguments.parser("bench").parse_args(words)


def settings(*words: str) -> Settings:
    return bench_settings(options(*words), "cpu")


# --- options -----------------------------------------------------------------------------------


def test_the_extent_of_a_run() -> None:
    usual, quick, full = settings(), settings("--quick"), settings("--full")
    assert {u.size for u in usual.units} == {"cache", "memory"}
    assert {u.size for u in quick.units} == {"cache"}
    assert {u.size for u in full.units} == {"small", "cache", "memory", "huge"}
    assert {u.dtype for u in usual.units} == {"f32", "bf16"}
    assert {u.dtype for u in full.units} == {"f32", "f64", "bf16", "s32", "u8"}
    # Neither the one of more than 2**31 elements nor that of all pairs.
    assert len(quick.units) == len(CASES) - 2
    assert "RBF sum" not in {u.case.name for u in usual.units}
    assert {u.case.name for u in settings("--cases", "RBF*").units} == {"RBF sum"}
    assert (quick.seconds, usual.seconds, full.seconds) == (12.0, 50.0, 3600.0)
    assert quick.samples < usual.samples == full.samples
    names = [[library.name for library in s.libraries] for s in (quick, usual, full)]
    assert names[0] == ["gpubcast", "NumPy", "numexpr", "PyTorch"]
    assert set(names[1]) - set(names[0]) == {"numba", "jax.jit"}
    assert set(names[2]) - set(names[1]) == {"torch.compile", "KeOps"}
    assert full.memory_bytes > usual.memory_bytes == 64 << 20
    assert "CuPy" in [x.name for x in bench_settings(options(), "cuda").libraries]


def test_what_the_time_may_not_allow_comes_last() -> None:
    """Each case is measured in its first type before any other, the smaller sizes first."""
    units = settings("--full").units
    first = [unit.dtype == unit.case.dtypes[0] for unit in units]
    assert first == sorted(first, reverse=True)
    leading = units[: sum(first)]
    assert {unit.case.name for unit in leading} == {case.name for case in CASES}
    sizes = [arguments.SIZES.index(unit.size) for unit in leading]
    assert sizes == sorted(sizes)


def test_what_is_chosen() -> None:
    chosen = settings("--cases", "outer*, gelu", "--dtype", "f64,bf16", "--sizes", "memory,small")
    assert [str(unit) for unit in chosen.units] == [
        "outer product f64 small", "outer product bf16 small", "gelu f64 small", "gelu bf16 small",
        "outer product f64 memory", "outer product bf16 memory", "gelu f64 memory",
        "gelu bf16 memory",
    ]  # fmt: skip
    assert [unit.first for unit in chosen.units] == [True] * 4 + [False] * 4
    assert [x.name for x in settings("--peers", "none").libraries] == ["gpubcast"]
    assert [x.name for x in settings("--peers", "torch.compile,numpy").libraries] == [
        "gpubcast", "torch.compile", "NumPy"
    ]  # fmt: skip
    given = settings("--seconds", "3.5", "--samples", "3", "--seed", "7")
    assert (given.seconds, given.samples, given.fewest, given.seed) == (3.5, 3, 3, 7)
    assert settings("--sizes", "huge").units[0].case.huge


@pytest.mark.parametrize(
    "words",
    [
        ("--quick", "--full"), ("--seconds", "0"), ("--seconds", "nan"), ("--samples", "0"),
        ("--device", "tpu"), ("--hang", "-1"),
    ],
)  # fmt: skip
def test_wrong_options(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as info:
        options(*words)
    assert info.value.code == 2
