"""The exceptions: what they are, and that they survive a process boundary."""

from __future__ import annotations

import copy
import pickle

import pytest

from gpubcast import errors
from gpubcast.shapes.shape import Shape

OPERANDS = (Shape("f32", (2, 3)), Shape("f32", (3,)))


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.ShapeError, ValueError),
        (errors.ElementTypeError, TypeError),
        (errors.LayoutError, ValueError),
        (errors.DeviceError, RuntimeError),
        (errors.CompileError, RuntimeError),
    ],
)
def test_each_error_is_ours_and_a_builtin(error: type[errors.Error], builtin: type) -> None:
    assert error.__mro__[1:3] == (errors.Error, builtin)


@pytest.mark.parametrize(
    "error",
    [
        *(errors.Error, errors.ShapeError, errors.ElementTypeError),
        *(errors.LayoutError, errors.DeviceError, errors.OutOfMemoryError, errors.ExportError),
    ],
)
@pytest.mark.parametrize("carry", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_pickling_keeps_message_rule_kind_and_operands(error: type[errors.Error], carry) -> None:
    carried = carry(error("no", rule="B5c", kind="Expected <n>", operands=OPERANDS))
    assert type(carried) is error
    assert str(carried) == "no [B5c]"
    assert carried.rule == "B5c"
    assert carried.kind == "Expected <n>"
    assert carried.operands == OPERANDS


def test_a_lack_of_memory_is_the_devices_and_pythons() -> None:
    assert errors.OutOfMemoryError.__bases__ == (errors.DeviceError, MemoryError)

    @errors.allocates
    def call(error: type[Exception], *args: object) -> None:
        raise error(*args)

    with pytest.raises(errors.OutOfMemoryError, match=r"^not enough memory: 7 MB$"):
        call(MemoryError, "7 MB")
    with pytest.raises(errors.OutOfMemoryError, match=r"^one of ours$"):
        call(errors.OutOfMemoryError, "one of ours")
    with pytest.raises(errors.OutOfMemoryError, match=r"^not enough memory$"):
        call(MemoryError)
    with pytest.raises(KeyError):
        call(KeyError)


def test_fields_default_to_nothing() -> None:
    error = errors.ShapeError("no")
    assert (error.rule, error.kind, error.operands) == (None, None, ())


def test_operands_become_a_tuple() -> None:
    assert errors.Error("no", operands=list(OPERANDS)).operands == OPERANDS


def test_pickling_keeps_what_the_compiler_said() -> None:
    error = errors.CompileError("no", source="int x", log="line 1", options=("-std=c++17",))
    carried = pickle.loads(pickle.dumps(error))
    assert type(carried) is errors.CompileError
    assert (carried.source, carried.log) == ("int x", "line 1")
    assert carried.options == ("-std=c++17",)
    assert (carried.rule, carried.kind, carried.operands) == (None, None, ())


def test_notes_survive_pickling() -> None:
    error = errors.ShapeError("no")
    error.add_note("in a fused function")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["in a fused function"]


def test_numbered_source() -> None:
    assert errors.numbered("a\n\nb\n") == "   1 | a\n   2 | \n   3 | b"
