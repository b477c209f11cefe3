"""What kernels' and calls' keys are made of, on a CPU and on a GPU: the field's words."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from tests.support.recording import CudaRecorder, Recorder
from tools import lint_house

TYPES = ("pred", "s4", "u8", "s32", "f8e4m3fn", "bf16", "f16", "f32", "f64", "c64", "c128")
SHAPES = (
    ("[64,512]", "[64,512]"),
    ("[64,512]", "[512]"),
    ("[256,512]", "[256,512]{0,1}"),
    ("[9344,7]", "[7]"),
    ("[32,8,16]{0,2,1}", "[32,8,16]"),
    ("[33,31]{1,0:pad(40,32,zero)}", "[33,1]"),
    ("[3,400000]", "[3,400000]"),
)
# Operands and results whose memory is walked in other orders.
MOVED = (
    ("f32[32,8,512,1]{0,1,2,3}", "f32[32,8,512,1]{3,2,1,0:pad(32,8,512,2)}"),
    ("f32[256,511,1]{2,1,0:pad(256,512,2)}", "f32[256,511,1]"),
    ("f32[999,1]", "f32[999,1]{1,0:pad(999,2)}"),
)
DEVICES = ("cpu", "cuda")


def parts(key: Any) -> Iterator[str]:
    """Every text, type and field that a key is made of."""
    if isinstance(key, str):
        yield key
    elif isinstance(key, bytes):
        yield key.decode(errors="replace")
    elif isinstance(key, (tuple, list, frozenset, set)):
        for one in key:
            yield from parts(one)
    elif isinstance(key, dict):
        yield from parts(tuple(key.items()))
    elif isinstance(key, type):
        yield key.__name__
    elif isinstance(key, enum.Enum):
        yield from (type(key).__name__, key.name)
    else:
        yield type(key).__name__
        if dataclasses.is_dataclass(key):
            for field in dataclasses.fields(key):
                if field.compare:
                    yield field.name
                    yield from parts(getattr(key, field.name))


def violations(keys: Any) -> list[str]:
    return [f"{part}: {what}" for part in parts(keys) for what in lint_house.dialect(part)]


@gb.fuse
def normalised(x: Any, mean: Any, scale: float) -> Any:
    return gb.exp(x - mean) * scale, gb.sqrt(gb.abs(x))


@gb.fuse("row col, col -> row col", fast_math=True)
def weighted(x: Any, weight: Any) -> Any:
    return gb.tanh(x) * weight


@gb.fuse("row col, col -> row col")
def hoisted(x: Any, y: Any) -> Any:
    return x + gb.exp(y)


@gb.fuse("row col, row -> row col, row col")
def several(x: Any, scale: Any) -> Any:
    return x * gb.exp(scale), gb.max(x, scale)


def calls(device: str) -> Iterator[None]:
    """Calls of every type, family and way to call."""
    for name in TYPES:
        for left, right in SHAPES:
            x, y = (gb.empty(f"{name}{text}", device=device) for text in (left, right))
            placed = {"broadcast_dimensions": (1,)} if len(y.shape) < len(x.shape) else {}
            if len(x.shape) == len(y.shape) and name not in ("f8e4m3fn", "s4"):
                yield gb.eq(x, y)
            operation = gb.bitwise_and if name == "pred" else gb.add
            yield operation(x, y, **placed)
            yield operation(x, y, out=gb.empty(f"{name}{left}", device=device), **placed)
        yield gb.convert_element_type(x, "f32") if name[0] != "c" else gb.real(x)
    for operand, out in MOVED:
        yield gb.neg(gb.empty(operand, device=device), out=gb.empty(out, device=device))
    x, v = gb.empty("f32[64,512]", device=device), gb.empty("f32[512]", device=device)
    yield normalised(x, gb.empty("f32[64,512]", device=device), 2.0)
    yield weighted(x, v)
    yield hoisted(gb.empty("f32[7,512]", device=device), v)
    for rows in (64, 4096):
        wide, column = (gb.empty(f"f32[{n}]", device=device) for n in (f"{rows},512", rows))
        yield several(wide, column)
    yield gb.apply("r c, c -> r c", gb.mul, x, v)
    yield gb.plan("pow", "f32[64,512]", "f32[64,512]")(x, x)
    yield gb.add(x, 1.5)
    yield gb.clamp(0.0, x, 1.0)
    yield gb.iota("s32", 64, device=device)
    if device == "cpu":
        yield gb.mul(np.ones((4, 6), np.float32)[:, ::2], np.float32(3))


@pytest.fixture(scope="module")
def keys() -> dict[str, dict[str, list[Any]]]:
    """What is cached under which keys, by device, after calls that were made three times."""
    found = {}
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GPUBCAST_THREADS", "4")
        for device in DEVICES:
            backend = Recorder(1 << 18) if device == "cpu" else CudaRecorder("sm_90", 132)
            with state.use_backend(backend):
                state.clear()
                for _ in range(3):
                    for _ in calls(device):
                        pass
                found[device] = {
                    "kernels": [source.key for source in backend.loaded],
                    "cached kernels": [key[1:] for key in state.STATE.kernels],
                    "launches": list(state.STATE.launches),
                    "calls": list(state.STATE.calls),
                }
            state.clear()
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cache", ["kernels", "cached kernels", "launches", "calls"])
def test_keys_speak_no_dialect(
    keys: dict[str, dict[str, list[Any]]], device: str, cache: str
) -> None:
    assert len(keys[device][cache]) > 30
    assert violations(keys[device][cache]) == []


def test_every_family_and_decision_has_a_key(keys: dict[str, dict[str, list[Any]]]) -> None:
    names = {
        device: {key.split(" | ")[1].split()[0] for key in found["kernels"]}
        for device, found in keys.items()
    }
    assert names["cpu"] == {"NEST", "RUNS", "TILES"}
    assert names["cuda"] == {"FLAT", "ROWS", "XPOSE", "PHASE", "RUNNING", "GATHER"}
    decisions = " ".join(keys["cpu"]["kernels"])
    for word in ("hoist", "split", "streamed", "materialize", "fill", "fast math"):
        assert f" {word}" in decisions, word


@dataclasses.dataclass(frozen=True)
class Planted:
    known: int = 0


@pytest.mark.parametrize(
    "key",
    [
        "add.f32 | NEST LINEAR:f32 | crooked",
        ("f32", ("LINEAR", "kept values")),
        ({"heavy": 1},),
        Planted(),
        enum.Enum("Planted", ["WHOLE"]).WHOLE,  # type: ignore[attr-defined]
        type("CrewState", (), {}),
    ],
)
def test_a_planted_word_is_seen(key: Any) -> None:
    assert violations(key) != []
