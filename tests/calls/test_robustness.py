"""What a review and a fuzzing campaign broke once: clear errors, and nothing is lost."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import pickle
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.backends.cpu.threads import executor
from gpubcast.shapes.layout import entries_of
from tests.support.instructions import before_each

X = np.arange(6, dtype="f4").reshape(2, 3)
V = X[0].copy()


# --- keywords are keys -------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [(1.0,), (True,), [1.0], np.array([1.0])])
def test_a_wrong_call_does_not_poison_the_right_one(wrong: Any) -> None:
    for _ in range(2):
        with pytest.raises(gb.ShapeError) as caught:
            gb.add(X, V, broadcast_dimensions=wrong)
        assert caught.value.rule == "B2"
        np.testing.assert_array_equal(gb.add(X, V, broadcast_dimensions=(1,)), X + V)


@pytest.mark.parametrize(
    "wrong", [{1}, frozenset({1}), {1: 2}, "1", b"1", 1, np.array(1), {}.keys()]
)
def test_what_is_no_sequence_is_refused_everywhere(wrong: Any) -> None:
    for call in (
        lambda: gb.add(X, V, broadcast_dimensions=wrong),
        lambda: gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=wrong),
        lambda: gb.infer_shape("add", "f32[2,3]", "f32[3]", broadcast_dimensions=wrong),
    ):
        with pytest.raises(gb.ShapeError) as caught:
            call()
        assert caught.value.rule == "B1"


def test_endless_iterators_are_refused() -> None:
    with pytest.raises(gb.ShapeError):
        gb.add(X, V, broadcast_dimensions=itertools.count())
    with pytest.raises(gb.ShapeError):
        gb.Shape("f32", itertools.count())


CALLS = [
    ("T0", lambda: gb.compare(X, X, direction="LT", total_order="no")),
    ("T0", lambda: gb.compare(X, X, direction=np.array(["LT"]))),
    ("T0", lambda: gb.plan(5, "f32[2]")),
    ("T0", lambda: gb.plan(["add"], "f32[2]", "f32[2]")),
    ("T0", lambda: gb.infer_shape(None, "f32[2]")),
    ("T0", lambda: gb.plan("neg", "f32[2]").cuda_source("cuda")),
    ("T0", lambda: gb.plan("neg", "f32[2]").cuda_source(None)),
    ("T0", lambda: gb.infer_shape("compare", "f32[3]", "f32[3]", direction=np.array(["LT", "GT"]))),
    ("A5", lambda: gb.array(X)[2**63]),
    ("A5", lambda: gb.array(X)[-(2**70)]),
    ("T1", lambda: gb.convert_element_type(X, list)),
    ("T1", lambda: gb.convert_element_type(X, ("f4", -1))),
    ("T1", lambda: gb.array(np.empty(3, "V0"))),
    ("S11", lambda: gb.empty((2, 3))),
    ("S11", lambda: gb.full(5, 0)),
    ("S11", lambda: gb.plan("add", 5, 6)),
    ("S11", lambda: gb.full(X, 0)),
    ("L11", lambda: gb.add(X, X, out_layout=[1, 0])),
    ("L11", lambda: gb.plan("neg", "f32[2]", out_layout="{0}")),
    ("A1", lambda: gb.array(X, device="cuda:²")),
    ("A1", lambda: gb.array(X, device="cuda:" + "9" * 5000)),
    ("A1", lambda: gb.array(X, device=np.array(["cpu"]))),
    ("A2", lambda: gb.neg(X, out=OnlyConverts())),
    ("A3", lambda: gb.neg(np.ma.array(X, mask=X > 2))),
    ("A3", lambda: gb.array([np.ma.array(V, mask=V > 1)])),
    ("A3", lambda: gb.from_dlpack([1.0])),
    ("A4", lambda: gb.full("f32[2]", "text")),
    ("A4", lambda: gb.full("f32[2]", None)),
    ("A4", lambda: gb.full("f32[2]", np.array(1.0))),
    ("A4", lambda: gb.full("s32[1]", np.float64(1e20))),
    ("A4", lambda: gb.full("u8[2]", np.int64(3))),
    ("A4", lambda: gb.full("pred[2]", np.str_("a"))),
    ("A4", lambda: gb.full("s4[1]", 8)),
    ("A4", lambda: gb.add(X.astype("i4"), 10**5000)),
    ("A5", lambda: gb.array(X)[::0]),
    ("A5", lambda: gb.array(X)[:"a"]),
    ("A5", lambda: list(gb.array(1.0))),
    ("A8", lambda: pickle.dumps(gb.plan("neg", "f32[2,3]").bind(X, out=X.copy()))),
    ("A9", lambda: gb.empty(gb.Shape("f32", (1,) * 70)).numpy()),
    ("B2", lambda: gb.add(X, V, broadcast_dimensions=("1" * 5000,))),
    (None, lambda: gb.empty("f32[1000000000000000]")),
]  # fmt: skip


class OnlyConverts:
    """Converts to an array, but its memory cannot be shared."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.zeros((2, 3), "f4")


@pytest.mark.parametrize(("rule", "call"), CALLS)
def test_a_clear_error(rule: str | None, call: Any) -> None:
    with pytest.raises(gb.Error) as caught:
        call()
    assert caught.value.rule == rule
    assert len(str(caught.value)) < 1000
    assert rule is None or str(caught.value).splitlines()[0].endswith(f"[{rule}]")


def test_broken_protocols_are_our_errors() -> None:
    class Broken:
        def __dlpack_device__(self) -> Any:
            raise ZeroDivisionError("device")

        def __dlpack__(self, **keywords: Any) -> Any:
            raise ZeroDivisionError("capsule")

    with pytest.raises(gb.ElementTypeError, match="device"):
        gb.neg(Broken())


class LyingText(str):
    """A text whose methods say what is not so."""

    __hash__ = None

    def __len__(self) -> Any:
        return "long"

    def __eq__(self, other: object) -> Any:
        raise ZeroDivisionError

    def __getitem__(self, key: Any) -> Any:
        return [key]

    find = lower = partition = rstrip = strip = __getitem__


def test_texts_are_taken_by_what_they_are() -> None:
    """Of a subclass of ``str`` no method is asked. Found by tests/campaigns."""
    text = LyingText
    assert gb.element_type(text("f32")) is gb.element_type("f32")
    assert gb.Shape.parse(text("f32[2,3]{0,1}")) == gb.Shape.parse("f32[2,3]{0,1}")
    assert gb.empty(text("f32[2]"), device=text("cpu")).shape == (2,)
    assert gb.plan(text("neg"), text("f32[2]")).output_shape == gb.Shape("f32", (2,))
    assert gb.compare(X, X, direction=text("GE")).all()
    np.testing.assert_array_equal(gb.fuse(text("a b, b -> a b"))(lambda x, y: x + y)(X, V), X + V)
    for call in (
        lambda: gb.element_type(text("f33")),
        lambda: gb.Shape.parse(text("f32[2,3]{0,1")),
        lambda: gb.array(X, device=text("gpu")),
        lambda: gb.plan(text("negg"), "f32[2]"),
        lambda: gb.compare(X, X, direction=text("GX")),
        lambda: gb.fuse(text("a b - a"))(lambda x: x),
        lambda: gb.round(X, method=text("up")),
        lambda: gb.Layout((0,), attributes=text("X")),
        lambda: gb.plan("neg", "f32[2]").cuda_source(text("sm")),
    ):
        with pytest.raises(gb.Error):
            call()


class LyingTuple(tuple):
    def __iter__(self) -> Any:
        return "nothing"

    __len__ = __iter__


def test_an_index_is_what_it_is() -> None:
    assert gb.array(X)[LyingTuple((0, 1))].numpy() == X[0, 1]


# --- values ------------------------------------------------------------------------------------


def test_the_largest_integers_fit_f64() -> None:
    assert gb.add(np.zeros(1), 2**1023).tolist() == [2.0**1023]
    assert gb.add(np.zeros(1), int(np.finfo("f8").max)).tolist() == [np.finfo("f8").max]
    assert gb.add(np.zeros(1), -(10**400)).tolist() == [-np.inf]


def test_moving_a_nan_keeps_its_bits() -> None:
    patterns = np.array([0x7F81, 0xFF81, 0x7FC1, 0x7F80], "u2")
    moved = gb.array(patterns.view(ml_dtypes.bfloat16)).numpy().view("u2")
    np.testing.assert_array_equal(moved, patterns)
    bits = gb.bitcast_convert_type(patterns.view(ml_dtypes.bfloat16), "u16")
    np.testing.assert_array_equal(bits, patterns)


# --- copies, iteration, comparison -------------------------------------------------------------


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
@pytest.mark.parametrize("key", [slice(None), slice(None, None, 2), slice(None, None, -1)])
def test_copies_of_arrays_are_whole_and_independent(how: Any, key: slice) -> None:
    base = gb.array(np.arange(10, dtype="f4"), layout=gb.Layout((0,), (12,), gb.PaddingValue.ONE))
    array = base if key == slice(None) else base[key]
    array.view()
    other = how(array)
    assert other.layout.minor_to_major == array.layout.minor_to_major
    gb.add(other, 1.0, out=other)
    np.testing.assert_array_equal(other.numpy(), array.numpy() + 1)
    np.testing.assert_array_equal(base.numpy(), np.arange(10))
    np.testing.assert_array_equal(gb.add(other, 0.0).numpy(), other.numpy())


def test_iteration_ends() -> None:
    array = gb.array(X)
    rows = list(array)
    assert [row.shape for row in rows] == [(3,), (3,)]
    _, second = array
    np.testing.assert_array_equal(second.numpy(), X[1])
    assert 2.0 in gb.array(V) and 7.0 not in gb.array(V)


def test_comparison_with_a_list_is_elementwise() -> None:
    assert (gb.array([0.0, 1.0, 2.0]) == [0.0, 5.0, 2.0]).numpy().tolist() == [True, False, True]
    assert (gb.array(V) == None) is False  # noqa: E711


def test_asarray_with_copy_false_does_not_copy() -> None:
    array = gb.array(X)
    assert np.shares_memory(np.asarray(array, copy=False), array.view())
    with pytest.raises(ValueError):
        np.asarray(array, dtype="f8", copy=False)


def test_a_misaligned_operand_keeps_its_axis_order() -> None:
    raw = np.zeros(4 * 6 + 1, np.uint8)[1:].view("f4").reshape(2, 3, order="F")
    assert gb.neg(raw).flags.f_contiguous


# --- bound calls and overlap -------------------------------------------------------------------


def test_bind_refuses_what_it_would_copy() -> None:
    plan = gb.plan("add", "f32[3]", "f32[]")
    with pytest.raises(gb.LayoutError, match="would be copied"):
        plan.bind(V, np.array(1, "f4"), out=V.copy())
    unaligned = np.zeros(13, np.uint8)[1:].view("f4")
    with pytest.raises(gb.LayoutError, match="would be copied"):
        gb.plan("neg", "f32[3]").bind(unaligned, out=V.copy())
    scalar, out = gb.array(np.array(1, "f4")), V.copy()
    bound = plan.bind(V, scalar, out=out)
    gb.add(scalar, 4.0, out=scalar)
    bound()
    np.testing.assert_array_equal(out, V + 5)
    np.testing.assert_array_equal(plan.bind(V, np.float32(2), out=out)(), V + 2)


def test_disjoint_columns_of_one_buffer_do_not_overlap() -> None:
    buffer = np.arange(24, dtype="f4").reshape(4, 6)
    wanted = -buffer[:, :3]
    gb.plan("neg", "f32[4,3]").bind(buffer[:, :3], out=buffer[:, 3:])()
    np.testing.assert_array_equal(buffer[:, 3:], wanted)


def test_self_overlap_of_many_strides_is_decided_in_time() -> None:
    strides = tuple(4 * s for s in (17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71))
    memory = np.zeros(20_000, "f4")
    view = np.lib.stride_tricks.as_strided(memory, (3,) * 14, strides)
    with pytest.raises(gb.LayoutError, match="share memory"):
        gb.neg(np.zeros((3,) * 14, "f4"), out=view)


# --- threads -----------------------------------------------------------------------------------


def test_a_thread_that_does_not_start_costs_nothing_but_time(monkeypatch) -> None:
    start, calls = threading.Thread.start, itertools.count()

    def failing(self: threading.Thread) -> None:
        if next(calls) == 1:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", failing)
    seen: list[int] = []
    lock = threading.Lock()

    def task(low: int, high: int) -> None:
        with lock:
            seen.extend(range(low, high))

    executor.Executor(4).run(task, 1000, 4)
    assert sorted(seen) == list(range(1000))


def test_an_interrupted_launch_waits_for_its_parts(request: pytest.FixtureRequest) -> None:
    """A signal handler that raises (Ctrl-C) must not free memory that threads still write."""
    # A process in the background may ignore SIGINT, so the test brings its own handler.
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGUSR1, before))
    release, running = threading.Event(), []

    def task(low: int, high: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            running.append(low)
            release.wait(10)
            running.remove(low)
        else:
            while not running:
                pass
            threading.Timer(0.1, release.set).start()
            signal.raise_signal(signal.SIGUSR1)

    pool = executor.Executor(2)
    with pytest.raises(KeyboardInterrupt):
        pool.run(task, 2, 2)
    assert running == []


def test_one_pool_serves_every_number_of_parts() -> None:
    pool = executor.Executor(8)
    executors = set()
    for parts in range(2, 8):
        pool.run(lambda low, high: None, 100, parts)
        executors.add(id(pool._executor))
    assert len(executors) == 1


@pytest.mark.parametrize(
    "error",
    [ImportError("theirs"), TimeoutError("theirs"), OSError(24, "theirs"), KeyError("theirs")],
    ids=lambda error: type(error).__name__,
)
def test_what_a_traced_function_raises_is_its_own(error: Exception) -> None:
    def raising(x: Any) -> Any:
        raise error

    with pytest.raises(type(error)) as raised:
        gb.fuse(raising)(np.ones(3, np.float32))
    assert raised.value is error


def test_a_shape_of_many_dimensions_is_quoted_in_short() -> None:
    """Found by tests/campaigns/hostile_calls.py, seed 395703."""
    with pytest.raises(gb.ShapeError, match=r"no NumPy or CuPy array can have the shape") as raised:
        gb.broadcast(np.ones((2, 3), np.float32), [0] * 900)
    assert len(str(raised.value)) < 300


def test_fast_math_has_a_truth_value() -> None:
    """Found by tests/campaigns/hostile_calls.py, seed 395764."""
    with pytest.raises(gb.Error, match="fast_math is True or False, not"):
        gb.fuse(lambda x: x, fast_math=np.ones(3))  # type: ignore[call-overload]


class FailingIndex:
    """An index of an array, as far as its type says; its interface and its index fail."""

    def __index__(self) -> int:
        raise KeyError("index")

    @property
    def __array_interface__(self) -> object:
        raise ZeroDivisionError("interface")


@pytest.mark.parametrize("key", [FailingIndex(), slice(FailingIndex()), slice(None, "x" * 10**6)])
def test_an_index_that_fails_is_refused(key: Any) -> None:
    with pytest.raises(gb.Error) as caught:
        gb.array(np.ones(3, "f4"))[key]
    assert (caught.value.rule, len(str(caught.value)) < 300) == ("A5", True)


class Late(Exception):
    """What a signal handler raises."""


def late(*_: object) -> None:
    raise Late


@pytest.mark.parametrize("how", [late, lambda *_: json.loads("{")], ids=["own", "a library's"])
def test_what_a_signal_handler_raises_while_numba_compiles_reaches_the_caller(
    how: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is no refusal of numba's; the next call compiles the kernel."""
    made = backend.machine_code

    def interrupted(*args: Any, **keywords: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return made(*args, **keywords)

    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    # A kernel of its own, which nothing has made before.
    number = 12345 if how is late else 23456
    call = gb.fuse(lambda x: gb.reduce_xor(gb.bitwise_xor(x, number), (0, 2)))
    before = signal.signal(signal.SIGUSR1, how)
    try:
        x = np.ones((3, 5, 2), np.uint16)
        with monkeypatch.context() as planted, pytest.raises((Late, json.JSONDecodeError)):
            planted.setattr(backend, "machine_code", interrupted)
            call(x)
        np.testing.assert_array_equal(call(x), np.zeros(5, np.uint16))
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_numba_refuses_is_a_compile_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(backend, "_namespace", dict)
    with pytest.raises(gb.CompileError, match="numba refused kernel"):
        gb.fuse(lambda x: gb.bitwise_xor(x, 34567))(np.ones(3, np.uint32))


@pytest.mark.parametrize("values", [[1, 0], (1, 0)])
def test_what_a_signal_handler_raises_while_integers_are_read_reaches_the_caller(
    values: Any,
) -> None:
    """At whichever instruction it comes."""
    places: set[int] = set()

    def reached(code: CodeType, place: int) -> bool:
        if code is entries_of.__code__ and place not in places:
            places.add(place)
            raise Late
        return True

    before = -1
    while before < len(places):
        before = len(places)
        with contextlib.suppress(Late), before_each(reached):
            assert entries_of(values) == [1, 0]
    assert before > 5
