"""Random calls: shapes, layouts, padding, strided views, outputs. Each is made from one seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.hlo.literals import padding_bits
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.layout import PaddingValue
from tests.support import reference
from tests.support.scalars import reference as scalar_function

# (operation, element type): few enough that the emulator's compiler keeps up, and every width.
OPERATIONS = (
    ("add", "f32"), ("mul", "u8"), ("sub", "f64"), ("lt", "f16"), ("max", "bf16"),
    ("select", "f32"), ("broadcast_in_dim", "s32"), ("neg", "s64"), ("bitwise_xor", "pred"),
    ("mul", "c64"), ("add", "c128"),
)  # fmt: skip
SIZES = (1, 1, 2, 3, 4, 5, 8, 17, 33, 64, 130)


@dataclass(slots=True)
class Call:
    """A call that is ready to run, and what it must give."""

    name: str
    operands: tuple[Any, ...]
    keywords: dict[str, Any]
    out: Any
    expected: np.ndarray[Any, Any]
    described: str

    def run(self) -> Any:
        return getattr(gb, self.name)(*self.operands, **self.keywords, out=self.out)


def dimensions(rng: np.random.Generator, rank: int, most: int = 3000) -> tuple[int, ...]:
    """Sizes of an output with at most ``most`` elements; now and then one is 0."""
    sizes = [int(rng.choice(SIZES)) for _ in range(rank)]
    while math.prod(sizes) > most:
        sizes[int(np.argmax(sizes))] = int(rng.choice((1, 2, 3)))
    if rank and rng.random() < 0.03:
        sizes[int(rng.integers(rank))] = 0
    return tuple(sizes)


def values(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Small random values: every sum and product of two of them is exact in every type."""
    dtype = element_type(kind).dtype
    if kind == "pred":
        return rng.random(shape) < 0.5
    low = 0 if kind.startswith("u") else -8
    if dtype.kind == "c":
        return (rng.integers(low, 12, shape) + 1j * rng.integers(low, 12, shape)).astype(dtype)
    return rng.integers(low, 12, shape).astype(dtype)


def layout(
    rng: np.random.Generator, shape: tuple[int, ...], written: bool, ordered: bool = True
) -> gb.Layout:
    """A random axis order, sometimes padded; with extremes only where numbers are ``ordered``."""
    order = tuple(int(d) for d in rng.permutation(len(shape)))
    if rng.random() < 0.4 or not shape:
        return gb.Layout(order)
    padded = tuple(n + int(rng.choice((0, 0, 1, 3))) for n in shape)
    choices = list(PaddingValue) if written else [PaddingValue.INVALID, PaddingValue.ZERO]
    if not ordered:
        choices = [c for c in choices if c not in (PaddingValue.LOWEST, PaddingValue.HIGHEST)]
    return gb.Layout(order, padded, choices[int(rng.integers(len(choices)))])


def place(rng: np.random.Generator, x: np.ndarray[Any, Any], device: str) -> Any:
    """``x`` somewhere in memory: packed, padded, sliced from something larger, repeated."""
    way = int(rng.integers(4))
    if way == 0:
        return gb.array(x, device=device)
    if way == 1:
        return gb.array(x, layout=layout(rng, x.shape, False), device=device)
    if way == 2 and x.ndim:
        # A slice with steps, forwards or backwards, off the start of a larger array.
        steps = [int(rng.choice((1, 1, 1, 2, -1, -2))) for _ in x.shape]
        starts = [int(rng.integers(3)) for _ in x.shape]
        larger = [abs(s) * n + a + 1 for s, n, a in zip(steps, x.shape, starts, strict=True)]
        base = np.zeros(larger, x.dtype)
        window = tuple(
            slice(a, a + n * s, s) if s > 0 else slice(a + n * -s - 1, a - 1 if a else None, s)
            for a, n, s in zip(starts, x.shape, steps, strict=True)
        )
        window = tuple(
            slice(w.start, w.stop, w.step) if n else slice(0, 0)
            for w, n in zip(window, x.shape, strict=True)
        )
        if base[window].shape != x.shape:
            return gb.array(x, device=device)
        base[window] = x
        return gb.array(base, device=device)[window]
    permutation = tuple(int(d) for d in rng.permutation(x.ndim))
    inverse = tuple(int(d) for d in np.argsort(permutation))
    return gb.array(np.array(x.transpose(permutation), order="C"), device=device).transpose(inverse)


def _operand_sizes(
    rng: np.random.Generator, output: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """An operand that broadcasts to the output, and where its dimensions go."""
    way = rng.random()
    kept = tuple(d for d in range(len(output)) if way < 0.5 or rng.random() < 0.6)
    sizes = tuple(1 if rng.random() < 0.25 else output[d] for d in kept)
    return sizes, kept


def make(seed: int, device: str, most_rank: int = 6) -> Call:
    """The call of a seed on a device."""
    rng = np.random.default_rng(seed)
    name, kind = OPERATIONS[int(rng.integers(len(OPERATIONS)))]
    output = dimensions(rng, int(rng.integers(most_rank + 1)))
    keywords: dict[str, Any] = {}
    identity = tuple(range(len(output)))
    if name == "select":
        scalar = rng.random() < 0.3
        shapes = [(() if scalar else output, () if scalar else identity)]
        shapes += [(output, identity)] * 2
        kinds = ["pred", kind, kind]
    elif name == "neg":
        shapes, kinds = [(output, identity)], [kind]
    elif name == "broadcast_in_dim":
        sizes, kept = _operand_sizes(rng, output)
        order = rng.permutation(len(kept))
        shapes = [(tuple(sizes[i] for i in order), tuple(kept[i] for i in order))]
        kinds = [kind]
        keywords = {"shape": output, "broadcast_dimensions": shapes[0][1]}
    else:
        sizes, kept = _operand_sizes(rng, output)
        whole = (output, identity)
        shapes = [whole, (sizes, kept)] if rng.random() < 0.6 else [(sizes, kept), whole]
        if len(kept) == len(output) and rng.random() < 0.5:
            # Both sides degenerate somewhere else: an outer operation.
            flags = rng.random(len(output)) < 0.5
            left = tuple(1 if f else n for f, n in zip(flags, output, strict=True))
            right = tuple(n if f else 1 for f, n in zip(flags, output, strict=True))
            shapes = [(left, identity), (right, identity)]
            output = tuple(
                max(a, b) if 0 not in (a, b) else 0 for a, b in zip(left, right, strict=True)
            )
        elif kept and len(kept) < len(output):
            keywords = {"broadcast_dimensions": kept}
        kinds = [kind, kind]
    data = [values(rng, k, s) for k, (s, _) in zip(kinds, shapes, strict=True)]
    operands = tuple(place(rng, x, device) for x in data)
    function = scalar_function(name, element_type(kind))
    flat = reference.elementwise(
        function, output, [(x.reshape(-1), s, m) for x, (s, m) in zip(data, shapes, strict=True)]
    )
    out_kind = "pred" if name == "lt" else kind
    expected = np.array(flat, element_type(out_kind).dtype).reshape(output)
    out = None
    way = rng.random()
    if way < 0.35:
        keywords["out_layout"] = layout(rng, output, True, not kind.startswith("c"))
    elif way < 0.6:
        out = place(rng, values(rng, out_kind, output), device)
    described = f"seed {seed}: {name} {[str(x.xla_shape) for x in operands]} {keywords}" + (
        f" out {out.xla_shape}" if out is not None else ""
    )
    return Call(name, operands, keywords, out, expected, described)


def check(call: Call, result: gb.Array) -> None:
    """Assert that a result is right, padding slots included."""
    np.testing.assert_array_equal(result.numpy(), call.expected, err_msg=call.described)
    shape = result.xla_shape
    if result._buffer is not None and shape.layout.padding_value.written:
        assert_padding(result, call.described)


def assert_padding(result: gb.Array, described: str = "") -> None:
    """Assert that every padding slot of an array holds what its layout promises."""
    shape = result.xla_shape
    kind = shape.element_type
    memory = np.asarray(result._buffer).reshape(-1, kind.itemsize)
    wanted = padding_bits(shape.layout.padding_value, kind)
    order = shape.layout.minor_to_major
    where = reference.slots(shape.dimensions, shape.padded_dimensions, order)
    padding = [
        int.from_bytes(word.tobytes(), "little")
        for word, index in zip(memory, where, strict=True)
        if index is None
    ]
    assert all(word == wanted for word in padding), f"{described}: padding {set(padding)}"
