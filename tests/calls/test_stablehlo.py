"""``gb.from_stablehlo`` on the CPU: values against NumPy, kernels, sizes, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime.state import STATE
from tests.support import doors

doors.library("jaxlib")

RNG = np.random.default_rng(7)
X = RNG.standard_normal((4, 6)).astype("f4")
V = RNG.standard_normal(6).astype("f4")


def function(body: str, signature: str, result: str) -> gb.StablehloFunction:
    """The function ``@main`` with a body that ends in a return."""
    return gb.from_stablehlo(f"func.func @main({signature}) -> {result} {{\n{body}\n}}")


def kernels(f: gb.StablehloFunction, *shapes: Any) -> int:
    """How many kernels a call launches."""
    return sum(len(plan.broadcast_plans) for plan in f.plans(*shapes))


NORMALISED = """
func.func @main(%x: tensor<4x6xf32>, %g: tensor<6xf32>) -> tensor<4x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<6.0> : tensor<4xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %mean = stablehlo.divide %sum, %n : tensor<4xf32>
  %column = stablehlo.reshape %mean : (tensor<4xf32>) -> tensor<4x1xf32>
  %spread = stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
  %gain = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %y = func.call @scaled(%x, %spread, %gain) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func private @scaled(%x: tensor<4x6xf32>, %m: tensor<4x6xf32>, %g: tensor<4x6xf32>)
    -> tensor<4x6xf32> {
  %d = stablehlo.subtract %x, %m : tensor<4x6xf32>
  %y = stablehlo.multiply %d, %g : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}"""


def test_a_reduction_and_what_follows_are_one_kernel_with_our_own_bits() -> None:
    f = gb.from_stablehlo(NORMALISED)

    @gb.fuse("r c, c -> r c")
    def ours(x: Any, g: Any) -> Any:
        return (x - gb.reduce_sum(x, "c") / np.float32(6)) * g

    assert kernels(f) == 1 and f.notes() == ()
    np.testing.assert_array_equal(f(X, V), ours(X, V))


def test_sources_are_text_a_path_a_module_and_a_portable_artifact(tmp_path: Any) -> None:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    wanted = gb.from_stablehlo(NORMALISED)(X, V)
    path = tmp_path / "module.mlir"
    path.write_text(NORMALISED)
    with ir.Context() as context:
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        module = ir.Module.parse(NORMALISED)
        # Serialising changes its module.
        other = ir.Module.parse(NORMALISED)
        artifact = stablehlo.serialize_portable_artifact(other, stablehlo.get_minimum_version())
    for source in (path, module, artifact):
        np.testing.assert_array_equal(gb.from_stablehlo(source)(X, V), wanted)
    again = pickle.loads(pickle.dumps(gb.from_stablehlo(NORMALISED)))
    np.testing.assert_array_equal(again(X, V), wanted)


def test_results_follow_the_kind_of_the_operands() -> None:
    f = gb.from_stablehlo(NORMALISED)
    assert type(f(X, V)) is np.ndarray
    made = f(X, gb.array(V))
    assert type(made) is gb.Array
    np.testing.assert_array_equal(made.numpy(), f(X, V))
    np.testing.assert_array_equal(f(np.asfortranarray(X), V[::-1][::-1]), f(X, V))


CONSTANTS = [
    ("bf16", "bf16", "[1.5, 0x7F80]", [1.5, np.inf]),
    ("i4", "s4", "[-8, 7]", [-8, 7]),
    ("ui8", "u8", "[0, 255]", [0, 255]),
    ("i1", "pred", "[true, false]", [True, False]),
    ("f8E4M3FN", "f8e4m3fn", "[448.0, -0.0]", [448.0, -0.0]),
    ("complex<f32>", "c64", "[(1.0, -2.0), (0x7F800000, 0.5)]", [1 - 2j, complex(np.inf, 0.5)]),
    ("f64", "f64", '"0x000000000000F03F0000000000000040"', [1.0, 2.0]),
    ("i64", "s64", "7", [7, 7]),
    ("ui64", "u64", "[18446744073709551615, 1]", [2**64 - 1, 1]),
]


@pytest.mark.parametrize(("theirs", "ours", "text", "values"), CONSTANTS, ids=lambda x: str(x)[:12])
def test_constants_of_every_kind_are_read(theirs: str, ours: str, text: str, values: Any) -> None:
    kind = f"tensor<2x{theirs}>"
    f = function(f"%c = stablehlo.constant dense<{text}> : {kind}\n return %c : {kind}", "", kind)
    made = f()
    wanted = np.array(values, np.uint64 if ours == "u64" else None).astype(
        gb.element_type(ours).dtype
    )
    assert made.dtype == wanted.dtype and made.tobytes() == wanted.tobytes()


def test_one_value_for_all_takes_no_memory() -> None:
    f = function(
        """%c = stablehlo.constant dense<3> : tensor<1000000x1000000x1000x1xi32>
        %z = stablehlo.constant dense<0> : tensor<0x3xi32>
        %n = stablehlo.get_dimension_size %c, dim = 1
          : (tensor<1000000x1000000x1000x1xi32>) -> tensor<i32>
        return %n, %z : tensor<i32>, tensor<0x3xi32>""",
        "",
        "(tensor<i32>, tensor<0x3xi32>)",
    )
    size, nothing = f()
    assert size == 1000000 and nothing.shape == (0, 3)


def test_reshapes_are_views_and_are_pushed_through_what_is_elementwise() -> None:
    f = function(
        """%e = stablehlo.exponential %x : tensor<4x6xf32>
        %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
        %s = stablehlo.add %e, %b : tensor<4x6xf32>
        %y = stablehlo.reshape %s : (tensor<4x6xf32>) -> tensor<2x2x1x3x2xf32>
        %z = stablehlo.negate %y : tensor<2x2x1x3x2xf32>
        return %z : tensor<2x2x1x3x2xf32>""",
        "%x: tensor<4x6xf32>, %v: tensor<6xf32>",
        "tensor<2x2x1x3x2xf32>",
    )
    assert kernels(f) == 1 and f.notes() == ()
    np.testing.assert_array_equal(
        f(X, V), -gb.add(gb.exp(X), V, broadcast_dimensions=(1,)).reshape(2, 2, 1, 3, 2)
    )
    np.testing.assert_array_equal(f(np.asfortranarray(X), V), f(X, V))
    np.testing.assert_array_equal(f(gb.array(np.asfortranarray(X)), V).numpy(), f(X, V))


def test_a_reshape_of_a_transpose_is_cut_with_a_note() -> None:
    body = """%e = stablehlo.negate %x : tensor<4x6xf32>
        %t = stablehlo.transpose %e, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
        %y = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<24xf32>
        %z = stablehlo.abs %y : tensor<24xf32>
        return %z : tensor<24xf32>"""
    f = function(body, "%x: tensor<4x6xf32>", "tensor<24xf32>")
    assert len(f.plans()) == 2
    (note,) = f.notes()
    assert "line 4" in note and "temporary of 96 bytes" in note
    assert note in f.explain()
    np.testing.assert_array_equal(f(X), np.abs((-X).T.reshape(24)))
    # As a result it is the very memory that the kernel wrote.
    last = body.replace("%z = stablehlo.abs %y : tensor<24xf32>", "").replace("%z", "%y")
    f = function(last, "%x: tensor<4x6xf32>", "tensor<24xf32>")
    assert kernels(f) == 1 and f.notes() == ()
    np.testing.assert_array_equal(f(X), (-X).T.reshape(24))


def test_results_are_new_memory_and_each_its_own() -> None:
    f = function(
        """%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
        %r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
        %n = stablehlo.negate %t : tensor<6x4xf32>
        %a = stablehlo.reshape %n : (tensor<6x4xf32>) -> tensor<24xf32>
        %b = stablehlo.reshape %n : (tensor<6x4xf32>) -> tensor<12x2xf32>
        return %x, %t, %r, %a, %b, %a
          : tensor<4x6xf32>, tensor<6x4xf32>, tensor<24xf32>, tensor<24xf32>, tensor<12x2xf32>,
            tensor<24xf32>""",
        "%x: tensor<4x6xf32>",
        "(tensor<4x6xf32>, tensor<6x4xf32>, tensor<24xf32>, tensor<24xf32>, tensor<12x2xf32>, "
        "tensor<24xf32>)",
    )
    made = f(X)
    moved = (-X).T.reshape(24)
    for got, wanted in zip(
        made, (X, X.T, X.reshape(24), moved, moved.reshape(12, 2), moved), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
    for i, one in enumerate(made):
        assert not any(np.shares_memory(one, other) for other in (X, *made[:i]))


REDUCTIONS = [
    ("add", "f32", "0.0", lambda x: np.stack([gb.reduce_sum(r, (0,)) for r in x])),
    ("add", "f32", "2.0", lambda x: 2 + np.stack([gb.reduce_sum(r, (0,)) for r in x])),
    ("maximum", "f32", "0xFF800000", lambda x: x.max(1)),
    ("maximum", "f32", "1.0", lambda x: np.maximum(x.max(1), 1)),
    ("minimum", "i32", "2147483647", lambda x: x.min(1)),
    ("multiply", "i32", "1", lambda x: x.prod(1)),
    ("and", "i32", "-1", lambda x: np.bitwise_and.reduce(x, 1)),
    ("or", "i1", "false", lambda x: x.any(1)),
    ("xor", "ui8", "1", lambda x: np.bitwise_xor.reduce(x, 1) ^ 1),
]


@pytest.mark.parametrize(("name", "of", "init", "wanted"), REDUCTIONS)
def test_reductions_by_their_bodies(name: str, of: str, init: str, wanted: Any) -> None:
    dtype = {"f32": "f4", "i32": "i4", "i1": "?", "ui8": "u1"}[of]
    x = (X * 3).astype(dtype)
    f = function(
        f"""%i = stablehlo.constant dense<{init}> : tensor<{of}>
        %r = stablehlo.reduce(%x init: %i) applies stablehlo.{name} across dimensions = [1]
          : (tensor<4x6x{of}>, tensor<{of}>) -> tensor<4x{of}>
        return %r : tensor<4x{of}>""",
        f"%x: tensor<4x6x{of}>",
        f"tensor<4x{of}>",
    )
    assert kernels(f) == 1
    np.testing.assert_array_equal(f(x), wanted(x).astype(dtype))


def pairs(direction: str, *, nan: bool = True, axis: int = 1) -> str:
    pick = "%gt" if not nan else "%pick"
    more = (
        ""
        if not nan
        else """%ne = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %pick = stablehlo.or %gt, %ne : tensor<i1>"""
    )
    least = "0xFF800000" if direction == "GT" else "0x7F800000"
    return f"""%least = stablehlo.constant dense<{least}> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %at = stablehlo.iota dim = {axis} : tensor<4x6xi32>
    %r:2 = stablehlo.reduce(%x init: %least), (%at init: %zero) across dimensions = [1]
      : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
      %gt = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      {more}
      %eq = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %lt = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %lt : tensor<i1>
      %first = stablehlo.or {pick}, %tie : tensor<i1>
      %v = stablehlo.select {pick}, %a, %b : tensor<i1>, tensor<f32>
      %k = stablehlo.select %first, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %k : tensor<f32>, tensor<i32>
    }}
    return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>"""


@pytest.mark.parametrize("nan", [True, False])
@pytest.mark.parametrize(("direction", "name"), [("GT", "argmax"), ("LT", "argmin")])
def test_pairs_of_a_value_and_its_index(direction: str, name: str, nan: bool) -> None:
    f = function(pairs(direction, nan=nan), "%x: tensor<4x6xf32>", "(tensor<4xf32>, tensor<4xi32>)")
    x = X.copy()
    x[1] = 2
    value, index = f(x)
    np.testing.assert_array_equal(index, getattr(np, name)(x, 1))
    np.testing.assert_array_equal(value, (np.max if name == "argmax" else np.min)(x, 1))
    if nan:
        x[2, 3] = np.nan
        assert f(x)[1][2] == 3


SYMBOLIC = """
func.func @main(%x: tensor<?x?xf32>, %g: tensor<?xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %m1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %spread = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %gain = stablehlo.dynamic_broadcast_in_dim %g, %shape, dims = [1]
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %count = stablehlo.convert %m : (tensor<i32>) -> tensor<f32>
  %counts = stablehlo.dynamic_broadcast_in_dim %count, %shape, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %mean = stablehlo.divide %spread, %counts : tensor<?x?xf32>
  %d = stablehlo.subtract %x, %mean : tensor<?x?xf32>
  %y = stablehlo.multiply %d, %gain : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}"""
SIZES = [
    *[(16, 32), (17, 33), (100, 7), (300, 200), (5, 3)],
    *[(64, 64), (63, 65), (2, 1000), (1000, 2), (3, 511)],
]


def test_ten_sizes_of_open_dimensions_compile_four_kernels() -> None:
    f = gb.from_stablehlo(SYMBOLIC)
    assert f.parameters == ("f32[?,?]", "f32[?]")
    added = []
    for n, m in SIZES:
        x, g = RNG.standard_normal((n, m)).astype("f4"), RNG.standard_normal(m).astype("f4")
        before = set(STATE.kernels)
        made = f(x, g)
        added.append(len(set(STATE.kernels) - before))
        wanted = (x - (gb.reduce_sum(x, (1,)) / np.float32(m))[:, None]) * g
        np.testing.assert_array_equal(made, wanted)
    # The first size's, and those of rows of 7, 200 and 3: short rows have kernels of their own.
    assert all(count <= (k in (0, 2, 3, 4)) for k, count in enumerate(added)), added


def test_another_size_of_a_symbolic_module_is_refused_where_it_does_not_fit() -> None:
    f = gb.from_stablehlo(SYMBOLIC)
    with pytest.raises(gb.Error, match=r"stablehlo.dynamic_broadcast_in_dim \(line 13\)"):
        f(X, V[:4])
    with pytest.raises(gb.ShapeError, match=r"operand 1 .* its parameter is f32\[\?\]") as caught:
        f(X, X)
    assert caught.value.rule == "H5"


def test_functions_are_chosen_by_name() -> None:
    f = gb.from_stablehlo(NORMALISED, function="scaled")
    np.testing.assert_array_equal(f(X, X, X), np.zeros_like(X))
    with pytest.raises(gb.Error, match=r"no function @other; it has main, scaled") as caught:
        gb.from_stablehlo(NORMALISED, function="other")
    assert caught.value.rule == "H4"


def test_scalars_fit_parameters_without_dimensions() -> None:
    f = function(
        "%y = stablehlo.add %x, %x : tensor<bf16>\n return %y : tensor<bf16>",
        "%x: tensor<bf16>",
        "tensor<bf16>",
    )
    assert f(1.5) == 3 and f(np.float32(1.5).astype(gb.element_type("bf16").dtype)) == 3
    with pytest.raises(gb.ElementTypeError, match=r"parameter is bf16\[\] \[H5\]"):
        f(np.float32(1))


REFUSED = [
    (
        "%y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1]"
        " : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>",
        "H2",
        r"stablehlo.dot_general \(line 2\)",
    ),
    (
        "%y = stablehlo.custom_call @mine(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>",
        "H2",
        r"stablehlo.custom_call @mine \(line 2\)",
    ),
    ('%y = "other.thing"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>', "H2", "other.thing"),
    (
        "%y = stablehlo.convert %x : (tensor<4x6xf32>) -> tensor<4x6xi2>",
        "H3",
        r"tensor<4x6xi2> is no tensor",
    ),
    (
        """%z = stablehlo.constant dense<0.0> : tensor<f32>
        %y = stablehlo.reduce(%x init: %z) across dimensions = [1]
          : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
          reducer(%a: tensor<f32>, %b: tensor<f32>) {
          %s = stablehlo.subtract %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }""",
        "H9",
        "its body is no known one",
    ),
    (
        """%i = stablehlo.convert %x : (tensor<4x6xf32>) -> tensor<4x6xi32>
        %z = stablehlo.constant dense<0> : tensor<i32>
        %n = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1]
          : (tensor<4x6xi32>, tensor<i32>) -> tensor<i32>
        %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>""",
        "H7",
        "depend on elements of an array",
    ),
    ("%y = func.call @main(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>", "H2", "calls itself"),
]


@pytest.mark.parametrize(("body", "rule", "text"), REFUSED, ids=lambda x: str(x)[:24])
def test_what_is_outside_is_refused_by_name_and_place(body: str, rule: str, text: str) -> None:
    f = function(f"{body}\nreturn %x : tensor<4x6xf32>", "%x: tensor<4x6xf32>", "tensor<4x6xf32>")
    with pytest.raises(gb.Error, match=text) as caught:
        f(X)
    assert caught.value.rule == rule


def test_pairs_that_are_no_extreme_are_refused() -> None:
    given = "%x: tensor<4x6xf32>", "(tensor<4xf32>, tensor<4xi32>)"
    with pytest.raises(gb.Error, match=r"no iota \[H9\]"):
        function(pairs("GT", axis=0), *given)(X)
    with pytest.raises(gb.Error, match=r"a value of its own, not with the least \[H9\]"):
        function(pairs("GT").replace("dense<0>", "dense<1>"), *given)(X)
    with pytest.raises(gb.Error, match="no known one"):
        function(pairs("GE"), *given)(X)


def test_a_shape_assertion_speaks_as_its_module_does() -> None:
    f = gb.from_stablehlo(
        """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<i32>
        %ok = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ok, %n) {
          api_version = 2 : i32, error_message = "at least two, not {0}", has_side_effect = true
        } : (tensor<i1>, tensor<i32>) -> ()
        return %x : tensor<?xf32>
      }"""
    )
    np.testing.assert_array_equal(f(V), V)
    with pytest.raises(gb.ShapeError, match="at least two, not 1") as caught:
        f(V[:1])
    assert caught.value.rule == "H8"


def test_sizes_that_do_not_go_together_are_refused() -> None:
    f = gb.from_stablehlo(
        """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
        %z = stablehlo.add %x, %y : tensor<?xf32>
        return %z : tensor<?xf32>
      }"""
    )
    np.testing.assert_array_equal(f(V, V), V + V)
    with pytest.raises(gb.ShapeError, match=r"stablehlo.add \(line 2\)") as caught:
        f(V, V[:1])  # which gb.add would expand
    assert caught.value.rule == "H6"


def test_what_is_no_module_is_refused() -> None:
    for source in ("func.func @main( {", b"ML\xefRnonsense", 3):
        with pytest.raises(gb.Error) as caught:
            gb.from_stablehlo(source)
        assert caught.value.rule == "H1"
    for source, says in (
        ("module.mlir", r"pathlib\.Path"),
        ("func.func private @main(tensor<3xf32>) -> tensor<3xf32>", "@main is declared"),
    ):
        with pytest.raises(gb.Error, match=says) as caught:
            gb.from_stablehlo(source)
        assert caught.value.rule == "H1"
    quantised = "func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) { return }"
    with pytest.raises(
        gb.ElementTypeError, match=r"parameter 0 of @main: .*quant\.uniform"
    ) as caught:
        gb.from_stablehlo(quantised)
    assert caught.value.rule == "H3"
