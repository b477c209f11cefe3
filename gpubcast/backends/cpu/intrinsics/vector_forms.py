"""Functions that loops call on single elements, with forms on vectors that stand for them, so that
the loops become vector loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics.short_tables import vector_unit

_VECTORS = (128, 256, 512)  # widths in bits of the vectors that functions have forms on


def with_vectors(
    module: ir.Module,
    name: str,
    result: ir.Type,
    operands: list[ir.Type],
    scalar: Callable[[Any, list[Any]], Any],
    vector: Callable[[Any, list[Any]], Any],
    *,
    inlined: bool = True,
) -> Any:
    """A function with forms on vectors. Those of the vector unit's size are what ``vector`` makes;
    a shorter one is widened and a longer one is taken in parts. Long ones may stay calls."""
    if name in module.globals:
        return module.globals[name]
    function = internal(module, name, ir.FunctionType(result, operands), "noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(scalar(builder, list(function.args)))
    bits = 32 if result == ir.FloatType() else 64
    full = vector_unit().bits // bits
    forms = []
    for size in _VECTORS:
        count = size // bits
        typed = ir.FunctionType(
            ir.VectorType(result, count), [ir.VectorType(t, count) for t in operands]
        )
        how = "alwaysinline" if inlined else "noinline"
        form = internal(module, f"{name}_x{count}", typed, how)
        builder = ir.IRBuilder(form.append_basic_block("entry"))
        builder.ret(_in_parts(builder, form.args, full, vector))
        forms.append((count, form))
    letters = "v" * len(operands)
    variants = (f"_ZGV_LLVM_N{n}{letters}_{name}({form.name})" for n, form in forms)
    set.add(function.attributes, f'"vector-function-abi-variant"="{",".join(variants)}"')
    # The function, too: without an operand that it ignores it would be none that has forms.
    _keep(module, [function, *(form for _, form in forms)])
    return function


def on_one(builder: Any, operands: list[Any], vector: Callable[[Any, list[Any]], Any]) -> Any:
    """What ``vector`` makes of elements, each in all lanes of the vector unit's."""
    element, lane = operands[0].type, ir.IntType(32)
    count = vector_unit().bits // (32 if element == ir.FloatType() else 64)
    anything = ir.Constant(ir.VectorType(element, count), ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(lane, count), [lane(0)] * count)
    vectors = [
        builder.shuffle_vector(
            builder.insert_element(anything, operand, lane(0)), anything, everywhere
        )
        for operand in operands
    ]
    return builder.extract_element(vector(builder, vectors), lane(0))


def _in_parts(
    builder: Any, args: Sequence[Any], full: int, vector: Callable[[Any, list[Any]], Any]
) -> Any:
    """What ``vector`` makes of so many elements, on vectors of another length."""
    count = args[0].type.count
    parts = [
        vector(builder, [_lanes(builder, a, range(i, i + full)) for a in args])
        for i in range(0, count, full)
    ]
    while len(parts) > 1:
        parts = [_joined(builder, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return _lanes(builder, parts[0], range(count))


def _lanes(builder: Any, vector: Any, lanes: range) -> Any:
    """Some elements of a vector, and anything behind its end."""
    if lanes == range(vector.type.count):
        return vector
    word = ir.IntType(32)
    anything = ir.Constant(vector.type, ir.Undefined)
    last = 2 * vector.type.count - 1  # of ``anything``
    mask = ir.Constant(ir.VectorType(word, len(lanes)), [word(min(i, last)) for i in lanes])
    return builder.shuffle_vector(vector, anything, mask)


def _joined(builder: Any, first: Any, second: Any) -> Any:
    """One vector after another."""
    count = first.type.count + second.type.count
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count)))
    return builder.shuffle_vector(first, second, lanes)


def called_on(builder: Any, function: Any, args: list[Any]) -> Any:
    """A call of a function with forms on vectors, or of the form for vectors of such a length."""
    if isinstance(args[0].type, ir.VectorType):
        function = builder.module.globals[f"{function.name}_x{args[0].type.count}"]
    return builder.call(function, args)


def rarely(
    builder: Any,
    name: str,
    condition: Any,
    otherwise: Any,
    args: list[Any],
    body: Callable[[Any, list[Any]], Any],
    *,
    vectors: bool = False,
) -> Any:
    """A branch round a call, on values of one floating type. A loop that has it becomes a vector
    loop nevertheless, because what is called names functions on vectors that stand for it. Those
    are the body on every element of a vector, where it may be given ``vectors``, or else on one
    element after the other that needs it."""
    function = _cold(builder.module, name, args[0].type, len(args), body, vectors)
    before = builder.block
    rare, after = builder.append_basic_block("rare"), builder.append_basic_block("after")
    builder.cbranch(condition, rare, after)
    builder.position_at_end(rare)
    result = builder.call(function, args)
    builder.branch(after)
    builder.position_at_end(after)
    value = builder.phi(args[0].type)
    value.add_incoming(otherwise, before)
    value.add_incoming(result, rare)
    return value


def rarely_in_lanes(
    builder: Any,
    name: str,
    mask: Any,
    otherwise: Any,
    args: list[Any],
    body: Callable[[Any, list[Any]], Any],
) -> Any:
    """The same on vectors, for a form of a function."""
    element, count = args[0].type.element, args[0].type.count
    function = _cold(builder.module, name, element, len(args), body, False)
    form = builder.module.globals[f"{function.name}_x{count}"]
    return builder.select(mask, builder.call(form, [*args, mask]), otherwise)


def _cold(
    module: ir.Module, name: str, typed: ir.Type, arity: int,
    body: Callable[[Any, list[Any]], Any], in_vectors: bool,
) -> Any:  # fmt: skip
    """A function that is rarely called, with forms on vectors and a mask."""
    if name in module.globals:
        return module.globals[name]
    function = internal(module, name, ir.FunctionType(typed, [typed] * arity), "noinline", "cold")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(body(builder, list(function.args)))
    full = _full_form(module, function, body) if in_vectors else None
    bits = 32 if typed == ir.FloatType() else 64
    widths = [size // bits for size in _VECTORS]
    vectors = [_masked(module, function, width, full) for width in widths]
    letters = "v" * arity
    variants = (
        f"_ZGV_LLVM_M{n}{letters}_{name}({v.name})" for n, v in zip(widths, vectors, strict=True)
    )
    # llvmlite knows no attributes with values.
    set.add(function.attributes, f'"vector-function-abi-variant"="{",".join(variants)}"')
    _keep(module, vectors)
    return function


def _full_form(module: ir.Module, function: Any, body: Callable[[Any, list[Any]], Any]) -> Any:
    """The body on vectors of the vector unit's size."""
    element = function.args[0].type
    count = vector_unit().bits // (32 if element == ir.FloatType() else 64)
    typed = ir.FunctionType(
        ir.VectorType(element, count), [ir.VectorType(a.type, count) for a in function.args]
    )
    made = internal(module, f"{function.name}_full", typed, "noinline", "cold")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    builder.ret(body(builder, list(made.args)))
    return made


def _masked(module: ir.Module, function: Any, width: int, full: Any | None) -> Any:
    """A function on vectors and a mask: a test whether any lane needs it, and rarely a call of the
    function on full vectors or, without one, of that on elements."""
    vectors = [ir.VectorType(a.type, width) for a in function.args]
    typed = ir.FunctionType(vectors[0], [*vectors, ir.VectorType(ir.IntType(1), width)])
    lanes = internal(module, f"{function.name}_lanes{width}", typed, "noinline", "cold")
    builder = ir.IRBuilder(lanes.append_basic_block("entry"))
    if full is None:
        builder.ret(_lane_by_lane(builder, function, lanes.args))
    else:
        count = full.args[0].type.count
        builder.ret(
            _in_parts(builder, lanes.args[:-1], count, lambda inner, args: inner.call(full, args))
        )
    test = internal(module, f"{function.name}_x{width}", typed, "alwaysinline")
    builder = ir.IRBuilder(test.append_basic_block("entry"))
    word = ir.IntType(width)
    needed = builder.icmp_unsigned("!=", builder.bitcast(test.args[-1], word), word(0))
    with builder.if_then(needed, likely=False):
        builder.ret(builder.call(lanes, test.args))
    builder.ret(test.args[0])
    return test


def _lane_by_lane(builder: Any, function: Any, operands: Sequence[Any]) -> Any:
    """A function on the elements of vectors whose bit in a mask, the last operand, is set."""
    *args, mask = operands
    result = args[0]
    for i in range(result.type.count):
        lane = ir.Constant(ir.IntType(32), i)
        before = builder.block
        with builder.if_then(builder.extract_element(mask, lane)):
            value = builder.call(function, [builder.extract_element(a, lane) for a in args])
            value = builder.insert_element(result, value, lane)
            inside = builder.block
        merged = builder.phi(result.type)
        merged.add_incoming(result, before)
        merged.add_incoming(value, inside)
        result = merged
    return result


def internal(module: ir.Module, name: str, typed: ir.FunctionType, *attributes: str) -> Any:
    """A new function of a module, which only computes."""
    function = ir.Function(module, typed, name)
    function.linkage = "internal"
    for attribute in (*attributes, "nounwind", "readnone"):
        function.attributes.add(attribute)
    set.add(function.attributes, "willreturn")
    return function


def _keep(module: ir.Module, functions: list[Any]) -> None:
    """Keep functions that nothing calls yet until loops are made vector loops."""
    name = "llvm.compiler.used"
    pointer = ir.IntType(8).as_pointer()
    kept = [f.bitcast(pointer) for f in functions]
    variable = module.globals.get(name)
    if variable is None:
        variable = ir.GlobalVariable(module, ir.ArrayType(pointer, 0), name)
        variable.linkage, variable.section = "appending", "llvm.metadata"
    else:
        kept = [*variable.initializer.constant, *kept]
    variable.value_type = ir.ArrayType(pointer, len(kept))
    variable.initializer = variable.value_type(kept)
