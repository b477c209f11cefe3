"""Types of a byte and less, reduce_precision and bitcasts between widths on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.literals import padding_bits
from gpubcast.shapes.element_types import ELEMENT_TYPES
from gpubcast.shapes.layout import PaddingValue
from tests.support import doors, small_types


@pytest.mark.parametrize("kind", small_types.F8, ids=str)
def test_every_f8_number_converts_to_every_type(kind) -> None:
    small_types.check_every_code(kind, "cpu", small_types.REAL)


@pytest.mark.parametrize("to", small_types.F8, ids=str)
def test_all_f16_and_bf16_numbers_convert_to_f8(to) -> None:
    small_types.check_halves(to, "cpu")


@pytest.mark.parametrize("to", small_types.F8, ids=str)
def test_f8_is_rounded_once(to) -> None:
    small_types.check_rounded_once(to, "cpu")


@pytest.mark.parametrize("kind", small_types.FOUR_BITS, ids=str)
def test_four_bits_of_a_byte(kind) -> None:
    small_types.check_four_bits(kind, "cpu")


@pytest.mark.parametrize("kind", small_types.FORMATS)
def test_reduce_precision(kind: str) -> None:
    small_types.check_reduce_precision(kind, "cpu")


@pytest.mark.parametrize(
    "kind", [*small_types.F8, *map(ELEMENT_TYPES.get, small_types.FORMATS)], ids=str
)
def test_reduce_precision_is_xlas(kind) -> None:
    """JAX runs XLA's own."""
    jax = doors.library("jax")
    words = f"u{kind.itemsize}"
    bits = small_types.patterns(kind).view(words) if kind.bits <= 16 else None
    if bits is None:
        bits = small_types.precision_values(kind.name)
    x = bits.view(kind.dtype)
    with jax.enable_x64(True), np.errstate(invalid="ignore"):
        for given in ((2, 1), (4, 2), (5, 1), (5, 10), (8, 3)):
            wanted = np.asarray(jax.lax.reduce_precision(x, *given))
            found = gb.reduce_precision(x, *given)
            nan = wanted != wanted
            assert (found.view(words)[~nan] == wanted.view(words)[~nan]).all(), given
            assert (found[nan] != found[nan]).all(), given


@pytest.mark.long
@pytest.mark.parametrize(("narrow", "wide"), small_types.BITCASTS)
def test_bitcast_between_widths(narrow: str, wide: str) -> None:
    small_types.check_bitcast(narrow, wide, "cpu")


@pytest.mark.parametrize("kind", [*small_types.HALVES, *small_types.F8], ids=str)
def test_moves_keep_the_bits(kind) -> None:
    small_types.check_moves_keep_bits(kind, "cpu")


def test_elements_that_are_not_aligned_for_the_wider_type_are_copied() -> None:
    memory = np.zeros(200, np.uint8)
    first = -memory.ctypes.data % 16
    taken = {}
    for offset in (0, 1, 0, 1, 4):
        x = memory[first + offset : first + offset + 64].reshape(16, 4)
        x[:] = np.arange(64, dtype=np.uint8).reshape(16, 4) + offset
        for _ in range(2):
            found = gb.bitcast_convert_type(x, "f32")
            assert found.tobytes() == x.tobytes()
        taken[offset] = x
    plan = gb.plan("bitcast_convert_type", "u8[16,4]", to="f32")
    out = np.zeros(16, np.float32)
    assert plan.bind(taken[4], out=out)().tobytes() == taken[4].tobytes()
    with pytest.raises(gb.LayoutError, match="not aligned") as caught:
        plan.bind(taken[1], out=out)
    assert caught.value.rule == "A8"


def test_a_bitcast_reads_what_an_output_overwrites_in_place() -> None:
    x = np.arange(16, dtype=np.float32)
    before = x.tobytes()
    gb.bitcast_convert_type(x, "u8", out=x.view(np.uint8).reshape(16, 4))
    assert x.tobytes() == before


@gb.fuse
def _halves_and_bytes(x: Any) -> Any:
    y = gb.add(x, 1.0)
    return gb.bitcast_convert_type(gb.bitcast_convert_type(y, "u16"), "u8"), gb.neg(y)


@gb.fuse
def _spread(x: Any) -> Any:
    wide = gb.broadcast_in_dim(x, (2, 3, 4), (1, 2))
    return gb.add(gb.bitcast_convert_type(wide, "f32"), 1.0)


def test_a_bitcast_of_what_is_computed_takes_another_kernel() -> None:
    x = np.float32([[1.5, -2.0], [0.1, 3e38]])
    with pytest.warns(gb.SplitWarning, match="a bitcast reads what is computed"):
        parts, negated = _halves_and_bytes(x)
    assert parts.shape == (2, 2, 2, 2) and parts.tobytes() == (x + 1).tobytes()
    assert (negated == -(x + 1)).all()


def test_a_bitcast_of_an_argument_stays_in_the_kernel() -> None:
    x = np.float32([1.5, -2.0, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _spread(x.view(np.uint8).reshape(3, 4))
        turned = _spread(np.asfortranarray(x.view(np.uint8).reshape(3, 4)))
    assert (found == x + 1).all() and (turned == x + 1).all() and found.shape == (2, 3)
    assert "u8" not in _spread.cpu_source("u8[3,4]")


def test_labels_refuse_a_bitcast_that_changes_the_rank() -> None:
    @gb.fuse("a b -> a b")
    def function(x):
        return gb.bitcast_convert_type(x, "u8")

    with pytest.raises(gb.ShapeError) as caught:
        function(np.zeros((2, 2), np.float32))
    assert caught.value.rule == "X8"


@pytest.mark.parametrize("kind", [*small_types.F8, *small_types.FOUR_BITS], ids=str)
def test_scalars_padding_and_arrays(kind) -> None:
    assert gb.full(f"{kind}[3]", 3).numpy().astype(int).tolist() == [3, 3, 3]
    low, high = (padding_bits(v, kind) for v in (PaddingValue.LOWEST, PaddingValue.HIGHEST))
    every = small_types.patterns(kind).astype(np.float32)
    ends = np.array([low, high], np.uint8).view(kind.dtype).astype(np.float32)
    assert ends.tolist() == [np.nanmin(every), np.nanmax(every)]
    layout = gb.Layout((0, 1), (3, 4), gb.PaddingValue.HIGHEST)
    x = gb.array(np.ones((2, 3), kind.dtype), layout=layout)
    assert x.numpy().astype(int).tolist() == [[1, 1, 1]] * 2
    assert x.buffer.view(np.uint8).tolist().count(high) == 6
    assert str(gb.empty(f"{kind}[2]").xla_shape) == f"{kind}[2]{{0}}"

    @gb.fuse
    def function(x, y):
        return gb.add(gb.mul(x, 2), y)

    assert function(x, 1).numpy().astype(int).tolist() == [[3, 3, 3]] * 2
    assert str(kind) in str(gb.plan("add", f"{kind}[4,8]", f"{kind}[4,8]").explain())


@pytest.mark.parametrize("given", [(0, 3), (4, -1), (True, 3), (2.0, 3), (None, 3)])
def test_reduce_precision_refuses_other_numbers_of_bits(given) -> None:
    with pytest.raises(gb.Error) as caught:
        gb.reduce_precision(np.ones(2, np.float32), *given)
    assert caught.value.rule == "T0"


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_each_operation_of_a_chain_is_rounded(dtype) -> None:
    x, y, z = (np.random.default_rng(k).standard_normal(3000).astype(dtype) for k in range(3))
    found = gb.fuse(lambda x, y, z: x * y + z)(x, y, z)
    assert found.tobytes() == (x * y + z).tobytes()
    assert (found != (x.astype("f4") * y.astype("f4") + z.astype("f4")).astype(dtype)).any()


@pytest.mark.parametrize("kind", small_types.FOUR_BITS, ids=str)
def test_moves_write_the_other_four_bits_as_0(kind, streaming: str) -> None:
    small_types.check_moves_of_four_bits(kind, "cpu")
