"""From a function and the sizes of its arguments to a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.errors import Error, ShapeError, located
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape
from gpubcast.stablehlo import reductions
from gpubcast.stablehlo.graph import Graph
from gpubcast.stablehlo.literals import dense
from gpubcast.stablehlo.module import DYNAMIC, Function, Operation, StablehloModule, tensor_type
from gpubcast.stablehlo.operations import ELEMENTWISE
from gpubcast.stablehlo.reshapes import Reshapes
from gpubcast.stablehlo.slices import Ranges, sliced
from gpubcast.stablehlo.values import MOST, Numbers, Value, computed, followed

MOST_CALLS = 64
"""How deep calls may be nested: a function that calls itself has no end."""
_ROUND = {"stablehlo.round_nearest_even": "even", "stablehlo.round_nearest_afz": "away_from_zero"}

Handler = Callable[["Lowering", Operation, list[Value]], list[Value]]


class Lowering:
    """One function at given sizes.

    Attributes:
        graph: what is computed.
        results: the nodes of the function's results.
    """

    def __init__(
        self, module: StablehloModule, function: Function, shapes: tuple[Shape, ...]
    ) -> None:
        self.graph = Graph()
        self.reshapes = Reshapes(self.graph)
        self._module = module
        self._depth = 0
        given = iter([self._argument(index, shape) for index, shape in enumerate(shapes)])
        values = [
            next(given) if fixed is None else self._fixed(text, fixed)
            for text, fixed in zip(function.types, function.fixed, strict=True)
        ]
        self.results = tuple(value.node for value in self._run(function, values))

    def _argument(self, index: int, shape: Shape) -> Value:
        node = self.graph.argument(index, shape)
        return computed(node)

    def _fixed(self, text: str, number: int) -> Value:
        of = tensor_type(text, "a parameter").element_type
        array = np.array(number, of.dtype)
        return Value(lambda: self.literal(array, of), lambda: array)

    def _run(self, function: Function, arguments: list[Value]) -> list[Value]:
        self._depth += 1
        if self._depth > MOST_CALLS:
            raise refused(f"@{function.name} calls itself, or calls are nested too deeply", "H2")
        values = dict(zip(function.parameters, arguments, strict=True))
        uses: dict[int, int] = {}
        for operation in function.operations:
            for number in operation.operands:
                uses[number] = uses.get(number, 0) + 1
        for number in function.results:
            uses[number] = uses.get(number, 0) + 1
        for operation in function.operations:
            self.graph.line = operation.location
            try:
                made = self._apply(operation, [values[x] for x in operation.operands])
            except Error as error:
                raise located(error, operation.named) from None
            for number, value in zip(operation.results, made, strict=True):
                values[number] = value
                if uses.get(number, 0) > 1 and value.is_made:
                    self.reshapes.shared.add(value.node)
        self._depth -= 1
        return [values[number] for number in function.results]

    def _apply(self, operation: Operation, operands: list[Value]) -> list[Value]:
        row = ELEMENTWISE.get(operation.name)
        numbers = [value.numbers for value in operands]
        given = [x for x in numbers if x is not None]
        if operands and len(given) == len(operands) and len(operation.results) == 1:
            made = self._followed(operation, row, operands, given)
            if made is not None:
                return [made]
        return self._handled(operation, row, operands)

    def _handled(self, operation: Operation, row: str | None, operands: list[Value]) -> list[Value]:
        handler = _HANDLERS.get(operation.name)
        if handler is not None:
            return handler(self, operation, operands)
        if row is None:
            raise refused(
                f"{operation.named} is outside of what gpubcast runs: elementwise operations, "
                "broadcasts, reshapes, transposes, slices, iota and reductions",
                "H2",
            )
        self._check_sizes(operation, operands)
        attributes = _attributes(operation)
        node = self.graph.apply(row, *(value.node for value in operands), **attributes)
        self.check(operation, node)
        return [computed(node)]

    def _check_sizes(self, operation: Operation, operands: list[Value]) -> None:
        """Refuse sizes of 1 beside others, which gpubcast's own rules would expand."""
        shapes = [self.graph.shape(value.node) for value in operands]
        scalars = operation.name in ("stablehlo.select", "stablehlo.clamp")
        sizes = {s.dimensions for s in shapes if s.rank or not scalars}
        if len(sizes) > 1:
            listed = ", ".join(s.text(layout=False) for s in shapes)
            raise ShapeError(
                f"{operation.named}: its operands have different sizes: {listed}",
                rule="H6",
                kind="gpubcast:stablehlo sizes",
                operands=tuple(shapes),
            )

    def check(self, operation: Operation, node: int) -> None:
        """Refuse a result that is not what the module says."""
        said = tensor_type(operation.types[0], operation.named)
        shape = self.graph.shape(node)
        sizes = zip(said.dimensions, shape.dimensions, strict=False)
        if (
            said.element_type is not shape.element_type
            or len(said.dimensions) != shape.rank
            or any(n not in (DYNAMIC, found) for n, found in sizes)
        ):
            raise ShapeError(
                f"{operation.named}: its result is {shape.text(layout=False)}, and the module says "
                f"{said}",
                rule="H6",
                kind="gpubcast:stablehlo sizes",
            )

    # --- numbers ---------------------------------------------------------------------------------

    def _followed(
        self,
        operation: Operation,
        row: str | None,
        operands: list[Value],
        given: list[Numbers],
    ) -> Value | None:
        """A value whose numbers are known beside its node."""
        said = tensor_type(operation.types[0], operation.named)
        if not (said.element_type.is_integral or said.element_type.name == "pred"):
            return None
        dimensions = said.dimensions
        sized = any(value.sized for value in operands)
        if DYNAMIC in dimensions or int(np.prod(dimensions, dtype=np.int64)) > MOST:
            return None
        how = followed(operation, row, given, dimensions)
        if how is None:
            return None
        numbers = memoised(lambda: how(said.element_type))
        if not sized:
            line, held = self.graph.line, list(operands)

            def node() -> int:
                self.graph.line = line
                return self._handled(operation, row, held)[0].node

            return Value(node, numbers)
        return Value(lambda: self.graph.literal(numbers(), said.element_type), numbers, sized=True)

    def literal(self, value: Numbers, of: Any) -> int:
        """The node of a constant: one value for all is part of the code, others are an array."""
        if not value.size or not _is_uniform(value):
            return self.graph.literal(value, of)
        node = self.graph.scalar(scalar_bits(value[(0,) * value.ndim], of), of)
        return node if not value.ndim else self.graph.place(node, (), value.shape)

    def sizes(self, value: Value, operation: Operation) -> tuple[int, ...]:
        """Numbers that say sizes.

        Raises:
            Error: H7, they depend on an array's elements.
        """
        if value.numbers is None:
            raise refused(
                f"{operation.named}: its sizes depend on elements of an array; those that depend on"
                " sizes of the arguments alone are known when it is called",
                "H7",
            )
        return tuple(int(n) for n in value.numbers.reshape(-1))


def _is_uniform(value: Numbers) -> bool:
    """Whether every element has the same bits."""
    if not any(value.strides[d] for d, size in enumerate(value.shape) if size > 1):
        return True
    raw = np.ascontiguousarray(value).view(np.uint8).reshape(value.size, -1)
    return not (raw != raw[0]).any()


def memoised(make: Callable[[], Numbers]) -> Callable[[], Numbers]:
    """A function that computes once."""
    found: list[Numbers] = []

    def get() -> Numbers:
        if not found:
            found.append(make())
        return found[0]

    return get


_TEMPLATES = {
    "H2": "gpubcast:stablehlo operation",
    "H7": "gpubcast:sizes that depend on elements",
}


def refused(text: str, rule: str) -> Error:
    """The refusal of what is outside of the subset."""
    return Error(text, rule=rule, kind=_TEMPLATES[rule])


def _attributes(operation: Operation) -> dict[str, Any]:
    given = operation.attributes
    if operation.name in _ROUND:
        return {"method": _ROUND[operation.name]}
    if operation.name == "stablehlo.compare":
        total = given.get("compare_type") == "TOTALORDER"
        return {"direction": given["comparison_direction"], "total_order": total}
    if operation.name == "stablehlo.reduce_precision":
        return {name: given[name] for name in ("exponent_bits", "mantissa_bits")}
    return {}


# --- operations that are more than a row ---------------------------------------------------------


def _constant(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    array = dense(operation.attributes["value"], said)
    small = array.size <= MOST and (said.element_type.is_integral or array.dtype == np.bool_)
    numbers = (lambda: array) if small else None
    line = lowering.graph.line

    def node() -> int:
        lowering.graph.line = line
        return lowering.literal(array, said.element_type)

    return [Value(node, numbers)]


def _converted(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    row = "bitcast_convert_type" if "bitcast" in operation.name else "convert_element_type"
    node = lowering.graph.apply(row, operands[0].node, to=said.element_type.name)
    lowering.check(operation, node)
    return [computed(node)]


def _iota(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    shape = lowering.sizes(operands[0], operation) if operands else said.dimensions
    node = lowering.graph.apply(
        "broadcasted_iota",
        dtype=said.element_type.name,
        shape=shape,
        dimension=operation.attributes["iota_dimension"],
    )
    lowering.check(operation, node)
    return [computed(node)]


def _broadcast(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    shape = said.dimensions
    if len(operands) > 1:
        shape = lowering.sizes(operands[1], operation)
    where = operation.attributes["broadcast_dimensions"]
    node = lowering.graph.apply(
        "broadcast_in_dim", operands[0].node, shape=shape, broadcast_dimensions=where
    )
    lowering.check(operation, node)
    return [computed(node)]


def _transpose(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    order = operation.attributes["permutation"]
    dimensions = lowering.graph.shape(operands[0].node).dimensions
    place = tuple(order.index(d) for d in range(len(order)))
    node = lowering.graph.place(operands[0].node, place, tuple(dimensions[d] for d in order))
    lowering.check(operation, node)
    return [computed(node)]


def _reshape(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    dimensions = said.dimensions
    if len(operands) > 1:
        dimensions = lowering.sizes(operands[1], operation)
    shape = lowering.graph.shape(operands[0].node)
    if int(np.prod(dimensions, dtype=np.int64)) != shape.num_elements:
        raise ShapeError(
            f"{operation.named}: {shape.text(layout=False)} has no {list(dimensions)}",
            rule="H6",
            kind="gpubcast:stablehlo sizes",
        )
    node = lowering.reshapes.reshaped(operands[0].node, dimensions)
    lowering.check(operation, node)
    return [computed(node)]


def _slice(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    given = operation.attributes
    names = ("start_indices", "limit_indices", "strides")
    ranges = tuple(zip(*(given[name] for name in names), strict=True))
    return _sliced(lowering, operation, operands[0].node, ranges)


def _reverse(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    node, turned = operands[0].node, operation.attributes["dimensions"]
    ranges = tuple(
        (n - 1, -1, -1) if d in turned else (0, n, 1)
        for d, n in enumerate(lowering.graph.shape(node).dimensions)
    )
    return _sliced(lowering, operation, node, ranges)


def _sliced(lowering: Lowering, operation: Operation, node: int, ranges: Ranges) -> list[Value]:
    made = sliced(lowering.graph, node, ranges, lowering.reshapes.shared)
    lowering.check(operation, made)
    return [computed(made)]


def _size(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    said = tensor_type(operation.types[0], operation.named)
    dimension = operation.attributes["dimension"]
    size = lowering.graph.shape(operands[0].node).dimensions[dimension]
    array = np.array(size, said.element_type.dtype)
    return [
        Value(lambda: lowering.graph.literal(array, said.element_type), lambda: array, sized=True)
    ]


def _reduce(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    nodes = [value.node for value in operands]
    made = reductions.reduced(lowering.graph, operation, nodes)
    for text, node in zip(operation.types, made, strict=True):
        said = tensor_type(text, operation.named)
        if said.element_type is not lowering.graph.shape(node).element_type:
            raise refused(f"{operation.named}: it reduces to another element type", "H2")
    return [computed(node) for node in made]


def _square(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    """CHLO's square: of a complex number without cancellation, and no infinity becomes NaN."""
    graph, z = lowering.graph, operands[0].node
    of = graph.shape(z).element_type
    if not of.is_complex:
        node = graph.apply("square", z)
        return [computed(node)]
    x, y = graph.apply("real", z), graph.apply("imag", z)
    zero = lowering.literal(np.zeros(graph.shape(z).dimensions, of.component.dtype), of.component)
    alike = graph.apply("eq", graph.apply("abs", x), graph.apply("abs", y))
    nothing = graph.apply("bitwise_and", graph.apply("is_finite", x), alike)
    product = graph.apply("mul", graph.apply("sub", x, y), graph.apply("add", x, y))
    half = graph.apply("mul", x, y)
    real = graph.apply("select", nothing, zero, product)
    node = graph.apply("complex", real, graph.apply("add", half, half))
    return [computed(node)]


def _same(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    return list(operands)


def _call(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    name = operation.attributes.get("callee") or operation.attributes.get("decomposition")
    function = lowering._module.function(str(name))
    return lowering._run(function, operands)


def _custom_call(lowering: Lowering, operation: Operation, operands: list[Value]) -> list[Value]:
    """The only one that is known: what JAX's symbolic shapes assert."""
    if operation.attributes.get("call_target_name") != "shape_assertion":
        raise refused(f"{operation.named}: custom calls are outside of what gpubcast runs", "H2")
    holds = lowering.sizes(operands[0], operation)
    if not all(holds):
        text = str(operation.attributes.get("error_message", "a shape assertion fails"))
        shown = [lowering.sizes(value, operation)[0] for value in operands[1:]]
        for i, number in enumerate(shown):
            text = text.replace(f"{{{i}}}", str(number))
        raise ShapeError(f"{text}", rule="H8", kind="gpubcast:stablehlo shape assertion")
    return []


_HANDLERS: dict[str, Handler] = {
    "stablehlo.constant": _constant,
    "chlo.constant": _constant,
    "stablehlo.convert": _converted,
    "stablehlo.bitcast_convert": _converted,
    "stablehlo.iota": _iota,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast,
    "stablehlo.transpose": _transpose,
    "stablehlo.reshape": _reshape,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.slice": _slice,
    "stablehlo.reverse": _reverse,
    "stablehlo.get_dimension_size": _size,
    "stablehlo.reduce": _reduce,
    "chlo.square": _square,
    "stablehlo.optimization_barrier": _same,
    "stablehlo.composite": _call,
    "func.call": _call,
    "stablehlo.custom_call": _custom_call,
}
