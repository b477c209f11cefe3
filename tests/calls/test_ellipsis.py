"""``...`` in labels: any number of axes, one plan per rank."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

Array = np.ndarray[Any, Any]


@gb.fuse("... col -> ... col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


def numbers(*dimensions: int) -> Array:
    return np.random.default_rng(0).integers(-9, 9, dimensions).astype(np.float32)


@pytest.mark.parametrize("rank", range(1, 6))
def test_a_function_of_any_rank(rank: int) -> None:
    x = numbers(*(2, 3, 4, 2, 5)[5 - rank :])
    rows = softmax(x.reshape(-1, 5)).reshape(x.shape)
    assert np.array_equal(softmax(x), rows), "a row's bits are the same at any rank"
    assert softmax.plan(f"f32[{','.join(map(str, x.shape))}]")(x).tobytes() == rows.tobytes()


def test_groups_with_and_without_it() -> None:
    x, w, y = numbers(2, 3, 5), numbers(5), numbers(2, 3)
    scaled = gb.fuse("... c, c, ... -> c ...")(lambda x, w, y: x * w + y)
    assert np.array_equal(scaled(x, w, y), np.moveaxis(x * w + y[..., None], -1, 0))
    first = gb.fuse("b ..., b -> b ...")(lambda x, y: x * y)
    assert np.array_equal(first(x, y[:, 0]), x * y[:, 0][:, None, None])


def test_it_is_reduced_as_its_axes_are() -> None:
    x = numbers(2, 3, 5)
    total = gb.fuse("b ... -> b")(lambda x: gb.reduce_sum(x, "..."))
    assert np.array_equal(total(x), x.sum((1, 2)))
    assert np.array_equal(total(x[:, 0, 0]), x[:, 0, 0]), "of no axes"
    both = gb.fuse("b ... c -> b")(lambda x: gb.reduce_max(x, ("...", "c")))
    assert np.array_equal(both(x), x.max((1, 2)))


def test_its_labels_are_no_others() -> None:
    x = numbers(2, 3, 5)
    turned = gb.fuse("_0 ... -> ... _0")(lambda x: x)
    assert np.array_equal(turned(x), np.moveaxis(x, 0, -1))


def test_inside_another_function_it_is_the_outer_one() -> None:
    doubled = gb.fuse("... col -> ... col")(lambda x: softmax(x) * 2)
    x = numbers(2, 3, 5)
    assert np.array_equal(doubled(x), softmax(x) * 2)


def test_a_plan_is_pickled() -> None:
    x = numbers(2, 5)
    assert np.array_equal(pickle.loads(pickle.dumps(softmax.plan("f32[2,5]")))(x), softmax(x))


@pytest.mark.parametrize(
    ("labels", "operands", "rule", "text"),
    [
        (
            "... a, ... -> ... a",
            ((2, 3, 4), (3,)),
            "X5",
            "'... a, ... -> ... a': '...' stands for 2 axes in x and for 1 axis in y [X5]",
        ),
        (
            "... a b, ... -> ... a",
            ((3,), (3,)),
            "X5",
            "'... a b, ... -> ... a': x has 1 dimension, and its group '... a b' has 3 labels [X5]",
        ),
    ],
)
def test_other_numbers_of_axes_are_refused(
    labels: str, operands: tuple[tuple[int, ...], ...], rule: str, text: str
) -> None:
    with pytest.raises(gb.ShapeError) as caught:
        gb.fuse(labels)(lambda x, y: x)(*(numbers(*one) for one in operands))
    assert (caught.value.rule, str(caught.value).partition("\n")[0]) == (rule, text)


def test_malformed_uses_are_refused() -> None:
    for labels, rule in (("a -> ...", "X3"), ("... ... -> ...", "X2"), ("a... -> a", "X1")):
        with pytest.raises(gb.ShapeError) as caught:
            gb.fuse(labels)(lambda x: x)
        assert caught.value.rule == rule
