"""Other processors: kernels compile for them, and code of one is not another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import emulated_processor, processor_bits, reduction_bits, vector_kernels

# AArch64 with NEON alone and with vectors of a length that code does not know; x86 with SSE2 alone.
TARGETS = (
    ("aarch64-unknown-linux-gnu", "generic"),
    ("aarch64-unknown-linux-gnu", "neoverse-v1"),
    ("x86_64-unknown-linux-gnu", "x86-64"),
)


@pytest.mark.long
@pytest.mark.parametrize(("triple", "processor"), TARGETS)
def test_kernels_compile_for_other_processors(
    triple: str, processor: str, repository: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.processors", triple, processor],
        cwd=repository, capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one[0].partition(",")[0] for one in told} > {
        "transposed",
        "exp f64",
        "run_parts",
        "replay",
    }
    assert any(" | RUNS " in one[0] for one in told) and any(" | TILES " in one[0] for one in told)
    assert [one for one in told if one[1:] != [True, []]] == []


PLANTED = """
from gpubcast.backends.cpu.threads import team_loop
from tests.support import processors
team_loop.architecture = lambda: "x86_64"
processors.calls = lambda: iter(())
processors.main("aarch64-unknown-linux-gnu", "generic")
"""


def test_an_instruction_of_another_processor_is_seen(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLANTED],
        cwd=repository, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode != 0 and "llvm.x86.sse2.pause" in done.stderr


FIRST = """
import sys
import numpy as np
import gpubcast as gb
x = np.arange(6, dtype=np.float32)
assert (gb.add(x, x) == 2 * x).all()
print("numba" in sys.modules)
"""


@pytest.mark.long
def test_code_for_one_processor_is_not_loaded_for_another(tmp_path: Path) -> None:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_CPU_")}
    other = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    compiled = []
    for changed in ({}, other, {}, other):
        environment = plain | changed | {"GPUBCAST_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", FIRST], env=environment, capture_output=True, text=True,
            timeout=100, check=True,
        )  # fmt: skip
        compiled.append(done.stdout.strip())
    assert compiled == ["True", "True", "False", "False"]


def test_another_machine_has_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    here = object_cache._surroundings.__wrapped__()
    monkeypatch.setattr(object_cache.processor, "identity", lambda: ("another",))
    assert object_cache._surroundings.__wrapped__() != here


# Of steps, tables, rare branches, division and conversions.
SHORT = (
    "exp f32",
    "log f64",
    "tanh f32",
    "pow f32",
    "sin f64",
    "atan c64",
    "rem f32",
    "f64 to s64",
)


def bits(target: str, repository: Path, *labels: str, by: str = "processor_bits") -> dict[str, str]:
    """The digests of results on a processor."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", f"tests.support.{by}", target, *labels],
        cwd=repository, capture_output=True, text=True, timeout=1700, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


def test_processors_that_run_here_give_the_same_bits(repository: Path) -> None:
    """Of those with the most and with the fewest instructions, and one between."""
    here = processor_bits.runnable()
    found = [bits(target, repository, *SHORT) for target in {here[0], here[1], here[-1]}]
    assert set(found[0]) == set(SHORT) and found == found[:1] * len(found)


# The cross products are cut, so that none of the tests is long.
PARTS = 6


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_function_has_the_same_bits_on_every_processor(part: int, repository: Path) -> None:
    """On the processor with the fewest instructions, and each on two others."""
    first, *others = processor_bits.runnable()
    labels = [kernel.label for kernel in vector_kernels.kernels()][part::PARTS]
    wanted = bits(first, repository, *labels)
    assert set(wanted) == set(labels)
    for turn, target in enumerate(others):
        some = [label for k, label in enumerate(labels) if (k - turn) % len(others) < 2]
        found = bits(target, repository, *some)
        assert found == {label: wanted[label] for label in some}, target


# By lanes and across them, of keys, of narrow types; sequences within sequences, chunks of chunks.
REDUCTIONS = (
    *("reduce_sum f32", "reduce_max f64", "normalised f32", "pairs f32", "whole f32"),
    *("far f32", "far f64"),
)


@pytest.mark.long
def test_reductions_have_the_same_bits_on_processors_that_run_here(repository: Path) -> None:
    """Of those with the fewest and with the most instructions; what comes from memory on the one
    before that, too."""
    here = processor_bits.runnable()
    first = bits(here[0], repository, *REDUCTIONS, by="reduction_bits")
    assert set(first) == set(REDUCTIONS)
    assert bits(here[-1], repository, *REDUCTIONS, by="reduction_bits") == first
    far = [label for label in REDUCTIONS if label.startswith("far")]
    for target in here[1:][-2:-1]:  # Where there are three: of two, both have been compared.
        assert bits(target, repository, *far, by="reduction_bits") == {k: first[k] for k in far}


def reductions() -> list[str]:
    """The reductions to compare: of those on f8, which are converted and then f32, and on integers,
    whose results no rounding and no order changes, one in five."""
    types = {label: ELEMENT_TYPES[label.split()[1]] for label in reduction_bits.CALLS}
    some = [
        label
        for label, one in types.items()
        if one.bits == 8 or not (one.is_floating or one.is_complex)
    ]
    return [label for label in types if label not in some] + some[::5]


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_reduction_has_the_same_bits_on_every_processor(part: int, repository: Path) -> None:
    """On the processor with the fewest instructions, and by turns on one with AVX2 and on the two
    with the most: a compiler takes seconds for a reduction."""
    here = processor_bits.runnable()
    labels = reductions()[part::PARTS]
    found = bits(here[0], repository, *labels, by="reduction_bits")
    assert set(found) == set(labels)
    turns = [*dict.fromkeys((here[1], *here[-2:]))]
    others = {target: labels[k :: len(turns)] for k, target in enumerate(turns)}
    for target, some in others.items():
        other = bits(target, repository, *some, by="reduction_bits")
        assert other == {label: found[label] for label in some}, target


@pytest.mark.long
@pytest.mark.skipif(
    bool(emulated_processor.missing()), reason="no qemu-aarch64 or compiler for AArch64"
)
@pytest.mark.parametrize("target", ["neoverse-n1", "neoverse-v1"])
def test_aarch64_has_the_same_bits(target: str, repository: Path) -> None:
    here = bits(processor_bits.runnable()[0], repository)
    found = bits(target, repository, by="emulated_processor")
    assert {k for k, digest in found.items() if digest != here[k]} == set()
    assert set(found) == set(here)


@pytest.mark.long
@pytest.mark.skipif(
    bool(emulated_processor.missing()), reason="no qemu-aarch64 or compiler for AArch64"
)
@pytest.mark.parametrize(
    ("target", "labels"),
    [
        ("neoverse-n1", ("reduce_sum f32", "pairs f32", "whole f32", "reduce_sum bf16")),
        ("neoverse-v1", ("reduce_max f64", "normalised f32", "reduce_prod c64", "argmax f32")),
    ],
)
def test_reductions_have_the_same_bits_on_aarch64(
    target: str, labels: tuple[str, ...], repository: Path
) -> None:
    here = bits(processor_bits.runnable()[0], repository, *labels, by="reduction_bits")
    assert bits(target, repository, *labels, by="emulated_reductions") == here


def test_one_wrong_bit_in_a_result_is_seen() -> None:
    x = processor_bits.sample("f32", 0)
    y = x.copy()
    y.view(np.uint32)[7] ^= 1
    other = np.where(np.isnan(x), -np.float32(np.nan), x)
    assert processor_bits.digest(x) == processor_bits.digest(other) != processor_bits.digest(y)


ASKED = """
from tests.support import vector_kernels
from gpubcast.backends.cpu import processor
vector_kernels.aim({target!r}, features={features!r})
names = "has_avx2", "has_avx512", "has_fma", "has_sve", "converts_halves", "reads_ahead"
print(*(name for name in names if getattr(processor, name)()))
"""


@pytest.mark.parametrize(
    ("target", "features", "wanted"),
    [
        ("x86-64-v2", "", "reads_ahead"),
        ("znver3", "", "has_avx2 has_fma converts_halves reads_ahead"),
        ("znver3", "-fma", "has_avx2 converts_halves reads_ahead"),
        ("znver4", "", "has_avx2 has_avx512 has_fma converts_halves"),
        ("neoverse-n1", "", "has_fma converts_halves"),
        ("neoverse-v1", "", "has_fma has_sve converts_halves"),
    ],
)
def test_a_named_processor_has_its_features(
    target: str, features: str, wanted: str, repository: Path
) -> None:
    """Whether numba is told of them or not."""
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(target=target, features=features)],
        cwd=repository, capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == wanted
