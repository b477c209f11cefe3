"""Dimensions that several labels make up, numbers as axes, layouts by label, einx's examples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.einx_shorthand import written_out

RNG = np.random.default_rng(3)


def refusal(call: Callable[[], Any], rule: str) -> str:
    with pytest.raises(gb.ShapeError) as caught:
        call()
    assert caught.value.rule == rule, caught.value
    return str(caught.value)


def ones(*shape: int) -> Any:
    return RNG.integers(-9, 9, shape).astype(np.float32)


# --- einx's documented elementwise examples ------------------------------------------------------

# The text of einx's documentation, the shapes there, and NumPy's words for it.
EXAMPLES: list[tuple[str, str, tuple[tuple[int, ...], ...], Callable[..., Any]]] = [
    ("add", "a, a -> a", ((10,), (10,)), lambda x, y: x + y),
    ("add", "a b, a -> a b", ((10, 12), (10,)), lambda x, y: x + y[:, None]),
    ("sub", "a b, b -> a b", ((10, 12), (12,)), lambda x, y: x - y),
    ("add", "b... [c]", ((4, 16, 16, 64), (64,)), lambda x, y: x + y),
    ("add", "a b, a b -> a b", ((3, 4), (3, 4)), lambda x, y: x + y),
    ("add", "a b, b a -> a b", ((3, 4), (4, 3)), lambda x, y: x + y.T),
    ("add", "a b, a b -> b a", ((3, 4), (3, 4)), lambda x, y: (x + y).T),
    ("add", "a b, b c -> a b c", ((3, 4), (4, 5)), lambda x, y: x[..., None] + y),
    ("mul", "a, b -> a b", ((3,), (4,)), np.multiply.outer),
    ("add", "a b, -> a b", ((3, 4), ()), lambda x, y: x + y),
    ("add", "a b, b c -> c b a", ((2, 3), (3, 4)), lambda x, y: (x[..., None] + y).T),
    ("add", "a b, a", ((16, 8), (16,)), lambda x, y: x + y[:, None]),
    ("add", "a b, a b", ((3, 4), (3, 4)), lambda x, y: x + y),
    ("add", "a b c, b c", ((2, 3, 4), (3, 4)), lambda x, y: x + y),
    ("add", "a [b]", ((3, 4), (4,)), lambda x, y: x + y),
    ("add", "b... (g [c])", ((16, 16, 32), (4,)), lambda x, y: x + np.tile(y, 8)),
    ("add", "s..., s... -> s...", ((10, 20), (10, 20)), lambda x, y: x + y),
    ("add", "..., ... -> ...", ((3, 4), (3, 4)), lambda x, y: x + y),
    ("max", "a b 1, l -> b l a 1", ((10, 5, 1), (13,)),
     lambda x, y: np.maximum(x, y).transpose(1, 2, 0)[..., None]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "shapes", "wanted"), EXAMPLES)
def test_einx_documented_elementwise_examples(
    name: str, text: str, shapes: tuple[tuple[int, ...], ...], wanted: Callable[..., Any]
) -> None:
    operands = [ones(*shape) for shape in shapes]
    found = gb.apply(text, getattr(gb, name), *operands)
    np.testing.assert_array_equal(found, wanted(*operands))


def test_einx_documented_choices() -> None:
    mask, x = ones(10) > 0, ones(10, 12)
    found = gb.apply("a, a b, -> a b", gb.select, mask, x, 0)
    np.testing.assert_array_equal(found, np.where(mask[:, None], x, 0))
    cond, y, z = ones(3, 4) > 0, ones(3), ones(4)
    found = gb.apply("a b, a, b -> a b", gb.select, cond, y, z)
    np.testing.assert_array_equal(found, np.where(cond, y[:, None], z))
    found = gb.apply("b a, b, a", gb.select, cond, y, z)
    np.testing.assert_array_equal(found, np.where(cond, y[:, None], z))


@pytest.mark.parametrize("text", ["a b, b a", "a, b"])
def test_einx_documented_refusals(text: str) -> None:
    assert "separated by one '->'" in refusal(
        lambda: gb.apply(text, gb.add, ones(3, 3)[0 : len(text) - 4], ones(3)), "X1"
    )


def test_einx_flattened_and_numerical_axes() -> None:
    def same(x: Any) -> Any:
        return x

    x = ones(3, 4, 5)
    y = gb.apply("a b c -> a (b c)", same, x)
    np.testing.assert_array_equal(y, x.reshape(3, 20))
    np.testing.assert_array_equal(gb.apply("a (b c) -> a b c", same, y, sizes={"b": 4}), x)
    assert gb.apply("a b -> a b 3 3", same, y).shape == (3, 20, 3, 3)
    assert gb.apply("a -> a b", same, y[0], sizes={"b": 42}).shape == (20, 42)
    np.testing.assert_array_equal(gb.apply("a 1 c -> a c", same, ones(10, 1, 20) * 0), 0)
    pooled = gb.fuse("(h y) (w x) c -> h w c", sizes={"y": 2, "x": 2})(
        lambda image: gb.nn.mean(image, ("y", "x"))
    )
    image = ones(4, 6, 3)
    wanted = image.reshape(2, 2, 3, 2, 3).mean((1, 3))
    np.testing.assert_allclose(pooled(image), wanted, rtol=1e-6)
    assert "X7" in refusal(lambda: gb.apply("a b 3 -> b a 3", same, ones(4, 5, 3)), "X7")


# --- what it means, for every arrangement --------------------------------------------------------


def arrangement(rng: random.Random, names: list[str]) -> list[list[str]]:
    """Labels in some order, some of them together."""
    order = rng.sample(names, len(names))
    groups: list[list[str]] = []
    for name in order:
        if groups and rng.random() < 0.5:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def text_of(groups: list[list[str]]) -> str:
    return " ".join(f"({' '.join(one)})" if len(one) > 1 else one[0] for one in groups)


@pytest.mark.parametrize("seed", range(40))
def test_random_arrangements_by_loops(seed: int) -> None:
    rng = random.Random(seed)
    names = ["a", "b", "c", "d"][: rng.randint(2, 4)]
    sizes = {name: rng.choice((1, 2, 3, 5)) for name in names}
    source, target = arrangement(rng, names), arrangement(rng, names)
    shape = [int(np.prod([sizes[n] for n in one])) for one in source]
    x = ones(*shape)
    if rng.random() < 0.5:
        x = np.ascontiguousarray(x[::-1])[::-1]
    y = ones(sizes[names[0]])
    text = f"{text_of(source)}, {names[0]} -> {text_of(target)}"
    wanted = np.empty([int(np.prod([sizes[n] for n in one])) for one in target], np.float32)
    for index in itertools.product(*(range(sizes[n]) for n in names)):
        at = dict(zip(names, index, strict=True))

        def place(groups: list[list[str]], at: dict[str, int] = at) -> tuple[int, ...]:
            found = []
            for one in groups:
                position = 0
                for n in one:
                    position = position * sizes[n] + at[n]
                found.append(position)
            return tuple(found)

        wanted[place(target)] = x[place(source)] - y[at[names[0]]]
    found = gb.apply(text, gb.sub, x, y, sizes=sizes)
    np.testing.assert_array_equal(found, wanted)
    array = gb.apply(text, gb.sub, gb.array(x), y, sizes=sizes)
    assert isinstance(array, gb.Array) and array.shape == wanted.shape
    np.testing.assert_array_equal(array.numpy(), wanted)
    order = rng.sample(range(len(target)), len(target))
    array = gb.apply(text, gb.sub, gb.array(x), y, sizes=sizes, out_layout=gb.Layout(order))
    assert array.layout == gb.Layout(order)
    np.testing.assert_array_equal(array.numpy(), wanted)
    whole = np.zeros([n + 2 for n in wanted.shape], np.float32)
    out = whole[tuple(slice(1, -1) for _ in wanted.shape)]
    assert gb.apply(text, gb.sub, x, y, sizes=sizes, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    assert np.count_nonzero(whole) == np.count_nonzero(wanted)


def test_nothing_is_copied() -> None:
    """The result is the kernel's own memory, seen with other dimensions."""
    x = ones(64, 96)
    found = gb.apply("(a b) c -> a (b c)", gb.neg, x, sizes={"a": 8})
    np.testing.assert_array_equal(found, -x.reshape(8, 768))
    assert found.flags.c_contiguous
    array = gb.apply("(a b) c -> a (b c)", gb.neg, gb.array(x), sizes={"a": 8})
    assert array.xla_shape == gb.Shape("f32", (8, 768))


def test_rows_of_different_lengths_within_composed_axes() -> None:
    grouped = gb.fuse("row (g c), row g -> row g", sizes={"g": 2}, valid={"c": "n"})(
        lambda x, n: gb.reduce_sum(x, "c")
    )
    x = np.ones((3, 8), np.float32)
    n = np.int32([[1, 2], [3, 4], [0, 4]])
    np.testing.assert_array_equal(grouped(x, n), n)
    refusal(lambda: grouped(x, n + 1), "X9")


def test_several_results_and_an_ellipsis() -> None:
    both = gb.fuse("... (h d) -> ... h, (... h) d", sizes={"h": 2})(
        lambda x: (gb.reduce_sum(x, "d"), x)
    )
    x = ones(3, 4, 6)
    sums, rows = both(x)
    np.testing.assert_allclose(sums, x.reshape(3, 4, 2, 3).sum(3), rtol=1e-6)
    np.testing.assert_array_equal(rows, x.reshape(24, 3))


@pytest.mark.parametrize(
    ("call", "rule", "text"),
    [
        (lambda: gb.apply("a (b c) -> a b c", gb.neg, ones(2, 6)), "X10",
         "operands[0]: the sizes of 'b' and 'c' in an axis of 6 elements are not known; say one of "
         "them: sizes={'b': ...}"),
        (lambda: gb.apply("a (b c) -> a b c", gb.neg, ones(2, 6), sizes={"b": 4}), "X10",
         "operands[0] has size 6 along (b c), which is no multiple of 4"),
        (lambda: gb.apply("(a b) -> a b", gb.neg, ones(6), sizes={"a": 2, "b": 2}), "X10",
         "operands[0] has size 6 along (a b), whose labels make 4"),
        (lambda: gb.apply("a 3 -> a", gb.neg, ones(2, 4)), "X10", "has size 4 along"),
        (lambda: gb.apply("(a b) -> a b", gb.neg, ones(2, 3), sizes={"a": 1}), "X5",
         "operands[0] has 2 dimensions, and its group '(a b)' has 1"),
        (lambda: gb.apply("(... a) -> a", gb.neg, ones(2)), "X10", "has no known sizes"),
        (lambda: gb.apply("a -> a", gb.neg, ones(2), sizes={"b": 1}), "X10",
         "sizes= names 'b', and the labels are a"),
        (lambda: gb.apply("a -> a", gb.neg, ones(2), sizes={"a": -1}), "X10",
         "the size of a label is a number"),
        (lambda: gb.fuse("a -> a", sizes=3), "X10", "sizes is a mapping from labels to sizes"),
        (lambda: gb.fuse(sizes={"a": 3})(lambda x: x), "X10", "the function has none"),
        (lambda: gb.fuse("(a -> a"), "X1", "a parenthesis is not closed"),
        (lambda: gb.fuse("a) -> a"), "X1", "parentheses do not nest"),
        (lambda: gb.fuse("((a b) c) -> a"), "X1", "parentheses do not nest"),
        (lambda: gb.fuse("(a b) -> a b", sizes={"a": 2})(lambda x: x).plan("f32[6]"), "X10",
         "a plan has the dimensions of its operands"),
        (lambda: gb.apply("a b -> (a b)", gb.neg, ones(2, 3), out=ones(7)), "X10",
         "out is f32[7], which the labels do not say"),
        (lambda: gb.apply("a b -> (a b)", gb.neg, ones(2, 3),
                          out_layout=gb.Layout((0,), (8,))), "X10", "is not padded"),
        (lambda: gb.apply("a b -> (a b)", gb.neg, ones(2, 3), out_layout="a b"), "X11",
         "pass a Layout"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], rule: str, text: str) -> None:
    assert text in refusal(call, rule)


def test_inside_another_function() -> None:
    inner = gb.fuse("(a b) -> a b", sizes={"a": 2})(lambda x: x)
    outer = gb.fuse(lambda x: inner(x))
    assert "are of arrays, and inside another function" in refusal(lambda: outer(ones(6)), "X10")


def test_what_is_explained_is_what_runs() -> None:
    """The plan of the labels: those of a function whose operands have been reshaped."""
    function = lambda x, s, k: (x * s + k, gb.reduce_sum(x, "h"))  # noqa: E731
    composed = gb.fuse("b (h d), h, -> b h d, (d b)", sizes={"h": 8})(function)
    plain = gb.fuse("b h d, h, -> b h d, d b")(function)
    x, s = ones(4, 24), ones(8)
    seen = x.reshape(4, 8, 3)
    for given in ((x, s, 2.5), ("f32[4,24]", gb.array(s), 2.5)):
        said = composed.explain(*given, source=True).to_json()
        assert said == plain.explain(seen, s, 2.5, source=True).to_json()
        assert composed.cuda_source(*given) == plain.cuda_source(seen, s, 2.5)
        assert composed.cpu_source(*given) == plain.cpu_source(seen, s, 2.5)
    turned = "f32[4,24]{0,1}"
    assert composed.cpu_source(turned, s, 2.5) == plain.cpu_source("f32[4,8,3]{0,2,1}", s, 2.5)
    padded = gb.Shape("f32", (4, 24), gb.Layout((1, 0), (4, 32)))
    assert "is no shape by its labels" in refusal(lambda: composed.explain(padded, s, 1.0), "X10")
    turn = lambda x: -x  # noqa: E731
    some = gb.fuse("(a b) -> b a", sizes={"a": 2})(turn)
    with_layout = some.explain("f32[6]", out_layout=gb.Layout((0, 1))).to_json()
    assert with_layout == gb.fuse("a b -> b a")(turn).explain(
        "f32[2,3]", out_layout=gb.Layout((0, 1))
    ).to_json()  # fmt: skip


# --- layouts by label ----------------------------------------------------------------------------


def test_a_layout_by_labels() -> None:
    f = gb.fuse("b c h w -> b h w c, b c")(lambda x: (x, gb.reduce_sum(x, ("h", "w"))))
    x = ones(2, 3, 4, 5)
    image, sums = f(gb.array(x), out_layout=("w h c b", "c b"))
    assert image.layout == gb.Layout((0, 3, 1, 2)) and sums.layout == gb.Layout((0, 1))
    np.testing.assert_array_equal(image.numpy(), x.transpose(0, 2, 3, 1))
    image, sums = f(x, out_layout="c b h w, b c")
    assert image.strides == (4 * 20, 4 * 5, 4, 4 * 40)
    image, sums = f(x, out_layout=(None, "c b"))
    assert sums.strides == (4, 8)
    p = f.plan("f32[2,3,4,5]", out_layout=("w h c b", gb.Layout((0, 1))))
    assert p.output_shapes[0].layout == gb.Layout((0, 3, 1, 2))
    g = gb.fuse("r c -> c 1 r")(lambda x: x)
    assert g(gb.array(ones(2, 3)), out_layout="r c 1").layout == gb.Layout((1, 0, 2))


@pytest.mark.parametrize(
    ("labels", "layout", "text"),
    [
        ("r c -> r c", "r", "the labels of the output are 'r c'; each stands once"),
        ("r c -> r c", "r r", "the labels of the output are 'r c'"),
        ("r c -> r c", "{0,1}", "pass a Layout"),
        ("... c -> ... c", "c ...", "'...' stands for any number of them"),
        ("r c -> r c", "r c, r c", "one group for each"),
        (None, "0 1", "text has labels of the results"),
    ],
)
def test_layouts_that_labels_do_not_say(labels: str | None, layout: str, text: str) -> None:
    f = gb.fuse(labels)(lambda x: x)
    assert text in refusal(lambda: f(ones(2, 3), out_layout=layout), "X11")


def test_what_is_written_out_is_the_same_text() -> None:
    for text in ("a b, b -> a b", "a -> a", "a b, c", "", 5, "a, b, c"):
        assert written_out(text, 2) == text
    assert written_out("a b..., b... -> b... a", 2) == "a ..., ... -> ... a"
    assert written_out("a..., b... -> a... b...", 2) == "a..., b... -> a... b..."
