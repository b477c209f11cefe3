"""Shape inference of a whole expression: every node's shape, and the types of its operands."""

from __future__ import annotations

from gpubcast.errors import ElementTypeError, Error, located
from gpubcast.hlo import labels, ops
from gpubcast.hlo.expression import Apply, Constant, Expression, Node, Parameter, Place, line_of
from gpubcast.hlo.inference import infer, wrong_number
from gpubcast.hlo.op import Inferred, ResultType
from gpubcast.hlo.result_layout import padding_of, result_layout
from gpubcast.hlo.verification import refused
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape


def infer_nodes(expression: Expression, operands: tuple[Shape, ...]) -> tuple[Inferred, ...]:
    """Shape of every node, and where each argument's dimensions go.

    Raises:
        Error: whatever rule refuses a node.
    """
    if len(operands) != expression.num_parameters:
        last = expression.nodes[expression.outputs[0]]
        if isinstance(last, Apply) and ops.OPS[last.op].arity == expression.num_parameters:
            raise wrong_number(ops.OPS[last.op], (), len(operands))
        raise Error(
            f"the expression takes {expression.num_parameters} operands, got {len(operands)}",
            rule="T0",
            kind="gpubcast:number of operands",
        )
    result: list[Inferred] = []
    checked: set[int] = set()
    for i, node in enumerate(expression.nodes):
        try:
            result.append(_inferred(expression, node, operands, result, checked))
        except Error as error:
            raise located(error, line_of(expression, i)) from None
    for number in range(len(expression.patterns)):
        _check_labels(expression, number, result, checked)
    return tuple(result)


def _inferred(
    expression: Expression,
    node: Node,
    operands: tuple[Shape, ...],
    done: list[Inferred],
    checked: set[int],
) -> Inferred:
    if isinstance(node, Parameter):
        return Inferred(operands[node.index], ())
    if isinstance(node, Constant):
        return Inferred(Shape(node.element_type, ()), ())
    if isinstance(node, Apply):
        shapes = tuple(done[i].shape for i in node.args)
        return infer(node.op, shapes, dict(node.attributes))
    if node.pattern is not None:
        _check_labels(expression, node.pattern, done, checked)
    dimensions = tuple(
        size if isinstance(size, int) else done[size[0]].shape.dimension(size[1])
        for size in node.shape
    )
    sizes = done[node.arg].shape.dimensions
    if len(sizes) != len(node.place) or any(
        to is not None and size not in (1, dimensions[to])
        for size, to in zip(sizes, node.place, strict=True)
    ):
        raise refused(f"a value of {done[node.arg].shape} has no such place: {node}")
    shape = Shape(done[node.arg].shape.element_type, dimensions)
    if node.output is not None:
        shape = shape.with_layout(_layout_of_labels(expression, node, dimensions, done))
    return Inferred(shape, (node.place,))


def _layout_of_labels(
    expression: Expression, node: Place, dimensions: tuple[int, ...], done: list[Inferred]
) -> Layout:
    """The layout of a labelled output (R1): the operands' labels say where their axes go."""
    assert node.pattern is not None
    pattern, nodes = expression.patterns[node.pattern]
    group = pattern.outputs[node.output or 0]
    shapes, maps = [], []
    for i, own in zip(nodes, pattern.operands, strict=True):
        if labels.ONE not in own and set(own) == set(group):
            shapes.append(done[i].shape)
            maps.append(tuple(map(group.index, own)))
    layout = result_layout(dimensions, tuple(shapes), tuple(maps))
    return padding_of(layout, done[node.arg].shape.element_type)


def _check_labels(
    expression: Expression, number: int, done: list[Inferred], checked: set[int]
) -> None:
    if number in checked:
        return
    checked.add(number)
    pattern, nodes = expression.patterns[number]
    names = tuple(
        expression.names.operand(node.index)
        if isinstance(node := expression.nodes[i], Parameter)
        else f"operand {k}"
        for k, i in enumerate(nodes)
    )
    labels.sizes(pattern, [done[i].shape for i in nodes], names)


def operand_types(
    expression: Expression, given: tuple[ElementType | None, ...]
) -> tuple[ElementType, ...]:
    """Element types of all parameters, given those of the typed ones.

    The operands of one operation have one type (select's predicate is pred), so an untyped
    scalar takes the type of the other operands.

    Raises:
        ElementTypeError: nothing says what type a scalar has.
    """
    types: list[ElementType | None] = [None] * len(expression.nodes)
    for i, node in enumerate(expression.nodes):
        if isinstance(node, Parameter):
            types[i] = given[node.index]
    for _ in expression.nodes:
        for i, node in enumerate(expression.nodes):
            if isinstance(node, Apply):
                _unify(types, i, node)
    result = []
    for i, node in enumerate(expression.nodes):
        if isinstance(node, Parameter):
            element_type = types[i]
            if element_type is None:
                raise ElementTypeError(
                    f"operand {node.index} is a Python scalar and no operand beside it has a "
                    "type; pass a typed one, e.g. np.float32(2)",
                    rule="A4",
                    kind="gpubcast:scalar",
                )
            result.append(element_type)
    return tuple(result)


def _unify(types: list[ElementType | None], i: int, node: Apply) -> None:
    row = ops.op(node.op, internal=True)
    alike = list(node.args)
    if row.rule.predicate:
        if types[alike[0]] is None:
            types[alike[0]] = ELEMENT_TYPES["pred"]
        del alike[0]
    if row.result is ResultType.SAME:
        alike.append(i)
    elif row.result is ResultType.PRED:
        types[i] = ELEMENT_TYPES["pred"]
    element_type = next((types[j] for j in alike if types[j] is not None), None)
    for j in alike:
        if types[j] is None:
            types[j] = element_type
