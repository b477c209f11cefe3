"""Pickles: those of 0.1.0 load, and new ones name no module's place."""

from __future__ import annotations

import base64
import pickle
import pickletools

import numpy as np
import pytest

import gpubcast as gb

# Made by gpubcast 0.1.0 with protocol 4; each by the expression of the same name in OBJECTS.
OLD = {
    "shape": (
        "gASVpAAAAAAAAACMDmdwdWJjYXN0LnNoYXBllIwFU2hhcGWUk5SMFmdwdWJjYXN0LmVsZW1lbnRfdHlw"
        "ZXOUjAxlbGVtZW50X3R5cGWUk5SMA2YzMpSFlFKUSwJLA4aUjA9ncHViY2FzdC5sYXlvdXSUjAZMYXlv"
        "dXSUk5QoSwBLAYaUSwNLBYaUaAqMDFBhZGRpbmdWYWx1ZZSTlEsBhZRSlIwAlHSUUpSHlFKULg=="
    ),
    "layout": (
        "gASVSwAAAAAAAACMD2dwdWJjYXN0LmxheW91dJSMBkxheW91dJSTlChLAEsBhpRLA0sFhpRoAIwMUGFk"
        "ZGluZ1ZhbHVllJOUSwGFlFKUjACUdJRSlC4="
    ),
    "padding": ("gASVKgAAAAAAAACMD2dwdWJjYXN0LmxheW91dJSMDFBhZGRpbmdWYWx1ZZSTlEsDhZRSlC4="),
    "type": (
        "gASVNgAAAAAAAACMFmdwdWJjYXN0LmVsZW1lbnRfdHlwZXOUjAxlbGVtZW50X3R5cGWUk5SMBGJmMTaUhZRSlC4="
    ),
    "plan": (
        "gASV2gEAAAAAAACMDmdwdWJjYXN0LmJvdW5klIwEUGxhbpSTlCmBlF2UKIwDYWRklIwTZ3B1YmNhc3Qu"
        "ZXhwcmVzc2lvbpSMCkV4cHJlc3Npb26Uk5QpgZRdlChLAmgGjAlQYXJhbWV0ZXKUk5QpgZRdlEsAYWJo"
        "DCmBlF2USwFhYmgGjAVBcHBseZSTlCmBlF2UKGgFSwBLAYaUjBRicm9hZGNhc3RfZGltZW5zaW9uc5RL"
        "AYWUhpSFlGVih5RLAoWUKSmJiWgGjAVOYW1lc5STlCmBlF2UKCkpZWJlYowOZ3B1YmNhc3Quc2hhcGWU"
        "jAVTaGFwZZSTlIwWZ3B1YmNhc3QuZWxlbWVudF90eXBlc5SMDGVsZW1lbnRfdHlwZZSTlIwDZjMylIWU"
        "UpRLAksDhpSMD2dwdWJjYXN0LmxheW91dJSMBkxheW91dJSTlChLAUsAhpROaCqMDFBhZGRpbmdWYWx1"
        "ZZSTlEsAhZRSlIwAlHSUUpSHlFKUaCJoKEsDhZRoLChLAIWUTmgxaDJ0lFKUh5RSlIaUTksASwGGlCiR"
        "lEsCaCJoKEsCSwOGlGgsKEsBSwCGlE5oMWgydJRSlIeUUpSFlIwIYnVpbHRpbnOUjAZvYmplY3SUk5Qp"
        "gZRlYi4="
    ),
    "array": (
        "gASVaQEAAAAAAACMD2dwdWJjYXN0LmFycmF5c5SMCV9yZXN0b3JlZJSTlIwOZ3B1YmNhc3Quc2hhcGWU"
        "jAVTaGFwZZSTlIwWZ3B1YmNhc3QuZWxlbWVudF90eXBlc5SMDGVsZW1lbnRfdHlwZZSTlIwDZjMylIWU"
        "UpRLAksDhpSMD2dwdWJjYXN0LmxheW91dJSMBkxheW91dJSTlChLAUsAhpROaA2MDFBhZGRpbmdWYWx1"
        "ZZSTlEsAhZRSlIwAlHSUUpSHlFKUjBZudW1weS5fY29yZS5tdWx0aWFycmF5lIwMX3JlY29uc3RydWN0"
        "lJOUjAVudW1weZSMB25kYXJyYXmUk5RLAIWUQwFilIeUUpQoSwFLGIWUaB2MBWR0eXBllJOUjAJ1MZSJ"
        "iIeUUpQoSwOMAXyUTk5OSv////9K/////0sAdJRiiUMYAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAlHSU"
        "YowDY3B1lIeUUpQu"
    ),
    "error": (
        "gASVTQIAAAAAAACMD2dwdWJjYXN0LmVycm9yc5SMClNoYXBlRXJyb3KUk5RYCAEAAGFkZDogb3BlcmFu"
        "ZCAxIGhhcyByYW5rIDEgYW5kIG9wZXJhbmQgMCBoYXMgcmFuayAyLCBhbmQgYnJvYWRjYXN0X2RpbWVu"
        "c2lvbnMgaXMgbm90IGdpdmVuIFtCNWFdCiAgb3V0cHV0IGRpbWVuc2lvbiAgICAgMCAgMQogIG9wZXJh"
        "bmQgMDogZjMyWzIsM10gIDIgIDMKICBvcGVyYW5kIDE6IGYzMls0XSAgICA/ICA/CmhlbHA6IG5vIGJy"
        "b2FkY2FzdF9kaW1lbnNpb25zIGFyZSBsZWdhbDogKDQsKSBkb2VzIG5vdCBmaXQgaW50byAoMiwgMykg"
        "aW4gdGhpcyBvcmRlcpSFlFKUfZQojARydWxllIwDQjVhlIwEa2luZJSMNlNoYXBlcyBtdXN0IGJlIGVx"
        "dWFsIHJhbmssIGJ1dCBhcmUgPHNoYXBlPiBhbmQgPHNoYXBlPpSMCG9wZXJhbmRzlIwOZ3B1YmNhc3Qu"
        "c2hhcGWUjAVTaGFwZZSTlIwWZ3B1YmNhc3QuZWxlbWVudF90eXBlc5SMDGVsZW1lbnRfdHlwZZSTlIwD"
        "ZjMylIWUUpRLAksDhpSMD2dwdWJjYXN0LmxheW91dJSMBkxheW91dJSTlChLAUsAhpROaBaMDFBhZGRp"
        "bmdWYWx1ZZSTlEsAhZRSlIwAlHSUUpSHlFKUaA5oFEsEhZRoGChLAIWUTmgdaB50lFKUh5RSlIaUdWIu"
    ),
    "unknown": (
        "gASVgwAAAAAAAACMD2dwdWJjYXN0LmVycm9yc5SMEFVua25vd25OYW1lRXJyb3KUk5SMM2dwdWJjYXN0"
        "IGhhcyBubyAnc3VidHJhY3QnOyBncHViY2FzdCBjYWxscyBpdCAnc3ViJ5SFlFKUfZQojARydWxllE6M"
        "BGtpbmSUTowIb3BlcmFuZHOUKXViLg=="
    ),
    "fused_plan": (
        "gASVvAIAAAAAAACMDmdwdWJjYXN0LmJvdW5klIwEUGxhbpSTlCmBlF2UKIwIPGxhbWJkYT6UjBNncHVi"
        "Y2FzdC5leHByZXNzaW9ulIwKRXhwcmVzc2lvbpSTlCmBlF2UKEsCKGgGjAlQYXJhbWV0ZXKUk5QpgZRd"
        "lEsAYWJoDCmBlF2USwFhYmgGjAVBcHBseZSTlCmBlF2UKIwDbXVslEsASwGGlCllYmgGjAhDb25zdGFu"
        "dJSTlCmBlF2UKIwDZjMylEoAAIA/ZWJoEimBlF2UKIwDYWRklEsCSwOGlCllYnSUSwSFlCkpiYloBowF"
        "TmFtZXOUk5QpgZRdlCiMAXiUjAF5lIaUKIwZPGxhbWJkYT4gKG1rcGlja2xlLnB5OjE1KZRoKYw3PGxh"
        "bWJkYT4gKG1rcGlja2xlLnB5OjE1KTogZj1nYi5mdXNlKGxhbWJkYSB4LHk6IHgqeSsxKZSMNzxsYW1i"
        "ZGE+IChta3BpY2tsZS5weToxNSk6IGY9Z2IuZnVzZShsYW1iZGEgeCx5OiB4KnkrMSmUjDc8bGFtYmRh"
        "PiAobWtwaWNrbGUucHk6MTUpOiBmPWdiLmZ1c2UobGFtYmRhIHgseTogeCp5KzEplHSUZWJlYowOZ3B1"
        "YmNhc3Quc2hhcGWUjAVTaGFwZZSTlIwWZ3B1YmNhc3QuZWxlbWVudF90eXBlc5SMDGVsZW1lbnRfdHlw"
        "ZZSTlGgbhZRSlEsEhZSMD2dwdWJjYXN0LmxheW91dJSMBkxheW91dJSTlChLAIWUTmg3jAxQYWRkaW5n"
        "VmFsdWWUk5RLAIWUUpSMAJR0lFKUh5RSlGgwaDVLBIWUaEGHlFKUhpROSwBLAYaUKJGUSwJoMGg1SwSF"
        "lGg5KEsAhZROaD5oP3SUUpSHlFKUhZSMCGJ1aWx0aW5zlIwGb2JqZWN0lJOUKYGUZWIu"
    ),
}


@gb.fuse
def scaled(x, y):  # type: ignore[no-untyped-def]
    return x * y + 1


OBJECTS = {
    "shape": lambda: gb.Shape.parse("f32[2,3]{0,1:pad(3,5,zero)}"),
    "layout": lambda: gb.Layout(
        (0, 1), padded_dimensions=(3, 5), padding_value=gb.PaddingValue.ZERO
    ),
    "padding": lambda: gb.PaddingValue.LOWEST,
    "type": lambda: gb.element_type("bf16"),
    "plan": lambda: gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)),
    "fused_plan": lambda: scaled.plan("f32[4]", "f32[4]"),
}


@pytest.mark.parametrize("name", [name for name in OBJECTS if name != "fused_plan"])
def test_what_0_1_0_pickled_loads(name: str) -> None:
    assert pickle.loads(base64.b64decode(OLD[name])) == OBJECTS[name]()


def test_arrays_and_errors_of_0_1_0_load() -> None:
    array = pickle.loads(base64.b64decode(OLD["array"]))
    assert isinstance(array, gb.Array)
    np.testing.assert_array_equal(array.numpy(), np.arange(6, dtype="f4").reshape(2, 3))
    error = pickle.loads(base64.b64decode(OLD["error"]))
    assert type(error) is gb.ShapeError
    assert (error.rule, len(error.operands)) == ("B5a", 2)
    assert type(pickle.loads(base64.b64decode(OLD["unknown"]))) is gb.UnknownNameError


def test_plans_of_0_1_0_run() -> None:
    plan = pickle.loads(base64.b64decode(OLD["plan"]))
    x, v = np.ones((2, 3), "f4"), np.arange(3, dtype="f4")
    np.testing.assert_array_equal(plan(x, v), x + v)
    # A fused one remembers the lines of its function, which were another file's.
    fused = pickle.loads(base64.b64decode(OLD["fused_plan"]))
    y = np.arange(4, dtype="f4")
    np.testing.assert_array_equal(fused(y, y), y * y + 1)


@pytest.mark.parametrize("name", OBJECTS)
def test_public_classes_are_pickled_as_the_packages(name: str) -> None:
    text = pickle.dumps(OBJECTS[name](), protocol=4)
    assert pickle.loads(text) == OBJECTS[name]()
    strings = [value for _, value, _ in pickletools.genops(text) if isinstance(value, str)]
    homes = {value for value in strings if value.split(".")[0] == "gpubcast"}
    # The nodes of an expression are no public classes.
    assert homes <= {"gpubcast", "gpubcast.shapes.element_types", "gpubcast.hlo.expression"}


def test_a_module_that_never_was_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(b"cgpubcast.shapely\nShape\n.")
