"""Calls of fused functions whose labels make up dimensions: operands are seen as their labels say,
and so are the arrays that results are written to. Nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpubcast.arrays import Array
from gpubcast.hlo import composed_axes
from gpubcast.hlo.composed_axes import Composition, Dimensions, refusal, with_ellipsis
from gpubcast.hlo.expression import Expression
from gpubcast.planning.plan import Operand
from gpubcast.runtime import eager_call, execute
from gpubcast.runtime.operands import output_view
from gpubcast.runtime.view import View
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape


def split(view: View, group: Dimensions, sizes: dict[str, int], count: int) -> View:
    """An array with a dimension for each label, in the same memory."""
    return View(_split(view.operand, group, sizes, count), view.slot, view.device, view.array)


def _split(operand: Operand, group: Dimensions, sizes: dict[str, int], count: int) -> Operand:
    """An operand with a dimension for each label.

    Args:
        operand: the operand.
        group: the labels of its dimensions.
        sizes: of all labels.
        count: the number of axes of ``...``.
    """
    dimensions: list[int] = []
    strides: list[int] = []
    numbers: list[list[int]] = []
    for labels, size, stride in zip(
        with_ellipsis(group, count), operand.shape.dimensions, operand.strides, strict=True
    ):
        own = [size] if len(labels) == 1 else [sizes.get(label, 1) for label in labels]
        numbers.append(list(range(len(dimensions), len(dimensions) + len(own))))
        strides += [stride * math.prod(own[k + 1 :]) for k in range(len(own))]
        dimensions += own
    order = Layout(_expanded(operand.shape.layout.minor_to_major, numbers))
    shape = Shape(operand.shape.element_type, tuple(dimensions), order)
    return Operand(shape, tuple(strides), tuple(dimensions))


def _expanded(order: Sequence[int], numbers: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """An axis order of dimensions as one of the labels that make them up, the last one fastest."""
    return tuple(n for d in order for n in reversed(numbers[d]))


def is_composed(group: Dimensions) -> bool:
    """Whether labels and dimensions differ."""
    return any(len(one) != 1 for one in group)


def split_layouts(composition: Composition, layouts: Any, count: int) -> Any:
    """``out_layout``, one entry per result, for results that have a dimension for each label.

    Raises:
        ShapeError: X10, a padded one for a result with composed axes.
    """
    found: list[Layout | None] = []
    for group, layout in zip(composition.outputs, layouts, strict=True):
        if not is_composed(group):
            found.append(layout)
            continue
        numbers: list[list[int]] = []
        for one in with_ellipsis(group, count):
            first = sum(map(len, numbers))
            numbers.append(list(range(first, first + len(one))))
        given = Layout.default(len(numbers)) if layout is None else layout
        if given.padded_dimensions is not None:
            raise refusal("out_layout: a result with composed axes is not padded")
        if len(given.minor_to_major) != len(numbers):
            raise refusal(f"out_layout: {given} is none of {len(numbers)} dimensions")
        found.append(Layout(_expanded(given.minor_to_major, numbers)))
    return tuple(found)


def merged(result: Any, group: Dimensions, layout: Layout | None, count: int) -> Any:
    """A new result with the dimensions that its labels make up, over the same memory."""
    if not is_composed(group):
        return result
    sizes, at = [], 0
    for one in with_ellipsis(group, count):
        sizes.append(math.prod(result.shape[at : at + len(one)]))
        at += len(one)
    if not isinstance(result, Array):
        return result.reshape(tuple(sizes))
    shape = Shape(result.xla_shape.element_type, sizes, layout)
    return Array(Operand.of(shape), result._buffer, None, result._device)


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call whose operands are seen as their labels say.

    Attributes:
        composition: the labels.
        views: the operands; None for one that is no array.
        sizes: of all labels.
        count: the number of axes of ``...``.
    """

    composition: Composition
    views: tuple[View | None, ...]
    sizes: dict[str, int]
    count: int

    def run(
        self,
        graph: Expression,
        values: tuple[Any, ...],
        operands: tuple[View, ...],
        out: Any,
        out_layout: Any,
    ) -> Any:
        """Run a graph; see ``eager_call.finish``.

        Raises:
            Error: as for any other call; X10, padding of a result with composed axes.
        """
        layouts = eager_call.layouts_of(graph, out_layout)
        groups = self.composition.outputs
        if out is not None:
            self._run_into(graph, operands, out, layouts)
            return out
        given = layouts or (None,) * len(groups)
        if len(given) != len(groups):
            raise refusal(f"out_layout has {len(given)} layouts for {len(groups)} results")
        wanted = split_layouts(self.composition, given, self.count)
        call = (None, values, None)
        made = eager_call.finish(graph, call, operands, wanted if graph.packed else wanted[0])
        results = [
            merged(one, group, layout, self.count)
            for one, group, layout in zip(
                made if graph.packed else (made,), groups, given, strict=True
            )
        ]
        return tuple(results) if graph.packed else results[0]

    def _run_into(
        self, graph: Expression, operands: tuple[View, ...], out: Any, layouts: Any
    ) -> None:
        targets, after = [], []
        groups = self.composition.outputs
        outs = eager_call.outs_of(graph, out)
        for number, x in enumerate(outs):
            view, copy_back = output_view(x)
            if number < len(groups) and is_composed(groups[number]):
                shape = view.operand.shape
                if view.operand.extents != shape.dimensions:
                    raise refusal("out: an array for composed axes is not padded")
                wanted = with_ellipsis(groups[number], self.count)
                sizes = tuple(
                    math.prod(self.sizes.get(label, 1) for label in one) if len(one) != 1 else n
                    for one, n in zip(wanted, shape.dimensions, strict=False)
                )
                if len(wanted) != shape.rank or sizes != shape.dimensions:
                    raise refusal(f"out is {shape.text(layout=False)}, which the labels do not say")
                view = split(view, groups[number], self.sizes, self.count)
            targets.append(view)
            after.append(copy_back)
        execute.run(graph, operands, tuple(targets), layouts)
        for copy_back in after:
            if copy_back is not None:
                copy_back()


def described(
    composition: Composition,
    shapes: Sequence[Shape | None],
    names: Sequence[str],
    out_layout: Any,
) -> tuple[list[Shape | None], Any]:
    """The operands and ``out_layout`` of a call as its labels say, to be planned.

    Raises:
        ShapeError: X5, X10, they do not fit the labels; X10, what is padded has no shape with
            other dimensions.
    """
    given = [None if one is None else one.dimensions for one in shapes]
    sizes, count = composed_axes.solved(composition, given, names)
    found: list[Shape | None] = []
    for name, shape, group in zip(names, shapes, composition.operands, strict=True):
        if shape is not None and is_composed(group):
            if shape.layout.padded_dimensions is not None:
                raise refusal(f"{name}: a padded array of composed axes is no shape by its labels")
            shape = _split(Operand.of(shape), group, sizes, count).shape
        found.append(shape)
    groups = composition.outputs
    layouts = out_layout if isinstance(out_layout, (tuple, list)) else (out_layout,) * len(groups)
    wanted = split_layouts(composition, layouts, count)
    return found, wanted if len(groups) > 1 else wanted[0]


def seen(composition: Composition, views: Sequence[View | None], names: Sequence[str]) -> SeenCall:
    """A call's operands as labels say.

    Raises:
        ShapeError: X5, X10, they do not fit the labels.
    """
    shapes = [None if one is None else one.operand.shape.dimensions for one in views]
    sizes, count = composed_axes.solved(composition, shapes, names)
    found = tuple(
        None if one is None else split(one, group, sizes, count)
        for one, group in zip(views, composition.operands, strict=True)
    )
    return SeenCall(composition, found, sizes, count)
