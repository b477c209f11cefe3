"""Texts of shapes, layouts, labels, element types, devices and environment variables."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import config
from tests.campaigns.log import Log, Refused
from tests.campaigns.runner import ROOT

CASES = 6000
LONG = 400_000
"""Characters of a long text: what takes the square of that does not end."""
_PARTS = (
    "f32", "bf16", "pred", "s4", "u64", "c128", "f8e4m3fn", "token", "[", "]", "{", "}", "(", ")",
    ",", ":", "pad(", "zero", "lowest", "invalid", "T(8,128)", "E(4)", "S(1)", "L(3)", "<=", "?",
    "/*", "*/", "/*a", "//", " ", "\n", "\t", "\0", "-", "+", "0", "1", "7", "00", "0x1", "1_0",
    "9" * 30, "\u0661", "²", "é", "\ud800", "{0,1}", "[2,3]", "row", "col", "->", "...", "a b", "'",
    "%s", "D(D,C)", "#(u32)", "*(u8)", "M(2)",
)  # fmt: skip
_LABELS = ("a", "b", "c", "a b", "b a", "1", "...", "", "_", "a a", "é", "9")


def run(log: Log, rng: random.Random) -> None:
    """Texts drawn, texts of the corpus with damage, and a few very long ones."""
    lines = (ROOT / "tests/corpora/shape_text.jsonl").read_text().splitlines()
    corpus = [json.loads(line)["text"] for line in lines]
    for _ in range(CASES):
        _shape(log, _text(rng, corpus))
        if rng.random() < 0.3:
            _labels(log, rng)
        if rng.random() < 0.1:
            _names(log, rng)
    for _ in range(12):
        part = "".join(rng.choices(_PARTS, k=rng.choice((1, 1, 2, 3))))
        begin = rng.choice(("", "f32[", "f32[2,3]{", "f32[2]{0:", "f32[2]{0:pad("))
        _shape(log, begin + part * (LONG // len(part)))
        long = rng.choice(_LABELS[:6]) + rng.choice((" ", ",", "->", "a", ", a -> ")) * (LONG // 50)
        log.at(f"long labels {long[:40]!r}")
        log.call(lambda long=long: gb.fuse(long)(lambda x: x)(np.ones(2)))


def _text(rng: random.Random, corpus: list[str]) -> str:
    if rng.random() < 0.4:
        return "".join(rng.choices(_PARTS, k=rng.randint(0, 12)))
    text = rng.choice(corpus)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        at = rng.randint(0, len(text))
        to = at + rng.choice((0, 0, 1, 1, 3))
        text = text[:at] + rng.choice((*_PARTS, "", text[: at // 2])) + text[to:]
    return text


def _shape(log: Log, text: str) -> None:
    """Parsed or refused; what is parsed says the same when it is written and parsed again."""
    log.at(f"Shape.parse of {len(text)} characters: {text[:200]!r}")
    shape = log.call(lambda: gb.Shape.parse(text))
    if isinstance(shape, Refused):
        return
    again = log.call(lambda: gb.Shape.parse(str(shape)))
    log.counts["values"] += 1
    if again != shape or hash(again) != hash(shape):
        log.fault("wrong value", f"{shape} is parsed as {again}")
    if shape.num_elements > shape.allocated_elements or shape.rank != len(shape.dimensions):
        log.fault("wrong value", f"{shape} has {shape.allocated_elements} elements in memory")


def _labels(log: Log, rng: random.Random) -> None:
    groups = [", ".join(rng.choices(_LABELS, k=rng.randint(0, 3))) for _ in range(2)]
    text = rng.choice((" -> ", "->", "", "->->", " - > ")).join(groups)
    log.at(f"labels {text!r}")
    x = np.arange(6, dtype="f4").reshape(2, 3)
    fused = log.call(lambda: gb.fuse(text))
    if isinstance(fused, Refused):
        return
    made: Any = log.call(lambda: fused(lambda x, y: x + y)(x, x))
    if text.replace(" ", "") == "ab,ab->ab":
        log.same(made, x + x)


def _names(log: Log, rng: random.Random) -> None:
    text = "".join(rng.choices(_PARTS, k=rng.randint(0, 3))).replace("\0", "")
    log.at(f"a name {text!r}")
    log.call(lambda: gb.element_type(text))
    log.call(lambda: gb.array([1.0], device=text))
    log.call(lambda: gb.plan(text, "f32[2]"))
    name = rng.choice([variable.name for variable in config.VARIABLES])
    # The folder for sources would be made.
    if name in ("GPUBCAST_DUMP", "GPUBCAST_CACHE_DIR") or "\ud800" in text:
        return
    before = os.environ.get(name)
    os.environ[name] = text
    log.note(f"{name}={text!r}")
    log.call(lambda: gb.neg(np.ones((2, 3), "f4")))
    if before is None:
        del os.environ[name]
    else:
        os.environ[name] = before
