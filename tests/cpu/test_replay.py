"""Machine code that replays calls does what its definition in Python says, over random cases."""

from __future__ import annotations

import ctypes
import gc
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.backends.cpu.intrinsics.c_memory import put
from gpubcast.backends.cpu.jit import builtins, object_cache
from gpubcast.backends.cpu.jit.compile import machine_code
from gpubcast.backends.cpu.ndarray_address import ALIGNMENT
from gpubcast.backends.cpu.result_pool import LEAST
from gpubcast.backends.native_calls import build, call_table, lookup, record_layout
from gpubcast.backends.native_calls.call_table import CallTable, native_call
from gpubcast.backends.native_calls.record import (
    Argument,
    NewResult,
    PackedParameters,
    RecordedCall,
    RecordedKernel,
    StridedResult,
    conflicts,
)
from gpubcast.backends.native_calls.signature import mixed, signature, words
from gpubcast.runtime import native_handover
from gpubcast.shapes.element_types import ELEMENT_TYPES

CASES = 400
DTYPES = (np.bool_, np.int8, np.uint16, np.float32, np.float64, np.complex128, ml_dtypes.bfloat16)


# --- the signature ---------------------------------------------------------------------------


VALUES = 1 + record_layout.MOST_WORDS


def twin(control: int, args: int, num_args: int, found: int) -> None:
    """Writes the number of words, the words, and what is known of arguments."""
    put(found, lookup.write_signature(control, args, num_args, found + 8, found + 8 * VALUES))


@pytest.fixture(scope="module")
def native_words() -> Callable[..., tuple[list[int], list[int]]]:
    """The words that machine code writes for a call, and the addresses of its arguments."""
    made = object_cache._load(object_cache.Unit(*machine_code(twin, 4)))
    call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 4)
    tried = a_table(0)
    tried._admits(gb.Array)
    control = ctypes.addressof(tried._control)

    def native(given: tuple[Any, ...], _keep: Any = tried) -> tuple[list[int], list[int]]:
        args = (ctypes.c_int64 * len(given))(*map(id, given))
        size = VALUES + record_layout.VALUE_WORDS * record_layout.MOST_ARGUMENTS
        found, unused = (ctypes.c_int64 * size)(), (ctypes.c_void_p * 2)()
        at = ctypes.addressof(unused)
        call(made)(at, at, control, ctypes.addressof(args), len(given), ctypes.addressof(found))
        values = list(found)[VALUES :: record_layout.VALUE_WORDS]
        return list(found)[1 : 1 + found[0]], values

    return native


def a_table(code: int, variables: Any = None) -> CallTable:
    """A table of its own, which watches variables of its own."""
    definition = build.call_definition()
    assert definition is not None
    names = tuple(b"abcdef"[i : i + 1] for i in range(6))
    return CallTable(definition, code, ({} if variables is None else variables, names))


def an_operand(rng: random.Random) -> Any:
    """An array of any rank, type and strides, a DeviceArray, or a scalar."""
    which = rng.randrange(8)
    if which == 0:
        return rng.choice([2.5, -3, True, 1 + 2j, 2**70])
    dtype = np.dtype(rng.choice(DTYPES))
    if which == 1:
        return dtype.type(1)
    rank = rng.randrange(5)
    base = np.zeros([2 * rng.randint(1, 3) for _ in range(rank)], dtype)
    order = list(range(rank))
    rng.shuffle(order)
    found = base.transpose(order)[tuple(rng.choice([np.s_[::-1], np.s_[1:]]) for _ in order)]
    if which < 5 or not rank:
        return found
    return gb.array(found) if which < 7 else gb.from_dlpack(found)


def a_call(rng: random.Random) -> tuple[Any, ...]:
    """What computes, operands, ``out``, and keywords."""
    operands = tuple(an_operand(rng) for _ in range(rng.randint(1, 4)))
    outs = tuple(x for x in (an_operand(rng) for _ in range(3)) if not isinstance(x, complex | int))
    out = rng.choice([None, outs, *outs])
    keywords = rng.choice([(), (None,), ((0, 1), "LT"), (None, True, np.float32), ((),)])
    return "add", operands, out, *keywords


def test_a_signature_is_what_python_says(native_words: Any) -> None:
    rng = random.Random(1)
    for _ in range(CASES):
        given = a_call(rng)
        found = signature(given[1], given[2])
        assert found is not None
        wanted = words(given[0], found[0], given[3:])
        assert wanted is not None
        native, values = native_words(given)
        assert native == wanted, given
        outs = () if given[2] is None else given[2] if type(given[2]) is tuple else (given[2],)
        every = zip((*given[1], *outs), found[1], values, strict=False)
        for x, value, address in every:
            if isinstance(x, np.ndarray | gb.Array) and type(value) is int:
                assert address == value


def test_strangers_and_too_many_words(native_words: Any) -> None:
    """What is no such array is in no signature of Python's; machine code names its type only."""
    for stranger in (np.ma.masked_array([1.0]), [1, 2], gb.Array.__new__(gb.Array)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gb.Array, "memory", None)
            assert signature((stranger,), None) is None
        assert native_words(("add", (stranger,), None))[0][3] == id(type(stranger))
    x = np.zeros((1,) * 60)
    assert native_words(("add", (x, x, x), None))[0] == []
    assert native_words(("add", (1.0,) * 33, None))[0] == []
    found = signature((x, x, x), None)
    assert found is not None and words("add", found[0], ()) is None


def test_where_a_signature_is_looked_for() -> None:
    """Reference values, computed by hand from the definition."""
    assert mixed([]) == 0
    assert mixed([5]) == 5
    total = (1 * (record_layout.MULTIPLIER % 2**64) + 2) % 2**64
    assert mixed([1, 2]) == total ^ (total >> 32)


# --- the record ------------------------------------------------------------------------------


class Notes:
    """A kernel that only notes its parameter table, and a table of calls that run it."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.size = 0
        self._code, kernel = builtins.as_code(self._note)
        self.kernel = builtins.callable_at(kernel)
        self.refused = 0
        found = native_handover.process_table()
        assert found is not None
        self.variables: dict[bytes, bytes] = {}
        (code,) = (ctypes.c_int64.from_buffer_copy(found._site).value,)
        self.table = a_table(code, self.variables)
        self.call = self.table.callable(self._refuse)

    def _note(self, at: int, low: int, high: int) -> None:
        assert (low, high) == (0, 7)
        self.seen.append(ctypes.string_at(at, self.size))

    def _refuse(self, *given: Any) -> None:
        self.refused += 1

    def record(
        self, arguments: tuple[Argument, ...], arity: int, parameters: PackedParameters,
        *new: NewResult,
    ) -> RecordedCall:  # fmt: skip
        self.size = len(parameters.packed)
        kernels, cpu = (self.kernel_of(parameters),), ("cpu", 0)
        packed = len(new) > 1
        return RecordedCall(CpuBackend(), cpu, arguments, arity, kernels, (), None, new, packed)

    def kernel_of(self, parameters: PackedParameters) -> RecordedKernel:
        return RecordedKernel(parameters, self.kernel, 7, (1, 1), 0)


@pytest.fixture
def notes() -> Iterator[Notes]:
    yield Notes()
    gc.collect()


def both(notes: Notes, record: RecordedCall, given: tuple[Any, ...]) -> list[bytes | None]:
    """The parameter table with which Python starts the kernel, and machine code; None where one
    refuses."""
    found = signature(given[1], given[2])
    assert found is not None
    results: list[bytes | None] = []
    for run in (lambda: record.run(given[2], found[1]), lambda: notes.call(*given)):
        notes.seen.clear()
        made = run()
        assert (made is None) == (not notes.seen)
        results.append(notes.seen[0] if notes.seen else None)
    return results


def test_overlap_alignment_and_parameters(notes: Notes) -> None:
    """Records of random limits and parameters, and arrays at random places of one memory."""
    rng = random.Random(2)
    memory = np.zeros(4096, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :]
    counts = {True: 0, False: 0}
    for case in range(CASES):
        arity, outs = rng.randint(1, 3), rng.randint(1, 2)
        arguments = tuple(
            Argument(
                rng.choice([0, 0, 1, 3]), (-rng.randrange(24), rng.randrange(64)),
                rng.randrange(1 << outs) if i < arity else 0,
            )
            for i in range(arity + outs)
        )  # fmt: skip
        slots = tuple(
            (rng.randrange(-1, arity + outs), rng.randrange(-64, 64) if i else 8)
            for i in range(rng.randint(1, 8))
        )
        slots = tuple((i, abs(add) if i < 0 else add) for i, add in slots)
        template = rng.randbytes(8 * (len(slots) + rng.randrange(4)))
        record = notes.record(arguments, arity, PackedParameters(template, slots))

        calls, name = [], f"case {case}"
        for _ in range(11):
            starts = [256 + rng.choice([64, 1]) * rng.randrange(6) for _ in arguments]
            every = tuple(memory[at : at + 16] for at in starts)
            given = every[:arity]
            out = rng.choice([every[arity:], (given * 2)[:outs]])
            calls.append((name, given, out))
        first = calls[0]
        found = signature(first[1], first[2])
        assert found is not None
        native = native_call(first, found[0], record)
        assert native is not None and notes.table.add(native)
        for given in calls:
            python, machine = both(notes, record, given)
            assert python == machine, (record, given)
            counts[python is None] += 1
            values = signature(given[1], given[2])
            assert values is not None
            apart = not any(conflicts(arguments, values[1], arity))
            aligned = not any(v & a.misaligned for v, a in zip(values[1], arguments, strict=True))
            assert (python is not None) == (apart and aligned)
    assert min(counts.values()) > CASES


SCALARS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("f32", (0.1, -0.0, 1e39, -1e-46, float("nan"), float("inf"), 3.4028235677973366e38)),
    ("f64", (0.1, -0.0, 1e300, float("nan"))),
    ("f32", (0, -3, 2**24 + 1, 2**53, -(2**53), 2**53 + 1, 2**80)),
    ("f64", (0, 2**53, 2**53 + 1)),
    ("s8", (127, -128, 128, -129, 0)),
    ("u16", (0, 65535, 65536, -1)),
    ("s64", (2**63 - 1, -(2**63), 2**63)),
    ("u64", (0, 2**63 - 1, 2**63, 2**64)),
    ("pred", (True, False)),
    ("f32", tuple(map(np.float32, (0.1, -0.0, np.inf)))),
    ("bf16", tuple(map(ml_dtypes.bfloat16, (1.5, -2)))),
    ("s16", (np.int16(-5),)),
    ("c64", (np.complex64(1 - 2j),)),
    ("c128", (np.complex128(1 - 2j), np.complex128(complex(0.1, -0.0)))),
    ("c128", (np.array(1 - 2j), np.array(7j))),
    ("f64", (np.array(7.0), np.array(-0.0))),
    ("f16", (0.5,)),
    ("bf16", (0.5, 3)),
)


def test_bits_of_scalars(notes: Notes) -> None:
    """What machine code serves has the bits that Python says; what Python refuses, it refuses; and
    it leaves to Python only what is too large for a word or a double, or rounded in software."""
    left = 0
    for case, (name, scalars) in enumerate(SCALARS):
        kind, out = ELEMENT_TYPES[name], np.zeros(4)
        slots, parts = ((0, 0),), ()
        if kind.itemsize > 8:
            slots, parts = ((0, 0), (0, 0)), ((0, 0), (1, 64))
        table_ = PackedParameters(bytes(8 * len(slots)), slots, parts)
        record = notes.record((Argument(scalar=kind), Argument(0, (0, 32))), 1, table_)
        first = f"scalar {case}", (scalars[0],), out
        found = signature(first[1], first[2])
        assert found is not None
        native = native_call(first, found[0], record)
        if native is None:
            assert name in ("f16", "bf16")
            continue
        assert notes.table.add(native)
        for x in scalars:
            python, machine = both(notes, record, (first[0], (x,), out))
            if machine is None:
                left += python is not None
                assert python is None or abs(x) > 2**53, (x, kind)
            else:
                assert python == machine, (x, kind)
    assert left == 4  # 2**53 + 1 twice, 2**80, and 2**63 as a u64


def test_what_was_set_is_pythons(notes: Notes) -> None:
    out = np.zeros(4)
    record = notes.record((Argument(0, (0, 32)),), 0, PackedParameters(bytes(8), ((0, 0),)))
    given = "what", (), out
    native = native_call(given, (0, np.ndarray, np.ndarray, out.dtype, 1, 4, 8), record)
    assert native is not None and notes.table.add(native)
    assert notes.call(*given) is out
    for name, text, served in (
        (b"a", b"cpu", False), (b"b", b"1", False), (b"c", b"0", False), (b"d", b"off", False),
        (b"d", b"on", True), (b"d", b"no", False), (b"e", b"on", True), (b"f", b"2", True),
    ):  # fmt: skip
        notes.variables[name] = text
        assert (notes.call(*given) is out) == served, name
        notes.variables.clear()
    threaded = native_call(("threads", (), out), (0, np.ndarray, np.ndarray, out.dtype, 1, 4, 8),
                           replace(record, target=CpuBackend().target()))  # fmt: skip
    assert threaded is not None
    notes.variables[b"f"] = b"2"
    assert notes.table.add(threaded) and notes.call("threads", (), out) is out
    notes.variables[b"e"] = b"on"
    assert notes.call("threads", (), out) is None


@pytest.mark.parametrize("count", [1, 2])
def test_new_results(notes: Notes, count: int) -> None:
    """NumPy arrays of any strides, alone and in a tuple, hold their own memory."""
    rng = random.Random(3)
    for case in range(40):
        arrays = [np.zeros((0,))]
        while not all(x.size for x in arrays):
            arrays = [np.asfortranarray(np.zeros([rng.randint(1, 5) for _ in range(3)], "f4"))
                      for _ in range(count)]  # fmt: skip
        new = [NewResult(lambda: None, StridedResult(x.dtype, x.shape, x.strides)) for x in arrays]
        limits = tuple(Argument(0, (0, x.nbytes)) for x in arrays)
        slots = tuple((i, 0) for i in range(count))
        record = notes.record(limits, 0, PackedParameters(bytes(8 * count), slots), *new)
        given = f"new {case}", (), None
        native = native_call(given, (0, type(None)), record)
        assert native is not None and notes.table.add(native)
        found = notes.call(*given)
        results = found if count > 1 else (found,)
        assert type(found) is (tuple if count > 1 else np.ndarray)
        for x, like in zip(results, arrays, strict=True):
            assert (x.dtype, x.shape, x.strides) == (like.dtype, like.shape, like.strides)
            assert x.flags.num == like.flags.num
        assert notes.seen[-1] == np.array([x.ctypes.data for x in results], np.uint64).tobytes()


@pytest.mark.parametrize("fresh", [True, False])
def test_several_kernels(notes: Notes, fresh: bool) -> None:
    """Kernels run in their order, those that visit nothing left out, and see the same temporaries,
    which are memory of their own, aligned; machine code and Python pass the same parameters on."""
    rng = random.Random(4)
    x, out, arguments = np.zeros(8), np.zeros(4), (Argument(7, (0, 64)), Argument(7, (0, 32)))
    strided = NewResult(lambda: np.empty(4), StridedResult(out.dtype, out.shape, out.strides))
    for case in range(60):
        sizes = tuple(rng.choice([1, 64, 100, 4096]) for _ in range(rng.randint(1, 3)))
        known = 2 + len(sizes)
        every, notes.size = range(-1, known), 8 * known + 16
        kernels = tuple(
            replace(
                notes.kernel_of(
                    PackedParameters(
                        rng.randbytes(notes.size), tuple((i, 0) for i in rng.sample(every, known))
                    )
                ),
                grid=rng.choice([7, 7, 7, 0]), num_bytes=rng.choice([0, 1 << 20]),
            )
            for _ in range(rng.randint(1, 4))
        )  # fmt: skip
        record = replace(
            notes.record(arguments, 1, PackedParameters(b"", ())),
            kernels=kernels, temporaries=sizes, new=(strided,) if fresh else (),
        )  # fmt: skip
        notes.size = 8 * known + 16
        given = f"several {case} {fresh}", (x,), None if fresh else out
        signed = signature(given[1], given[2])
        assert signed is not None
        native = native_call(given, signed[0], record)
        assert native is not None and notes.table.add(native)
        for python in (True, False):
            notes.seen.clear()
            result = record.run(given[2], [*signed[1]]) if python else notes.call(*given)
            assert result is out if not fresh else result.shape == (4,)
            _check_several(notes.seen, [one for one in kernels if one.grid], sizes, x, result)


def _check_several(
    seen: list[bytes], kernels: list[RecordedKernel], sizes: tuple[int, ...], x: Any, out: Any
) -> None:
    """Whether kernels have seen what their parameters say."""
    assert len(seen) == len(kernels)
    at: dict[int, int] = {-1: 0, 0: x.ctypes.data, 1: out.ctypes.data}
    for table, one in zip(seen, kernels, strict=True):
        slots = one.parameters.slots
        found = np.frombuffer(table, np.uint64, len(slots)).tolist()
        for (number, _), address in zip(slots, found, strict=True):
            assert at.setdefault(number, address) == address
        assert table[8 * len(slots) :] == one.parameters.packed[8 * len(slots) :]
    used = [(at[2 + k], at[2 + k] + size) for k, size in enumerate(sizes) if 2 + k in at]
    used += [(at[0], at[0] + x.nbytes), (at[1], at[1] + out.nbytes)]
    used.sort()
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(used))
    assert all(at.get(2 + k, 0) % 64 == 0 for k in range(len(sizes)))


def test_large_temporaries_are_pythons(notes: Notes) -> None:
    """Memory that is worth keeping between calls comes from the pool, which Python asks."""
    record = notes.record((Argument(0, (0, 32)),), 0, PackedParameters(bytes(8), ((0, 0),)))
    given, signed = ("large", (), np.zeros(4)), (0, type(None))
    for size, known in ((LEAST - ALIGNMENT, True), (LEAST, False)):
        native = native_call(given, signed, replace(record, temporaries=(size,)))
        assert (native is not None) == known


def test_most_of_a_table_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records whose places are taken are not added."""
    tried = a_table(0)
    nothing = RecordedKernel(PackedParameters(b"", ()), None, 0, (1, 1), 0)
    record = RecordedCall(CpuBackend(), ("cpu", 0), (), 0, (nothing,), (), None, (), False)
    native = native_call(("what", (), None), (0, type(None)), record)
    assert native is not None
    assert [tried.add(native) for _ in range(record_layout.PROBES + 1)] == [
        *[True] * record_layout.PROBES,
        False,
    ]
    assert call_table.MOST_CALLS > record_layout.PROBES
