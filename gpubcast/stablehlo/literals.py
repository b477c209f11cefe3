"""The values of a constant from the text that MLIR writes for it.

The bindings hand out neither complex numbers nor bf16, f8 and s4, so the text is read for all.
MLIR writes a float in decimal where that reads back as the same number, else its bits in hex.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gpubcast.errors import Error
from gpubcast.shapes.element_types import ElementType
from gpubcast.stablehlo.module import TensorType

_DENSE = re.compile(r"dense(?:_resource)?<(.*)>\s*:\s*tensor<.*>\s*$", re.DOTALL)
_TOKEN = re.compile(r"[^\[\](),\s]+")


def dense(text: str, of: TensorType) -> np.ndarray[Any, Any]:
    """The array of ``dense<...> : tensor<...>``; one value stands for every element, and takes the
    memory of one.

    Raises:
        Error: H1, the text is no such literal.
    """
    matched = _DENSE.search(text)
    if matched is None or "dense_resource" in text[: text.find("<")]:
        raise _refused(text)
    body = matched[1].strip()
    try:
        if body.startswith('"0x'):
            values = _bytes(bytes.fromhex(body.strip('"')[2:]), of)
        else:
            values = _parsed(_TOKEN.findall(body), of.element_type)
    except (ValueError, OverflowError):
        raise _refused(text) from None
    count = math.prod(of.dimensions)
    if len(values) == 1 != count:
        return np.broadcast_to(values[0], of.dimensions)
    if len(values) != count:
        raise _refused(text)
    return values.reshape(of.dimensions)


def _refused(text: str) -> Error:
    return Error(
        f"{text[:60]!r} is no constant that can be read: dense values are",
        rule="H1",
        kind="gpubcast:stablehlo text",
    )


def _bytes(raw: bytes, of: TensorType) -> np.ndarray[Any, Any]:
    count = math.prod(of.dimensions)
    if of.element_type.name == "pred" and len(raw) < count:
        # One byte for all of them, or one bit for each.
        if len(raw) == 1:
            return np.array([raw[0] != 0])
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:count].astype(bool)
    if of.element_type.bits == 4:
        return np.frombuffer(raw, np.int8).astype(of.element_type.dtype)
    return np.frombuffer(raw, of.element_type.dtype)


def _parsed(tokens: list[str], of: ElementType) -> np.ndarray[Any, Any]:
    if of.is_complex:
        parts = _parsed(tokens, of.component)
        return np.ascontiguousarray(parts).view(of.dtype)
    if of.name == "pred":
        return np.array([token in ("true", "1", "-1") for token in tokens], of.dtype)
    if of.is_integral:
        return np.array([int(token, 0) for token in tokens], np.object_).astype(of.dtype)
    bits = np.dtype(f"u{of.itemsize}")
    values = np.empty(len(tokens), of.dtype)
    for i, token in enumerate(tokens):
        if token.lower().startswith("0x"):
            values[i] = np.array(int(token, 16), bits).view(of.dtype)
        else:
            values[i] = np.float64(token).astype(of.dtype)
    return values
